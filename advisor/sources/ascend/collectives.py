# SPDX-License-Identifier: Apache-2.0
"""Collective: the communication rows of kernel_details.csv with times and payloads; COMMUNICATION_OP in the database.

In the text export one operator is spread over three files: when it ran (kernel_details.csv, else the timeline, else
communication.json), what its time went to (communication.json) and what it carried (arguments in the timeline). Where
neither export has any, marks that the framework set around its own tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.facts.base import MISSING
from advisor.facts.observed import Collective
from advisor.facts.table import Array, Table, Texts, Values, values_at
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.attribution import steps_by_tasks, steps_in_database, steps_in_timeline
from advisor.sources.ascend.cell_columns import CellColumns, plain_cells_at
from advisor.sources.ascend.communication import (
    COMMUNICATION,
    SCOPED_OP,
    TIMES,
    CommunicationEntry,
    columns_of_entries,
    communication_entries,
    op_of,
    starts_of_entries,
    steps_of_entries,
)
from advisor.sources.ascend.device_tasks import HARDWARE
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.kernels import COMMUNICATION_CORES, kernel_details
from advisor.sources.ascend.marked_collectives import MarkedCollectives, marked_collectives, tell_of_collectives
from advisor.sources.ascend.plane_tasks import splits_by_planes
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.record_cells import (
    groups_of_cells,
    number_rows,
    steps_of_cells,
    texts_of_cells,
)
from advisor.sources.ascend.sqltable import Origin, columns_of, columns_of_table, read_record_columns
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import STAND_IN, Database, are_spans, distinct_ids, match_keys
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading
from advisor.sources.shared.collective_kinds import is_p2p

if TYPE_CHECKING:
    from advisor.sources.files.timeline import TraceTimeline

T = TypeVar("T")
LANES = ("HCCL", "Communication")
_GROUP_THREADS = ("Group ", "Communication Kernel")
_ROUNDING_NS = 1000
"""Starts of one operator in two files are this near; starts of 2023 have no digits below a µs."""

_SAME_TIME_US = 0.01
"""How far apart the two databases tell what one operator took."""

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


_SPLITS = {"transit_us": "Transit", "wait_us": "Wait", "sync_us": "Synchronization", "idle_us": "Idle"}
"""What the time of an operator went to, as communication.json calls it; the database writes `transit_time`."""
DIFFERENCES = frozenset({"idle_us"})
"""Those that the profiler takes as the rest of the others: below zero where tasks of several planes run at once."""


class RecordedCalls(Struct, frozen=True):
    """Operators column by column, put together from where their parts are recorded."""

    name: Texts
    start_ns: Array
    elapse_us: Array
    step: Array
    group: Texts
    """The communicator's hash; missing where it is not told."""
    count: Array
    dtype: Texts
    algorithm: Texts
    split: Mapping[str, Array] = {}
    """What its time went to, µs, by column of `Collective`; empty where nobody told."""

    @classmethod
    def that_ran(cls, name: Texts, start_ns: Array, elapse_us: Array, step: Array) -> RecordedCalls:
        """Of which is known when they ran, and nothing else."""
        unknown = Texts.constant(None, len(name))
        return cls(name, start_ns, elapse_us, step, unknown, np.full(len(name), np.nan), unknown, unknown)

    @property
    def size_bytes(self) -> Array:
        """Count times size of the data type; NaN where one of them is unknown."""
        sizes = np.array([*(DTYPE_BYTES.get(name, np.nan) for name in self.dtype.names), np.nan])[self.dtype.codes]
        return np.where(self.count >= 0, self.count * sizes, np.nan)


def _collective_table(folder: Folder, calls: RecordedCalls) -> Table[Collective]:
    """The operators in order of start."""
    order = np.lexsort((calls.name.places_in_order(), calls.start_ns))
    name = calls.name.take(order).in_use()
    op = Texts.of(map(op_of, name.names)).at(name.codes)
    by_name = Texts.of(_group_of_name(folder, one) for one in name.names).at(name.codes)
    group = _first_known(calls.group.take(order), by_name)
    kinds = (folder.groups[one].kind if one in folder.groups else None for one in group.names)
    return Table.build(
        Collective,
        rank=folder.rank,
        step=calls.step[order],
        name=name,
        op=op,
        group=group,
        group_kind=Texts.of(kind or None for kind in kinds).at(group.codes),
        p2p=op.hits(map(is_p2p, op.names)),
        start_ns=calls.start_ns[order],
        elapse_us=calls.elapse_us[order],
        size_bytes=calls.size_bytes[order],
        dtype=calls.dtype.take(order),
        algorithm=calls.algorithm.take(order),
        **{column: us[order] for column, us in calls.split.items()},
    )


def _group_of_name(folder: Folder, name: str) -> str | None:
    """The communicator's hash where only its last digits are known, from a name: the group of the run they fit."""
    found = _NAME.match(name)
    if found is None:
        return None
    fitting = [group for group in folder.groups if group.endswith(found[1])]
    return fitting[0] if len(fitting) == 1 else found[1]


def _first_known(texts: Texts, others: Texts) -> Texts:
    """Per row the first of two texts, or where it is missing the second."""
    rows = np.arange(len(texts))
    return Texts.concat([texts, others]).take(np.where(texts.codes >= 0, rows, rows + len(rows))).in_use()


def _collectives_from_text(folder: Folder) -> Table[Collective]:
    timeline, told = _read_or_none(folder.timeline), _read_or_none(lambda: _entries_of_rank(folder))
    rows = _read_or_none(lambda: kernel_details(folder))
    if rows is not None:
        calls = _calls_of_details(rows)
        calls = calls if told is None else _with_those_lost(calls, _calls_of_entries(folder, told))
    elif timeline is not None:
        calls = _calls_of_timeline(folder, timeline)
    elif told is not None:
        calls = _calls_of_entries(folder, told)
    else:
        raise FactMissing([Collective.table])
    if timeline is not None and not len(calls.name):
        calls = _calls_of_marked_tasks(folder, timeline) or calls
    calls = calls if told is None else _with_splits(folder, calls, told)
    table = _collective_table(folder, calls if timeline is None else _with_payloads(calls, timeline))
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


def _calls_of_details(columns: Mapping[str, Values]) -> RecordedCalls:
    name, core, start, duration = (columns.get(c) for c in ("op_name", "core", "start_ns", "duration_us"))
    assert isinstance(name, Texts) and isinstance(start, np.ndarray) and isinstance(duration, np.ndarray)  # noqa: S101
    wanted = name.hits(bool(_OPERATOR.match(n)) for n in name.names)
    if isinstance(core, Texts):
        wanted &= core.isin(COMMUNICATION_CORES) | (core.codes < 0)
    rows = np.flatnonzero(wanted)
    step = columns.get("step")
    steps = step[rows] if isinstance(step, np.ndarray) else np.full(len(rows), MISSING, np.int64)
    return RecordedCalls.that_ran(name.take(rows), start[rows], duration[rows], steps)


def _with_those_lost(calls: RecordedCalls, listed: RecordedCalls) -> RecordedCalls:
    """The operators of the table of kernels, and of those listed elsewhere the ones whose rows it lost: it has none of
    their name in their step, nor one that begins near them. Nothing is added where both call operators differently."""
    row = _nearest_of_name((listed.name, listed.start_ns), (calls.name, calls.start_ns))
    if len(calls.name) and (row < 0).all():
        return calls
    apart = np.abs(values_at(calls.start_ns, row, 0) - listed.start_ns)
    far = (row < 0) | (apart > np.maximum(listed.elapse_us * 1000, _ROUNDING_NS))
    codes = Texts.concat([listed.name, calls.name]).codes
    known = number_rows([np.append(listed.step, calls.step), codes])
    lost = np.flatnonzero(far & ~np.isin(known[: len(row)], known[len(row) :]))
    if not len(lost):
        return calls
    name = Texts.concat([calls.name, listed.name.take(lost)])
    start, elapse, step = (
        np.concatenate([getattr(calls, column), getattr(listed, column)[lost]])
        for column in ("start_ns", "elapse_us", "step")
    )
    return RecordedCalls.that_ran(name, start, elapse, step)


def _calls_of_timeline(folder: Folder, timeline: TraceTimeline) -> RecordedCalls:
    slices, rows = timeline.slices, operator_rows(timeline)
    start = slices.start_ns[rows]
    elapse = (slices.end_ns[rows] - start) / 1000
    return RecordedCalls.that_ran(slices.name.take(rows), start, elapse, steps_in_timeline(folder, start))


def _calls_of_marked_tasks(folder: Folder, timeline: TraceTimeline) -> RecordedCalls | None:
    """The operators around which the framework set marks, by what these left on the device; None without any."""
    slices = timeline.slices
    rows = np.flatnonzero(timeline.tracks.of(*HARDWARE)[slices.track])
    found = marked_collectives(slices.name.take(rows).in_use(), slices.start_ns[rows], slices.end_ns[rows])
    return None if found is None else _calls_of_marks(found, steps_in_timeline(folder, found.start_ns))


def _calls_of_marks(found: MarkedCollectives, steps: Array) -> RecordedCalls:
    calls = RecordedCalls.that_ran(found.name, found.start_ns, (found.end_ns - found.start_ns) / 1000, steps)
    return replace(calls, group=found.group, count=found.count, dtype=found.dtype)


def _calls_of_entries(folder: Folder, told: Sequence[CommunicationEntry]) -> RecordedCalls:
    columns, times = _columns_and_times(folder, told)
    start, elapse = starts_of_entries(columns, times), times_in_ms(columns, "Elapse", times)
    rows = np.flatnonzero((start != MISSING) & (elapse >= 0))
    steps = steps_of_entries(told)
    name = Texts.of(entry.name for entry in told)
    return RecordedCalls.that_ran(name.take(rows), start[rows], elapse[rows], steps[rows])


def _columns_and_times(
    folder: Folder, told: Sequence[CommunicationEntry]
) -> tuple[CellColumns, Sequence[Mapping[str, object]]]:
    """The columns of the entries, and the times of each."""
    columns = columns_of_entries(folder, COMMUNICATION, told)
    return columns, columns.objects_at(TIMES, [entry.content for entry in told])


def times_in_ms(
    columns: CellColumns, kind: str, times: Sequence[Mapping[str, object]], *, difference: bool = False
) -> Array:
    """One kind of the times of operators, µs."""
    column = f"{kind} Time(ms)"
    return columns.us(column, plain_cells_at(column, times), difference=difference)


def operator_rows(timeline: TraceTimeline) -> Array:
    """The slices that are whole communication operators."""
    tracks = timeline.tracks
    chosen = tracks.of(*LANES) & tracks.thread.hits(name.startswith(_GROUP_THREADS) for name in tracks.thread.names)
    return np.flatnonzero(chosen[timeline.slices.track])


def _with_splits(folder: Folder, calls: RecordedCalls, told: Sequence[CommunicationEntry]) -> RecordedCalls:
    """The operators with their groups and what their time went to, found by step and name, or by name alone.

    Names end in three digits of their communicator's hash: of several that a rank has with the same digits, those told
    of one name in one step are told apart by when they began.
    """
    steps, names = steps_of_entries(told), Texts.of(entry.name for entry in told)
    row = _rows_told((calls.step, [calls.name]), (steps, [names]))
    columns, times = _columns_and_times(folder, told)
    key = number_rows([steps, names.codes])
    if (np.bincount(key) > 1).any():
        row = _told_nearest(calls.start_ns, row, key, starts_of_entries(columns, times))
    group = Texts.of(entry.group or None for entry in told).at(row)
    split = {one: times_in_ms(columns, kind, times, difference=one in DIFFERENCES) for one, kind in _SPLITS.items()}
    return replace(calls, group=group, split={column: values_at(us, row, np.nan) for column, us in split.items()})


_Keys = tuple[Array, Sequence[Texts]]
"""The step of each row, and the texts by which it is known."""


def _rows_told(calls: _Keys, told: _Keys) -> Array:
    """Per call: the last row told of its step and texts, else the last told of its texts in any step, or -1."""
    (step, texts), (told_step, told_texts) = calls, told
    count = len(step)
    known = [Texts.concat([one, other]).codes for one, other in zip(texts, told_texts, strict=True)]
    of_step = _last_of_key(number_rows([np.append(step, told_step), *known]), count)
    of_any = _last_of_key(number_rows(known), count)
    return np.where((of_step >= 0) & (step != MISSING), of_step, of_any)


def _last_of_key(key: Array, count: int) -> Array:
    """Per one of the first so many rows: the last of the others that has its key, counted from the first of these, or
    -1."""
    last = np.full(int(key.max(initial=-1)) + 1, -1)
    np.maximum.at(last, key[count:], np.arange(len(key) - count))
    return last[key[:count]]


def _told_nearest(start: Array, row: Array, key: Array, told_start: Array) -> Array:
    """Per call: of those told that have the key of its row, the one that begins nearest, where that is known; else the
    row it has."""
    seen = np.flatnonzero(told_start != MISSING)
    own = values_at(key, row)
    calls = np.flatnonzero(values_at(np.bincount(key[seen]), own, 0) > 1)
    nearest = _nearest_of_key((own[calls], start[calls]), (key[seen], told_start[seen]))
    found = row.copy()
    found[calls] = seen[nearest]
    return found


def _with_payloads(calls: RecordedCalls, timeline: TraceTimeline) -> RecordedCalls:
    """The operators with the payload of the slice of their name that begins nearest, and with the start of that slice.

    The table cuts off what is below a nanosecond and the timeline rounds it, so that starts differ by one; launches
    end where the timeline says.
    """
    slices, payloads = timeline.slices, timeline.payloads
    rows = operator_rows(timeline)
    row = _nearest_of_name((calls.name, calls.start_ns), (slices.name.take(rows), slices.start_ns[rows]))
    start = values_at(slices.start_ns[rows], row, 0)
    near = (row >= 0) & (np.abs(start - calls.start_ns) <= _ROUNDING_NS)
    carried = np.full(len(slices.start_ns), -1)
    carried[payloads.row] = np.arange(len(payloads.row))
    carried = values_at(carried[rows], row, -1)
    return replace(
        calls,
        start_ns=np.where(near, start, calls.start_ns),
        count=values_at(payloads.count, carried, np.nan),
        dtype=_without(payloads.dtype, _NO_WORDS).at(carried),
        algorithm=_without(payloads.algorithm, _NO_WORDS).at(carried),
    )


def _nearest_of_name(calls: tuple[Texts, Array], seen: tuple[Texts, Array]) -> Array:
    """Per call: which of those seen under its name begins nearest, the earlier of two that are as near; -1 for none."""
    (name, start), (seen_name, seen_start) = calls, seen
    names = Texts.concat([name, seen_name]).codes
    return _nearest_of_key((names[: len(name)], start), (names[len(name) :], seen_start))


def _nearest_of_key(calls: tuple[Array, Array], seen: tuple[Array, Array]) -> Array:
    """The same by whole numbers in place of names."""
    (own, start), (of, seen_start) = calls, seen
    order = np.lexsort((seen_start, of))
    edges = np.searchsorted(of[order], np.arange(max(int(own.max(initial=-1)), int(of.max(initial=-1))) + 2))
    moments = np.unique(seen_start)
    stride = len(moments) + 1
    keys = of[order] * stride + np.searchsorted(moments, seen_start[order])
    after = np.searchsorted(keys, own * stride + np.searchsorted(moments, start))
    before = np.where(after > edges[own], after - 1, -1)
    after = np.where(after < edges[own + 1], after, -1)
    apart = [np.abs(values_at(seen_start, values_at(order, one, -1), 0) - start) for one in (before, after)]
    return values_at(order, np.where((before >= 0) & ((after < 0) | (apart[0] <= apart[1])), before, after), -1)


def _without(texts: Texts, absent: Collection[str | None]) -> Texts:
    """The same texts, missing where they say that nothing is known."""
    return Texts.of(None if name in absent else name for name in texts.names).at(texts.codes)


def _collectives_from_database(folder: Folder) -> Table[Collective]:
    database = folder.database()
    if not database.has_rows("COMMUNICATION_OP"):
        marked = _marked_in_database(database)
        if marked is not None:
            steps = steps_by_tasks(folder, marked.host_ns, marked.start_ns, marked.end_ns)
            return _collective_table(folder, _calls_of_marks(marked, steps))
        if database.has_rows("TASK"):
            return Table.empty(Collective)  # one rank alone talks to nobody
        raise FactMissing([Collective.table])
    wanted = {
        "name": ["opName"],
        "type": ["opType"],
        "start": ["startNs"],
        "end": ["endNs"],
        "group": ["groupName"],
        "dtype": ["dataType"],
        "algorithm": ["algType"],
        "count": ["count"],
    }
    found = database.integers("COMMUNICATION_OP", wanted, database.on_device("COMMUNICATION_OP", folder.rank))
    return _collective_table(folder, _with_analysed_splits(folder, _recorded_calls(folder, database, found)))


def _marked_in_database(database: Database) -> MarkedCollectives | None:
    """The operators around which the framework set marks, by the tasks that these left on the device; None without."""
    if not database.has_rows("MSTX_EVENTS") or not database.has_rows("TASK"):
        return None
    wanted = {"message": ["message"], "connection": ["connectionId"], "start": ["startNs"]}
    marks = database.integers("MSTX_EVENTS", wanted)
    message = database.texts(marks["message"])
    told = np.flatnonzero(tell_of_collectives(message) & (marks["connection"] != MISSING))
    if not len(told):
        return None
    tasks = database.integers("TASK", {"start": ["startNs"], "end": ["endNs"], "connection": ["connectionId"]})
    by = match_keys(marks["connection"][told], tasks["connection"])
    left = np.flatnonzero(by >= 0)
    mark = told[by[left]]
    return marked_collectives(
        message.take(mark), tasks["start"][left], tasks["end"][left], host_ns=marks["start"][mark]
    )


def _recorded_calls(folder: Folder, database: Database, found: dict[str, Array]) -> RecordedCalls:
    good = are_spans(found["start"], found["end"])
    name = database.event_names(found["name"][good])
    named = np.flatnonzero(good)[name.codes >= 0]
    found = {column: values[named] for column, values in found.items()}
    elapse, steps = (found["end"] - found["start"]) / 1000, steps_in_database(folder, found["start"])
    calls = RecordedCalls.that_ran(name.take(name.codes >= 0), found["start"], elapse, steps)
    group = database.texts(found["group"])
    types, type_of = distinct_ids(found["dtype"])
    dtypes = {**DTYPES, **database.names("ENUM_HCCL_DATA_TYPE")}
    return replace(
        calls,
        name=_restored_names(folder, calls, database.texts(found["type"])),
        group=Texts.of(communicator_hash(one) or None for one in group.names).at(group.codes),
        count=np.where(found["count"] >= 0, found["count"], np.nan),
        dtype=_without(Texts.of(map(dtypes.get, types.tolist())).at(type_of), _NO_WORDS),
        algorithm=_without(database.texts(found["algorithm"]), _NO_WORDS),
    )


def _restored_names(folder: Folder, calls: RecordedCalls, types: Texts) -> Texts:
    """The names; of those that are gone what analysis.db calls the operator that took as long at that time, else the
    type, where it is known, and their number."""
    gone = np.flatnonzero(calls.name.hits(one.startswith(STAND_IN) for one in calls.name.names))
    if not len(gone):
        return calls.name
    told_ns, told_us, told = _analysed_times(folder)
    names, kinds = calls.name.values(), types.values()
    for row in gone.tolist():
        apart_us = np.abs(told_ns - calls.start_ns[row]) / 1000
        alike = (np.abs(told_us - calls.elapse_us[row]) < _SAME_TIME_US) & (apart_us < calls.elapse_us[row])
        nearest = int(np.argmin(np.where(alike, apart_us, np.inf))) if alike.any() else None
        number = (names[row] or "").removeprefix(STAND_IN)
        by_type = f"{kinds[row]}_{number}" if kinds[row] else names[row]
        names[row] = by_type if nearest is None else told[nearest]
    return Texts.of(names)


def _analysed_times(folder: Folder) -> tuple[Array, Array, Sequence[str]]:
    """Start, duration in µs and name of the operators that analysis.db lists; none where it does not."""
    origin, columns = Origin("analysis", "CommAnalyzerTime"), ("hccl_op_name", "start_timestamp", "elapse_time")
    try:
        whole = set(columns) <= set(columns_of(folder, origin))
        told = read_record_columns(folder, origin, columns) if whole else None
    except (FactMissing, Unreadable):  # there is none, or it is noted as damage: names stay as they are
        told = None
    if told is None:
        return np.empty(0, np.int64), np.empty(0), ()
    name, start, elapse = told
    names = [bounded_name(str(cell).partition("@")[0]) for cell in name]
    cells = columns_of_table(folder, origin)
    return cells.moments_ns("start_timestamp", start), cells.us("elapse_time", elapse), names


def _with_analysed_splits(folder: Folder, calls: RecordedCalls) -> RecordedCalls:
    """The operators with what their time went to, found by step, name and group, or by name and group alone; of
    several that are listed as the same, by when they began."""
    times = {column: f"{kind.lower()}_time" for column, kind in _SPLITS.items()}
    wanted = ("step", "hccl_op_name", "group_name", "start_timestamp", *times.values())
    origin = Origin("analysis", "CommAnalyzerTime")
    try:
        told = read_record_columns(folder, origin, wanted, optional=("step", "start_timestamp"))
    except (FactMissing, Unreadable):  # not recorded, or noted as damage: the split stays unknown
        told = None
    if told is None:
        return calls
    step, name, group, start, *us = told
    names = texts_of_cells(name, lambda cell: bounded_name(str(cell).partition("@")[0]))
    steps, groups = steps_of_cells(step), _without(groups_of_cells(group), {""})
    row = _rows_told((calls.step, [calls.name, calls.group]), (steps, [names, groups]))
    columns = columns_of_table(folder, origin)
    columns.words("hccl_op_name", name)
    key = number_rows([steps, names.codes, groups.codes])
    if (np.bincount(key) > 1).any():
        row = _told_nearest(calls.start_ns, row, key, columns.moments_ns("start_timestamp", start))
    split = {
        column: columns.us(field, of, difference=column in DIFFERENCES)
        for (column, field), of in zip(times.items(), us, strict=True)
    }
    return replace(calls, split={column: values_at(of, row, np.nan) for column, of in split.items()})


_WAYS = {"text": _collectives_from_text, "database": _collectives_from_database}


def collectives_of_export(folder: Folder, export: str) -> Table[Collective]:
    """The collectives that an export tells, read once for all that rests on them while groups are known by it alike.

    Raises:
        FactMissing: It holds none.
    """
    groups, table = folder.once(f"collectives in {export}", lambda: (folder.groups, _WAYS[export](folder)))
    return table if groups is folder.groups else _WAYS[export](folder)


def steps_of_records(folder: Folder, step: Sequence[object], names: Texts, groups: Texts) -> Array:
    """The steps that rows of a communication table say; where none says any, as in those of msprof, the steps of their
    operators: missing for one that ran in several."""
    told = steps_of_cells(step)
    if not len(told) or (told != MISSING).any():
        return told
    try:
        ran = collectives_of_export(folder, "database")
    except (FactMissing, Unreadable):  # noted where it is read
        return told
    known = [
        Texts.concat([one, other]).codes
        for one, other in ((names, ran.texts("name")), (_without(groups, {""}), ran.texts("group")))
    ]
    key, rows = number_rows(known), len(told)
    least = np.full(int(key.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    most = np.full(len(least), MISSING, np.int64)
    np.minimum.at(least, key[rows:], ran["step"])
    np.maximum.at(most, key[rows:], ran["step"])
    return np.where(least == most, most, MISSING)[key[:rows]]


COLLECTIVES = Reading(Collective, {export: partial(collectives_of_export, export=export) for export in _WAYS})
