# SPDX-License-Identifier: Apache-2.0
"""A comparison as plain tables, whole and unformatted: what spreadsheets and data frames are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from advisor.messages.text import Language
from advisor.model.comparison import Change, Comparison, Difference, Moved
from advisor.model.findings import Head, Rows, Saving, Scalar
from advisor.report.comparison.items import Items
from advisor.report.prose import clean_line, flat_text
from advisor.report.spreadsheet import LONGEST_CELL
from advisor.report.table_files import csv_files

T = TypeVar("T")
Columns = Sequence[tuple[str, str, Callable[[T], Scalar]]]
"""What each column is called, its unit, and what stands in it of an entry."""


def plain_tables(comparison: Comparison, language: Language) -> tuple[Difference, ...]:
    """What became of the findings, why the step moved, then every table of differences."""
    changes = _make_table("changes", _columns_of_changes(comparison, language), comparison.changes)
    found = (_make_table("moved", _MOVED, comparison.moved), *map(_clean_table, comparison.tables))
    return (changes, *(table for table in found if table.rows.rows))


def comparison_csv_files(comparison: Comparison, path: Path, language: Language) -> tuple[tuple[Path, str], ...]:
    """A file with its text for each table: `out.csv` is that of the findings, `out.moved.csv` and others lie beside."""
    return csv_files(plain_tables(comparison, language), path)


def _make_table(name: str, columns: Columns[T], entries: Iterable[T]) -> Difference:
    heads = tuple(Head(name=head, unit=unit) for head, unit, _ in columns)
    rows = tuple(tuple(cell(one) for *_, cell in columns) for one in entries)
    return Difference(name=name, rows=Rows(columns=heads, rows=rows, total=len(rows)))


def _columns_of_changes(comparison: Comparison, language: Language) -> Columns[Change]:
    items = Items(comparison, language)
    return (
        ("status", "", lambda one: one.status),
        ("rule", "", lambda one: clean_line(one.rule)),
        ("title", "", lambda one: flat_text(items.item(one).title)),
        ("severity_before", "", lambda one: None if one.severity_before is None else one.severity_before.name),
        ("severity_after", "", lambda one: None if one.severity_after is None else one.severity_after.name),
        ("saving_before_us", "us", lambda one: _saving_us(one.saving_before)),
        ("saving_after_us", "us", lambda one: _saving_us(one.saving_after)),
        ("saving_delta_us", "us", _saving_delta_us),
        ("confidence", "", lambda one: one.confidence.name),
        ("reason", "", lambda one: clean_line(one.reason.say(language), LONGEST_CELL) if one.reason else None),
        ("fingerprint", "", lambda one: clean_line(one.fingerprint)),
    )


_MOVED: Columns[Moved] = (
    ("part", "", lambda one: one.part),
    ("name", "", lambda one: clean_line(one.name) if one.name else None),
    ("us_before", "us", lambda one: one.before_us),
    ("us_after", "us", lambda one: one.after_us),
    ("us_delta", "us", lambda one: round(one.delta_us, 6)),
    ("count_before", "count", lambda one: one.count_before),
    ("count_after", "count", lambda one: one.count_after),
    ("beyond_noise", "", lambda one: one.beyond_noise),
)


def _saving_us(saving: Saving | None) -> float | None:
    return None if saving is None else round(saving.us, 3)


def _saving_delta_us(change: Change) -> float | None:
    before, after = _saving_us(change.saving_before), _saving_us(change.saving_after)
    return None if before is None or after is None else after - before


def _clean_table(table: Difference) -> Difference:
    rows = tuple(
        tuple(clean_line(cell, LONGEST_CELL) if isinstance(cell, str) else cell for cell in row)
        for row in table.rows.rows
    )
    return table.model_copy(update={"rows": table.rows.model_copy(update={"rows": rows})})
