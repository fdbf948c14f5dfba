# SPDX-License-Identifier: Apache-2.0
"""Every format there is, in one table for each kind of document: its ending, its name, and who writes it.

What writes a format is imported when it is written: the command line names the formats in its help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.messages.text import Language, Text

if TYPE_CHECKING:
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis
    from advisor.model.statistics import Statistic, Statistics
    from advisor.model.verdict import Verdict
    from advisor.report.blocks import Document
    from advisor.report.charts.draw import Renderer
    from advisor.report.sources import Location


class Reported(NamedTuple):
    """What is written out: a diagnosis, and what else is known of it."""

    diagnosis: Diagnosis
    language: Language
    comparison: Comparison | None = None
    """Against the baseline, where there is one; its `after` is the diagnosis."""
    verdict: Verdict | None = None
    locations: Mapping[str, Location] = {}
    """By fingerprint: where in the source code a finding belongs."""
    renderer: Renderer | None = None


class Told(NamedTuple):
    """What is written out of all that is one document and has a form for programs."""

    document: Document
    to_json: Callable[[], str]


class Writer(NamedTuple):
    """A format: how files of it end, what it is called, and how a diagnosis becomes its text."""

    suffix: str
    name: str
    """As in `-o NAME:FILE`."""
    text: Callable[[Any], str | bytes]
    also: tuple[str, ...] = ()
    """Other endings of the same format."""
    note: Text | None = None
    """What is said of it in the help of a command."""
    placed: bool = False
    """Whether its readers show findings at lines of the source code, and little of those without one."""
    tables: Callable[[Any, Path], Iterable[tuple[Path, str | bytes]]] | None = None
    """What writes it as several files, one to a table."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Every ending, the usual one first."""
        return (self.suffix, *self.also)


Write = Callable[..., Any]


def _written_by(place: str, take: Callable[..., Iterable[object]] = lambda *known: known) -> Write:
    """What calls the function at `module:name` with what it takes of all that is known; the module is imported then."""
    module, _, name = place.partition(":")
    return lambda *known: getattr(import_module(f"advisor.report.{module}"), name)(*take(*known))


def _as_markdown(document: Write) -> Write:
    text = _written_by("renderers.markdown:document_text")
    return lambda known: text(document(known))


def _diagnosed(reported: Reported) -> tuple[Diagnosis, Language]:
    return reported.diagnosis, reported.language


def _compared(reported: Reported) -> tuple[Comparison, Language]:
    if reported.comparison is None:
        raise ValueError("a comparison is written, and there is none")
    return reported.comparison, reported.language


Taken = Callable[[Reported], tuple[Any, Any]]
"""What of all that is known a writer is given: a diagnosis or a comparison, and the language."""


def _document_formats(kind: str, take: Taken) -> tuple[Writer, ...]:
    """What people read of a kind of document, and the form that can be read again."""

    def judged(reported: Reported) -> tuple[Verdict, ...]:
        return (reported.verdict,) if kind == "diagnosis" and reported.verdict is not None else ()

    page = _written_by(f"{kind}.page:{kind}_page", lambda known: (*take(known), known.renderer, *judged(known)))
    document = _written_by(f"{kind}.document:{kind}_document", lambda known: (*take(known), *judged(known)))
    return (
        Writer(".html", "html", page),
        Writer(".md", "markdown", _as_markdown(document)),
        Writer(".json", "json", lambda known: take(known)[0].to_json()),
        Writer(".xlsx", "xlsx", _written_by(f"{kind}.workbook:{kind}_workbook", take)),
    )


def _table_format(name: str, tables: Write, note: Text) -> Writer:
    """One file for each table; where there is room for one file, that of the first."""
    return Writer(f".{name}", name, lambda known: tables(known, Path("-"))[0][1], note=note, tables=tables)


_OF_GITLAB = ("gl-code-quality-report.json",)
FOR_PROGRAMS: tuple[Writer, ...] = (
    Writer(".sarif", "sarif", _written_by("formats.sarif:text"), (".sarif.json",), placed=True),
    Writer(".junit.xml", "junit", _written_by("formats.junit:text")),
    Writer(".codequality.json", "codequality", _written_by("formats.codequality:text"), _OF_GITLAB, placed=True),
    Writer(".rdjson", "rdjson", _written_by("formats.rdjson:text"), (".rdjson.json",), placed=True),
    Writer(".jsonl", "jsonl", _written_by("formats.lines:text"), (".ndjson",)),
    Writer(".csv", "csv", _written_by("formats.table:text")),
    Writer(".github.txt", "github", _written_by("formats.annotations:text")),
    Writer(".trace.json", "trace", _written_by("formats.trace:text")),
)
"""What other programs read."""
WRITERS: tuple[Writer, ...] = (*_document_formats("diagnosis", _diagnosed), *FOR_PROGRAMS)
VERDICT = Writer(".verdict.json", "verdict", lambda said: said.verdict.to_json() if said.verdict else "")
"""What a check says, beside the formats of a diagnosis."""


_FILE_PER_TABLE = Text("one file per table", "每张表一个文件")
COMPARED_WRITERS: tuple[Writer, ...] = (
    *_document_formats("comparison", _compared),
    _table_format(
        "csv",
        _written_by(
            "comparison.plain_tables:comparison_csv_files", lambda said, path: (said.comparison, path, said.language)
        ),
        _FILE_PER_TABLE,
    ),
    *(writer for writer in FOR_PROGRAMS if writer.name != "csv"),
)


def _plain_formats(document: Write, to_json: Write) -> tuple[Writer, ...]:
    """What a document without charts of its own can be written as, and what it is made of."""
    page = _written_by("pages:document_page")
    return (
        Writer(".html", "html", lambda known: page(document(known))),
        Writer(".md", "markdown", _as_markdown(document)),
        Writer(".json", "json", to_json),
    )


DOCUMENT_WRITERS: tuple[Writer, ...] = _plain_formats(lambda told: told.document, lambda told: told.to_json())
"""What every document can be written as."""
_SHEET_PER_RANK, _ONE_TABLE = (
    Text("a sheet per rank", "每张卡一个工作表"),
    Text("ModuleStatistic", "ModuleStatistic 表"),
)
MODULE_WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", _written_by("modules.page:modules_page", tuple)),
    Writer(".md", "markdown", _as_markdown(_written_by("modules.document:modules_document", tuple))),
    Writer(".xlsx", "xlsx", _written_by("modules.statistic:statistic_workbook", tuple), note=_SHEET_PER_RANK),
    Writer(".csv", "csv", _written_by("modules.statistic:statistic_csv", lambda told: told[:1])),
    Writer(".db", "db", _written_by("modules.statistic:statistic_database", lambda told: told[:1]), note=_ONE_TABLE),
)
"""What the modules of a model can be written as; a writer is given the report and the language."""


class CountedTables(NamedTuple):
    """What is written out of statistics; a document shows so many rows of each table."""

    statistics: Statistics
    language: Language
    most: int


def _counted_at(counted: CountedTables, path: Path) -> tuple[Sequence[Statistic], Path]:
    return counted.statistics.tables, path


STATISTICS_WRITERS: tuple[Writer, ...] = (
    *_plain_formats(
        _written_by("statistics.document:statistics_document", tuple), lambda counted: counted.statistics.to_json()
    ),
    Writer(".xlsx", "xlsx", _written_by("statistics.workbook:statistics_workbook", lambda counted: counted[:2])),
    _table_format("csv", _written_by("table_files:csv_files", _counted_at), _FILE_PER_TABLE),
    _table_format("parquet", _written_by("table_files:parquet_files", _counted_at), Text("likewise", "同上")),
)


def list_suffixes(writers: Sequence[Writer], language: Language) -> str:
    """How files of these formats end, in a sentence: `.html, .md or .json`."""
    zh = language == "zh"
    aside = "{}（{}）" if zh else "{} ({})"
    *others, last = (aside.format(one.suffix, one.note.say(language)) if one.note else one.suffix for one in writers)
    joined = ("、" if zh else ", ").join(others)
    return f"{joined}{' 或 ' if zh else ' or '}{last}" if others else last
