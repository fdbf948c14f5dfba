# SPDX-License-Identifier: Apache-2.0
"""Statistics as a spreadsheet: a sheet for each table."""

from __future__ import annotations

from advisor.messages.text import Language, TimesOf
from advisor.model.statistics import Statistics
from advisor.report.prose import clean_line
from advisor.report.spreadsheet import FORMS, cell_in_words, sheet_of_columns, workbook_bytes
from advisor.report.statistics.words import SHEETS, say, say_column, say_table
from advisor.report.words import word_for


def statistics_workbook(statistics: Statistics, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    times_of = statistics.times_of
    sheets = (
        sheet_of_columns(
            sheet_name(table.name, language, times_of),
            (
                (say_column(head.name, language, times_of), head.unit, FORMS.get(head.unit, ""))
                for head in table.rows.columns
            ),
            (
                (cell_in_words(cell, head.name, language) for cell, head in zip(row, table.rows.columns, strict=True))
                for row in table.rows.rows
            ),
            language,
            frozen=len(table.keys),
        )
        for table in statistics.tables
    )
    return workbook_bytes(say("statistics", language, run=clean_line(statistics.run, 200)), sheets)


def sheet_name(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """What the sheet of a table is called."""
    return word_for(SHEETS, name, language) or say_table(name, language, times_of)
