# SPDX-License-Identifier: Apache-2.0
"""How long a capture without steps ran before its work began: a part that no step is charged with."""

from __future__ import annotations

import numpy as np

from advisor.analysis.steps.device import build_timeline, collective_times, work_times
from advisor.facts.base import MISSING
from advisor.facts.derived import StartUp
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Table


def start_ups(
    kernels: Table[Kernel],
    *,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
) -> Table[StartUp]:
    """One row per rank of which such a part was set apart (see `warm_up`)."""
    cells = build_timeline(kernels, collectives, tasks, windows).cells
    collectives = Table.empty(Collective) if collectives is None else collectives
    compute, comm = work_times(kernels, collectives), collective_times(collectives)
    ranks = np.concatenate([kernels["rank"][compute.row], collectives["rank"][comm.row]])
    begun = np.concatenate([compute.start, comm.start])
    rows = []
    stepless = ~np.isin(cells.rank, cells.rank[cells.step != MISSING])
    for rank, begin in zip(cells.rank[stepless].tolist(), cells.begin[stepless].tolist(), strict=True):
        before = begun[(ranks == rank) & (begun < begin)]
        if len(before):
            first = int(before.min())
            rows.append((rank, first, (begin - first) / 1e3, float(len(before))))
    columns = zip(*rows, strict=True) if rows else ((),) * 4
    return Table.build(StartUp, **dict(zip(("rank", "start_ns", "apart_us", "tasks"), columns, strict=True)))
