# SPDX-License-Identifier: Apache-2.0
"""What is true of every program that is run, whatever its moments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.injected.binding import fasten
from benchmarks.injected.program import Lane, Moment
from benchmarks.injected.rerun import Deadlock, run_moments
from benchmarks.injected.splits import length, union, without

Waits = list[list[tuple[int, int, int]]]
"""Per lane: of each moment its work, which moment of an earlier lane it waits for, and how long before."""

lanes = st.lists(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9), st.integers(0, 20)), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
)
spans = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)), max_size=12).map(
    lambda pairs: [(start, start + length) for start, length in pairs]
)


def laid(waits: Waits) -> list[Moment]:
    """Moments in lanes; those of a lane may wait for those of the lane before it."""
    found: list[Moment] = []
    before: list[Moment] = []
    for one in waits:
        lane, moments = Lane(), []
        for work, place, lag in one:
            moment = Moment(work=work)
            if before:
                moment.waits = [(before[place % len(before)], lag)]
            lane.append(moment)
            moments.append(moment)
        found += moments
        before = moments
    return found


@given(lanes, st.integers(0, 30), st.integers(1, 100))
def test_more_work_never_makes_anything_earlier(waits: Waits, place: int, more: int) -> None:
    moments = laid(waits)
    run_moments(moments)
    before = [moment.at for moment in moments]
    moments[place % len(moments)].work += more
    run_moments(moments)
    assert all(now.at >= was for now, was in zip(moments, before, strict=True))
    assert max(moment.at for moment in moments) - max(before) <= more


@given(lanes)
def test_a_run_without_change_is_the_same_run(waits: Waits) -> None:
    moments = laid(waits)
    run_moments(moments)
    before = [moment.at for moment in moments]
    run_moments(moments)
    assert [moment.at for moment in moments] == before


@given(lanes)
def test_moments_fastened_to_what_was_recorded_come_as_recorded(waits: Waits) -> None:
    moments = laid(waits)
    run_moments(moments)
    recorded = [moment.at for moment in moments]
    for moment in moments:
        fasten(moment, [(other, 5) for other, _ in moment.waits if other.at <= moment.at], 3)
        if moment.before is None and not moment.waits:
            moment.work = moment.at
    run_moments(moments)
    assert [moment.at for moment in moments] == recorded


def test_moments_that_wait_for_each_other_are_told() -> None:
    one, other = Moment(), Moment()
    one.waits, other.waits = [(other, 0)], [(one, 0)]
    with pytest.raises(Deadlock, match="2 of 2 moments"):
        run_moments([one, other])


@given(spans, spans)
def test_what_is_left_and_what_is_taken_add_up(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    whole, taken = union(some), union(others)
    left = without(whole, taken)
    both = length(whole) + length(taken) - length(union([*whole, *taken]))
    assert length(left) == length(whole) - both
    assert left == union(left)
