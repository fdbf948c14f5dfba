# SPDX-License-Identifier: Apache-2.0
"""Intervals that lie inside each other, lane by lane: which one is directly around each, by sorting and searching."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, places_in_order, row_type, values_at

_MOST_ROUNDS = 32
"""A lane in which intervals cross each other more deeply than this says nothing: all of it is left out."""
_FEW_LANES = 8
"""So many lanes are looked through one by one: a third of the memory of putting all in one order, and less time."""


class Nest(Struct, frozen=True):
    """Intervals of which two of a lane are apart or one inside the other, in order of lane, start and falling end."""

    row: Array
    """Row of the table they came from."""
    lane: Array
    start: Array
    end: Array
    parent: Array
    """Place of the interval directly around each, -1 without one."""
    crossing: Array
    """Rows that are left out: they begin inside another interval and end behind it."""

    def around(self, lane: Array, start: Array, end: Array) -> Array:
        """The row of the innermost interval of the lane that holds each of these intervals whole, -1 without one."""
        place = _last_begun(self.lane, self.start, lane, start)
        place = np.where(values_at(self.lane, place, -1) == lane, place, -1)
        while (outside := (place >= 0) & (values_at(self.end, place, 0) < end)).any():
            place = np.where(outside, values_at(self.parent, place, -1), place)
        return values_at(self.row, place, -1)

    @property
    def parent_rows(self) -> Array:
        """Per row of the table: the row directly around it, -1 without one."""
        found = np.full(len(self.row) + len(self.crossing), -1)
        found[self.row] = values_at(self.row, self.parent, -1)
        return found


def nest_intervals(lane: Array, start: Array, end: Array) -> Nest:
    """The intervals, without those that begin inside another one and end behind it."""
    row = np.lexsort((-end, start, lane))
    crossing = np.empty(0, np.intp)
    for left in range(_MOST_ROUNDS, -1, -1):
        parent = parents_in_order(lane[row], start[row], end[row])
        border = values_at(end[row], parent, np.iinfo(np.int64).max)
        beyond = end[row] > border
        if not beyond.any():
            break
        gone = beyond & (start[row] < border) if left else np.isin(lane[row], lane[row][beyond])
        crossing = np.append(crossing, row[gone])
        row = row[~gone]
    return Nest(row, lane[row], start[row], end[row], parent[: len(row)], crossing)


def parents_in_order(lane: Array, start: Array, end: Array) -> Array:
    """In order of lane, start and falling end: the last interval before each that lies one level less deep.

    Where none cross it is the one directly around it. Of those that do, the first to begin ends behind the one it
    began in, by which it is found.
    """
    count = len(start)
    level = _levels(lane, start, end)
    kind = row_type((int(level.max(initial=0)) + 1) * count)
    key = level.astype(kind)
    key *= count
    key += np.arange(count, dtype=kind)
    by_level = key.take(_order_of_levels(level))
    key -= count  # that of the row itself, had it been one level less deep
    before = (np.searchsorted(by_level, key) - 1).astype(row_type(count))
    del key
    found = values_at(by_level, before, -1)
    del by_level
    good = (before >= 0) & (level > 1) & (found // max(count, 1) == level - 1)
    del level
    found %= max(count, 1)
    good &= values_at(lane, found, -1) == lane
    return np.where(good, found, -1)


def _order_of_levels(level: Array) -> Array:
    """The rows level by level, each in its order: levels are few, and small numbers are sorted in one pass."""
    few = len(level) == 0 or int(level.max()) <= np.iinfo(np.uint16).max
    return np.argsort(level.astype(np.uint16) if few else level, kind="stable")


def _levels(lane: Array, start: Array, end: Array) -> Array:
    """How many intervals of the lane are open when each begins, itself among them; one that ends then is not."""
    ends = np.maximum(end, start + 1)
    order = np.lexsort((ends, lane))
    level = np.arange(1, len(start) + 1, dtype=row_type(len(start)))
    level -= _count_until(lane, ends.take(order), lane, start)
    return level


def _last_begun(lane: Array, start: Array, asked_lane: Array, asked: Array) -> Array:
    """In order of lane and start: the last interval of the lane, or of one before it, that begins by each moment."""
    return _count_until(lane, start, asked_lane, asked) - 1


def _count_until(lane: Array, moment: Array, asked_lane: Array, asked: Array) -> Array:
    """In order of lane and moment: how many come before each of those that are asked for, or are like it."""
    begins = np.flatnonzero(np.append(True, lane[1:] != lane[:-1])) if len(lane) else np.empty(0, np.intp)
    if len(begins) > _FEW_LANES:
        return _count_in_one_order(lane, moment, asked_lane, asked)
    found = np.zeros(len(asked), row_type(len(lane)))
    for begin, end in pairwise([*begins.tolist(), len(lane)]):
        found[asked_lane > lane[begin]] = end
        own = asked_lane == lane[begin]
        found[own] = begin + places_in_order(moment[begin:end], asked[own], "right")
    return found


def _count_in_one_order(lane: Array, moment: Array, asked_lane: Array, asked: Array) -> Array:
    """The same, whatever the number of lanes: all are put in one order."""
    later = np.repeat(np.array([0, 1], np.int8), [len(lane), len(asked)])
    order = np.lexsort((later, np.concatenate([moment, asked]), np.concatenate([lane, asked_lane])))
    count = np.empty(len(order), np.int64)
    count[order] = np.cumsum(later[order] == 0)
    return count[len(lane) :]


def depths_of(owner: Array) -> Array:
    """Per row of a forest given by the owner of each (-1: none): how many owners are above it.

    No row may own itself in a circle.
    """
    depth, above = (owner >= 0).astype(np.int64), owner
    while (above >= 0).any():
        depth = depth + values_at(depth, above, 0)
        above = values_at(above, above, -1)
    return depth
