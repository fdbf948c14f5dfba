# SPDX-License-Identifier: Apache-2.0
"""The events of a trace as the PyTorch profiler writes them, and a batch of them as columns.

Kept are events with a duration, what is known of work on the device and of collectives, the shapes of operators, and
the state of the memory. Of arrows those between the forward and the backward pass are; others are not, for device work
and the call that launched it share their correlation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Odd
from advisor.sources.files.events import (
    GRADIENT_LINK,
    PROCESS,
    THREAD,
    TRACK,
    EventBatch,
    EventFormat,
    EventValue,
    add_autograd,
    add_gradient_links,
    clean_text,
    durations_us,
    fill_missing,
    finite_number,
    finite_numbers,
    is_gradient_link,
    pid_or_tid,
    scalar_text,
    times_ns,
    whole_numbers,
)
from advisor.sources.files.exact_time import ns_of
from advisor.sources.files.names import bounded_name
from advisor.sources.kineto.attention import ATTENTION
from advisor.units import LONGEST_US

MEMORY = "[memory]"
"""Name of the events that tell what the allocator holds."""
_NOTHING = Raw(b"")


class KinetoArgs(Struct, gc=False):
    """The arguments that are kept, under the spellings of all versions."""

    correlation: EventValue = MISSING
    external: EventValue = msgspec.field(name="External id", default=MISSING)
    external_older: EventValue = msgspec.field(name="external id", default=MISSING)
    stream: EventValue = None
    queue: EventValue = msgspec.field(name="sycl queue", default=None)
    device: EventValue = None
    grid: Raw = _NOTHING
    size: EventValue = msgspec.field(name="bytes", default=None)
    dims: Raw = msgspec.field(name="Input Dims", default=_NOTHING)
    dims_older: Raw = msgspec.field(name="Input dims", default=_NOTHING)
    types: Raw = msgspec.field(name="Input type", default=_NOTHING)
    concrete_inputs: Raw = msgspec.field(name="Concrete Inputs", default=_NOTHING)
    collective: EventValue = msgspec.field(name="Collective name", default=None)
    elements: EventValue = msgspec.field(name="In msg nelems", default=None)
    dtype: EventValue = None
    group: EventValue = msgspec.field(name="Process Group Name", default=None)
    memory_device: EventValue = msgspec.field(name="Device Type", default=None)
    memory_number: EventValue = msgspec.field(name="Device Id", default=None)
    allocated: EventValue = msgspec.field(name="Total Allocated", default=None)
    reserved: EventValue = msgspec.field(name="Total Reserved", default=None)
    autograd: EventValue = msgspec.field(name="Sequence number", default=MISSING)
    forward_thread: EventValue = msgspec.field(name="Fwd thread id", default=MISSING)
    name: object = None


class KinetoEvent(Struct, gc=False):
    """One event; its time is kept as it is written, so that no digit is lost."""

    ph: str
    name: str = ""
    cat: str | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Raw = _NOTHING
    dur: float = math.nan
    id: int | str | None = None
    args: KinetoArgs | None = None


_NO_ARGS = KinetoArgs()


def columns_of_events(events: Sequence[KinetoEvent]) -> EventBatch:
    """The columns of a batch.

    Raises:
        Odd: One of the events is unusable, though each has the declared types.
    """
    batch = EventBatch(events=len(events))
    _add_slices(batch, [event for event in events if event.ph == "X"])
    add_gradient_links(batch, [event for event in events if event.cat == GRADIENT_LINK and event.ph in ("s", "f")])
    _add_memory(batch, [event for event in events if event.ph == "i" and event.name == MEMORY])
    batch.names = [
        (event.name, event.pid, event.tid, bounded_name(str(event.args.name)))
        for event in events
        if event.ph == "M" and event.name in (PROCESS, THREAD) and event.args is not None
    ]
    return batch


def _add_slices(batch: EventBatch, events: list[KinetoEvent]) -> None:
    args = [event.args or _NO_ARGS for event in events]
    starts = times_ns(events)
    part = "slices"
    batch.parts[part] = {
        "name": batch.code(part, "name", [event.name for event in events]),
        "category": batch.code(part, "category", [event.cat for event in events]),
        TRACK: batch.code(part, TRACK, [(event.pid, event.tid) for event in events]),
        "start_ns": starts,
        "end_ns": starts + np.rint(durations_us(events) * 1000).astype(np.int64),
        "correlation": whole_numbers([a.correlation for a in args]),
        "external": fill_missing(
            whole_numbers([a.external for a in args]), whole_numbers([a.external_older for a in args])
        ),
    }
    if "" in batch.distinct[part, "name"]:
        raise Odd(Message("name_is_missing"))
    _add_device_work(batch, args)
    _add_shapes(batch, args, [event.name for event in events])
    _add_collectives(batch, args)
    add_autograd(batch, args)


def _add_device_work(batch: EventBatch, args: list[KinetoArgs]) -> None:
    streams = [a.queue if a.stream is None else a.stream for a in args]
    rows = [row for row, stream in enumerate(streams) if stream is not None]
    chosen = [args[row] for row in rows]
    batch.parts["work"] = {
        "row": np.array(rows, np.int64),
        "stream": whole_numbers([streams[row] for row in rows]),
        "device": whole_numbers([a.device for a in chosen]),
        "blocks": _blocks_of_grids([bytes(a.grid) for a in chosen]),
        "size_bytes": finite_numbers([a.size for a in chosen]),
    }


def _blocks_of_grids(grids: Sequence[bytes]) -> Array:
    """How many blocks grids are made of, as JSON; few are different."""
    blocks = {grid: _blocks_of_grid(grid) for grid in set(grids)}
    return np.array([blocks[grid] for grid in grids], np.float64)


def _blocks_of_grid(grid: bytes) -> float:
    try:
        sizes = msgspec.json.decode(grid, type=list[int])
    except msgspec.DecodeError:
        return math.nan
    return finite_number(math.prod(sizes)) if sizes else math.nan


def _add_shapes(batch: EventBatch, args: list[KinetoArgs], names: list[str]) -> None:
    known = [bytes(a.dims) or bytes(a.dims_older) for a in args]
    rows = [row for row, dims in enumerate(known) if dims]
    batch.parts["shapes"] = {
        "row": np.array(rows, np.int64),
        "dims": batch.code("shapes", "dims", [known[row] for row in rows]),
        "types": batch.code("shapes", "types", [bytes(args[row].types) for row in rows]),
        "arguments": batch.code(
            "shapes",
            "arguments",
            [bytes(args[row].concrete_inputs) if names[row] in ATTENTION else b"" for row in rows],
        ),
    }


def _raw_text(raw: Raw) -> str:
    return bytes(raw).decode("utf-8", "replace")


def _add_collectives(batch: EventBatch, args: list[KinetoArgs]) -> None:
    rows = [row for row, a in enumerate(args) if a.collective is not None]
    chosen = [args[row] for row in rows]
    batch.parts["collectives"] = {
        "row": np.array(rows, np.int64),
        "op": batch.code("collectives", "op", [scalar_text(a.collective) for a in chosen]),
        "group": batch.code("collectives", "group", [scalar_text(a.group) for a in chosen]),
        "dtype": batch.code("collectives", "dtype", [scalar_text(a.dtype) for a in chosen]),
        "elements": finite_numbers([a.elements for a in chosen]),
    }


def _add_memory(batch: EventBatch, events: list[KinetoEvent]) -> None:
    args = [event.args or _NO_ARGS for event in events]
    batch.parts["memory"] = {
        "time_ns": times_ns(events),
        "device": whole_numbers([a.memory_device for a in args]),
        "number": whole_numbers([a.memory_number for a in args]),
        "allocated": finite_numbers([a.allocated for a in args]),
        "reserved": finite_numbers([a.reserved for a in args]),
    }


def check_event(event: KinetoEvent) -> KinetoEvent | None:
    """The event when it can be used, None when nothing of its kind is kept.

    Raises:
        Odd: It is of a kind that is kept, and unusable.
    """
    told = event.ph == "i" and event.name == MEMORY
    linked = is_gradient_link(event)
    if not (told or linked or event.ph in ("X", "M")):
        return None
    if not (event.name or linked):
        raise Odd(Message("name_is_missing"))
    if event.ph == "X" and not 0 <= event.dur < LONGEST_US:
        raise Odd(Message("duration_unusable"))
    if event.ph != "M":
        moment = _raw_text(event.ts).strip('"')
        if not moment:
            raise Odd(Message("time_is_missing"))
        ns_of(moment)
    return event


def usable_event(found: object) -> KinetoEvent | None:
    """An event from freely decoded JSON, numbers with a point as text; None when nothing of its kind is kept.

    Raises:
        Odd: It is of a kind that is kept, and unusable.
    """
    if not isinstance(found, dict):
        raise Odd(Message("event_no_object"))
    phase, name, category, args, identity = (found.get(key) for key in ("ph", "name", "cat", "args", "id"))
    if not isinstance(phase, str):
        raise Odd(Message("event_without_phase"))
    duration = found.get("dur")
    return check_event(
        KinetoEvent(
            phase,
            clean_text(name) if isinstance(name, str) else "",
            clean_text(category) if isinstance(category, str) else None,
            pid_or_tid(found.get("pid")),
            pid_or_tid(found.get("tid")),
            Raw(str(found.get("ts", "")).encode("utf-8", "replace")),
            finite_number(duration) if isinstance(duration, int | float | str) else math.nan,
            identity if isinstance(identity, int | str) else None,
            _kept_arguments(args) if isinstance(args, dict) else None,
        )
    )


_ARGUMENTS: tuple[tuple[str, str], ...] = tuple((f.name, f.encode_name) for f in msgspec.structs.fields(KinetoArgs))
_RAW = frozenset(f.name for f in msgspec.structs.fields(KinetoArgs) if f.type is Raw)


def _kept_arguments(found: dict[str, Any]) -> KinetoArgs:
    return KinetoArgs(**{name: _clean_argument(name, found[key]) for name, key in _ARGUMENTS if key in found})


def _clean_argument(name: str, value: object) -> Any:
    if name in _RAW:
        return Raw(json.dumps(value).encode("utf-8", "replace"))
    return clean_text(value) if isinstance(value, str) else value if type(value) in (int, float) else None


EVENTS = EventFormat((KinetoEvent,), columns_of_events, usable_event, check_event)
"""The events of a trace of the PyTorch profiler."""
