# SPDX-License-Identifier: Apache-2.0
"""Where in the source code a finding belongs: the user's line that was recorded, or the file the user named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from advisor.machine.regular_files import open_regular

if TYPE_CHECKING:
    from advisor.model.findings import CodeLine, Diagnosis


_MOST_PARTS = 40
"""Of a recorded path, so many folders from the end are looked for."""
_SHOWN_PARTS = 2
_MOST_DIGITS = 9
"""Of the number of a line."""
_PART = 1 << 16
"""Bytes of a line that are read at once."""


class Location(Struct, frozen=True):
    """A line of a file; `line` counts from 1."""

    file: str
    """With `/` between its parts; relative to the root of the source code where it lies there."""
    line: int = 1
    recorded: bool = False
    """Whether the profiler saw it; else the user named it for all findings."""


class Sources(Struct, frozen=True):
    """What the user says of the source code: where it lies, and where findings without a line of their own belong."""

    root: Path | None = None
    anchor: Location | None = None

    @classmethod
    def named(cls, root: Path, anchor: str | None) -> Sources:
        """From the words of the command line: a folder, and `FILE` or `FILE:LINE`."""
        if not anchor:
            return cls(root)
        file, colon, line = anchor.rpartition(":")
        if not (colon and file and line.isascii() and line.isdigit() and len(line) <= _MOST_DIGITS and int(line)):
            file, line = anchor, "1"
        return cls(root, Location(_from_root(file, root), int(line)))

    @property
    def misses_anchor(self) -> bool:
        """Whether an anchor is named that is no line of a file of the source code."""
        return self.anchor is not None and not _has_line((self.root or Path()) / self.anchor.file, self.anchor.line)

    def locations(self, diagnosis: Diagnosis) -> Mapping[str, Location]:
        """The location of each finding that has one, by fingerprint.

        A recorded line counts where its file lies in the source code; what lies elsewhere belongs to the anchor. Only
        without an anchor does it stay where the profiled machine had it.
        """
        found = {name: self._locate_line(finding.source) for name, finding in diagnosis.by_fingerprint.items()}
        return {fingerprint: location for fingerprint, location in found.items() if location is not None}

    def _locate_line(self, source: CodeLine | None) -> Location | None:
        if source is None:
            return self.anchor
        file = found_in(self.root, source.file, source.line) if self.root else None
        if file is None and self.anchor is not None:
            return self.anchor
        return Location(file or source.file.replace("\\", "/"), source.line, recorded=True)


def named_line(source: CodeLine, file: str = "") -> str:
    """A line as people are told of it: `pkg/model.py:80 (forward)`; `file` is its path here, where that is known.

    Of a path on the profiled machine the end will do: enough to know the file by, without the folders of its owner.
    """
    function = f" ({source.function})" if source.function else ""
    return f"{file or _path_end(source.file)}:{source.line}{function}"


def _path_end(file: str) -> str:
    parts = [part for part in file.replace("\\", "/").split("/") if part]
    return "/".join(parts if len(parts) <= _SHOWN_PARTS else ["…", *parts[-_SHOWN_PARTS:]])


def found_in(root: Path, recorded: str, line: int) -> str | None:
    """The file of a recorded path below a folder, relative to it; None when there is none with so many lines.

    The job ran elsewhere: `/job/code/pkg/train.py` is `pkg/train.py` here, if that exists. The longest end wins.
    """
    parts = [part for part in recorded.replace("\\", "/").split("/") if part not in ("", ".")][-_MOST_PARTS:]
    if ".." in parts:
        return None
    ends = ("/".join(parts[first:]) for first in range(len(parts)))
    return next((end for end in ends if _has_line(root / end, line)), None)


def _has_line(path: Path, line: int) -> bool:
    try:
        with open_regular(path) as file:
            lines, wanted = 0, max(line, 1)
            while lines < wanted and (part := file.readline(_PART)):
                lines += part.endswith(b"\n") or len(part) < _PART
            return lines == wanted
    except (OSError, ValueError):  # no such file, a folder, a name no file can have
        return False


def _from_root(file: str, root: Path) -> str:
    """A path as formats want it: `/` between its parts, relative to the root where it lies below it."""
    path = Path(file)
    if not os.path.exists(root / path) or path.is_absolute():
        whole, top = Path(os.path.realpath(path)), Path(os.path.realpath(root))
        if whole.is_relative_to(top):
            return whole.relative_to(top).as_posix()
    return path.as_posix()
