# SPDX-License-Identifier: Apache-2.0
"""TraceDescription: the trace of one rank, as it is known before it is read; Trace: the same, opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from msgspec import Struct, structs

from advisor.facts.base import MISSING, Fact
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.model.progress import Progress, silent
from advisor.sources.family import GroupMembers, LeftAside
from advisor.sources.files.collected_events import CollectedEvents, Tracks, collect_events
from advisor.sources.files.damage_notes import OUTRUN, SHORTENED, TRUNCATED, Notes
from advisor.sources.files.database import match_keys
from advisor.sources.files.events import TRACK
from advisor.sources.files.packed import TraceFile, open_trace
from advisor.sources.files.timeline import AutogradNumbers, GradientArrows
from advisor.sources.kineto.cut_traces import launches_past_device, whole_until
from advisor.sources.kineto.header import TraceHeader
from advisor.sources.kineto.kernel_names import is_communication
from advisor.sources.kineto.trace_events import EVENTS
from advisor.sources.reading import Reading, read_best
from advisor.sources.shared.environment_snapshot import FILE_NAME
from advisor.sources.shared.pytorch_words import STEP_NAME

F = TypeVar("F", bound=Fact)
T = TypeVar("T")

EXPORT = "trace"
"""The one export there is."""
KERNELS = ("kernel", "Kernel")
"""Categories of functions that run on the device, of the model or of collectives, new and old."""
COPIES = ("gpu_memcpy", "Memcpy", "mlu_memcpy", "GCU_MEMCPY")
"""Those of copies, under the names of Kineto and of its variants for the devices of Cambricon and Enflame."""
FILLS = ("gpu_memset", "Memset", "mlu_memset", "GCU_MEMSET")
"""Those of memory that is set to a value."""
WORK = (*KERNELS, *COPIES, *FILLS)
"""Categories of all that runs on the device."""
ON_HOST = ("user_annotation", "cpu_op", "Operator")
"""Categories of operators and ranges of the program; marks of steps are among them."""
CALLS = (
    *("cuda_runtime", "cuda_driver", "Runtime"),
    *("xpu_runtime", "xpu_driver", "privateuse1_runtime", "privateuse1_driver"),
    *("mlu_runtime", "gcu_runtime", "gcu_driver"),
)
"""Categories of calls into the software of the device; those of ROCm have the names of CUDA's. Devices that PyTorch
does not know by name have those of `privateuse1`."""


class TraceSlices(Struct, frozen=True):
    """Events with a duration, in the order of the file."""

    name: Texts
    category: Texts
    track: Array
    start_ns: Array
    end_ns: Array
    correlation: Array
    """Shared by device work and the call that launched it; MISSING for all else."""
    external: Array
    """Shared by a framework operator and what it launched."""

    def of(self, *categories: str) -> Array:
        """The rows of these categories."""
        return np.flatnonzero(self.category.isin(categories))


class WorkDetails(Struct, frozen=True):
    """What is known of device work; `row` counts slices."""

    row: Array
    stream: Array
    blocks: Array
    size_bytes: Array


class OperatorShapes(Struct, frozen=True):
    """Inputs of framework operators, as JSON; `row` counts slices."""

    row: Array
    dims: Texts
    types: Texts
    arguments: Texts
    """Further arguments of operators that compute attention; empty of others."""


class CollectivePayloads(Struct, frozen=True):
    """What collectives are and carry; `row` counts slices."""

    row: Array
    op: Texts
    group: Texts
    dtype: Texts
    elements: Array


class MemoryStates(Struct, frozen=True):
    """What the allocator held, moment by moment."""

    time_ns: Array
    device: Array
    """Type of the device, 0 for the host."""
    number: Array
    """Which of them."""
    allocated: Array
    reserved: Array


class TraceContent(Struct, frozen=True):
    """What is kept of one trace."""

    tracks: Tracks
    slices: TraceSlices
    work: WorkDetails
    shapes: OperatorShapes
    collectives: CollectivePayloads
    memory: MemoryStates
    gradient_links: GradientArrows
    autograd: AutogradNumbers
    whole_until_ns: int | None = None
    """Of a file that ends early: what begins on the host from then on is left out, marks of steps aside."""


@dataclass(frozen=True, eq=False)
class TraceDescription:
    """The trace of one rank, known before an event of it is read."""

    rank: int
    path: Path
    name: str
    """How damage names its folder: the path relative to the input, empty when it is the input."""
    header: TraceHeader
    size_bytes: int = 0
    device: int | None = None
    """The one device whose work counts; None where all of it does."""
    groups: Mapping[str, GroupMembers] = field(default_factory=dict)
    """The groups of the whole run by name."""
    carries_groups: bool = True
    """Whether this trace gives the groups of the run as a fact: one trace does, for all."""
    aside: tuple[LeftAside, ...] = ()
    """What of the whole input was left aside: one trace tells it, for all."""
    other_captures: int = 0
    """Further traces of the same rank that were left aside."""
    at_once_captures: int = 0
    """Those of them that another process recorded at the same time."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file that every fact is read from."""
        return (self.path,)

    @property
    def sole_rank(self) -> int:
        """The rank of all its rows."""
        return self.rank

    @property
    def rests_on(self) -> tuple[Path, ...]:
        """The file, and what may be told of the machine beside it."""
        return (self.path, self.path.parent / FILE_NAME)

    @property
    def chip(self) -> str:
        """The device of the rank: the one that its kernels ran on, else the one that all of its host are."""
        return self.header.chip_of(self.own_devices)

    @property
    def own_devices(self) -> tuple[int, ...]:
        """The numbers of the devices whose work counts."""
        return self.header.devices if self.device is None else (self.device,)


@dataclass(frozen=True, eq=False)
class Trace(TraceDescription):
    """An opened trace: all that describes it, how its facts are read, and what of it is decoded now."""

    readings: Sequence[Reading[Trace, Any]] = ()
    notes: Notes = field(default_factory=Notes)
    jobs: int = 1
    """Processes that may decode it."""
    progress: Progress = silent
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made once and kept until `release`."""
        if name not in self._kept:
            self._kept[name] = make()
        return cast("T", self._kept[name])

    def content(self) -> TraceContent:
        """The decoded events.

        Raises:
            Unreadable: Nothing of the file can be read.
        """
        return self.once("content", self._decode)

    def _decode(self) -> TraceContent:
        trace = self._kept.pop("file", None) or open_trace(self.path, self.notes)
        try:
            found = collect_events(trace, EVENTS, self.notes, jobs=self.jobs, progress=self.progress)
        finally:
            trace.close()
        content = self._content_of(found)
        return self._whole_part_of(content)

    def _content_of(self, found: CollectedEvents) -> TraceContent:
        slices, work, shapes, collectives, memory = (
            found.parts[part] for part in ("slices", "work", "shapes", "collectives", "memory")
        )
        gradients = found.parts["gradient_links"]
        return TraceContent(
            found.tracks(),
            TraceSlices(
                name=found.texts("slices", "name"),
                category=self._own_categories(found.texts("slices", "category"), work["row"], work["device"]),
                track=slices[TRACK],
                start_ns=slices["start_ns"] + self.header.base_ns,
                end_ns=slices["end_ns"] + self.header.base_ns,
                correlation=_correlations(slices["correlation"], slices["external"], work["row"]),
                external=np.where(slices["external"] > 0, slices["external"], MISSING),
            ),
            WorkDetails(work["row"], work["stream"], work["blocks"], work["size_bytes"]),
            OperatorShapes(shapes["row"], *(found.texts("shapes", name) for name in ("dims", "types", "arguments"))),
            CollectivePayloads(
                row=collectives["row"],
                op=found.texts("collectives", "op"),
                group=found.texts("collectives", "group"),
                dtype=found.texts("collectives", "dtype"),
                elements=collectives["elements"],
            ),
            MemoryStates(
                time_ns=memory["time_ns"] + self.header.base_ns,
                device=memory["device"],
                number=memory["number"],
                allocated=memory["allocated"],
                reserved=memory["reserved"],
            ),
            GradientArrows(gradients["id"], gradients["time_ns"] + self.header.base_ns, gradients["end"]),
            AutogradNumbers(*(found.parts["autograd"][name] for name in ("row", "number", "backward"))),
        )

    def _whole_part_of(self, content: TraceContent) -> TraceContent:
        """What counts of a file that ends early, as a whole or of the device: all before the first step that it does
        not hold whole, if one is."""
        slices, is_truncated = content.slices, self.notes.any_of(TRUNCATED)
        calls, work = slices.of(*CALLS), slices.of(*WORK)
        missing = 0 if is_truncated or self.device is not None else self._launches_past_device(slices)
        if not is_truncated and not missing:
            return content
        step = slices.name.hits(STEP_NAME.fullmatch(name) is not None for name in slices.name.names)
        marks = step & slices.category.isin(ON_HOST)
        until = whole_until(
            *(slices.name, slices.start_ns, slices.end_ns, slices.correlation),
            calls=calls,
            kernels=slices.of(*KERNELS),
            marks=np.flatnonzero(marks),
        )
        if until is None:
            return content
        if is_truncated:
            self.notes.recast(TRUNCATED, SHORTENED)
        else:
            self.notes.add(self.path.name, "", Message("device_ends_early"), kind=OUTRUN, rows=missing)
        call = values_at(calls, match_keys(slices.correlation[calls], slices.correlation[work]), -1)
        begun = slices.start_ns.copy()
        begun[work] = values_at(slices.start_ns, call, MISSING)
        codes = np.where((begun >= until) & ~marks, -1, slices.category.codes)
        counted = structs.replace(slices, category=Texts(codes.astype(np.int32), slices.category.names))
        return structs.replace(content, slices=counted, whole_until_ns=until)

    def _launches_past_device(self, slices: TraceSlices) -> int:
        """How many kernels the program launched after the last that is known of the device."""
        calls, kernels = slices.of(*CALLS), slices.of(*KERNELS)
        return launches_past_device(slices.name, slices.start_ns, slices.correlation, calls=calls, kernels=kernels)

    def _own_categories(self, category: Texts, work: Array, device: Array) -> Texts:
        """The categories of slices, missing for work on another device: what has none is not read."""
        if self.device is None:
            return category
        codes = category.codes.copy()
        codes[work[(device != self.device) & (device != MISSING)]] = -1
        return Texts(codes, category.names)

    def launching_calls(self, rows: Array) -> Array:
        """For each of these slices on the device the slice of the call that launched it, -1 where none is known."""
        calls = self.once("calls", lambda: self.content().slices.of(*CALLS))
        correlation = self.content().slices.correlation
        return values_at(calls, match_keys(correlation[calls], correlation[rows]), -1)

    def work_of_collectives(self) -> Array:
        """Per slice: whether it is device work that carries out a collective."""
        return self.once("collectives", self._find_work_of_collectives)

    def _find_work_of_collectives(self) -> Array:
        slices = self.content().slices
        rows = slices.of(*KERNELS)
        names = slices.name.take(rows).in_use()  # the names of what runs on the host are many more
        found = np.zeros(len(slices.track), bool)
        found[rows] = names.hits(is_communication(name) for name in names.names)
        return found

    def release(self) -> None:
        """Let go of everything that was decoded; reading again decodes it again."""
        if (file := self._kept.get("file")) is not None:
            file.close()
        self._kept.clear()

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact.

        Raises:
            FactMissing: The trace does not hold it, or cannot be read.
        """
        return read_best(self.readings, fact, self, (EXPORT,))

    def alone(self, jobs: int, progress: Progress, file: TraceFile | None) -> Trace:
        """The only trace of a run: so many processes decode it, and somebody is told how far they are.

        `file` is the trace where it was opened before: what was unpacked then is decoded.
        """
        return replace(self, jobs=jobs, progress=progress, _kept={"file": file} if file is not None else {})

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_kept": {}, "progress": silent}


def _correlations(correlation: Array, external: Array, work: Array) -> Array:
    """Per slice the number that device work shares with the call that launched it; MISSING for all else.

    Where no work on the device has a correlation, as in some traces of ROCm, its `External id` is that number.
    """
    found = np.where(correlation > 0, correlation, MISSING)
    if (found[work] == MISSING).all() and (external[work] > 0).any():
        return np.where((found == MISSING) & (external > 0), external, found)
    return found


def place_in(listed: Array, rows: Array) -> Array:
    """Where these rows stand in an ascending list of some, -1 where they do not."""
    place = np.searchsorted(listed, rows)
    return np.where(np.append(listed, -1)[place] == rows, place, -1)


def pick_texts(texts: Texts, place: Array) -> Texts:
    """The texts at these places, missing where the place is -1."""
    return Texts(values_at(texts.codes, place, -1).astype(np.int32), texts.names)


def rows_or_missing(rows: Array, fact: type[Fact]) -> Array:
    """These rows, where there are any.

    Raises:
        FactMissing: There are none.
    """
    if not len(rows):
        raise FactMissing([fact.table])
    return rows
