# SPDX-License-Identifier: Apache-2.0
"""The rows of a SQLite table in blocks, column by column: numbers from its pages where they are many, else by SQLite.

What `table_pages` decodes takes a tenth of the time that sqlite3 takes, and makes no object of a cell. Where it ends,
the next rows are read cell by cell, which tells of damage too. The numbers of rows must ascend.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.base import LARGEST, MISSING
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files import jsonfile
from advisor.sources.files.statements import EndlessError, ascending_rows, read_rows
from advisor.sources.files.table_pages import (
    Kind,
    StoredTable,
    UnusualPageError,
    number_blocks,
    quote_name,
    stored_table,
)

FEW = 4096
"""Rows that are read cell by cell before it is looked up where the others lie."""
BLOCK = 1 << 17
_DIGITS = 64
"""Characters of a text that may be a number."""

ColumnCells = Any
"""The cells of a column: a tuple of plain ones, or an array of numbers, in which what is missing is NULL."""


class RowBlock(Struct, frozen=True):
    """Some rows of a table: their numbers in it, and their cells column by column."""

    ids: Array
    columns: list[Any]


def read_blocks(connection: sqlite3.Connection, table: str, wanted: Mapping[str, Kind]) -> Iterator[RowBlock]:
    """The rows of a table in its order, with the columns wanted.

    Raises:
        EndlessError: Rows come out of order, as they do where damaged pages lead in circles. Those before are given.
        sqlite3.Error: It cannot be read further.
    """
    last, most = MISSING, FEW
    stored: StoredTable | None = None
    while True:
        given = 0
        for block in _in_order(_plain_blocks(connection, table, wanted, last, most), last):
            given, last = given + len(block.ids), int(block.ids[-1])
            yield block
        if given < most:
            return
        stored, most = _where_stored(connection, table) if most == FEW else stored, BLOCK
        if stored is None:
            continue
        # the row that decoding ends at is looked at by SQLite
        with contextlib.suppress(UnusualPageError, OSError):
            for block in _in_order(itertools.starmap(RowBlock, number_blocks(stored, wanted, last)), last):
                last = int(block.ids[-1])
                yield block
            return


def _where_stored(connection: sqlite3.Connection, table: str) -> StoredTable | None:
    try:
        return stored_table(connection, table)
    except OSError:
        return None


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


class GrowingColumn:
    """A column that is filled block by block, in memory that grows in place: joining blocks takes twice of it."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._values: Array = np.empty(FEW, dtype)
        self._length = 0

    def add(self, values: Array) -> None:
        end = self._length + len(values)
        if end > len(self._values):  # by little: what a large array grows by is written at once, and growing moves none
            self._values.resize(max(end, len(self._values) * 9 // 8), refcheck=False)
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
    if isinstance(cells, tuple):
        return cells
    return [None if cell == MISSING or cell != cell else cell for cell in cells.tolist()]  # noqa: PLR0124 - NaN


def whole_numbers(cells: ColumnCells) -> tuple[Array, Array]:
    """Cells as whole numbers, MISSING where nothing was collected; and where there is something else, MISSING too."""
    if not isinstance(cells, tuple):
        return cells, np.zeros(len(cells), bool)
    if not _types_of(cells) - {int, NoneType}:
        found: list[Any] = [MISSING if cell is None else cell for cell in cells]
        return np.array(found, np.int64), np.zeros(len(found), bool)
    found = [jsonfile.as_integer(cell) for cell in cells]
    bad = np.array([value is None for value in found], bool) & _are_told(cells)
    return np.array([MISSING if value is None else value for value in found], np.int64), bad


def decimal_numbers(cells: ColumnCells) -> tuple[Array, Array]:
    """Cells as numbers, NaN where nothing was collected; and where there is something else, NaN too."""
    if not isinstance(cells, tuple):
        told = ~np.isnan(cells)
        values = _bound_numbers(cells)
        return values, told & np.isnan(values)
    try:
        numbers = not _types_of(cells) - {int, float, NoneType}
        values = _bound_numbers(np.array([math.nan if cell is None else cell for cell in cells if numbers], np.float64))
    except OverflowError:  # a whole number of hundreds of digits, as JSON may hold one
        numbers = False
    if not numbers:
        values = np.array([jsonfile.as_number(cell) for cell in cells], np.float64)
    return values, _are_told(cells) & np.isnan(values)


def _types_of(cells: Sequence[object]) -> set[type]:
    return {*map(type, cells)}


def _are_told(cells: Sequence[object]) -> Array:
    """Per cell whether it holds anything."""
    return np.array([cell is not None and cell not in NOT_COLLECTED for cell in cells], bool)


def _bound_numbers(values: Array) -> Array:
    """The numbers, in place; NaN where one is of a size that cannot be."""
    values[~(np.abs(values) < LARGEST)] = math.nan
    return values
