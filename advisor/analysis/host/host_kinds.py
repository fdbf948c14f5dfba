# SPDX-License-Identifier: Apache-2.0
"""How many calls of each kind the host made: counted, not laid beside the device."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.intervals import row_ranges
from advisor.analysis.host.host import are_lasting
from advisor.analysis.steps.cells import cells_of
from advisor.analysis.steps.device import kernel_times
from advisor.facts.derived import HostKind
from advisor.facts.observed import HostCall, Kernel, StepWindow
from advisor.facts.table import Table, Texts


def host_kinds(calls: Table[HostCall], kernels: Table[Kernel], windows: Table[StepWindow] | None) -> Table[HostKind]:
    """Calls by rank, step and kind; steps themselves and calls outside of every step are left out."""
    events = kernel_times(kernels)
    cells = cells_of(kernels["rank"][events.row], kernels["step"][events.row], events.start, events.end, windows)
    start, ends, rank, kinds = calls["start_ns"], calls.moments("end_ns"), calls["rank"], calls.texts("kind")
    step, several = kinds.isin(["step"]), len(kinds.names) + 1
    lasting = are_lasting(calls)
    count, total = np.zeros(len(cells) * several, np.int64), np.zeros(len(cells) * several)
    for part in row_ranges(len(calls)):
        cell = cells.on_host(rank[part], start[part])
        row = np.flatnonzero((cell >= 0) & lasting[part] & ~step[part])
        key = cell[row] * several + kinds.codes[part][row] + 1
        count += np.bincount(key, minlength=len(count))
        total += np.bincount(key, ends[part][row] - start[part][row], len(total))  # whole ns: of up to 104 days exact
    found = np.flatnonzero(count)
    of = found // several
    return Table.build(
        HostKind,
        rank=cells.rank[of],
        step=cells.step[of],
        kind=Texts((found % several - 1).astype(np.int32), kinds.names),
        calls=count[found].astype(np.float64),
        total_us=total[found] / 1e3,
    )
