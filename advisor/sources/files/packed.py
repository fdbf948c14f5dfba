# SPDX-License-Identifier: Apache-2.0
"""Traces as they lie on the disk: plain, or packed with gzip, which is unpacked once into a file without a name."""

from __future__ import annotations

import contextlib
import os
import tempfile
import zlib
from io import BufferedReader
from pathlib import Path
from typing import IO

from advisor.machine.regular_files import open_regular
from advisor.messages.message import Message
from advisor.sources import archive_limits
from advisor.sources.files.damage_notes import Notes, Odd
from advisor.sources.files.gzip_blocks import damage_of_packed, inflate_blocks, is_checksum_wrong
from advisor.sources.files.heads import is_packed


class TooMuchInside(Odd):
    """A packed file holds more than any trace of its size."""


class TraceFile:
    """A trace that can be opened as often as is asked; what was unpacked goes away with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._plain: IO[bytes] | None = None

    @property
    def packed(self) -> bool:
        """Whether what `open` gives is a copy."""
        return self._plain is not None

    @classmethod
    def unpacked(cls, path: Path, notes: Notes) -> TraceFile:
        """A trace that is packed; what is lost of it is noted.

        Raises:
            TooMuchInside: It holds more than any trace.
            OSError: It cannot be read, or there is no room for what is in it.
        """
        found = cls(path)
        found._plain = _unpack_file(path, notes)
        return found

    def open(self) -> BufferedReader:
        """The bytes of the trace, from the first. Two that are open at once must not be of one packed file.

        Raises:
            OSError: It cannot be opened.
        """
        if self._plain is None:
            return open_regular(self.path)
        file = os.fdopen(os.dup(self._plain.fileno()), "rb")
        file.seek(0)
        return file

    def close(self) -> None:
        """Let go of what was unpacked."""
        if self._plain is not None:
            self._plain.close()


def _unpack_file(path: Path, notes: Notes) -> IO[bytes]:
    with contextlib.ExitStack() as undo:
        plain = undo.enter_context(tempfile.TemporaryFile())
        with open_regular(path) as file:
            most = max(archive_limits.FREE_BYTES, os.fstat(file.fileno()).st_size * archive_limits.MOST_RATIO)
            try:
                for block in inflate_blocks(file):
                    plain.write(block)
                    if plain.tell() > most:
                        raise TooMuchInside(Message("holds_too_much", size=most))
            except (EOFError, zlib.error) as wrong:  # cut off or damaged: what came before it is whole
                if is_checksum_wrong(wrong):
                    notes.add(path.name, "", damage_of_packed(wrong), rows=0)
                else:
                    place = Message("at_byte", n=plain.tell())
                    notes.add(path.name, place, damage_of_packed(wrong), kind="truncated", rows=1)
        plain.flush()
        undo.pop_all()
    return plain


def open_trace(path: Path, notes: Notes) -> TraceFile:
    """A trace, unpacked where it is packed.

    Raises:
        TooMuchInside: It is packed and holds more than any trace.
        OSError: It cannot be read, or there is no room for what is in it.
    """
    return TraceFile.unpacked(path, notes) if is_packed(path) else TraceFile(path)
