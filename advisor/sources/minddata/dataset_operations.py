# SPDX-License-Identifier: Apache-2.0
"""DatasetOperation and HostCpu: the dataset pipeline, and how busy the host was meanwhile.

`pipeline_profiling_*.json` holds the samples of which `minddata_pipeline_raw_*.csv` is made; it is read where that is
not there. `minddata_cpu_utilization_*.json` holds samples of the processors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from advisor.facts.base import Column
from advisor.facts.observed import DatasetOperation, HostCpu
from advisor.facts.table import Table, Texts
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.jsonfile import as_integer, as_integers, as_mapping, as_number, as_text, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.minddata.numbers_gone import note_operations_gone, read_filled_columns

_TEXT = Column("Text.", "text")
_LINKS = ("parent_id", "children_id")
_HEADINGS = {
    name: (name,) for name in ("op_id", "op_type", "num_workers", "output_queue_size", "output_queue_length", *_LINKS)
}
_MEAN = "output_queue_average_size"
_NUMBER = re.compile(r"\d{1,9}")


class Operation(NamedTuple):
    """One operation of a dataset pipeline as a file has it; numbers that it does not have are NaN."""

    number: int
    parent: int | None
    children: tuple[int, ...]
    kind: str
    workers: float
    capacity: float
    mean: float
    empty_share: float


def operation_table(rank: int, operations: list[Operation]) -> Table[DatasetOperation]:
    """The operations as a fact, the last one of the pipeline first."""
    shares = [one.mean / one.capacity if one.capacity > 0 else math.nan for one in operations]
    return Table.build(
        DatasetOperation,
        rank=[rank] * len(operations),
        number=[one.number for one in operations],
        parent=[one.parent for one in operations],
        operation=[one.kind or None for one in operations],
        workers=[one.workers for one in operations],
        queue_capacity=[one.capacity for one in operations],
        queue_mean=[one.mean for one in operations],
        queue_share=[share if share <= 1 else math.nan for share in shares],
        empty_share=[one.empty_share for one in operations],
    ).sorted_by("number")


def operations_in_csv(path: Path, notes: Notes) -> list[Operation]:
    """What minddata_pipeline_raw_*.csv lists. Cells hold lists as text.

    Raises:
        Unreadable: It cannot be opened, is empty, or lacks a column.
    """
    headings = {**_HEADINGS, _MEAN: (_MEAN,)}
    found = read_filled_columns(path, dict.fromkeys(headings, _TEXT), headings, notes, ("op_id", "op_type"))
    cells = {name: column.values() for name, column in found.items() if isinstance(column, Texts)}
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    made = [_operation_of_row(row) for row in rows]
    return _without_odd_ones(made, path, notes)


def _operation_of_row(row: dict[str, str | None]) -> Operation | None:
    number = as_integer(row["op_id"])
    if number is None or number < 0:
        return None
    sizes = [float(text) for text in re.findall(r"\d{1,12}(?:\.\d+)?", row.get("output_queue_size") or "")]
    return Operation(
        number=number,
        parent=as_integer(row.get("parent_id")),
        children=tuple(int(text) for text in _NUMBER.findall(row.get("children_id") or "")),
        kind=row["op_type"] or "",
        workers=_count(row.get("num_workers")),
        capacity=_count(row.get("output_queue_length")),
        mean=_count(row.get(_MEAN)),
        empty_share=_empty_part(sizes),
    )


def operations_in_json(path: Path, notes: Notes) -> list[Operation]:
    """What pipeline_profiling_*.json lists.

    Raises:
        Unreadable: It cannot be opened, is empty, or is no JSON.
    """
    listed = value_at(jsonfile.load_json(path, notes), "op_info")
    entries = [as_mapping(entry) for entry in listed] if isinstance(listed, list) else []
    parents = {child: entry for entry in entries for child in as_integers(entry.get("children"))}
    made = [_operation_of_entry(entry, parents) for entry in entries]
    return _without_odd_ones(made, path, notes)


def _operation_of_entry(entry: object, parents: Mapping[int, object]) -> Operation | None:
    number = as_integer(value_at(entry, "op_id"))
    if number is None or number < 0:
        return None
    queue = value_at(entry, "metrics", "output_queue")
    listed = value_at(queue, "size")
    sizes = [size for size in map(as_number, listed) if size >= 0] if isinstance(listed, list) else []
    return Operation(
        number=number,
        parent=as_integer(value_at(parents.get(number), "op_id")),
        children=as_integers(value_at(entry, "children")),
        kind=bounded_name(as_text(value_at(entry, "op_type"))),
        workers=_count(value_at(entry, "num_workers")),
        capacity=_count(value_at(queue, "length")),
        mean=sum(sizes) / len(sizes) if sizes else math.nan,
        empty_share=_empty_part(sizes),
    )


def _count(value: object) -> float:
    found = as_number(value)
    return found if found >= 0 else math.nan


def _empty_part(sizes: list[float]) -> float:
    return sizes.count(0.0) / len(sizes) if sizes else math.nan


def _without_odd_ones(made: list[Operation | None], path: Path, notes: Notes) -> list[Operation]:
    """The operations, each number once."""
    whole = {one.number: one for one in reversed(made) if one is not None}
    if len(whole) < len(made):
        notes.add(path.name, "", Message("line_unusable"), rows=len(made) - len(whole))
    note_operations_gone(path, {one.number: (one.parent, *one.children) for one in whole.values()}, notes)
    return list(whole.values())


def read_operations(files: dict[str, Path], notes: Notes) -> tuple[list[Operation], list[str]]:
    """The operations from the csv file, else from the samples, and the files that cannot be read."""
    unreadable = list[str]()
    for kind, read in (("dataset", operations_in_csv), ("dataset_samples", operations_in_json)):
        try:
            if kind in files and (found := read(files[kind], notes)):
                return found, unreadable
        except Unreadable as wrong:
            unreadable.append(wrong.file)
    return [], unreadable


def host_cpu_table(rank: int, path: Path, notes: Notes) -> Table[HostCpu]:
    """What minddata_cpu_utilization_*.json says of the processors of the host, in parts of a hundred.

    Raises:
        FactMissing: It says nothing of them.
        Unreadable: It cannot be opened, is empty, or is no JSON.
    """
    content = jsonfile.load_json(path, notes)
    samples = as_mapping(value_at(content, "device_info"))
    seen = _looks_that_saw_something(samples)
    idle, waiting = (_mean_share(samples.get(f"{name}_utilization"), seen) for name in ("idle", "io"))
    if math.isnan(idle):
        raise FactMissing([HostCpu.table])
    cores = _count(value_at(content, "cpu_processor_num"))
    busy = max(1 - idle - (0 if math.isnan(waiting) else waiting), 0)
    return Table.build(HostCpu, rank=[rank], cores=[cores], busy_share=[busy], waiting_share=[waiting])


_LOOKED_AT = ("idle_utilization", "io_utilization", "user_utilization", "sys_utilization", "context_switch_count")


def _looks_that_saw_something(samples: Mapping[str, object]) -> frozenset[int]:
    """The samples that are no zeros throughout: the first is none, and MindSpore 2.10 looks again right after each."""
    lists = [listed for listed in map(samples.get, _LOOKED_AT) if isinstance(listed, list)]
    return frozenset(number for listed in lists for number, one in enumerate(listed) if as_number(one) > 0)


def _mean_share(listed: object, seen: Collection[int]) -> float:
    """The mean of these samples, as a share."""
    chosen = [one for number, one in enumerate(listed if isinstance(listed, list) else []) if number in seen]
    values = [one / 100 for one in map(as_number, chosen) if 0 <= one <= 100]  # noqa: PLR2004 - per cent
    return sum(values) / len(values) if values else math.nan
