# SPDX-License-Identifier: Apache-2.0
"""The server serves: prompts first, then one token per request and step, over a cache both ranks share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from corpus.accounting import step_times
from corpus.cases import job
from corpus.events import Job, RankTrace, Task
from corpus.inference import Decoder
from corpus.serving_operators import attend, choose, linear, rotate
from corpus.workloads import WORKLOADS


@pytest.fixture(scope="module")
def healthy() -> Job:
    return job("healthy", 1, workload="inference")


def _decoder() -> Decoder:
    workload = WORKLOADS["inference"].workload
    assert isinstance(workload, Decoder)
    return workload


def _kernels(trace: RankTrace, step: int, kind: str) -> list[Task]:
    return [task for task in trace.kernels() if task.step == step and task.kernel and task.kernel.op_type == kind]


def _steps(trace: RankTrace) -> list[int]:
    return [int(call.name.split("#")[1]) for call in trace.steps()]


def test_prompts_are_processed_first_and_then_each_request_gets_a_token(healthy: Job) -> None:
    w = _decoder()
    trace = healthy.ranks[0]
    rows = []
    for step in _steps(trace):
        heads = {task.kernel.inputs.shapes.split(";")[0] for task in _kernels(trace, step, "AddRmsNorm") if task.kernel}
        assert len(heads) == 1
        rows.append(int(heads.pop().split(",")[0]))
    assert rows == [w.prompt] + [w.requests] * (w.steps - 1)


def test_each_layer_writes_the_cache_before_it_attends(healthy: Job) -> None:
    for trace in healthy.ranks:
        for step in _steps(trace):
            wrote = _kernels(trace, step, "ReshapeAndCacheNdKernel")
            read = _kernels(trace, step, "FusedInferAttentionScore")
            assert len(wrote) == len(read) == _decoder().layers
            assert all(a.end <= b.start for a, b in zip(wrote, read, strict=True))


def test_each_layer_adds_up_twice_and_the_scores_are_gathered_once(healthy: Job) -> None:
    for trace in healthy.ranks:
        for step in _steps(trace):
            kinds = Counter(c.op for c in trace.collectives if c.step == step)
            assert kinds == {"allReduce": 2 * _decoder().layers, "allGather": 1}


def test_tokens_are_read_once_per_step(healthy: Job) -> None:
    for trace in healthy.ranks:
        reads = Counter(task.step for task in trace.tasks if task.kind == "copy" and task.direction == "device to host")
        assert reads == dict.fromkeys(_steps(trace), 1)


def test_the_device_hardly_idles_while_it_decodes(healthy: Job) -> None:
    for trace in healthy.ranks:
        for row in step_times(trace):
            assert row.free < 0.08 * row.span
            assert row.exposed < 0.1 * row.span


def test_a_slow_host_is_a_problem_for_decoding_and_none_for_prompts() -> None:
    def spans(made: Job) -> list[int]:
        return [row.span for row in step_times(made.ranks[0])]

    before, after = spans(job("healthy", 1, workload="inference")), spans(job("host-bound", 1, workload="inference"))
    assert after[1] > 1.06 * before[1]
    assert after[0] / before[0] < after[1] / before[1]


def test_decoding_takes_the_times_of_the_published_table() -> None:
    """Qwen2.5-3B with 8 requests: the calls of one layer, and the search for the best token."""
    qkv, out, gate, down = (
        linear(8, *shape, 24) for shape in ((2048, 2560), (2048, 2048), (2048, 22016), (11008, 2048))
    )
    products = sum(product.kernels[0].us for product in (qkv, out, gate, down))
    scores = linear(8, 2048, 151936, 24).kernels[0].us
    assert (36 * products + scores) / 145 == pytest.approx(67, rel=0.05)
    assert attend(8, 8, 128, (16, 2), 24).kernels[0].us == pytest.approx(24.3, rel=0.3)
    assert choose((8, 151936), 24).kernels[0].us == pytest.approx(147, rel=0.05)
    assert rotate(8, 2304, 24).kernels[0].us == pytest.approx(5.1, rel=0.2)


def test_reading_weights_bounds_decoding_and_arithmetic_bounds_prompts() -> None:
    one, many = linear(1, 5120, 5120, 24).kernels[0].us, linear(32, 5120, 5120, 24).kernels[0].us
    assert one == many
    long, longer = linear(2048, 5120, 5120, 24).kernels[0].us, linear(4096, 5120, 5120, 24).kernels[0].us
    assert longer == pytest.approx(2 * long, rel=0.01)


def test_batches_that_change_have_new_shapes_in_each_step() -> None:
    made = job("dynamic-shapes", 1, workload="inference")
    trace = made.ranks[0]
    seen = [_kernels(trace, step, "SwiGlu")[0].kernel for step in _steps(trace)[1:]]
    assert len({info.inputs.shapes for info in seen if info}) > 1


def test_steps_follow_each_other_closely(healthy: Job) -> None:
    """Between the last kernel of a step and the first of the next only the tokens are read and the inputs copied."""
    for trace in healthy.ranks:
        ends = {step: max(t.end for t in trace.kernels() if t.step == step) for step in _steps(trace)}
        starts = {step: min(t.start for t in trace.kernels() if t.step == step) for step in _steps(trace)}
        for before, after in pairwise(_steps(trace)):
            assert 0 < starts[after] - ends[before] < 250_000
