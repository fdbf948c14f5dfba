# SPDX-License-Identifier: Apache-2.0
"""The tables of two captures as blocks: columns named, empty ones left out, rows bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from advisor.messages.text import Language, TimesOf
from advisor.model.comparison import Difference
from advisor.model.findings import Head, Rows, Scalar, number_or_none
from advisor.report.blocks import Fold, Grid, Paragraph
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.words import TABLES, say, say_column
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, plain_prose
from advisor.report.words import say_row_count
from advisor.units import show_value

WHEN = re.compile(r"_(before|after|delta)(?=_|$)")
"""What of the name of a column says when it was measured."""
LONGEST_NAME = 60
MOST_OPEN = 16
"""So many ranks are shown at once on a page."""
_TOLD: frozenset[str] = frozenset(
    {
        *("total_us", "device_total_us", "host_total_us", "size_bytes", "reserved_bytes", "calls"),
        *("compute_us", "exposed_comm_us", "free_us"),
    }
)
"""Amounts whose difference is shown; of the others before and after say enough."""


class _Column(Struct, frozen=True):
    """One column: its place in the rows, and when it was measured (nothing for a name)."""

    at: int
    label: str
    when: str
    unit: str


def difference_fold(table: Difference, language: Language, most: int, times_of: TimesOf = "step") -> Fold:
    """A table with at most so many rows."""
    columns = tuple(_told_columns(table.rows, language, times_of))
    rows = table.rows.rows[:most]
    total = max(table.rows.total, len(table.rows.rows))
    grid = Grid(
        tuple(plain_prose(say(one.when, language)) if one.when else () for one in columns),
        tuple(tuple(_cell_prose(row[one.at], one) for one in columns) for row in rows),
        tuple(bool(one.when) for one in columns),
        over=tuple(one.label for one in columns),
    )
    more = (Paragraph(plain_prose(say("more_rows", language))),) if total > len(rows) else ()
    title = (
        TextPiece(table_title(table.name, language)),
        TextPiece(say_row_count(len(rows), total, language), tone="quiet"),
    )
    return Fold(title, (grid, *more), is_open=table.name == "ranks" and len(rows) <= MOST_OPEN)


def table_title(name: str, language: Language) -> str:
    """What a table is called."""
    return TABLES[name].say(language) if name in TABLES else clean_line(name)


def column_label(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """What a column is called, whenever it was measured."""
    return clean_line(say_column(WHEN.sub("", name, count=1), language, times_of))


def _told_columns(rows: Rows, language: Language, times_of: TimesOf) -> Iterator[_Column]:
    """The columns that say something in at least one row, without differences that nobody looks for."""
    for at, head in enumerate(rows.columns):
        if _is_told(head) and any(row[at] is not None for row in rows.rows):
            found = WHEN.search(head.name)
            yield _Column(at, column_label(head.name, language, times_of), found[1] if found else "", head.unit)


def _is_told(head: Head) -> bool:
    return "_delta" not in head.name or WHEN.sub("", head.name, count=1) in _TOLD


def _cell_prose(value: Scalar, of: _Column) -> Prose:
    amount = number_or_none(value)
    if of.when == "delta":
        return (TextPiece(signed_amount(amount, of.unit), tone="" if not amount else "bad" if amount > 0 else "good"),)
    if of.when:
        return plain_prose(show_value(amount, of.unit))
    # a name may be a number, such as a rank or a size
    return (
        plain_prose(show_value(value, of.unit))
        if value is None or amount is not None
        else code_prose(value, LONGEST_NAME)
    )
