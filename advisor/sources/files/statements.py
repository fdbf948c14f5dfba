# SPDX-License-Identifier: Apache-2.0
"""Statements that end: what one may cost is bounded by the size of its file, however the pages of it are damaged.

The pages of a damaged database may lead back to pages before them. SQLite notices few of these circles: it walks them
again and again, and gives the same rows each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from advisor.facts.table import Array
from advisor.messages.errors import SpokenError
from advisor.messages.message import Message

STEPS_PER_BYTE = 16
"""Steps of SQLite's machine that one statement may take for each byte of the file. Ours take fewer than 3: 8 for a
row and 6 more for each column, of rows that take 30 bytes and more."""
FREE_STEPS = 10_000_000
"""Steps that any statement may take: a second at most."""
SMALLEST_ROW = 6
"""Bytes of a file that a row takes at least: https://www.sqlite.org/fileformat2.html#b_tree_pages"""
FETCH_ROWS = 50_000
_STRIDE = 100_000


class EndlessError(SpokenError, sqlite3.DatabaseError):
    """A statement that would give rows for ever, or the same ones again."""


class _Steps:
    """Counts the steps of one statement; SQLite stops when it answers yes."""

    def __init__(self, most: int) -> None:
        self.left = most // _STRIDE + 1

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def bound_steps(connection: sqlite3.Connection, size_bytes: int) -> None:
    """Let every statement of a connection end, at the latest after the steps that a file of this size explains."""
    _count_steps(connection, size_bytes)


def _count_steps(connection: sqlite3.Connection, size_bytes: int) -> _Steps:
    steps = _Steps(FREE_STEPS + STEPS_PER_BYTE * size_bytes)
    connection.set_progress_handler(steps, _STRIDE)
    return steps


def read_rows(connection: sqlite3.Connection, query: str, values: Sequence[object] = ()) -> Iterator[list[Any]]:
    """The rows of a statement, many at a time.

    Raises:
        EndlessError: It gives more rows, or takes more steps, than the size of the file explains.
        sqlite3.Error: It cannot be answered.
    """
    size = _size_bytes(connection)
    steps, most = _count_steps(connection, size), size // SMALLEST_ROW
    try:
        cursor = connection.execute(query, values)
        while block := cursor.fetchmany(FETCH_ROWS):
            most -= len(block)
            if most < 0:
                raise EndlessError(Message("leads_in_circles"))
            yield block
    except sqlite3.OperationalError as wrong:
        if steps.left < 0:
            raise EndlessError(Message("leads_in_circles")) from wrong
        raise


def _size_bytes(connection: sqlite3.Connection) -> int:
    """The size of a database as SQLite sees it: with the pages that still lie in its write-ahead log."""
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages * size)


def all_rows(connection: sqlite3.Connection, query: str, values: Sequence[object] = ()) -> list[Any]:
    """The same, all at once."""
    return [row for block in read_rows(connection, query, values) for row in block]


def spanned_rows(connection: sqlite3.Connection, quoted_table: str) -> int | None:
    """How many rows a table has at most, by its first and its last row id, which SQLite goes straight to: to count them
    it would go through all pages. None where the file has no room for as many: the ids are no count.

    Raises:
        sqlite3.Error: They cannot be found, or the table has none.
    """
    ends = f"(SELECT min(rowid) FROM {quoted_table}), (SELECT max(rowid) FROM {quoted_table})"  # noqa: S608 - ours
    first, last = all_rows(connection, f"SELECT {ends}")[0]
    rows = last - first + 1 if last is not None else 0
    return rows if 0 <= rows <= _size_bytes(connection) // SMALLEST_ROW else None


def ascending_rows(ids: Array, after: int) -> int:
    """How many rows of a table come in its order: the number of each is larger than that of the one before it."""
    out_of_order = ids <= np.concatenate(([after], ids[:-1]))
    return int(np.argmax(out_of_order)) if out_of_order.any() else len(ids)
