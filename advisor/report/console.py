# SPDX-License-Identifier: Apache-2.0
"""The console that people read."""

from __future__ import annotations

from typing import IO

from rich.console import Console


class _Pipe(Console):
    """A console that leaves a reader who went away to the command line; rich itself would end with exit code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def terminal_console(file: IO[str] | None = None) -> Console:
    """The standard output, or this. Where `NO_COLOR` is set rich leaves bold and italic; here nothing is left."""
    console = _Pipe(highlight=False, file=file)
    return _Pipe(highlight=False, file=file, color_system=None) if console.no_color else console
