# SPDX-License-Identifier: Apache-2.0
"""One writer per format of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.report.sources import NOWHERE, Sources
from advisor.report.writers import FOR_PROGRAMS, Output, Reported, Writer, deliver

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.report.charts.draw import Renderer


def _html(reported: Reported) -> str:
    from advisor.report.comparison.page import page

    return page(_compared(reported), reported.language, reported.renderer)


def _markdown(reported: Reported) -> str:
    from advisor.report.comparison.markdown import document

    return document(_compared(reported), reported.language)


def _json(reported: Reported) -> str:
    return _compared(reported).to_json()


def _xlsx(reported: Reported) -> bytes:
    from advisor.report.comparison.workbook import workbook

    return workbook(_compared(reported), reported.language)


def _csv(reported: Reported) -> str:
    from advisor.report.comparison.lists import files

    return files(_compared(reported), Path("-"), reported.language)[0][1]


def _compared(reported: Reported) -> Comparison:
    if reported.comparison is None:
        raise ValueError("a comparison is written, and there is none")
    return reported.comparison


CSV = Writer(".csv", "csv", _csv)
XLSX = Writer(".xlsx", "xlsx", _xlsx)
WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", _html),
    Writer(".md", "markdown", _markdown),
    Writer(".json", "json", _json),
    XLSX,
    CSV,
    *(writer for writer in FOR_PROGRAMS if writer.name != CSV.name),
)


def check_libraries(outputs: Sequence[Output]) -> None:
    """Says before the work starts what is missing for it.

    Raises:
        UsageError: A library is not installed.
    """
    if any(output.writer is XLSX for output in outputs):
        from advisor.report.comparison.workbook import check_library

        check_library()


def write(
    comparison: Comparison,
    output: Output,
    language: Language,
    renderer: Renderer | None = None,
    sources: Sources = NOWHERE,
) -> tuple[Path, ...]:
    """Writes a comparison, and gives the files that were written: CSV is one file per table.

    Raises:
        UsageError: A file cannot be written.
    """
    if output.writer is CSV and not output.is_stdout:
        from advisor.report.comparison.lists import files

        made = files(comparison, output.path, language)
        for path, text in made:
            deliver(text, Output(path, CSV))
        return tuple(path for path, _ in made)
    locations = sources.locations(comparison.after)
    deliver(output.writer.text(Reported(comparison.after, language, comparison, None, locations, renderer)), output)
    return () if output.is_stdout else (output.path,)
