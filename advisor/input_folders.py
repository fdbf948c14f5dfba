# SPDX-License-Identifier: Apache-2.0
"""What the profiler wrote stays as it is: nothing is written into a capture."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from advisor.messages.errors import UsageError
from advisor.messages.message import Message


def paths_outside_captures(paths: Iterable[Path], source: Path, captures: Sequence[str]) -> None:
    """Refuses files and folders that would lie in a capture, or take its place.

    Raises:
        UsageError: One would.
    """
    folders = {place_identity(source / capture) for capture in captures if os.path.isdir(source / capture)}
    for path in paths:
        real = Path(os.path.realpath(path))
        if any(place_identity(folder) in folders for folder in (real, *real.parents) if folder.exists()):
            raise UsageError(Message("inside_capture", path=path), Message("give_file_outside"))


def place_identity(path: Path) -> tuple[int, int] | None:
    """What tells a file or folder from all others, by whatever words it is called; nothing where none can be seen."""
    try:
        there = path.stat()
    except OSError:
        return None
    return there.st_dev, there.st_ino
