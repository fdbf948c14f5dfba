# SPDX-License-Identifier: Apache-2.0
"""StepTime: step_trace_time.csv and StepTraceTime. Both hold µs, whatever the documents say."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator

import numpy as np

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import StepTime
from advisor.facts.table import Array, Table
from advisor.machine.regular_files import open_regular
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.executions import EXECUTION
from advisor.sources.ascend.iterations import LANE, TRACE, iterations_of
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import Origin, columns_of, query_rows, read_records, select_columns
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.reading import Reading
from advisor.sources.shared.step_sums import usable_step_times

TIMES = "step_trace_time.csv"
_MARK = re.compile(rb'ProfilerStep#(?<=[":]ProfilerStep#)(\d{1,18})"')
"""With what is looked for first, for timelines are long; before it the name begins, or module and event of MindSpore
end."""
_ITERATION_MARK = re.compile(rb'"Iteration (\d{1,18})"')
_PROGRAM_MARK = re.compile(rb'"step (\d{1,18})"')
_EXECUTION_CALLED = "SELECT 1 FROM STRING_IDS WHERE value GLOB 'aclmdlExecute*' LIMIT 1"
_EXECUTION_MARK = re.compile(EXECUTION.encode())
_LONGEST_MARK = len('"ProfilerStep#"') + 18
_PART = 1 << 22

HEADINGS = {
    "step": ("Step", "Step Id"),
    "compute_us": ("Computing",),
    "comm_us": ("Communication",),
    "exposed_comm_us": ("Communication(Not Overlapped)",),
    "overlapped_us": ("Overlapped",),
    "free_us": ("Free",),
    "bubble_us": ("Bubble",),
    "preparing_us": ("Preparing",),
}
"""Columns of step_trace_time.csv and cluster_step_trace_time.csv."""

FIELDS = {
    "step": ("step",),
    "compute_us": ("computing",),
    "comm_us": ("communication",),
    "exposed_comm_us": ("communication_not_overlapped",),
    "overlapped_us": ("overlapped",),
    "free_us": ("free",),
    "bubble_us": ("bubble",),
    "preparing_us": ("preparing",),
}
"""Columns of StepTraceTime and ClusterStepTraceTime."""

REQUIRED = ("compute_us", "free_us")
_DEVICE = Column("Card on the host; no rank.", "int")
_DIFFERENCE = Column("µs, below zero too.", "float")


def _steps_from_text(folder: Folder) -> Table[StepTime]:
    headings = {**HEADINGS, "device": ("Device_id", "Device Id")}
    further = {"device": _DEVICE}
    if folder.by_mindspore:  # below zero where the device was at work before the first event of the host
        headings["difference"] = headings.pop("preparing_us")
        further["difference"] = _DIFFERENCE
    found = folder.columns(StepTime, TIMES, headings, REQUIRED, further)
    devices, difference = found.pop("device", None), found.pop("difference", None)
    if isinstance(difference, np.ndarray):
        found["preparing_us"] = np.where(difference < 0, np.nan, difference)
    table = _of_rank(folder, Table.build(StepTime, **found))
    table = table if not isinstance(devices, np.ndarray) else _of_one_device(folder, table, devices, TIMES)
    return usable_step_times(table, folder.notes, TIMES, HEADINGS["exposed_comm_us"][0])


def _steps_from_database(folder: Folder) -> Table[StepTime]:
    origin = Origin("analysis", "StepTraceTime")
    table = _of_rank(
        folder, Table.build(StepTime, **select_columns(folder, origin, StepTime, FIELDS, required=REQUIRED))
    )
    listed = read_records(folder, origin, ("deviceId",)) if "deviceId" in columns_of(folder, origin) else None
    devices = np.array([row[0] if isinstance(row[0], int) else MISSING for row in listed or ()], np.int64)
    file = folder.databases["analysis"].name
    found = _of_one_device(folder, table, devices, file)
    return usable_step_times(found, folder.notes, file, FIELDS["exposed_comm_us"][0])


def _of_one_device(folder: Folder, table: Table[StepTime], devices: Array, file: str) -> Table[StepTime]:
    """The rows of the first device: a rank has one, a file of several says which times belong to whom only by card."""
    several = len(devices) == len(table) and len(np.unique(devices)) > 1
    if not several:
        return table
    others = int(np.count_nonzero(devices != devices.min()))
    folder.notes.add(file, "", Message("several_devices"), rows=others)
    return table.take(devices == devices.min())


def _of_rank(folder: Folder, table: Table[StepTime]) -> Table[StepTime]:
    """With rank and stage. A job that never called step() is one step without a number (MindSpore writes 0 then)."""
    unnumbered = folder.by_mindspore and not np.any(table["step"])
    return table.having(
        rank=folder.rank,
        stage=np.full(len(table), MISSING if folder.stage is None else folder.stage),
        step=np.full(len(table), MISSING) if unnumbered else table["step"],
    )


STEP_TIMES = Reading(StepTime, {"text": _steps_from_text, "database": _steps_from_database})


def numbered_steps(folder: Folder) -> tuple[int, ...]:
    """The step numbers a rank recorded, ascending; empty when the job never called step()."""
    if folder.by_msprof:
        return _iteration_numbers(folder)
    try:
        steps = folder.read(StepTime)["step"]
    except FactMissing:
        steps = np.empty(0, np.int64)
    found = _recorded_steps(steps) or _window_steps(folder) or _marked_steps(folder)
    return found if found or not folder.by_mindspore else _steps_of_program(folder)


def _iteration_numbers(folder: Folder) -> tuple[int, ...]:
    """The iterations msprof marked, else runs of a model that calls tell. Neither the timeline nor the calls of a
    database are decoded for them where nothing in there is called so."""
    if TRACE not in folder.files and LANE not in folder.files:
        marked = _marked_steps(folder, _ITERATION_MARK)
        if marked or not _names_executions(folder):
            return marked
    return _recorded_steps(iterations_of(folder).step)


def _names_executions(folder: Folder) -> bool:
    if any(True for _ in _marks_in_timeline(folder, _EXECUTION_MARK)):
        return True
    return bool(query_rows(folder, "profiler", _EXECUTION_CALLED))


def _recorded_steps(steps: Array) -> tuple[int, ...]:
    return tuple(np.unique(steps[steps != MISSING]).tolist())


def _marked_steps(folder: Folder, mark: re.Pattern[bytes] = _MARK) -> tuple[int, ...]:
    """The steps that the timeline marks, for captures of which it is all there is. It is not decoded."""
    return tuple(sorted(set(map(int, _marks_in_timeline(folder, mark)))))


def _steps_of_program(folder: Folder) -> tuple[int, ...]:
    """The steps that a program of MindSpore marks itself. A timeline is decoded where something in it is so called."""
    way = "text" if folder.parts("trace_view.json") else "database"
    if way == "text" and not any(True for _ in _marks_in_timeline(folder, _PROGRAM_MARK)):
        return ()
    try:
        return _recorded_steps(STEP_WINDOWS.ways[way](folder)["step"])
    except (FactMissing, Unreadable):
        return ()


def _marks_in_timeline(folder: Folder, mark: re.Pattern[bytes]) -> Iterator[bytes]:
    for path in folder.parts("trace_view.json"):
        with contextlib.suppress(OSError), open_regular(path) as file:  # whoever reads its events says what is wrong
            yield from _mark_numbers(iter(lambda: file.read(_PART), b""), mark)


def _mark_numbers(parts: Iterable[bytes], mark: re.Pattern[bytes] = _MARK) -> Iterator[bytes]:
    """The numbers of steps in a text that comes in parts; names may lie across a border."""
    end = b""
    for part in parts:
        text = end + part
        yield from mark.findall(text)
        end = text[-_LONGEST_MARK:]


def _window_steps(folder: Folder) -> tuple[int, ...]:
    """The steps of STEP_TIME, for databases without an analysis.db beside them."""
    found = query_rows(folder, "profiler", "SELECT id FROM STEP_TIME")
    return tuple(sorted({row[0] for row in found if isinstance(row[0], int)}))
