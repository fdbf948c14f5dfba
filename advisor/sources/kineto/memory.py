# SPDX-License-Identifier: Apache-2.0
"""MemoryUse: what PyTorch's allocator held on the device, moment by moment."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import MemoryUse
from advisor.facts.table import Table
from advisor.sources.kineto.reading import EXPORT, Trace, rows_or_missing
from advisor.sources.reading import Reading

COMPONENT = "PyTorch"


def _memory_of_trace(trace: Trace) -> Table[MemoryUse]:
    memory = trace.content().memory
    own = (memory.device > 0) if trace.device is None else (memory.device > 0) & (memory.number == trace.device)
    rows = rows_or_missing(np.flatnonzero(own & (memory.reserved >= 0)), MemoryUse)
    return Table.build(
        MemoryUse,
        rank=np.full(len(rows), trace.rank, np.int64),
        component=COMPONENT,
        time_ns=memory.time_ns[rows],
        allocated_bytes=memory.allocated[rows],
        reserved_bytes=memory.reserved[rows],
    ).sorted_by("time_ns")


MEMORY_USES = Reading(MemoryUse, {EXPORT: _memory_of_trace})
