# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis import DERIVATIONS
from advisor.analysis.steps.left_out_steps import LONGER, MOST, left_out_steps
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, LeftOutStep, OperatorShare, Overlap
from advisor.facts.observed import Collective, Kernel, StepTime, StepWindow
from advisor.facts.profile import Profile
from advisor.facts.table import Table, read_table
from advisor.model.run import Run

MS = 10**6


def windows(*lengths_ms: float, rank: int = 0) -> Table[StepWindow]:
    ends = np.cumsum(np.array(lengths_ms) * MS).astype(np.int64)
    starts = np.append(0, ends[:-1])[: len(ends)]
    return Table.build(
        StepWindow, rank=np.full(len(ends), rank), step=np.arange(1, len(ends) + 1), start_ns=starts, end_ns=ends
    )


def left_out(*lengths_ms: float) -> list[int]:
    return left_out_steps(None, windows(*lengths_ms))["step"].tolist()


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ((2600, 96, 95, 96), [1]),
        ((140, 96, 95, 96), []),
        ((300, 96, 290, 96), []),  # it comes again
        ((96, 300, 96, 96), []),  # not the first
        ((300, 96), []),  # nobody knows which of two is the usual one
        ((), []),
        ((2600, 190, 96, 95, 96), [1, 2]),
        ((190, 2600, 96, 95, 96), [1, 2]),  # the second compiles more than the first
        ((2600, 190, 96, 95), [1]),  # two of four are no fewer than the usual ones
        ((2600, 96, 190, 95, 96), [1]),  # a usual one in between
    ],
    ids=[
        *("start-up", "a little longer", "every other step", "later", "two steps", "no steps"),
        *("two of start-up", "a longer second one", "half of the steps", "a later one"),
    ],
)
def test_first_steps_are_left_out_where_each_is_much_longer_than_all_that_follow(
    lengths: tuple[float, ...], said: list[int]
) -> None:
    assert left_out(*lengths) == said


@given(st.lists(st.integers(1, 10**6), min_size=3, max_size=25))
def test_most_first_steps_that_are_longer_than_every_later_one_are_left_out(lengths: list[int]) -> None:
    apart = [
        count
        for count in range(1, MOST + 1)
        if 2 * count < len(lengths) and min(lengths[:count]) > LONGER * max(lengths[count:])
    ]
    assert left_out(*lengths) == list(range(1, max(apart, default=0) + 1))


def test_a_first_step_that_computes_more_is_a_step_like_others() -> None:
    times = """
rank step compute_us exposed_comm_us free_us
0    1    290        0               10
0    2    90         0               10
0    3    90         0               10
"""
    assert not len(left_out_steps(read_table(StepTime, times), None))
    waits = times.replace("0    1    290        0               10", "0    1    90         200             10")
    (row,) = left_out_steps(read_table(StepTime, waits), windows(1, 1, 1)).rows()
    assert (row["step"], row["span_us"], row["longest_us"], row["start_ns"]) == (1, 300, 100, 0)


def test_steps_of_which_the_file_holds_a_part_are_left_out_and_make_no_other_one_short() -> None:
    marked = windows(300, 96, 96, 96, 10).having(cut=np.array([0, 0, 0, 1, 1], np.int8))
    first, *rest = left_out_steps(None, marked).rows()
    assert (first["step"], first["reason"], first["longest_us"]) == (1, "start_up", 96_000)
    assert [(row["step"], row["reason"], row["longest_us"]) for row in rest] == [(4, "cut", None), (5, "cut", None)]


def test_ranks_of_one_source_leave_a_step_out_together() -> None:
    ranks = [windows(300, 96, 96, rank=0), windows(96, 96, 96, rank=1), windows(300, 96, 96, rank=2)]
    assert left_out_steps(None, Table.concat(StepWindow, ranks))["rank"].tolist() == [0, 1, 2]
    assert not len(left_out_steps(None, Table.concat(StepWindow, ranks[:2])))


class Steps:
    """A capture of four steps; the first waits long before its kernel."""

    size_bytes = 1

    def __init__(self, first_ms: float) -> None:
        self.windows = windows(first_ms, 10, 10, 10)
        begin = self.windows["end_ns"] - 9 * MS
        step = self.windows["step"]
        self.tables: dict[type, Table[Any]] = {
            StepWindow: self.windows,
            Kernel: Table.build(
                Kernel, rank=np.zeros(4), step=step, start_ns=begin, duration_us=4000.0, op_type=["MatMul"] * 4
            ),
            Collective: Table.build(
                Collective, rank=np.zeros(4), step=step, start_ns=begin + 4 * MS, elapse_us=1000.0, op=["allReduce"] * 4
            ),
        }

    def read(self, fact: Any) -> Table[Any]:
        return self.tables[fact] if fact in self.tables else Table.empty(fact)

    def release(self) -> None:
        """Nothing is kept."""


def profile(first_ms: float) -> Profile:
    return Profile(Run(steps=(1, 2, 3, 4), ranks=(0,)), [Steps(first_ms)], DERIVATIONS)


def test_nothing_that_is_derived_counts_a_step_that_is_left_out() -> None:
    found = profile(1000)
    assert found.table(LeftOutStep)["step"].tolist() == [1]
    assert found.table(Overlap)["step"].tolist() == [2, 3, 4]
    assert found.table(CollectiveCall)["step"].tolist() == [2, 3, 4]
    (matmul,) = found.table(OperatorShare).rows()
    assert matmul["calls"] == 1
    assert matmul["total_us"] == 4000
    assert found.table(Kernel)["step"].tolist() == [1, 2, 3, 4], "what was recorded stays as it was recorded"
    assert found.table(StepWindow)["step"].tolist() == [1, 2, 3, 4]


def test_where_all_steps_count_tables_are_handed_on_as_they_are() -> None:
    found = profile(10)
    assert found.table(Overlap)["step"].tolist() == [1, 2, 3, 4]
    assert not len(found.table(LeftOutStep))
    assert (found.table(CollectiveCall)["step"] != MISSING).all()
