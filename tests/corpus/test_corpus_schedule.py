# SPDX-License-Identifier: Apache-2.0
"""Pipelines do all their work once, in an order in which no stage waits for ever, with the bubble the formula gives."""

from __future__ import annotations

from collections import Counter

import pytest

from corpus.accounting import step_us
from corpus.cases import Setup, job
from corpus.events import Layout
from corpus.program import Machine
from corpus.schedule import duration, interleaved, source, unit_times, work_order
from corpus.transformer import Transformer

SIZES = [(2, 4, 2), (4, 8, 2), (4, 16, 2), (3, 6, 3), (8, 16, 4), (4, 4, 1)]


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), SIZES)
def test_every_micro_batch_passes_every_chunk_forward_and_backward_once(
    stages: int, micro_batches: int, chunks: int
) -> None:
    for turns in interleaved(stages, micro_batches, chunks):
        passes = Counter((t.kind, t.chunk, t.micro_batch) for t in turns if t.kind in ("forward", "backward"))
        assert set(passes.values()) == {1}
        assert len(passes) == 2 * micro_batches * chunks


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), SIZES)
def test_a_pass_begins_after_the_one_it_depends_on(stages: int, micro_batches: int, chunks: int) -> None:
    began = unit_times(stages, micro_batches, chunks)
    for work, start in began.items():
        taken = source(work, stages, chunks)
        assert taken is None or began[taken] + duration(taken) <= start


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), SIZES)
def test_a_schedule_takes_its_work_and_the_bubble_of_the_formula(stages: int, micro_batches: int, chunks: int) -> None:
    """Narayanan et al. 2021, section 2.2: the bubble is (p - 1) / (m v) of the work."""
    began = unit_times(stages, micro_batches, chunks)
    end = max(start + duration(work) for work, start in began.items())
    assert end == 3 * (micro_batches * chunks + stages - 1)


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), SIZES)
def test_two_stages_name_their_transfers_in_one_order(stages: int, micro_batches: int, chunks: int) -> None:
    everyone = interleaved(stages, micro_batches, chunks)
    for source_stage in range(stages):
        for target in set(range(stages)) - {source_stage}:
            sent = [(t.chunk, t.micro_batch) for t in everyone[source_stage] if (t.kind, t.peer) == ("send", target)]
            taken = [
                (t.chunk, t.micro_batch) for t in everyone[target] if (t.kind, t.peer) == ("receive", source_stage)
            ]
            assert sent == taken


def test_micro_batches_that_do_not_divide_among_stages_are_refused() -> None:
    with pytest.raises(ValueError, match="6 micro-batches do not divide among 4 stages"):
        work_order(0, 4, 6, 2)


@pytest.mark.parametrize(("chunks", "micro_batches"), [(2, 4), (2, 8), (4, 8)])
def test_a_simulated_step_has_the_bubble_of_the_formula(chunks: int, micro_batches: int) -> None:
    """On links and hosts that take no time; what is left beside the work is the optimizer."""
    model = Transformer(layers=16, chunks=chunks, micro_batches=micro_batches, steps=1, vocabulary=128, host_us=1.0)
    fast = Machine(link_gbps=1e6, noise=0.0, collective_launch_us=1.0, launch_us=1.0, dequeue_us=1.0, setup_us=1.0)
    made = job("healthy", setup=Setup(model, Layout(pp=4), fast))
    passes = [
        sum(k.end - k.start for k in trace.kernels() if k.kernel and "Adam" not in k.kernel.op_type) / 1000
        for trace in made.ranks
    ]
    adam = sum(k.end - k.start for k in made.ranks[0].kernels() if k.kernel and "Adam" in k.kernel.op_type) / 1000
    expected = max(passes) * (1 + 3 / (micro_batches * chunks)) + adam
    assert step_us(made.ranks) == pytest.approx(expected, rel=0.03)
