# SPDX-License-Identifier: Apache-2.0
"""The rows of a SQLite table in blocks, column by column: as Arrow where they are many, else cell by cell.

The Arrow driver (ADBC) takes a third of the time that sqlite3 takes, and makes no object of a cell. It takes the type
of a column from the first rows and ends at the first cell of another: what kinds of cells lie ahead is looked up
before, and where it ends the next rows are read cell by cell, which tells of damage too. It knows no limits of its own:
it is given tables that keep rows of their own, no conditions (a scan that finds nothing is not seen from outside),
texts that are cut short, and its rows are counted by their numbers, which must ascend.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from advisor.facts.base import LARGEST, MISSING
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files import jsonfile
from advisor.sources.files.statements import EndlessError, all_rows, ascending_rows, read_rows
from advisor.sources.files.write_ahead_log import log_bytes

Kind = Literal["integer", "float", "cell"]
"""What is wanted of a column: whole numbers, numbers, or whole numbers and texts as they come."""

FEW = 4096
"""Rows that are read cell by cell before the Arrow driver is loaded for the others."""
BLOCK = 1 << 17
_DIGITS = 64
"""Characters of a text that may be a number."""
_INTEGERS, _REALS, _TEXTS = range(3)
"""The widest kind of cell in a column."""

ColumnCells = Any
"""The cells of a column: a tuple of plain ones, or an Arrow array."""


class RowBlock(Struct, frozen=True):
    """Some rows of a table: their numbers in it, and their cells column by column."""

    ids: Array
    columns: list[Any]


def quote_name(name: str) -> str:
    """A name of a table or column as SQL spells it."""
    return '"' + name.replace('"', '""') + '"'


def read_blocks(connection: sqlite3.Connection, table: str, wanted: Mapping[str, Kind]) -> Iterator[RowBlock]:
    """The rows of a table in its order, with the columns wanted.

    Raises:
        EndlessError: Rows come out of order, as they do where damaged pages lead in circles. Those before are given.
        sqlite3.Error: It cannot be read further.
    """
    last, most = MISSING, FEW
    while True:
        given = 0
        for block in _in_order(_plain_blocks(connection, table, wanted, last, most), last):
            given, last = given + len(block.ids), int(block.ids[-1])
            yield block
        if given < most:
            return
        most = BLOCK
        path = _file_for_arrow(connection, table)
        spelled = path and _spell_columns(connection, table, wanted, last)
        if path and spelled:
            from advisor.sources.files.arrow_rows import STOPPED, arrow_blocks

            statement = f"SELECT rowid, {spelled} FROM {quote_name(table)} WHERE rowid > {last} ORDER BY rowid"  # noqa: S608
            try:
                blocks = (RowBlock(*found) for found in arrow_blocks(path, statement, BLOCK))
                for block in _in_order(blocks, last):
                    last = int(block.ids[-1])
                    yield block
            except STOPPED:
                continue  # the cell that it ended at is looked at by itself
            return


def _in_order(blocks: Iterable[RowBlock], after: int) -> Iterator[RowBlock]:
    """The blocks, up to the first row that does not follow the one before it.

    Raises:
        EndlessError: There is such a row.
    """
    for block in blocks:
        sound = ascending_rows(block.ids, after)
        if sound < len(block.ids):
            if sound:
                yield RowBlock(block.ids[:sound], [cells[:sound] for cells in block.columns])
            raise EndlessError(Message("rows_out_of_order"))
        after = int(block.ids[-1])
        yield block


def _plain_blocks(
    connection: sqlite3.Connection, table: str, wanted: Mapping[str, Kind], after: int, most: int
) -> Iterator[RowBlock]:
    """So many rows after a number, cell by cell; texts too long to be a number are cut where one is wanted."""
    listed = ", ".join(_short_cell(name) if kind != "cell" else quote_name(name) for name, kind in wanted.items())
    query = f"SELECT rowid, {listed} FROM {quote_name(table)} WHERE rowid > ? ORDER BY rowid LIMIT {most}"  # noqa: S608
    for rows in read_rows(connection, query, (after,)):
        ids, *columns = zip(*rows, strict=True)
        yield RowBlock(np.array(ids, np.int64), columns)


def _short_cell(name: str) -> str:
    cell = quote_name(name)
    return f"CASE WHEN typeof({cell}) IN ('text', 'blob') AND length({cell}) > {_DIGITS} THEN '?' ELSE {cell} END"


def _file_for_arrow(connection: sqlite3.Connection, table: str) -> Path | None:
    """The file of a table that the Arrow driver can be given; None for views and for what is computed or in a log."""
    path = Path(all_rows(connection, "PRAGMA database_list")[0][2])
    stored = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND lower(name) = lower(?)"
    computed = any(row[-1] for row in all_rows(connection, f"PRAGMA table_xinfo({quote_name(table)})"))
    return path if all_rows(connection, stored, (table,)) and not computed and not log_bytes(path) else None


def _spell_columns(connection: sqlite3.Connection, table: str, wanted: Mapping[str, Kind], after: int) -> str:
    """The columns as the Arrow driver is asked for them, by the widest kind of cell ahead; nothing where it cannot be.

    Numbers kept as text come as text, for a column has one type: cut after what a number can have.
    """
    names = [quote_name(name) for name in wanted]
    kinds = "CASE typeof({}) WHEN 'integer' THEN 0 WHEN 'null' THEN 0 WHEN 'real' THEN 1 WHEN 'text' THEN 2 ELSE 3 END"
    ahead = f"SELECT {', '.join(names)} FROM {quote_name(table)} WHERE rowid > ? ORDER BY rowid LIMIT {BLOCK}"  # noqa: S608
    widest = f"SELECT {', '.join(f'max({kinds.format(name)})' for name in names)} FROM ({ahead})"  # noqa: S608
    found = all_rows(connection, widest, (after,))[0]
    spelled: list[str] = []
    for name, kind, width in zip(names, wanted.values(), found, strict=True):
        if width == _INTEGERS or (width == _REALS and kind == "float"):
            spelled.append(name)
        elif width == _TEXTS and kind != "cell":
            spelled.append(f"substr({name}, 1, {_DIGITS + 1})")
        else:
            return ""
    return ", ".join(spelled)


class GrowingColumn:
    """A column that is filled block by block, in memory that grows in place: joining blocks takes twice of it."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._values: Array = np.empty(FEW, dtype)
        self._length = 0

    def add(self, values: Array) -> None:
        end = self._length + len(values)
        if end > len(self._values):
            self._values.resize(max(end, 2 * len(self._values)), refcheck=False)
        self._values[self._length : end] = values
        self._length = end

    def whole(self) -> Array:
        """The column, to which nothing can be added any more."""
        self._values.resize(self._length, refcheck=False)
        return self._values


NOT_COLLECTED = frozenset({"", "N/A", "NA", "nan"})
"""Texts that say that nothing was collected."""


def plain_cells(cells: ColumnCells) -> Sequence[object]:
    """The cells as plain values."""
    found: Sequence[object] = cells if isinstance(cells, tuple) else cells.to_pylist()
    return found


def whole_numbers(cells: ColumnCells) -> tuple[Array, Array]:
    """Cells as whole numbers, MISSING where nothing was collected; and where there is something else, MISSING too."""
    if not isinstance(cells, tuple):
        from advisor.sources.files.arrow_rows import arrow_integers

        if (values := arrow_integers(cells)) is not None:
            return values, np.zeros(len(values), bool)
    plain = plain_cells(cells)
    if not _types_of(plain) - {int, NoneType}:
        found: list[Any] = [MISSING if cell is None else cell for cell in plain]
        return np.array(found, np.int64), np.zeros(len(found), bool)
    found = [jsonfile.as_integer(cell) for cell in plain]
    bad = np.array([value is None for value in found], bool) & _are_told(plain)
    return np.array([MISSING if value is None else value for value in found], np.int64), bad


def decimal_numbers(cells: ColumnCells) -> tuple[Array, Array]:
    """Cells as numbers, NaN where nothing was collected; and where there is something else, NaN too."""
    if not isinstance(cells, tuple):
        from advisor.sources.files.arrow_rows import arrow_floats

        if (known := arrow_floats(cells)) is not None:
            values, told = known
            return _bound_numbers(values), told & np.isnan(values)
    plain = plain_cells(cells)
    if _types_of(plain) - {int, float, NoneType}:
        values = np.array([jsonfile.as_number(cell) for cell in plain], np.float64)
    else:
        values = _bound_numbers(np.array([math.nan if cell is None else cell for cell in plain], np.float64))
    return values, _are_told(plain) & np.isnan(values)


def _types_of(cells: Sequence[object]) -> set[type]:
    return {*map(type, cells)}


def _are_told(cells: Sequence[object]) -> Array:
    """Per cell whether it holds anything."""
    return np.array([cell is not None and cell not in NOT_COLLECTED for cell in cells], bool)


def _bound_numbers(values: Array) -> Array:
    """The numbers, in place; NaN where one is of a size that cannot be."""
    values[~(np.abs(values) < LARGEST)] = math.nan
    return values
