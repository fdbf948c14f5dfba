# SPDX-License-Identifier: Apache-2.0
"""Traces of the PyTorch profiler, told by their name, else by how they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from advisor.messages.text import Text
from advisor.sources.family import Candidate
from advisor.sources.files.heads import file_head, is_trace
from advisor.sources.listing import Listing

NAME = "Kineto"
"""The family."""

WANTED = Text(
    "traces of the PyTorch profiler on GPUs (*.pt.trace.json, packed with gzip or not)",
    "由 PyTorch profiler 在 GPU 上导出的 *.pt.trace.json（可为 gzip 压缩）",
)

_TRACE_NAME = re.compile(r".*\.pt\.trace\.json(\.gz)?", re.IGNORECASE)
_JSON_NAME = re.compile(r".*\.json(\.gz)?", re.IGNORECASE)
_MARKS = (
    b'"deviceProperties"',
    b'"distributedInfo"',
    b'"cuda_runtime"',
    b'"gpu_memcpy"',
    b'"Trace name"',
    b'"Trace iteration"',
    b'"External id"',
    b'"Ev Idx"',
)
"""What stands near the beginning of such a trace and of no other."""
HEADS_TRIED = 64
"""Files of other names that are looked into, folder by folder: a folder of anything may hold very many."""


@dataclass(frozen=True, slots=True)
class TracePath(Candidate):
    """Where one trace lies."""

    file: Path = Path()


def is_trace_name(name: str) -> bool:
    """Whether a file of this name is a trace as the PyTorch profiler calls them."""
    return _TRACE_NAME.fullmatch(name) is not None


def detect(listing: Listing) -> Iterator[Candidate]:
    """The traces in a folder; those of the profiler's own naming, else all that begin as one does."""
    names = [listing.asked] if listing.asked else listing.files
    named = [name for name in names if is_trace_name(name)]
    others = [] if named else [name for name in names if _JSON_NAME.fullmatch(name)][:HEADS_TRIED]
    for name in named or others:
        file = listing.folder / name
        if named or begins_as_trace(file_head(file)):
            yield TracePath(listing.folder, file=file)


def begins_as_trace(start: bytes) -> bool:
    """Whether a file that begins so is a trace of the PyTorch profiler."""
    return is_trace(start) and any(mark in start for mark in _MARKS)
