# SPDX-License-Identifier: Apache-2.0
"""CSV: one row per finding, for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from advisor.report.csv_tables import CellValue, csv_text
from advisor.report.formats.results import RULE, ToolResult, nothing_checked, reported_results
from advisor.report.places import number_ranges
from advisor.report.prose import clean_line

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.report.output_formats import Reported

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


def _subject_text(result: ToolResult) -> str:
    return ", ".join(f"{clean_line(key)}={clean_line(value)}" for key, value in result.finding.subject.items())


def _place_numbers(result: ToolResult, name: str, language: Language) -> str:
    return number_ranges((n for place in result.finding.seen if (n := getattr(place, name)) is not None), language)
