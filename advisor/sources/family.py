# SPDX-License-Identifier: Apache-2.0
"""What a family of sources is: how what one profiler writes is recognised, opened, and refused.

A family has a folder beside this module and a line in `families`. A folder that may hold a profile is listed; the
first family that recognises anything there has it. All captures of a family below the input are opened together, for
which ranks a job had, and who stood where, is told by all of them and by no single one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec
from msgspec import Struct

from advisor.facts.rank_facts import Source
from advisor.messages.errors import InputError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.model.progress import Progress, silent
from advisor.model.run import Run
from advisor.sources.listing import Listing
from advisor.sources.recorder_hints import UNTOLD, RecorderHints

FolderKind = Literal["capture", "summary", "unparsed", "foreign", "hollow", "inner"]
"""What was recognised: a capture of one rank or more; a summary of a whole job, which is opened where there is no
capture; recorded data that nobody parsed; output of a tool that is not read; output without a single file; what lies
inside of the output of a capture, and is another one."""


@runtime_checkable
class HoldsFiles(Protocol):
    """A source that says which files it is read from."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that facts are read from."""
        ...


def paths_of_source(source: Source) -> tuple[Path, ...]:
    """The files that a source is read from; nothing where it does not say."""
    return source.paths if isinstance(source, HoldsFiles) else ()


@runtime_checkable
class KnowsPlace(Protocol):
    """A source that says which rank it is of, and how damage names its folder."""

    @property
    def rank(self) -> int: ...
    @property
    def name(self) -> str:
        """The path relative to the input; empty when it is the input."""
        ...


def place_of_source(source: Source) -> tuple[int, str]:
    """The rank of a source, and the name of its folder; rank 0 where it does not say."""
    rank, name = (source.rank, source.name) if isinstance(source, KnowsPlace) else (0, "")
    return rank, name or next((path.parent.name for path in paths_of_source(source)), "")


@runtime_checkable
class RestsOnFiles(Protocol):
    """A source that says what must not change for its facts to stay the same."""

    @property
    def rests_on(self) -> tuple[Path, ...]:
        """Every file that may be read, also one that is not there yet, and folders of which any file may be."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something a family recognises, and the folder it is known by. Families add what they need to open it."""

    root: Path
    kind: FolderKind = field(default="capture", kw_only=True)


class GroupMembers(Struct, frozen=True):
    """One communication group: what it is for (tp, pp, dp …; empty when unknown) and its global ranks in order."""

    kind: str
    ranks: tuple[int, ...]


class Job(Struct, frozen=True):
    """What a summary beside the captures tells of the whole job."""

    ranks: tuple[int, ...] = ()
    groups: Mapping[str, GroupMembers] = msgspec.field(default_factory=dict)
    stages: tuple[tuple[int, ...], ...] = ()


class LeftAside(Struct, frozen=True):
    """Something that may belong to the profile and was not looked into: its name relative to the input, and why."""

    name: str
    what: Message


class Input(Struct, frozen=True):
    """What is opened: the path as it was given, and what is known and wanted of all that lies there."""

    path: Path
    job: Job = msgspec.field(default_factory=Job)
    jobs: int | None = None
    """Processes that may decode a single capture; None for as many as there are cores."""
    progress: Progress = silent
    aside: tuple[LeftAside, ...] = ()
    """To be told as damage."""


class Inventory(Struct):
    """Everything of interest below a path."""

    candidates: dict[str, list[Candidate]] = msgspec.field(default_factory=dict)
    """What each family recognised, by the name of the family."""
    json: list[Path] = msgspec.field(default_factory=list)
    """Files that may be traces of somebody else."""
    unreadable: dict[Path, Message] = msgspec.field(default_factory=dict)
    """Folders that cannot be listed, and why."""
    packed: list[Path] = msgspec.field(default_factory=list)
    """Archives, and files that are read once they are unpacked."""
    aside: list[LeftAside] = msgspec.field(default_factory=list)
    """What bears a name that a family reads, and is no file and no folder."""
    files: int = 0

    def of(self, family: str, kind: FolderKind) -> list[Candidate]:
        """What one family recognised of one kind, in the order of the walk."""
        return [candidate for candidate in self.candidates.get(family, ()) if candidate.kind == kind]

    def every(self, kind: FolderKind) -> list[Candidate]:
        """What was recognised of one kind by whatever family."""
        return [candidate for family in self.candidates for candidate in self.of(family, kind)]


class Family(Struct, frozen=True):
    """What one profiler writes: three functions and what to ask people for.

    `detect` says what a listed folder, or the one file that was given of it, holds of this family. `open` makes of
    its captures, in order of their folder, or of its summary, the run and its sources: the run is complete before the
    first table is read.
    """

    name: str
    detect: Callable[[Listing], Iterable[Candidate]]
    open: Callable[[Sequence[Candidate], Input], tuple[Run, list[Source]]]
    exports: frozenset[str] = frozenset()
    """What `Capture.source` says of its captures; none where it gives those of others."""
    hints: Callable[[Run], RecorderHints | None] = lambda _: UNTOLD
    """How to have what was not recorded, in the words of the profiler; None where the facts themselves say it."""
    wanted: Text | None = None
    """What to give; None where people never begin with it."""
    rare: bool = False
    """Whether hardly anything is recorded so any more: people are asked for it last."""
    inner: Callable[[Listing], frozenset[str]] = lambda _: frozenset()
    """The folders of a listed one in which nothing else is to be looked for: there may be thousands."""
    reads: Callable[[str], bool] = lambda _: False
    """Whether a file or folder of this name belongs to what the family reads."""
    unused: Callable[[str], Text | None] = lambda _: None
    """Why nothing is read of a file or folder of this name, where the family knows what it is."""
    refuse: Callable[[Path, Inventory], InputError | None] = lambda *_: None
    """Why nothing below a path is a readable capture, where the family knows what lies there."""
    of_device: Callable[[Candidate], bool] = lambda _: True
    """Whether a capture holds, or held before it was damaged, what ran on a device. It is asked where captures of
    several families lie together: what the front end of a server recorded of itself is none of another job."""
    job: Callable[[Candidate], Job] = lambda _: Job()
    """What a summary tells captures beside it."""
