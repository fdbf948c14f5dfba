# SPDX-License-Identifier: Apache-2.0
"""How long the host goes on in the last marked step after the last work of the device that was recorded.

What the device waits between two steps counts in one of them, up to the first kernel of the second. Behind the
last step there is none, so that no number counts what the host does there: it saves a checkpoint, or collects garbage.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Ending, Overlap
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Table, values_at


def endings(
    kernels: Table[Kernel],
    windows: Table[StepWindow],
    *,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    split: Table[Overlap] | None = None,
) -> Table[Ending]:
    """One row per rank whose last step is marked, and lists all kernels of the device in it."""
    device = build_timeline(kernels, collectives, tasks, windows)
    cells = device.cells
    cell, _, end = device.on_clock(device.busy)
    closed = values_at(windows["end_ns"], row_at(windows["rank"], windows["step"], cells.rank, cells.step))
    last = np.full(len(cells), MISSING)
    np.maximum.at(last, cell, end)
    of = np.flatnonzero((last != MISSING) & (closed != MISSING))
    of = of[np.lexsort((cells.begin[of], cells.rank[of]))]
    whole = only_whole(device, split)[of]
    after_us = np.maximum(closed[of] - last[of], 0) / 1e3
    ranks = group_by(cells.rank[of])
    lasts = np.append(np.diff(cells.rank[of]) != 0, True)[: len(of)] & whole
    return Table.build(
        Ending,
        rank=cells.rank[of][lasts],
        step=cells.step[of][lasts],
        start_ns=last[of][lasts],
        ending_us=after_us[lasts],
        usual_us=ranks.medians_of_others(after_us)[lasts],
    )
