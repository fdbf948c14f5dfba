# SPDX-License-Identifier: Apache-2.0
"""A comparison as a spreadsheet: a summary, then a sheet for each table, with whole numbers behind what is shown."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.report.comparison.grids import LONGEST_CELL, ComparisonGrid, comparison_grids
from advisor.report.comparison.tables import table_title
from advisor.report.comparison.view import ComparisonView, comparison_view
from advisor.report.comparison.words import PARTS, STATUSES, say, say_column
from advisor.report.prose import clean_line, flat_text
from advisor.report.words import CAUSES, CONFIDENCES, SEVERITIES, word_for

if TYPE_CHECKING:
    from advisor.messages.text import Language, Text
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Head, Scalar

_WHEN = re.compile(r"_(before|after|delta)(?=_|$)")
_SIGNS = {"us": "µs", "B": "B", "count": ""}
_FORMATS = {"us": "#,##0.0##", "B": "#,##0", "count": "#,##0.##"}
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
_NARROWEST, _WIDEST, _MEASURED = 9, 60, 200
MADE = datetime(2000, 1, 1)
"""The same in every file, so that two runs give the same bytes; the format knows no time zones."""


def comparison_workbook(comparison: Comparison, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    out = io.BytesIO()
    with spreadsheet_library().Workbook(out, {"in_memory": True}) as book:
        book.set_properties({"created": MADE, "title": say("report", language)})
        styles = _Styles(book)
        _write_summary(book.add_worksheet(say("summary", language)), comparison_view(comparison, language, 0), styles)
        for grid in comparison_grids(comparison, language):
            _Sheet(book.add_worksheet(_sheet_name(grid.name, language)), grid, language, styles).write()
    return out.getvalue()


def spreadsheet_library() -> Any:
    """What writes spreadsheets.

    Raises:
        UsageError: It is not installed.
    """
    try:
        import xlsxwriter
    except ImportError as error:
        raise UsageError(Message("needs_xlsxwriter"), Message("install_xlsx")) from error
    return xlsxwriter


def check_library() -> None:
    """Says before the work starts that the library is missing.

    Raises:
        UsageError: It is not installed.
    """
    spreadsheet_library()


def _sheet_name(name: str, language: Language) -> str:
    """At most 31 characters, and none of those that a sheet name may not hold."""
    return re.sub(r"[\[\]:*?/\\']", " ", table_title(name, language))[:31]


class _Styles:
    """The formats of cells, each made once."""

    def __init__(self, book: Any) -> None:
        self.head = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1})
        self.strong = book.add_format({"bold": True, "font_size": 14})
        self.label = book.add_format({"bold": True})
        self.right = book.add_format({"align": "right"})
        self.number = {unit: book.add_format({"num_format": form}) for unit, form in _FORMATS.items()}
        self.delta = {unit: book.add_format({"num_format": _DELTA.format(form)}) for unit, form in _FORMATS.items()}

    def of(self, head: Head) -> Any:
        """The format of a column; None for names."""
        table = self.delta if "_delta" in head.name else self.number
        return table.get(head.unit)


class _Sheet:
    """One table on one sheet: header frozen, filters on, columns as wide as they need to be."""

    def __init__(self, sheet: Any, grid: ComparisonGrid, language: Language, styles: _Styles) -> None:
        self.sheet, self.grid, self.language, self.styles = sheet, grid, language, styles

    def write(self) -> None:
        grid = self.grid
        formats = [self.styles.of(head) for head in grid.columns]
        labels = [_column_label(head, self.language) for head in grid.columns]
        for at, label in enumerate(labels):
            self.sheet.write_string(0, at, label, self.styles.head)
            self.sheet.set_column(at, at, column_width(label, [row[at] for row in grid.rows[:_MEASURED]]))
        for line, row in enumerate(grid.rows, 1):
            for at in range(len(row)):
                self.cell(line, at, self.said(row, at), formats[at])
        self.sheet.freeze_panes(1, sum(not _WHEN.search(head.name) for head in grid.columns[:2]))
        self.sheet.autofilter(0, 0, max(len(grid.rows), 1), len(grid.columns) - 1)
        if grid.total > len(grid.rows):
            left = say("left_out", self.language, count=f"{grid.total - len(grid.rows):,}")
            self.sheet.write_string(len(grid.rows) + 2, 0, left, self.styles.label)

    def said(self, row: tuple[Scalar, ...], at: int) -> Scalar:
        """A cell in words of the language where it is one of a fixed set."""
        cell, name = row[at], self.grid.columns[at].name
        table = CAUSES if self.grid.name == "moved" and name == "name" and row[0] == "free" else _WORDS.get(name, {})
        return (word_for(table, cell, self.language) or cell) if isinstance(cell, str) else cell

    def cell(self, line: int, at: int, cell: Scalar, form: Any) -> None:
        """Text as text: nothing from a profile is a formula or a link."""
        if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
            return
        if isinstance(cell, bool):
            self.sheet.write_boolean(line, at, cell)
        elif isinstance(cell, str):
            self.sheet.write_string(line, at, cell[:LONGEST_CELL])
        else:
            self.sheet.write_number(line, at, cell, form)


def _column_label(head: Head, language: Language) -> str:
    """`Time per step, before (µs)`."""
    found = _WHEN.search(head.name)
    label = clean_line(say_column(_WHEN.sub("", head.name, count=1), language))
    when = f"{say('comma', language)}{say(found[1], language)}" if found else ""
    sign = _SIGNS.get(head.unit, head.unit)
    return f"{label}{when}{say('aside', language, words=sign) if sign else ''}"


def column_width(label: str, cells: Sequence[Scalar]) -> float:
    """Characters; a label may take two lines, wide characters count twice."""
    said = (_display_width(cell) if isinstance(cell, str) else 12 for cell in cells if cell is not None)
    return min(max(_NARROWEST, _display_width(label) / 2 + 2, max(said, default=0) + 1), _WIDEST)


def _display_width(text: str) -> int:
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def _write_summary(sheet: Any, shown: ComparisonView, styles: _Styles) -> None:
    """The verdict, the step and its parts, and what stands between the two captures."""
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 5, 18)
    lines = [*((f"{side.word}: {side.name}", side.line) for side in shown.sides)]
    sheet.write_string(0, 0, shown.verdict.says, styles.strong)
    texts = [flat_text(shown.verdict.mainly), shown.verdict.findings, shown.verdict.sure]
    line = 1
    for text in filter(None, texts):
        sheet.write_string(line, 0, text)
        line += 1
    line += 1
    for name, about in lines:
        sheet.write_string(line, 0, name)
        sheet.write_string(line, 3, about)
        line += 1
    line = _write_times(sheet, shown, styles, line + 1)
    for note in shown.notes:
        sheet.write_string(line, 0, flat_text(note))
        line += 1


def _write_times(sheet: Any, shown: ComparisonView, styles: _Styles, line: int) -> int:
    """The table of times, from this line on; gives the line after it."""
    if not shown.times:
        return line
    names = ("part", "Before", "After", "Delta", "Noise", "judged")
    for at, name in enumerate(names):
        sheet.write_string(line, at, say(name, shown.language), styles.head)
    for row, one in enumerate(shown.times, line + 1):
        delta = f"{one.delta} {one.percent}".rstrip()
        for at, text in enumerate((one.name, one.before, one.after, delta, one.noise, one.judged)):
            sheet.write_string(row, at, text, styles.right if 0 < at < len(names) - 1 else None)
    return line + len(shown.times) + 2
