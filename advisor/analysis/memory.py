# SPDX-License-Identifier: Apache-2.0
"""The moment at which most device memory was held."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import grouped
from advisor.facts.base import MISSING
from advisor.facts.derived import MemoryPeak
from advisor.facts.observed import MemoryUse
from advisor.facts.table import Table
from advisor.run import Run

_GIB = 1024.0**3

CAPACITY = {"Ascend910B2C": 64 * _GIB, "Ascend910B4-1": 64 * _GIB}
"""Device memory by chip, in bytes, where the name leaves no doubt: 65536 MB of HBM by npu-smi
(<https://github.com/Project-HAMi/HAMi-WebUI/issues/47>) and 64 GB by the validation report of
<https://github.com/hearth-project/hearth/releases/tag/v0.2.0-rc.1>. `Ascend910B`, the name most captures carry, is a
family with 32 and with 64 GB, so its memory is unknown."""


def memory_peaks(run: Run, uses: Table[MemoryUse]) -> Table[MemoryPeak]:
    """One row per rank and component, at its first moment of most reserved (else allocated) memory."""
    held = np.where(np.isnan(uses["reserved_bytes"]), uses["allocated_bytes"], uses["reserved_bytes"])
    uses = uses.take(~np.isnan(held) & (uses["time_ns"] != MISSING))
    held = np.where(np.isnan(uses["reserved_bytes"]), uses["allocated_bytes"], uses["reserved_bytes"])
    groups = grouped(uses["rank"], uses.texts("component"))
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
        capacity_bytes=np.full(len(peak), CAPACITY.get(run.chip, np.nan)),
        time_ns=uses["time_ns"][peak],
    )
