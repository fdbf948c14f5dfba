# SPDX-License-Identifier: Apache-2.0
"""The tables of two captures, ready to be shown: columns named, empty ones left out, rows bounded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.comparison import Difference
from advisor.model.findings import Head, Rows, Scalar, number_or_none
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.words import TABLES, say, say_column
from advisor.report.prose import Prose, clean_line, code_prose, plain_prose
from advisor.units import show_value

_WHEN = re.compile(r"_(before|after|delta)(?=_|$)")
LONGEST_NAME = 60
_TOLD: frozenset[str] = frozenset(
    {
        *("total_us", "device_total_us", "host_total_us", "size_bytes", "reserved_bytes", "calls"),
        *("compute_us", "exposed_comm_us", "free_us"),
    }
)
"""Amounts whose difference is shown; of the others before and after say enough."""


class SheetColumn(Struct, frozen=True):
    """One column: what it is called, and when it was measured."""

    name: str
    label: str
    when: str
    """`before`, `after`, `delta`, or nothing for a name."""
    unit: str
    at: int
    """Its place in the rows."""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return bool(self.when)


class SheetCell(Struct, frozen=True):
    """One cell: what it says, and the colour of a difference."""

    says: Prose
    kind: str = ""
    """`slower` or `faster` for a difference of times, else nothing."""


class DifferenceSheet(Struct, frozen=True):
    """One table."""

    name: str
    title: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[SheetCell, ...], ...]
    note: str
    cut: bool
    """Whether there are more rows than shown."""

    @property
    def spans(self) -> tuple[tuple[str, int], ...]:
        """The labels over the columns, each with how many columns it stands over."""
        found: list[tuple[str, int]] = []
        for one in self.columns:
            if one.when and found and found[-1][0] == one.label:
                found[-1] = (one.label, found[-1][1] + 1)
            else:
                found.append((one.label, 1))
        return tuple(found)


def difference_sheets(tables: Sequence[Difference], language: Language, most: int) -> tuple[DifferenceSheet, ...]:
    """Every table with its first rows."""
    return tuple(_make_sheet(table, language, most) for table in tables)


def _make_sheet(table: Difference, language: Language, most: int) -> DifferenceSheet:
    shown = columns_of(table.rows, language)
    rows = table.rows.rows[:most]
    total = max(table.rows.total, len(table.rows.rows))
    name = "rows_of" if total > len(rows) else "rows_one" if total == 1 else "rows_all"
    return DifferenceSheet(
        name=clean_line(table.name),
        title=table_title(table.name, language),
        columns=shown,
        rows=tuple(tuple(_make_cell(row[one.at], one) for one in shown) for row in rows),
        note=say(name, language, shown=f"{len(rows):,}", total=f"{total:,}"),
        cut=total > len(rows),
    )


def table_title(name: str, language: Language) -> str:
    """What a table is called."""
    return TABLES[name].say(language) if name in TABLES else clean_line(name)


def columns_of(rows: Rows, language: Language) -> tuple[SheetColumn, ...]:
    """The columns that say something in at least one row, without differences that nobody looks for."""
    heads = enumerate(rows.columns)
    shown = ((at, head) for at, head in heads if any(row[at] is not None for row in rows.rows))
    return tuple(_make_column(head, at, language) for at, head in shown if _is_told(head.name))


def _is_told(name: str) -> bool:
    return "_delta" not in name or _WHEN.sub("", name, count=1) in _TOLD


def _make_column(head: Head, at: int, language: Language) -> SheetColumn:
    found = _WHEN.search(head.name)
    when = found[1] if found else ""
    label = clean_line(say_column(_WHEN.sub("", head.name, count=1), language))
    return SheetColumn(head.name, label, when, head.unit, at)


def _make_cell(value: Scalar, of: SheetColumn) -> SheetCell:
    if not of.when:
        # a name may be a number, such as a rank or a size
        return SheetCell(
            plain_prose(show_value(value, of.unit))
            if value is None or number_or_none(value) is not None
            else code_prose(value, LONGEST_NAME)
        )
    amount = number_or_none(value)
    if of.when != "delta":
        return SheetCell(plain_prose(show_value(amount, of.unit)))
    return SheetCell(plain_prose(signed_amount(amount, of.unit)), _delta_kind(amount))


def _delta_kind(amount: float | None) -> str:
    return "" if not amount else "slower" if amount > 0 else "faster"
