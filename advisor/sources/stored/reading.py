# SPDX-License-Identifier: Apache-2.0
"""What one source gave to a store of facts, read again: the same tables, and the same reasons for those that lack."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from advisor.fact_store.manifest import ALL, FILE, FURTHER_DAMAGE, StoredRows, StoredSource
from advisor.fact_store.parquet import ParquetIndexes
from advisor.facts.base import Fact
from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, reason_of_error
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes

F = TypeVar("F", bound=Fact)
_TOLD = ("file", "what", "kind")
"""What damage is known by: it counts once, however often it is met (`sources.files.damage_notes`)."""


class StoredRank:
    """A source of a store."""

    def __init__(self, folder: Path, stored: StoredSource, further: frozenset[str], files: ParquetIndexes) -> None:
        self._folder, self._stored, self._further, self._files = folder, stored, further, files
        self.rank = next((place.rank for place in stored.tables.values() if place.rank is not None), 0)
        self.name = ""
        self._notes = Notes()
        self._read: set[str] = set()

    @property
    def size_bytes(self) -> int:
        """How much there is to read, by the files that are its own."""
        return sum(map(_bytes_of, self.paths[1:]))

    @property
    def paths(self) -> tuple[Path, ...]:
        """The manifest, and the files that are its own: those of its events."""
        places = self._stored.tables.items()
        return (self._folder / FILE, *(self._path_of(name, place) for name, place in places if place.rank is not None))

    @property
    def rests_on(self) -> tuple[Path, ...]:
        """The whole store: it is replaced in one go."""
        return (self._folder,)

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact.

        Raises:
            FactMissing: The source did not give it, or its file cannot be read.
        """
        if fact.table in self._stored.lacking:
            raise self._stored.lacking[fact.table].error()
        if fact.table not in self._stored.tables:
            raise FactMissing([fact.table])
        self._read.add(fact.table)
        found = self._rows_of(fact, fact.table)
        return cast("Table[F]", self._with_later_damage(cast("Table[Damage]", found))) if fact is Damage else found

    def release(self) -> None:
        """Nothing is kept but the indexes of files."""

    def _rows_of(self, fact: type[F], name: str) -> Table[F]:
        place = self._stored.tables[name]
        if not place.rows:
            return Table.empty(fact)
        path = self._path_of(name, place)
        try:
            found = self._files.read(fact, path, place.group)
        except (OSError, ValueError) as error:
            why = Message("cannot_be_opened", why=reason_of_error(error))
        else:
            if len(found) == place.rows:
                return found
            why = Message("other_row_count", rows=len(found), told=place.rows)
        shown = path.relative_to(self._folder).as_posix()
        self._notes.add(shown, "", why, kind="unreadable")
        raise FactMissing([fact.table], [shown])

    def _path_of(self, name: str, place: StoredRows) -> Path:
        return self._folder / name / (ALL if place.rank is None else f"rank-{place.rank}.parquet")

    def _with_later_damage(self, first: Table[Damage]) -> Table[Damage]:
        """With damage of what a diagnosis does not read by itself, where that was read, and damage of the store."""
        tables = [first]
        if self._read & self._further and FURTHER_DAMAGE in self._stored.tables:
            further = self._rows_of(Damage, FURTHER_DAMAGE)
            known = set(first.cells(_TOLD))
            tables.append(further.take(np.array([cells not in known for cells in further.cells(_TOLD)], bool)))
        if len(self._notes):
            tables.append(self._notes.table(self.rank))
        if len(tables) == 1:
            return first
        every = Table.concat(Damage, tables)
        shown = list(every.cells(("file", "what", "place")))
        return every.take(np.array(sorted(range(len(every)), key=lambda row: [cell or "" for cell in shown[row]])))


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # said when it is read
        return 0
