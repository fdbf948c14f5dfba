# SPDX-License-Identifier: Apache-2.0
"""msprof-analyze, run as its users run it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path


def located(command: str) -> str:
    """The command as it can be started from any folder: a path from here becomes a whole one."""
    return str(Path(command).absolute()) if os.sep in command else command


def printed(command: Sequence[str], seconds: float = 600) -> str:
    """What it prints, on both channels. It ends with 0 whatever happens; a run without an end says nothing."""
    try:
        with tempfile.TemporaryDirectory() as own:  # it leaves files where it is started
            run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds, cwd=own)
    except subprocess.TimeoutExpired:
        return ""
    return run.stdout + run.stderr


def printed_rows(text: str) -> Iterator[tuple[str, str]]:
    """Category and description of each numbered row; a description runs over several lines."""
    category, texts = "", list[str]()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < len(("", "No.", "Category", "Description")) or cells[0]:
            continue
        if cells[1].isdigit():
            if category:
                yield category, " ".join(texts)
            category, texts = cells[2], []
        texts.append(cells[3])
    if category:
        yield category, " ".join(texts)
