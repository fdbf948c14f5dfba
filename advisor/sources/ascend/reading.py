# SPDX-License-Identifier: Apache-2.0
"""Description: the capture of one rank, as it is known before it is read; Folder: the same, opened."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from advisor.facts.base import Column, Fact
from advisor.facts.observed import (
    ApiTotal,
    Damage,
    DeviceTask,
    GradientLink,
    HostCall,
    Kernel,
    Launch,
    ModuleRange,
    OperatorCall,
    OperatorLink,
    OperatorTotal,
    PeerWait,
)
from advisor.facts.table import Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.model.progress import Progress, silent
from advisor.sources.ascend.exact_moments import DETAILS, with_exact_moments
from advisor.sources.ascend.known_tables import find_foreign_tables
from advisor.sources.ascend.msprof import missing_slices
from advisor.sources.ascend.tables_beside import TablesBeside
from advisor.sources.family import GroupMembers, LeftAside
from advisor.sources.files import csvfile, timeline
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.database import NOBODY, Database, Shared, open_readonly, rows_there
from advisor.sources.files.rows_read import COUNTED, RowsRead
from advisor.sources.files.timeline import TraceTimeline
from advisor.sources.reading import Reading, read_best
from advisor.sources.shared.ascend_names import PROFILER_DATABASE
from advisor.sources.shared.environment_snapshot import FILE_NAME

if TYPE_CHECKING:
    import sqlite3


F = TypeVar("F", bound=Fact)
T = TypeVar("T")


SMALL_ROWS = 256
"""Tables of up to so many rows are remembered; they weigh less than a page of a file."""

EXPORTS = ("database", "text")
"""What the profilers export, the better one first, but for MindSpore's (`Folder.exports`)."""

_DEVICE = "device of the row"
_DEVICE_COLUMN = Column("Device on its host; `host` for what belongs to none.", "text")

ABOUT = ("profiler_info.json", "profiler_metadata.json")
"""Files about the recording itself; a database export has them too."""


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:  # whoever reads it says what is wrong
        return True


class Shelf:
    """What is open now: one folder at a time, so that memory stays at the size of the largest rank."""

    def __init__(self) -> None:
        self._owner: Folder | None = None

    def take(self, folder: Folder) -> None:
        """Make room for a folder: whatever another one kept is let go."""
        if self._owner is not None and self._owner is not folder:
            self._owner.release()
        self._owner = folder

    def leave(self, folder: Folder) -> None:
        """What a folder kept is let go: it is held here no longer."""
        if self._owner is folder:
            self._owner = None

    def __getstate__(self) -> dict[str, object]:
        return {"_owner": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self._owner = None


@dataclass(frozen=True, eq=False)
class Description:
    """The capture of one rank, known before a table of it is read: which files it has, and its place in the run."""

    rank: int
    root: Path
    """The `*_ascend_pt` folder, or the folder of a lone file."""
    output: Path
    """Its ASCEND_PROFILER_OUTPUT."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Text files by name, such as `kernel_details.csv`; `profiler_info.json` and `profiler_metadata.json` too. Those of
    msprof stand under the name that torch_npu gives the same (`msprof.FILES`)."""
    more: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """Further parts of a text file, in order: msprof cuts long ones, and old versions wrote one for each iteration."""
    databases: Mapping[str, Path] = field(default_factory=dict)
    """`profiler` (ascend_pytorch_profiler*.db) and `analysis` (analysis.db), where they are there."""
    name: str = ""
    """What it is called: the path of its folder relative to the input, or of its lone file; empty when its folder is
    the input."""
    lone: str = ""
    """The name of the one file that is the capture, where it has a name of its own or lies beside those of others."""
    below_input: bool = False
    """Whether it lies below the folder that was given, so that the folder above it may be read too."""
    size_bytes: int = 0
    groups: Mapping[str, GroupMembers] = field(default_factory=dict)
    """The groups that its rank is in by communicator hash (`groups.communicator_hash` gives it from a name)."""
    groups_by_senders: Mapping[str, GroupMembers] = field(default_factory=dict)
    """Where no groups are named: those whose members follow from who sends what."""
    groups_of_run: Mapping[str, GroupMembers] | None = None
    """All groups of the run, in the one folder that gives them as a fact, for all."""
    stage: int | None = None
    """The pipeline stage of its rank; None where it is unknown."""
    aside: tuple[LeftAside, ...] = ()
    """What was left aside in it; the first capture tells as well what lies in none."""
    other_captures: int = 0
    """Further captures of the same rank that were left aside."""
    at_once_captures: int = 0
    """Those of them that another process recorded at the same time."""
    by_msprof: bool = False
    """Whether msprof recorded it, and no framework."""
    device: int | None = None
    """The device on its host, where files of several devices are read; None where all rows are of one."""
    named_device: int | None = None
    """The device on its host, where a folder is named after it."""

    @property
    def folder_name(self) -> str:
        """Where its files lie, relative to the input; empty when they lie in it."""
        return self.name.removesuffix(self.lone).removesuffix("/")

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that facts are read from."""
        further = (path for parts in self.more.values() for path in parts)
        return (*self.files.values(), *further, *self.databases.values())

    @property
    def sole_rank(self) -> int:
        """The rank of all its rows."""
        return self.rank

    @property
    def rests_on(self) -> tuple[Path, ...]:
        """Its folder with all that lies below, and what may be told of the machine beside it."""
        beside = (self.root.parent / FILE_NAME,) if self.below_input else ()
        return (*self.paths, self.root, self.output, *beside)

    @property
    def exports_text(self) -> bool:
        """Whether there are text files beside what the profiler wrote down about itself."""
        return any(name not in ABOUT for name in self.files)

    def file(self, name: str) -> Path | None:
        """The path of a text file, or None."""
        return self.files.get(name)

    def parts(self, name: str) -> tuple[Path, ...]:
        """All parts of a text file, in order; none where it is not there. Empty ones count where there is no other."""
        found = self.every_part(name)
        return tuple(path for path in found if len(found) == 1 or _has_bytes(path)) or found[:1]

    def every_part(self, name: str) -> tuple[Path, ...]:
        """The same with empty ones."""
        return (*((self.files[name],) if name in self.files else ()), *self.more.get(name, ()))

    def whole_files(self) -> dict[str, Path]:
        """The text files that are not cut into several."""
        return {name: path for name, path in self.files.items() if not self.more.get(name)}

    def need(self, fact: type[Fact], name: str) -> Path:
        """The path of a text file that a fact is read from.

        Raises:
            FactMissing: It is not there.
        """
        if name not in self.files:
            raise FactMissing([fact.table], self.unusable(name))
        return self.files[name]

    def unusable(self, name: str) -> tuple[str, ...]:
        """The name of a text file that lies there and is not read: packed, a pipe, a link to nothing."""
        return (name,) if name not in self.files and os.path.lexists(self.output / name) else self.packed(name)

    def packed(self, name: str) -> tuple[str, ...]:
        """The name of a text file that lies there only packed with gzip, which is not read; nothing otherwise."""
        there = name not in self.files and (self.output / f"{name}.gz").is_file()
        return (f"{name}.gz",) if there else ()


def _of_device(columns: dict[str, Values], device: int) -> dict[str, Values]:
    """Only the rows of one device, and those that belong to none."""
    devices = columns.pop(_DEVICE, None)
    if not isinstance(devices, Texts):
        return columns
    others = [name for name in devices.names if name.isdecimal() and int(name) != device]
    keep = ~devices.isin(others)
    return {name: found.take(keep) if isinstance(found, Texts) else found[keep] for name, found in columns.items()}


SHARED: Mapping[str, Sequence[str]] = {
    "TASK": ("startNs", "endNs", "connectionId", "globalTaskId", "taskType", "streamId"),
    "COMPUTE_TASK_INFO": (
        *("globalTaskId", "name", "opType", "taskType", "opState", "blockNum", "blockDim"),
        *("inputShapes", "inputDataTypes", "inputFormats", "outputShapes", "hf32Eligible"),
    ),
    "CANN_API": ("startNs", "endNs", "type", "globalTid", "connectionId", "name"),
    "PYTORCH_API": ("startNs", "endNs", "type", "globalTid", "connectionId", "name"),
    "CONNECTION_IDS": ("id", "connectionId"),
}
"""Columns of the profiler database that more than one fact among the events is made of."""

READERS: Mapping[str, frozenset[type[Fact]]] = {
    "TASK": frozenset([DeviceTask, Kernel, Launch, OperatorLink, OperatorTotal, PeerWait]),
    "COMPUTE_TASK_INFO": frozenset([DeviceTask, Kernel, Launch, OperatorLink, OperatorTotal]),
    "CANN_API": frozenset([ApiTotal, HostCall, Kernel, Launch]),
    "PYTORCH_API": frozenset([GradientLink, HostCall, Kernel, ModuleRange, OperatorCall, OperatorLink]),
    "CONNECTION_IDS": frozenset([GradientLink, HostCall, Kernel, OperatorLink]),
}
"""Per table the facts that are made of those columns, of most captures. When all were read the columns are let go;
what is asked for after that is read anew."""


@dataclass
class Kept:
    """What has been opened or read of a capture."""

    decoded: dict[str, Any] = field(default_factory=dict)
    small: dict[type[Fact], Table[Any]] = field(default_factory=dict)
    """Small tables read before: opening the input asks for some that rules ask for again."""
    facts: set[type[Fact]] = field(default_factory=set)
    """Those that were read, or looked for."""
    beside: TablesBeside | None = None
    """Its text tables with those of others that are read next, until `release`."""
    nameless: dict[str, set[int]] = field(default_factory=dict)
    """By database: the ids met so far of names that are gone."""
    rows_read: RowsRead | None = None
    """Counts for `progress` what is read of the databases."""


@dataclass(frozen=True, eq=False)
class Folder(Description):
    """An opened capture: all that describes it, how its facts are read, and what of it is open now."""

    readings: Sequence[Reading[Folder, Any]] = ()
    """How each fact is read; of what is not among them `read` knows nothing."""
    notes: Notes = field(default_factory=Notes)
    jobs: int = 1
    """Processes that may decode its timeline."""
    progress: Progress = silent
    """Told how much of the timeline is decoded, in bytes, or of the databases read; only for the only folder."""
    shelf: Shelf = field(default_factory=Shelf)
    _kept: Kept = field(default_factory=Kept, repr=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made once and kept until `release`: a decoded file that several facts need."""
        if name not in self._kept.decoded:
            self.shelf.take(self)
            self._kept.decoded[name] = make()
        return cast("T", self._kept.decoded[name])

    @property
    def by_mindspore(self) -> bool:
        """Whether MindSpore's profiler wrote it, as the names of folder and database say."""
        named = PROFILER_DATABASE.match(self.databases["profiler"].name) if "profiler" in self.databases else None
        return self.root.name.endswith("_ascend_ms") or (named is not None and named[1] == "mindspore")

    @property
    def exports(self) -> tuple[str, ...]:
        """The exports that it may hold, the better one first. A database of MindSpore is that of msprof, which knows
        neither what the framework called nor its steps: a timeline beside it tells more."""
        if not self.databases:
            return EXPORTS[1:]
        return EXPORTS[::-1] if self.by_mindspore and self.parts("trace_view.json") else EXPORTS

    @property
    def timeline_name(self) -> str:
        """The name of the file with the timeline, of which damage is told."""
        return self.parts("trace_view.json")[0].name

    def timeline(self) -> TraceTimeline:
        """The decoded trace_view.json.

        Raises:
            FactMissing: There is none.
            Unreadable: There is one, and nothing of it can be read.
        """
        return self.once("timeline", self._read_timeline)

    def _read_timeline(self) -> TraceTimeline:
        if "trace_view.json" not in self.files:
            raise FactMissing(["host_calls"], self.unusable("trace_view.json"))
        first, *others = self._noted_parts("trace_view.json")
        found = timeline.read_timeline(
            first, self.notes, self.jobs, progress=self.progress, more=others, device=self.device
        )
        return with_exact_moments(found, first.name, self.notes, self.parts(DETAILS))

    def _noted_parts(self, name: str) -> tuple[Path, ...]:
        """The parts of a text file; those that are empty, and slices that are gone, are noted."""
        found, held = self.every_part(name), self.parts(name)
        for path in set(found).difference(held):
            self.notes.add(path.name, "", Message("holds_nothing"), kind="unreadable")
        for lost in missing_slices(path.name for path in found):
            self.notes.add(lost, "", Message("slice_is_gone"), kind="unreadable")
        return held

    def columns(
        self,
        fact: type[Fact],
        name: str,
        headings: Mapping[str, Sequence[str]],
        required: Iterable[str] = (),
        also: Mapping[str, Column] | None = None,
    ) -> dict[str, Values]:
        """The columns of a fact, and `also` others, that a text file holds; rows of other devices are left out.

        Raises:
            FactMissing: It is not there.
            Unreadable: It cannot be read.
        """
        self.need(fact, name)
        wanted = {**fact.columns(), **(also or {})}
        if self.device is None:
            parts, required = self._noted_parts(name), tuple(required)
            beside = self._kept.beside
            found = None if beside is None else beside.take(parts[0], name, wanted, headings, required)
            return csvfile.read_parts(parts, wanted, headings, self.notes, required) if found is None else found
        found = csvfile.read_parts(
            self._noted_parts(name),
            {**wanted, _DEVICE: _DEVICE_COLUMN},
            {**headings, _DEVICE: ("Device_id",)},
            self.notes,
            required,
        )
        return _of_device(found, self.device)

    def read_beside(self, others: Sequence[object]) -> None:
        """Tells that these, itself among them, are read next: their small text tables are then parsed together."""
        folders = [one for one in others if isinstance(one, Folder)]
        tables = TablesBeside([one.whole_files() for one in folders if one.device is None])
        for one in folders:
            one._kept.beside = tables

    def read_alone(self) -> None:
        """Tells that what is read from now on is read of this one, and not of others."""
        self._kept.beside = None

    def connection(self, which: str) -> sqlite3.Connection:
        """The database `profiler` or `analysis`, opened read-only.

        Raises:
            FactMissing: There is none.
            Unreadable: There is one, and it is no database, or no profiler wrote it.
        """
        return self.once(f"database {which}", lambda: self._open_database(which))

    def database(self, which: str = "profiler") -> Database:
        """The same with its columns: where its damage is noted, and who is told of the rows read.

        Raises:
            FactMissing: There is none.
            Unreadable: There is one, and it is no database, or no profiler wrote it.
        """
        last = [table for table, readers in READERS.items() if len(readers - self._kept.facts) == 0]
        shared = Shared(SHARED, self.once(f"columns {which}", dict), frozenset(last))
        connection, file = self.connection(which), self.databases[which].name
        nameless = self._kept.nameless.setdefault(which, set())
        return Database(connection, file, self.notes, self.rows_told(), self.device, shared, nameless)

    def rows_told(self) -> RowsRead:
        """What tells of the rows read of the databases; where nobody listens, none are counted."""
        if self.progress is silent:
            return NOBODY
        if self._kept.rows_read is None:
            self._kept.rows_read = RowsRead(self.progress, self._rows_there())
        return self._kept.rows_read

    def _rows_there(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for which in self.databases:
            with contextlib.suppress(Unreadable):  # said when a table is read
                found |= rows_there(self.connection(which), COUNTED[which])
        return found

    def _open_database(self, which: str) -> sqlite3.Connection:
        if which not in self.databases:
            raise FactMissing([which])
        path = self.databases[which]
        connection = open_readonly(path, self.notes)
        foreign = find_foreign_tables(connection)
        if foreign is not None:
            connection.close()
            self.notes.add(path.name, "", foreign, kind="unreadable")
            raise Unreadable(path.name, foreign)
        return connection

    def release(self) -> None:
        """Let go of everything that was opened or decoded; reading again opens it again."""
        for which in ("profiler", "analysis"):
            connection = self._kept.decoded.get(f"database {which}")
            if connection is not None:
                connection.close()
        self._kept.decoded.clear()
        self._kept.facts.clear()
        self._kept.beside = None
        self.shelf.leave(self)

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact, from the better export where it holds them, else from the other.

        Raises:
            FactMissing: Neither holds it, or what holds it cannot be read.
        """
        if fact in self._kept.small:
            return self._kept.small[fact]
        self._kept.facts.add(fact)
        try:
            table = read_best(self.readings, fact, self, self.exports)
        finally:
            self._let_go_columns()
        if len(table) <= SMALL_ROWS and fact is not Damage:
            self._kept.small[fact] = table
        return table

    def _let_go_columns(self) -> None:
        """Lets go of columns of the database of which all was made that is made of them."""
        kept = self._kept.decoded.get("columns profiler", {})
        for table, column in list(kept):
            if READERS[table] <= self._kept.facts:
                del kept[table, column]

    def __getstate__(self) -> dict[str, object]:
        kept = Kept(small=self._kept.small)
        return {**self.__dict__, "_kept": kept, "shelf": Shelf(), "progress": silent}
