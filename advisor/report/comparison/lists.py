# SPDX-License-Identifier: Apache-2.0
"""A comparison as CSV: one file per table, columns named as in the JSON, so that data frames take them as they are.

`out.csv` holds what became of the findings; beside it stand `out.moved.csv`, `out.kernels.csv` and so on: one file
of many tables could be read by nobody.
"""

from __future__ import annotations

from pathlib import Path

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.comparison.grids import ComparisonGrid, comparison_grids
from advisor.report.formats.table import csv_text


def csv_files(comparison: Comparison, path: Path, language: Language) -> tuple[tuple[Path, str], ...]:
    """Every file with its text, that of the findings first."""
    first, *others = comparison_grids(comparison, language)
    beside = ((path.with_name(f"{path.stem}.{grid.name}{path.suffix or '.csv'}"), _grid_text(grid)) for grid in others)
    return ((path, _grid_text(first)), *beside)


def _grid_text(grid: ComparisonGrid) -> str:
    return csv_text((column.name for column in grid.columns), grid.rows)
