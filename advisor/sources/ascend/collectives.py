# SPDX-License-Identifier: Apache-2.0
"""Collective: the communication rows of kernel_details.csv with times and payloads; COMMUNICATION_OP in the database.

In the text export one operator is spread over three files: when it ran (kernel_details.csv, else the timeline, else
communication.json), what its time went to (communication.json) and what it carried (arguments in the timeline).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from advisor.facts.base import MISSING
from advisor.facts.observed import Collective
from advisor.facts.table import Array, Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.attribution import steps_in_database, steps_in_timeline
from advisor.sources.ascend.communication import (
    SCOPED_OP,
    CommunicationEntry,
    communication_entries,
    is_p2p,
    op_of,
    step_number,
    time_us,
)
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.kernels import COMMUNICATION_CORES, kernel_details
from advisor.sources.ascend.plane_tasks import splits_by_planes
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import Origin, read_records
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import Database, are_spans
from advisor.sources.files.jsonfile import as_number, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading

if TYPE_CHECKING:
    from advisor.sources.files.timeline import TraceTimeline

T = TypeVar("T")
COMMUNICATION = "communication.json"
LANES = ("HCCL", "Communication")
_GROUP_THREADS = ("Group ", "Communication Kernel")
_TIMES = "Communication Time Info"
_LATEST_NS = 1 << 63
_ROUNDING_NS = 1000
"""Starts of one operator in two files are this near; starts of 2023 have no digits below a µs."""

DTYPE_BYTES: Mapping[str, int] = {
    "INT8": 1,
    "UINT8": 1,
    "HIF8": 1,
    "FP8E4M3": 1,
    "FP8E5M2": 1,
    "FP8E8M0": 1,
    "INT16": 2,
    "UINT16": 2,
    "FP16": 2,
    "BFP16": 2,
    "INT32": 4,
    "UINT32": 4,
    "FP32": 4,
    "INT64": 8,
    "UINT64": 8,
    "FP64": 8,
    "INT128": 16,
}
"""Bytes of one element, by the name HCCL gives the data type."""

_NUMBERED = (
    "INT8 INT16 INT32 FP16 FP32 INT64 UINT64 UINT8 UINT16 UINT32 FP64 BFP16 INT128 - HIF8 FP8E4M3 FP8E5M2 FP8E8M0"
)
DTYPES = dict(enumerate(_NUMBERED.split()))
"""ENUM_HCCL_DATA_TYPE where a database does not bring its own."""

_NO_WORDS = frozenset({None, "", "-", "N/A", "INVALID_TYPE", "RESERVED"})
_OPERATOR = re.compile(rf"hcom_|{SCOPED_OP.pattern}", re.IGNORECASE)
_NAME = re.compile(r"hcom_[A-Za-z]+_*?__(\d+)_\d+(?:_\d+)?")


class Split(Struct, frozen=True):
    """What the time of one operator went to, µs."""

    elapse: float = np.nan
    transit: float = np.nan
    wait: float = np.nan
    sync: float = np.nan
    idle: float = np.nan


class Payload(Struct, frozen=True):
    """What one operator carried."""

    count: float = np.nan
    dtype: str | None = None
    algorithm: str | None = None

    @property
    def size_bytes(self) -> float:
        """Count times size of the data type; NaN when one of them is unknown."""
        known = self.count >= 0
        return self.count * DTYPE_BYTES.get(self.dtype or "", np.nan) if known else np.nan


class Call(Struct, frozen=True):
    """One operator, put together from where its parts are recorded."""

    name: str
    start_ns: int
    elapse_us: float
    step: int = MISSING
    group: str = ""
    split: Split = field(default_factory=Split)
    payload: Payload = field(default_factory=Payload)


def _collective_table(folder: Folder, calls: Iterable[Call]) -> Table[Collective]:
    found = sorted(calls, key=lambda call: (call.start_ns, call.name))
    ops = [op_of(call.name) for call in found]
    groups = [_group_of_call(folder, call) for call in found]
    return Table.build(
        Collective,
        rank=folder.rank,
        step=np.array([call.step for call in found], np.int64),
        name=[call.name for call in found],
        op=ops,
        group=[group or None for group in groups],
        group_kind=[(folder.groups[group].kind or None) if group in folder.groups else None for group in groups],
        p2p=np.array([is_p2p(op) for op in ops], np.int8),
        start_ns=np.array([call.start_ns for call in found], np.int64),
        elapse_us=np.array([call.elapse_us for call in found], np.float64),
        transit_us=np.array([call.split.transit for call in found], np.float64),
        wait_us=np.array([call.split.wait for call in found], np.float64),
        sync_us=np.array([call.split.sync for call in found], np.float64),
        idle_us=np.array([call.split.idle for call in found], np.float64),
        size_bytes=np.array([call.payload.size_bytes for call in found], np.float64),
        dtype=[call.payload.dtype for call in found],
        algorithm=[call.payload.algorithm for call in found],
    )


def _group_of_call(folder: Folder, call: Call) -> str:
    """The communicator's hash; where only its last digits are known, from the name, the group of the run they fit."""
    if call.group:
        return call.group
    found = _NAME.match(call.name)
    digits = found[1] if found else ""
    fitting = [group for group in folder.groups if digits and group.endswith(digits)]
    return fitting[0] if len(fitting) == 1 else digits


def _collectives_from_text(folder: Folder) -> Table[Collective]:
    timeline, told = _read_or_none(folder.timeline), _read_or_none(lambda: _entries_of_rank(folder))
    rows = _read_or_none(lambda: kernel_details(folder))
    if rows is not None:
        calls = _of_details(rows)
    elif timeline is not None:
        calls = _of_timeline(folder, timeline)
    elif told is not None:
        calls = _of_entries(told)
    else:
        raise FactMissing([Collective.table])
    table = _collective_table(folder, _with_payloads(_with_splits(calls, told or ()), timeline))
    if told is None and timeline is not None and folder.by_msprof:
        table = _with_plane_splits(table, timeline)
    # MindSpore lists those that begin while the host is in a step, and there may be none
    if told is not None and not told and len(table) and not folder.by_mindspore:
        folder.notes.add(COMMUNICATION, "", Message("names_no_operator"), rows=len(table))
    return table


def _with_plane_splits(table: Table[Collective], timeline: TraceTimeline) -> Table[Collective]:
    """The operators with what their tasks tell, where nobody analysed the communication."""
    start, elapse = table["start_ns"], table["elapse_us"]
    end = start + np.rint(elapse * 1000).astype(np.int64)
    found = splits_by_planes(timeline, LANES, _GROUP_THREADS, start, end)
    if found is None:
        return table
    idle = np.maximum(elapse - found.transit_us - found.wait_us, 0)
    return table.having(transit_us=found.transit_us, wait_us=found.wait_us, idle_us=idle)


def _read_or_none(read: Callable[[], T]) -> T | None:
    """What can be read; None when it was not recorded, or is damaged as a whole (which is noted where it is read)."""
    try:
        return read()
    except (FactMissing, Unreadable):
        return None


def _entries_of_rank(folder: Folder) -> tuple[CommunicationEntry, ...]:
    folder.need(Collective, COMMUNICATION)
    return communication_entries(folder, COMMUNICATION)


def _of_details(columns: Mapping[str, Values]) -> Iterator[Call]:
    name, core, start, duration = (columns.get(c) for c in ("op_name", "core", "start_ns", "duration_us"))
    assert isinstance(name, Texts) and isinstance(start, np.ndarray) and isinstance(duration, np.ndarray)  # noqa: S101
    wanted = name.hits(bool(_OPERATOR.match(n)) for n in name.names)
    if isinstance(core, Texts):
        wanted &= core.isin(COMMUNICATION_CORES) | (core.codes < 0)
    rows = np.flatnonzero(wanted)
    step = columns.get("step")
    steps = step[rows] if isinstance(step, np.ndarray) else np.full(len(rows), MISSING, np.int64)
    yield from _make_calls(name.take(rows), start[rows], duration[rows], steps)


def _of_timeline(folder: Folder, timeline: TraceTimeline) -> Iterator[Call]:
    slices, rows = timeline.slices, operator_rows(timeline)
    start = slices.start_ns[rows]
    elapse = (slices.end_ns[rows] - start) / 1000
    yield from _make_calls(slices.name.take(rows), start, elapse, steps_in_timeline(folder, start))


def _make_calls(name: Texts, start: Array, elapse: Array, step: Array) -> Iterator[Call]:
    for row in zip(name.values(), start.tolist(), elapse.tolist(), step.tolist(), strict=True):
        yield Call(row[0] or "", *row[1:])


def _of_entries(told: Iterable[CommunicationEntry]) -> Iterator[Call]:
    for entry in told:
        start = as_number(value_at(entry.content, _TIMES, "Start Timestamp(us)")) * 1000
        elapse = time_us(entry.content, _TIMES, "Elapse Time(ms)")
        if 0 < start < _LATEST_NS and elapse >= 0:
            step = MISSING if entry.step is None else entry.step
            yield Call(entry.name, round(start), elapse, step)


def operator_rows(timeline: TraceTimeline) -> Array:
    """The slices that are whole communication operators."""
    tracks = timeline.tracks
    chosen = tracks.of(*LANES) & tracks.thread.hits(name.startswith(_GROUP_THREADS) for name in tracks.thread.names)
    return np.flatnonzero(chosen[timeline.slices.track])


def _with_splits(calls: Iterable[Call], told: Iterable[CommunicationEntry]) -> Iterator[Call]:
    """Each call with its group and what its time went to, found by step and name, or by name alone."""
    known: dict[tuple[int | None, str], CommunicationEntry] = {}
    for entry in told:
        known[entry.step, entry.name] = known[None, entry.name] = entry
    for call in calls:
        entry_of = known.get((call.step, call.name)) or known.get((None, call.name))
        if entry_of is None:
            yield call
        else:
            yield replace(call, group=entry_of.group, split=_split_of_entry(entry_of))


def _split_of_entry(entry: CommunicationEntry) -> Split:
    kinds = ("Elapse", "Transit", "Wait", "Synchronization", "Idle")
    return Split(*(time_us(entry.content, _TIMES, f"{kind} Time(ms)") for kind in kinds))


def _with_payloads(calls: Iterable[Call], timeline: TraceTimeline | None) -> Iterator[Call]:
    """Each call with the payload of the slice of its name that begins nearest, and with the start of that slice.

    The table cuts off what is below a nanosecond and the timeline rounds it, so that starts differ by one; launches
    end where the timeline says.
    """
    known = _payloads_by_name(timeline) if timeline is not None else {}
    for call in calls:
        start, payload = _nearest_payload(known.get(call.name, []), call.start_ns)
        near = abs(start - call.start_ns) <= _ROUNDING_NS
        yield replace(call, payload=payload, start_ns=start if near else call.start_ns)


def _nearest_payload(seen: list[tuple[int, Payload]], start: int) -> tuple[int, Payload]:
    if not seen:
        return start, Payload()
    place = bisect_left(seen, start, key=lambda found: found[0])
    return min(seen[max(place - 1, 0) : place + 1], key=lambda found: abs(found[0] - start))


def _payloads_by_name(timeline: TraceTimeline) -> dict[str, list[tuple[int, Payload]]]:
    """Starts and payloads of the operators the timeline shows, by name, in order of start."""
    payloads, slices = timeline.payloads, timeline.slices
    carried = zip(
        payloads.row.tolist(),
        payloads.count.tolist(),
        payloads.dtype.values(),
        payloads.algorithm.values(),
        strict=True,
    )
    of_row = {row: Payload(count, _word_or_none(dtype), _word_or_none(algo)) for row, count, dtype, algo in carried}
    rows = operator_rows(timeline)
    rows = rows[np.argsort(slices.start_ns[rows], kind="stable")]
    found: dict[str, list[tuple[int, Payload]]] = {}
    names = slices.name.take(rows).values()
    for row, name, start in zip(rows.tolist(), names, slices.start_ns[rows].tolist(), strict=True):
        found.setdefault(name or "", []).append((start, of_row.get(row, Payload())))
    return found


def _word_or_none(word: str | None) -> str | None:
    return None if word in _NO_WORDS else word


def _collectives_from_database(folder: Folder) -> Table[Collective]:
    database = folder.database()
    if not database.has_rows("COMMUNICATION_OP"):
        if database.has_rows("TASK"):
            return Table.empty(Collective)  # one rank alone talks to nobody
        raise FactMissing([Collective.table])
    wanted = {
        "name": ["opName"],
        "start": ["startNs"],
        "end": ["endNs"],
        "group": ["groupName"],
        "dtype": ["dataType"],
        "algorithm": ["algType"],
        "count": ["count"],
    }
    found = database.integers("COMMUNICATION_OP", wanted, database.on_device("COMMUNICATION_OP", folder.rank))
    return _collective_table(
        folder, _with_analysed_splits(_recorded_calls(folder, database, found), _splits_by_key(folder))
    )


def _recorded_calls(folder: Folder, database: Database, found: dict[str, Array]) -> Iterator[Call]:
    good = are_spans(found["start"], found["end"])
    found = {name: values[good] for name, values in found.items()}
    names, groups, algorithms = (database.texts(found[name]).values() for name in ("name", "group", "algorithm"))
    elapse = (found["end"] - found["start"]) / 1000
    steps = steps_in_database(folder, found["start"])
    dtypes = {**DTYPES, **database.names("ENUM_HCCL_DATA_TYPE")}
    numbers = (found["start"], elapse, steps, found["count"], found["dtype"])
    rows = zip(names, *(column.tolist() for column in numbers), groups, algorithms, strict=True)
    for name, start, took, step, count, dtype, group, algorithm in rows:
        if name is not None:
            carried = float(count) if count >= 0 else np.nan
            payload = Payload(carried, _word_or_none(dtypes.get(dtype)), _word_or_none(algorithm))
            yield Call(name, start, took, step, communicator_hash(group or ""), payload=payload)


_Key = tuple[int | None, str, str]


def _splits_by_key(folder: Folder) -> dict[_Key, Split]:
    """What the time of each operator went to, by step, name and group; by name and group alone under no step."""
    kinds = ("elapse_time", "transit_time", "wait_time", "synchronization_time", "idle_time")
    try:
        rows = read_records(
            folder, Origin("analysis", "CommAnalyzerTime"), ("step", "hccl_op_name", "group_name", *kinds)
        )
    except (FactMissing, Unreadable):  # not recorded, or noted as damage: the split stays unknown
        rows = None
    found: dict[_Key, Split] = {}
    for step, name, group, *times in rows or ():
        split = Split(*(time_us({"ms": time}, "ms") for time in times))
        plain, hashed = bounded_name(str(name).partition("@")[0]), communicator_hash(bounded_name(str(group or "")))
        found[step_number(str(step or "")), plain, hashed] = found[None, plain, hashed] = split
    return found


def _with_analysed_splits(calls: Iterable[Call], known: Mapping[_Key, Split]) -> Iterator[Call]:
    for call in calls:
        split = known.get((call.step, call.name, call.group)) or known.get((None, call.name, call.group))
        yield call if split is None else replace(call, split=split)


_WAYS = {"text": _collectives_from_text, "database": _collectives_from_database}


def collectives_of_export(folder: Folder, export: str) -> Table[Collective]:
    """The collectives that an export tells, read once for all that rests on them while groups are known by it alike.

    Raises:
        FactMissing: It holds none.
    """
    groups, table = folder.once(f"collectives in {export}", lambda: (folder.groups, _WAYS[export](folder)))
    return table if groups is folder.groups else _WAYS[export](folder)


COLLECTIVES = Reading(Collective, {export: partial(collectives_of_export, export=export) for export in _WAYS})
