# SPDX-License-Identifier: Apache-2.0
"""From the tables about modules to what is told of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from advisor.facts.derived import ModuleMarks, ModuleOperator, ModuleShare
from advisor.facts.table import Table
from advisor.model.findings import Diagnosis
from advisor.model.modules import ModuleNode, ModuleReport, OperatorRow, RankModules
from advisor.model.run import Run
from advisor.release import VERSION

RowValues = Mapping[str, Any]


def module_report(
    run: Run,
    marks: Table[ModuleMarks] | None,
    shares: Table[ModuleShare] | None,
    operators: Table[ModuleOperator] | None,
    losses: Diagnosis,
) -> ModuleReport:
    """What is known; without ranks where no module was marked."""
    nodes, rows = _by_rank(shares), _by_rank(operators)
    ranks = () if marks is None else marks.rows()
    told = tuple(_modules_of_rank(row, nodes[row["rank"]], rows[row["rank"]]) for row in ranks)
    return ModuleReport(VERSION, run, told, losses)


def _by_rank(table: Table[Any] | None) -> defaultdict[object, list[RowValues]]:
    found: defaultdict[object, list[RowValues]] = defaultdict(list)
    for row in () if table is None else table.rows():
        found[row["rank"]].append(row)
    return found


def _modules_of_rank(marks: RowValues, nodes: Iterable[RowValues], rows: Iterable[RowValues]) -> RankModules:
    return RankModules(
        rank=marks["rank"],
        source=marks["source"],
        ranges=int(marks["ranges"]),
        crossing=int(marks["crossing"]),
        backward=int(marks["backward"]),
        linked_share=marks["linked_share"] or 0.0,
        inside_share=marks["inside_share"] or 0.0,
        tree=tuple(map(_node, nodes)),
        operators=tuple(map(_operator, rows)),
    )


def _node(row: RowValues) -> ModuleNode:
    times = ("kernels", "total_us", "own_us", "forward_us", "backward_us", "recompute_us", "comm_us", "kernel_share")
    share = row["step_share"]
    return ModuleNode(
        path=row["module"] or "",
        name=row["name"] or "",
        depth=row["depth"],
        instances=int(row["instances"] or 0),
        step_share=share if share is not None and math.isfinite(share) else None,
        mfu=row["mfu"],
        **{name: row[name] or 0.0 for name in times},
    )


def _operator(row: RowValues) -> OperatorRow:
    return OperatorRow(
        parent=row["parent"] or "",
        module=row["module"] or "",
        group=row["group"] or "",
        phase=row["phase"],
        operator=row["operator"] or "",
        kernels=row["kernels"] or "",
        calls=int(row["calls"]),
        total_us=row["total_us"],
        mean_us=row["mean_us"],
        mfu=row["mfu"],
    )
