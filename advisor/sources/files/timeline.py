# SPDX-License-Identifier: Apache-2.0
"""The events of a Chrome trace as columns: exact times, memory bounded by what is kept, damage left out and noted."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.progress import Progress, silent
from advisor.regular_files import open_regular
from advisor.sources.files import chunks
from advisor.sources.files.damage_notes import Notes, Odd, Unreadable
from advisor.sources.files.decoding import EventBatches
from advisor.sources.files.events import PROCESS, THREAD, TRACK, EventBatch, whole_numbers

KEY = "traceEvents"


class Tracks(Struct, frozen=True):
    """The rows of the picture: one per pair of process and thread."""

    process: Texts
    """Name of the process, such as `CANN`; missing when the file never says."""
    thread: Texts
    """Name of the thread, such as `Stream 2`."""
    number: Array
    """Thread number; a stream on the device."""

    def of(self, *processes: str) -> Array:
        """Per track: whether it belongs to one of these processes."""
        return self.process.isin(processes)


class Slices(Struct, frozen=True):
    """Events with a duration."""

    name: Texts
    category: Texts
    track: Array
    start_ns: Array
    end_ns: Array
    link: Array
    """connection_id, or correlation_id of the task queue."""

    def __len__(self) -> int:
        return len(self.track)


class Tasks(Struct, frozen=True):
    """Type and stream of slices that are tasks of the device; `row` counts slices, ascending."""

    row: Array
    task_type: Texts
    stream: Array

    def of(self, rows: Array) -> tuple[Texts, Array]:
        """Type and stream of each of these slices, missing for those that have none."""
        place = np.searchsorted(self.row, rows)
        known = np.append(self.row, -1)[place] == rows
        codes = np.where(known, np.append(self.task_type.codes, -1)[place], -1)
        return Texts(codes.astype(np.int32), self.task_type.names), np.where(
            known, np.append(self.stream, MISSING)[place], MISSING
        )


class Copies(Struct, frozen=True):
    """Size and direction of slices that have them; `row` counts slices."""

    row: Array
    size_bytes: Array
    direction: Texts


class Payloads(Struct, frozen=True):
    """What collectives carry; `row` counts slices."""

    row: Array
    count: Array
    dtype: Texts
    algorithm: Texts


class LaunchArrows(Struct, frozen=True):
    """Both ends of HostToDevice arrows, matched by `high` and `low`, the two halves of their id."""

    high: Array
    low: Array
    track: Array
    time_ns: Array
    end: Array


class OperatorArrows(Struct, frozen=True):
    """Arrows from operators of the framework to the tasks they led to: the moments at which both begin."""

    operator_ns: Array
    device_ns: Array


class Frequencies(Struct, frozen=True):
    """The counter AI Core Freq."""

    time_ns: Array
    mhz: Array


class TraceTimeline(Struct, frozen=True):
    """What is kept of one trace."""

    overlap_us: Mapping[str, float]
    """Lengths of the slices of the lane Overlap Analysis together, by their names."""

    tracks: Tracks
    slices: Slices
    tasks: Tasks
    copies: Copies
    payloads: Payloads
    links: LaunchArrows
    operator_links: OperatorArrows
    frequencies: Frequencies


def read_timeline(
    path: Path, notes: Notes, jobs: int = 1, chunk: int = chunks.CHUNK, progress: Progress = silent
) -> TraceTimeline:
    """The timeline in a file.

    Events that cannot be used are left out and noted with the byte where they begin; so is the end of a file that was
    cut off.

    Raises:
        Unreadable: The file holds no events, or cannot be opened.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with open_regular(path) as file:
            layout = chunks.find_array(file, KEY)
        pieces = EventBatches(path, layout, chunk)
        collected = _Collected(layout.end - layout.start)
        for span, piece in pieces(jobs):
            collected.add(piece, span.end - span.start)
            progress("timeline", span.end, layout.end)
        pieces.tell(notes, collected.events)
        return collected.timeline()
    except (OSError, chunks.NoEvents) as wrong:
        what = wrong.what if isinstance(wrong, Odd) else Message("file_unreadable", why=reason_of_error(wrong))
        notes.add(path.name, "", what, kind="unreadable")
        raise Unreadable(path.name, what) from wrong
    finally:
        if collecting:
            gc.enable()


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


class _Collected:
    """Pieces put together: one numbering of texts and tracks, one array per column."""

    def __init__(self, total_bytes: int) -> None:
        self.events = 0
        self._total_bytes = total_bytes
        self._seen_bytes = 0
        self._parts: dict[str, _Growing] = {}
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
        before = self._parts["slices"].length if "slices" in self._parts else 0
        for part, values in piece.parts.items():
            if "row" in values:
                values["row"] = values["row"] + before
            self._parts.setdefault(part, _Growing(self._total_bytes)).add(values, self._seen_bytes)
        for kind, process, thread, name in piece.names:
            self._names[kind, process, None if kind == PROCESS else thread] = name

    def _codes_of_column(self, part: str, column: str) -> dict[Any, int]:
        """All tracks are numbered together, whichever part they are met in."""
        return self._codes.setdefault(("", TRACK) if column == TRACK else (part, column), {})

    def timeline(self) -> TraceTimeline:
        slices, tasks, copies, payloads, links, operator_links, frequencies = (
            self._parts[part]
            for part in ("slices", "tasks", "copies", "payloads", "links", "operator_links", "frequencies")
        )
        return TraceTimeline(
            self._overlap_sums(),
            self._named_tracks(),
            Slices(
                name=self._texts_of_column("slices", "name"),
                category=self._texts_of_column("slices", "category"),
                track=slices[TRACK],
                start_ns=slices["start_ns"],
                end_ns=slices["end_ns"],
                link=slices["link"],
            ),
            Tasks(tasks["row"], self._texts_of_column("tasks", "task_type"), tasks["stream"]),
            Copies(copies["row"], copies["size_bytes"], self._texts_of_column("copies", "direction")),
            Payloads(
                row=payloads["row"],
                count=payloads["count"],
                dtype=self._texts_of_column("payloads", "dtype"),
                algorithm=self._texts_of_column("payloads", "algorithm"),
            ),
            LaunchArrows(links["high"], links["low"], links[TRACK], links["time_ns"], links["end"]),
            OperatorArrows(operator_links["operator_ns"], operator_links["device_ns"]),
            Frequencies(frequencies["time_ns"], frequencies["mhz"]),
        )

    def _overlap_sums(self) -> dict[str, float]:
        part, names = self._parts["overlap"], list(self._codes["overlap", "name"])
        sums = np.bincount(part["name"], weights=part["us"], minlength=len(names))
        return dict(zip(names, sums.tolist(), strict=True))

    def _texts_of_column(self, part: str, column: str) -> Texts:
        return Texts(self._parts[part][column], tuple(self._codes[part, column]))

    def _named_tracks(self) -> Tracks:
        known = list(self._codes["", TRACK])
        return Tracks(
            Texts.of(self._names.get((PROCESS, process, None)) for process, _ in known),
            Texts.of(self._names.get((THREAD, process, thread)) for process, thread in known),
            whole_numbers([thread for _, thread in known]),
        )
