# SPDX-License-Identifier: Apache-2.0
"""From where operators of the framework were called, as far as call stacks were recorded."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.operators.longest_inputs import Inputs, longest_inputs
from advisor.facts.derived import OperatorStack
from advisor.facts.observed import OperatorCall
from advisor.facts.table import Table, Texts


def operator_stacks(calls: Table[OperatorCall]) -> Table[OperatorStack]:
    """One row per rank, operator, inputs and call stack; calls without a stack have no row."""
    calls = calls.take(np.flatnonzero((calls.texts("name").codes >= 0) & (calls.texts("call_stack").codes >= 0)))
    rank, names, shapes = calls["rank"], calls.texts("name"), calls.texts("input_shapes")
    us = calls["device_self_us"] if np.nansum(calls["device_self_us"]) > 0 else calls["host_total_us"]
    shapes, _ = longest_inputs(rank, names, Inputs(shapes, Texts.constant(None, len(calls))), us)
    groups = group_by(rank, names, shapes, calls.texts("call_stack"))
    return Table.build(
        OperatorStack,
        rank=rank[groups.first],
        name=names.take(groups.first),
        input_shapes=shapes.take(groups.first),
        call_stack=calls.texts("call_stack").take(groups.first),
        calls=groups.sizes,
        host_total_us=groups.sums(calls["host_total_us"]),
        device_self_us=groups.sums(calls["device_self_us"]),
    )
