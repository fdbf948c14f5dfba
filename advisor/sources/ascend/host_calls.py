# SPDX-License-Identifier: Apache-2.0
"""HostCall: the host lanes of the timeline; PYTORCH_API, CANN_API and GC_RECORD in the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.narrow import NarrowColumn, take_by_blocks
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table, Texts, Values, code_type, row_type
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.call_words import STEP_MARK, activities_of_calls, wait_of_mindspore
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import STAND_IN, Database, are_spans
from advisor.sources.files.timeline import TraceTimeline
from advisor.sources.reading import Reading
from advisor.sources.shared.pytorch_words import COLLECTIONS_OF_GARBAGE, operator_kind, without_addresses

BY_CATEGORY = {
    "cpu_op": "operator",
    "user_annotation": "operator",
    "enqueue": "enqueue",
    "dequeue": "dequeue",
    "python_function": "python",
    "GC": "gc",
}
"""Kind of a host event by its category in the timeline."""

BY_LAYER = {
    "AscendCL": "api",
    "Node": "launch",
    "Model": "graph",
    "Hccl": "communicate",
    "Communication": "communicate",
    "Runtime": "runtime",
}
"""Kind of a CANN call by the layer before the @ of its name."""

BY_TYPE = {
    "acl": "api",
    "node": "launch",
    "model": "graph",
    "hccl": "communicate",
    "communication": "communicate",
    "runtime": "runtime",
}
"""Kind of a CANN call by the name of its type in ENUM_API_TYPE."""

API_TYPES = {20000: "acl", 15000: "model", 10000: "node", 5500: "hccl", 5000: "runtime"}
"""ENUM_API_TYPE where a database does not bring its own."""

OPERATOR, QUEUE, TRACE = 50001, 50002, 50003
"""Types of PYTORCH_API: framework operators, task queue, Python functions."""

_QUEUES = {"Enqueue": "enqueue", "Dequeue": "dequeue"}
KINDS = tuple(
    dict.fromkeys(["operator", "step", "optimizer", "data_loader", *BY_CATEGORY.values(), *BY_LAYER.values()])
)
_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_THREAD_BITS = 0xFFFFFFFF


def _calls_from_text(folder: Folder) -> Table[HostCall]:
    timeline = folder.timeline()
    slices = timeline.slices
    kinds = _kinds_of_events(slices.category, slices.name)
    kinds[_unnamed_launches(timeline, kinds)] = _KIND_CODES["operator"]
    rows = np.flatnonzero(kinds >= 0)
    if not len(rows):
        raise FactMissing([HostCall.table])
    rows = rows[_order_of_calls(slices.start_ns[rows], slices.end_ns[rows] > slices.start_ns[rows])]
    kinds, names = kinds[rows].astype(np.int32), slices.name.take(rows)
    layered = np.isin(kinds, [_KIND_CODES[kind] for kind in (*BY_LAYER.values(), *_QUEUES.values())])
    return Table.build(
        HostCall,
        rank=folder.rank,
        thread=timeline.tracks.number[slices.track[rows]],
        kind=Texts(kinds, KINDS),
        **_names_and_activities(_shorten_names(names, kinds, layered), kinds),
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
        connection=slices.link[rows],
    )


def _names_and_activities(name: Texts, kinds: Array) -> dict[str, Texts]:
    """The names of calls, and what the calls do."""
    into_cann = np.isin(kinds, [_KIND_CODES[kind] for kind in BY_TYPE.values()])
    return {
        "name": without_addresses(name),
        "activity": activities_of_calls(
            name, into_cann, kinds == _KIND_CODES["operator"], kinds == _KIND_CODES["python"]
        ),
    }


def _kinds_of_events(category: Texts, name: Texts) -> Array:
    """Per event the code of its kind, -1 for those not on the host."""
    by_category = np.array([*(_KIND_CODES.get(BY_CATEGORY.get(c, ""), -1) for c in category.names), -1], np.int8)
    by_layer = np.array([*(_KIND_CODES.get(_kind_of_name(n), -1) for n in name.names), -1], np.int8)
    refined = np.array([*(_KIND_CODES[operator_kind(n)] for n in name.names), -1], np.int8)
    uncategorised = (category.codes < 0) | category.isin([""])
    kinds = np.where(uncategorised, by_layer[name.codes], by_category[category.codes])
    kinds = _with_asked_collections(kinds, name)
    return np.where(kinds == _KIND_CODES["operator"], refined[name.codes], kinds)


def _with_asked_collections(kinds: Array, name: Texts) -> Array:
    """The codes of the kinds, where frames of the Python stack in which garbage is collected are what they do."""
    collecting = (kinds == _KIND_CODES["python"]) & name.isin(COLLECTIONS_OF_GARBAGE)
    return np.where(collecting, np.int8(_KIND_CODES["gc"]), kinds)


def _unnamed_launches(timeline: TraceTimeline, kinds: Array) -> Array:
    """The events of MindSpore's lane that no name tells and from which an arrow leads to work of the device, where no
    event that is told begins at that moment: versions call what launches an operator by names of their own."""
    slices = timeline.slices
    unknown = np.flatnonzero((kinds < 0) & timeline.tracks.of("MindSpore")[slices.track])
    if not len(unknown):  # other frameworks have no such lane, and millions of arrows
        return unknown
    start, told = slices.start_ns[unknown], slices.start_ns[kinds == _KIND_CODES["operator"]]
    rows: Array = unknown[np.isin(start, timeline.operator_links.operator_ns) & ~np.isin(start, told)]
    return rows


@lru_cache(maxsize=1 << 12)  # every rank of a job makes the same calls
def _kind_of_name(name: str) -> str:
    """The kind of an event without a category; empty where the name tells none."""
    if STEP_MARK.fullmatch(name):
        return "step"
    if wait_of_mindspore(name) or _LAUNCHES.match(name):
        return "operator"
    return BY_LAYER.get(name.partition("@")[0], "") if "@" in name else ""


_LAUNCHES = re.compile(r"[A-Za-z]\w*::\w*(KernelLaunch|LaunchTask)\w*::")
"""How MindSpore begins the names of events in which an operator is launched; its others tell no operator."""


def _shorten_names(name: Texts, kinds: Array, layered: Array) -> Texts:
    """Names without their layer where they have one, of marks of steps without what MindSpore puts before them;
    collections of garbage are all called GC."""
    index: dict[str, int] = {}
    marks = (STEP_MARK.fullmatch(n) for n in name.names)
    whole = [
        *(index.setdefault(mark[1] if mark else n, len(index)) for n, mark in zip(name.names, marks, strict=True)),
        -1,
    ]
    short = [*(index.setdefault(n.partition("@")[2] or n, len(index)) for n in name.names), -1]
    collected = index.setdefault("GC", len(index))
    kind = code_type(len(index))
    codes = np.array(whole, kind)[name.codes]
    codes[layered] = np.array(short, kind)[name.codes[layered]]
    codes[kinds == _KIND_CODES["gc"]] = collected
    return Texts(codes, tuple(index))


def _calls_from_database(folder: Folder) -> Table[HostCall]:
    database = folder.database()
    tables = {"PYTORCH_API": _framework_calls, "CANN_API": _cann_calls, "GC_RECORD": _garbage_collections}
    parts = [read(database) for table, read in tables.items() if database.fields(table)]
    if not any(len(part["start_ns"]) for part in parts):
        raise FactMissing([HostCall.table])
    lasting = np.concatenate([_numbers(part["end_ns"]) > _numbers(part["start_ns"]) for part in parts])
    # each part of a column is let go as the column is made: these are the longest there are
    start = _join_numbers([part.pop("start_ns") for part in parts])
    order = _order_of_calls(start, lasting)
    whole: dict[str, Values | NarrowColumn] = {"start_ns": take_by_blocks(start, order)}
    del start
    whole |= {name: _join_column([part.pop(name) for part in parts], order) for name in list(parts[0])}
    return Table.build(HostCall, rank=folder.rank, **whole)


def _join_column(parts: list[Values | NarrowColumn], order: Array) -> Values | NarrowColumn:
    """The parts in order; they are let go on the way."""
    if texts := [part for part in parts if isinstance(part, Texts)]:
        whole = Texts.concat(texts).narrow()
        parts.clear()
        texts.clear()
        return Texts(take_by_blocks(whole.codes, order), whole.names)
    if narrow := [part for part in parts if isinstance(part, NarrowColumn)]:
        parts.clear()
        joined = NarrowColumn.concat(narrow)
        return NarrowColumn(take_by_blocks(joined.cells, order), joined.below)
    numbers = _join_numbers(parts)
    parts.clear()
    return take_by_blocks(numbers, order)


def _join_numbers(parts: Sequence[Values | NarrowColumn]) -> Array:
    return np.concatenate([*map(_numbers, parts)])


def _numbers(values: Values | NarrowColumn) -> Array:
    """A column that is not text, as int64."""
    assert not isinstance(values, Texts)  # noqa: S101 - its name tells
    return values.at(slice(None)) if isinstance(values, NarrowColumn) else values


def _order_of_calls(start: Array, lasting: Array) -> Array:
    """The rows of calls by their start, those that take no time behind all others: so most work needs no further copy
    of them."""
    order = np.argsort(start, kind="stable").astype(row_type(len(start)))
    last = lasting[order]
    lasts, others = order[last], order[~last]
    order[: len(lasts)], order[len(lasts) :] = lasts, others
    return order


_SPELLINGS = {
    "start": ["startNs"],
    "end": ["endNs"],
    "thread": ["globalTid"],
    "connection": ["connectionId"],
    "name": ["name"],
    "type": ["type"],
}


def _columns_in_turn(database: Database, table: str) -> Callable[[str], Array]:
    """What gives a column of a table of calls. They are kept narrow: of millions of rows one is made at a time."""
    there = {field.lower() for field in database.fields(table)}
    some = [name for name, (spelling,) in _SPELLINGS.items() if spelling.lower() in there][:1]

    def column(name: str) -> Array:
        # one that is there tells how long those are that are not
        asked = (name,) if _SPELLINGS[name][0].lower() in there else (*some, name)
        return database.integers(table, {one: _SPELLINGS[one] for one in asked})[name]

    return column


def _framework_calls(database: Database) -> dict[str, Values | NarrowColumn]:
    column = _columns_in_turn(database, "PYTORCH_API")
    name, types = database.event_names(column("name")).narrow(), column("type")
    queued, by_name, by_type = types == QUEUE, types == OPERATOR, types == TRACE
    del types  # each column of millions of rows is let go as soon as it may
    operator, queue = (
        np.array([*(_KIND_CODES.get(kind_of(n), -1) for n in name.names), -1], np.int8)[name.codes]
        for kind_of in (operator_kind, lambda n: _QUEUES.get(n.partition("@")[0], ""))
    )
    python, none = np.int8(_KIND_CODES["python"]), np.int8(-1)
    kinds = _with_asked_collections(
        np.select([by_name, queued, by_type], [operator, queue, python], default=none), name
    )
    rows = np.flatnonzero(queued)
    numbers = _correlations_of_ids(database, column("connection")[rows])
    gone = name.take(rows).hits(one.startswith(STAND_IN) for one in name.names)
    if gone.any():
        kinds[rows] = np.where(gone, _ends_of_queue(numbers, column("start")[rows]), kinds[rows])
    name = _shorten_names(name, kinds, queued)
    return _columns_of_calls(column, kinds, name, NarrowColumn.spread(numbers, rows, len(kinds)))


def _ends_of_queue(numbers: Array, start: Array) -> Array:
    """The kind of each entry of task queues by its number: it is put in before it is taken out."""
    order = np.lexsort((start, numbers))
    first = np.append(True, np.diff(numbers[order]) != 0)[: len(order)]
    kinds = np.full(len(numbers), _KIND_CODES["dequeue"], np.int8)
    kinds[order[first]] = _KIND_CODES["enqueue"]
    return np.where(numbers == MISSING, np.int8(-1), kinds)


def _correlations_of_ids(database: Database, ids: Array) -> Array:
    """The number both ends of a task queue entry share: the lowest that CONNECTION_IDS lists for the id."""
    pairs = database.integers("CONNECTION_IDS", {"id": ["id"], "connection": ["connectionId"]})
    order = np.lexsort((pairs["connection"], pairs["id"]))
    known, numbers = pairs["id"][order], pairs["connection"][order]
    if not len(known):
        return np.full(len(ids), MISSING, np.int64)
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where((known[place] == ids) & (ids != MISSING), numbers[place], MISSING)


def _cann_calls(database: Database) -> dict[str, Values | NarrowColumn]:
    column = _columns_in_turn(database, "CANN_API")
    given = column("type")
    types = {**API_TYPES, **database.names("ENUM_API_TYPE")}
    connection = NarrowColumn.of(column("connection"))
    kinds = np.full(len(given), -1, np.int8)
    for number, name in types.items():
        if name in BY_TYPE:
            kinds[given == number] = _KIND_CODES[BY_TYPE[name]]
    return _columns_of_calls(column, kinds, database.event_names(column("name")).narrow(), connection)


def _garbage_collections(database: Database) -> dict[str, Values | NarrowColumn]:
    found = database.integers("GC_RECORD", _SPELLINGS)
    kinds = np.full(len(found["start"]), _KIND_CODES["gc"], np.int8)
    connection = NarrowColumn.of(found["connection"])
    return _columns_of_calls(found.__getitem__, kinds, Texts.constant("GC", len(kinds)), connection)


def _columns_of_calls(
    column: Callable[[str], Array], kinds: Array, name: Texts, connection: NarrowColumn
) -> dict[str, Values | NarrowColumn]:
    """The columns of the fact but the rank, of the calls that have a kind, a name, a begin and an end."""
    thread = _threads_of(column("thread"))
    start, end = column("start"), column("end")
    good: Array | slice = (kinds >= 0) & (name.codes >= 0) & are_spans(start, end)
    good = slice(None) if isinstance(good, np.ndarray) and good.all() else good
    kinds, name = kinds[good], Texts(name.codes[good], name.names)
    return {
        "start_ns": start[good],
        "end_ns": end[good],
        "connection": connection.take(good),
        "thread": thread.take(good),
        "kind": Texts(kinds, KINDS),
        **{name: texts.narrow() for name, texts in _names_and_activities(name, kinds).items()},
    }


def _threads_of(number: Array) -> NarrowColumn:
    """The ids of threads, narrow, from numbers that tell process and thread; these are no more than what it is made
    of."""
    np.bitwise_and(number, _THREAD_BITS, out=number, where=number != MISSING)
    return NarrowColumn.of(number)


HOST_CALLS = Reading(HostCall, {"text": _calls_from_text, "database": _calls_from_database})
