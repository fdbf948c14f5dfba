# SPDX-License-Identifier: Apache-2.0
"""CSV: one row per finding, for spreadsheets and data frames.

It begins with a byte order mark, by which spreadsheets see that it is UTF-8, and no cell is taken for a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from advisor.report.formats.results import RULE, ToolResult, nothing_checked, reported_results
from advisor.report.places import number_ranges
from advisor.report.prose import clean_line

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.comparison import Difference
    from advisor.model.findings import Rows
    from advisor.model.statistics import Statistic
    from advisor.report.output_formats import Reported

C = TypeVar("C", str, bytes)
MARK = "\ufeff"
CellValue = str | int | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet would work out; the full-width signs are taken for the same."""

_COLUMNS: Mapping[str, Callable[[ToolResult, Language], CellValue]] = {
    "rule": lambda result, _: result.card.rule,
    "title": lambda result, _: result.headline,
    "severity": lambda result, _: result.finding.severity.name,
    "confidence": lambda result, _: result.finding.confidence.name,
    "saving_us": lambda result, _: result.finding.saving.told[0],
    "saving_share": lambda result, _: result.finding.saving.told[1],
    "saving_at_most": lambda result, _: result.card.at_most,
    "subject": lambda result, _: _subject_text(result),
    "ranks": lambda result, language: _place_numbers(result, "rank", language),
    "steps": lambda result, language: _place_numbers(result, "step", language),
    "first_fix": lambda result, _: result.card.first_step,
    "file": lambda result, _: result.location.file if result.location else None,
    "line": lambda result, _: result.location.line if result.location else None,
    "status": lambda result, _: result.change.status if result.change else None,
    "level": lambda result, _: result.level,
    "suppressed": lambda result, _: clean_line(result.suppression.reason) if result.suppression else None,
    "fingerprint": lambda result, _: clean_line(result.finding.fingerprint),
}


def text(reported: Reported) -> str:
    """A heading, then the findings in the order of the diagnosis."""
    rows = [[cell(result, reported.language) for cell in _COLUMNS.values()] for result in reported_results(reported)]
    if blind := nothing_checked(reported):
        rows.append([{"rule": RULE, "title": blind, "level": "warning"}.get(name) for name in _COLUMNS])
    return csv_text(_COLUMNS, rows)


def csv_text(heads: Iterable[str], rows: Iterable[Iterable[CellValue]]) -> str:
    """A heading and rows; lines end as RFC 4180 says, and no cell is taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(heads)
    writer.writerows(map(harmless_cell, row) for row in rows)
    return MARK + out.getvalue()


def files_of_tables(
    path: Path, tables: Sequence[Statistic | Difference], suffix: str, write: Callable[[Rows], C]
) -> tuple[tuple[Path, C], ...]:
    """A file for each table: the first has the name that was asked for, `out.csv`, the others lie beside it.

    `suffix` is that of the others where the name that was asked for has none. One file of many tables could be read by
    nobody.
    """
    paths = [path, *(path.with_name(f"{path.stem}.{table.name}{path.suffix or suffix}") for table in tables[1:])]
    return tuple((at, write(table.rows)) for at, table in zip(paths, tables, strict=True))


def csv_of_rows(rows: Rows) -> str:
    """Rows below the names of their columns."""
    return csv_text((head.name for head in rows.columns), rows.rows)


def harmless_cell(cell: CellValue) -> CellValue:
    """A truth as JSON spells it, and no text that a spreadsheet works out: one that looks so gets an apostrophe."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip().startswith(_FORMULA) else cell


def _subject_text(result: ToolResult) -> str:
    return ", ".join(f"{clean_line(key)}={clean_line(value)}" for key, value in result.finding.subject.items())


def _place_numbers(result: ToolResult, name: str, language: Language) -> str:
    return number_ranges((n for place in result.finding.seen if (n := getattr(place, name)) is not None), language)
