# SPDX-License-Identifier: Apache-2.0
"""Tables as CSV: by a byte order mark spreadsheets see that it is UTF-8, and no cell is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from advisor.model.comparison import Difference
    from advisor.model.findings import Rows
    from advisor.model.statistics import Statistic

C = TypeVar("C", str, bytes)
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
