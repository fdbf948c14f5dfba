# SPDX-License-Identifier: Apache-2.0
"""What the host was doing: which calls can hold it up, and which one filled a stretch of time.

Names are those of CANN's interfaces (acl level and, at Level2, runtime level) without their layer prefix.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.analysis.grouping import grouped, matched
from advisor.analysis.intervals import Spans, cover, innermost, union
from advisor.facts.base import MISSING
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table

DISPATCH = re.compile(r"aclopCompile", re.IGNORECASE)
_BUILD = re.compile(r"opCompile", re.IGNORECASE)
SYNCHRONISE = re.compile(r"(aclrt|rt)?(Stream|Device|Event)Synchronize|(aclrt|rt)Synchronize", re.IGNORECASE)
_BLOCKING_COPY = re.compile(r"(aclrt|rt)?(Memcpy|MemcpySync|MemCopySync)(2d)?$", re.IGNORECASE)
_ANY_COPY = re.compile(r"(aclrt|rt)(Memcpy|MemCopy)", re.IGNORECASE)

CANN = ("acl", "node", "model", "hccl", "runtime")
FRAMEWORK = ("operator", "optimizer", "python", "enqueue")

SPECIFIC = ("gc", "compile", "blocking_copy", "synchronise", "data_loader")
"""Activities that name a cause by themselves, the closest first: a loader may wait in a copy, not the reverse."""

LONG_BUILD_NS = 10_000_000
"""From this length on a call that may build an operator did. In public captures 190 calls that found theirs built last
0.06 to 4.1 ms; building one takes the compiler tens of ms at least."""


class Calls(Struct, frozen=True):
    """The host calls of one rank that last at all, in order of start."""

    row: Array
    start: Array
    end: Array

    def __len__(self) -> int:
        return len(self.row)

    def take(self, where: Array) -> Calls:
        return Calls(self.row[where], self.start[where], self.end[where])

    @property
    def spans(self) -> Spans:
        """When any of them runs."""
        return union(self.start, self.end)


def calls_of(table: Table[HostCall], rank: int) -> Calls:
    """The calls of one rank; those without a time, or that end before they start, are left out."""
    start, end = table["start_ns"], table["end_ns"]
    row = np.flatnonzero((table["rank"] == rank) & (start != MISSING) & (end > start))
    row = row[np.argsort(start[row], kind="stable")]
    return Calls(row, start[row], end[row])


def activities(table: Table[HostCall]) -> dict[str, Array]:
    """Per specific activity: whether each row of `host_calls` is one."""
    names, kinds = table.texts("name"), table.texts("kind")
    cann = kinds.isin(CANN)
    return {
        "gc": kinds.isin(["gc"]),
        "compile": compiling(table),
        "blocking_copy": cann & names.hits(_BLOCKING_COPY.match(name) is not None for name in names.names),
        "synchronise": synchronising(table),
        "data_loader": kinds.isin(["data_loader"]),
    }


def compiling(table: Table[HostCall]) -> Array:
    """Per call: whether an operator is built in it.

    `aclopCompileAndExecute` dispatches an operator, built before or not. It counts when `opCompile` fills more than
    half of it (0.4 to 19 % of those that found theirs built), or when it is long.
    """
    cann, names = table.texts("kind").isin(CANN), table.texts("name")
    outer, inner = (
        cann & names.hits(word.match(name) is not None for name in names.names) for word in (DISPATCH, _BUILD)
    )
    rows = np.flatnonzero((outer | inner) & (table["start_ns"] != MISSING) & (table["end_ns"] > table["start_ns"]))
    start, end = table["start_ns"][rows], table["end_ns"][rows]
    found = np.zeros(len(outer), bool)
    found[rows] = end - start >= LONG_BUILD_NS
    threads = grouped(table["rank"][rows], table["thread"][rows])
    for thread in range(len(threads)):
        own = threads.of == thread
        builds, calls = own & inner[rows], own & outer[rows]
        found[rows[calls]] |= mostly(union(start[builds], end[builds]), start[calls], end[calls])
    return found


def synchronising(table: Table[HostCall]) -> Array:
    """Per call: whether the host waits in it until the device is done."""
    names = table.texts("name")
    return table.texts("kind").isin(CANN) & names.hits(SYNCHRONISE.match(name) is not None for name in names.names)


def blocking_copies(table: Table[HostCall]) -> Array:
    """Rows of copy calls in which the host waits: the call blocks, or the next one of its thread synchronises."""
    acl = np.flatnonzero(table.texts("kind").isin(["acl"]) & (table["start_ns"] != MISSING))
    acl = acl[np.lexsort((table["start_ns"][acl], table["thread"][acl], table["rank"][acl]))]
    names = table.texts("name")
    copy = names.hits(_ANY_COPY.match(name) is not None for name in names.names)[acl]
    itself = names.hits(_BLOCKING_COPY.match(name) is not None for name in names.names)[acl]
    same = np.append((np.diff(table["thread"][acl]) == 0) & (np.diff(table["rank"][acl]) == 0), False)[: len(acl)]
    followed = same & np.append(synchronising(table)[acl], False)[1:][: len(acl)]
    found: Array = acl[itself | (copy & followed)]
    return found


def covering(calls: Calls, start: Array, end: Array) -> Array:
    """Per interval: the row of the innermost call that covers more than half of it, or -1. Calls of one thread."""
    at = innermost(calls.start, calls.end, start, end)
    return np.append(calls.row, -1)[at]


def covering_on_any(table: Table[HostCall], calls: Calls, start: Array, end: Array) -> Array:
    """The same over all threads: the shortest of those found on each."""
    found, length = np.full(len(start), -1), np.full(len(start), np.iinfo(np.int64).max)
    threads = table["thread"][calls.row]
    for thread in np.unique(threads).tolist():
        row = covering(calls.take(threads == thread), start, end)
        lasts = np.where(row >= 0, table["end_ns"][row] - table["start_ns"][row], np.iinfo(np.int64).max)
        found, length = np.where(lasts < length, row, found), np.minimum(lasts, length)
    return found


def mostly(spans: Spans, start: Array, end: Array) -> Array:
    """Per interval: whether more than half of it lies in the set."""
    return 2 * cover(spans, start, end) > end - start


def running_at(calls: Calls, moment: Array, slack: Array) -> Array:
    """Per moment: the row of the call that began before it and was then running, or ended less than `slack` before."""
    if not len(calls):
        return np.full(len(moment), -1)
    reach = np.maximum.accumulate(calls.end)
    at = np.searchsorted(calls.start, moment, "left") - 1
    inside = (at >= 0) & (reach[np.maximum(at, 0)] >= moment - slack)
    longest = np.searchsorted(reach, reach[np.maximum(at, 0)])
    return np.where(inside, calls.row[longest], -1)


def partners(table: Table[HostCall], dequeued: Array) -> Array:
    """Per row of a dequeue: the row of the enqueue it answers, by correlation id, or -1."""
    enqueues = np.flatnonzero(table.texts("kind").isin(["enqueue"]) & (table["connection"] != MISSING))
    at = matched(table["connection"][enqueues], table["connection"][dequeued])
    return np.append(enqueues, -1)[at]
