# SPDX-License-Identifier: Apache-2.0
"""Pauses of devices of which no step was marked, where no other table counts them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import Spans, covered_ns, intersect, subtract, union
from advisor.analysis.host.host import are_of_launching_threads
from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, UnmarkedPause
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel
from advisor.facts.table import Table, values_at
from advisor.model.run_of_ranks import RunOfRanks


def unmarked_pauses(
    run: RunOfRanks,
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    *,
    tasks: Table[DeviceTask] | None,
    calls: Table[HostCall] | None,
    split: Table[Overlap] | None = None,
) -> Table[UnmarkedPause]:
    """One row per rank whose kernels are all listed, of a run whose times are those of work; none of others.

    Raises:
        FactMissing: No rank has its kernels all listed: what rows are missing of is no pause.
    """
    if run.times_of != "work":
        return Table.empty(UnmarkedPause)
    device = build_timeline(kernels, collectives, tasks, None)
    whole_ranks = np.setdiff1d(device.cells.rank, device.cells.rank[~only_whole(device, split)])
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
    worst = paused.first_rows(-lasts)
    of_rank = [union(start[rank[cell] == one], end[rank[cell] == one]) for one in ranks.tolist()]
    filling = [_longest_call(calls, one, spans) for one, spans in zip(ranks.tolist(), of_rank, strict=True)]
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
        call=[one.name for one in filling],
        call_does=[one.does for one in filling],
        call_us=[one.us for one in filling],
    ).take(np.isin(ranks, whole_ranks))


class _Filling(NamedTuple):
    """A host call, what it does, and how long it and its like run through pauses."""

    name: str | None = None
    does: str | None = None
    us: float = np.nan


def _longest_call(calls: Table[HostCall] | None, rank: int, pauses: Spans) -> _Filling:
    """The call of launching threads that runs, with its like, through most of the pauses of a rank, and for how long.

    Of calls that lie in one another the outer one runs through more.
    """
    if calls is None:
        return _Filling()
    own = np.flatnonzero(are_of_launching_threads(calls, calls["rank"] == rank) & (calls["rank"] == rank))
    inside = covered_ns(pauses, calls.at("start_ns", own), calls.at("end_ns", own)) / 1e3
    names = calls.texts("name").take(own)
    named = names.codes >= 0
    by_name = np.bincount(names.codes[named], weights=inside[named], minlength=1)
    most = int(np.argmax(by_name))
    if not by_name[most] > 0:
        return _Filling()
    does = calls.texts("activity").take(own[names.codes == most])
    return _Filling(names.names[most], does.values()[0], float(by_name[most]))
