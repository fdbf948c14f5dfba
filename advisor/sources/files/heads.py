# SPDX-License-Identifier: Apache-2.0
"""How a file begins: its first bytes, whether it is packed, and whether it is a file of trace events."""

from __future__ import annotations

import contextlib
import zlib
from pathlib import Path
from typing import IO

from advisor.machine.regular_files import open_regular
from advisor.sources.files.gzip_blocks import GZIP, inflate_blocks

_HEAD_BYTES = 1 << 16
_GPU = (
    b'"deviceProperties"',
    b'"cuda_runtime"',
    b'"schemaVersion"',
    b'"distributedInfo"',
    b'"gpu_memcpy"',
    b'"Trace name"',
)


def file_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked as far as it goes when it is gzip; empty when it cannot be read."""
    try:
        with open_regular(path) as file:
            raw = file.read(_HEAD_BYTES)
            if not raw.startswith(GZIP):
                return raw
            file.seek(0)
            return _packed_head(file)
    except OSError:
        return b""


def _packed_head(file: IO[bytes]) -> bytes:
    head = b""
    with contextlib.suppress(EOFError, zlib.error):  # cut off or damaged: what came before it is the head
        for block in inflate_blocks(file, _HEAD_BYTES):
            head += block
            if len(head) >= _HEAD_BYTES:
                break
    return head[:_HEAD_BYTES]


def is_packed(path: Path) -> bool:
    """Whether a file is packed with gzip, whatever its name is."""
    try:
        with open_regular(path) as file:
            return file.read(len(GZIP)) == GZIP
    except OSError:
        return False


def begins_as_json(start: bytes) -> bool:
    """Whether this is the start of a list or an object."""
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{")


def is_trace(start: bytes) -> bool:
    """Whether this is the start of a file of trace events."""
    return begins_as_json(start) and (b'"ph"' in start or b'"traceEvents"' in start)


def is_gpu_trace(start: bytes) -> bool:
    """Whether this is the start of a trace of the PyTorch profiler on another device."""
    return any(mark in start for mark in _GPU) or b'"traceEvents"' in start
