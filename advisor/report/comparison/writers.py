# SPDX-License-Identifier: Apache-2.0
"""How a comparison is written: CSV is one file per table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.report.output_formats import COMPARED_CSV
from advisor.report.sources import NOWHERE, Sources
from advisor.report.writer_input import Reported
from advisor.report.writers import Output, write_output

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.report.charts.draw import Renderer


def write_comparison(
    comparison: Comparison,
    output: Output,
    language: Language,
    renderer: Renderer | None = None,
    sources: Sources = NOWHERE,
) -> Iterator[Path]:
    """Writes a comparison, and gives each file that was written: CSV is one file per table.

    Raises:
        UsageError: A file cannot be written.
    """
    if output.writer is COMPARED_CSV and not output.is_stdout:
        from advisor.report.comparison.lists import csv_files

        for path, text in csv_files(comparison, output.path, language):
            yield from write_output(text, Output(path, COMPARED_CSV))
        return
    locations = sources.locations(comparison.after)
    yield from write_output(
        output.writer.text(Reported(comparison.after, language, comparison, None, locations, renderer)), output
    )
