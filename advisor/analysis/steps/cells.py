# SPDX-License-Identifier: Apache-2.0
"""Cells: one step of one rank each; which cell an event belongs to, by its own step or by the moment it starts.

Where steps are numbered, an event that carries no number lies outside of every step (warm-up, tear-down) and belongs
to no cell. Where nothing is numbered, the whole capture of a rank is one cell whose step is missing.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.analysis.steps.warm_up import begin_of_work
from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, places_in_order

_EVER = np.iinfo(np.int64)


class Calendar(Struct, frozen=True):
    """The steps of one rank in time: from each border on, events belong to that cell (-1: to none)."""

    border: Array
    cell: Array

    def at(self, moment: Array) -> Array:
        """The cell of each moment, or -1."""
        found = places_in_order(self.border, moment, "right") - 1
        return np.where(found >= 0, self.cell[np.maximum(found, 0)], -1)


class Cells(Struct, frozen=True):
    """All cells in order of rank and step, one entry per cell."""

    rank: Array
    step: Array
    begin: Array
    """Clock at which the first kernel or collective of the cell starts; earlier where marks tell that the idle time
    before it is the step's own, see `StepWindow.counts_from_ns`."""
    follow: Array
    """Clock at which the next step begins; the least int64 where that one was not recorded."""
    away: Array
    """For how long the host was in neither of the two steps between them, ns; 0 where its steps were not recorded."""
    device: dict[int, Calendar]
    """Per rank: when its steps begin on the device."""
    host: dict[int, Calendar]
    """Per rank: when its steps run on the host; the device's where the host's steps were not recorded."""

    def __len__(self) -> int:
        return len(self.rank)

    def of(self, rank: Array, step: Array, start: Array) -> Array:
        """The cell of each event of one table, or -1. Where a rank numbers none of them they go by time."""
        numbered = np.isin(rank, np.unique(rank[step != MISSING]))
        return np.where(numbered, self._cell_of_step(rank, step), _by_rank(self.device, rank, start))

    def at(self, rank: Array, start: Array) -> Array:
        """The cell of each device event that carries no step, or -1."""
        return _by_rank(self.device, rank, start)

    def on_host(self, rank: Array, start: Array) -> Array:
        """The cell of each host call, or -1."""
        return _by_rank(self.host, rank, start)

    def _cell_of_step(self, rank: Array, step: Array) -> Array:
        keys = group_by(np.concatenate([self.rank, rank]), np.concatenate([self.step, step])).of
        return row_of_key(keys[: len(self)], keys[len(self) :])


def lie_outside_steps(rank: Array, step: Array) -> Array:
    """Per event: whether it carries no step while others of its rank do."""
    outside: Array = (step == MISSING) & np.isin(rank, np.unique(rank[step != MISSING]))
    return outside


def _by_rank(calendars: dict[int, Calendar], rank: Array, moment: Array) -> Array:
    ranks = distinct_ranks(rank).tolist()
    if len(ranks) == 1 and ranks[0] in calendars:
        return calendars[ranks[0]].at(moment)
    cell = np.full(len(rank), -1)
    for one in ranks:
        if one in calendars:
            here = rank == one
            cell[here] = calendars[one].at(moment[here])
    return cell


class _Marks(Struct, frozen=True):
    """What the host recorded of the steps of one rank, ns; missing where it did not."""

    opened: Array
    closed: Array
    counted: Array
    """From when on the idle time before the first work is part of the step."""


def cells_of(rank: Array, step: Array, start: Array, end: Array, windows: Table[StepWindow] | None) -> Cells:
    """The cells of device events that carry their step; that of a rank without steps leaves out how the job started."""
    device: dict[int, Calendar] = {}
    host: dict[int, Calendar] = {}
    parts: list[tuple[Array, ...]] = []
    count = 0
    for one in distinct_ranks(rank).tolist():
        here = rank == one
        names, first, last = _ends_of_steps(step[here], start[here], end[here])
        if (names == MISSING).all():
            first = np.array([begin_of_work(start[here], end[here])])
        cell = np.arange(count, count + len(names))
        marks = _marks_of(one, names, windows)
        first = _with_own_time(names, first, last, _reached_before(first, start[here], end[here]), marks)
        device[one] = Calendar(*_sort_borders(first, cell))
        host[one] = _host_calendar(cell, names, first, marks.opened, marks.closed)
        follow = _of_next(names, first, _EVER.min)
        away = np.where(marks.closed == MISSING, 0, _of_next(names, marks.opened, MISSING))
        away = np.where((away == MISSING) | (away == 0), 0, np.maximum(away - marks.closed, 0))
        parts.append((np.full(len(names), one), names, first, follow, away))
        count += len(names)
    empty = (np.empty(0, np.int64),) * 5
    of_rank, of_step, begin, follow, away = map(np.concatenate, zip(*(parts or [empty]), strict=True))
    return Cells(of_rank, of_step, begin, follow, away, device, host)


def _ends_of_steps(step: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """The steps of one rank, the first start and the last end of their events; the missing step only if there is no
    other."""
    steps = group_by(step)
    names, of = step[steps.first], steps.of
    first, last = np.full(len(names), _EVER.max), np.full(len(names), _EVER.min)
    np.minimum.at(first, of, start)
    np.maximum.at(last, of, end)
    kept = names != MISSING if len(names) > 1 else np.ones(len(names), bool)
    return names[kept], first[kept], last[kept]


def _reached_before(moment: Array, start: Array, end: Array) -> Array:
    """Per moment: the last end of what starts before it; the least int64 where nothing does."""
    order = np.argsort(start, kind="stable")
    reached = np.append(_EVER.min, np.maximum.accumulate(end[order]))
    found: Array = reached[np.searchsorted(start[order], moment, "left")]
    return found


def _with_own_time(names: Array, first: Array, last: Array, reached: Array, marks: _Marks) -> Array:
    """Per step of one rank: when it begins with the idle time before its first work, where that is known to be its own.

    Of a step that is not recorded the device may still have had to do when the next one began, for as long as its last
    work outlasts any recorded one on the host. Where nothing tells what the host did before the first step, no more of
    it counts than the middle one of the others has.
    """
    opened, counted = marks.opened, marks.counted
    if (counted == MISSING).all():
        return first
    follows = np.append(False, names[1:] - 1 == names[:-1])
    outlasts = last - np.where(marks.closed == MISSING, last, marks.closed)
    since = np.where(follows, counted, counted + outlasts.max(initial=0))
    begin = np.where(counted == MISSING, first, np.clip(np.maximum(since, reached), None, first))
    usual = follows & (counted != MISSING)
    if usual.any():
        like_others = np.maximum(opened, first - int(np.median((first - begin)[usual])))
        begin = np.where(counted == MISSING, np.clip(np.maximum(like_others, reached), None, first), begin)
    return begin


def _of_next(names: Array, values: Array, none: int) -> Array:
    """Per step: the value of the step that follows it; `none` where that one was not recorded."""
    follows = np.append(names[1:] - 1 == names[:-1], False)
    return np.where(follows, np.append(values[1:], 0), none)


def _marks_of(rank: int, names: Array, windows: Table[StepWindow] | None) -> _Marks:
    """What the host recorded of these steps."""
    opened, closed, counted = (np.full(len(names), MISSING) for _ in range(3))
    if windows is not None:
        rows = np.flatnonzero(windows["rank"] == rank)
        at = row_of_key(windows["step"][rows], names)
        found = at >= 0
        for values, name in ((opened, "start_ns"), (closed, "end_ns"), (counted, "counts_from_ns")):
            values[found] = windows[name][rows[at[found]]]
    return _Marks(opened, closed, counted)


def _host_calendar(cell: Array, names: Array, first: Array, opened: Array, closed: Array) -> Calendar:
    """Each step from its start to its end on the host; the device's borders where these are unknown."""
    if (names == MISSING).all():
        return Calendar(np.full(len(cell), _EVER.min), cell)
    if (opened == MISSING).any() or (closed == MISSING).any():
        return Calendar(*_sort_borders(first, cell))
    order = np.argsort(opened, kind="stable")
    opened, closed, cell = opened[order], closed[order], cell[order]
    closed[:-1] = np.minimum(closed[:-1], opened[1:])
    return Calendar(np.stack([opened, closed], 1).reshape(-1), np.stack([cell, np.full(len(cell), -1)], 1).reshape(-1))


def _sort_borders(border: Array, cell: Array) -> tuple[Array, Array]:
    order = np.argsort(border, kind="stable")
    return border[order], cell[order]
