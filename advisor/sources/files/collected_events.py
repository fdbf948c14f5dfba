# SPDX-License-Identifier: Apache-2.0
"""The events of a Chrome trace as columns: exact times, memory bounded by what is kept, damage left out and noted."""

from __future__ import annotations

import gc
from collections.abc import Hashable
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, Texts
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.model.progress import Progress, silent
from advisor.sources.files import chunks
from advisor.sources.files.damage_notes import Notes, Odd, Unreadable
from advisor.sources.files.decoding import EventBatches
from advisor.sources.files.events import LABELS, PROCESS, THREAD, TRACK, EventBatch, EventFormat, whole_numbers
from advisor.sources.files.packed import TraceFile

KEY = "traceEvents"


class Tracks(Struct, frozen=True):
    """The rows of the picture: one per pair of process and thread."""

    process: Texts
    """Name of the process, such as `CANN`; missing when the file never says."""
    thread: Texts
    """Name of the thread, such as `Stream 2`."""
    number: Array
    """Thread number; a stream on the device."""

    labels: Texts
    """What the process is labelled with, such as `NPU 0`."""

    def of(self, *processes: str) -> Array:
        """Per track: whether it belongs to one of these processes."""
        return self.process.isin(processes)


class _Growing:
    """Columns filled in place. Room is made for the whole file from how much its first pieces gave."""

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = max(total_bytes, 1)
        self.length = 0
        self._columns: dict[str, Array] = {}

    def add(self, piece: dict[str, Array], seen_bytes: int) -> None:
        end = self.length + len(next(iter(piece.values())))
        for name, values in piece.items():
            held = self._columns.get(name)
            if held is None or len(held) < end:
                held = self._columns[name] = self._make_room(held, values.dtype, end, seen_bytes)
            held[self.length : end] = values
        self.length = end

    def _make_room(self, held: Array | None, dtype: np.dtype[Any], end: int, seen_bytes: int) -> Array:
        expected = int(end * self.total_bytes / max(seen_bytes, 1) * 1.05)
        room: Array = np.empty(max(expected, end + end // 2, 16), dtype)
        if held is not None:
            room[: self.length] = held[: self.length]
        return room

    def __getitem__(self, name: str) -> Array:
        return self._columns[name][: self.length]


class CollectedEvents:
    """Pieces put together: one numbering of texts and tracks, one array per column."""

    def __init__(self, total_bytes: int) -> None:
        self.events = 0
        self._total_bytes = total_bytes
        self._seen_bytes = 0
        self.parts: dict[str, _Growing] = {}
        """The columns of each part by name."""
        self._codes: dict[tuple[str, str], dict[Any, int]] = {}
        self._names: dict[tuple[str, Hashable, Hashable], str] = {}

    def add(self, piece: EventBatch, size: int) -> None:
        self._seen_bytes += size
        self.events += piece.events
        for (part, column), distinct in piece.distinct.items():
            codes = self._codes_of_column(part, column)
            lookup = np.array([-1 if v is None else codes.setdefault(v, len(codes)) for v in distinct], np.int32)
            values = piece.parts[part]
            values[column] = lookup[values[column]] if distinct else values[column]
        before = self.parts["slices"].length if "slices" in self.parts else 0
        for part, values in piece.parts.items():
            if "row" in values:
                values["row"] = values["row"] + before
            self.parts.setdefault(part, _Growing(self._total_bytes)).add(values, self._seen_bytes)
        for kind, process, thread, name in piece.names:
            self._names[kind, process, thread if kind == THREAD else None] = name

    def _codes_of_column(self, part: str, column: str) -> dict[Any, int]:
        """All tracks are numbered together, whichever part they are met in."""
        return self._codes.setdefault(("", TRACK) if column == TRACK else (part, column), {})

    def texts(self, part: str, column: str) -> Texts:
        """A coded column with what its codes stand for."""
        return Texts(self.parts[part][column], tuple(self._codes[part, column]))

    def tracks(self) -> Tracks:
        """Every track that an event was met on."""
        known = list(self._codes["", TRACK])
        return Tracks(
            Texts.of(self._names.get((PROCESS, process, None)) for process, _ in known),
            Texts.of(self._names.get((THREAD, process, thread)) for process, thread in known),
            whole_numbers([thread for _, thread in known]),
            Texts.of(self._names.get((LABELS, process, None)) for process, _ in known),
        )


def collect_events(
    trace: TraceFile,
    events: EventFormat,
    notes: Notes,
    *,
    jobs: int = 1,
    chunk: int = chunks.CHUNK,
    progress: Progress = silent,
    into: CollectedEvents | None = None,
) -> CollectedEvents:
    """The events of a file; after those of other files of the same timeline with `into`.

    Events that cannot be used are left out and noted with the byte where they begin; so is the end of a file that was
    cut off.

    Raises:
        Unreadable: The file holds no events, or cannot be opened.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with trace.open() as file:
            layout = chunks.find_array(file, KEY)
        pieces = EventBatches(trace, events, layout, chunk)
        collected = into or CollectedEvents(layout.end - layout.start)
        before = collected.events
        for span, piece in pieces(jobs):
            collected.add(piece, span.end - span.start)
            progress("timeline", span.end, layout.end)
        pieces.tell(notes, collected.events - before)
    except (OSError, chunks.NoEvents) as wrong:
        what = wrong.what if isinstance(wrong, Odd) else Message("file_unreadable", why=reason_of_error(wrong))
        notes.add(trace.path.name, "", what, kind="unreadable")
        raise Unreadable(trace.path.name, what) from wrong
    else:
        return collected
    finally:
        if collecting:
            gc.enable()
