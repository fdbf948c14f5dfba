# SPDX-License-Identifier: Apache-2.0
"""What the profiler wrote stays as it is: nothing is written into a capture, and no facts into what was given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from advisor.messages.errors import UsageError
from advisor.messages.message import Message

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
"""Who gives this folder gives the capture around it."""


def paths_outside_captures(paths: Iterable[Path], source: Path, captures: Sequence[str]) -> None:
    """Refuses files and folders that would lie in a capture, or take its place.

    Raises:
        UsageError: One would.
    """
    folders = [source / capture for capture in captures]
    for path in paths:
        if _lies_within(path, folders):
            raise UsageError(Message("inside_capture", path=path), Message("give_file_outside"))


def folder_outside_input(path: Path, source: Path, captures: Sequence[str]) -> None:
    """Refuses a folder of facts anywhere in what was given: there it would be found as one more capture.

    A report may lie in a folder of captures, where nobody takes it for one; facts may not.

    Raises:
        UsageError: It would lie there.
    """
    real = Path(os.path.realpath(source))
    top = real.parent if real.name == _OUTPUT else real
    if _lies_within(path, [top, *(source / capture for capture in captures)]):
        beside = top.parent / path.name
        if _lies_within(beside, [top]):
            beside = beside.with_name(f"{path.name}-beside")
        hint = Message("give_folder_outside", path=beside)
        raise UsageError(Message("inside_input", path=path, given=source), hint)


def _lies_within(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a place is one of these folders or in one, whatever links lead there; what is no folder holds nothing."""
    known = {place_identity(folder) for folder in folders if os.path.isdir(folder)}
    real = Path(os.path.realpath(path))
    return any(place_identity(above) in known for above in (real, *real.parents) if above.exists())


def place_identity(path: Path) -> tuple[int, int] | None:
    """What tells a file or folder from all others, by whatever words it is called; nothing where none can be seen."""
    try:
        there = path.stat()
    except OSError:
        return None
    return there.st_dev, there.st_ino
