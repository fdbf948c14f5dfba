# SPDX-License-Identifier: Apache-2.0
"""How a file begins: its first bytes, whether it is packed, and whether it is a file of trace events."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from advisor.regular_files import open_regular

_HEAD_BYTES = 1 << 16
GZIP = b"\x1f\x8b"
"""How a file packed with gzip begins, and each member of it."""
_GPU = (
    b'"deviceProperties"',
    b'"cuda_runtime"',
    b'"schemaVersion"',
    b'"distributedInfo"',
    b'"gpu_memcpy"',
    b'"Trace name"',
)


def file_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked when it is gzip; empty when it cannot be read."""
    try:
        with open_regular(path) as file:
            raw = file.read(_HEAD_BYTES)
            if not raw.startswith(GZIP):
                return raw
            file.seek(0)
            with gzip.open(file) as packed:
                return packed.read(_HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""


def is_packed(path: Path) -> bool:
    """Whether a file is packed with gzip, whatever its name is."""
    try:
        with open_regular(path) as file:
            return file.read(len(GZIP)) == GZIP
    except OSError:
        return False


def is_trace(start: bytes) -> bool:
    """Whether this is the start of a file of trace events."""
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") and (b'"ph"' in start or b'"traceEvents"' in start)


def is_gpu_trace(start: bytes) -> bool:
    """Whether this is the start of a trace of the PyTorch profiler on another device."""
    return any(mark in start for mark in _GPU) or b'"traceEvents"' in start
