# SPDX-License-Identifier: Apache-2.0
"""Which call launched the kernels of a graph, where no arrow leads to them.

One call runs a whole graph: a loaded model, or one that was captured before. Where the profiler did not see the kernels
of it launched one by one, what is known is their order: a call that waits for its graph is the one around them, and of
calls that return at once the first launched the first graph. A graph is then a run of kernels without an arrow between
two that have one. Where there are fewer of them than calls, or one begins before its call, nothing is said of any.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, DeviceTask, HostCall, Launch
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder

CALL = re.compile(r"aclmdl(RI)?Execute(Async)?(V2)?")
"""Calls of AscendCL that run a graph; those with Async in their name return before it is done."""
_CLOCKS_APART_NS = 100_000
"""Clocks of host and device differ by up to 82 us in public captures: a graph that begins as much before its call is
still of that call."""


class _Work(Struct, frozen=True):
    """Kernels and collectives of one rank, in order of their begin on the device."""

    start: Array
    stream: Array
    linked: Array
    """Whether an arrow leads to it."""
    collective: Array


def with_graphs(folder: Folder, recorded: Table[Launch]) -> Table[Launch]:
    """The recorded launches, and one for each kernel and collective of a graph of which it is known what called it."""
    calls = _graph_calls(folder)
    if not len(calls):
        return recorded
    work = _work_in_order(folder, recorded)
    call = np.where(work.linked, -1, _calls_around(work, calls))
    later = calls.take(_returns_at_once(calls))
    found = _calls_in_turn(work, later, ~work.linked & (call < 0))
    begun, thread, ended = (
        np.where(call >= 0, values_at(calls[name], call), values_at(later[name], found))
        for name in ("start_ns", "thread", "end_ns")
    )
    rows = np.flatnonzero((call >= 0) | (found >= 0))
    of_graphs = Table.build(
        Launch,
        rank=folder.rank,
        thread=thread[rows],
        host_start_ns=begun[rows],
        host_end_ns=ended[rows],
        device_start_ns=work.start[rows],
        stream=np.where(work.collective, MISSING, work.stream)[rows],
    )
    return Table.concat(Launch, [recorded, of_graphs]).sorted_by("device_start_ns", "stream")


def _graph_calls(folder: Folder) -> Table[HostCall]:
    calls = folder.read(HostCall)
    names = calls.texts("name")
    chosen = names.hits(CALL.fullmatch(name) is not None for name in names.names) & calls.texts("kind").isin(["api"])
    return calls.take(chosen).sorted_by("start_ns")


def _returns_at_once(calls: Table[HostCall]) -> Array:
    names = calls.texts("name")
    return names.hits("Async" in name for name in names.names)


def _work_in_order(folder: Folder, recorded: Table[Launch]) -> _Work:
    tasks = folder.read(DeviceTask)
    tasks = tasks.take(tasks.texts("kind").isin(["kernel"]))
    try:
        collectives = folder.read(Collective)
    except FactMissing:
        collectives = Table.empty(Collective)
    timed = collectives.take(collectives["start_ns"] != MISSING)
    start = np.concatenate([tasks["start_ns"], timed["start_ns"]])
    order = np.argsort(start, kind="stable")
    return _Work(
        start=start[order],
        stream=np.append(tasks["stream"], np.full(len(timed), MISSING))[order],
        linked=np.isin(start, recorded["device_start_ns"])[order],
        collective=np.repeat([False, True], [len(tasks), len(timed)])[order],
    )


def _calls_around(work: _Work, calls: Table[HostCall]) -> Array:
    """Per task: the call that waits for the graph in which it lies; -1 for none."""
    waiting = np.flatnonzero(~_returns_at_once(calls))
    last = np.searchsorted(calls["start_ns"][waiting], work.start, "right") - 1
    call = values_at(waiting, last, -1)
    return np.where(work.start <= values_at(calls["end_ns"], call, MISSING), call, -1)


def _calls_in_turn(work: _Work, calls: Table[HostCall], unknown: Array) -> Array:
    """Per task: the call, of those that return at once, whose turn is that of the graph it is of; -1 for none.

    The last call launched the last graph, for a profiler waits for the device before it stops. Graphs that were
    launched before it began come first and have no call.
    """
    begins = unknown & ~np.append(False, unknown[:-1])
    first = work.start[begins]
    early = len(first) - len(calls)
    if not len(calls) or early < 0 or (first[early:] < calls["start_ns"] - _CLOCKS_APART_NS).any():
        return np.full(len(work.start), -1)
    turn = np.cumsum(begins) - 1 - early
    return np.where(unknown & (turn >= 0), turn, -1)
