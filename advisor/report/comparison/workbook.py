# SPDX-License-Identifier: Apache-2.0
"""A comparison as a spreadsheet: a summary, then a sheet for each table, with whole numbers behind what is shown."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Language, Text, TimesOf
from advisor.model.comparison import Comparison, Difference
from advisor.model.findings import Head, Scalar
from advisor.report.column_values import CAUSES
from advisor.report.comparison.document import ComparisonBlocks
from advisor.report.comparison.plain_tables import plain_tables
from advisor.report.comparison.sides import summed_times
from advisor.report.comparison.tables import WHEN, column_label, table_title
from advisor.report.comparison.words import STATUSES, say
from advisor.report.spreadsheet import FORMS, Sheet, sheet_of_columns, workbook_bytes
from advisor.report.time_split import PARTS
from advisor.report.words import CONFIDENCES, SEVERITIES, word_for

_FORMS = {**FORMS, "count": "General"}
"""How numbers are shown, by their unit: counts per step are whole or not."""
_DELTA = "[Red]+{0};[Blue]-{0};0"
"""A difference with its sign: red for more, blue for less."""
_WORDS: Mapping[str, Mapping[str, Text]] = {
    "status": STATUSES,
    "severity_before": SEVERITIES,
    "severity_after": SEVERITIES,
    "confidence": CONFIDENCES,
    "part": PARTS,
}
"""Columns that hold one of a fixed set."""


def comparison_workbook(comparison: Comparison, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    times_of = summed_times(comparison)
    sheets = (_make_sheet(table, language, times_of) for table in plain_tables(comparison, language))
    summary = tuple(ComparisonBlocks(comparison, language, 0).summary())
    return workbook_bytes(say("report", language), sheets, (say("summary", language), summary))


def _make_sheet(table: Difference, language: Language, times_of: TimesOf) -> Sheet:
    heads, rows = table.rows.columns, table.rows.rows
    left = table.rows.total - len(rows)
    return sheet_of_columns(
        table_title(table.name, language),
        ((_label(head, language, times_of), head.unit, _number_form(head)) for head in heads),
        ((_say_cell(row, at, table, language) for at in range(len(row))) for row in rows),
        language,
        frozen=sum(not WHEN.search(head.name) for head in heads[:2]),
        note=say("left_out", language, count=f"{left:,}") if left > 0 else "",
    )


def _say_cell(row: tuple[Scalar, ...], at: int, table: Difference, language: Language) -> Scalar:
    """A cell in words of the language where it is one of a fixed set."""
    cell, name = row[at], table.rows.columns[at].name
    words = CAUSES if table.name == "moved" and name == "name" and row[0] == "free" else _WORDS.get(name, {})
    return (word_for(words, cell, language) or cell) if isinstance(cell, str) else cell


def _number_form(head: Head) -> str:
    """How the numbers of a column are shown; nothing for names."""
    form = _FORMS.get(head.unit, "")
    return _DELTA.format(form) if form and "_delta" in head.name else form


def _label(head: Head, language: Language, times_of: TimesOf) -> str:
    """`Time per step, before`."""
    found = WHEN.search(head.name)
    when = f"{say('comma', language)}{say(found[1], language)}" if found else ""
    return column_label(head.name, language, times_of) + when
