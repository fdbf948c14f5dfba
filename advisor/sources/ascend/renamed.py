# SPDX-License-Identifier: Apache-2.0
"""Files that somebody copied under names of their own: what each is, and which of them are one capture."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from advisor.sources.ascend import msprof
from advisor.sources.files.csvfile import spellings_of
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.database import is_broken_database, table_names
from advisor.sources.files.heads import file_head, is_gpu_trace, is_packed, is_trace

_HEADINGS: Mapping[str, frozenset[str]] = {
    "op_summary.csv": frozenset({"Op Name", "Task Duration(us)"}),
    "kernel_details.csv": frozenset({"Name", "Accelerator Core", "Duration(us)"}),
    "op_statistic.csv": frozenset({"OP Type", "Count", "Total Time(us)"}),
    "step_trace_time.csv": frozenset({"Step", "Computing", "Free"}),
    "api_statistic.csv": frozenset({"API Name", "Time(us)", "Count"}),
    "operator_details.csv": frozenset({"Name", "Host Self Duration(us)"}),
    "operator_memory.csv": frozenset({"Name", "Size(KB)", "Allocation Time(us)"}),
    "memory_record.csv": frozenset({"Component", "Timestamp(us)", "Total Allocated(MB)"}),
}
"""By the name that a profiler gives a table: headings that it has, and no other one."""
_TABLES = frozenset({"STRING_IDS", "TASK"})
"""What the database of a profiler holds, whatever it is called."""
_STEMS = "|".join(name.removesuffix(".csv") for name in _HEADINGS)
_KEPT_WORD = re.compile(rf"(?:^|(?<=[-_. ]))(?:{_STEMS}|trace_view|msprof)(?=[-_. (])")
"""What is left in a name of the one that a profiler gave, as in `trace_view_rank0.json`."""
_OF_A_GPU = re.compile(r"gpu_timeline_display_\d+\.json")
"""The timeline of a GPU by the old profiler of MindSpore, whose events say nothing of what they ran on."""
_ASCEND = (b"Ascend Hardware", b"Overlap Analysis", b'"cat":"async_npu"', b'"HostToDevice"', b"PTA", b"AscendCL@")


def kind_of_file(path: Path) -> str | None:
    """What a file is whatever it is called: the name that a profiler gives it, `profiler` for its database; None for
    what none writes."""
    if path.suffix == ".db":
        return "profiler" if table_names(path) >= _TABLES else None
    if path.suffix == ".csv":
        return _kind_of_table(path)
    if _OF_A_GPU.fullmatch(path.name):
        return None
    start = file_head(path)
    return "trace_view.json" if is_ascend_trace(start) and not is_packed(path) else None


def renamed_captures(folder: Path, names: Iterable[str]) -> list[dict[str, str]]:
    """The captures among files of a folder, each as its files by what they are.

    A database is one, and so are text files with the same words around the names that the profiler gave them. Beside
    them a database that cannot be opened is one too, so that it is told.
    """
    captures: dict[str, dict[str, str]] = defaultdict(dict)
    told = [(name, around) for name in names if (around := _words_around(name)) is not None]
    for name, around in told:
        if kind := kind_of_file(folder / name):
            captures[around].setdefault(kind, name)
    if captures:
        broken = (name for name, _ in told if name.endswith(".db") and is_broken_database(folder / name))
        captures |= {name: {"profiler": name} for name in broken}
    return list(captures.values())


def renamed_capture_of(folder: Path, names: Iterable[str], asked: str) -> dict[str, str]:
    """The one of these captures that a file is part of; the file alone where its name tells nothing. Empty where it is
    nothing that a profiler writes."""
    around = _words_around(asked)
    for capture in renamed_captures(folder, [name for name in names if around and _words_around(name) == around]):
        if asked in capture.values():
            return capture
    kind = kind_of_file(folder / asked)
    return {kind: asked} if kind else {}


def _words_around(name: str) -> str | None:
    """What a name says beside the word of the profiler, as `*_rank0`; of a database all of it. None for a name without
    such a word."""
    stem, _, ending = name.rpartition(".")
    if ending in ("csv", "json") and (word := _KEPT_WORD.search(name)):
        return f"{name[: word.start()]}*{stem[word.end() :]}"
    # of a database of msprof it is told what to call it
    return name if name.endswith(".db") and not msprof.is_renamed_database(name) else None


def is_ascend_trace(start: bytes) -> bool:
    """Whether this is the start of a timeline as torch_npu writes it."""
    return is_trace(start) and (any(mark in start for mark in _ASCEND) or not is_gpu_trace(start))


def _kind_of_table(path: Path) -> str | None:
    """What a table is by its headings."""
    try:
        there = frozenset(spellings_of(path, Notes()))
    except Unreadable:
        return None
    return next((kind for kind, needed in _HEADINGS.items() if needed <= there), None)
