# SPDX-License-Identifier: Apache-2.0
"""The most device memory that was held: by each component, at which moment, and by each module."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.chips import memory_bytes
from advisor.facts.base import MISSING
from advisor.facts.derived import MemoryPeak, ModulePeak
from advisor.facts.observed import Device, MemoryUse, ModuleMemory
from advisor.facts.table import Array, Table
from advisor.model.run import Run


def memory_peaks(run: Run, uses: Table[MemoryUse], devices: Table[Device] | None) -> Table[MemoryPeak]:
    """One row per rank and component, at its first moment of most reserved (else allocated) memory.

    What a device holds is what its capture says, else what the name of the chip tells.
    """
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
        capacity_bytes=_capacities(uses["rank"][peak], memory_bytes(run.chip), devices),
        time_ns=uses["time_ns"][peak],
    )


def _capacities(ranks: Array, by_name: float, devices: Table[Device] | None) -> Array:
    """The memory of the device of each rank."""
    known = {} if devices is None else dict(zip(devices["rank"], devices["memory_bytes"], strict=True))
    said = np.array([known.get(rank, np.nan) for rank in ranks], np.float64)
    return np.where(np.isnan(said), by_name, said)


def module_peaks(uses: Table[ModuleMemory]) -> Table[ModulePeak]:
    """One row per rank and module."""
    groups = group_by(uses["rank"], uses.texts("component"))
    return Table.build(
        ModulePeak,
        rank=uses["rank"][groups.first],
        component=uses.texts("component").take(groups.first),
        most_bytes=groups.largest(uses["reserved_bytes"]),
    )
