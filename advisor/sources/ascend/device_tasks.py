# SPDX-License-Identifier: Apache-2.0
"""DeviceTask: the lane Ascend Hardware in the timeline, TASK in the database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import DeviceTask
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Database, are_spans, match_keys
from advisor.sources.reading import Reading

if TYPE_CHECKING:
    from advisor.sources.files.timeline import TraceTimeline

HARDWARE = ("Ascend Hardware",)
"""Lanes of the device's task scheduler."""

_ITERATIONS = "Step Trace"
"""How a thread on the lane of the device begins that shows iterations of a graph, and no tasks."""

KERNEL_TYPES = frozenset(
    {
        "AI_CORE",
        "AI_VECTOR_CORE",
        "AI_CPU",
        "MIX_AIC",
        "MIX_AIV",
        "AIV_SQE",
        "DSA_SQE",
        "STARS_COMMON",
        "KERNEL_AICORE",
        "KERNEL_AIVEC",
        "KERNEL_AICPU",
        "KERNEL_MIX_AIC",
        "KERNEL_MIX_AIV",
        "AICPU_KERNEL",
        "FFTS_PLUS",
        "DVPP",
    }
)
"""Task types that are kernels, in the spellings of both exports."""

OF_NO_TYPE = "Other"
"""What CANN of early 2024 gives as the type of nearly every task (all but the AI CPU's): the name tells them apart."""

_NO_KERNEL = re.compile(r"[A-Z]+([_ ][A-Z]+)+|Other")
"""Names of tasks that are no kernels: those of their type in capitals, such as EVENT_RECORD or PLACE_HOLDER_SQE."""

KIND_OF_NAME: Mapping[str, str] = {
    "MEMCPY_ASYNC": "copy",
    "MEMCPY_ADDR_TASK_ASYNC": "copy",
    "MEMCPY_ASYNC_WITHOUT_SDMA": "copy",
    "EVENT_WAIT": "wait",
    "STREAM_WAIT_EVENT": "wait",
    "NOTIFY_WAIT": "wait",
    "CAPTURE_WAIT": "wait",
    "MEM_WAIT_VALUE": "wait",
    "Notify Wait": "comm",
    "Notify Record": "comm",
    "SDMA": "comm",
    "Write Value": "comm",
    "RDMA": "comm",
    "RDMASend": "comm",
    "RDMA_SEND": "comm",
    "RDMA_DB_SEND": "comm",
    "Memcpy": "comm",
    "Reduce_Inline": "comm",
    "Notify_Wait": "comm",
    "Notify_Record": "comm",
}
"""Kind of a task that is no kernel, by its name; what is not listed only marks a place."""

KIND_OF_TYPE: Mapping[str, str] = {"EVENT_WAIT_SQE": "wait", "NOTIFY_WAIT_SQE": "wait", "PCIE_DMA_SQE": "copy"}
"""Kind by the type where the name says nothing."""

_BETWEEN_RANKS = re.compile(r"notify[ _](wait|record)(_sqe)?", re.IGNORECASE)
"""Names and types of tasks by which ranks tell each other how far they are."""

KINDS = ("kernel", "copy", "wait", "comm", "mark")
_CODES = {kind: code for code, kind in enumerate(KINDS)}

DIRECTIONS: Mapping[str, str] = {
    "host to device": "h2d",
    "host to device ex": "h2d",
    "device to host": "d2h",
    "device to host ex": "d2h",
    "device to device": "d2d",
    "addr device to device": "d2d",
}
"""Direction of a copy in the words of both exports."""

_DIRECTION_NAMES = ("h2d", "d2h", "d2d")
_ON_CHIP = "SDMA_SQE"
"""The task type of copies inside the device: their direction is known without being recorded."""

COPY_OPERATIONS = {
    0: "host to host",
    1: "host to device",
    2: "device to host",
    3: "device to device",
    5: "addr device to device",
    6: "host to device ex",
    7: "device to host ex",
}
"""ENUM_MEMCPY_OPERATION where a database does not bring its own."""

NO_CONNECTION = 4294967295


def _tasks_from_text(folder: Folder) -> Table[DeviceTask]:
    timeline = folder.timeline()
    slices, rows = timeline.slices, hardware_rows(timeline)
    if not len(rows):
        raise FactMissing([DeviceTask.table])
    name, (task_type, _) = slices.name.take(rows), timeline.tasks.of(rows)
    stream = streams_of_slices(timeline, rows)
    kind = _kinds_of_tasks(name, task_type, are_kernels(name, task_type))
    kind = _copies_between_ranks(kind, name, stream)
    size, direction = _copies_of_slices(timeline, rows)
    inside = (kind == _CODES["copy"]) & (direction < 0) & task_type.isin([_ON_CHIP])
    return Table.build(
        DeviceTask,
        rank=folder.rank,
        stream=stream,
        name=name,
        kind=Texts(kind, KINDS),
        task_type=task_type,
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
        connection=_connections_or_missing(slices.link[rows]),
        size_bytes=size,
        direction=Texts(np.where(inside, _DIRECTION_NAMES.index("d2d"), direction).astype(np.int32), _DIRECTION_NAMES),
    ).sorted_by("start_ns", "end_ns", "stream")


def are_kernels(name: Texts, task_type: Texts) -> Array:
    """Per task of the timeline: whether it is a kernel, by its type; by its name where the type says nothing."""
    found, untold = task_type.isin(KERNEL_TYPES), task_type.isin([OF_NO_TYPE])
    if untold.any():
        found |= untold & name.hits(n not in KIND_OF_NAME and not _NO_KERNEL.fullmatch(n) for n in name.names)
    return found


def hardware_rows(timeline: TraceTimeline) -> Array:
    """The slices of the device's task scheduler."""
    tracks, thread = timeline.tracks, timeline.tracks.thread
    iterations = thread.hits(name.startswith(_ITERATIONS) for name in thread.names)
    return np.flatnonzero((tracks.of(*HARDWARE) & ~iterations)[timeline.slices.track])


def streams_of_slices(timeline: TraceTimeline, rows: Array) -> Array:
    """The stream of each slice: as its arguments say, else the number of its thread."""
    _, stream = timeline.tasks.of(rows)
    return np.where(stream == MISSING, timeline.tracks.number[timeline.slices.track[rows]], stream)


def waits_and_marks(timeline: TraceTimeline) -> Array:
    """Per slice: whether it is a task of the device that nothing is launched for."""
    rows = hardware_rows(timeline)
    name, (task_type, _) = timeline.slices.name.take(rows), timeline.tasks.of(rows)
    kind = _kinds_of_tasks(name, task_type, are_kernels(name, task_type))
    found = np.zeros(len(timeline.slices), bool)
    found[rows[(kind == _CODES["wait"]) | (kind == _CODES["mark"])]] = True
    return found


def _kinds_of_tasks(name: Texts, task_type: Texts, kernel: Array) -> Array:
    """Codes of kinds: by name where it tells, else by type; what is unknown only marks a place."""
    mark = _CODES["mark"]
    named = np.array([*(_CODES.get(KIND_OF_NAME.get(n, ""), -1) for n in name.names), -1], np.int32)[name.codes]
    typed = np.array([*(_CODES.get(KIND_OF_TYPE.get(t, ""), mark) for t in task_type.names), mark], np.int32)
    kind = np.where(named < 0, typed[task_type.codes], named)
    return np.where(kernel, _CODES["kernel"], kind).astype(np.int32)


def _copies_between_ranks(kind: Array, name: Texts, stream: Array) -> Array:
    """The kinds with copies as communication where their stream waits for signals of other ranks and computes nothing.

    Without FFTS+ a collective moves its data by the same tasks as a copy within the device.
    """
    signals = name.hits(_BETWEEN_RANKS.fullmatch(one) is not None for one in name.names)
    of_ranks = np.setdiff1d(stream[signals], stream[kind == _CODES["kernel"]])
    found: Array = np.where((kind == _CODES["copy"]) & np.isin(stream, of_ranks), _CODES["comm"], kind)
    return found.astype(np.int32)


def _copies_of_slices(timeline: TraceTimeline, rows: Array) -> tuple[Array, Array]:
    """Bytes and direction of each slice that has them."""
    copies = timeline.copies
    size = np.full(len(timeline.slices), np.nan)
    direction = np.full(len(timeline.slices), -1, np.int8)
    size[copies.row] = copies.size_bytes
    direction[copies.row] = _direction_codes(copies.direction)
    return size[rows], direction[rows]


def _direction_codes(words: Texts) -> Array:
    codes = [_direction_code(word) for word in words.names]
    return np.array([*codes, -1], np.int8)[words.codes]


def _direction_code(word: str) -> int:
    found = DIRECTIONS.get(word.strip().lower().replace("_", " "))
    return -1 if found is None else _DIRECTION_NAMES.index(found)


def _connections_or_missing(connection: Array) -> Array:
    return np.where(connection == NO_CONNECTION, MISSING, connection)


def _tasks_from_database(folder: Folder) -> Table[DeviceTask]:
    database = folder.database()
    if not database.has_rows("TASK"):
        raise FactMissing([DeviceTask.table])
    found = task_columns(database, folder.rank)
    name_of, kernel = _kernel_names(database, found["task"])
    task_type = database.texts(found["type"])
    # an FFTS+ launch has one task of its own around its parts, which the timeline does not show
    envelope = task_type.isin(KERNEL_TYPES) & ~kernel & kernel.any()
    keep = ~envelope & are_spans(found["start"], found["end"])
    kind = _kinds_of_tasks(task_type, task_type, kernel | task_type.isin(KERNEL_TYPES))
    kind = _copies_between_ranks(kind, task_type, found["stream"])
    size, direction = _copy_info(database, found["task"])
    rows = np.flatnonzero(keep)
    rows = rows[np.lexsort([found[name][rows] for name in ("stream", "end", "start")])]
    columns = {
        "rank": folder.rank,
        "stream": found.pop("stream"),
        "name": _fill_missing(name_of, task_type),
        "kind": Texts(kind, KINDS),
        "task_type": task_type,
        "start_ns": found.pop("start"),
        "end_ns": found.pop("end"),
        "connection": _connections_or_missing(found.pop("connection")),
        "size_bytes": size,
        "direction": Texts(direction.astype(np.int32), _DIRECTION_NAMES),
    }
    del found, name_of, task_type, kind, size, direction  # tasks are many
    return Table.of_rows(DeviceTask, rows, columns)


def task_columns(database: Database, rank: int) -> dict[str, Array]:
    """The columns of TASK for one rank's device."""
    wanted = {
        "start": ["startNs"],
        "end": ["endNs"],
        "connection": ["connectionId"],
        "task": ["globalTaskId"],
        "type": ["taskType"],
        "stream": ["streamId"],
        "graph": ["modelId"],
    }
    return database.integers("TASK", wanted, database.on_device("TASK", rank))


def _kernel_names(database: Database, task: Array) -> tuple[Texts, Array]:
    """Names of the tasks that are compute kernels, and which those are."""
    info = database.integers("COMPUTE_TASK_INFO", {"task": ["globalTaskId"], "name": ["name"]})
    place = match_keys(info["task"], task)
    return database.event_names(values_at(info["name"], place)), place >= 0


def _copy_info(database: Database, task: Array) -> tuple[Array, Array]:
    """Bytes and direction of copies, where MEMCPY_INFO has them."""
    wanted = {"task": ["globalTaskId"], "size": ["size"], "operation": ["memcpyOperation"]}
    info = database.integers("MEMCPY_INFO", wanted)
    place = match_keys(info["task"], task)
    words = {**COPY_OPERATIONS, **database.names("ENUM_MEMCPY_OPERATION")}
    codes = np.array([_direction_code(words.get(i, "")) for i in info["operation"].tolist()] + [-1])
    sizes = np.append(np.where(info["size"] < 0, np.nan, info["size"].astype(np.float64)), np.nan)
    return sizes[place], codes[place]


def _fill_missing(first: Texts, second: Texts) -> Texts:
    """The first text of each row, else the second."""
    index: dict[str, int] = {}
    codes = [
        np.array([*(index.setdefault(n, len(index)) for n in texts.names), -1], np.int32)[texts.codes]
        for texts in (first, second)
    ]
    return Texts(np.where(codes[0] < 0, codes[1], codes[0]).astype(np.int32), tuple(index))


DEVICE_TASKS = Reading(DeviceTask, {"text": _tasks_from_text, "database": _tasks_from_database})
