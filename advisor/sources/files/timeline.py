# SPDX-License-Identifier: Apache-2.0
"""What is kept of a timeline as torch_npu and msprof write it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts
from advisor.messages.message import Message
from advisor.model.progress import Progress, silent
from advisor.sources.files import chunks
from advisor.sources.files.collected_events import CollectedEvents, Tracks, collect_events
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.events import ASCEND_EVENTS, TRACK
from advisor.sources.files.packed import TraceFile

_DEVICE = re.compile(r"NPU (\d{1,4})")
_OF_ARROWS = ("high", "low", TRACK, "time_ns", "end")


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


class Exchanges(Struct, frozen=True):
    """Tasks of collectives between two ranks, as numbered in their communicator; `row` counts slices."""

    row: Array
    source: Array
    """The rank that was recorded."""
    peer: Array
    size_bytes: Array
    """Of data or a signal; all are missing where they are no whole numbers."""


class ArrowEnds(Struct, frozen=True):
    """Both ends of arrows between lanes, matched by `high` and `low`, the two halves of their id."""

    high: Array
    low: Array
    track: Array
    time_ns: Array
    end: Array


class OperatorArrows(Struct, frozen=True):
    """Arrows from operators of the framework to the tasks they led to: the moments at which both begin."""

    operator_ns: Array
    device_ns: Array


class Marks(Struct, frozen=True):
    """Slices that the program marked in a domain of its own; `row` counts slices."""

    row: Array
    domain: Texts


class GradientArrows(Struct, frozen=True):
    """Both ends of the arrows from operators of the forward pass to those of the backward pass."""

    id: Array
    time_ns: Array
    end: Array

    def pairs(self) -> tuple[Array, Array]:
        """When both operators of each arrow begin; an end belongs to the last start of its number before it."""
        order = np.lexsort((self.end, self.time_ns, self.id))
        order = order[self.id[order] != MISSING]
        number, moment, end = self.id[order], self.time_ns[order], self.end[order]
        after = np.flatnonzero(end[1:] & ~end[:-1] & (number[1:] == number[:-1])) + 1
        return moment[after - 1], moment[after]

    def count_torn(self) -> tuple[int, int]:
        """How many arrows have one end alone, and how many there are; a profiler draws both or none."""
        begun, ended = (np.unique(self.id[(self.end == end) & (self.id != MISSING)]) for end in (False, True))
        return len(np.setxor1d(begun, ended, assume_unique=True)), len(np.union1d(begun, ended))


class AutogradNumbers(Struct, frozen=True):
    """What autograd numbered; `row` counts slices."""

    row: Array
    number: Array
    backward: Array


class Frequencies(Struct, frozen=True):
    """The counter AI Core Freq."""

    time_ns: Array
    mhz: Array


class Counters(Struct, frozen=True):
    """Counters of memory and cache, `HBM 0/Read` and the like (MB/s, or a part of one), and of the host (per cent)."""

    name: Texts
    time_ns: Array
    value: Array


class TraceTimeline(Struct, frozen=True):
    """What is kept of one trace."""

    overlap_us: Mapping[str, float]
    """Lengths of the slices of the lane Overlap Analysis together, by their names."""

    tracks: Tracks
    slices: Slices
    tasks: Tasks
    copies: Copies
    payloads: Payloads
    exchanges: Exchanges
    links: ArrowEnds
    """Arrows HostToDevice."""
    passed_tasks: ArrowEnds
    """Arrows from one thread of MindSpore to another."""
    operator_links: OperatorArrows
    gradient_links: GradientArrows
    autograd: AutogradNumbers
    marks: Marks
    frequencies: Frequencies
    counters: Counters


def read_timeline(  # noqa: PLR0917 - which files, and how they are read
    path: Path,
    notes: Notes,
    jobs: int = 1,
    chunk: int = chunks.CHUNK,
    progress: Progress = silent,
    more: Sequence[Path] = (),
    device: int | None = None,
) -> TraceTimeline:
    """The timeline in a file, and in `more` where it was cut into several; with `device` that of one of its devices.

    Events that cannot be used are left out and noted with the byte where they begin; so is the end of a file that was
    cut off.

    Raises:
        Unreadable: The file holds no events, or cannot be opened.
    """
    found: CollectedEvents | None = None
    wrong: Unreadable | None = None
    for part in (path, *more):
        try:
            found = collect_events(
                TraceFile(part), ASCEND_EVENTS, notes, jobs=jobs, chunk=chunk, progress=progress, into=found
            )
        except Unreadable as one:
            wrong = one
    if found is None:
        raise wrong or Unreadable(path.name, Message("holds_nothing"))
    return _timeline_of_events(found, device)


def _timeline_of_events(found: CollectedEvents, device: int | None) -> TraceTimeline:
    slices, tasks, copies, payloads, links, operator_links, frequencies = (
        found.parts[part]
        for part in ("slices", "tasks", "copies", "payloads", "links", "operator_links", "frequencies")
    )
    gradients, exchanges = found.parts["gradient_links"], found.parts["exchanges"]
    passed = found.parts["passed_tasks"]
    tracks = found.tracks()
    others = _on_other_devices(tracks, device)
    kept = ~(links["end"] & others[links[TRACK]])
    counters = found.parts["counters"]
    counted, clocked = (~others[part[TRACK]] for part in (counters, frequencies))
    return TraceTimeline(
        _overlap_sums(found) if device is None else {},
        replace(tracks, process=_without_names(tracks.process, others)),
        Slices(
            name=found.texts("slices", "name"),
            category=found.texts("slices", "category"),
            track=slices[TRACK],
            start_ns=slices["start_ns"],
            end_ns=slices["end_ns"],
            link=slices["link"],
        ),
        Tasks(tasks["row"], found.texts("tasks", "task_type"), tasks["stream"]),
        Copies(copies["row"], copies["size_bytes"], found.texts("copies", "direction")),
        Payloads(
            row=payloads["row"],
            count=payloads["count"],
            dtype=found.texts("payloads", "dtype"),
            algorithm=found.texts("payloads", "algorithm"),
        ),
        Exchanges(*(exchanges[name] for name in ("row", "source", "peer", "size_bytes"))),
        ArrowEnds(*(links[name][kept] for name in _OF_ARROWS)),
        ArrowEnds(*(passed[name] for name in _OF_ARROWS)),
        OperatorArrows(operator_links["operator_ns"], operator_links["device_ns"]),
        GradientArrows(gradients["id"], gradients["time_ns"], gradients["end"]),
        AutogradNumbers(*(found.parts["autograd"][name] for name in ("row", "number", "backward"))),
        Marks(found.parts["marks"]["row"], found.texts("marks", "domain")),
        Frequencies(*(frequencies[name][clocked] for name in ("time_ns", "mhz"))),
        Counters(
            found.texts("counters", "name").take(counted), *(counters[name][counted] for name in ("time_ns", "value"))
        ),
    )


def _on_other_devices(tracks: Tracks, device: int | None) -> Array:
    """Per track: whether it is labelled as one of another device, as `NPU 1` is where this is device 0."""
    told = [_DEVICE.fullmatch(label) for label in tracks.labels.names]
    found = tracks.labels.hits(device is not None and one is not None and int(one[1]) != device for one in told)
    return np.append(found, False)


def _without_names(names: Texts, hidden: Array) -> Texts:
    """The names, missing where they are hidden: what has none belongs to no lane that is read."""
    return Texts(np.where(hidden[: len(names)], -1, names.codes).astype(np.int32), names.names)


def _overlap_sums(found: CollectedEvents) -> dict[str, float]:
    part, names = found.parts["overlap"], found.texts("overlap", "name").names
    sums = np.bincount(part["name"], weights=part["us"], minlength=len(names))
    return dict(zip(names, sums.tolist(), strict=True))
