# SPDX-License-Identifier: Apache-2.0
"""Where in the source code a finding belongs: the user's line that was recorded, or the file the user named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from advisor.findings import Diagnosis


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
        if colon and file and line.isascii() and line.isdigit() and int(line) > 0:
            return cls(root, Location(_tidy(file), int(line)))
        return cls(root, Location(_tidy(anchor)))

    def locations(self, diagnosis: Diagnosis) -> Mapping[str, Location]:
        """The location of each finding that has one, by fingerprint."""
        if self.anchor is None:
            return {}
        return {finding.fingerprint: self.anchor for finding in diagnosis.findings}


def _tidy(file: str) -> str:
    """A path as formats want it: `/` between parts, no `./` in front."""
    return Path(file).as_posix()


NOWHERE = Sources()
