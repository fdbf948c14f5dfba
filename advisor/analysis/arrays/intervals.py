# SPDX-License-Identifier: Apache-2.0
"""The algebra of time: union, intersection, difference, gaps and cover of intervals, in whole nanoseconds.

Intervals are half open, `[start, end)`. `Spans` are a *set* of them: sorted, apart from each other, none empty.
Everything is one sort and a few passes, never pairwise, so that ten million intervals stay a matter of a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, MomentColumn, ascending, places_in_order, row_type
from advisor.units import LONGEST_US

_A, _B = 1, 2
_LONG_AGO = np.iinfo(np.int64).min // 2
"""Before all moments, and no moment is so late that the time since then is beyond what numbers hold."""
_ROWS = 1 << 18
"""2 MiB of a column, which a cache holds."""


def whole_ns(us: Array) -> Array:
    """Lengths of time in µs as whole ns: 0 where one is missing, and none longer than moments can hold."""
    found: Array = np.rint(np.clip(np.nan_to_num(us), -LONGEST_US, LONGEST_US) * 1e3).astype(np.int64)
    return found


SLICES = 120
"""A picture across a page shows no more of a stretch of time apart; of two steps a rank sends 28 kB."""


def edges_of_slices(begin: Array, length: Array) -> Array:
    """Per stretch of time, a row: where its `SLICES` equal slices begin, and the last ends, ns."""
    return begin[:, None] + length[:, None] * np.arange(SLICES + 1) // SLICES


def row_ranges(rows: int) -> Iterator[slice]:
    """All rows, some at a time: what is made of columns on the way to a result is then never as long as they are."""
    return (slice(begin, begin + _ROWS) for begin in range(0, rows, _ROWS))


class Spans(Struct, frozen=True):
    """A set of time: sorted intervals that neither overlap nor touch, none empty."""

    start: Array
    end: Array

    def __len__(self) -> int:
        return len(self.start)

    @property
    def lengths(self) -> Array:
        """Length of each interval, ns."""
        return self.end - self.start

    @property
    def total(self) -> int:
        """Length of all intervals together, ns."""
        return int(self.lengths.sum())

    @classmethod
    def none(cls) -> Spans:
        """The empty set."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: Array, end: Array) -> Spans:
    """The time in which at least one of the intervals runs.

    Touching intervals become one; empty ones and those that end before they start do not count.
    """
    real = end > start
    if not real.all():
        kept = np.flatnonzero(real)
        start, end = start.take(kept), end.take(kept)
    if not len(start):
        return Spans.none()
    start, end = _by_start(start, end)
    reach = np.maximum.accumulate(end)
    begins = np.ones(len(start), bool)
    np.greater(start[1:], reach[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    last = np.full(len(first), len(reach) - 1)
    last[:-1] = first[1:] - 1
    return Spans(start[first], reach[last])


def _by_start(start: Array, end: Array) -> tuple[Array, Array]:
    if (start[1:] >= start[:-1]).all():
        return start, end
    order = np.argsort(start, kind="stable")
    return start.take(order), end.take(order)


def union_of_sets(sets: Sequence[Spans]) -> Spans:
    """The union of several sets."""
    if not sets:
        return Spans.none()
    return union(np.concatenate([s.start for s in sets]), np.concatenate([s.end for s in sets]))


def _border_states(a: Spans, b: Spans) -> tuple[Array, Array]:
    """All borders of both sets in order, and from each border to the next: 1 only a, 2 only b, 3 both, 0 neither."""
    times = np.concatenate([a.start, a.end, b.start, b.end])
    steps = np.repeat([_A, -_A, _B, -_B], [len(a), len(a), len(b), len(b)])
    order = np.argsort(times, kind="stable")
    return times.take(order), np.cumsum(steps.take(order))


def _spans_in_state(a: Spans, b: Spans, state: int) -> Spans:
    times, states = _border_states(a, b)
    here = np.flatnonzero((states[:-1] == state) & (times[1:] > times[:-1])) if len(times) else np.empty(0, np.intp)
    return Spans(times[here], times[here + 1]) if len(here) else Spans.none()


def intersect(a: Spans, b: Spans) -> Spans:
    """The time in both sets."""
    return _spans_in_state(a, b, _A | _B)


def subtract(a: Spans, b: Spans) -> Spans:
    """The time in `a` that is not in `b`."""
    return _spans_in_state(a, b, _A)


def gaps_in_window(busy: Spans, window: Spans) -> Spans:
    """The parts of the window in which nothing is busy. Touching intervals leave no gap."""
    return subtract(window, busy)


def covered_ns(spans: Spans, start: Array, end: Array) -> Array:
    """How much of each query interval lies in the set, ns; 0 for a query that ends before it starts."""
    if not len(spans):
        return np.zeros(len(start), np.int64)
    until, ends = np.zeros(len(spans) + 1, np.int64), np.full(len(spans) + 1, _LONG_AGO)
    np.cumsum(spans.lengths, out=until[1:])
    ends[1:] = spans.end
    covered = _covered_until(spans, until, ends, end)
    covered -= _covered_until(spans, until, ends, start)
    return np.maximum(covered, 0, out=covered)


def _covered_until(spans: Spans, until: Array, ends: Array, moment: Array) -> Array:
    """How much of the set lies before each moment; `until` is how much does before the end of so many intervals, and
    `ends` is when the last of these ends."""
    begun = places_in_order(spans.start, moment, "right")
    left: Array = ends.take(begun)  # of the last one that has begun, beyond the moment
    left -= moment
    np.maximum(left, 0, out=left)
    found: Array = until.take(begun)
    found -= left
    return np.maximum(found, 0, out=found)


def span_at(spans: Spans, moment: Array) -> Array:
    """The position of the interval that holds each moment, or -1."""
    if not len(spans):
        return np.full(len(moment), -1, np.intp)
    at = places_in_order(spans.start, moment, "right")
    at -= 1
    at[moment >= spans.end.take(at)] = -1
    return at


def nesting_depths(start: Array, end: Array) -> Array:
    """How many intervals that began earlier are still running when each begins.

    Of intervals that begin together the later row counts as the inner one; so sort by start, longest first.
    """
    count = len(start)
    order = np.argsort(np.concatenate([end, start]), kind="stable")
    steps = np.where(order < count, np.int8(-1), np.int8(1))
    running = np.empty(2 * count, row_type(2 * count))
    running[order] = np.cumsum(steps, dtype=running.dtype)
    return running[count:] - 1


def holding_a_middle(
    start: Array, end: MomentColumn, query_start: Array, query_end: Array, among: Array | None = None
) -> Array:
    """Which intervals hold the middle of any query: no other one covers more than half of it. Where only those in a
    mask are asked for, others hold none."""
    asked = ascending(query_start + (query_end - query_start) // 2)
    return _more_begun_than_ended(asked, asked, start, end, side="left", among=among)


def touching_any(start: Array, end: MomentColumn, query_start: Array, query_end: Array) -> Array:
    """Which intervals share time with any query; none of them may be empty."""
    return _more_begun_than_ended(ascending(query_start), ascending(query_end), start, end, side="right")


def _more_begun_than_ended(
    begun: Array,
    ended: Array,
    start: Array,
    end: MomentColumn,
    *,
    side: Literal["left", "right"],
    among: Array | None = None,
) -> Array:
    """Per interval: whether more of `begun` than of `ended`, both sorted, lie before its end and its start.

    So it is where the first of `begun` beyond that number lies before its end: one search is enough.
    """
    begun = np.append(begun, np.iinfo(np.int64).max)
    found = np.zeros(len(start), bool)
    for part in row_ranges(len(start)):
        own = slice(None) if among is None else np.flatnonzero(among[part])
        found[part][own] = begun[places_in_order(ended, start[part][own], side)] < end[part][own]
    return found


def innermost_covering(
    start: Array, end: Array, query_start: Array, query_end: Array, *, among: Array | None = None
) -> Array:
    """The innermost interval that covers more than half of each query, or -1. Its row, that is.

    Meant for calls of one thread, properly nested; where they are not, an interval that covers is still given,
    only perhaps not the innermost. What covers more than half holds the middle, so one look per depth is enough. Who
    knows already which intervals hold the middle of any query gives their rows.
    """
    found = np.full(len(query_start), -1, np.intp)
    middle = query_start + (query_end - query_start) // 2
    rows = np.flatnonzero(holding_a_middle(start, end, query_start, query_end)) if among is None else among
    rows = rows[np.lexsort((-end[rows], start[rows]))]
    start, end = start.take(rows), end.take(rows)
    depth = nesting_depths(start, end)
    order = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2)) if len(depth) else np.zeros(1, np.intp)
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        level = order[first:last]
        hit = span_at(Spans(start[level], end[level]), middle)
        row = level[np.maximum(hit, 0)]
        shared = np.minimum(end[row], query_end) - np.maximum(start[row], query_start)
        better = (hit >= 0) & (2 * shared > query_end - query_start)
        found[better] = rows[row[better]]
    return found


class Axis(Struct, frozen=True):
    """Cells laid one after another, 1 ns apart: work on many steps, ranks or names then is one pass over one axis."""

    shift: Array
    """Per cell: what to add to its times."""
    place: Array
    """Per cell: where it begins."""

    def owner(self, moment: Array) -> Array:
        """The cell that holds each moment of the axis; the first one for moments before all, which no clock shows."""
        found: Array = np.maximum(places_in_order(self.place, moment, "right") - 1, 0)
        return found


def axis_of_cells(cell: Array, start: Array, end: Array, cells: int) -> Axis:
    """An axis on which no two cells share a moment. Every row must end no earlier than it starts."""
    first, last = np.full(cells, np.iinfo(np.int64).max), np.full(cells, np.iinfo(np.int64).min)
    np.minimum.at(first, cell, start)
    np.maximum.at(last, cell, end)
    used = last >= first
    first, last = np.where(used, first, 0), np.where(used, last, 0)
    place = np.append(0, np.cumsum(last - first + 1)[:-1])[:cells]
    return Axis(place - first, place)


def unions_by_cell(cell: Array, start: Array, end: Array, cells: int) -> tuple[Array, Array, Array]:
    """The union of the intervals of each cell apart: owner, start and end of each merged interval, by owner."""
    real = np.flatnonzero(end > start)
    cell, start, end = cell.take(real), start.take(real), end.take(real)
    axis = axis_of_cells(cell, start, end, cells)
    shift = axis.shift.take(cell)
    merged = union(start + shift, end + shift)
    owner = axis.owner(merged.start)
    shift = axis.shift.take(owner)
    return owner, merged.start - shift, merged.end - shift


def covered_by_earlier(cell: Array, start: Array, end: Array) -> Array:
    """Per interval: how much of it those of its cell cover that begin before it, ns. Of equal begins the first counts.

    The rest of all intervals of a cell adds up to their union.
    """
    if not len(cell):
        return np.zeros(0, np.int64)
    end = np.maximum(start, end)
    shift = axis_of_cells(cell, start, end, int(cell.max()) + 1).shift[cell]
    order = np.argsort(start + shift, kind="stable")
    begin, finish = (start + shift)[order], (end + shift)[order]
    reach = np.append(begin[:1], np.maximum.accumulate(finish)[:-1])
    covered = np.empty(len(cell), np.int64)
    covered[order] = np.clip(reach - begin, 0, finish - begin)
    return covered


def time_alone_by_cell(cell: Array, start: Array, end: Array, cells: int) -> Array:
    """Per cell: how long its intervals run while those of no other cell do, ns."""
    owner, start, end = unions_by_cell(cell, start, end, cells)
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    running, name = (np.cumsum(np.concatenate([one, -one]).take(order)) for one in (np.ones_like(owner), owner))
    lasts = np.append(np.diff(times.take(order)), 0)[: len(order)]
    single = np.flatnonzero(running == 1)
    return np.bincount(name.take(single), weights=lasts.take(single), minlength=cells).astype(np.int64)
