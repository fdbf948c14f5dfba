# SPDX-License-Identifier: Apache-2.0
"""Which operators of the framework led to the kernels of each type."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by, ratio
from advisor.analysis.module_calls import LaunchTables, charge_work
from advisor.facts.derived import TypeOperator
from advisor.facts.observed import Collective, GradientLink, HostCall, Kernel, Launch, ModuleRange, OperatorLink
from advisor.facts.table import Table


def type_operators(
    kernels: Table[Kernel],
    calls: Table[HostCall],
    collectives: Table[Collective] | None,
    ranges: Table[ModuleRange] | None,
    *,
    launches: Table[Launch] | None,
    links: Table[OperatorLink] | None,
    gradients: Table[GradientLink] | None,
) -> Table[TypeOperator]:
    """One row per rank, operator type and operator behind such kernels; longest first."""
    recorded = LaunchTables(kernels, calls, collectives, launches, links, gradients)
    work = charge_work(ranges, recorded)
    rank, types, us = kernels["rank"], kernels.texts("op_type"), np.nan_to_num(kernels["duration_us"])
    names = work.operators.texts("name").at(work.operator[: work.kernels])
    groups, whole = group_by(rank, types, names), group_by(rank, types)
    first, total = groups.first, groups.sums(us)
    rows = np.flatnonzero((types.codes[first] >= 0) & (names.codes[first] >= 0))
    rows = rows[np.argsort(-total[rows], kind="stable")]
    return Table.build(
        TypeOperator,
        rank=rank[first[rows]],
        op_type=types.take(first[rows]),
        operator=names.take(first[rows]),
        total_us=total[rows],
        type_share=ratio(total[rows], whole.sums(us)[whole.of[first[rows]]]),
    )
