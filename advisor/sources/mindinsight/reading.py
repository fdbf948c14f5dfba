# SPDX-License-Identifier: Apache-2.0
"""LegacyRank: the files of one rank, known before they are read, and how its facts are read from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from advisor.facts.base import MISSING, Fact
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Parallel
from advisor.sources.family import LeftAside
from advisor.sources.files.damage_notes import Notes
from advisor.sources.reading import Reading, read_best

F = TypeVar("F", bound=Fact)
T = TypeVar("T")

EXPORT = "insight"
"""The one export there is."""


@dataclass(frozen=True, eq=False)
class LegacyRank:
    """The files of one rank."""

    rank: int
    files: Mapping[str, Path]
    """By kind, as `detect.KINDS` has them."""
    name: str = ""
    """How damage names their folder: the path relative to the input, empty when it is the input."""
    size_bytes: int = 0
    layout: str = ""
    """How the job is cut: `pipeline`, `model` or `data`; empty where nothing says it."""
    parallel: Parallel = field(default_factory=Parallel)
    readings: Sequence[Reading[LegacyRank, Any]] = ()
    notes: Notes = field(default_factory=Notes)
    aside: tuple[LeftAside, ...] = ()
    """What of the whole input was left aside: one rank tells it, for all."""
    other_captures: int = 0
    """Further captures of the same rank that were left aside."""
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def sole_rank(self) -> int:
        """The rank of all its rows."""
        return self.rank

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that facts are read from."""
        return tuple(self.files.values())

    @property
    def rests_on(self) -> tuple[Path, ...]:
        """Its files."""
        return self.paths

    @property
    def stage(self) -> int:
        """Its pipeline stage, MISSING where there is none."""
        found = self.parallel.stage_of(self.rank)
        return MISSING if found is None else found

    def need(self, fact: type[Fact], *kinds: str) -> Path:
        """The first of these files that is there.

        Raises:
            FactMissing: None is.
        """
        found = next((self.files[kind] for kind in kinds if kind in self.files), None)
        if found is None:
            raise FactMissing([fact.table])
        return found

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made once and kept until `release`."""
        if name not in self._kept:
            self._kept[name] = make()
        return cast("T", self._kept[name])

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact.

        Raises:
            FactMissing: No file holds it, or what holds it cannot be read.
        """
        return read_best(self.readings, fact, self, (EXPORT,))

    def release(self) -> None:
        """Let go of what was read."""
        self._kept.clear()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_kept": {}}
