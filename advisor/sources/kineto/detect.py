# SPDX-License-Identifier: Apache-2.0
"""Traces of the PyTorch profiler, told by their name, else by how they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.messages.text import Text
from advisor.sources.family import Candidate
from advisor.sources.files.heads import begins_as_json, file_head, is_trace
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
_OWN_HEADER = (b'"schemaVersion"', b'"deviceProperties"')
"""What Kineto writes before anything else."""
_NUMBER = re.compile(r"\d+")
MOST_FOREIGN = 64
"""Files of other names that are looked into and are no trace, folder by folder: a folder of anything may hold very
many."""


@dataclass(frozen=True, slots=True)
class TracePath(Candidate):
    """Where one trace lies."""

    file: Path = Path()


def is_trace_name(name: str) -> bool:
    """Whether a file of this name is a trace as the PyTorch profiler calls them."""
    return _TRACE_NAME.fullmatch(name) is not None


def detect(listing: Listing) -> Iterator[Candidate]:
    """The traces in a folder; those of the profiler's own naming, else all that begin as one does, and what is left of
    a trace beside them."""
    names = [listing.asked] if listing.asked else listing.files
    found = [name for name in names if is_trace_name(name)] or _traces_by_heads(listing, names)
    for name in found:
        yield TracePath(listing.folder, file=listing.folder / name)


def _traces_by_heads(listing: Listing, names: Sequence[str]) -> list[str]:
    """The files that begin as a trace; those that were cut off before that shows, where one of the same naming does."""
    traces, foreign = list[str](), dict[str, bytes]()
    for name in (name for name in names if _JSON_NAME.fullmatch(name)):
        if begins_as_trace(start := file_head(listing.folder / name)):
            traces.append(name)
        elif len(foreign) < MOST_FOREIGN:
            foreign[name] = start
        else:
            break
    namings = set(map(_naming, traces))
    rests = [name for name, start in foreign.items() if _naming(name) in namings and _may_be_cut_off(start)]
    return sorted([*traces, *rests])


def _naming(name: str) -> str:
    """What the names of traces of one job have in common, which differ in their rank and time."""
    return _NUMBER.sub("#", name)


def begins_as_trace(start: bytes) -> bool:
    """Whether a file that begins so is a trace of the PyTorch profiler.

    What a trace says of itself stands before its events, and is long where a job has many groups.
    """
    told = begins_as_json(start) and all(mark in start for mark in _OWN_HEADER)
    return told or (is_trace(start) and any(mark in start for mark in _MARKS))


def _may_be_cut_off(start: bytes) -> bool:
    """Whether this may be all that is left of a trace."""
    whole = start.rstrip().endswith((b"}", b"]"))
    return not start or (begins_as_json(start) and (not whole or any(mark in start for mark in _MARKS)))
