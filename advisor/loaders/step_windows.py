# SPDX-License-Identifier: Apache-2.0
"""StepWindow: ProfilerStep#N in the timeline, STEP_TIME in the database; and which step a device task belongs to."""

from __future__ import annotations

import re

import numpy as np

from advisor.errors import FactMissing
from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table
from advisor.loaders.database import Database
from advisor.loaders.reading import Folder, Reading

STEP_NAME = re.compile(r"ProfilerStep#(\d{1,18})")


def _text(folder: Folder) -> Table[StepWindow]:
    slices = folder.timeline().slices
    numbers = [STEP_NAME.fullmatch(name) for name in slices.name.names]
    rows = np.flatnonzero(slices.name.hits(found is not None for found in numbers))
    step_of = np.array([int(found[1]) if found else MISSING for found in numbers] + [MISSING], np.int64)
    return _table(folder, step_of[slices.name.codes[rows]], slices.start_ns[rows], slices.end_ns[rows])


def _database(folder: Folder) -> Table[StepWindow]:
    database = Database.of(folder)
    if not database.fields("STEP_TIME"):
        raise FactMissing([StepWindow.table])
    found = database.integers("STEP_TIME", {"step": ["id"], "start": ["startNs"], "end": ["endNs"]})
    whole = (found["step"] != MISSING) & (found["start"] != MISSING) & (found["end"] >= found["start"])
    return _table(folder, *(found[name][whole] for name in ("step", "start", "end")))


def _table(folder: Folder, step: Array, start: Array, end: Array) -> Table[StepWindow]:
    rank = np.full(len(step), folder.rank, np.int64)
    return Table.build(StepWindow, rank=rank, step=step, start_ns=start, end_ns=end).sorted_by("start_ns", "step")


STEP_WINDOWS = Reading(StepWindow, text=_text, database=_database)


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
    begin = np.minimum.reduceat(start, _runs(host))[_run_of(host)[first]] if len(first) else first
    finish = np.maximum.reduceat(end, _runs(host))[_run_of(host)[last]] if len(last) else last
    return kept["step"], begin, np.maximum(finish, kept["end_ns"])


def _runs(values: Array) -> Array:
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def _run_of(values: Array) -> Array:
    return np.cumsum(np.append(True, values[1:] != values[:-1])) - 1
