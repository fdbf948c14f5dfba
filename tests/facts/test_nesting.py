# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts.nesting import Nest, depths_of, nest_intervals

Interval = tuple[int, int, int]
INTERVALS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 40), st.integers(0, 20)).map(lambda i: (i[0], i[1], i[1] + i[2])),
    max_size=12,
)


def nest(intervals: list[Interval]) -> Nest:
    return nest_intervals(*(np.array([one[place] for one in intervals], np.int64) for place in range(3)))


def holds(outer: Interval, inner: Interval) -> bool:
    return outer[0] == inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2]


@settings(max_examples=300)
@given(INTERVALS)
def test_of_what_is_left_two_intervals_of_a_lane_are_apart_or_one_inside_the_other(intervals: list[Interval]) -> None:
    left = [intervals[row] for row in nest(intervals).row.tolist()]
    for one in left:
        for other in left:
            inside = holds(one, other) or holds(other, one)
            assert inside or one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]


@settings(max_examples=300)
@given(INTERVALS, INTERVALS)
def test_the_innermost_interval_around_another_is_the_shortest_that_holds_it(
    intervals: list[Interval], asked: list[Interval]
) -> None:
    found = nest(intervals)
    left = [intervals[row] for row in found.row.tolist()]
    rows = found.around(*(np.array([one[place] for one in asked], np.int64) for place in range(3))).tolist()
    for one, row in zip(asked, rows, strict=True):
        around = [other for other in left if holds(other, one)]
        assert (row >= 0) == bool(around)
        if around:
            assert holds(intervals[row], one)
            assert intervals[row][2] - intervals[row][1] == min(other[2] - other[1] for other in around)


@given(INTERVALS)
def test_intervals_that_cross_none_are_all_kept(intervals: list[Interval]) -> None:
    found = nest(intervals)
    lost = {intervals[row] for row in found.crossing.tolist()}
    for one in lost:
        assert any(
            one[0] == other[0] and (one[1] < other[1] < one[2] < other[2] or other[1] < one[1] < other[2] < one[2])
            for other in intervals
        )


@given(INTERVALS, INTERVALS)
def test_further_lanes_however_many_change_nothing(intervals: list[Interval], asked: list[Interval]) -> None:
    further = [(lane, 7, 9) for lane in (*range(-6, 0), *range(2, 8))]
    few, many = nest(intervals), nest([*intervals, *further])
    columns = [np.array([one[place] for one in asked], np.int64) for place in range(3)]
    assert many.around(*columns).tolist() == few.around(*columns).tolist()
    assert many.parent_rows.tolist() == [*few.parent_rows.tolist(), *[-1] * len(further)]


def test_what_crosses_is_left_out_and_what_lies_inside_of_it_is_not() -> None:
    found = nest([(0, 0, 10), (0, 5, 15), (0, 11, 12), (0, 20, 30)])
    assert found.crossing.tolist() == [1]
    assert sorted(found.row.tolist()) == [0, 2, 3]


def test_a_lane_whose_intervals_all_cross_costs_no_more_than_its_length() -> None:
    count = 20_000
    start = np.arange(count) * 10
    found = nest_intervals(np.zeros(count, np.int64), start, start + 100 * np.arange(count, 0, -1) % 977 + 15)
    assert len(found.row) + len(found.crossing) == count


@given(st.lists(st.integers(-1, 20), max_size=15))
def test_the_depth_of_a_row_is_how_many_owners_are_above_it(owners: list[int]) -> None:
    owner = [above if above < row else -1 for row, above in enumerate(owners)]

    def depth(row: int) -> int:
        return 0 if owner[row] < 0 else 1 + depth(owner[row])

    assert depths_of(np.array(owner, np.int64)).tolist() == [depth(row) for row in range(len(owner))]
