# SPDX-License-Identifier: Apache-2.0
"""cluster_analysis.db, in the shape of the text files of a cluster summary: one way to read both."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.table import Texts, Values
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.cell_columns import CellColumns
from advisor.sources.ascend.communication import op_of, step_number
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import Origin, columns_of, columns_of_table, read_record_columns
from advisor.sources.ascend.steps import FIELDS, REQUIRED
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.shared.collective_kinds import is_p2p

_TIMES = {
    "Start Timestamp(us)": "start_timestamp",
    "Elapse Time(ms)": "elapsed_time",
    "Transit Time(ms)": "transit_time",
    "Wait Time(ms)": "wait_time",
    "Synchronization Time(ms)": "synchronization_time",
    "Idle Time(ms)": "idle_time",
}
_IN_MS = frozenset({*_TIMES.values(), "total_duration"}) - {"start_timestamp"}
_COUNTED = frozenset({"package_size", "count", "transit_size"})
_WORDS = frozenset({"band_type", "transport_type"})
_PLACE = ("step", "hccl_op_name", "group_name")


def _table_rows(folder: Folder, table: str, columns: tuple[str, ...]) -> list[tuple[object, ...]]:
    """The rows of a table; none where it, or one of the columns, is not there. Cells that cannot be used are noted."""
    origin = Origin("analysis", table)
    try:
        found = read_record_columns(folder, origin, columns)
    except (FactMissing, Unreadable):  # no database, or none that can be read, which is noted
        return []
    if found is None:
        return []
    _note_unusable_cells(columns_of_table(folder, origin), dict(zip(columns, found, strict=True)))
    return list(zip(*found, strict=True))


def _note_unusable_cells(columns: CellColumns, cells: Mapping[str, Sequence[object]]) -> None:
    for name, of_column in cells.items():
        if name in _IN_MS:
            columns.us(name, of_column, difference=name == _TIMES["Idle Time(ms)"])
        elif name == _TIMES["Start Timestamp(us)"]:
            columns.moments_ns(name, of_column)
        elif name in _COUNTED:
            columns.amounts(name, of_column)
        elif name in _WORDS:
            columns.words(name, of_column)


def _columns(folder: Folder, table: str) -> set[str]:
    """The columns of a table, in small letters; none where it cannot be had."""
    try:
        return {name.lower() for name in columns_of(folder, Origin("analysis", table))}
    except (FactMissing, Unreadable):  # no database, or none that can be read, which is noted
        return set()


def step_times(folder: Folder) -> dict[str, Values]:
    """ClusterStepTraceTime as the columns of cluster_step_trace_time.csv; times that it does not have are missing."""
    there = _columns(folder, "ClusterStepTraceTime")
    names = [name for name in FIELDS if name != "step" and (name in REQUIRED or FIELDS[name][0].lower() in there)]
    fields = ("step", "type", "index", *(FIELDS[name][0] for name in names))
    found = _table_rows(folder, "ClusterStepTraceTime", fields)
    if not found:
        return {}
    step, kind, index, *cells = zip(*found, strict=True)
    numbers = [step_number(str(value)) for value in step]
    columns = columns_of_table(folder, Origin("analysis", "ClusterStepTraceTime"))
    return {
        "step": np.array([MISSING if value is None else value for value in numbers], np.int64),
        "type": Texts.of(str(value) for value in kind),
        "index": Texts.of(str(value) for value in index),
        **{name: columns.decimals(FIELDS[name][0], column) for name, column in zip(names, cells, strict=True)},
    }


def groups_content(folder: Folder) -> object:
    """CommunicationGroupMapping as communication_group.json; `CommunicationGroup` is its old name."""
    columns = ("type", "rank_set", "group_name", "group_id", "pg_name")
    found = _table_rows(folder, "CommunicationGroupMapping", columns) or _table_rows(
        folder, "CommunicationGroup", columns
    )
    entries = [dict(zip(columns, row, strict=True)) for row in found]
    return {"comm_group_parallel_info": [{**entry, "rank_set": _ranks_in_text(entry["rank_set"])} for entry in entries]}


def _ranks_in_text(text: object) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,9}", str(text))]


def communication_content(folder: Folder) -> object:
    """ClusterCommunicationTime and ClusterCommunicationBandwidth as cluster_communication.json."""
    content = _growing_tree()
    times = _table_rows(folder, "ClusterCommunicationTime", (*_PLACE, "rank_id", *_TIMES.values()))
    for step, name, group, rank, *cells in times:
        place = content[_outer_key(name)][str(step)][f"{name}@{group}"][str(rank)]
        place["Communication Time Info"] = dict(zip(_TIMES, cells, strict=True))
    columns = (*_PLACE, "rank_id", "band_type", "package_size", "count", "total_duration")
    for step, name, group, rank, link, size, count, time in _table_rows(
        folder, "ClusterCommunicationBandwidth", columns
    ):
        place = content[_outer_key(name)][str(step)][f"{name}@{group}"][str(rank)]
        place["Communication Bandwidth Info"][str(link)]["Size Distribution"][str(size)] = [count, time]
    return _plain_dicts(content)


def matrix_content(folder: Folder) -> object:
    """ClusterCommunicationMatrix as cluster_communication_matrix.json."""
    content = _growing_tree()
    columns = (*_PLACE, "src_rank", "dst_rank", "transport_type", "transit_size", "transit_time")
    for step, name, group, source, target, link, size, time in _table_rows(
        folder, "ClusterCommunicationMatrix", columns
    ):
        content[_outer_key(name)][str(step)][f"{name}@{group}"][f"{source}-{target}"] = {
            "Transport Type": link,
            "Transit Size(MB)": size,
            "Transit Time(ms)": time,
        }
    return _plain_dicts(content)


def _outer_key(name: object) -> str:
    """The outer key of the text file, without the ranks, which the groups tell."""
    return "p2p" if is_p2p(op_of(str(name))) else "collective"


def _growing_tree() -> defaultdict[str, Any]:
    """An object that makes its members when they are asked for."""
    make: Callable[[], defaultdict[str, Any]] = _growing_tree
    return defaultdict(make)


def _plain_dicts(value: object) -> object:
    return {key: _plain_dicts(member) for key, member in value.items()} if isinstance(value, dict) else value
