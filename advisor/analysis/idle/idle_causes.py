# SPDX-License-Identifier: Apache-2.0
"""How much idle time each cause makes up."""

from __future__ import annotations

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.host.after_waits import account_after_waits
from advisor.facts.derived import Gap, IdleCause
from advisor.facts.observed import HostCall
from advisor.facts.table import Table


def idle_causes(idle: Table[Gap], calls: Table[HostCall] | None = None) -> Table[IdleCause]:
    """One row per rank and cause."""
    idle = account_after_waits(idle, calls)
    groups = group_by(idle["rank"], idle.texts("cause"))
    rows = idle.take(groups.first)
    return Table.build(
        IdleCause,
        rank=rows["rank"],
        cause=rows.texts("cause"),
        host=rows["host"],
        total_us=groups.sums(idle["duration_us"]),
    )
