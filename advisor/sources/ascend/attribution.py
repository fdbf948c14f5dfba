# SPDX-License-Identifier: Apache-2.0
"""Which step a device task belongs to, counted as the profiler's text export counts it."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.host_calls import OPERATOR
from advisor.sources.ascend.iterations import iterations_of
from advisor.sources.ascend.launches import launched_tasks, launches_by_arrows
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.files.database import Database, Only, match_keys


def steps_in_database(folder: Folder, asked_ns: Array) -> Array:
    """The step of device moments, from the database; missing when the job never called step()."""
    if folder.by_msprof:
        return iterations_of(folder).at(asked_ns)
    return steps_of(*folder.once("launched in database", lambda: _known_in_database(folder)), asked_ns)


def steps_in_timeline(folder: Folder, asked_ns: Array) -> Array:
    """The step of device moments, from the timeline; missing when the job never called step()."""
    if folder.by_msprof:
        return iterations_of(folder).at(asked_ns)
    try:
        windows, launches = STEP_WINDOWS.ways["text"](folder), launches_by_arrows(folder)
    except FactMissing:
        return np.full(len(asked_ns), MISSING, np.int64)
    starts = launches["device_start_ns"]
    return steps_of(windows, launches["host_start_ns"], starts, starts, asked_ns)


def steps_by_tasks(folder: Folder, host_ns: Array, start_ns: Array, end_ns: Array) -> Array:
    """The step of each of these tasks of a database, all of which the host asked for at known moments."""
    return steps_of(_windows_in_database(folder), host_ns, start_ns, end_ns, start_ns)


_Known = tuple[Table[StepWindow], Array, Array, Array]


def _known_in_database(folder: Folder) -> _Known:
    database = folder.database()
    windows, tasks = _windows_in_database(folder), launched_tasks(database, folder.rank)
    return windows, _host_moments(database, tasks["connection"]), tasks["start"], tasks["end"]


def _windows_in_database(folder: Folder) -> Table[StepWindow]:
    try:
        return STEP_WINDOWS.ways["database"](folder)
    except FactMissing:
        return Table.empty(StepWindow)


def _host_moments(database: Database, connection: Array) -> Array:
    """When the host asked for each task: the framework operator, else the CANN call."""
    operator = _operator_starts(database, connection)
    calls = database.integers("CANN_API", {"start": ["startNs"], "connection": ["connectionId"]})
    place = match_keys(calls["connection"], connection)
    launch = values_at(calls["start"], place)
    return np.where(operator == MISSING, launch, operator)


def _operator_starts(database: Database, connection: Array) -> Array:
    """The start of the first framework operator behind each connection id, MISSING without one."""
    calls = database.integers("PYTORCH_API", {"start": ["startNs"], "id": ["connectionId"]}, Only("type", (OPERATOR,)))
    pairs = database.integers("CONNECTION_IDS", {"id": ["id"], "connection": ["connectionId"]})
    starts = values_at(calls["start"], match_keys(calls["id"], pairs["id"]))
    del calls  # they are many
    order = np.lexsort((starts, pairs["connection"]))
    order = order[starts[order] != MISSING]
    place = match_keys(pairs["connection"][order], connection)
    return values_at(starts[order], place)


def steps_of(windows: Table[StepWindow], host_ns: Array, start_ns: Array, end_ns: Array, asked_ns: Array) -> Array:
    """The step of each device moment in `asked_ns`, as the text export counts it; MISSING outside every step.

    A step lasts on the device from the start of the first task its window on the host asked for (`host_ns`, MISSING
    where unknown) to the end of the last, and at least to the end of the window. A moment belongs to the first step
    that lasts over it. This is how torch_npu fills Step Id in kernel_details.csv.
    """
    if not len(windows) or not len(asked_ns):
        return np.full(len(asked_ns), MISSING, np.int64)
    number, begin, finish = _on_device(windows, host_ns, start_ns, end_ns)
    if not len(number):
        return np.full(len(asked_ns), MISSING, np.int64)
    if np.any(np.diff(begin) < 0):  # clocks that disagree: steps out of order, tried one by one
        found = np.full(len(asked_ns), MISSING, np.int64)
        for step in range(len(number) - 1, -1, -1):
            found[(begin[step] <= asked_ns) & (asked_ns <= finish[step])] = number[step]
        return found
    place = np.searchsorted(np.maximum.accumulate(finish), asked_ns, "left")
    inside = place < len(number)
    place = np.minimum(place, len(number) - 1)
    inside &= begin[place] <= asked_ns
    return np.where(inside, number[place], MISSING)


def _on_device(windows: Table[StepWindow], host: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Number, begin and end on the device of every step that asked for anything."""
    order = np.argsort(host, kind="stable")
    host, start, end = host[order], start[order], end[order]
    first = np.searchsorted(host, windows["start_ns"], "left")
    last = np.searchsorted(host, windows["end_ns"], "right") - 1
    some = last >= first
    first, last, kept = first[some], last[some], windows.take(some)
    # tasks asked for by one and the same call share its moment
    begin = np.minimum.reduceat(start, _run_starts(host))[_run_of(host)[first]] if len(first) else first
    finish = np.maximum.reduceat(end, _run_starts(host))[_run_of(host)[last]] if len(last) else last
    return kept["step"], begin, np.maximum(finish, kept["end_ns"])


def _run_starts(values: Array) -> Array:
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def _run_of(values: Array) -> Array:
    return np.cumsum(np.append(True, values[1:] != values[:-1])) - 1
