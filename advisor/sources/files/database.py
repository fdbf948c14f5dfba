# SPDX-License-Identifier: Apache-2.0
"""SQLite tables as columns: opened without leaving a trace, numbers read in bulk and exactly. Knows no fact.

Columns are looked up by name, never by version.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, field

from advisor.facts.base import MISSING
from advisor.facts.narrow import EndColumn, GrowingNarrowColumn, KeptColumn, NarrowColumn, in_fewest_bytes
from advisor.facts.table import Array, Texts, ascending, row_type, values_at, write_first_rows
from advisor.machine.regular_files import open_regular
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.model.progress import silent
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.exact_time import LIMIT_NS
from advisor.sources.files.float_times import ROUNDED, are_float_ns
from advisor.sources.files.names import bounded_name
from advisor.sources.files.rows_read import RowsRead
from advisor.sources.files.statements import all_rows, bound_steps, spanned_rows
from advisor.sources.files.table_blocks import (
    GrowingColumn,
    decimal_numbers,
    read_blocks,
    whole_numbers,
)
from advisor.sources.files.table_pages import Kind, quote_name
from advisor.sources.files.write_ahead_log import log_bytes

FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises; the latter where SQLite's own message repeats bytes of the file."""
LONGEST = 64 << 20
"""Longest text or blob that is made; a column may be computed by an expression that comes from the file."""
_MAGIC = b"SQLite format 3\0"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""Begin of a rollback journal: <https://www.sqlite.org/fileformat2.html#the_rollback_journal>."""
_STRINGS = "STRING_IDS"
"""The table with the texts of all others."""
STAND_IN = f"{_STRINGS} "
"""How what stands for the name of an event begins that is gone; its number follows."""
_LOOKUPS = 500
"""Ids looked up by one statement; old SQLite allows 999."""
_DENSE = 1 << 24
"""Span of ids up to which a table of all of them is smaller than sorting them is slow."""
_SPREAD = 4
"""Keys with so many possible ones for each are found in a table of all of them; it is as large as two columns."""
_AT_ONCE = 1 << 20
"""Keys looked up at a time, where they are many."""
NOT_COLLECTED = ("", "N/A")
_TIMES = ("startNs", "endNs")
"""What tables of events call when one began and ended, in every version."""

_WITHOUT_LOCKS = "win32-none" if os.name == "nt" else "unix-none"
"""How SQLite calls the files of a system when it takes no locks on them: https://www.sqlite.org/vfs.html"""

NOBODY = RowsRead(silent, {})
"""Where nobody is told of the rows read."""

Spellings = Mapping[str, Sequence[str]]
"""Per column wanted: its names in the generations of the schema, the best first."""


def open_readonly(path: Path, notes: Notes) -> sqlite3.Connection:
    """A connection that reads a database and never writes beside it.

    The file is opened as immutable. Where a write-ahead log with rows in it lies beside it, which an immutable database
    does not read, both are read where they are: without locks, and with the index of the log in memory.

    Raises:
        Unreadable: It is no database, or cannot be opened.
    """
    try:
        with open_regular(path) as file:  # SQLite opens by name alone
            begin, size, log = file.read(len(_MAGIC)), file.seek(0, os.SEEK_END), log_bytes(path)
        if size == 0:
            raise _unreadable_file(path, notes, Message("holds_nothing"))
        if log and begin != _MAGIC:  # SQLite would take the log for one of an empty database, and delete it
            raise sqlite3.DatabaseError("file is not a database")
        connection = _connect_with_log(path) if log else _connect_file(path, "mode=ro&immutable=1")
        # else a cell that runs over the end of its page is read on from whatever memory lies behind it
        connection.execute("PRAGMA cell_size_check=ON")
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        connection.set_authorizer(_only_tables)
        bound_steps(connection, size + log)
        all_rows(connection, "SELECT name FROM sqlite_master")
        if _is_half_written(path):
            notes.add(path.name, "", Message("half_written"))
    except (*FAILURES, OSError) as wrong:
        raise _unreadable_file(path, notes, Message("cannot_be_opened", why=reason_of_error(wrong))) from wrong
    return connection


def _is_half_written(path: Path) -> bool:
    """Whether the journal beside a database holds pages as they were before a change that never ended.

    Raises:
        OSError: It cannot be read.
    """
    journal = path.with_name(path.name + "-journal")
    if not os.path.isfile(journal):
        return False
    with open_regular(journal) as file:
        magic, pages = file.read(len(_JOURNAL_MAGIC)), file.read(4)
    return magic == _JOURNAL_MAGIC and any(pages)


def table_names(path: Path) -> frozenset[str]:
    """The names of the tables of a database; none where it is no database, or cannot be opened."""
    try:
        with contextlib.closing(open_readonly(path, Notes())) as connection:
            return listed_tables(connection)
    except (Unreadable, *FAILURES):
        return frozenset()


def is_broken_database(path: Path) -> bool:
    """Whether a file begins as a database and lists no table, as what is left of one does."""
    try:
        with open_regular(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC and not table_names(path)
    except OSError:
        return False


def listed_tables(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of the tables that a database lists.

    Raises:
        sqlite3.Error: They cannot be read.
    """
    listed = all_rows(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")
    return frozenset(str(name) for (name,) in listed)


def _only_tables(action: int, first: str | None, second: str | None, base: str | None, view: str | None) -> int:
    """Lets tables be read, but no views: the query behind one comes from the file and may never end."""
    return sqlite3.SQLITE_OK if view is None else sqlite3.SQLITE_DENY


def _unreadable_file(path: Path, notes: Notes, what: Message) -> Unreadable:
    notes.add(path.name, "", what, kind="unreadable")
    return Unreadable(path.name, what)


def _connect_file(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, check_same_thread=False)


def _connect_with_log(path: Path) -> sqlite3.Connection:
    """Reads the log too, and makes no index of it on the disk; what only reads a database cannot empty its log."""
    connection = _connect_file(path, f"mode=ro&vfs={_WITHOUT_LOCKS}")
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    return connection


class Only(Struct, frozen=True):
    """The rows in which a column of whole numbers has one of these values."""

    column: str
    values: Collection[int]


class Shared(Struct, frozen=True):
    """Columns of whole numbers that several facts need: when one is asked for, those of its table are read and kept."""

    columns: Mapping[str, Sequence[str]]
    """Per table the columns."""
    kept: dict[tuple[str, str], KeptColumn]
    handed_over: frozenset[str] = frozenset()
    """Tables that nothing else will be made of: a column is kept until it is asked for."""


NOTHING_SHARED = Shared({}, {})


class Database(Struct, frozen=True):
    """An open database, where its damage is noted, who is told of the rows read, and what is read once for all."""

    connection: sqlite3.Connection
    file: str
    notes: Notes
    told: RowsRead = NOBODY
    device: int | None = None
    """The device whose rows are read, where that is known; else the database says which is whose."""
    shared: Shared = NOTHING_SHARED
    nameless: set[int] = field(default_factory=set)
    """The ids met so far whose text is gone from STRING_IDS."""

    def fields(self, table: str) -> tuple[str, ...]:
        """The names of a table's columns; none when there is no such table."""
        return tuple(row[1] for row in self._fetch_all(f"PRAGMA table_info({quote_name(table)})"))

    def has_rows(self, table: str) -> bool:
        """Whether a table is there and holds anything."""
        return bool(self.fields(table)) and bool(self._fetch_all(f"SELECT 1 FROM {quote_name(table)} LIMIT 1"))  # noqa: S608

    def integers(self, table: str, wanted: Spellings, only: Only | None = None) -> dict[str, Array]:
        """Columns of whole numbers, in the order of the table; NULL and columns the table does not have are missing.

        Cells that hold anything else are missing too, and noted. What can be read of a damaged table is given.

        Raises:
            Unreadable: Nothing of the table can be read.
        """
        return self.numbers(table, wanted, frozenset(), only)

    def numbers(
        self, table: str, wanted: Spellings, floats: Collection[str], only: Only | None = None
    ) -> dict[str, Array]:
        """The same, with some columns as floats, in which what is missing is NaN."""
        chosen, kinds = self._chosen_fields(table, wanted, floats)
        self._note_absent_times(table, [wanted[name] for name, field in chosen.items() if field is None])
        read = self._shared_columns if table in self.shared.columns else self._read_columns
        found = dict(zip(kinds, read(table, kinds, only), strict=True)) if kinds else {}
        if any(field in _TIMES and are_float_ns(values) for field, values in found.items()):
            self.notes.add(self.file, "", Message("times_rounded", step="256 ns"), kind=ROUNDED, rows=0)
        length = len(next(iter(found.values()))) if found else 0
        absent = {name: np.full(length, np.nan if name in floats else MISSING) for name in wanted if not chosen[name]}
        return {name: absent[name] if field is None else found[field] for name, field in chosen.items()}

    def number_blocks(
        self, table: str, wanted: Spellings, floats: Collection[str], only: Only | None = None
    ) -> Iterator[dict[str, Array]]:
        """The same of columns that the table has, some rows at a time: of the longest tables nothing else is kept."""
        chosen, kinds = self._chosen_fields(table, wanted, floats)
        for columns in self._blocks_as_far_as_they_go(table, kinds, only):
            by_field = dict(zip(kinds, columns, strict=True))
            yield {name: by_field[field] for name, field in chosen.items() if field is not None}

    def _chosen_fields(
        self, table: str, wanted: Spellings, floats: Collection[str]
    ) -> tuple[dict[str, str | None], dict[str, Kind]]:
        """The field behind each name, None where the table has none of its spellings; and as what each is read."""
        there = {field.lower(): field for field in self.fields(table)}
        chosen = {
            name: next((there[s.lower()] for s in spellings if s.lower() in there), None)
            for name, spellings in wanted.items()
        }
        kinds: dict[str, Kind] = {
            field: "float" if name in floats else "integer" for name, field in chosen.items() if field is not None
        }
        return chosen, kinds

    def _note_absent_times(self, table: str, absent: Iterable[Sequence[str]]) -> None:
        """Without its times nothing of a table of events can be used."""
        lost = [spellings[0] for spellings in absent if spellings[0] in _TIMES]
        if lost and self.has_rows(table):
            self.notes.add(self.file, table, Message("lacks_column", column=lost[0]), kind="unreadable")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a small query.

        Raises:
            Unreadable: It cannot be answered.
        """
        return self._fetch_all(query, values)

    def texts(self, ids: Array) -> Texts:
        """The texts behind ids into STRING_IDS; `N/A` and nothing are missing, as are ids that do not exist."""
        distinct, inverse = distinct_ids(ids)
        return _texts_by_id(self._look_up(distinct), distinct, inverse)

    def event_names(self, ids: Array) -> Texts:
        """The same of names of events, which all have one: where it is gone, its id stands for it, and that is noted.

        So the event and its time still count, and no other table seems to lack it.
        """
        distinct, inverse = distinct_ids(ids)
        known = self._look_up(distinct)
        gone = {i for i in distinct.tolist() if i >= 0 and not isinstance(known.get(i), str)}
        self._note_nameless(gone)
        known |= {i: f"{STAND_IN}{i}" for i in gone}
        return _texts_by_id(known, distinct, inverse)

    def _look_up(self, distinct: Array) -> dict[int, object]:
        """What STRING_IDS holds for each of these ids that it has."""
        known: dict[int, object] = {}
        for start in range(0, len(distinct), _LOOKUPS):
            part = distinct[start : start + _LOOKUPS].tolist()
            marks = ",".join("?" * len(part))
            for i, value in self._fetch_all(f"SELECT id, value FROM {_STRINGS} WHERE id IN ({marks})", part):  # noqa: S608
                known[i] = bounded_name(value) if isinstance(value, str) else value
        return known

    def _note_nameless(self, gone: set[int]) -> None:
        """Note that names of events are gone: how many in all, of those that are there and these."""
        if not gone:
            return
        self.nameless.update(gone)
        rows = len(self.nameless)
        ((texts,),) = self._fetch_all(f"SELECT count(*) FROM {_STRINGS} WHERE typeof(value) = 'text'")  # noqa: S608
        self.notes.add(self.file, _STRINGS, Message("names_gone"), rows=rows, share=rows / (rows + texts))

    def names(self, table: str) -> dict[int, str]:
        """The ids and names of a small table of constants, such as ENUM_API_TYPE; empty when it is not there."""
        if not {"id", "name"} <= set(self.fields(table)):
            return {}
        found = self._fetch_all(f"SELECT id, name FROM {quote_name(table)}")  # noqa: S608
        return {i: bounded_name(n) for i, n in found if isinstance(n, str)}

    def on_device(self, table: str, rank: int) -> Only | None:
        """The rows of one rank's device, for databases that hold several devices; None for all rows."""
        if self.device is not None:
            return Only("deviceId", (self.device,)) if "deviceId" in self.fields(table) else None
        devices = {i: d for i, d in self._integer_pairs("RANK_DEVICE_MAP", "rankId", "deviceId")}
        if len(devices) < 2 or rank not in devices or "deviceId" not in self.fields(table):  # noqa: PLR2004
            return None
        return Only("deviceId", (devices[rank],))

    def _integer_pairs(self, table: str, key: str, value: str) -> list[tuple[int, int]]:
        if not {key, value} <= set(self.fields(table)):
            return []
        found = self._fetch_all(f"SELECT {quote_name(key)}, {quote_name(value)} FROM {quote_name(table)}")  # noqa: S608
        return [(k, v) for k, v in found if isinstance(k, int) and isinstance(v, int)]

    def _fetch_all(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return all_rows(self.connection, query, values)
        except FAILURES as wrong:
            raise self._unreadable_error(wrong) from wrong

    def _unreadable_error(self, wrong: Exception) -> Unreadable:
        what = Message("file_unreadable", why=reason_of_error(wrong))
        self.notes.add(self.file, "", what, kind="unreadable")
        return Unreadable(self.file, what)

    def _shared_columns(self, table: str, kinds: Mapping[str, Kind], only: Only | None) -> list[Array]:
        """The columns; what others need too is kept, and the rest is read for these rows alone."""
        shared = frozenset(self.shared.columns[table]).intersection(self.fields(table))
        if handed_over := table in self.shared.handed_over:
            shared &= kinds.keys()
        kept = self._keep_columns(table, dict.fromkeys([*([only.column] if only else []), *sorted(shared)]))
        keep = np.flatnonzero(kept[only.column].isin(only.values)) if only else slice(None)
        own = {field: kind for field, kind in kinds.items() if field not in kept}
        found = dict(zip(own, self._read_columns(table, own, only), strict=True)) if own else {}
        found |= {field: kept[field].at(keep) for field in kinds if field in kept}
        if handed_over:
            for field in kinds:
                self.shared.kept.pop((table, field), None)
        if len({len(column) for column in found.values()}) > 1:  # damage that lies in some columns only
            return self._read_columns(table, kinds, only)
        return [found[field] for field in kinds]

    def _keep_columns(self, table: str, fields: Iterable[str]) -> dict[str, KeptColumn]:
        kept = self.shared.kept
        left = [field for field in fields if (table, field) not in kept]
        if left:
            found = [GrowingNarrowColumn() for _ in left]
            self._fill_columns(table, dict.fromkeys(left, "integer"), None, found)
            for field in reversed(left):
                kept[table, field] = in_fewest_bytes(found.pop().whole())
            begun, ended = (kept.get((table, field)) for field in _TIMES)
            if isinstance(begun, NarrowColumn) and isinstance(ended, NarrowColumn):
                kept[table, _TIMES[1]] = _ends_of(begun, ended)
        return {field: kept[table, field] for field in fields}

    def _read_columns(self, table: str, kinds: Mapping[str, Kind], only: Only | None) -> list[Array]:
        found = [GrowingColumn(np.float64 if kind == "float" else np.int64) for kind in kinds.values()]
        self._fill_columns(table, kinds, only, found)
        return [column.whole() for column in found]

    def _fill_columns(
        self,
        table: str,
        kinds: Mapping[str, Kind],
        only: Only | None,
        found: Sequence[GrowingColumn | GrowingNarrowColumn],
    ) -> None:
        for columns in self._blocks_as_far_as_they_go(table, kinds, only):
            for column, values in zip(found, columns, strict=True):
                column.add(values)

    def _blocks_as_far_as_they_go(
        self, table: str, kinds: Mapping[str, Kind], only: Only | None
    ) -> Iterator[list[Array]]:
        """The columns block by block, as far as the table can be read; where it breaks off is noted."""
        some = False
        try:
            for columns in self._converted_blocks(table, kinds, only):
                some = True
                yield columns
        except FAILURES as wrong:
            self._note_broken(table, wrong, some)
        self.told.through(table)

    def _converted_blocks(self, table: str, kinds: Mapping[str, Kind], only: Only | None) -> Iterator[list[Array]]:
        """The columns block by block, in the rows that are wanted."""
        read = {**kinds, only.column: kinds.get(only.column, "integer")} if only else kinds
        bad, rows = dict[str, tuple[int, int]](), 0
        try:
            for block in read_blocks(self.connection, table, read):
                columns: dict[str, Array] = {}
                for (name, kind), cells in zip(read.items(), block.columns, strict=True):
                    columns[name], wrong = decimal_numbers(cells) if kind == "float" else whole_numbers(cells)
                    if wrong.any():
                        first, times = bad.get(name, (int(block.ids[np.argmax(wrong)]), 0))
                        bad[name] = first, times + int(np.count_nonzero(wrong))
                rows += len(block.ids)
                self.told(table, len(block.ids))
                keep = np.isin(columns[only.column], list(only.values)) if only else slice(None)
                yield [columns[name][keep] for name in kinds]
        finally:
            self._note_bad_cells(table, read, bad, rows)

    def _note_bad_cells(
        self, table: str, kinds: Mapping[str, Kind], bad: Mapping[str, tuple[int, int]], rows: int
    ) -> None:
        """Note the cells that hold no number, by column: where the first is, and how many of so many rows."""
        for name, (first, times) in bad.items():
            what = (
                Message("no_usable_value", table=table, column=name)
                if kinds[name] == "float"
                else Message("cell_no_whole_number", column=f"{table}.{name}")
            )
            place = Message("at_stored_row", table=table, n=first)
            self.notes.add(self.file, place, what, rows=times, share=times / rows)

    def _note_broken(self, table: str, wrong: Exception, some: bool) -> None:
        what = Message("cannot_be_read_further", why=reason_of_error(wrong))
        self.notes.add(self.file, table, what, kind="truncated" if some else "unreadable")
        if not some:
            raise Unreadable(self.file, what) from wrong


def _ends_of(begun: NarrowColumn, ended: NarrowColumn) -> NarrowColumn | EndColumn:
    """When rows ended, by how long they took where both columns are whole; damage may lie in one of them."""
    if len(begun) != len(ended) or begun.cells.dtype != np.int64:
        return ended
    return EndColumn.of(begun.cells, ended.at(slice(None))) or ended


def rows_there(connection: sqlite3.Connection, tables: Iterable[str]) -> dict[str, int]:
    """About how many rows tables have. Those of which it cannot be told at once are left out."""
    found: dict[str, int] = {}
    for table in tables:
        with contextlib.suppress(*FAILURES):  # said when the table is read
            rows = spanned_rows(connection, quote_name(table))
            found |= {table: rows} if rows is not None else {}
    return found


def are_spans(start: Array, end: Array) -> Array:
    """Which rows have a begin and an end, in this order and of times that can be: what never ended may hold any."""
    found: Array = (start != MISSING) & (end >= start) & (end < LIMIT_NS)
    return found


def match_keys(keys: Array, wanted: Array) -> Array:
    """For each wanted key the place where `keys` holds it first, -1 where it does not."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    low, span = int(keys.min()), int(keys.max()) - int(keys.min())
    if low == MISSING:  # most rows of a long table may have no key: those that do are sorted and searched alone
        known = np.flatnonzero(keys != MISSING).astype(row_type(len(keys)))
        keys = keys[known]  # and a column that only the caller's call held is let go before the search
        return values_at(known, match_keys(keys, wanted), -1)
    if span < _SPREAD * len(keys):
        return _match_close_keys(keys, wanted, low, span)
    if (keys[1:] >= keys[:-1]).all():
        return _match_sorted_keys(keys, wanted)
    order = np.argsort(keys, kind="stable")
    return values_at(order, _match_sorted_keys(keys[order], wanted), -1)


def _match_sorted_keys(keys: Array, wanted: Array) -> Array:
    """The same of keys in ascending order, some of the wanted at a time."""
    found = np.empty(len(wanted), row_type(len(keys)))
    for begin in range(0, len(wanted), _AT_ONCE):
        part = wanted[begin : begin + _AT_ONCE]
        at = np.minimum(np.searchsorted(keys, part), len(keys) - 1)
        at[(keys[at] != part) | (part == MISSING)] = -1
        found[begin : begin + _AT_ONCE] = at
    return found


def _match_close_keys(keys: Array, wanted: Array, low: int, span: int) -> Array:
    """The same of keys that lie close together, by a table of all places: nothing is sorted nor searched."""
    place = np.full(span + 2, -1, np.int32)  # the last stands for keys that lie outside
    write_first_rows(place, keys, low)
    found = np.empty(len(wanted), row_type(len(keys)))
    for begin in range(0, len(wanted), _AT_ONCE):
        part = wanted[begin : begin + _AT_ONCE]
        at = part.astype(np.int64) - low
        at[(part < low) | (part > low + span)] = span + 1
        found[begin : begin + _AT_ONCE] = place[at]
    return found


def distinct_ids(ids: Array) -> tuple[Array, Array]:
    """The distinct ids, and per row the place of its id among them."""
    if not len(ids):
        return ids, np.empty(0, np.int64)
    gone = ids == MISSING
    given = ids[~gone] if gone.any() else ids
    if not len(given) or int(given.max()) - int(given.min()) >= _DENSE:
        ordered = ascending(ids)
        begins = np.append(True, ordered[1:] != ordered[:-1])
        distinct = ordered[begins]
        if np.array_equal(ordered, ids):  # as ids are that count what follows each other
            return distinct, np.cumsum(begins, dtype=np.int32) - np.int32(1)
        return distinct, np.searchsorted(distinct, ids)
    low = int(given.min())
    present = np.zeros(int(given.max()) - low + 2, bool)
    places = ids - low
    places[gone] = len(present) - 1  # the place after the last id stands for missing
    present[places] = True
    distinct = np.flatnonzero(present)
    order = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return np.where(distinct == len(present) - 1, MISSING, distinct + low), order[places]


def _texts_by_id(known: Mapping[int, object], distinct: Array, inverse: Array) -> Texts:
    """Per row the text known of its id, which `inverse` places among the distinct ids; missing where none is."""
    index: dict[str, int] = {}
    codes = [_text_code(known.get(i), index) for i in distinct.tolist()]
    return Texts(np.array(codes, np.int32)[inverse], tuple(index))


def _text_code(value: object, index: dict[str, int]) -> int:
    if not isinstance(value, str) or value.strip() in NOT_COLLECTED:
        return -1
    return index.setdefault(value, len(index))
