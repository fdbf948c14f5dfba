# SPDX-License-Identifier: Apache-2.0
"""How many calls of each kind the host made: counted, not laid beside the device."""

from __future__ import annotations

import numpy as np

from advisor.analysis.cells import cells_of
from advisor.analysis.device import kernel_times
from advisor.analysis.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.derived import HostKind
from advisor.facts.observed import HostCall, Kernel, StepWindow
from advisor.facts.table import Table


def host_kinds(calls: Table[HostCall], kernels: Table[Kernel], windows: Table[StepWindow] | None) -> Table[HostKind]:
    """Calls by rank, step and kind; steps themselves and calls outside of every step are left out."""
    events = kernel_times(kernels)
    cells = cells_of(kernels["rank"][events.row], kernels["step"][events.row], events.start, events.end, windows)
    start, kinds = calls["start_ns"], calls.texts("kind")
    cell = cells.on_host(calls["rank"], start)
    timed = (start != MISSING) & (calls["end_ns"] > start)
    row = np.flatnonzero((cell >= 0) & timed & ~kinds.isin(["step"]))
    cell = cell[row]
    groups = group_by(cell, kinds.take(row))
    first = cell[groups.first]
    return Table.build(
        HostKind,
        rank=cells.rank[first],
        step=cells.step[first],
        kind=kinds.take(row[groups.first]),
        calls=groups.sizes.astype(np.float64),
        total_us=groups.sums((calls["end_ns"][row] - start[row]) / 1e3),
    )
