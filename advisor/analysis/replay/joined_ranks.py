# SPDX-License-Identifier: Apache-2.0
"""Ranks laid one after another in time, so that each replay is one pass over all of them: of small ranks calls, not
tasks, are what a replay takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.intervals import Spans
from advisor.analysis.host import host
from advisor.analysis.replay import replay
from advisor.analysis.replay.replayed_rank import LaunchingOperators, ReplayedRank
from advisor.analysis.replay.shorter_cells import RankEdges, ShorterCells, shorter_cells, until_last_task
from advisor.facts.table import Array, row_type

APART_NS = 1 << 20
"""So much lies between two ranks, which is more than any rounding by which moments are compared."""
_LONGEST_NS = replay.UNBOUND >> 1
"""Ranks that would take more time together, as those of damaged clocks, are not joined."""


class JoinedRanks(Struct, frozen=True, dict=True):
    """Several ranks as one replay needs them, each in time of its own.

    Cells and tasks are those of the first rank, then those of the next.
    """

    seen: tuple[ReplayedRank, ...]
    shift: tuple[int, ...]
    """Per rank: by how much its times are moved, ns."""
    replayed: replay.ReplayInput
    tasks: Array
    """Where the tasks of each rank begin, and at the end how many there are; the last of each ends its steps."""
    row: Array
    """Per task: its row of the timeline's work; -1 of those that end the steps of a rank."""
    own: Array
    """The cells of all ranks, those of each in order of time."""
    cells: Array
    """Where the cells of each rank begin among them, and at the end how many there are."""
    last: Array
    """Per own cell: the last task until its end, or -1."""

    @property
    def launching_operators(self) -> LaunchingOperators:
        """The operators of the framework of all of them that launched anything."""
        return self.seen[0].launching_operators if len(self.seen) == 1 else self._operators_of_all

    @cached_property
    def _operators_of_all(self) -> LaunchingOperators:
        every = [one.launching_operators for one in self.seen]
        operators = [one.calls.take(one.places) for one in every]
        row = np.concatenate([calls.row for calls in operators])
        start, end = (_shifted([getattr(calls, name) for calls in operators], self.shift) for name in ("start", "end"))
        return LaunchingOperators(
            host.Calls(row, start, end),
            places=np.arange(len(row)),
            first=_moved([one.first for one in every], _edges(len(one.order) for one in every)),
            launches=np.concatenate([one.launches for one in every]),
            order=_moved([one.order for one in every], self.tasks),
        )

    def of_each(self, of_tasks: Array) -> list[Array]:
        """What stands of each task, rank by rank."""
        return np.split(of_tasks, self.tasks[1:-1])

    def gains(self, reliefs: Sequence[replay.Relief], waits: Sequence[Spans]) -> list[Array]:
        """Per rank and task: how much earlier it ends where each rank is relieved of host time of its own, with the
        waits that stay (`replay.gains_by_task`). The host of all of them keeps up, or of none."""
        main = _join_spans([relief.main for relief in reliefs], self.shift)
        queue = _join_spans([relief.queue for relief in reliefs], self.shift)
        left = [seen.replayed.waits for seen in self.seen]
        same = all(one is other for one, other in zip(waits, left, strict=True))
        stay = self.replayed.waits if same else _join_spans(waits, self.shift)
        relief = replay.Relief(main, queue, keeps_up=reliefs[0].keeps_up)
        return self.of_each(replay.gains_by_task(self.replayed, relief, waits=stay))

    def whole_of_rank(self, values: Array) -> Array:
        """Per rank: the sum of whole numbers of its own cells."""
        total: Array = np.append(0, np.cumsum(values))[self.cells]
        return np.diff(total)

    def any_of_rank(self, of_tasks: Array) -> Array:
        """Per rank: whether any of its tasks is marked; each has one."""
        found: Array = np.logical_or.reduceat(of_tasks, self.tasks[:-1])
        return found

    def until_last_task(self, gain: Array) -> Array:
        """The gains of a replay in which each rank ends with its last task."""
        return until_last_task(gain, self._edges)

    def shorter_cells(self, gain: Array, *, spared: Array | None = None) -> ShorterCells:
        """By how much own cells are shorter, from how much earlier each task ends, and what each is spared itself."""
        return shorter_cells(gain, self.last, self._edges, spared)

    @property
    def _edges(self) -> RankEdges:
        return RankEdges(self.tasks, self.cells, np.array([seen.lead_ns for seen in self.seen], np.int64))


def joined_in_parts(seen: Iterable[ReplayedRank]) -> Iterator[JoinedRanks]:
    """These ranks joined, no more of them at a time than a long one has tasks."""
    part: list[ReplayedRank] = []
    tasks = lasting = 0
    for one in seen:
        count, length = len(one.replayed.work.start), _length_of(one)
        if part and (tasks + count > replay.LONG or lasting + length > _LONGEST_NS):
            yield join_ranks_in_time(part)
            part, tasks, lasting = [], 0, 0
        part.append(one)
        tasks, lasting = tasks + count, lasting + length
    if part:
        yield join_ranks_in_time(part)


def join_ranks_in_time(seen: Sequence[ReplayedRank]) -> JoinedRanks:
    """These ranks, each in a time of its own; a single one as it is."""
    shift, replayed = ([0], seen[0].replayed) if len(seen) == 1 else _joined_input(seen)
    tasks = _edges(len(one.replayed.work.start) for one in seen)
    return JoinedRanks(
        seen=tuple(seen),
        shift=tuple(shift),
        replayed=replayed,
        tasks=tasks,
        row=np.concatenate([np.append(one.row, np.array([-1], one.row.dtype)) for one in seen]),
        own=np.concatenate([one.own for one in seen]),
        cells=_edges(len(one.own) for one in seen),
        last=_moved([one.last for one in seen], tasks),
    )


def _joined_input(seen: Sequence[ReplayedRank]) -> tuple[list[int], replay.ReplayInput]:
    shift, place = _places(seen)
    work, beside, queue = ([getattr(one.replayed, name) for one in seen] for name in ("work", "beside", "queue"))
    tasks, aside, entries = (_edges(len(one.start) for one in parts) for parts in (work, beside, queue))
    steps = [one.replayed.steps for one in seen]
    return shift, replay.ReplayInput(
        ranks=replay.RanksInTime(_shifted([one.replayed.ranks.begin for one in seen], shift), place),
        work=_join_work(work, shift, entries, aside),
        beside=_join_work(beside, shift, entries, tasks),
        queue=replay.Queue(
            *(_shifted([getattr(one, name) for one in queue], shift) for name in replay.Queue.__struct_fields__)
        ),
        waits=_join_spans([one.replayed.waits for one in seen], shift),
        steps=None if None in steps else _join_spans([one for one in steps if one is not None], shift),
        blocked=_join_blocked(seen, shift),
    )


def _edges(lengths: Iterable[int]) -> Array:
    return np.append(0, np.cumsum([*lengths]))


def _places(seen: Sequence[ReplayedRank]) -> tuple[list[int], Array]:
    """Per rank: by how much its times move, and from when on the time is its own."""
    shift, place, end = [], [], 0
    for one in seen:
        first, last = one.reaches_ns
        place.append(end)
        shift.append(end + APART_NS - first)
        end += last - first + 2 * APART_NS
    return shift, np.array(place)


def _length_of(seen: ReplayedRank) -> int:
    first, last = seen.reaches_ns
    return last - first + 2 * APART_NS


def _shifted(columns: Sequence[Array], shift: Sequence[int]) -> Array:
    return np.concatenate([column + by for column, by in zip(columns, shift, strict=True)])


def _moved(columns: Sequence[Array], edges: Array) -> Array:
    """Numbers of rows, or -1, in what was joined."""
    every: Array = np.concatenate(columns)
    by = np.repeat(edges[:-1], [len(column) for column in columns])
    return np.where(every >= 0, every + by, -1).astype(row_type(int(edges[-1]) + 1), copy=False)


def _join_work(
    parts: Sequence[replay.ReplayedWork], shift: Sequence[int], entries: Array, others: Array
) -> replay.ReplayedWork:
    start, end, launch = (_shifted([getattr(one, name) for one in parts], shift) for name in ("start", "end", "launch"))
    return replay.ReplayedWork(
        start,
        end,
        launch,
        entry=_moved([one.entry for one in parts], entries),
        queued=np.concatenate([one.queued for one in parts]),
        awaits=_moved([one.awaits for one in parts], others),
    )


def _join_spans(sets: Sequence[Spans], shift: Sequence[int]) -> Spans:
    if len(sets) == 1:
        return sets[0]
    return Spans(_shifted([one.start for one in sets], shift), _shifted([one.end for one in sets], shift))


def _join_blocked(seen: Sequence[ReplayedRank], shift: Sequence[int]) -> replay.BlockedLaunches | None:
    """None where no rank waited for room; beside one that did, the others are those that never do."""
    none = replay.BlockedLaunches(Spans.none(), Spans.none())
    if all(one.replayed.blocked is None for one in seen):
        return None
    blocked = [one.replayed.blocked or none for one in seen]
    return replay.BlockedLaunches(
        _join_spans([one.main for one in blocked], shift), _join_spans([one.queue for one in blocked], shift)
    )
