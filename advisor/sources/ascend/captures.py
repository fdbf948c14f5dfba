# SPDX-License-Identifier: Apache-2.0
"""What a capture is made of, how it was recorded, and what of it could not be read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from advisor.facts.base import Fact
from advisor.facts.observed import (
    ApiTotal,
    Damage,
    Kernel,
    L2Cache,
    Link,
    MemoryUse,
    ModuleMemory,
    OperatorCall,
    OperatorMemory,
    OperatorTotal,
    RankCapture,
    StepTime,
    Transfer,
)
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import LEVELS, Capture
from advisor.sources.ascend.devices import host_name
from advisor.sources.ascend.groups import Sizes
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sent_pairs import MATRIX, pairs_in_matrix
from advisor.sources.ascend.settings import Recorded, recorded_settings
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.ascend.steps import numbered_steps
from advisor.sources.files.damage_notes import aside_table
from advisor.sources.files.heads import file_head, is_trace
from advisor.sources.reading import Reading
from advisor.sources.shared.ascend_names import TEXT_FILES


def source_of(folder: Folder) -> str:
    """`text`, `database` or `text+database`."""
    kinds = ["text"] * bool(folder.exports_text) + ["database"] * bool(folder.databases)
    return "+".join(kinds)


def describe_capture(folder: Folder) -> Capture:
    """How a rank was captured, as the run remembers it."""
    found = recorded_settings(folder)
    return Capture(
        rank=folder.rank,
        path=folder.name,
        host=host_name(folder),
        recorder="msprof" if folder.by_msprof else "",
        source=source_of(folder),
        level=found.level,
        activities=found.activities,
        with_stack=_stacks_recorded(folder, found),
        profile_memory=_memory_recorded(folder, found),
        record_shapes=found.switch("record_shapes"),
        core_metrics=found.core_metrics,
        sampled=found.sampled,
        complete=found.complete,
        absent=_absent_files(folder, found),
        size_bytes=folder.size_bytes,
    )


def _absent_files(folder: Folder, found: Recorded) -> tuple[str, ...]:
    """The files of a text export that are not there; of msprof those that it always writes."""
    always = _BY_MSPROF if folder.by_msprof else TEXT_FILES
    never = _NEVER_WITHOUT_LEVEL if folder.by_mindspore and found.level == LEVELS[0] else frozenset()
    return (
        tuple(name for name in always if name not in folder.files and name not in never) if folder.exports_text else ()
    )


_BY_MSPROF = ("kernel_details.csv", "trace_view.json", "op_statistic.csv")
_NEVER_WITHOUT_LEVEL = frozenset({"kernel_details.csv", "step_trace_time.csv"})
"""Files that MindSpore does not write at its level `LevelNone`."""
_CHEAP: tuple[type[Fact], ...] = (StepTime, OperatorTotal, ApiTotal, MemoryUse, Transfer, Kernel)
_DETAILS: Mapping[str, type[Fact]] = {
    MATRIX: Link,
    "operator_details.csv": OperatorCall,
    "operator_memory.csv": OperatorMemory,
    "npu_module_mem.csv": ModuleMemory,
    "l2_cache.csv": L2Cache,
}
"""By file: what says more about other measurements, and nothing without them."""
_STACKS = re.compile(rb'"Call stack":\s*"[^"]|"cat":\s*"python_function"')
"""What events show that were recorded with call stacks: those of operators name theirs, or the calls on them follow."""
_ABOUT = "^(sqlite_|ENUM_|META_DATA|STRING_IDS|HOST_INFO|NPU_INFO|RANK_DEVICE_MAP|SESSION_TIME_INFO|status_info)"


def holds_something(folder: Folder) -> bool:
    """Whether anything was recorded: an event, a row, a measurement. Damage met on the way is noted."""
    if any(_has_rows(folder, which) for which in folder.databases):
        return True
    trace = folder.file("trace_view.json")
    if trace is not None and is_trace(file_head(trace)):
        return True
    return any(_holds_fact(folder, fact) for fact in _CHEAP)


def holds_details_alone(folder: Folder) -> bool:
    """Whether every file that was exported only says more about measurements that are not there."""
    there = [name for name in TEXT_FILES if name in folder.files]
    return bool(there) and all(name in _DETAILS and _holds_detail(folder, name) for name in there)


def _holds_detail(folder: Folder, name: str) -> bool:
    """Whether such a file holds what it should; links that a rank of another number sent are links too."""
    whole = _holds_fact(folder, _DETAILS[name])
    return whole or (name == MATRIX and not folder.notes.all() and bool(pairs_in_matrix(folder)))


def _holds_fact(folder: Folder, fact: type[Fact]) -> bool:
    try:
        return len(folder.read(fact)) > 0
    except FactMissing:
        return False


def _has_rows(folder: Folder, which: str) -> bool:
    """Whether a database holds rows that were measured, not only names and constants."""
    found = query_rows(folder, which, "SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = [str(row[0]).replace('"', '""') for row in found if not re.match(_ABOUT, str(row[0]))]
    return any(query_rows(folder, which, f'SELECT 1 FROM "{table}" LIMIT 1') for table in tables)  # noqa: S608


def _capture_of_rank(folder: Folder) -> Table[RankCapture]:
    found = recorded_settings(folder)
    level = found.level
    return Table.build(
        RankCapture,
        rank=[folder.rank],
        source=source_of(folder),
        level=level,
        level_number=None if level is None else LEVELS.index(level) - 1,
        complete=_flag_number(found.complete),
        with_stack=_flag_number(_stacks_recorded(folder, found)),
        profile_memory=_flag_number(_memory_recorded(folder, found)),
        has_steps=int(bool(numbered_steps(folder))),
        other_captures=folder.other_captures,
        at_once_captures=folder.at_once_captures,
        told_ranks=Sizes.recorded(found.metadata.get("distributed_args")).world or None,
        cann_version=found.version("cann_version") or None,
        torch_npu_version=found.version("torch_npu_version") or None,
    )


def _stacks_recorded(folder: Folder, found: Recorded) -> bool | None:
    """Whether call stacks were recorded, as the profiler wrote it down; where that was not kept, they show it."""
    said = found.switch("with_stack")
    if said is not None:
        return said
    trace = folder.file("trace_view.json")
    shown = trace is not None and _STACKS.search(file_head(trace)) is not None
    return (shown or _has_rows_in(folder, "PYTORCH_CALLCHAINS")) or None


def _memory_recorded(folder: Folder, found: Recorded) -> bool | None:
    """The same for what operators of the framework allocate, which msprof records in other ways and at less cost."""
    said = found.switch("profile_memory")
    if said is not None or folder.by_msprof:
        return said
    return ("operator_memory.csv" in folder.files or _has_rows_in(folder, "OP_MEMORY")) or None


def _has_rows_in(folder: Folder, table: str) -> bool:
    """Whether there is a database that holds a table of this name that is not empty."""
    return bool(query_rows(folder, "profiler", f'SELECT 1 FROM "{table}" LIMIT 1'))  # noqa: S608


def _flag_number(value: bool | None) -> int | None:
    return None if value is None else int(value)


def damages_of_rank(folder: Folder) -> Table[Damage]:
    """What could not be read so far; to be asked for after the facts."""
    folder.release()
    read = folder.notes.table(folder.rank, folder.folder_name)
    return Table.concat(Damage, [read, aside_table(folder.aside, folder.rank)]) if folder.aside else read


RANK_CAPTURES = Reading(RankCapture, {"text": _capture_of_rank, "database": _capture_of_rank})
DAMAGES = Reading(Damage, {"text": damages_of_rank, "database": damages_of_rank})
