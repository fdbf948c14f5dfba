# SPDX-License-Identifier: Apache-2.0
"""Device memory: records, modules, operators, and the level-2 cache. The database holds bytes and ns throughout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from advisor.chips.chip_files import shipped_chips
from advisor.facts.base import MISSING
from advisor.facts.observed import L2Cache, MemoryUse, ModuleMemory, OperatorMemory
from advisor.facts.table import Array, Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.devices import chip_name
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import Origin, select_columns
from advisor.sources.files.csvfile import headings_of
from advisor.sources.files.database import distinct_ids
from advisor.sources.reading import Reading

F = TypeVar("F", MemoryUse, ModuleMemory, OperatorMemory, L2Cache)

_USE_HEADINGS = {
    "component": ("Component",),
    "time_ns": ("Timestamp",),
    "allocated_bytes": ("Total Allocated",),
    "reserved_bytes": ("Total Reserved",),
    "active_bytes": ("Total Active",),
}
_USE_FIELDS = {
    "component": ("component",),
    "time_ns": ("timestamp", "timestampNs"),
    "allocated_bytes": ("totalAllocated",),
    "reserved_bytes": ("totalReserved",),
    "active_bytes": ("totalActive",),
}
_RECORD = "memory_record.csv"
_PROCESS = "app"
"""What NPU_MEM calls the memory of the process as a whole, which memory_record.csv calls APP."""
_WHOLE_PROCESS = "APP"
_MINDSPORE_MB = 1000 * 1024.0
"""What MindSpore calls MB in memory_record.csv, and there alone: a thousand KB of 1024 bytes each."""
_PYTORCH_MB = 1024.0**2


def _uses_from_text(folder: Folder) -> Table[MemoryUse]:
    columns = folder.columns(MemoryUse, _RECORD, _USE_HEADINGS, ("time_ns",))
    table = _of_rank(folder, Table.build(MemoryUse, **columns))
    table = _as_mindspore_means(table) if _is_of_mindspore(folder) else table
    return _without_impossible_sizes(folder, table, _RECORD)


def _is_of_mindspore(folder: Folder) -> bool:
    """Whether MindSpore wrote the records: it names no stream, and torch_npu without streams tells nothing active."""
    there = headings_of(folder.parts(_RECORD)[0], folder.notes)
    return "total active" in there and "stream ptr" not in there


def _as_mindspore_means(table: Table[MemoryUse]) -> Table[MemoryUse]:
    """With bytes of its MB; of the whole process it has zeros where nothing is told but what is reserved."""
    whole = table.texts("component").isin([_WHOLE_PROCESS])
    sizes = {name: table[name] * (_MINDSPORE_MB / _PYTORCH_MB) for name in _SIZES}
    return table.having(
        reserved_bytes=sizes["reserved_bytes"],
        **{name: np.where(whole, np.nan, sizes[name]) for name in _SIZES if name != "reserved_bytes"},
    )


_SIZES = ("allocated_bytes", "reserved_bytes", "active_bytes")


def _uses_from_database(folder: Folder) -> Table[MemoryUse]:
    """Of allocators and of the process; MindSpore's database tells of the process alone."""
    read = [_allocator_memory, _process_memory]
    parts, missing = [], []
    for each in read:
        try:
            parts.append(each(folder))
        except FactMissing as absent:
            missing.append(absent)
    if len(missing) == len(read):
        raise missing[0]
    columns = [{n: v for n, v in part.columns() if n != "rank"} for part in parts if len(part)]
    parts.clear()  # each column of a part is let go as the whole one is made: records are many
    if not columns:
        return Table.empty(MemoryUse)
    whole = {name: _joined([part.pop(name) for part in columns]) for name in list(columns[0])}
    table = Table.build(MemoryUse, rank=folder.rank, **whole)
    return _without_impossible_sizes(folder, table, folder.databases["profiler"].name)


_WHOLES = {
    "PTA": (("PTA+GE",), (_WHOLE_PROCESS,)),
    "GE": (("PTA+GE",), (_WHOLE_PROCESS,)),
    "PTA+GE": (("PTA", "GE"), (_WHOLE_PROCESS,)),
    "WORKSPACE": ((_WHOLE_PROCESS,),),
}
"""By component: what it is part of, or made of; it never has more than these have in all."""
_BETWEEN_ROWS = 2.0
"""How much more may have been held between the moments at which the process is looked at. A judgement."""
_NO_DEVICE = 4
"""How many times the memory of the largest known device is more than any holds, those to come included."""


def _without_impossible_sizes(folder: Folder, table: Table[MemoryUse], file: str) -> Table[MemoryUse]:
    """Without sizes that cannot be, which are noted: more than the rest of the file, or any device, has room for."""
    component = table.texts("component")
    rows = {name: np.flatnonzero(component.isin([name])) for name in component.in_use().names}
    chips = shipped_chips()
    capacity = chips.known_of(chip_name(folder)).memory_bytes
    limit = np.full(len(table), _NO_DEVICE * np.nanmax([chip.memory_bytes for chip in chips.chips]))
    for name, wholes in _WHOLES.items():
        for whole in (tuple(part for part in parts if part in rows) for parts in wholes if name in rows):
            if whole:
                chosen, most = _bounded_rows(table, rows[name], [rows[part] for part in whole], capacity)
                limit[chosen] = np.minimum(limit[chosen], most)
    wrong = {name: table[name] > limit for name in _SIZES}
    if not (count := int(np.count_nonzero(np.logical_or.reduce(list(wrong.values()))))):
        return table
    folder.notes.add(file, "", Message("memory_impossible"), rows=count, share=count / len(table))
    return table.having(**{name: np.where(wrong[name], np.nan, table[name]) for name in _SIZES})


def _bounded_rows(table: Table[MemoryUse], rows: Array, parts: Sequence[Array], capacity: float) -> tuple[Array, float]:
    """Which of these rows may hold no more than those of all parts together, and how much that is.

    None where half of them do, for then they mean something else. Before and after the parts nothing is known of them.
    """
    most = sum(float(np.fmax.reduce(table["reserved_bytes"][part])) for part in parts)
    if not most > 0:
        return rows[:0], most
    limit = float(np.fmin(_BETWEEN_ROWS * most, max(capacity, most)))
    times = np.concatenate([table["time_ns"][part] for part in parts])
    time = table["time_ns"][rows]
    inside = rows[(time >= times.min()) & (time <= times.max())]
    over = np.logical_or.reduce([table[name][inside] > limit for name in _SIZES])
    return (inside if 2 * np.count_nonzero(over) < len(rows) else inside[:0]), limit


def _joined(parts: list[Values]) -> Values:
    if texts := [part for part in parts if isinstance(part, Texts)]:
        return Texts.concat(texts)
    return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])


def _allocator_memory(folder: Folder) -> Table[MemoryUse]:
    return Table.build(
        MemoryUse,
        **select_columns(folder, Origin("profiler", "MEMORY_RECORD"), MemoryUse, _USE_FIELDS, required=("time_ns",)),
    )


def _process_memory(folder: Folder) -> Table[MemoryUse]:
    """The memory of the whole process, which the database keeps in a table of its own."""
    fields = {"component": ("type",), "time_ns": ("timestampNs",), "reserved_bytes": ("hbm",)}
    columns = select_columns(folder, Origin("profiler", "NPU_MEM"), MemoryUse, fields, required=("time_ns",))
    table = Table.build(MemoryUse, **columns)
    kinds = table.texts("component")
    chosen = table.take(kinds.isin([name for name in kinds.names if name.lower() == _PROCESS]))
    return chosen.having(component=Texts.constant(_WHOLE_PROCESS, len(chosen)))


def _of_rank(folder: Folder, table: Table[F]) -> Table[F]:
    return table.having(rank=folder.rank)


MEMORY_USES = Reading(MemoryUse, {"text": _uses_from_text, "database": _uses_from_database})


def _modules_from_text(folder: Folder) -> Table[ModuleMemory]:
    headings = {"component": ("Component",), "time_ns": ("Timestamp",), "reserved_bytes": ("Total Reserved",)}
    columns = folder.columns(ModuleMemory, "npu_module_mem.csv", headings, ("time_ns",))
    return _of_rank(folder, Table.build(ModuleMemory, **columns))


def _modules_from_database(folder: Folder) -> Table[ModuleMemory]:
    database = folder.database()
    if not database.fields("NPU_MODULE_MEM"):
        raise FactMissing([ModuleMemory.table])
    wanted = {"module": ("moduleId",), "time": ("timestampNs",), "reserved": ("totalReserved",)}
    found = database.integers("NPU_MODULE_MEM", wanted)
    reserved = np.where(found["reserved"] < 0, np.nan, found["reserved"].astype(np.float64))
    return Table.build(
        ModuleMemory,
        rank=folder.rank,
        component=_names_of_ids(found["module"], database.names("ENUM_MODULE")),
        time_ns=found["time"],
        reserved_bytes=reserved,
    )


def _names_of_ids(ids: Array, names: dict[int, str]) -> Texts:
    """Numbers of an enumeration as texts; a number without a name is shown as it is."""
    distinct, codes = distinct_ids(ids)
    texts = tuple(names.get(i, str(i)) for i in distinct.tolist())
    return Texts(np.where(ids == MISSING, -1, codes).astype(np.int32), texts)


MODULE_MEMORY = Reading(ModuleMemory, {"text": _modules_from_text, "database": _modules_from_database})

_OPERATOR_HEADINGS = {
    "name": ("Name",),
    "size_bytes": ("Size",),
    "allocated_ns": ("Allocation Time",),
    "released_ns": ("Release Time",),
}
_OPERATOR_FIELDS = {
    "name": ("name",),
    "size_bytes": ("size",),
    "allocated_ns": ("allocationTime",),
    "released_ns": ("releaseTime",),
}


def _operators_from_text(folder: Folder) -> Table[OperatorMemory]:
    columns = folder.columns(OperatorMemory, "operator_memory.csv", _OPERATOR_HEADINGS)
    return _of_rank(folder, Table.build(OperatorMemory, **columns))


def _operators_from_database(folder: Folder) -> Table[OperatorMemory]:
    columns = select_columns(
        folder, Origin("profiler", "OP_MEMORY"), OperatorMemory, _OPERATOR_FIELDS, required=("name",)
    )
    table = Table.build(OperatorMemory, **columns)
    times = {name: np.where(table[name] <= 0, MISSING, table[name]) for name in ("allocated_ns", "released_ns")}
    return _of_rank(folder, table.having(**times))


OPERATOR_MEMORY = Reading(OperatorMemory, {"text": _operators_from_text, "database": _operators_from_database})


def _cache_from_text(folder: Folder) -> Table[L2Cache]:
    headings = {
        "stream": ("Stream Id", "Stream ID"),
        "task": ("Task Id", "Task ID"),
        "op_name": ("Op Name",),
        "hit_share": ("Hit Rate",),
        "victim_share": ("Victim Rate",),
    }
    columns = folder.columns(L2Cache, "l2_cache.csv", headings)
    return _of_rank(folder, Table.build(L2Cache, **columns))


L2_CACHE = Reading(L2Cache, {"text": _cache_from_text})
