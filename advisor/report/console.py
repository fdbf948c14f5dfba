# SPDX-License-Identifier: Apache-2.0
"""The console that people read."""

from __future__ import annotations

from typing import IO

from rich.console import Console

USUAL_WIDTH, LEAST_WIDTH = 80, 24
"""Columns where nobody knows how many there are, and those that a table needs to be read."""


def terminal_console(file: IO[str] | None = None) -> Console:
    """The standard output, or this, of a width in which text can be read, whatever `COLUMNS` says.

    Where `NO_COLOR` is set rich leaves bold and italic; here nothing is left.
    """
    console = Console(highlight=False, file=file)
    if console.no_color:
        console = Console(highlight=False, file=file, color_system=None)
    if console.width < LEAST_WIDTH:
        console.width = LEAST_WIDTH if console.width else USUAL_WIDTH
    return console
