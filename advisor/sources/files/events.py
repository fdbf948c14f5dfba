# SPDX-License-Identifier: Apache-2.0
"""Chrome trace events as they are decoded, and a batch of them as columns.

Only what the facts need is declared; the decoder passes over everything else. Counters other than the AI Core
frequency, the traffic of memory and cache and the use of the host are dropped here, and of flows all but HostToDevice,
those from forward to backward operators, those between threads of MindSpore, and the beginnings of those from operators
to tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct, field

from advisor.facts.base import LARGEST, MISSING
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Odd
from advisor.sources.files.exact_time import exact_ns, ns_of
from advisor.sources.files.names import bounded_name
from advisor.units import LONGEST_US

FREQUENCY = "AI Core Freq"
SAMPLED = ("HBM ", "LLC ", "QoS ", "CPU ", "Memory Usage", "Disk Usage", "Network Usage")
"""How the names of counters begin that tell what the memory and its cache moved, and how the host was used."""
LINK = "HostToDevice"
OPERATOR_LINK = "async_npu"
"""Category of flows from an operator of the framework to the task it led to; their id is the start of the task: ns as
a whole number, or µs with a point, as MindSpore writes any moment."""
GRADIENT_LINK = "fwdbwd"
"""Category of flows from an operator of the forward pass to the one that computes its gradient."""
PASSED_TASK = "async_mindspore"
"""Category of flows from where a thread of MindSpore passes a task on to where another one begins it."""
OVERLAP = frozenset({"Computing", "Communication", "Communication(Not Overlapped)", "Free"})
"""Slices of the lane Overlap Analysis, which we draw ourselves: only their sums are kept, as a witness."""
PROCESS, THREAD, LABELS = "process_name", "thread_name", "process_labels"

EventValue = int | str | float | None
_SCALARS = frozenset((int, str, float))
_INT64 = range(-(2**63) + 1, 2**63)


class Args(Struct, gc=False):
    """The arguments of an event that are kept, under the spellings of all exporters."""

    connection: EventValue = msgspec.field(name="connection_id", default=MISSING)
    correlation: EventValue = msgspec.field(name="correlation_id", default=MISSING)
    task_type: str | None = msgspec.field(name="Task Type", default=None)
    physical_stream: EventValue = msgspec.field(name="Physic Stream Id", default=MISSING)
    stream: EventValue = msgspec.field(name="Stream Id", default=MISSING)
    size: EventValue = msgspec.field(name="data size(Byte)", default=None)
    size_newer: EventValue = msgspec.field(name="size(B)", default=None)
    direction: EventValue = msgspec.field(name="memcpy direction", default=None)
    direction_newer: EventValue = msgspec.field(name="operation", default=None)
    count: EventValue = None
    dtype: EventValue = msgspec.field(name="data_type", default=None)
    algorithm: EventValue = msgspec.field(name="alg_type", default=None)
    mhz: EventValue = msgspec.field(name="MHz", default=None)
    read_mbps: EventValue = msgspec.field(name="Read(MB/s)", default=None)
    write_mbps: EventValue = msgspec.field(name="Write(MB/s)", default=None)
    throughput_mbps: EventValue = msgspec.field(name="Throughput(MB/s)", default=None)
    hit_rate: EventValue = msgspec.field(name="Hit Rate(%)", default=None)
    usage: EventValue = msgspec.field(name="Usage(%)", default=None)
    class_mbps: EventValue = msgspec.field(name="bandwidth(MB/s)", default=None)
    value: object = None
    domain: EventValue = None
    source: EventValue = msgspec.field(name="src rank", default=MISSING)
    peer: EventValue = msgspec.field(name="dst rank", default=None)
    packet: EventValue = msgspec.field(name="size(Byte)", default=MISSING)
    autograd: EventValue = msgspec.field(name="Sequence number", default=MISSING)
    forward_thread: EventValue = msgspec.field(name="Fwd thread id", default=MISSING)
    name: object = None
    labels: object = None


class Event(Struct, gc=False):
    """One event whose `ts` is text."""

    ph: str
    name: str = ""
    cat: str | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    ts: str = ""
    dur: float = math.nan
    id: int | str | None = None
    args: Args | None = None


class NumberEvent(Struct, gc=False):
    """One event whose `ts` may be a JSON number, kept as it is written so that no digit is lost."""

    ph: str
    name: str = ""
    cat: str | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Raw = Raw(b"")
    dur: float = math.nan
    id: int | str | None = None
    args: Args | None = None


AnyEvent = Event | NumberEvent
_NO_ARGS = Args()


TRACK = "track"


class EventBatch(Struct):
    """A batch of events as columns, by part and name; coded columns number the piece's own distinct values."""

    parts: dict[str, dict[str, Array]] = field(default_factory=dict)
    distinct: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    """The distinct values behind a coded column, by part and name."""
    names: list[tuple[str, Hashable, Hashable, str]] = field(default_factory=list)
    """Names of processes and threads: kind, process, thread, name."""
    events: int = 0

    def code(self, part: str, column: str, values: Sequence[Hashable]) -> Array:
        """Numbers for values; the distinct ones are remembered, bytes as the text they are."""
        codes = _Codes()
        found = np.fromiter(map(codes.__getitem__, values), np.int32, len(values))
        self.distinct[part, column] = [_bounded(value) for value in codes]
        return found


def _bounded(value: Hashable) -> Hashable:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return bounded_name(text) if isinstance(text, str) else text


class EventFormat(Struct, frozen=True):
    """How one profiler writes its events, and what of them is kept."""

    types: tuple[type[Any], ...]
    """What an event may be decoded to, tried in turn."""
    columns: Callable[[Sequence[Any]], EventBatch]
    """The columns of a batch; raises Odd where one of its events is unusable."""
    from_json: Callable[[object], Any]
    """An event of freely decoded JSON, numbers with a point as text; None where nothing of its kind is kept."""
    check: Callable[[Any], Any]
    """An event that can be used, None where nothing of its kind is kept; raises Odd where it is unusable."""


class _Codes(dict[Any, int]):
    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


def columns_of_events(events: Sequence[AnyEvent]) -> EventBatch:
    """The columns of a batch.

    Raises:
        Odd: One of the events is unusable, though each has the declared types.
    """
    by_phase: dict[str, list[Any]] = {}
    for event in events:
        try:
            by_phase[event.ph].append(event)
        except KeyError:
            by_phase[event.ph] = [event]
    piece = EventBatch(events=len(events))
    _add_slices(piece, by_phase.get("X", []))
    for part, category in (("links", LINK), ("passed_tasks", PASSED_TASK)):
        starts, ends = ([e for e in by_phase.get(phase, []) if e.cat == category] for phase in "sf")
        _add_links(piece, part, starts, ends)
    _add_operator_links(piece, [e for e in by_phase.get("s", []) if e.cat == OPERATOR_LINK])
    add_gradient_links(piece, [e for phase in "sf" for e in by_phase.get(phase, []) if e.cat == GRADIENT_LINK])
    counters = by_phase.get("C", [])
    _add_frequencies(piece, [e for e in counters if e.name == FREQUENCY])
    sampled = {name for name in {e.name for e in counters} if name.startswith(SAMPLED)}
    _add_counters(piece, [e for e in counters if e.name in sampled] if sampled else [])
    piece.names = [
        (e.name, e.pid, e.tid, bounded_name(str(e.args.labels if e.name == LABELS else e.args.name)))
        for e in by_phase.get("M", [])
        if e.name in (PROCESS, THREAD, LABELS) and e.args is not None
    ]
    return piece


def _add_slices(piece: EventBatch, events: list[Any]) -> None:
    drawn = [e for e in events if e.name in OVERLAP and e.cat is None]
    if drawn:
        events = [e for e in events if e.name not in OVERLAP or e.cat is not None]
    _add_overlap(piece, drawn)
    args = [e.args or _NO_ARGS for e in events]
    starts = times_ns(events)
    us = durations_us(events)
    part = "slices"
    piece.parts[part] = {
        "name": piece.code(part, "name", [e.name for e in events]),
        "category": piece.code(part, "category", [e.cat for e in events]),
        "track": _tracks_of(piece, part, events),
        "start_ns": starts,
        "end_ns": starts + np.rint(us * 1000).astype(np.int64),
        "link": fill_missing(whole_numbers([a.connection for a in args]), whole_numbers([a.correlation for a in args])),
    }
    if "" in piece.distinct[part, "name"]:
        raise Odd(Message("name_is_missing"))
    _add_tasks(piece, args)
    _add_copies(piece, args)
    _add_payloads(piece, args)
    _add_exchanges(piece, args)
    _add_marks(piece, args)
    add_autograd(piece, args)


def _add_overlap(piece: EventBatch, events: list[Any]) -> None:
    """The length of all slices of each name together; not in whose lane they are, which no slice says."""
    us = durations_us(events)
    codes = piece.code("overlap", "name", [e.name for e in events])
    named = len(piece.distinct["overlap", "name"])
    sums = np.bincount(codes, weights=us, minlength=named).astype(np.float64)
    piece.parts["overlap"] = {"name": np.arange(named), "us": sums}


def durations_us(events: Sequence[Any]) -> Array:
    """How long each event lasts.

    Raises:
        Odd: One lasts no time that can be.
    """
    us = np.fromiter([e.dur for e in events], np.float64, len(events))
    if not ((us >= 0) & (us < LONGEST_US)).all():
        raise Odd(Message("duration_unusable"))
    return us


def _add_tasks(piece: EventBatch, args: list[Args]) -> None:
    rows = [i for i, a in enumerate(args) if a.task_type is not None]
    chosen = [args[i] for i in rows]
    piece.parts["tasks"] = {
        "row": np.array(rows, np.int64),
        "task_type": piece.code("tasks", "task_type", [a.task_type for a in chosen]),
        "stream": fill_missing(
            whole_numbers([a.physical_stream for a in chosen]), whole_numbers([a.stream for a in chosen])
        ),
    }


def _add_copies(piece: EventBatch, args: list[Args]) -> None:
    rows = [i for i, a in enumerate(args) if a.size is not None or a.size_newer is not None]
    chosen = [args[i] for i in rows]
    directions = [scalar_text(a.direction_newer if a.direction is None else a.direction) for a in chosen]
    piece.parts["copies"] = {
        "row": np.array(rows, np.int64),
        "size_bytes": finite_numbers([a.size_newer if a.size is None else a.size for a in chosen]),
        "direction": piece.code("copies", "direction", directions),
    }


def _add_payloads(piece: EventBatch, args: list[Args]) -> None:
    rows = [i for i, a in enumerate(args) if a.dtype is not None or a.algorithm is not None]
    chosen = [args[i] for i in rows]
    piece.parts["payloads"] = {
        "row": np.array(rows, np.int64),
        "count": finite_numbers([a.count for a in chosen]),
        "dtype": piece.code("payloads", "dtype", [scalar_text(a.dtype) for a in chosen]),
        "algorithm": piece.code("payloads", "algorithm", [scalar_text(a.algorithm) for a in chosen]),
    }


def _add_exchanges(piece: EventBatch, args: list[Args]) -> None:
    rows = [i for i, a in enumerate(args) if a.peer is not None]
    chosen = [args[i] for i in rows]
    piece.parts["exchanges"] = {
        "row": np.array(rows, np.int64),
        "source": whole_numbers([a.source for a in chosen]),
        "peer": whole_numbers([a.peer for a in chosen]),
        "size_bytes": whole_numbers([a.packet for a in chosen]),
    }


def _add_marks(piece: EventBatch, args: list[Args]) -> None:
    rows = [i for i, a in enumerate(args) if a.domain is not None]
    piece.parts["marks"] = {
        "row": np.array(rows, np.int64),
        "domain": piece.code("marks", "domain", [scalar_text(args[i].domain) for i in rows]),
    }


def _add_links(piece: EventBatch, part: str, starts: list[Any], ends: list[Any]) -> None:
    events = starts + ends
    high, low = wide_ids([e.id for e in events])
    piece.parts[part] = {
        "high": high,
        "low": low,
        "track": _tracks_of(piece, part, events),
        "time_ns": times_ns(events),
        "end": np.arange(len(events)) >= len(starts),
    }


def _add_operator_links(piece: EventBatch, starts: list[Any]) -> None:
    piece.parts["operator_links"] = {
        "operator_ns": times_ns(starts),
        "device_ns": _moments_of_ids([e.id for e in starts]),
    }


def _moments_of_ids(ids: Sequence[int | str | None]) -> Array:
    """The moment that each id of a flow tells, ns; missing where it tells none."""
    found = whole_numbers(ids)
    pointed = [row for row in np.flatnonzero(found == MISSING).tolist() if "." in str(ids[row])]
    texts = [str(ids[row]) for row in pointed]
    try:
        found[pointed] = exact_ns(texts)
    except Odd:  # that of another one tells all the same
        found[pointed] = [_moment_or_missing(text) for text in texts]
    return found


def _moment_or_missing(text: str) -> int:
    try:
        return int(exact_ns([text])[0])
    except Odd:
        return MISSING


def add_gradient_links(piece: EventBatch, events: Sequence[Any]) -> None:
    """Both ends of the flows between operators of the forward and the backward pass."""
    piece.parts["gradient_links"] = {
        "id": whole_numbers([e.id for e in events]),
        "time_ns": times_ns(events),
        "end": np.array([e.ph == "f" for e in events], bool),
    }


def add_autograd(piece: EventBatch, args: Sequence[Any]) -> None:
    """The slices that autograd numbered; -1 stands for none."""
    number = whole_numbers([a.autograd for a in args])
    rows = np.flatnonzero(number >= 0)
    threads = whole_numbers([args[row].forward_thread for row in rows.tolist()])
    piece.parts["autograd"] = {"row": rows, "number": number[rows], "backward": threads > 0}


def _add_frequencies(piece: EventBatch, events: list[Any]) -> None:
    values = [(e.args or _NO_ARGS).mhz for e in events]
    piece.parts["frequencies"] = {
        "track": _tracks_of(piece, "frequencies", events),
        "time_ns": times_ns(events),
        "mhz": finite_numbers(values),
    }


def _add_counters(piece: EventBatch, events: list[Any]) -> None:
    """What each counter says, whatever it counts: its name tells that."""
    piece.parts["counters"] = {
        "name": piece.code("counters", "name", [e.name for e in events]),
        "track": _tracks_of(piece, "counters", events),
        "time_ns": times_ns(events),
        "value": finite_numbers([_counted_value(e.args or _NO_ARGS) for e in events]),
    }


def _counted_value(said: Args) -> EventValue:
    """The value that a counter has, under the heading its profiler gives it."""
    if type(said.value) in _SCALARS:  # most of them
        return said.value  # type: ignore[return-value]
    named = said.read_mbps, said.write_mbps, said.throughput_mbps, said.hit_rate, said.usage, said.class_mbps
    return next((value for value in named if value is not None), None)


def _tracks_of(piece: EventBatch, part: str, events: Sequence[Any]) -> Array:
    return piece.code(part, TRACK, [(e.pid, e.tid) for e in events])


def times_ns(events: Sequence[Any]) -> Array:
    """When each event begins, as its `ts` says.

    Raises:
        Odd: One says no time.
    """
    texts = [e.ts for e in events]
    return exact_ns(_texts_of_raw(texts) if texts and isinstance(texts[0], Raw) else texts)


def _texts_of_raw(values: Sequence[Raw]) -> list[str]:
    """Numbers or texts of JSON as they are written, without quotes."""
    texts = b",".join(values).decode("ascii", "replace").replace('"', "").split(",")
    if len(texts) != len(values):  # one holds a comma, and so is no number
        return [bytes(value).decode("ascii", "replace").strip('"') for value in values]
    return texts


def scalar_text(value: EventValue) -> str | None:
    """A value as text."""
    return value if value is None or isinstance(value, str) else str(value)


def fill_missing(first: Array, second: Array) -> Array:
    """The first number of each row, else the second."""
    return np.where(first == MISSING, second, first)


def whole_numbers(values: Sequence[EventValue]) -> Array:
    """Whole numbers as int64; what is none, or does not fit, is missing."""
    try:
        return np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(_whole_number, values), np.int64, len(values))


def _whole_number(value: EventValue) -> int:
    try:
        found = int(value) if value is not None else MISSING
    except (ValueError, OverflowError):
        return MISSING
    return found if found in _INT64 else MISSING


def finite_numbers(values: Sequence[EventValue]) -> Array:
    """Numbers as float64; what is none, or not finite, is missing."""
    try:
        found = np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array([finite_number(value) for value in values], np.float64)
    return np.where(np.abs(found) < LARGEST, found, np.nan)


def finite_number(value: EventValue) -> float:
    """A value as a number; what is none, or not finite, is NaN."""
    try:
        found = float(value) if value is not None else math.nan
    except (ValueError, OverflowError):
        return math.nan
    return found if abs(found) < LARGEST else math.nan


def wide_ids(ids: Sequence[int | str | None]) -> tuple[Array, Array]:
    """Ids of up to 126 bits, exactly, as two columns of int64.

    Raises:
        Odd: An id is missing, or is no such number.
    """
    try:
        found = [int(i) for i in ids]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Odd(Message("link_id_no_number")) from None
    if any(i < 0 or i >> 126 for i in found):
        raise Odd(Message("link_id_too_large"))
    mask = 2**63 - 1
    return np.array([i >> 63 for i in found], np.int64), np.array([i & mask for i in found], np.int64)


def usable_event(found: object) -> Event | None:
    """An event from freely decoded JSON, numbers with a point as text; None when nothing of its kind is kept.

    Raises:
        Odd: It is of a kind that is kept, and unusable.
    """
    if not isinstance(found, dict):
        raise Odd(Message("event_no_object"))
    phase, name, category, identity = (found.get(key) for key in ("ph", "name", "cat", "id"))
    if not isinstance(phase, str):
        raise Odd(Message("event_without_phase"))
    duration, args = found.get("dur"), found.get("args")
    return check_event(
        Event(
            phase,
            clean_text(name) if isinstance(name, str) else "",
            clean_text(category) if isinstance(category, str) else None,
            pid_or_tid(found.get("pid")),
            pid_or_tid(found.get("tid")),
            str(found.get("ts", "")),
            finite_number(duration) if isinstance(duration, int | float | str) else math.nan,
            identity if isinstance(identity, int | str) else None,
            _kept_arguments(args) if isinstance(args, dict) else None,
        )
    )


def check_event(event: Event) -> Event | None:
    """The event when it can be used, None when nothing of its kind is kept.

    Raises:
        Odd: It is of a kind that is kept, and unusable.
    """
    phase = event.ph
    linked = phase in ("s", "f") and event.cat in (LINK, PASSED_TASK)
    of_operator = (phase == "s" and event.cat == OPERATOR_LINK) or is_gradient_link(event)
    counted = phase == "C" and (event.name == FREQUENCY or event.name.startswith(SAMPLED))
    if not (linked or of_operator or counted or phase in ("X", "M")):
        return None
    if not (event.name or of_operator):
        raise Odd(Message("name_is_missing"))
    if phase == "X" and not 0 <= event.dur < LONGEST_US:
        raise Odd(Message("duration_unusable"))
    if linked:
        wide_ids([event.id])
    if phase != "M":
        if not event.ts:
            raise Odd(Message("time_is_missing"))
        ns_of(event.ts)
    return event


def is_gradient_link(event: Any) -> bool:
    """Whether an event is one end of a flow from the forward to the backward pass."""
    return event.ph in ("s", "f") and event.cat == GRADIENT_LINK


def clean_text(text: str) -> str:
    """Text without lone surrogates, which no file could be written with."""
    return text.encode("utf-8", "replace").decode("utf-8")


def pid_or_tid(value: object) -> int | str | None:
    """A process or thread, whatever it was written as."""
    return value if value is None or type(value) is int else str(value)


_ARGUMENTS: tuple[tuple[str, str], ...] = tuple((f.name, f.encode_name) for f in msgspec.structs.fields(Args))


def _kept_arguments(found: dict[str, Any]) -> Args:
    return Args(**{name: _clean_argument(name, found[key]) for name, key in _ARGUMENTS if key in found})


def _clean_argument(name: str, value: object) -> Any:
    if name == "task_type":
        return clean_text(value) if isinstance(value, str) else None
    return clean_text(value) if isinstance(value, str) else value if type(value) in _SCALARS else None


ASCEND_EVENTS = EventFormat((Event, NumberEvent), columns_of_events, usable_event, check_event)
"""The timeline as torch_npu and msprof write it."""
