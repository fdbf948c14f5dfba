# SPDX-License-Identifier: Apache-2.0
"""How what a command found leaves it: files, the terminal, an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.exit_codes import FINE, FOUND
from advisor.cli.settings_in_force import language_of
from advisor.cli.standard_error import tell

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis
    from advisor.model.verdict import Verdict
    from advisor.report.blocks import Document
    from advisor.report.charts.draw import Renderer
    from advisor.report.sources import Sources
    from advisor.report.writers import Output


TOP = 5
"""So many findings stand on the terminal where nobody asks for another number."""
MANY_RANKS, MOST_LINES = 64, 60
"""Of a job of more ranks than these the terminal gets no more lines, for which fewer reasons why rules could not look
stand there, then fewer findings."""


def hand_out(diagnosis: Diagnosis, arguments: argparse.Namespace, outputs: Sequence[Output], charts: Renderer) -> int:
    from advisor.model.findings import Severity

    written = write_all(diagnosis, arguments, outputs, charts)
    if not arguments.quiet:
        _print_summary(diagnosis, arguments, console_beside(outputs), written)
    level = arguments.fail_on
    worst = max((finding.severity for finding in diagnosis.findings), default=None)
    return FOUND if level and worst is not None and worst >= Severity[level] else FINE


def _print_summary(
    diagnosis: Diagnosis, arguments: argparse.Namespace, console: Console, files: Sequence[Path]
) -> None:
    """The answer on the terminal; of many ranks with as many findings as keep it within a screen or two."""
    from advisor.report.diagnosis.document import MOST_REASONS, diagnosis_summary
    from advisor.report.renderers.terminal import count_lines, print_document

    language, top, reasons = language_of(arguments.lang), arguments.top or TOP, MOST_REASONS
    summary = diagnosis_summary(diagnosis, language, top, is_written=bool(files))
    if not arguments.top and len(diagnosis.run.ranks) > MANY_RANKS:
        while (top > 1 or reasons) and count_lines(summary, console, files) > MOST_LINES:
            top, reasons = (top, reasons - 1) if reasons > 1 or top == 1 else (top - 1, reasons)
            summary = diagnosis_summary(diagnosis, language, top, reasons=reasons, is_written=bool(files))
    print_document(summary, console, files)


def write_and_show(
    told: object,
    shown: Callable[[], Document],
    arguments: argparse.Namespace,
    outputs: Sequence[Output],
    *,
    inset: int = 0,
) -> None:
    """Writes what writers are given in every format that was asked for, and prints what is to be `shown`.

    Raises:
        UsageError: A file cannot be written.
    """
    written = write_outputs(told, outputs, language_of(arguments.lang))
    if not arguments.quiet:
        show_document(shown(), outputs, written, inset=inset)


def show_document(
    document: Document, outputs: Sequence[Output], written: Sequence[Path] = (), *, inset: int = 0
) -> None:
    """Prints a document and the files that were written where people read."""
    from advisor.report.renderers.terminal import print_document

    print_document(document, console_beside(outputs), written, inset)


def console_beside(outputs: Sequence[Output]) -> Console:
    """Where people read: not on the standard output when programs read there."""
    from advisor.report.console import terminal_console

    return terminal_console(sys.stderr if any(output.is_stdout for output in outputs) else sys.stdout)


@contextmanager
def files_written(language: Language) -> Iterator[list[Path]]:
    """The files that were written, to be filled. What ends it early is told with those that are there already."""
    from advisor.cli.signals import ended_in_order

    written: list[Path] = []
    try:
        with ended_in_order():
            yield written
    except BaseException as error:
        if written:
            from advisor.messages.message import Message

            error.add_note(Message("written_before", files=", ".join(map(str, written))).say(language))
        raise


def write_outputs(told: object, outputs: Sequence[Output], language: Language) -> list[Path]:
    """Writes what writers are given in every format that was asked for, and gives the files.

    Raises:
        UsageError: One of them cannot be written.
    """
    from advisor.report.writers import write_files

    with files_written(language) as written:
        for output in outputs:
            for path in write_files(told, output):
                written.append(path)  # one by one: the next may fail
    return written


def write_all(
    diagnosis: Diagnosis,
    arguments: argparse.Namespace,
    outputs: Sequence[Output],
    charts: Renderer,
    *,
    comparison: Comparison | None = None,
    verdict: Verdict | None = None,
) -> list[Path]:
    """Writes every report that was asked for, and gives the files.

    Raises:
        UsageError: One of them cannot be written, or the anchor is none.
    """
    from advisor.report.output_formats import Reported

    language, sources = language_of(arguments.lang), sources_of(arguments)
    locations = sources.locations(diagnosis)
    written = write_outputs(Reported(diagnosis, language, comparison, verdict, locations, charts), outputs, language)
    if not arguments.quiet and any(output.writer.placed for output in outputs):
        _tell_of_places(diagnosis, sources, language)
    return written


def _tell_of_places(diagnosis: Diagnosis, sources: Sources, language: Language) -> None:
    """Says it where code hosts will show little of what was written."""
    from advisor.report.formats.words import say_in_format

    without = len(diagnosis.findings) - len(sources.locations(diagnosis))
    if without > 0:
        said = say_in_format("unplaced", language, count=without, total=len(diagnosis.findings))
        tell(said)


def sources_of(arguments: argparse.Namespace) -> Sources:
    """What the command line says of the source code (see `arguments.source_options`); what is not there is told."""
    from advisor.report.sources import Sources

    root = getattr(arguments, "source_root", None) or Path()
    sources = Sources.named(root, getattr(arguments, "anchor", None))
    if sources.misses_anchor and not arguments.quiet:
        from advisor.messages.message import Message

        said = Message("anchor_not_there", anchor=arguments.anchor, root=root.resolve())
        tell(said.say(language_of(arguments.lang)))
    return sources


def chart_renderer(outputs: Sequence[str | Output]) -> Renderer:
    """The chart renderer, warming up beside the reading when an HTML report is wanted."""
    from advisor.report.charts.draw import Renderer

    return Renderer(start=any(_has_charts(output) for output in outputs))


def _has_charts(output: str | Output) -> bool:
    if isinstance(output, str):
        if ":" not in output:  # as almost always: nothing is imported before the drawing process starts
            return output.lower().endswith(".html")
        from advisor.messages.errors import UsageError
        from advisor.report.writers import check_output

        try:
            output = check_output(output)
        except UsageError:
            return False
    return output.writer.name == "html"
