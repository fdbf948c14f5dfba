# SPDX-License-Identifier: Apache-2.0
"""A standard output and error that end nothing: what cannot be written is dropped, and known at the end.

A reader who went away, a full disk behind a redirection and a stream that was closed before the start would each raise
at any `print`, and hide what a command has to say by its exit code.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Outlet(io.RawIOBase):
    """The bytes of a stream, until one of them cannot be written."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__()
        self._raw = raw
        self.refused: OSError | None = None
        """Why the rest was dropped, if it was."""

    def write(self, data: ReadableBuffer) -> int:
        """Writes what it can; whoever writes is told that all was."""
        while self.refused is None:
            try:
                written = self._raw.write(data)
            except OSError as error:
                self.refused = error
            else:
                if written is not None:
                    return written
                select.select([], [self.fileno()], [])  # a pipe that another program lets nobody wait for
        return memoryview(data).nbytes

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def isatty(self) -> bool:
        return self._raw.isatty()


def open_standard_streams() -> Outlet:
    """Puts such streams in place, and gives that of the standard output; those that were closed are there again."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as the process
    sys.stdout, outlet = _guarded(sys.stdout)
    sys.stderr, _ = _guarded(sys.stderr)
    return outlet


def _guarded(stream: TextIO | None) -> tuple[TextIO, Outlet]:
    """The same stream over an outlet. For one that was closed, a descriptor that refuses every byte."""
    if stream is None:
        outlet = Outlet(io.FileIO(os.open(os.devnull, os.O_RDONLY), "w"))
        return io.TextIOWrapper(io.BufferedWriter(outlet), "utf-8"), outlet
    raw: io.RawIOBase = getattr(stream.buffer, "raw", stream.buffer)  # type: ignore[arg-type] # unbuffered: the same
    outlet = Outlet(raw)
    line_by_line = getattr(stream, "line_buffering", False) or getattr(stream, "write_through", False)
    buffered = io.BufferedWriter(outlet)
    return io.TextIOWrapper(buffered, stream.encoding, stream.errors, line_buffering=line_by_line), outlet
