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
    from advisor.model.statistics import Statistics
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


def _call(place: str, *given: object) -> Any:
    """What the function at `module:name` gives; its module is imported when it is called."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"advisor.report.{module}"), name)(*given)


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

    def call(part: str, reported: Reported, *more: object) -> Any:
        return _call(f"{kind}.{part}:{kind}_{part}", *take(reported), *more)

    def judged(reported: Reported) -> tuple[Verdict, ...]:
        return (reported.verdict,) if kind == "diagnosis" and reported.verdict is not None else ()

    return (
        Writer(".html", "html", lambda reported: call("page", reported, reported.renderer, *judged(reported))),
        Writer(".md", "markdown", lambda reported: _markdown_text(call("document", reported, *judged(reported)))),
        Writer(".json", "json", lambda reported: take(reported)[0].to_json()),
        Writer(".xlsx", "xlsx", lambda reported: call("workbook", reported)),
    )


def _markdown_text(document: Document) -> str:
    text: str = _call("renderers.markdown:document_text", document)
    return text


def _program_format(suffix: str, name: str, module: str, also: tuple[str, ...] = (), *, placed: bool = False) -> Writer:
    """What other programs read: a module of `advisor.report.formats`."""
    return Writer(suffix, name, lambda reported: _call(f"formats.{module}:text", reported), also, placed=placed)


def _table_format(name: str, tables: Callable[[Any, Path], Any], note: Text) -> Writer:
    """One file for each table; where there is room for one file, that of the first."""
    return Writer(f".{name}", name, lambda known: tables(known, Path("-"))[0][1], note=note, tables=tables)


FOR_PROGRAMS: tuple[Writer, ...] = (
    _program_format(".sarif", "sarif", "sarif", (".sarif.json",), placed=True),
    _program_format(".junit.xml", "junit", "junit"),
    _program_format(".codequality.json", "codequality", "codequality", ("gl-code-quality-report.json",), placed=True),
    _program_format(".rdjson", "rdjson", "rdjson", (".rdjson.json",), placed=True),
    _program_format(".jsonl", "jsonl", "lines", (".ndjson",)),
    _program_format(".csv", "csv", "table"),
    _program_format(".github.txt", "github", "annotations"),
    _program_format(".trace.json", "trace", "trace"),
)
WRITERS: tuple[Writer, ...] = (*_document_formats("diagnosis", _diagnosed), *FOR_PROGRAMS)
VERDICT = Writer(".verdict.json", "verdict", lambda said: said.verdict.to_json() if said.verdict else "")
"""What a check says, beside the formats of a diagnosis."""


_FILE_PER_TABLE = Text("one file per table", "每张表一个文件")
COMPARED_WRITERS: tuple[Writer, ...] = (
    *_document_formats("comparison", _compared),
    _table_format(
        "csv",
        lambda said, path: _call("comparison.grids:csv_files", said.comparison, path, said.language),
        _FILE_PER_TABLE,
    ),
    *(writer for writer in FOR_PROGRAMS if writer.name != "csv"),
)


def _plain_formats(document: Callable[[Any], Any], to_json: Callable[[Any], str]) -> tuple[Writer, ...]:
    """What a document without charts of its own can be written as, and what it is made of."""
    return (
        Writer(".html", "html", lambda told: _call("pages:document_page", document(told))),
        Writer(".md", "markdown", lambda told: _markdown_text(document(told))),
        Writer(".json", "json", to_json),
    )


DOCUMENT_WRITERS: tuple[Writer, ...] = _plain_formats(lambda told: told.document, lambda told: told.to_json())
"""What every document can be written as."""
MODULE_WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", lambda told: _call("modules.page:modules_page", *told)),
    Writer(".md", "markdown", lambda told: _markdown_text(_call("modules.document:modules_document", *told))),
    Writer(
        ".xlsx",
        "xlsx",
        lambda told: _call("modules.statistic:statistic_workbook", *told),
        note=Text("a sheet per rank", "每张卡一个工作表"),
    ),
    Writer(".csv", "csv", lambda told: _call("modules.statistic:statistic_csv", told[0])),
    Writer(
        ".db",
        "db",
        lambda told: _call("modules.statistic:statistic_database", told[0]),
        note=Text("ModuleStatistic", "ModuleStatistic 表"),
    ),
)
"""What the modules of a model can be written as; a writer is given the report and the language."""


class CountedTables(NamedTuple):
    """What is written out of statistics; a document shows so many rows of each table."""

    statistics: Statistics
    language: Language
    most: int


STATISTICS_WRITERS: tuple[Writer, ...] = (
    *_plain_formats(
        lambda counted: _call("statistics.document:statistics_document", *counted),
        lambda counted: counted.statistics.to_json(),
    ),
    Writer(
        ".xlsx",
        "xlsx",
        lambda counted: _call("statistics.files:statistics_workbook", counted.statistics, counted.language),
    ),
    _table_format(
        "csv", lambda counted, path: _call("statistics.files:csv_files", counted.statistics, path), _FILE_PER_TABLE
    ),
    _table_format(
        "parquet",
        lambda counted, path: _call("statistics.files:parquet_files", counted.statistics, path),
        Text("likewise", "同上"),
    ),
)


def list_suffixes(writers: Sequence[Writer], language: Language) -> str:
    """How files of these formats end, in a sentence: `.html, .md or .json`."""
    zh = language == "zh"
    aside = "{}（{}）" if zh else "{} ({})"
    *others, last = (aside.format(one.suffix, one.note.say(language)) if one.note else one.suffix for one in writers)
    joined = ("、" if zh else ", ").join(others)
    return f"{joined}{' 或 ' if zh else ' or '}{last}" if others else last
