# SPDX-License-Identifier: Apache-2.0
"""Whether the write-ahead log beside a SQLite database holds anything that counts.

A log of which nothing counts, as a crash leaves one, is better never shown to SQLite: it would delete it.
Layout and checksum: <https://www.sqlite.org/fileformat2.html#walformat>.
"""

from __future__ import annotations

import os
import struct
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from advisor.facts.table import Array
from advisor.machine.regular_files import open_regular

_MAGIC, _VERSION = 0x377F0682, 3007000
_HEAD, _FRAME_HEAD = 32, 24
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))

Checksum = tuple[int, int]


def log_bytes(database: Path) -> int:
    """Bytes of the write-ahead log beside a database; 0 where there is none, or none that counts.

    Raises:
        OSError: It cannot be read.
    """
    log = database.with_name(database.name + "-wal")
    return log.stat().st_size if os.path.isfile(log) and holds_transaction(log) else 0


def holds_transaction(log: Path) -> bool:
    """Whether the log begins with a transaction that was committed, by every check that SQLite makes.

    Raises:
        OSError: It cannot be read.
    """
    with open_regular(log) as file:
        head = file.read(_HEAD)
        if len(head) < _HEAD:
            return False
        magic, version, page, _, *salts, first, second = struct.unpack(">8I", head)
        if magic & ~1 != _MAGIC or version != _VERSION or page not in _PAGE_SIZES:
            return False
        order = ">u4" if magic & 1 else "<u4"
        start = _continue_checksum(head[:-8], (0, 0), order)
        return start == (first, second) and _has_commit(file, page, tuple(salts), start, order)


def _has_commit(file: BinaryIO, page: int, salts: tuple[int, ...], start: Checksum, order: str) -> bool:
    """Whether the frames from here on are whole up to one that ends a transaction."""
    checksum = start
    while len(frame := file.read(_FRAME_HEAD + page)) == _FRAME_HEAD + page:
        number, pages_after, *told = struct.unpack(">6I", frame[:_FRAME_HEAD])
        checksum = _continue_checksum(frame[:8] + frame[_FRAME_HEAD:], checksum, order)
        if not number or tuple(told) != (*salts, *checksum):
            return False
        if pages_after:
            return True
    return False


def _continue_checksum(content: bytes, start: Checksum, order: str) -> Checksum:
    """The checksum after this content: for each two words x and y, `a += x + b` and then `b += y + a`, in 32 bits.

    As powers of a matrix these are Fibonacci numbers: all words are summed at once, the start like a pair before them.
    """
    words = np.frombuffer(content, order).astype(np.uint32).reshape(-1, 2)
    first = np.concatenate([[np.uint32(start[0])], words[:, 0]])
    second = np.concatenate([[np.uint32(start[1])], words.sum(axis=1, dtype=np.uint32)])
    power = 2 * np.arange(len(words), -1, -1)
    low, middle, high = (_fibonacci(2 * len(words) + 3)[power + shift] for shift in range(3))
    a = (low * first + middle * second).sum(dtype=np.uint32)
    b = (middle * first + high * second).sum(dtype=np.uint32)
    return int(a), int(b)


@cache
def _fibonacci(count: int) -> Array:
    """Fibonacci numbers in 32 bits, from 1, 0, 1, 1, 2 on."""
    numbers = [1, 0]
    while len(numbers) < count:
        numbers.append((numbers[-1] + numbers[-2]) & 0xFFFFFFFF)
    return np.array(numbers, np.uint32)
