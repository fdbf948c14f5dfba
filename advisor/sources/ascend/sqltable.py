# SPDX-License-Identifier: Apache-2.0
"""Columns of one database table, as exact arrays; names vary by version, values are never trusted. Knows no fact."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from advisor.facts.base import LARGEST, MISSING, Column, Fact
from advisor.facts.table import Array, Texts, Values
from advisor.messages.errors import FactMissing, reason_of_error
from advisor.messages.message import Message
from advisor.sources.ascend.reading import Folder
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import FAILURES
from advisor.sources.files.names import bounded_name
from advisor.sources.files.statements import EndlessError, all_rows, ascending_rows, read_rows

_NOTHING = frozenset({"", "N/A", "NA", "nan"})


class Origin(Struct, frozen=True):
    """A table of one of the databases of a capture."""

    which: str
    """`profiler` or `analysis`."""
    table: str


STRING_IDS = Origin("profiler", "STRING_IDS")


def columns_of(folder: Folder, origin: Origin) -> tuple[str, ...]:
    """The columns of a table as they are spelled; empty when there is no such table.

    Raises:
        FactMissing: There is no such database.
        Unreadable: It is no database.
    """
    connection = folder.connection(origin.which)
    try:
        return tuple(row[1] for row in all_rows(connection, f'PRAGMA table_info("{origin.table}")'))
    except FAILURES as error:
        _note_damage(folder, origin, error, 0)
        return ()


def select_columns(
    folder: Folder,
    origin: Origin,
    fact: type[Fact],
    fields: Mapping[str, Sequence[str]],
    *,
    required: Iterable[str] = (),
    factors: Mapping[str, float] | None = None,
) -> dict[str, Values]:
    """Columns by name, converted as the fact declares them and multiplied by a factor where one is given.

    `fields` gives for each name the spellings met, the best first. Text columns that hold whole numbers are ids of
    STRING_IDS. Rows in which a required column is missing or wrong are left out and counted; a table without one is
    noted.

    Raises:
        FactMissing: There is no such table, or it lacks a required column.
        Unreadable: It is no database.
    """
    wanted = _match_spellings(columns_of(folder, origin), fields)
    absent = [name for name in required if name not in wanted]
    if wanted and absent:
        _note_absent_column(folder, origin, fields[absent[0]][0])
    if not wanted or absent:
        raise FactMissing([fact.table])
    lists = _fetch_columns(folder, origin, tuple(wanted.values()))
    declared, needed, damage = fact.columns(), frozenset(required), _Damage(folder, origin)
    scale = factors or {}
    values = {
        name: _convert_cells(
            folder, declared[name], cells, damage, factor=scale.get(name, 1.0), required=name in needed
        )
        for name, cells in zip(wanted, lists, strict=True)
    }
    return _keep_whole_rows(values, declared, needed)


def _note_absent_column(folder: Folder, origin: Origin, column: str) -> None:
    """A table that is there cannot be read without one of its columns."""
    file = folder.databases[origin.which].name
    folder.notes.add(file, origin.table, Message("lacks_column", column=column), kind="unreadable")


def _match_spellings(there: Iterable[str], fields: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The column of the table for each name that has one."""
    known = {name.lower(): name for name in there}
    found = {name: [known[s.lower()] for s in spellings if s.lower() in known] for name, spellings in fields.items()}
    return {name: spellings[0] for name, spellings in found.items() if spellings}


def _fetch_columns(folder: Folder, origin: Origin, columns: Sequence[str]) -> list[list[object]]:
    """The cells of some columns, column by column; those before the damage when the file is damaged."""
    lists: list[list[object]] = [[] for _ in columns]
    names = ", ".join(f'"{column}"' for column in columns)
    query = f'SELECT rowid, {names} FROM "{origin.table}" ORDER BY rowid'  # noqa: S608 - names of the schema
    last, told = MISSING, folder.rows_told()
    try:
        for block in read_rows(folder.connection(origin.which), query):
            ids, *cells_of = zip(*block, strict=True)
            sound = ascending_rows(np.array(ids, np.int64), last)
            told(origin.table, sound)
            for cells, more in zip(lists, cells_of, strict=True):
                cells.extend(more[:sound])
            if sound < len(ids):
                raise EndlessError(Message("rows_out_of_order"))
            last = ids[-1]
        told.through(origin.table)
    except FAILURES as error:
        _note_damage(folder, origin, error, len(lists[0]))
    return lists


def _note_damage(folder: Folder, origin: Origin, error: Exception, rows: int) -> None:
    name = folder.databases[origin.which].name
    what = Message("table_cannot_be_read_further", table=origin.table, why=reason_of_error(error))
    folder.notes.add(name, Message("after_table_row", table=origin.table, n=rows), what, kind="truncated")


class _Damage:
    """Counts wrong cells of one table."""

    def __init__(self, folder: Folder, origin: Origin) -> None:
        self._notes, self._file, self._table = folder.notes, folder.databases[origin.which].name, origin.table

    def __call__(self, column: str, bad: Array) -> None:
        rows = int(np.count_nonzero(bad))
        if rows:
            place = Message("at_table_row", table=self._table, n=int(np.argmax(bad)) + 1)
            what = Message("no_usable_value", table=self._table, column=column)
            self._notes.add(self._file, place, what, rows=rows, share=rows / len(bad))


def _convert_cells(
    folder: Folder, column: Column, cells: list[object], damage: _Damage, *, factor: float, required: bool
) -> Values:
    if column.store == "text":
        return _parse_texts(folder, cells)
    values = _parse_floats(cells) if column.store == "float" else _parse_integers(cells)
    missing = np.isnan(values) if column.store == "float" else values == MISSING
    absent = np.fromiter((cell is None or cell in _NOTHING for cell in cells), bool, len(cells)) & (not required)
    if column.store == "float":
        values = values * factor
        negative = (values < 0) & (column.unit in ("us", "B", "count"))
        values[negative] = math.nan
        missing = missing | negative
    damage(column.name, missing & ~absent)
    return values


def _parse_floats(cells: list[object]) -> Array:
    try:
        values = np.array(cells, np.float64)
    except (TypeError, ValueError):
        values = np.array([jsonfile.as_number(cell) for cell in cells], np.float64)
    values[~(np.abs(values) < LARGEST)] = math.nan
    return values


def _parse_integers(cells: list[object]) -> Array:
    """Whole numbers, also those kept as text; REAL values lose what is behind the point."""
    found = [_parse_integer(cell) for cell in cells]
    return np.array(found, np.int64)


def _parse_integer(cell: object) -> int:
    if isinstance(cell, int) and -(1 << 63) <= cell < 1 << 63:
        return cell
    if isinstance(cell, float) and abs(cell) < 1 << 62:
        return int(cell)
    exact = jsonfile.as_integer(cell)
    return MISSING if exact is None else exact


def _parse_texts(folder: Folder, cells: list[object]) -> Texts:
    """Names: text as it is, whole numbers through STRING_IDS."""
    names = string_ids(folder) if any(type(cell) is int for cell in cells) else {}
    return Texts.of(_text_of_cell(cell, names.get) for cell in cells)


def _text_of_cell(cell: object, look_up: Callable[[int], str | None]) -> str | None:
    found = look_up(cell) if isinstance(cell, int) else cell
    return None if not isinstance(found, str) or found.strip() in _NOTHING else bounded_name(found.strip())


def string_ids(folder: Folder) -> Mapping[int, str]:
    """STRING_IDS of the profiler database; empty when it has none."""
    return folder.once("string ids", lambda: _read_string_ids(folder))


def _read_string_ids(folder: Folder) -> dict[int, str]:
    if {"id", "value"} - set(columns_of(folder, STRING_IDS)):
        return {}
    ids, values = _fetch_columns(folder, STRING_IDS, ("id", "value"))
    return {k: bounded_name(v) for k, v in zip(ids, values, strict=True) if isinstance(k, int) and isinstance(v, str)}


def _keep_whole_rows(
    values: dict[str, Values], declared: Mapping[str, Column], required: frozenset[str]
) -> dict[str, Values]:
    """Only the rows in which nothing required is missing."""
    keep: Array | None = None
    for name in required:
        column, found = declared[name], values[name]
        cells = found.codes if isinstance(found, Texts) else found
        good = ~np.isnan(cells) if column.store == "float" else cells != column.missing
        keep = good if keep is None else keep & good
    if keep is None or keep.all():
        return values
    return {n: v.take(keep) if isinstance(v, Texts) else v[keep] for n, v in values.items()}


def query_rows(folder: Folder, which: str, query: str) -> list[tuple[object, ...]]:
    """The rows of a small query about the recording; none when there is no such database or table."""
    try:
        return all_rows(folder.connection(which), query)
    except (FactMissing, Unreadable, *FAILURES):
        return []


def read_records(folder: Folder, origin: Origin, columns: Sequence[str]) -> list[tuple[object, ...]] | None:
    """The cells of some columns, row by row; None when the table is not there, or lacks one of them, which is noted.

    Raises:
        FactMissing: There is no such database.
        Unreadable: It is no database.
    """
    there = {name.lower() for name in columns_of(folder, origin)}
    absent = [name for name in columns if name.lower() not in there]
    if there and absent:
        _note_absent_column(folder, origin, absent[0])
    if absent:
        return None
    return list(zip(*_fetch_columns(folder, origin, columns), strict=True))
