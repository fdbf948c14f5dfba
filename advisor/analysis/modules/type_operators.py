# SPDX-License-Identifier: Apache-2.0
"""Which operators of the framework led to the kernels of each type."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import parts_of_names
from advisor.analysis.modules.module_calls import LaunchTables, charge_work
from advisor.analysis.operators.longest_inputs import inputs_of_kernels, longest_inputs
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
    names, types = work.operators.texts("name").at(work.operator[: work.kernels]), kernels.texts("op_type")
    rank, us = kernels["rank"], np.nan_to_num(kernels["duration_us"])
    inputs = longest_inputs(rank, types, inputs_of_kernels(kernels), us)
    parts = parts_of_names(rank, types, us, *inputs, names)
    return Table.build(
        TypeOperator,
        rank=rank[parts.first],
        op_type=types.take(parts.first),
        input_shapes=inputs.shapes.take(parts.first),
        input_dtypes=inputs.dtypes.take(parts.first),
        operator=names.take(parts.first),
        total_us=parts.total,
        type_share=parts.share,
    )
