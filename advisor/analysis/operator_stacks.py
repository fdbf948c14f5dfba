# SPDX-License-Identifier: Apache-2.0
"""From where operators of the framework were called, as far as call stacks were recorded."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.facts.derived import OperatorStack
from advisor.facts.observed import OperatorCall
from advisor.facts.table import Table


def operator_stacks(calls: Table[OperatorCall]) -> Table[OperatorStack]:
    """One row per rank, operator and call stack; calls without a stack have no row."""
    calls = calls.take(np.flatnonzero((calls.texts("name").codes >= 0) & (calls.texts("call_stack").codes >= 0)))
    groups = group_by(calls["rank"], calls.texts("name"), calls.texts("call_stack"))
    return Table.build(
        OperatorStack,
        rank=calls["rank"][groups.first],
        name=calls.texts("name").take(groups.first),
        call_stack=calls.texts("call_stack").take(groups.first),
        calls=groups.sizes,
        host_total_us=groups.sums(calls["host_total_us"]),
        device_self_us=groups.sums(calls["device_self_us"]),
    )
