# SPDX-License-Identifier: Apache-2.0
"""Whether kernels were launched one by one or as graphs, and what a host that comes late loses."""

from __future__ import annotations

import numpy as np

from advisor.analysis.counted import are_among, distinct_ranks
from advisor.analysis.launch_modes import lost_us_per_step
from advisor.facts.base import MISSING
from advisor.facts.derived import Holdup, LaunchForm
from advisor.facts.observed import Kernel, Launch
from advisor.facts.table import Array, Table


def launch_forms(kernels: Table[Kernel], launches: Table[Launch], held: Table[Holdup] | None) -> Table[LaunchForm]:
    """One row per rank with kernels whose launch is known.

    A call is told by its start: of all that begin on the device with kernels, those of one moment are one call.
    """
    rows = []
    for rank in distinct_ranks(kernels["rank"]).tolist():
        of_rank = launches["rank"] == rank
        starts, calls = launches["device_start_ns"][of_rank], launches["host_start_ns"][of_rank]
        mine = (kernels["rank"] == rank) & (kernels["start_ns"] != MISSING)
        begun = kernels["start_ns"][mine]
        known = are_among(begun, np.sort(starts))
        if known.any():
            count = _count_distinct(calls[are_among(starts, np.sort(begun)) & (calls != MISSING)])
            us = float(np.nansum(kernels["duration_us"][mine][known]))
            lost = lost_us_per_step(Table.empty(Holdup) if held is None else held, rank, "host")
            rows.append((rank, float(known.sum()), count, us, lost))
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    names = ("rank", "kernels", "calls", "kernel_us", "lost_us")
    return Table.build(LaunchForm, **dict(zip(names, columns, strict=True)))


def _count_distinct(moments: Array) -> float:
    ordered = np.sort(moments, kind="stable")  # calls lie nearly in order, which this sort makes use of
    return float(np.count_nonzero(np.diff(ordered)) + (len(ordered) > 0))
