# SPDX-License-Identifier: Apache-2.0
"""The most device memory that was held: by each component, at which moment, and by each module."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.chips import memory_bytes
from advisor.facts.base import MISSING
from advisor.facts.derived import MemoryPeak, ModulePeak
from advisor.facts.observed import MemoryUse, ModuleMemory
from advisor.facts.table import Table
from advisor.model.run import Run


def memory_peaks(run: Run, uses: Table[MemoryUse]) -> Table[MemoryPeak]:
    """One row per rank and component, at its first moment of most reserved (else allocated) memory."""
    held = np.where(np.isnan(uses["reserved_bytes"]), uses["allocated_bytes"], uses["reserved_bytes"])
    uses = uses.take(~np.isnan(held) & (uses["time_ns"] != MISSING))
    held = np.where(np.isnan(uses["reserved_bytes"]), uses["allocated_bytes"], uses["reserved_bytes"])
    groups = group_by(uses["rank"], uses.texts("component"))
    order = np.lexsort((uses["time_ns"], -held, groups.of))
    _, begin = np.unique(groups.of[order], return_index=True)
    peak = order[begin]
    return Table.build(
        MemoryPeak,
        rank=uses["rank"][peak],
        component=uses.texts("component").take(peak),
        reserved_bytes=uses["reserved_bytes"][peak],
        allocated_bytes=uses["allocated_bytes"][peak],
        largest_allocated_bytes=groups.largest(uses["allocated_bytes"]),
        capacity_bytes=np.full(len(peak), memory_bytes(run.chip)),
        time_ns=uses["time_ns"][peak],
    )


def module_peaks(uses: Table[ModuleMemory]) -> Table[ModulePeak]:
    """One row per rank and module."""
    groups = group_by(uses["rank"], uses.texts("component"))
    return Table.build(
        ModulePeak,
        rank=uses["rank"][groups.first],
        component=uses.texts("component").take(groups.first),
        most_bytes=groups.largest(uses["reserved_bytes"]),
    )
