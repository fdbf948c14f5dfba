# SPDX-License-Identifier: Apache-2.0
"""One writer per file suffix, and how a report reaches the disk: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.errors import UsageError

if TYPE_CHECKING:
    from advisor.findings import Diagnosis
    from advisor.report.charts import Renderer
    from advisor.text import Language


@dataclass(frozen=True, slots=True)
class Writer:
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
    raise UsageError(f"{path}: no report is written as `{path.suffix or path.name}`; known suffixes are {known}")


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
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
