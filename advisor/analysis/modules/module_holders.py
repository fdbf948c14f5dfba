# SPDX-License-Identifier: Apache-2.0
"""In which modules of the model the device memory lies at the moment when operators hold most of it.

An allocation names the operator that made it and no thread: it belongs to the call of that operator around its moment,
and that to the module around it, in the backward pass to the module of its forward operator.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.chip.memory import held_at_peak, sums_of_holders
from advisor.analysis.modules.module_calls import PHASES, places_of_operators
from advisor.analysis.modules.module_tree import merge_paths
from advisor.analysis.operators.launching_operators import framework_operators
from advisor.facts.derived import ModuleHolder
from advisor.facts.nesting import nest_intervals
from advisor.facts.observed import GradientLink, HostCall, ModuleRange, OperatorMemory
from advisor.facts.table import Array, Table, Texts


def module_holders(
    ranges: Table[ModuleRange],
    calls: Table[HostCall],
    gradients: Table[GradientLink] | None,
    allocations: Table[OperatorMemory],
) -> Table[ModuleHolder]:
    """One row per rank, module, pass and operator that held memory when most was held."""
    held = held_at_peak(allocations)
    operators = framework_operators(calls)
    path, phase, paths = places_of_operators(ranges, operators, gradients, _calls_of(operators, held))
    tree = merge_paths(paths)
    module = Texts.of(one or None for one in tree.path).take(tree.of[path])
    passes = Texts(np.where(path > 0, phase, -1).astype(np.int32), PHASES)
    groups = group_by(held["rank"], module, passes, held.texts("name"))
    return Table.build(
        ModuleHolder,
        module=module.take(groups.first),
        phase=passes.take(groups.first),
        **sums_of_holders(held, groups),
    )


def _calls_of(operators: Table[HostCall], held: Table[OperatorMemory]) -> Array:
    """Per allocation: the row of the operator that made it, -1 where none of this name runs at its moment."""
    names = Texts.concat([operators.texts("name"), held.texts("name")])
    lane = group_by(np.append(operators["rank"], held["rank"]), names).of
    nest = nest_intervals(lane[: len(operators)], operators["start_ns"], operators["end_ns"])
    return nest.around(lane[len(operators) :], held["allocated_ns"], held["allocated_ns"])
