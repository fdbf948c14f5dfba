# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.steps.endings import endings
from advisor.facts.derived import Overlap
from advisor.facts.observed import Kernel, StepWindow
from advisor.facts.table import read_table

KERNELS = """rank step start_ns duration_us
0 1 1000000 400
0 2 2000000 300
0 3 3000000 500
1 3 3000000 900"""
WINDOWS = """rank step start_ns end_ns
0 1 900000 1450000
0 2 1900000 2400000
0 3 2900000 9500000
1 3 2900000 3500000"""


def found(kernels: str = KERNELS, windows: str = WINDOWS) -> list[tuple[object, ...]]:
    table = endings(read_table(Kernel, kernels), read_table(StepWindow, windows), collectives=None, tasks=None)
    return [tuple(row.values()) for row in table.rows()]


def test_what_the_host_does_behind_the_last_work_stands_beside_what_it_does_behind_that_of_other_steps() -> None:
    assert found()[0] == (0, 3, 3_500_000, 6000.0, 75.0)


def test_a_step_that_ends_on_the_host_before_its_last_work_leaves_nothing_behind_it() -> None:
    assert found()[1] == (1, 3, 3_900_000, 0.0, None)


def test_without_the_mark_of_a_step_nothing_is_told_of_it() -> None:
    assert [row[:2] for row in found(windows=WINDOWS.rpartition("\n")[0])] == [(0, 3)]
    assert found(windows="rank step start_ns end_ns") == []


def test_of_a_step_whose_list_of_kernels_lacks_rows_nobody_knows_when_the_last_one_ended() -> None:
    split = read_table(Overlap, "rank step listed_us source\n0 3 900 recorded\n1 3 900 intervals")
    kernels, windows = read_table(Kernel, KERNELS), read_table(StepWindow, WINDOWS)
    told = endings(kernels, windows, collectives=None, tasks=None, split=split)
    assert told["rank"].tolist() == [1]
