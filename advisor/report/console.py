# SPDX-License-Identifier: Apache-2.0
"""The console that people read."""

from __future__ import annotations

from typing import IO

from rich.console import Console


def terminal_console(file: IO[str] | None = None) -> Console:
    """The standard output, or this. Where `NO_COLOR` is set rich leaves bold and italic; here nothing is left."""
    console = Console(highlight=False, file=file)
    return Console(highlight=False, file=file, color_system=None) if console.no_color else console
