# SPDX-License-Identifier: Apache-2.0
"""What the host was doing in the pauses before tasks that it launched late."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from msgspec import Struct

from advisor.analysis.host import host
from advisor.analysis.host.calls_in_turn import calls_in_turn
from advisor.analysis.replay.replayed_rank import ReplayedRank
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table, stable_order, values_at

MOST_PAUSES = 100_000
"""Of so many pauses, the longest, it is asked what the host was doing: who launches kernel by kernel has one before
each, and of those that nobody asks after it looks as if no call filled them."""


class LatePauses(Struct, frozen=True):
    """The longest pauses of a rank before tasks that it launched late, the longest first."""

    rank: Array
    number: Array
    """Of each: which of the late tasks it lies before."""
    start: Array
    end: Array
    handed: Array
    """Whether the thread that launches had the task for most of the pause."""

    @classmethod
    def of(cls, seen: ReplayedRank, late: Array, pause: Array) -> LatePauses:
        """Those before late tasks, each of which idled for so long, ns."""
        longest = stable_order(-pause)[:MOST_PAUSES]
        end = ends_of_pauses(seen, late[longest])
        start = end - pause[longest]
        handed = _is_handed_over(seen, late[longest], start + pause[longest] // 2)
        return cls(np.full(len(end), seen.rank), longest, start, end, handed)


def calls_in_pauses(table: Table[HostCall], ranks: Sequence[LatePauses], counts: Sequence[int]) -> list[Array]:
    """Per rank and late task, of which each rank has so many: the row of the call that filled its pause, or -1.

    One of the framework where one did, else the longest part of several operators that did together, else a call into
    the software of the device or of the thread that launches. Of a task that this thread had for most of the pause
    only the last: what the framework does meanwhile holds nothing up.
    """
    rank, start, end, handed = (
        np.concatenate([getattr(one, name) for one in ranks]) for name in ("rank", "start", "end", "handed")
    )
    row = np.full(len(start), -1)
    for turn in calls_in_turn(table, rank, start, end):
        moved = start[turn.asked] + turn.shift, end[turn.asked] + turn.shift
        row[turn.asked] = _calls_that_fill(table, turn.calls, *moved, handed[turn.asked])
    found = [np.full(count, -1) for count in counts]
    edges = np.cumsum([len(one.number) for one in ranks])[:-1]
    for of_rank, one, rows in zip(found, ranks, np.split(row, edges), strict=True):
        of_rank[one.number] = rows
    return found


def _calls_that_fill(table: Table[HostCall], calls: host.Calls, start: Array, end: Array, handed: Array) -> Array:
    """Per pause: the row of the call that filled it, or -1."""
    near = calls.are_touching(start, end)

    def near_of(kinds: Collection[str]) -> Array:  # a mask when it is looked through: calls are many
        return near & calls.texts(table.texts("kind")).isin(kinds)

    row = host.covering_on_any(table, calls, start, end, among=near_of(host.FRAMEWORK))
    row = np.where(row >= 0, row, host.longest_of_several(calls.take(near_of(["operator"])), start, end))
    launching = host.covering_on_any(table, calls, start, end, among=near_of(host.LAUNCHING))
    row = np.where((row >= 0) & ~handed, row, launching)
    taken = host.longest_of_several(calls.take(near_of(["dequeue"])), start, end)
    return np.where((row >= 0) | ~handed, row, taken)


def ends_of_pauses(seen: ReplayedRank, late: Array) -> Array:
    """Per late task: until when the host held it up; what it waited for from then on is something else."""
    found: Array = seen.replayed.work.start[late] - seen.replayed.held[late]
    return found


def _is_handed_over(seen: ReplayedRank, task: Array, moment: Array) -> Array:
    """Per task: whether the second thread had it to launch by this moment."""
    queue = seen.replayed.queue
    entry = seen.replayed.work.entry[task]
    found: Array = (entry >= 0) & (values_at(queue.put, entry, 0) <= moment)
    return found
