# SPDX-License-Identifier: Apache-2.0
"""A comparison as plain tables, whole and unformatted: what spreadsheets and data frames are given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.comparison import Change, Comparison, Moved
from advisor.model.findings import Head, Saving, Scalar
from advisor.report.comparison.items import Items
from advisor.report.formats.table import csv_text
from advisor.report.prose import clean_line, flat_text
from advisor.report.spreadsheet import LONGEST_CELL


class ComparisonGrid(Struct, frozen=True):
    """One table: its name, its columns with their units, all its rows."""

    name: str
    columns: tuple[Head, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    total: int
    """How many rows there were."""


def comparison_grids(comparison: Comparison, language: Language) -> tuple[ComparisonGrid, ...]:
    """What became of the findings, why the step moved, then every table of differences."""
    found = [_changes_grid(comparison, language), _moved_grid(comparison.moved)]
    found += [
        ComparisonGrid(one.name, one.rows.columns, _clean_rows(one.rows.rows), one.rows.total)
        for one in comparison.tables
    ]
    return tuple(grid for grid in found if grid.rows or grid.name == "changes")


def csv_files(comparison: Comparison, path: Path, language: Language) -> tuple[tuple[Path, str], ...]:
    """A file for each table with its text: `out.csv` is that of the findings, `out.moved.csv` and others lie beside it.

    One file of many tables could be read by nobody.
    """
    first, *others = comparison_grids(comparison, language)
    beside = ((path.with_name(f"{path.stem}.{grid.name}{path.suffix or '.csv'}"), grid) for grid in others)
    return tuple(
        (file, csv_text((column.name for column in grid.columns), grid.rows)) for file, grid in ((path, first), *beside)
    )


_CHANGES = (
    ("status", ""),
    ("rule", ""),
    ("title", ""),
    ("severity_before", ""),
    ("severity_after", ""),
    ("saving_before_us", "us"),
    ("saving_after_us", "us"),
    ("saving_delta_us", "us"),
    ("confidence", ""),
    ("reason", ""),
    ("fingerprint", ""),
)
_MOVED = (
    ("part", ""),
    ("name", ""),
    ("us_before", "us"),
    ("us_after", "us"),
    ("us_delta", "us"),
    ("count_before", "count"),
    ("count_after", "count"),
    ("beyond_noise", ""),
)


def _make_heads(columns: Iterable[tuple[str, str]]) -> tuple[Head, ...]:
    return tuple(Head(name=name, unit=unit) for name, unit in columns)


def _changes_grid(comparison: Comparison, language: Language) -> ComparisonGrid:
    items = Items(comparison, language)
    rows = [_change_row(change, flat_text(items.item(change).title), language) for change in comparison.changes]
    return ComparisonGrid("changes", _make_heads(_CHANGES), tuple(rows), len(rows))


def _change_row(change: Change, title: str, language: Language) -> tuple[Scalar, ...]:
    before, after = _saving_us(change.saving_before), _saving_us(change.saving_after)
    return (
        change.status,
        clean_line(change.rule),
        title,
        None if change.severity_before is None else change.severity_before.name,
        None if change.severity_after is None else change.severity_after.name,
        before,
        after,
        None if before is None or after is None else after - before,
        change.confidence.name,
        clean_line(change.reason.say(language), LONGEST_CELL) if change.reason else None,
        clean_line(change.fingerprint),
    )


def _saving_us(saving: Saving | None) -> float | None:
    return None if saving is None else round(saving.us, 3)


def _moved_grid(entries: Iterable[Moved]) -> ComparisonGrid:
    rows = [
        (
            one.part,
            clean_line(one.name) if one.name else None,
            one.before_us,
            one.after_us,
            round(one.delta_us, 6),
            one.count_before,
            one.count_after,
            one.beyond_noise,
        )
        for one in entries
    ]
    return ComparisonGrid("moved", _make_heads(_MOVED), tuple(rows), len(rows))


def _clean_rows(rows: Iterable[tuple[Scalar, ...]]) -> tuple[tuple[Scalar, ...], ...]:
    return tuple(
        tuple(clean_line(cell, LONGEST_CELL) if isinstance(cell, str) else cell for cell in row) for row in rows
    )
