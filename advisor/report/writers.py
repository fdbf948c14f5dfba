# SPDX-License-Identifier: Apache-2.0
"""One writer per format, and how what it wrote reaches the disk: whole or not at all."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from advisor.messages.damage import because
from advisor.messages.errors import UsageError
from advisor.messages.text import Text
from advisor.report.sources import NOWHERE, Location, Sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis
    from advisor.model.verdict import Verdict
    from advisor.report.charts.draw import Renderer

STDOUT = Path("-")


class Reported(Struct, frozen=True):
    """What is written out: a diagnosis, and what else is known of it."""

    diagnosis: Diagnosis
    language: Language
    comparison: Comparison | None = None
    """Against the baseline, where there is one; its `after` is the diagnosis."""
    verdict: Verdict | None = None
    locations: Mapping[str, Location] = {}
    """By fingerprint: where in the source code a finding belongs."""
    renderer: Renderer | None = None


class Writer(Struct, frozen=True):
    """A format: how files of it end, what it is called, and how a diagnosis becomes its text."""

    suffix: str
    name: str
    """As in `-o NAME:FILE`."""
    text: Callable[[Reported], str | bytes]
    also: tuple[str, ...] = ()
    """Other endings of the same format."""
    placed: bool = False
    """Whether its readers show findings at lines of the source code, and little of those without one."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Every ending, the usual one first."""
        return (self.suffix, *self.also)


class Output(Struct, frozen=True):
    """One file to write, or the standard output, and the format it gets."""

    path: Path
    writer: Writer

    @property
    def is_stdout(self) -> bool:
        """Whether this is no file."""
        return self.path == STDOUT


def _html(reported: Reported) -> str:
    from advisor.report.html import page

    return page(reported.diagnosis, reported.language, reported.renderer)


def _markdown(reported: Reported) -> str:
    from advisor.report.markdown import document

    return document(reported.diagnosis, reported.language)


def _xlsx(reported: Reported) -> bytes:
    from advisor.report.workbook import workbook

    return workbook(reported.diagnosis, reported.language)


def _json(reported: Reported) -> str:
    return reported.diagnosis.to_json()


def _format(module: str) -> Callable[[Reported], str]:
    """The format of this module, imported when it is written."""

    def text(reported: Reported) -> str:
        from importlib import import_module

        written: str = import_module(f"advisor.report.formats.{module}").text(reported)
        return written

    return text


FOR_PROGRAMS: tuple[Writer, ...] = (
    Writer(".sarif", "sarif", _format("sarif"), also=(".sarif.json",), placed=True),
    Writer(".junit.xml", "junit", _format("junit")),
    Writer(
        ".codequality.json", "codequality", _format("codequality"), also=("gl-code-quality-report.json",), placed=True
    ),
    Writer(".rdjson", "rdjson", _format("rdjson"), also=(".rdjson.json",), placed=True),
    Writer(".jsonl", "jsonl", _format("lines"), also=(".ndjson",)),
    Writer(".csv", "csv", _format("table")),
    Writer(".github.txt", "github", _format("annotations")),
    Writer(".trace.json", "trace", _format("trace")),
)
"""What other programs read: `advisor.report.formats`."""
WRITERS: tuple[Writer, ...] = (
    Writer(".html", "html", _html),
    Writer(".md", "markdown", _markdown),
    Writer(".json", "json", _json),
    Writer(".xlsx", "xlsx", _xlsx),
    *FOR_PROGRAMS,
)


def check_suffix(path: Path, writers: Sequence[Writer] = WRITERS) -> Writer:
    """The writer for a file name: the one with the longest ending that fits.

    Raises:
        UsageError: No writer knows the suffix; the message lists those that exist.
    """
    name = path.name.lower()
    fitting = [(len(end), writer) for writer in writers for end in writer.suffixes if name.endswith(end)]
    if fitting:
        return max(fitting, key=lambda found: found[0])[1]
    known = ", ".join(writer.suffix for writer in writers)
    names = ", ".join(writer.name for writer in writers)
    suffix = path.suffix or path.name
    raise UsageError(
        Text(f"{path}: no report is written as `{suffix}`", f"{path}：不支持 `{suffix}` 格式的报告"),
        Text(
            f"known suffixes are {known}; any other name is written with FORMAT:FILE, where FORMAT is one of {names}",
            f"支持的后缀：{known}；其他文件名请写成 FORMAT:FILE，FORMAT 可取 {names}",
        ),
    )


def check_output(words: str | Path, writers: Sequence[Writer] = WRITERS) -> Output:
    """What `-o` was given: `FILE` with a known ending, or `FORMAT:FILE`; `-` for FILE is the standard output.

    Raises:
        UsageError: No writer knows the suffix.
    """
    name, colon, rest = str(words).partition(":")
    for writer in writers:
        if colon and rest and name == writer.name:
            return Output(Path(rest), writer)
    return Output(Path(words), check_suffix(Path(words), writers))


def check_outputs(
    outputs: Sequence[str | Path], *sources: Path, writers: Sequence[Writer] = WRITERS
) -> tuple[Output, ...]:
    """The files to write, before the work starts: known format, existing folder, not one of the inputs itself.

    Raises:
        UsageError: One of them will not do, or needs a library that is not installed.
    """
    checked = tuple(check_output(words, writers) for words in outputs)
    _check_apart(checked)
    if any(output.writer.name == "xlsx" for output in checked):
        from advisor.report.comparison.workbook import check_library

        check_library()
    for output in checked:
        if not output.is_stdout:
            _check_place(output.path, sources)
    return checked


def _check_apart(outputs: Sequence[Output]) -> None:
    """Two reports in one place: the second would replace the first, or be mixed with it."""
    seen: set[Path] = set()
    for output in outputs:
        place = STDOUT if output.is_stdout else output.path.resolve()
        if place in seen:
            called = Text("the standard output", "标准输出") if output.is_stdout else Text(*[str(output.path)] * 2)
            raise UsageError(
                Text(f"two reports are to be written to {called.en}", f"有两份报告要写到同一处：{called.zh}"),
                Text("give each a place of its own", "请为每份报告指定不同的位置"),
            )
        seen.add(place)


def _check_place(path: Path, sources: Sequence[Path]) -> None:
    another = Text("give another file name", "请换一个文件名")
    if not path.resolve().parent.is_dir():
        missing = Text(f"{path}: the folder {path.parent} does not exist", f"{path}：目录 {path.parent} 不存在")
        raise UsageError(missing, Text("make the folder first", "请先创建该目录"))
    if path.is_dir():
        raise UsageError(Text(f"{path} is a folder", f"{path} 是目录"), another)
    if any(path.resolve() == source.resolve() for source in sources):
        raise UsageError(Text(f"{path} is the input", f"{path} 是输入文件"), another)


def outside_captures(outputs: Sequence[Output], source: Path, captures: Sequence[str]) -> None:
    """Refuses to write a report into a capture: what the profiler wrote stays as it is.

    Raises:
        UsageError: A file would lie in a capture.
    """
    folders = [(source / capture).resolve() for capture in captures if (source / capture).is_dir()]
    for path in (output.path for output in outputs if not output.is_stdout):
        if any(path.resolve().is_relative_to(folder) for folder in folders):
            raise UsageError(
                Text(
                    f"{path} lies inside the capture, and captures are never written to",
                    f"{path} 位于采集目录内，采集目录不允许写入",
                ),
                Text("give a file outside of it", "请把输出写到采集目录之外"),
            )


def write(
    diagnosis: Diagnosis,
    output: Output | Path,
    language: Language,
    renderer: Renderer | None = None,
    *,
    comparison: Comparison | None = None,
    verdict: Verdict | None = None,
    sources: Sources = NOWHERE,
) -> None:
    """Writes a report in the format of the file's suffix. A file that was there is replaced in one go.

    Raises:
        UsageError: The suffix is unknown, or the file cannot be written.
    """
    to = check_output(output) if isinstance(output, Path) else output
    locations = sources.locations(diagnosis)
    deliver(to.writer.text(Reported(diagnosis, language, comparison, verdict, locations, renderer)), to)


def deliver(text: str | bytes, to: Output) -> None:
    """Writes a text (or bytes) where it was asked for. A file that was there is replaced in one go.

    Raises:
        UsageError: The file cannot be written.
    """
    # A lone surrogate (a file name that is no UTF-8) cannot be encoded; its escape is valid JSON, and shown elsewhere.
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    if to.is_stdout:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        _replace(to.path, content)


def _replace(path: Path, content: bytes) -> None:
    target = path.resolve()
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
        os.replace(part, target)
    except OSError as error:
        part.unlink(missing_ok=True)
        why = because(error)
        raise UsageError(
            Text(f"{path} cannot be written: {why.en}", f"无法写入 {path}：{why.zh}"),
            Text("give a file in a folder you may write to", "请换到有写权限的目录"),
        ) from error
