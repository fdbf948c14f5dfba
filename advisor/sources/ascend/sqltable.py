# SPDX-License-Identifier: Apache-2.0
"""Columns of one database table, as exact arrays; names vary by version, values are never trusted. Knows no fact."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING, Column, Fact
from advisor.facts.table import Array, Texts, Values
from advisor.messages.errors import FactMissing, reason_of_error
from advisor.messages.message import Message
from advisor.sources.ascend.cell_columns import CellColumns
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import FAILURES
from advisor.sources.files.names import bounded_name
from advisor.sources.files.statements import all_rows
from advisor.sources.files.table_blocks import (
    NOT_COLLECTED,
    ColumnCells,
    RowBlock,
    decimal_numbers,
    plain_cells,
    read_blocks,
    whole_numbers,
)
from advisor.sources.files.table_pages import Kind


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
    required: Collection[str] = (),
) -> dict[str, Values]:
    """Columns by name, converted as the fact declares them.

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
    declared = {name: fact.columns()[name] for name in wanted}
    kinds = {wanted[name]: _KINDS.get(column.store, "integer") for name, column in declared.items()}
    parts = {name: _Part(folder, column, name in required) for name, column in declared.items()}
    for block in _sound_blocks(folder, origin, kinds):
        for part, cells in zip(parts.values(), block.columns, strict=True):
            part.add(cells)
    return _keep_whole_rows({name: part.joined(origin) for name, part in parts.items()}, declared, required)


_KINDS: Mapping[str, Kind] = {"text": "cell", "float": "float"}


class _Part:
    """One column as it is read, and which of its cells are wrong."""

    def __init__(self, folder: Folder, column: Column, required: bool) -> None:
        self._folder, self._column, self._required = folder, column, required
        self._values: list[Any] = []
        self._bad: list[Array] = []

    def add(self, cells: ColumnCells) -> None:
        if self._column.store == "text":
            self._values.append(_parse_texts(self._folder, cells, named=self._required))
            return
        decimal = self._column.store == "float"
        values, bad = decimal_numbers(cells) if decimal else whole_numbers(cells)
        if decimal and self._column.unit in ("us", "B", "count"):
            bad |= values < 0
            values[values < 0] = math.nan
        if self._required:
            bad |= np.isnan(values) if decimal else values == MISSING
        self._values.append(values)
        self._bad.append(bad)

    def joined(self, origin: Origin) -> Values:
        """The whole column; wrong cells are noted."""
        if self._column.store == "text":
            return Texts.concat(self._values)
        bad = np.concatenate([np.empty(0, bool), *self._bad])
        if rows := int(np.count_nonzero(bad)):
            place = Message("at_table_row", table=origin.table, n=int(np.argmax(bad)) + 1)
            what = Message("no_usable_value", table=origin.table, column=self._column.name)
            file = self._folder.databases[origin.which].name
            self._folder.notes.add(file, place, what, rows=rows, share=rows / len(bad))
        return np.concatenate([np.empty(0, self._column.dtype), *self._values])


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
    for block in _sound_blocks(folder, origin, dict.fromkeys(columns, "cell")):
        for cells, more in zip(lists, block.columns, strict=True):
            cells.extend(plain_cells(more))
    return lists


def _sound_blocks(folder: Folder, origin: Origin, wanted: Mapping[str, Kind]) -> Iterator[RowBlock]:
    """The rows of a table in blocks; those before the damage when the file is damaged, which is noted."""
    rows, told = 0, folder.rows_told()
    try:
        for block in read_blocks(folder.connection(origin.which), origin.table, wanted):
            rows += len(block.ids)
            told(origin.table, len(block.ids))
            yield block
        told.through(origin.table)
    except FAILURES as error:
        _note_damage(folder, origin, error, rows)


def _note_damage(folder: Folder, origin: Origin, error: Exception, rows: int) -> None:
    name = folder.databases[origin.which].name
    what = Message("table_cannot_be_read_further", table=origin.table, why=reason_of_error(error))
    folder.notes.add(name, Message("after_table_row", table=origin.table, n=rows), what, kind="truncated")


def _parse_texts(folder: Folder, cells: ColumnCells, *, named: bool) -> Texts:
    """Names: text as it is, whole numbers through STRING_IDS; with `named` each row has one."""
    if not isinstance(cells, tuple):
        database, ids = folder.database(), whole_numbers(cells)[0]
        return database.event_names(ids) if named else database.texts(ids)
    names = string_ids(folder) if any(type(cell) is int for cell in cells) else {}
    return Texts.of(_text_of_cell(cell, names.get) for cell in cells)


def _text_of_cell(cell: object, look_up: Callable[[int], str | None]) -> str | None:
    found = look_up(cell) if isinstance(cell, int) else cell
    return None if not isinstance(found, str) or found.strip() in NOT_COLLECTED else bounded_name(found.strip())


def string_ids(folder: Folder) -> Mapping[int, str]:
    """STRING_IDS of the profiler database; empty when it has none."""
    return folder.once("string ids", lambda: _read_string_ids(folder))


def _read_string_ids(folder: Folder) -> dict[int, str]:
    if {"id", "value"} - set(columns_of(folder, STRING_IDS)):
        return {}
    ids, values = _fetch_columns(folder, STRING_IDS, ("id", "value"))
    return {k: bounded_name(v) for k, v in zip(ids, values, strict=True) if isinstance(k, int) and isinstance(v, str)}


def _keep_whole_rows(
    values: dict[str, Values], declared: Mapping[str, Column], required: Collection[str]
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


def read_record_columns(
    folder: Folder, origin: Origin, columns: Sequence[str], optional: Collection[str] = ()
) -> list[list[object]] | None:
    """The cells of some columns, column by column; None when the table is not there, or lacks one of them, which is
    noted. Of an optional one that it lacks all cells are None.

    Raises:
        FactMissing: There is no such database.
        Unreadable: It is no database.
    """
    there = {name.lower() for name in columns_of(folder, origin)}
    held = [name for name in columns if name.lower() in there]
    absent = [name for name in columns if name not in held and (name not in optional or not there)]
    if there and absent:
        _note_absent_column(folder, origin, absent[0])
    if absent:
        return None
    found = dict(zip(held, _fetch_columns(folder, origin, held), strict=True))
    rows = len(next(iter(found.values()), ()))
    return [found.get(name, [None] * rows) for name in columns]


def columns_of_table(folder: Folder, origin: Origin) -> CellColumns:
    """Where cells of a table stand, to say of those that cannot be used."""
    return CellColumns.of_table(folder.notes, folder.databases[origin.which].name, origin.table)


def read_records(folder: Folder, origin: Origin, columns: Sequence[str]) -> list[tuple[object, ...]] | None:
    """The same row by row.

    Raises:
        FactMissing: There is no such database.
        Unreadable: It is no database.
    """
    found = read_record_columns(folder, origin, columns)
    return None if found is None else list(zip(*found, strict=True))
