# SPDX-License-Identifier: Apache-2.0
"""What happens once before the work of a capture without steps is no part of it; what comes back stays."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.steps.overlap import overlaps
from advisor.analysis.steps.start_ups import start_ups
from advisor.analysis.steps.warm_up import ENOUGH, LITTLE, LONG, ONCE, begin_of_work
from advisor.facts.derived import StartUp
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.pipeline import open_profile

NOTHING = dict.fromkeys(("collectives", "tasks", "windows"))


def kernels(pauses_us: list[int], *, length_us: int = 10, first_us: int = 1, step: int | None = None) -> Table[Kernel]:
    """A first kernel, and one of the same length after each pause."""
    lengths = np.array([first_us, *[length_us] * len(pauses_us)])
    start = np.concatenate([[0], np.cumsum(lengths[:-1] + pauses_us)])
    numbered = {} if step is None else {"step": step}
    return Table.build(Kernel, rank=0, start_ns=start * 1000, duration_us=lengths.astype(float), **numbered)


def set_apart(table: Table[Kernel]) -> list[float]:
    return start_ups(table, **NOTHING)["apart_us"].tolist()


def test_a_pause_that_happens_once_before_the_work_is_set_apart() -> None:
    table = kernels([5000, *[10] * 200])
    assert set_apart(table) == [5001]
    (split,) = overlaps(run_of_ranks(Run()), kernels=table, recorded=None, **NOTHING).rows()
    assert (split["start_ns"], split["free_us"], split["compute_us"]) == (5_001_000, 2000, 2010)


@pytest.mark.parametrize(
    "table",
    [
        kernels([5000, *[10] * 100, 5000, *[10] * 100]),  # comes back, as loading does before each step
        kernels([*[10] * 100, 5000, *[10] * 100]),  # in the middle of work
        kernels([5000, *[10] * 200], first_us=30),  # the first kernel is work
        kernels([5000, *[10] * 50]),  # too little follows
        kernels([100, *[5] * 200]),  # so short a pause is no problem
        kernels([5000, *[10] * 200], step=3),  # steps are marked
    ],
)
def test_all_else_stays(table: Table[Kernel]) -> None:
    assert set_apart(table) == []


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 400)), min_size=1, max_size=8), st.integers(0, 120))
def test_the_begin_is_that_of_a_plain_reading(head: list[tuple[int, int]], many: int) -> None:
    work = [*head, *[(10, 1)] * many]
    start = np.cumsum([0, *[length + pause for length, pause in work[:-1]]])
    end = start + [length for length, _ in work]
    assert begin_of_work(start, end) == _plain_begin(start.tolist(), end.tolist())


def _plain_begin(start: list[int], end: list[int]) -> int:
    """The same, one interval after another."""
    busy: list[list[int]] = []
    for begins, ends in zip(start, end, strict=True):
        if ends > begins and busy and begins <= busy[-1][1]:
            busy[-1][1] = max(busy[-1][1], ends)
        elif ends > begins:
            busy.append([begins, ends])
    pauses = [after[0] - before[1] for before, after in pairwise(busy)]
    if not pauses:
        return min(start)
    at = pauses.index(max(pauses))
    total = sum(ends - begins for begins, ends in busy)
    done = sum(ends - begins for begins, ends in busy[: at + 1])
    begin = busy[at + 1][0]
    holds = (
        pauses[at] > ONCE * max(pauses[at + 1 :], default=0)
        and pauses[at] > LONG * (busy[-1][1] - busy[0][0])
        and done <= LITTLE * total
        and sum(moment >= begin for moment in start) >= ENOUGH
    )
    return begin if holds else min(start)


def test_a_real_server_that_was_busy_when_recording_began_is_not_called_idle(real_data: Path) -> None:
    trace = real_data / "gpu_kineto_models" / "sglang_qwen3-8b_prefilldecode.json.gz"
    if not trace.is_file():
        pytest.skip("this capture is not in the folder of real data")
    profile = open_profile(trace, jobs=1)
    assert [round(us / 1000) for us in profile.table(StartUp)["apart_us"]] == [493]
