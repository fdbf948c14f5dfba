# SPDX-License-Identifier: Apache-2.0
"""Damage to rows, columns and cells of a table in text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from random import Random

from benchmarks.fuzz.odd_values import odd_text

Rows = list[list[str]]
"""The headings first."""


def _as_rows(change: Callable[[Rows, Random], Rows]) -> Callable[[bytes, Random], bytes]:
    """The same for a file."""

    def mutate(content: bytes, chance: Random) -> bytes:
        text = content.decode("utf-8", "surrogateescape")
        try:
            rows = list(csv.reader(io.StringIO(text, newline="")))
        except csv.Error:  # an earlier mutation left no table
            return content
        if len(rows) < 2:
            return content
        written = io.StringIO(newline="")
        csv.writer(written, lineterminator="\n").writerows(change(rows, chance))
        return written.getvalue().encode(
            "utf-8", "surrogatepass" if "\ud800" in written.getvalue() else "surrogateescape"
        )

    mutate.__name__, mutate.__doc__ = change.__name__.lstrip("_"), change.__doc__
    return mutate


def _columns(rows: Rows) -> int:
    return max(len(rows[0]), 1)


def _change_cells(rows: Rows, chance: Random) -> Rows:
    """Some cells hold something odd."""
    for _ in range(chance.choice((1, 1, 3, 20))):
        row = chance.choice(rows[1:])
        if row:
            row[chance.randrange(len(row))] = odd_text(chance)
    return rows


def _change_column(rows: Rows, chance: Random) -> Rows:
    """All cells of a column hold the same, or each something odd."""
    at, value = chance.randrange(_columns(rows)), odd_text(chance)
    each = chance.random() < 0.3
    for row in rows[1:]:
        if at < len(row):
            row[at] = odd_text(chance) if each else value
    return rows


def _remove_column(rows: Rows, chance: Random) -> Rows:
    """A column is gone, with its heading or without."""
    at, first = chance.randrange(_columns(rows)), chance.choice((0, 0, 0, 1))
    return rows[:first] + [row[:at] + row[at + 1 :] for row in rows[first:]]


def _repeat_column(rows: Rows, chance: Random) -> Rows:
    """A column stands there twice, the second time with other values."""
    at, value = chance.randrange(_columns(rows)), odd_text(chance)
    return [
        [*row, row[at] if n == 0 or chance.random() < 0.5 else value] if at < len(row) else row
        for n, row in enumerate(rows)
    ]


def _swap_columns(rows: Rows, chance: Random) -> Rows:
    """Two columns changed places, with their headings or without."""
    one, other, first = chance.randrange(_columns(rows)), chance.randrange(_columns(rows)), chance.choice((0, 1, 1))
    for row in rows[first:]:
        if max(one, other) < len(row):
            row[one], row[other] = row[other], row[one]
    return rows


def _change_heading(rows: Rows, chance: Random) -> Rows:
    """A heading is spelled otherwise, empty, or that of another column."""
    at = chance.randrange(_columns(rows))
    if at < len(rows[0]):
        old = rows[0][at]
        rows[0][at] = chance.choice(
            (old.upper(), old.lower(), f" {old} ", "", chance.choice(rows[0]), odd_text(chance))
        )
    return rows


def _remove_headings(rows: Rows, chance: Random) -> Rows:
    """The headings are gone, or stand there twice."""
    return chance.choice((rows[1:], [rows[0], *rows]))


def _repeat_rows(rows: Rows, chance: Random) -> Rows:
    """Rows stand there more than once."""
    return rows + [chance.choice(rows[1:]) for _ in range(chance.choice((1, 5, 50)))]


def _mix_rows(rows: Rows, chance: Random) -> Rows:
    """Rows stand in another order."""
    rest = rows[1:]
    chance.shuffle(rest)
    return [rows[0], *rest]


def _cut_rows(rows: Rows, chance: Random) -> Rows:
    """Rows have too few or too many cells."""
    for _ in range(chance.choice((1, 3))):
        at = chance.randrange(1, len(rows))
        rows[at] = rows[at][: chance.randrange(len(rows[at]) + 1)] if chance.random() < 0.6 else [*rows[at], "x", "1"]
    return rows


def _remove_rows(rows: Rows, chance: Random) -> Rows:
    """Rows are gone: all, either half, or every second."""
    rest = rows[1:]
    return [rows[0], *chance.choice((rest[:0], rest[: len(rest) // 2], rest[len(rest) // 2 :], rest[::2]))]


change_cells, change_column, remove_column = _as_rows(_change_cells), _as_rows(_change_column), _as_rows(_remove_column)
repeat_column, swap_columns, change_heading = (
    _as_rows(_repeat_column),
    _as_rows(_swap_columns),
    _as_rows(_change_heading),
)
remove_headings, repeat_rows, mix_rows = _as_rows(_remove_headings), _as_rows(_repeat_rows), _as_rows(_mix_rows)
cut_rows, remove_rows = _as_rows(_cut_rows), _as_rows(_remove_rows)
