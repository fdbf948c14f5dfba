# SPDX-License-Identifier: Apache-2.0
"""Facts written to a store: tables of events where their rank is read, all others as the ranks come in."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec
import numpy as np
from msgspec import Struct

from advisor.fact_store.manifest import (
    ALL,
    FILE,
    FORMAT,
    FURTHER_DAMAGE,
    Manifest,
    StoredRows,
    StoredSource,
    WhyLacking,
)
from advisor.fact_store.parquet import ParquetFile
from advisor.facts.base import Fact
from advisor.facts.derivation import AnyTable
from advisor.facts.observed import Damage
from advisor.facts.rank_facts import RankFacts, ReadTable, fact_of_wanted
from advisor.facts.selection import Selected
from advisor.facts.table import Table
from advisor.machine.output_files import put_in_place
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.message import Message
from advisor.model.run import Run
from advisor.release import VERSION

VIEWS = "views.sql"
_PART = ".part"
"""Ends the name of what is not written to its end."""
_TOKEN = re.compile(r"[0-9a-f]{8}")
"""Tells apart what several runs write for one place."""

_HELD = "held"
"""A file that whoever writes a store holds a lock on, which the system lets go when that process ends in any way."""


def _hold(file: BinaryIO) -> bool:
    """Holds a file for this process; gives whether that is sure: another one may have it, or the system no locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_left_behind(target: Path) -> None:
    """Removes what runs that were killed had begun to write for the same place.

    Raises:
        OSError: The folder cannot be listed.
    """
    begin = f".{target.name}-"
    with os.scandir(target.parent) as found:
        named = [one for one in found if one.name.startswith(begin) and one.name.endswith(_PART)]
    left = [Path(one.path) for one in named if _TOKEN.fullmatch(one.name[len(begin) : -len(_PART)])]
    for folder in left:
        with contextlib.suppress(OSError), (folder / _HELD).open("rb+") as held:  # another run may be faster
            if _hold(held):
                shutil.rmtree(folder, ignore_errors=True)


class StoredEvents(Struct, frozen=True):
    """A table with a row for each event, written in the process that reads the rank."""

    fact: type[Fact]
    folder: str

    def select(self, table: Table[Any]) -> Selected:
        """Writes the rows, where there are any, and gives the first of them, which stands for all.

        Beside the place where they will lie: a worker that is killed leaves nothing half written there, and one that
        was given up and goes on writing does not meet the one that does its rank again.

        Raises:
            UsageError: The process, a worker on another machine, does not see the store.
        """
        first = table.take(np.arange(min(len(table), 1)))
        if len(first):
            if not os.path.isdir(self.folder):
                raise UsageError(Message("worker_sees_no_store", path=self.folder), Message("share_the_store"))
            target = Path(self.folder) / file_of_events(first)
            part = target.with_name(f"{target.name}.{secrets.token_hex(4)}{_PART}")
            with put_in_place(part, target), contextlib.closing(ParquetFile(part, self.fact)) as file:
                file.add_events(table)
        return Selected(first.only(first.fact.columns()), np.full(len(first), len(table), np.int64))


def file_of_events(first: Table[Any]) -> str:
    """Where the events of a rank lie in a store, told by one of them."""
    return f"{first.fact.table}/rank-{int(first['rank'][0])}.parquet"


class StoreWriter:
    """A store that is being written: beside the place where it will lie, so that what is half written is never read."""

    def __init__(self, target: Path) -> None:
        """Begins one.

        Raises:
            OSError: Nothing can be written there.
        """
        self._target = target
        _remove_left_behind(target)
        self.folder = target.with_name(f".{target.name}-{secrets.token_hex(4)}{_PART}").absolute()
        self.folder.mkdir()
        self._held = (self.folder / _HELD).open("xb")
        _hold(self._held)
        self._files: dict[str, ParquetFile] = {}
        self._sources: list[StoredSource] = []
        self.rows: Counter[str] = Counter()
        """How many rows each table has."""

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._close_files()
        self._held.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add_source(self, part: RankFacts) -> None:
        """Writes what the next source gave: whole tables, and what is left of events that were written already."""
        self._sources.append(StoredSource())
        self._add_facts(self._sources[-1], part, Damage.table)

    def add_further(self, number: int, part: RankFacts) -> None:
        """Writes what a diagnosis does not read by itself of a source that was written before."""
        self._add_facts(self._sources[number], part, FURTHER_DAMAGE)

    def _add_facts(self, source: StoredSource, part: RankFacts, damage: str) -> None:
        for asked, found in part.items():
            fact = fact_of_wanted(asked)
            name = damage if fact is Damage else fact.table
            if not isinstance(found, FactMissing):
                source.tables[name] = self._write_found(name, found)
            elif fact.observed:
                source.lacking[name] = WhyLacking.of(found)

    def add_table(self, table: AnyTable) -> None:
        """Writes a table that is made of those of all ranks."""
        self._write_found(table.fact.table, table)

    def finish(self, run: Run, further: Iterable[type[Fact]]) -> None:
        """Puts the store in its place, also where one lies already; `further` are the facts that were written so.

        Raises:
            OSError: It cannot be written.
        """
        self._close_files()
        for left in (*self.folder.glob(f"*/*{_PART}"), self.folder / _HELD):
            left.unlink()
        names = sorted(name for name in self.rows if name != FURTHER_DAMAGE)
        (self.folder / VIEWS).write_text("".join(map(_view, names)), "utf-8")
        text = msgspec.Raw(run.model_dump_json().encode())
        manifest = Manifest(FORMAT, VERSION, text, tuple(fact.table for fact in further), tuple(self._sources))
        (self.folder / FILE).write_bytes(msgspec.json.encode(manifest))
        old = self._target.with_name(f"{self.folder.name}.old")
        if self._target.exists():
            os.replace(self._target, old)
        os.replace(self.folder, self._target)
        shutil.rmtree(old, ignore_errors=True)

    def _write_found(self, name: str, found: ReadTable) -> StoredRows:
        """Writes a table where that is still to be done, and gives where it lies."""
        if isinstance(found, Selected):
            self.rows[name] += int(found.stands_for.sum())
            return (
                StoredRows(int(found.stands_for[0]), rank=int(found.rows["rank"][0]))
                if len(found.rows)
                else StoredRows()
            )
        assert isinstance(found, Table)  # noqa: S101 - what is missing is told apart by whoever calls
        if not len(found):
            return StoredRows()
        self.rows[name] += len(found)
        if name not in self._files:
            self._files[name] = ParquetFile(self.folder / name / ALL, found.fact)
        return StoredRows(len(found), group=self._files[name].add(found))

    def _close_files(self) -> None:
        while self._files:
            self._files.popitem()[1].close()


def is_in_the_way(target: Path) -> bool:
    """Whether something lies there that a store does not replace: anything but a store, or a folder with nothing in it.

    Raises:
        OSError: It cannot be looked at.
    """
    return os.path.lexists(target) and not (
        target.is_dir() and (not any(target.iterdir()) or (target / FILE).is_file())
    )


def _view(name: str) -> str:
    return f"CREATE OR REPLACE VIEW \"{name}\" AS SELECT * FROM read_parquet('{name}/*.parquet');\n"  # noqa: S608 - names of our own
