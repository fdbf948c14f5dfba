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
from advisor.report.comparison.grids import Grid, grids
from advisor.report.formats.table import MARK, harmless


def files(comparison: Comparison, path: Path, language: Language) -> tuple[tuple[Path, str], ...]:
    """Every file with its text, that of the findings first."""
    first, *others = grids(comparison, language)
    beside = ((path.with_name(f"{path.stem}.{grid.name}{path.suffix or '.csv'}"), text(grid)) for grid in others)
    return ((path, text(first)), *beside)


def text(grid: Grid) -> str:
    """One table; lines end as RFC 4180 says, and no cell is taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(column.name for column in grid.columns)
    writer.writerows([harmless(_plain(cell)) for cell in row] for row in grid.rows)
    return MARK + out.getvalue()


def _plain(cell: Scalar) -> str | int | float | None:
    return str(cell).lower() if isinstance(cell, bool) else cell
