# SPDX-License-Identifier: Apache-2.0
"""One writer per file suffix, and how a report reaches the disk: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from advisor.damage import because
from advisor.errors import Both, UsageError

if TYPE_CHECKING:
    from advisor.findings import Diagnosis
    from advisor.report.charts import Renderer
    from advisor.text import Language


class Writer(Struct, frozen=True):
    """A format: its suffix, what it is called, and how a diagnosis becomes its text."""

    suffix: str
    name: str
    text: Callable[[Diagnosis, Language, Renderer | None], str]


def _html(diagnosis: Diagnosis, language: Language, renderer: Renderer | None) -> str:
    from advisor.report.html import page

    return page(diagnosis, language, renderer)


def _markdown(diagnosis: Diagnosis, language: Language, _: Renderer | None) -> str:
    from advisor.report.markdown import document

    return document(diagnosis, language)


def _json(diagnosis: Diagnosis, _: Language, __: Renderer | None) -> str:
    return diagnosis.to_json()


WRITERS: tuple[Writer, ...] = (
    Writer(".html", "HTML", _html),
    Writer(".md", "Markdown", _markdown),
    Writer(".json", "JSON", _json),
)


def check_suffix(path: Path) -> Writer:
    """The writer for a file name.

    Raises:
        UsageError: No writer knows the suffix; the message lists those that exist.
    """
    for writer in WRITERS:
        if path.suffix.lower() == writer.suffix:
            return writer
    known = ", ".join(writer.suffix for writer in WRITERS)
    suffix = path.suffix or path.name
    raise UsageError(
        Both(f"{path}: no report is written as `{suffix}`", f"{path}：不支持 `{suffix}` 格式的报告"),
        Both(f"known suffixes are {known}", f"支持的后缀：{known}"),
    )


def check_outputs(outputs: Sequence[Path], source: Path) -> tuple[Path, ...]:
    """The files to write, before the work starts: known suffix, existing folder, not the input itself.

    Raises:
        UsageError: One of them will not do.
    """
    another = Both("give another file name", "请换一个文件名")
    for path in outputs:
        check_suffix(path)
        if not path.resolve().parent.is_dir():
            missing = Both(f"{path}: the folder {path.parent} does not exist", f"{path}：目录 {path.parent} 不存在")
            raise UsageError(missing, Both("make the folder first", "请先创建该目录"))
        if path.is_dir():
            raise UsageError(Both(f"{path} is a folder", f"{path} 是目录"), another)
        if path.resolve() == source.resolve():
            raise UsageError(Both(f"{path} is the input", f"{path} 是输入文件"), another)
    return tuple(outputs)


def outside_captures(outputs: Sequence[Path], source: Path, captures: Sequence[str]) -> None:
    """Refuses to write a report into a capture: what the profiler wrote stays as it is.

    Raises:
        UsageError: A file would lie in a capture.
    """
    folders = [(source / capture).resolve() for capture in captures if (source / capture).is_dir()]
    for path in outputs:
        if any(path.resolve().is_relative_to(folder) for folder in folders):
            raise UsageError(
                Both(
                    f"{path} lies inside the capture, and captures are never written to",
                    f"{path} 位于采集目录内，采集目录不允许写入",
                ),
                Both("give a file outside of it", "请把输出写到采集目录之外"),
            )


def write(diagnosis: Diagnosis, path: Path, language: Language, renderer: Renderer | None = None) -> None:
    """Writes a report in the format of the file's suffix. A file that was there is replaced in one go.

    Raises:
        UsageError: The suffix is unknown, or the file cannot be written.
    """
    text = check_suffix(path).text(diagnosis, language, renderer)
    # A lone surrogate (a file name that is no UTF-8) cannot be encoded; its escape is valid JSON, and shown elsewhere.
    _replace(path, text.encode("utf-8", "backslashreplace"))


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
            Both(f"{path} cannot be written: {why.en}", f"无法写入 {path}：{why.zh}"),
            Both("give a file in a folder you may write to", "请换到有写权限的目录"),
        ) from error
