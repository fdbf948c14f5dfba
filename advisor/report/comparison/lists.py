# SPDX-License-Identifier: Apache-2.0
"""A comparison as CSV: one file per table, columns named as in the JSON, so that data frames take them as they are.

`out.csv` holds what became of the findings; beside it stand `out.moved.csv`, `out.kernels.csv` and so on: one file
of many tables could be read by nobody.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.model.findings import Scalar
from advisor.report.comparison.grids import ComparisonGrid, comparison_grids
from advisor.report.formats.table import MARK, harmless_cell


def csv_files(comparison: Comparison, path: Path, language: Language) -> tuple[tuple[Path, str], ...]:
    """Every file with its text, that of the findings first."""
    first, *others = comparison_grids(comparison, language)
    beside = ((path.with_name(f"{path.stem}.{grid.name}{path.suffix or '.csv'}"), csv_text(grid)) for grid in others)
    return ((path, csv_text(first)), *beside)


def csv_text(grid: ComparisonGrid) -> str:
    """One table; lines end as RFC 4180 says, and no cell is taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(column.name for column in grid.columns)
    writer.writerows([harmless_cell(_csv_cell(cell)) for cell in row] for row in grid.rows)
    return MARK + out.getvalue()


def _csv_cell(cell: Scalar) -> str | int | float | None:
    return str(cell).lower() if isinstance(cell, bool) else cell
