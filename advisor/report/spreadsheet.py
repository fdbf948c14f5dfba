# SPDX-License-Identifier: Apache-2.0
"""Tables as a spreadsheet: one to a sheet, header frozen, filters on, whole numbers behind what is shown."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.messages.text import Language
from advisor.model.findings import Scalar
from advisor.model.unread import SavedMessage
from advisor.report.blocks import Blocks, Grid, Heading, Paragraph
from advisor.report.column_values import value_word
from advisor.report.prose import clean_line, flat_text, letter_columns
from advisor.report.words import say_aside

LONGEST_CELL = 2000
_NARROWEST, _WIDEST, _MEASURED = 9, 60, 200
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")
_LONGEST_NAME = 31
_MADE = datetime(2000, 1, 1)
"""The same in every file, so that two runs give the same bytes; the format knows no time zones."""

UNIT_SIGNS = {"us": "µs", "times": "×", "share": "", "count": "", "TFLOP/s": "", "MAD": ""}
"""How units are written where people read; not at all where cells or their head say it."""
FORMS = {"us": "#,##0.0##", "B": "#,##0", "share": "0.0%", "count": "#,##0", "GB/s": "0.0"}
"""How numbers are shown, by their unit."""


class Sheet(Struct, frozen=True):
    """One table: its name, the words over its columns, and rows of numbers and words."""

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    forms: tuple[str, ...] = ()
    """How the numbers of each column are shown; empty for names."""
    frozen: int = 0
    """So many columns stay in sight."""
    note: str = ""
    """What is said below the rows."""


def sheet_of_columns(
    name: str,
    columns: Iterable[tuple[str, str, str]],
    rows: Iterable[Iterable[Scalar]],
    language: Language,
    *,
    frozen: int,
    note: str = "",
) -> Sheet:
    """A table whose columns are given by what they are called, their unit, and the form of their numbers."""
    known = tuple(columns)
    heads = tuple(head_with_unit(label, unit, language) for label, unit, _ in known)
    return Sheet(name, heads, tuple(map(tuple, rows)), tuple(form for *_, form in known), frozen, note)


def head_with_unit(label: str, unit: str, language: Language) -> str:
    """What stands over a column: `Time per step (µs)`."""
    sign = UNIT_SIGNS.get(unit, unit)
    return label + say_aside(sign, language) if sign else label


def cell_in_words(cell: Scalar, column: str, language: Language, said: SavedMessage | None = None) -> Scalar:
    """A cell that people read: what is `said` as a message or is out of a fixed set in words of the language, a name
    harmless to show."""
    if not isinstance(cell, str):
        return cell
    word = said.say(language) if said else None
    return (
        clean_line(word, LONGEST_CELL) if word else value_word(cell, column, language) or clean_line(cell, LONGEST_CELL)
    )


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


def workbook_bytes(title: str, sheets: Iterable[Sheet], first: tuple[str, Blocks] | None = None) -> bytes:
    """The bytes of an .xlsx file; `first` is a sheet of sentences and tables before all others.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    out = io.BytesIO()
    with spreadsheet_library().Workbook(out, {"in_memory": True}) as book:
        book.set_properties({"created": _MADE, "title": title})
        writer = _SheetWriter(book)
        if first is not None:
            writer.write_blocks(*first)
        for sheet in sheets:
            writer.write_sheet(sheet)
    return out.getvalue()


class _SheetWriter:
    """Writes sheets into a book, each format of a cell made once."""

    def __init__(self, book: Any) -> None:
        self.book = book
        self.head = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1})
        self.strong = book.add_format({"bold": True, "font_size": 14})
        self.label = book.add_format({"bold": True})
        self.right = book.add_format({"align": "right"})
        self.forms: dict[str, Any] = {"": None}

    def add_sheet(self, name: str) -> Any:
        """A sheet; its name holds at most 31 characters, and none of those that no name may hold."""
        return self.book.add_worksheet(_NOT_IN_NAMES.sub(" ", name)[:_LONGEST_NAME])

    def write_sheet(self, one: Sheet) -> None:
        sheet = self.add_sheet(one.name)
        for form in set(one.forms) - set(self.forms):
            self.forms[form] = self.book.add_format({"num_format": form})
        forms = [self.forms[form] for form in one.forms]
        for at, head in enumerate(one.heads):
            sheet.write_string(0, at, head, self.head)
        for line, row in enumerate(one.rows, 1 if one.heads else 0):
            for at, cell in enumerate(row):
                _write_cell(sheet, line, at, cell, forms[at] if forms else None)
        if one.heads:
            sheet.freeze_panes(1, one.frozen)
            sheet.autofilter(0, 0, max(len(one.rows), 1), len(one.heads) - 1)
        for at in range(max(map(len, (one.heads, *one.rows)), default=0)):
            head = one.heads[at] if one.heads else ""
            sheet.set_column(at, at, _column_width(head, [row[at] for row in one.rows[:_MEASURED] if at < len(row)]))
        if one.note:
            sheet.write_string(len(one.rows) + 2, 0, one.note, self.label)

    def write_blocks(self, name: str, blocks: Blocks) -> None:
        """Sentences and tables below each other."""
        sheet, line = self.add_sheet(name), 0
        sheet.set_column(0, 0, 28)
        sheet.set_column(1, 5, 18)
        for above, block in pairwise((None, *blocks)):
            line += isinstance(above, Grid) or isinstance(block, Grid)
            if isinstance(block, Grid):
                line = self.write_grid(sheet, block, line)
            elif isinstance(block, Heading | Paragraph):
                sheet.write_string(line, 0, flat_text(block.said), self.strong if isinstance(block, Heading) else None)
                line += 1

    def write_grid(self, sheet: Any, grid: Grid, line: int) -> int:
        """A table from this line on; gives the line below it."""
        titled = any(grid.heads)
        for row, cells in enumerate((*([grid.heads] if titled else []), *grid.rows), line):
            for at, cell in enumerate(cells):
                form = self.head if titled and row == line else self.right if grid.right[at] else None
                sheet.write_string(row, at, flat_text(cell), form)
        return line + len(grid.rows) + titled


def _write_cell(sheet: Any, line: int, at: int, cell: Scalar, form: Any) -> None:
    """Text as text: nothing from a profile is a formula or a link."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return
    if isinstance(cell, bool):
        sheet.write_boolean(line, at, cell)
    elif isinstance(cell, str):
        sheet.write_string(line, at, cell[:LONGEST_CELL])
    else:
        sheet.write_number(line, at, cell, form)


def _column_width(label: str, cells: Sequence[Scalar]) -> float:
    """Characters; a label may take two lines, wide characters count twice."""
    said = (letter_columns(cell) if isinstance(cell, str) else 12 for cell in cells if cell is not None)
    return min(max(_NARROWEST, letter_columns(label) / 2 + 2, max(said, default=0) + 1), _WIDEST)
