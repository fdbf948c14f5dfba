# SPDX-License-Identifier: Apache-2.0
"""Pauses of devices of which no step was marked, where no other table counts them."""

from __future__ import annotations

import numpy as np

from advisor.analysis.device import build_timeline
from advisor.analysis.grouping import group_by
from advisor.analysis.intervals import intersect, subtract
from advisor.facts.base import MISSING
from advisor.facts.derived import UnmarkedPause
from advisor.facts.observed import Collective, DeviceTask, Kernel
from advisor.facts.table import Table, values_at
from advisor.model.run_of_ranks import RunOfRanks


def unmarked_pauses(
    run: RunOfRanks, kernels: Table[Kernel], collectives: Table[Collective] | None, *, tasks: Table[DeviceTask] | None
) -> Table[UnmarkedPause]:
    """One row per rank of a run whose times are those of work; none of others."""
    if run.times_of != "work":
        return Table.empty(UnmarkedPause)
    device = build_timeline(kernels, collectives, tasks, None)
    pauses = subtract(device.free, device.copies)
    cell, start, end = device.on_clock(pauses)
    lasts, rank = (end - start) / 1e3, device.cells.rank
    cells = group_by(rank)
    of = cells.of[cell]
    ranks = rank[cells.first]
    paused = group_by(of)
    at = np.full(len(ranks), len(paused))
    at[of[paused.first]] = np.arange(len(paused))
    whole = np.bincount(cells.of, weights=device.window.lengths / 1e3, minlength=len(ranks))
    paused_us = np.bincount(of, weights=lasts, minlength=len(ranks))
    worst = np.lexsort((-lasts, paused.of))[np.cumsum(paused.sizes) - paused.sizes]
    return Table.build(
        UnmarkedPause,
        rank=ranks,
        work_us=whole - paused_us,
        copied_us=np.bincount(
            cells.of, weights=device.per_cell(intersect(device.free, device.copies)), minlength=len(ranks)
        ),
        pauses=np.bincount(of, minlength=len(ranks)).astype(np.float64),
        paused_us=paused_us,
        median_us=values_at(paused.medians(lasts), at, np.nan),
        longest_us=values_at(lasts[worst], at, np.nan),
        longest_start_ns=values_at(start[worst], at, MISSING),
    )
