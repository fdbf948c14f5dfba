# SPDX-License-Identifier: Apache-2.0
"""Tables as CSV: by a byte order mark spreadsheets see that it is UTF-8, and no cell is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

MARK = "\ufeff"
CellValue = str | int | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet would work out; the full-width signs are taken for the same."""


def csv_text(heads: Iterable[str], rows: Iterable[Iterable[CellValue]]) -> str:
    """A heading and rows; lines end as RFC 4180 says, and no cell is taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(heads)
    writer.writerows(map(harmless_cell, row) for row in rows)
    return MARK + out.getvalue()


def harmless_cell(cell: CellValue) -> CellValue:
    """A truth as JSON spells it, and no text that a spreadsheet works out: one that looks so gets an apostrophe."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip().startswith(_FORMULA) else cell
