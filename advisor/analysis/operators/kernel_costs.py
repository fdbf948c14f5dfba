# SPDX-License-Identifier: Apache-2.0
"""What kernels cost the step: their time, less what other work would have kept the device for anyway."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import time_alone_by_cell, unions_by_cell
from advisor.analysis.steps.device import COMM, KERNEL, DeviceTimeline
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Array, Table, ascending, row_type, values_at


class OtherWork(Struct, frozen=True):
    """What counts as work beside a kernel, other kernels apart: intervals on the clock of the device, by cell."""

    cell: Array
    start: Array
    end: Array
    aside: Array
    """Per row of the timeline's work: kernels that do not count, neither for themselves nor as work beside others."""


def undisturbed_ns(device: DeviceTimeline, row: Array, group: Array, groups: int, beside: OtherWork) -> Array:
    """Per group of kernels, ns in which nothing else ran beside it.

    `row` and `group` say which rows of the timeline's work belong to which group.
    """
    work = device.work
    owner = np.full(len(work.cell), groups, row_type(groups + 1))
    owner[row] = group
    kernel = np.flatnonzero((work.kind == KERNEL) & ~beside.aside)
    rank = device.cells.rank[np.concatenate([work.cell[kernel], beside.cell])]
    owner = np.concatenate([owner[kernel], np.full(len(beside.cell), groups, owner.dtype)])
    start, end = np.concatenate([work.start[kernel], beside.start]), np.concatenate([work.end[kernel], beside.end])
    found = np.zeros(groups + 1)
    ranks = distinct_ranks(rank).tolist()
    for one in ranks:
        here = rank == one if len(ranks) > 1 else slice(None)
        found += time_alone_by_cell(owner[here], start[here], end[here], groups + 1)
    return found[:-1]


def all_work_beside(device: DeviceTimeline) -> OtherWork:
    """Every collective and every kernel counts."""
    work = device.work
    rows = np.flatnonzero(work.kind == COMM)
    return OtherWork(work.cell[rows], work.start[rows], work.end[rows], np.zeros(len(work.cell), bool))


def decisive_work_beside(
    device: DeviceTimeline, kernels: Table[Kernel], collectives: Table[Collective] | None
) -> OtherWork:
    """Collectives the device waited for, and kernels of the main stream or that it waited for: what decides when the
    step ends."""
    return kernels.once_for_now(_find_decisive_work, device, collectives)


def _find_decisive_work(
    kernels: Table[Kernel], device: DeviceTimeline, collectives: Table[Collective] | None
) -> OtherWork:
    cell, start, end = _awaited_collectives(device, collectives)
    return OtherWork(cell, start, end, _is_unawaited_kernel(device, kernels))


def _awaited_collectives(device: DeviceTimeline, collectives: Table[Collective] | None) -> tuple[Array, Array, Array]:
    """Collectives, back to back ones as one, at whose end the device stood still: they would have taken as long with
    less beside them. Sends and receives are left out: how long those take is up to the other stage."""
    work = device.work
    rows = np.flatnonzero(work.kind == COMM)
    if collectives is not None:
        rows = rows[collectives["p2p"][work.row[rows]] != 1]
    cell, start, end = unions_by_cell(work.cell[rows], work.start[rows], work.end[rows] + AT_ONCE_NS, len(device.cells))
    end = end - AT_ONCE_NS
    busy, moment = device.compute, end + device.axis.shift[cell]
    if not len(busy):
        return cell, start, end
    last = np.searchsorted(busy.start, moment) - 1
    stood = np.where(last >= 0, moment - busy.end[np.maximum(last, 0)], AT_ONCE_NS) >= AT_ONCE_NS
    return cell[stood], start[stood], end[stood]


def _is_unawaited_kernel(device: DeviceTimeline, kernels: Table[Kernel]) -> Array:
    """Per row of the timeline's work: whether it is a kernel on a side stream whose end the main stream did not await.

    The main stream of a rank is the one with most kernel time; it awaits a kernel where it stands still until that
    one ends and goes on at once.
    """
    work = device.work
    aside = np.zeros(len(work.cell), bool)
    rows = np.flatnonzero(work.kind == KERNEL)
    of_main = _on_main_stream(device, kernels, rows)
    side, main = rows[~of_main], rows[of_main]
    start, end = (ascending(times[main] + device.axis.shift[work.cell[main]]) for times in (work.start, work.end))
    ended = work.end[side] + device.axis.shift[work.cell[side]]
    begun = np.searchsorted(start, ended)
    still = begun == np.searchsorted(end, ended, "right")
    following = values_at(start, begun, np.iinfo(np.int64).max)
    aside[side] = ~(still & (following - ended <= AT_ONCE_NS))
    return aside


def _on_main_stream(device: DeviceTimeline, kernels: Table[Kernel], rows: Array) -> Array:
    work = device.work
    rank = device.cells.rank[work.cell[rows]]
    streams = group_by(rank, kernels["stream"][work.row[rows]])
    spent = streams.sums((work.end[rows] - work.start[rows]).astype(np.float64))
    ranks = group_by(rank[streams.first])
    main: Array = (spent >= ranks.largest(spent)[ranks.of])[streams.of]
    return main
