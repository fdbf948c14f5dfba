# SPDX-License-Identifier: Apache-2.0
"""What a device waits between two marked steps while the host is in neither: no other table counts it."""

from __future__ import annotations

import numpy as np

from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import build_timeline
from advisor.facts.derived import OuterPause, Overlap
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Table


def outer_pauses(
    kernels: Table[Kernel],
    windows: Table[StepWindow],
    *,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    split: Table[Overlap] | None = None,
) -> Table[OuterPause]:
    """One row per such pause, between steps that list all their kernels."""
    device = build_timeline(kernels, collectives, tasks, windows)
    cells, whole = device.cells, only_whole(device, split)
    before = np.flatnonzero((device.outer > 0) & whole & np.append(whole[1:], False))
    pause = device.outer[before]
    return Table.build(
        OuterPause,
        rank=cells.rank[before],
        step=cells.step[before],
        start_ns=cells.follow[before] - pause,
        duration_us=pause / 1e3,
        outside_us=cells.away[before] / 1e3,
    )
