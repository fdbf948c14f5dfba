# SPDX-License-Identifier: Apache-2.0
"""Totals over the whole capture: op_statistic.csv and api_statistic.csv, which the database leaves to the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from advisor.facts.observed import ApiTotal, OperatorTotal
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.call_words import activities_in_totals
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading

_AMOUNTS = {
    "calls": ("Count",),
    "total_us": ("Total Time", "Time"),
    "min_us": ("Min Time", "Min"),
    "max_us": ("Max Time", "Max"),
}
LAYERS: Mapping[str, str] = {"communication": "hccl"}
"""Names of API layers since CANN 8.3, where ours differ."""

_API_TYPES = {20000: "acl", 15000: "model", 10000: "node", 5500: "hccl", 5000: "runtime"}
"""ENUM_API_TYPE, for databases without it; the layers api_statistic.csv knows."""

_US_PER_NS = 1e-3


def _operators_from_text(folder: Folder) -> Table[OperatorTotal]:
    headings = {"op_type": ("OP Type",), "core": ("Core Type",), **_AMOUNTS}
    columns = folder.columns(OperatorTotal, "op_statistic.csv", headings, ("op_type", "total_us"))
    table = Table.build(OperatorTotal, **columns)
    return table.having(rank=folder.rank)


def _operators_from_database(folder: Folder) -> Table[OperatorTotal]:
    """Kernels summed by type and core. Level0 knows no types, and so no totals, like the text export."""
    database = folder.database()
    if not (database.fields("COMPUTE_TASK_INFO") and database.fields("TASK")):
        raise FactMissing([OperatorTotal.table])
    rows = database.rows(
        "SELECT c.opType, c.taskType, count(*), sum(t.endNs - t.startNs), min(t.endNs - t.startNs), "
        "max(t.endNs - t.startNs) FROM COMPUTE_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId "
        "WHERE t.endNs >= t.startNs GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2"
    )
    types, cores = (database.texts(_id_column(rows, column)) for column in (0, 1))
    table = Table.build(
        OperatorTotal, rank=_rank_column(folder, rows), op_type=types, core=cores, **_amount_columns(rows, 2)
    )
    known = table.take(types.codes >= 0)
    if len(table) and not len(known):
        raise FactMissing([OperatorTotal.table])
    return known


OPERATOR_TOTALS = Reading(OperatorTotal, {"text": _operators_from_text, "database": _operators_from_database})


def _apis_from_text(folder: Folder) -> Table[ApiTotal]:
    headings = {"level": ("Level",), "name": ("API Name",), **_AMOUNTS}
    columns = folder.columns(ApiTotal, "api_statistic.csv", headings, ("name", "total_us"))
    table = Table.build(ApiTotal, **columns)
    activity = activities_in_totals(table.texts("name"))
    return table.having(rank=folder.rank, level=_layer_names(table.texts("level")), activity=activity)


def _layer_names(levels: Texts) -> Texts:
    """Layer names of all versions as one."""
    return Texts.of(None if name is None else LAYERS.get(name.lower(), name.lower()) for name in levels.values())


def _apis_from_database(folder: Folder) -> Table[ApiTotal]:
    database = folder.database()
    if not database.fields("CANN_API"):
        raise FactMissing([ApiTotal.table])
    rows = database.rows(
        "SELECT type, name, count(*), sum(endNs - startNs), min(endNs - startNs), max(endNs - startNs) "
        "FROM CANN_API WHERE endNs >= startNs GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2"
    )
    types = _API_TYPES | database.names("ENUM_API_TYPE")
    levels = Texts.of(types.get(row[0]) if isinstance(row[0], int) else None for row in rows)
    names = database.texts(_id_column(rows, 1))
    table = Table.build(
        ApiTotal,
        rank=_rank_column(folder, rows),
        level=_layer_names(levels),
        name=names,
        activity=activities_in_totals(names),
        **_amount_columns(rows, 2),
    )
    return table.take(table.texts("level").isin(_API_TYPES.values()))


API_TOTALS = Reading(ApiTotal, {"text": _apis_from_text, "database": _apis_from_database})


def _rank_column(folder: Folder, rows: Sequence[object]) -> Array:
    return np.full(len(rows), folder.rank)


def _id_column(rows: Sequence[tuple[object, ...]], column: int) -> Array:
    return np.array([row[column] if isinstance(row[column], int) else -1 for row in rows], np.int64)


def _amount_columns(rows: Sequence[tuple[object, ...]], start: int) -> dict[str, Array]:
    """Calls, and total, shortest and longest time; ns of the database as µs."""
    cells = np.array([row[start : start + 4] for row in rows], np.float64).reshape(-1, 4)
    names = ("total_us", "min_us", "max_us")
    return {"calls": cells[:, 0], **{name: cells[:, i] * _US_PER_NS for i, name in enumerate(names, 1)}}
