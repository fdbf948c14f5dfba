# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.idle.outer_pauses import outer_pauses
from advisor.facts.derived import Overlap
from advisor.facts.observed import Kernel, StepWindow
from advisor.facts.table import read_table

KERNELS = """rank step start_ns duration_us
0 1 1000000 400
0 2 2000000 300
0 3 9000000 500
1 1 1000000 400
1 2 9000000 400"""
WINDOWS = """rank step start_ns end_ns
0 1 900000 1450000
0 2 1480000 2400000
0 3 8900000 9600000
1 1 900000 8800000
1 2 8900000 9500000"""


def found(kernels: str = KERNELS, windows: str = WINDOWS, split: str = "") -> list[tuple[object, ...]]:
    lists = read_table(Overlap, split) if split else None
    table = outer_pauses(
        read_table(Kernel, kernels), read_table(StepWindow, windows), collectives=None, tasks=None, split=lists
    )
    return [tuple(row.values()) for row in table.rows()]


def test_a_pause_in_which_the_host_is_in_no_step_is_told_with_the_step_before_it() -> None:
    assert found() == [(0, 2, 2_300_000, 6700.0, 6500.0)]


def test_a_pause_in_which_the_host_is_in_a_step_is_that_step_s_own() -> None:
    assert not [row for row in found() if row[0] == 1]


def test_between_steps_of_which_another_was_not_recorded_no_pause_is_known() -> None:
    assert not found(KERNELS.replace("0 3 9", "0 4 9"), WINDOWS.replace("0 3 8", "0 4 8"))


def test_where_recordings_were_strung_together_the_time_between_them_is_none_of_the_job() -> None:
    rows = "\n".join(f"{row} {wait}" for row, wait in zip(KERNELS.splitlines()[1:], (0, 600, 0, 0, 7600), strict=True))
    assert not found(f"rank step start_ns duration_us wait_us\n{rows}")


def test_of_a_step_that_lacks_kernels_nobody_knows_when_its_pause_began() -> None:
    assert not found(split="rank step listed_us source\n0 2 100 recorded\n0 3 500 intervals\n0 1 400 intervals")
