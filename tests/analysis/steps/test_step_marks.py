# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.steps.step_marks import marked_step_us
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, RankPhase
from advisor.facts.observed import StepWindow
from advisor.facts.table import Table, read_table

STEPS = read_table(Overlap, "rank step span_us\n0 1 1000\n0 2 1000\n1 1 1000")


def windows(*rows: tuple[int, int, int, int]) -> Table[StepWindow]:
    rank, step, start, end = zip(*rows, strict=True)
    return Table.build(StepWindow, rank=rank, step=step, start_ns=start, end_ns=end)


def test_marks_on_the_host_count_for_the_steps_whose_time_is_known() -> None:
    marks = windows((0, 1, 0, 1_200_000), (0, 2, 1_200_000, 2_800_000), (1, 1, 0, 1_400_000), (0, 9, 0, 9_000_000))
    assert marked_step_us(STEPS, marks, None) == 1400.0


def test_a_mark_without_an_end_says_nothing() -> None:
    assert marked_step_us(STEPS, windows((0, 1, 0, MISSING), (0, 2, 5, 3)), None) == 0.0


def test_an_iteration_is_counted_with_the_pause_before_it() -> None:
    phases = read_table(RankPhase, "rank whole_us interval_us\n0 34000 18000\n1 35000 19000")
    assert marked_step_us(STEPS, windows((0, 1, 0, 16_000_000)), phases) == 34500.0
    assert marked_step_us(STEPS, None, None) == 0.0
