# SPDX-License-Identifier: Apache-2.0
"""Statistics as a spreadsheet: a sheet for each table."""

from __future__ import annotations

from advisor.messages.text import Language
from advisor.model.statistics import Statistics
from advisor.report.prose import clean_line
from advisor.report.spreadsheet import FORMS, cell_in_words, sheet_of_columns, workbook_bytes
from advisor.report.statistics.document import sheet_name
from advisor.report.statistics.words import say, say_column


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
