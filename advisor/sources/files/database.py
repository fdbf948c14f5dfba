# SPDX-License-Identifier: Apache-2.0
"""SQLite tables as columns: opened without leaving a trace, whole numbers read in bulk and exactly. Knows no fact.

Columns are looked up by name, never by version. Whole numbers come a block at a time as one text per column, which is
several times faster than a Python object per cell; anything but whole numbers in a block sends it the slow way.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.base import LARGEST, MISSING
from advisor.facts.table import Array, Texts
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.progress import silent
from advisor.regular_files import open_regular
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.names import bounded_name
from advisor.sources.files.rows_read import RowsRead
from advisor.sources.files.statements import EndlessError, all_rows, ascending_rows, bound_steps, count_rows, read_rows
from advisor.sources.files.write_ahead_log import holds_transaction

FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises; the latter where SQLite's own message repeats bytes of the file."""
LONGEST = 64 << 20
"""Longest text or blob that is made; a column may be computed by an expression that comes from the file."""
BLOCK = 1 << 17
_LOOKUPS = 500
"""Ids looked up by one statement; old SQLite allows 999."""
_DIGITS = 64
"""Characters of a text that may be a whole number."""
_DENSE = 1 << 24
"""Span of ids up to which a table of all of them is smaller than sorting them is slow."""
NOT_COLLECTED = ("", "N/A")

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
            size, log = file.seek(0, os.SEEK_END), _log_size(path)
        if size == 0:
            raise _unreadable_file(path, notes, Message("holds_nothing"))
        connection = _connect_with_log(path) if log else _connect_file(path, "mode=ro&immutable=1")
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        connection.set_authorizer(_only_tables)
        bound_steps(connection, size + log)
        all_rows(connection, "SELECT name FROM sqlite_master")
    except (*FAILURES, OSError) as wrong:
        raise _unreadable_file(path, notes, Message("cannot_be_opened", why=reason_of_error(wrong))) from wrong
    return connection


def _only_tables(action: int, first: str | None, second: str | None, base: str | None, view: str | None) -> int:
    """Lets tables be read, but no views: the query behind one comes from the file and may never end."""
    return sqlite3.SQLITE_OK if view is None else sqlite3.SQLITE_DENY


def _unreadable_file(path: Path, notes: Notes, what: Message) -> Unreadable:
    notes.add(path.name, "", what, kind="unreadable")
    return Unreadable(path.name, what)


def _log_size(path: Path) -> int:
    """Bytes of the write-ahead log beside a database; 0 where there is none, or none that counts."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if os.path.isfile(log) and holds_transaction(log) else 0


def _connect_file(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, check_same_thread=False)


def _connect_with_log(path: Path) -> sqlite3.Connection:
    """Reads the log too, and makes no index of it on the disk; what only reads a database cannot empty its log."""
    connection = _connect_file(path, f"mode=ro&vfs={_WITHOUT_LOCKS}")
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    return connection


class _Block(Struct, frozen=True):
    """Rows of a table, column by column as one text each."""

    rows: int
    sound: int
    """How many of them come in the order of a table; what follows damage may be rows met before."""
    last: int
    columns: list[str | None]


class Database(Struct, frozen=True):
    """An open database, where its damage is noted, and who is told of the rows read."""

    connection: sqlite3.Connection
    file: str
    notes: Notes
    told: RowsRead = NOBODY
    device: int | None = None
    """The device whose rows are read, where that is known; else the database says which is whose."""

    def fields(self, table: str) -> tuple[str, ...]:
        """The names of a table's columns; none when there is no such table."""
        return tuple(row[1] for row in self._fetch_all(f"PRAGMA table_info({_quote_name(table)})"))

    def has_rows(self, table: str) -> bool:
        """Whether a table is there and holds anything."""
        return bool(self.fields(table)) and bool(self._fetch_all(f"SELECT 1 FROM {_quote_name(table)} LIMIT 1"))  # noqa: S608

    def integers(self, table: str, wanted: Spellings, where: str = "1") -> dict[str, Array]:
        """Columns of whole numbers, in the order of the table; NULL and columns the table does not have are missing.

        Cells that hold anything else are missing too, and noted. What can be read of a damaged table is given.

        Raises:
            Unreadable: Nothing of the table can be read.
        """
        there = {field.lower(): field for field in self.fields(table)}
        chosen = {
            name: next((there[s.lower()] for s in spellings if s.lower() in there), None)
            for name, spellings in wanted.items()
        }
        names = [field for field in chosen.values() if field is not None]
        found = dict(zip(names, self._read_blocks(table, names, where), strict=True)) if names else {}
        length = len(next(iter(found.values()))) if found else 0
        nothing = np.full(length, MISSING, np.int64)
        return {name: nothing if field is None else found[field] for name, field in chosen.items()}

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a small query.

        Raises:
            Unreadable: It cannot be answered.
        """
        return self._fetch_all(query, values)

    def measured(self, query: str, *values: object) -> tuple[Array, Array]:
        """The ids and the numbers of a query for pairs of them; what is no number is missing.

        Raises:
            Unreadable: It cannot be answered.
        """
        ids, numbers = [np.empty(0, np.int64)], [np.empty(0)]
        try:
            for rows in read_rows(self.connection, query, values):
                keys, cells = zip(*rows, strict=True)
                ids.append(
                    np.array([MISSING if found is None else found for found in map(_whole_number, keys)], np.int64)
                )
                numbers.append(np.array([_finite_number(cell) for cell in cells]))
        except FAILURES as wrong:
            raise self._unreadable_error(wrong) from wrong
        return np.concatenate(ids), np.concatenate(numbers)

    def texts(self, ids: Array) -> Texts:
        """The texts behind ids into STRING_IDS; `N/A` and nothing are missing, as are ids that do not exist."""
        distinct, inverse = _distinct_ids(ids)
        known: dict[int, str] = {}
        for start in range(0, len(distinct), _LOOKUPS):
            part = distinct[start : start + _LOOKUPS].tolist()
            marks = ",".join("?" * len(part))
            for i, value in self._fetch_all(f"SELECT id, value FROM STRING_IDS WHERE id IN ({marks})", part):  # noqa: S608
                known[i] = bounded_name(value) if isinstance(value, str) else value
        index: dict[str, int] = {}
        codes = [_text_code(known.get(i), index) for i in distinct.tolist()]
        return Texts(np.array(codes, np.int32)[inverse], tuple(index))

    def names(self, table: str) -> dict[int, str]:
        """The ids and names of a small table of constants, such as ENUM_API_TYPE; empty when it is not there."""
        if not {"id", "name"} <= set(self.fields(table)):
            return {}
        found = self._fetch_all(f"SELECT id, name FROM {_quote_name(table)}")  # noqa: S608
        return {i: bounded_name(n) for i, n in found if isinstance(n, str)}

    def on_device(self, table: str, rank: int) -> str:
        """The condition that keeps the rows of one rank's device, for databases that hold several devices."""
        if self.device is not None:
            return f"deviceId = {self.device}" if "deviceId" in self.fields(table) else "1"
        devices = {i: d for i, d in self._integer_pairs("RANK_DEVICE_MAP", "rankId", "deviceId")}
        if len(devices) < 2 or rank not in devices or "deviceId" not in self.fields(table):  # noqa: PLR2004
            return "1"
        return f"deviceId = {devices[rank]}"

    def _integer_pairs(self, table: str, key: str, value: str) -> list[tuple[int, int]]:
        if not {key, value} <= set(self.fields(table)):
            return []
        found = self._fetch_all(f"SELECT {_quote_name(key)}, {_quote_name(value)} FROM {_quote_name(table)}")  # noqa: S608
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

    def _read_blocks(self, table: str, names: list[str], where: str) -> list[Array]:
        parts: list[list[Array]] = [[] for _ in names]
        last = MISSING
        try:
            while (block := self._read_block(table, names, where, last)).rows:
                for part, name, text in zip(parts, names, block.columns, strict=True):
                    values = _parse_numbers(text, block.rows)
                    values = self._read_cells(table, name, where, last) if values is None else values
                    part.append(values[: block.sound])
                self.told(table, block.sound)
                last = block.last
                if block.sound < block.rows:
                    raise EndlessError(Message("rows_out_of_order"))
        except FAILURES as wrong:
            self._note_broken(table, wrong, any(parts))
        self.told.through(table)
        return [np.concatenate(part) if part else np.empty(0, np.int64) for part in parts]

    def _read_block(self, table: str, names: list[str], where: str, after: int) -> _Block:
        """The next rows of a table; of a damaged one how many of them follow each other."""
        quoted, listed = _quote_name(table), ",".join(map(_quote_name, names))
        bulk = ",".join(f"group_concat(ifnull({_quote_name(name)},{MISSING}),' ')" for name in names)
        source = (
            f"(SELECT rowid AS advisor_row,{listed} FROM {quoted} "  # noqa: S608
            f"WHERE rowid > ? AND ({where}) ORDER BY rowid LIMIT {BLOCK})"
        )
        ids = "SELECT count(*), min(advisor_row), max(advisor_row), total(advisor_row)"
        nothing = ",".join(["NULL"] * len(names))
        try:
            row = all_rows(self.connection, f"{ids}, {bulk} FROM {source}", (after,))[0]
        except sqlite3.DataError:  # long texts among the numbers: each cell is looked at
            row = all_rows(self.connection, f"{ids}, {nothing} FROM {source}", (after,))[0]
        rows, first, last, total, *columns = row
        if not rows or (first > after and last - first == rows - 1 and total * 2 == (first + last) * rows):
            return _Block(rows, rows, last, columns)
        numbers = all_rows(self.connection, f"SELECT group_concat(advisor_row,' ') FROM {source}", (after,))[0][0]  # noqa: S608
        return _Block(rows, ascending_rows(np.fromstring(numbers, np.int64, sep=" "), after), last, columns)

    def _note_broken(self, table: str, wrong: Exception, some: bool) -> None:
        what = Message("cannot_be_read_further", why=reason_of_error(wrong))
        self.notes.add(self.file, table, what, kind="truncated" if some else "unreadable")
        if not some:
            raise Unreadable(self.file, what) from wrong

    def _read_cells(self, table: str, name: str, where: str, last: int) -> Array:
        """One block of one column, cell by cell."""
        cell = _quote_name(name)
        cell = f"CASE WHEN typeof({cell}) IN ('text', 'blob') AND length({cell}) > {_DIGITS} THEN '' ELSE {cell} END"
        query = (
            f"SELECT rowid, {cell} FROM {_quote_name(table)} "  # noqa: S608
            f"WHERE rowid > ? AND ({where}) ORDER BY rowid LIMIT {BLOCK}"
        )
        cells = self._fetch_all(query, (last,))
        values = [_whole_number(value) for _, value in cells]
        bad = [row for (row, value), found in zip(cells, values, strict=True) if found is None and value is not None]
        if bad:
            place = Message("at_stored_row", table=table, n=bad[0])
            what = Message("cell_no_whole_number", column=f"{table}.{name}")
            self.notes.add(self.file, place, what, rows=len(bad))
        return np.array([MISSING if value is None else value for value in values], np.int64)


def rows_there(connection: sqlite3.Connection, tables: Iterable[str]) -> dict[str, int]:
    """How many rows tables have: SQLite counts pages, in less than a hundredth of the time to read them.

    Those that cannot be counted are left out.
    """
    found: dict[str, int] = {}
    for table in tables:
        with contextlib.suppress(*FAILURES):  # said when the table is read
            found[table] = count_rows(connection, _quote_name(table))
    return found


def match_keys(keys: Array, wanted: Array) -> Array:
    """For each wanted key the place where `keys` holds it first, -1 where it does not."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    found = order[place]
    return np.where((keys[found] == wanted) & (wanted != MISSING), found, -1)


def pick_values(values: Array, place: Array, missing: float = MISSING) -> Array:
    """The values at these places, missing where the place is -1."""
    if not len(values):
        return np.full(len(place), missing, values.dtype)
    return np.where(place >= 0, values[place], missing)


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _parse_numbers(text: str | None, count: int) -> Array | None:
    """The numbers in a text, None when it holds anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values: Array = np.fromstring(text or "", np.int64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return values if len(values) == count and values.max() < np.iinfo(np.int64).max else None


def _whole_number(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            return None
    return value if isinstance(value, int) and abs(value) < 2**63 else None


def _distinct_ids(ids: Array) -> tuple[Array, Array]:
    """The distinct ids, and per row the place of its id among them."""
    if not len(ids):
        return ids, np.empty(0, np.int64)
    given = ids[ids != MISSING]
    if not len(given) or int(given.max()) - int(given.min()) >= _DENSE:
        distinct, inverse = np.unique(ids, return_inverse=True)
        return distinct, inverse
    low = int(given.min())
    present = np.zeros(int(given.max()) - low + 2, bool)
    # the place after the last id stands for missing
    places = np.where(ids == MISSING, len(present) - 1, ids - low)
    present[places] = True
    distinct = np.flatnonzero(present)
    order = np.cumsum(present) - 1
    return np.where(distinct == len(present) - 1, MISSING, distinct + low), order[places]


def _finite_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < LARGEST else np.nan


def _text_code(value: object, index: dict[str, int]) -> int:
    if not isinstance(value, str) or value.strip() in NOT_COLLECTED:
        return -1
    return index.setdefault(value, len(index))
