# SPDX-License-Identifier: Apache-2.0
"""What to say about input that is no readable capture: what it is, and what to do."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from advisor.errors import InputError
from advisor.loaders.discovery import Found, described

_HEAD_BYTES = 1 << 16
_TRIES = 40
_GPU = (
    b'"deviceProperties"',
    b'"cuda_runtime"',
    b'"schemaVersion"',
    b'"distributedInfo"',
    b'"gpu_memcpy"',
    b'"Trace name"',
)
_ASCEND = (b"Ascend Hardware", b"Overlap Analysis", b'"cat":"async_npu"', b'"HostToDevice"', b"PTA", b"AscendCL@")

WANTED = "give a folder that ends in _ascend_pt, its ASCEND_PROFILER_OUTPUT, or a folder of many ranks"


def shown(path: Path | str) -> str:
    """A name as text that can be written anywhere, on one line; bytes that are no UTF-8 are shown as such."""
    return " ".join(os.fsencode(path).decode("utf-8", "backslashreplace").splitlines())


def head(path: Path) -> bytes:
    """The first bytes of a file, unpacked when it is gzip; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            raw = file.read(_HEAD_BYTES)
        if raw[:2] != b"\x1f\x8b":
            return raw
        with gzip.open(path) as packed:
            return packed.read(_HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""


def is_trace(start: bytes) -> bool:
    """Whether this is the start of a file of trace events."""
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") and (b'"ph"' in start or b'"traceEvents"' in start)


def is_ascend_trace(start: bytes) -> bool:
    """Whether this is the start of a timeline as torch_npu writes it."""
    return is_trace(start) and (any(mark in start for mark in _ASCEND) or not is_gpu_trace(start))


def is_gpu_trace(start: bytes) -> bool:
    """Whether this is the start of a trace of the PyTorch profiler on another device."""
    return any(mark in start for mark in _GPU) or b'"traceEvents"' in start


def refused(path: Path, found: Found) -> InputError:
    """One sentence about a folder without a readable capture, and what to do."""
    if found.unparsed:
        return _unparsed(found.unparsed[0])
    if found.legacy:
        return InputError(
            f"{shown(path)} holds output of the old MindSpore Insight profiler, which is not readable yet", WANTED
        )
    if found.raw and not any(map(_holds_data, found.raw)):
        return InputError(f"{shown(path)} holds output of msprof, and every file of it is empty (0 bytes)", WANTED)
    if found.raw:
        return InputError(
            f"{shown(path)} holds output of msprof, which is not readable yet",
            "record with torch_npu.profiler instead, or give the *_ascend_pt folder if there is one",
        )
    return _by_content(path, found)


def _holds_data(folder: Path) -> bool:
    """Whether any file of a folder is longer than nothing; folders within count as data."""
    try:
        return any(entry.is_dir() or entry.stat().st_size for entry in folder.iterdir())
    except OSError:
        return True


def _unparsed(folder: Path) -> InputError:
    module = "mindspore" if folder.name.endswith("_ascend_ms") else "torch_npu"
    return InputError(
        f"{shown(folder)} holds raw profiling data that has not been parsed: it has no ASCEND_PROFILER_OUTPUT",
        f'on a machine with CANN run: python -c "from {module}.profiler.profiler import analyse; '
        f"analyse(profiler_path='{shown(folder.parent)}')\"",
    )


def _by_content(path: Path, found: Found) -> InputError:
    if found.hollow:
        return InputError(
            f"{shown(path)} holds an ASCEND_PROFILER_OUTPUT without any file of results; "
            f"it holds {shown(described(found.hollow[0]))}",
            "copy the capture again, or parse it again where it was recorded",
        )
    trace = next(_gpu_traces(found.json), None)
    if trace is not None:
        return gpu(path)
    if found.unreadable and not found.files:
        return InputError(f"{shown(path)} cannot be listed", "check the permissions of the folder")
    if not found.files:
        return InputError(f"{shown(path)} is empty: no file in it or in {5} levels of folders below", WANTED)
    return InputError(f"{shown(path)} holds no Ascend profile; it holds {shown(described(path))}", WANTED)


def _gpu_traces(files: Iterable[Path]) -> Iterator[Path]:
    return (file for file in list(files)[:_TRIES] if is_trace(start := head(file)) and is_gpu_trace(start))


def gpu(path: Path) -> InputError:
    """About a trace of a GPU."""
    return InputError(
        f"{shown(path)} is a trace of the PyTorch profiler on a GPU or CPU (Kineto), which is not readable yet",
        "give an Ascend profile: " + WANTED.removeprefix("give "),
    )
