# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.arrays.intervals import (
    Spans,
    axis_of_cells,
    covered_by_earlier,
    covered_ns,
    gaps_in_window,
    holding_a_middle,
    innermost_covering,
    intersect,
    nesting_depths,
    span_at,
    subtract,
    time_alone_by_cell,
    touching_any,
    union,
    union_of_sets,
    unions_by_cell,
)
from tests.analysis.timelines import INTERVALS, moments

QUERIES = st.lists(st.tuples(st.integers(-5, 150), st.integers(0, 30)), max_size=8)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.int64)


def spans(pairs: list[tuple[int, int]]) -> Spans:
    return union(*columns(pairs))


def times(of: Spans) -> set[int]:
    return moments(of.start, of.end)


@given(INTERVALS)
def test_union_holds_the_moments_of_all_and_no_other(pairs):
    assert times(spans(pairs)) == moments(*zip(*pairs, strict=True)) if pairs else not len(spans(pairs))


@given(INTERVALS)
def test_union_is_sorted_apart_and_without_empty_intervals(pairs):
    of = spans(pairs)
    assert (of.end > of.start).all()
    assert (of.start[1:] > of.end[:-1]).all()


@given(INTERVALS)
def test_union_of_a_union_changes_nothing(pairs):
    once = spans(pairs)
    again = union(once.start, once.end)
    assert again.start.tolist() == once.start.tolist() and again.end.tolist() == once.end.tolist()


@given(INTERVALS, INTERVALS)
def test_intersection_is_what_union_counts_twice(a, b):
    first, second = spans(a), spans(b)
    assert first.total + second.total == union_of_sets([first, second]).total + intersect(first, second).total


@given(INTERVALS, INTERVALS)
def test_set_operations_agree_with_sets_of_moments(a, b):
    first, second = spans(a), spans(b)
    assert times(intersect(first, second)) == times(first) & times(second)
    assert times(subtract(first, second)) == times(first) - times(second)
    assert times(union_of_sets([first, second])) == times(first) | times(second)


@given(INTERVALS, INTERVALS)
def test_results_are_spans_again(a, b):
    for of in (intersect(spans(a), spans(b)), subtract(spans(a), spans(b))):
        assert (of.end > of.start).all() and (of.start[1:] > of.end[:-1]).all()


@given(INTERVALS, INTERVALS)
def test_busy_and_gaps_fill_the_window(busy, window):
    whole, used = spans(window), spans(busy)
    assert gaps_in_window(used, whole).total + intersect(used, whole).total == whole.total


def test_touching_intervals_leave_no_gap():
    busy = union(np.array([0, 10]), np.array([10, 20]))
    assert len(busy) == 1
    assert not len(gaps_in_window(busy, Spans(np.array([0]), np.array([20]))))


def test_empty_and_negative_intervals_do_not_count():
    assert not len(union(np.array([5, 9]), np.array([5, 3])))


@given(INTERVALS, QUERIES)
def test_cover_counts_the_moments_of_each_query(pairs, queries):
    start, length = columns(queries)
    found = covered_ns(spans(pairs), start, start + length).tolist()
    held = times(spans(pairs))
    assert found == [len(held & set(range(s, s + n))) for s, n in queries]


LASTING = st.lists(st.tuples(st.integers(-5, 150), st.integers(1, 30)), max_size=8)


@given(LASTING, LASTING)
def test_intervals_that_touch_queries_and_hold_their_middles_are_those_that_do_so_with_any(pairs, queries):
    (start, length), (begun, lasted) = columns(pairs), columns(queries)
    these, those = (start, start + length), (begun, begun + lasted)
    asked = [*zip(*(one.tolist() for one in those), strict=True)]
    every = [*zip(*(one.tolist() for one in these), strict=True)]
    touched = [any(s < y and x < e for x, y in asked) for s, e in every]
    assert touching_any(*these, *those).tolist() == touched
    held = [any(s <= x + (y - x) // 2 < e for x, y in asked) for s, e in every]
    assert holding_a_middle(*these, *those).tolist() == held


def test_a_query_that_ends_before_it_starts_covers_nothing():
    assert covered_ns(spans([(0, 10)]), np.array([8]), np.array([2])).tolist() == [0]


@given(INTERVALS, st.lists(st.integers(-5, 150), max_size=8))
def test_holder_is_the_span_around_the_moment(pairs, asked):
    of = spans(pairs)
    found = span_at(of, np.array(asked, np.int64)).tolist()
    bounds = list(zip(of.start.tolist(), of.end.tolist(), strict=True))
    assert found == [next((i for i, (s, e) in enumerate(bounds) if s <= t < e), -1) for t in asked]


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Calls as one thread makes them: each inside its caller or after it."""

    def inside(low: int, high: int, depth: int) -> list[tuple[int, int]]:
        found, at = [], low
        while at < high and draw(st.booleans()):
            start = draw(st.integers(at, high - 1))
            end = draw(st.integers(start + 1, high))
            found.append((start, end))
            found += inside(start, end, depth + 1) if depth < 4 else []
            at = end
        return found

    return inside(0, 100, 0)


@settings(max_examples=60)
@given(nested(), QUERIES, st.randoms())
def test_innermost_is_the_shortest_call_over_more_than_half(calls, queries, random):
    random.shuffle(calls)
    start, end = columns(calls)
    asked, length = columns(queries)
    found = innermost_covering(start, end, asked, asked + length).tolist()
    for (s, n), row in zip(queries, found, strict=True):
        covering = [e - b for b, e in calls if 2 * (min(e, s + n) - max(b, s)) > n]
        assert (row == -1) == (not covering)
        if covering:
            b, e = calls[row]
            assert e - b == min(covering)
            assert 2 * (min(e, s + n) - max(b, s)) > n


def test_depth_counts_the_calls_still_running():
    assert nesting_depths(np.array([0, 1, 2, 6]), np.array([10, 5, 3, 9])).tolist() == [0, 1, 2, 1]


CELLS = st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 100), st.integers(0, 20)), max_size=15)


def celled(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cell, start = columns([(c, s) for c, s, _ in rows])
    return cell, start, start + np.array([n for _, _, n in rows], np.int64)


@given(CELLS)
def test_cells_on_the_axis_share_no_moment(rows):
    cell, start, end = celled(rows)
    axis = axis_of_cells(cell, start, end, 4)
    sets = [moments(start[cell == c] + axis.shift[c], end[cell == c] + axis.shift[c]) for c in range(4)]
    assert sum(map(len, sets)) == len(set().union(*sets))
    assert axis.owner(start + axis.shift[cell]).tolist() == cell.tolist()


@given(CELLS)
def test_unions_are_the_union_of_each_cell(rows):
    cell, start, end = celled(rows)
    owner, first, last = unions_by_cell(cell, start, end, 4)
    for c in range(4):
        expected = union(start[cell == c], end[cell == c])
        assert first[owner == c].tolist() == expected.start.tolist()
        assert last[owner == c].tolist() == expected.end.tolist()


@given(CELLS)
def test_what_earlier_ones_cover_leaves_each_moment_of_a_cell_to_the_interval_that_began_first(rows):
    cell, start, end = celled(rows)
    seen: dict[int, set[int]] = {}
    covered = np.zeros(len(cell), np.int64)
    for at in np.argsort(start, kind="stable").tolist():
        own, before = moments(start[at : at + 1], end[at : at + 1]), seen.setdefault(int(cell[at]), set())
        covered[at] = len(own & before)
        before |= own
    assert covered_by_earlier(cell, start, end).tolist() == covered.tolist()


@given(CELLS)
def test_alone_is_time_no_other_cell_runs(rows):
    cell, start, end = celled(rows)
    found = time_alone_by_cell(cell, start, end, 4).tolist()
    sets = [moments(start[cell == c], end[cell == c]) for c in range(4)]
    others = [set().union(*(s for k, s in enumerate(sets) if k != c)) for c in range(4)]
    assert found == [len(own - other) for own, other in zip(sets, others, strict=True)]
