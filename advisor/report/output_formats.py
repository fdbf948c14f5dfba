# SPDX-License-Identifier: Apache-2.0
"""Every format there is, in one table for each kind of document: its ending, its name, and who writes it.

What writes a format is imported when it is written: the command line names the formats in its help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.report.writer_input import Reported, Told

if TYPE_CHECKING:
    from advisor.model.comparison import Comparison


class Writer(NamedTuple):
    """A format: how files of it end, what it is called, and how a diagnosis becomes its text."""

    suffix: str
    name: str
    """As in `-o NAME:FILE`."""
    text: Callable[[Any], str | bytes]
    also: tuple[str, ...] = ()
    """Other endings of the same format."""
    note: str = ""
    """What is said of it in the help of a command."""
    placed: bool = False
    """Whether its readers show findings at lines of the source code, and little of those without one."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Every ending, the usual one first."""
        return (self.suffix, *self.also)


def _report_html(reported: Reported) -> str:
    from advisor.report.diagnosis.page import diagnosis_page

    return diagnosis_page(reported.diagnosis, reported.language, reported.renderer)


def _report_markdown(reported: Reported) -> str:
    from advisor.report.diagnosis.document import diagnosis_document
    from advisor.report.renderers.markdown import document_text

    return document_text(diagnosis_document(reported.diagnosis, reported.language))


def _report_xlsx(reported: Reported) -> bytes:
    from advisor.report.diagnosis.workbook import diagnosis_workbook

    return diagnosis_workbook(reported.diagnosis, reported.language)


def _report_json(reported: Reported) -> str:
    return reported.diagnosis.to_json()


def _lazy_format(module: str) -> Callable[[Reported], str]:
    """The format of this module, imported when it is written."""

    def text(reported: Reported) -> str:
        from importlib import import_module

        written: str = import_module(f"advisor.report.formats.{module}").text(reported)
        return written

    return text


FOR_PROGRAMS: tuple[Writer, ...] = (
    Writer(".sarif", "sarif", _lazy_format("sarif"), also=(".sarif.json",), placed=True),
    Writer(".junit.xml", "junit", _lazy_format("junit")),
    Writer(
        ".codequality.json",
        "codequality",
        _lazy_format("codequality"),
        also=("gl-code-quality-report.json",),
        placed=True,
    ),
    Writer(".rdjson", "rdjson", _lazy_format("rdjson"), also=(".rdjson.json",), placed=True),
    Writer(".jsonl", "jsonl", _lazy_format("lines"), also=(".ndjson",)),
    Writer(".csv", "csv", _lazy_format("table")),
    Writer(".github.txt", "github", _lazy_format("annotations")),
    Writer(".trace.json", "trace", _lazy_format("trace")),
)
"""What other programs read: `advisor.report.formats`."""
WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", _report_html),
    Writer(".md", "markdown", _report_markdown),
    Writer(".json", "json", _report_json),
    Writer(".xlsx", "xlsx", _report_xlsx),
    *FOR_PROGRAMS,
)


VERDICT = Writer(".verdict.json", "verdict", lambda said: said.verdict.to_json() if said.verdict else "")
"""What a check says, beside the formats of a diagnosis."""


def _compared_html(reported: Reported) -> str:
    from advisor.report.comparison.page import comparison_page

    return comparison_page(_comparison_of(reported), reported.language, reported.renderer)


def _compared_markdown(reported: Reported) -> str:
    from advisor.report.comparison.document import comparison_document
    from advisor.report.renderers.markdown import document_text

    return document_text(comparison_document(_comparison_of(reported), reported.language))


def _compared_json(reported: Reported) -> str:
    return _comparison_of(reported).to_json()


def _compared_xlsx(reported: Reported) -> bytes:
    from advisor.report.comparison.workbook import comparison_workbook

    return comparison_workbook(_comparison_of(reported), reported.language)


def _compared_csv(reported: Reported) -> str:
    from advisor.report.comparison.lists import csv_files

    return csv_files(_comparison_of(reported), Path("-"), reported.language)[0][1]


def _comparison_of(reported: Reported) -> Comparison:
    if reported.comparison is None:
        raise ValueError("a comparison is written, and there is none")
    return reported.comparison


COMPARED_CSV = Writer(".csv", "csv", _compared_csv, note="one file per table")
COMPARED_WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", _compared_html),
    Writer(".md", "markdown", _compared_markdown),
    Writer(".json", "json", _compared_json),
    Writer(".xlsx", "xlsx", _compared_xlsx),
    COMPARED_CSV,
    *(writer for writer in FOR_PROGRAMS if writer.name != COMPARED_CSV.name),
)


def _document_html(told: Told) -> str:
    from advisor.report.pages import document_page

    return document_page(told.document)


def _document_markdown(told: Told) -> str:
    from advisor.report.renderers.markdown import document_text

    return document_text(told.document)


DOCUMENT_WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", _document_html),
    Writer(".md", "markdown", _document_markdown),
    Writer(".json", "json", lambda told: told.to_json()),
)
"""What every document can be written as."""


def list_suffixes(writers: Sequence[Writer]) -> str:
    """How files of these formats end, in a sentence: `.html, .md or .json`."""
    *others, last = (f"{one.suffix} ({one.note})" if one.note else one.suffix for one in writers)
    return f"{', '.join(others)} or {last}" if others else last
