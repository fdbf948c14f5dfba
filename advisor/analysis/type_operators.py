# SPDX-License-Identifier: Apache-2.0
"""Which operators of the framework led to the kernels of each type."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import parts_of_names
from advisor.analysis.module_calls import LaunchTables, charge_work
from advisor.facts.derived import TypeOperator
from advisor.facts.observed import ModuleRange
from advisor.facts.table import Table


def type_operators(
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables,
) -> Table[TypeOperator]:
    """One row per rank, operator type and operator behind such kernels; longest first."""
    kernels = recorded.kernels
    work = charge_work(ranges, recorded)
    names, types = work.operators.texts("name").at(work.operator[: work.kernels]), kernels.texts("op_type")
    parts = parts_of_names(kernels["rank"], types, names, np.nan_to_num(kernels["duration_us"]))
    table = Table.build(
        TypeOperator,
        rank=kernels["rank"][parts.first],
        op_type=types.take(parts.first),
        operator=names.take(parts.first),
        total_us=parts.total,
        type_share=parts.share,
    )
    return table.take(np.flatnonzero(table.texts("operator").codes >= 0))
