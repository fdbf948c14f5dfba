# SPDX-License-Identifier: Apache-2.0
"""How much idle time each cause makes up."""

from __future__ import annotations

from advisor.analysis.grouping import group_by
from advisor.facts.derived import Gap, IdleCause
from advisor.facts.table import Table


def idle_causes(idle: Table[Gap]) -> Table[IdleCause]:
    """One row per rank and cause."""
    groups = group_by(idle["rank"], idle.texts("cause"))
    rows = idle.take(groups.first)
    return Table.build(
        IdleCause,
        rank=rows["rank"],
        cause=rows.texts("cause"),
        host=rows["host"],
        total_us=groups.sums(idle["duration_us"]),
    )
