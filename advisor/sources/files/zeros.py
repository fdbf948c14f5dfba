# SPDX-License-Identifier: Apache-2.0
"""Runs of zero bytes in a text: what a disk, a copy or a file system lost, as long as what was there.

Those at the end are no such run: room was made for a file, and its end never written.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct

ZEROS_WITHIN = "zeros_within"
"""The code of the message that rows are lost to them."""
SHORTEST_RUN = 16
"""Single zeros may be part of a name; damage leaves whole blocks of them."""
BREAK = b"\0\n\0"
"""What stands for a run where rows are read: neither cell beside it is whole, nor is the row of either."""
_RUN = re.compile(rb"\0{%d,}" % SHORTEST_RUN)
_BLOCK = 1 << 20


class Zeros(Struct, frozen=True):
    """How many bytes are zeros."""

    within: int = 0
    """In runs between bytes that are none."""
    first: int = 0
    """Where the first of these runs begins."""
    at_end: int = 0


class CountedZeros:
    """Counts them block by block; whole text costs one look at each block."""

    def __init__(self) -> None:
        self._within, self._first, self._at, self._pending = 0, 0, 0, 0

    def add(self, block: bytes) -> None:
        """Count those of the next block."""
        if self._pending or b"\0" in block:
            body = block.lstrip(b"\0")
            self._pending += len(block) - len(body)
            if body:
                self._count(self._at + len(block) - len(body) - self._pending, self._pending)
                tail = body.rstrip(b"\0")
                begin = self._at + len(block) - len(body)
                for run in _RUN.finditer(tail):
                    self._count(begin + run.start(), len(run[0]))
                self._pending = len(body) - len(tail)
        self._at += len(block)

    def _count(self, at: int, length: int) -> None:
        if length >= SHORTEST_RUN:
            self._first = self._first if self._within else at
            self._within += length

    def all(self) -> Zeros:
        """Those of all blocks; what no other byte follows stands at the end."""
        return Zeros(self._within, self._first, self._pending)


def blocks_of(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file from where it stands."""
    while block := file.read(_BLOCK):
        yield block


def break_at_zeros(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text with a break in the place of each run, and one zero in that of those at the end."""
    pending = 0
    for block in blocks:
        body = block.lstrip(b"\0")
        pending += len(block) - len(body)
        if body:
            tail = body.rstrip(b"\0")
            before = BREAK if pending >= SHORTEST_RUN else bytes(pending)
            yield before + _RUN.sub(BREAK, tail)
            pending = len(body) - len(tail)
    if pending:
        yield b"\0"


class WithoutZeros(io.RawIOBase):
    """A file with a break in the place of each run of zeros, however long that is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._blocks, self._rest = file, break_at_zeros(blocks_of(file)), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._rest = self._rest or next(self._blocks, b"")
        wanted = memoryview(buffer).nbytes
        found, self._rest = self._rest[:wanted], self._rest[wanted:]
        memoryview(buffer).cast("B")[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()
