# SPDX-License-Identifier: Apache-2.0
"""Which operators of the framework led to the kernels of each type."""

from __future__ import annotations

import numpy as np

from advisor.analysis.modules.module_calls import LaunchTables, charge_work
from advisor.analysis.operators.longest_inputs import parts_of_types
from advisor.facts.derived import TypeOperator
from advisor.facts.observed import ModuleRange
from advisor.facts.table import Table


def type_operators(
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables,
) -> Table[TypeOperator]:
    """One row per rank, operator type, inputs and operator behind such kernels, longest first; of those of which nobody
    knows what led to them one without an operator."""
    kernels = recorded.kernels
    work = charge_work(ranges, recorded)
    operator = work.operators.texts("name").at(work.operator[: work.kernels])
    first, columns = parts_of_types(kernels, np.nan_to_num(kernels["duration_us"]), operator)
    return Table.build(TypeOperator, **columns, operator=operator.take(first))
