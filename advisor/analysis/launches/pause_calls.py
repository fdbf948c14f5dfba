# SPDX-License-Identifier: Apache-2.0
"""What the host was doing in the pauses before tasks that it launched late."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from advisor.analysis.arrays.intervals import touching_any
from advisor.analysis.host import host
from advisor.analysis.replay.replayed_rank import ReplayedRank
from advisor.facts.table import Array, values_at

MOST_PAUSES = 100_000
"""Of so many pauses, the longest, it is asked what the host was doing: who launches kernel by kernel has one before
each, and of those that nobody asks after it looks as if no call filled them."""


def calls_in_pauses(seen: ReplayedRank, late: Array, pause: Array) -> Array:
    """Per pause before a task, the longest ones: the row of the call that filled it, or -1.

    One of the framework where one did, else the longest part of several operators that did together, else a call into
    the software of the device or of the thread that launches. Of a task that this thread had before the pause began
    only the last: what the framework does meanwhile holds nothing up.
    """
    longest = np.argsort(-pause, kind="stable")[:MOST_PAUSES]
    end = seen.replayed.work.start[late[longest]]
    start = end - pause[longest]
    handed = _is_handed_over(seen, late[longest], start)
    near = touching_any(seen.calls.start, seen.calls.end, start, end)
    row = host.covering_on_any(seen.table, seen.calls, start, end, among=near & _are_of_kinds(seen, host.FRAMEWORK))
    row = np.where(row >= 0, row, host.longest_of_several(_calls_of_kinds(seen, near, ["operator"]), start, end))
    among = near & _are_of_kinds(seen, host.LAUNCHING)
    launching = host.covering_on_any(seen.table, seen.calls, start, end, among=among)
    row = np.where((row >= 0) & ~handed, row, launching)
    taken = host.longest_of_several(_calls_of_kinds(seen, near, ["dequeue"]), start, end)
    row = np.where((row >= 0) | ~handed, row, taken)
    found = np.full(len(late), -1)
    found[longest] = row
    return found


def _calls_of_kinds(seen: ReplayedRank, near: Array, kinds: Collection[str]) -> host.Calls:
    """Those of the calls marked that are of these kinds: chosen when they are looked through, for they are many."""
    return seen.calls.take(near & _are_of_kinds(seen, kinds))


def _are_of_kinds(seen: ReplayedRank, kinds: Collection[str]) -> Array:
    return seen.calls.of_rows(seen.table.texts("kind").isin(kinds))


def _is_handed_over(seen: ReplayedRank, task: Array, moment: Array) -> Array:
    """Per task: whether the second thread had it to launch by this moment."""
    queue = seen.replayed.queue
    entry = seen.replayed.work.entry[task]
    found: Array = (entry >= 0) & (values_at(queue.put, entry, 0) <= moment)
    return found
