# SPDX-License-Identifier: Apache-2.0
"""How far ahead of the device the host launched its work, and where the device ran dry and had to wait for it.

In the timeline a launch is a line from the host call to the device task. A slanted line means the task had queued; a
*vertical* one that it ran at once. Vertical alone proves little (the first task after any pause is vertical), so the
test here is made per gap: was the call that ends a gap issued only after the device had become idle?
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.grouping import group_by, row_at_or_near, row_of_key
from advisor.analysis.arrays.intervals import axis_of_cells, span_at, union
from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import COMM, COPY, KERNEL, DeviceTimeline, build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, Overlap
from advisor.facts.observed import Collective, DeviceTask, Kernel, Launch, StepWindow
from advisor.facts.table import Array, Table, Texts, values_at

MOST_TOLERANCE_NS = 100_000
"""Aligning host and device clocks errs by 5 to 82 µs in captures seen; beyond this a link is wrong, not a clock."""

SLOW_START_NS = 2 * MOST_TOLERANCE_NS
"""A task issued to an idle device that takes longer than this, and than half of the gap, was held up on the device."""


def dispatches(
    kernels: Table[Kernel],
    launches: Table[Launch],
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    *,
    split: Table[Overlap] | None = None,
) -> Table[Dispatch]:
    """Every kernel, collective and copy whose launch was recorded, in order of rank and device start.

    Steps whose list of kernels lacks rows are left out: how long the device had been idle is not known there.

    Raises:
        FactMissing: No step has its kernels all listed.
    """
    device = build_timeline(kernels, collectives, tasks, windows)
    whole = only_whole(device, split)
    work = device.work
    idle = _idle_before(device)
    host = _host_start(device, kernels, tasks, launches)
    latency = np.where(host == MISSING, 0, work.start - host)
    known = host != MISSING
    rank = device.cells.rank[work.cell]
    dry = np.where(np.isnan(idle), 0.0, idle)
    tolerance = clock_tolerances(rank[known], latency[known], rank)
    behind = span_at(device.launched_at_once, work.start + device.axis.shift[work.cell] - 1) >= 0
    late = (dry > 0) & ~behind & (latency <= dry + tolerance) & (latency <= np.maximum(dry / 2, SLOW_START_NS))
    vertical = np.where(np.isnan(idle), -1, late.astype(np.int8))
    order = np.lexsort((work.start, rank))
    order = order[(known & whole[work.cell])[order]]
    return Table.build(
        Dispatch,
        rank=rank[order],
        step=device.cells.step[work.cell][order],
        kind=Texts(work.kind[order].astype(np.int32), ("kernel", "comm", "copy")),
        op_type=names_of(device, kernels, collectives).take(order),
        start_ns=work.start[order],
        latency_us=latency[order] / 1e3,
        queued_us=np.maximum(latency[order], 0) / 1e3,
        idle_before_us=idle[order] / 1e3,
        vertical=vertical[order],
    )


def clock_tolerances(rank: Array, latency: Array, wanted: Array) -> Array:
    """Per wanted rank: by how many ns host and device clock may disagree, by the most negative latency of the rank."""
    names, of = np.unique(rank, return_inverse=True)
    worst = np.zeros(len(names), np.int64)
    np.maximum.at(worst, of, -latency)
    allowed = np.clip(worst, AT_ONCE_NS, MOST_TOLERANCE_NS)
    at = row_of_key(names, wanted)
    return np.where(at >= 0, values_at(allowed, at, AT_ONCE_NS), AT_ONCE_NS)


def _idle_before(device: DeviceTimeline) -> Array:
    """Per piece of work: ns for which its device had nothing to do when it began.

    NaN for the first of a rank, and for the first of a step when the pause before it belongs to no step; where a part
    of that pause is known to be the step's, that part.
    """
    work = device.work
    names, rank = np.unique(device.cells.rank[work.cell], return_inverse=True)
    axis = axis_of_cells(rank, work.start, work.end, len(names))
    start, end = work.start + axis.shift[rank], work.end + axis.shift[rank]
    busy = union(start, end)
    block = np.searchsorted(busy.start, start, "left")
    opens = (block < len(busy)) & (values_at(busy.start, block, 0) == start) & (end > start)
    _, one = np.unique(start[opens], return_index=True)
    opens[np.flatnonzero(opens)] = np.isin(np.arange(opens.sum()), one)  # of several that begin at once, one
    before = start - values_at(busy.end, block - 1, 0)
    cells = device.cells
    reached = np.append(np.iinfo(np.int64).min, device.window.end - device.axis.shift)[:-1]
    fresh = (reached < cells.begin) | np.append(True, np.diff(cells.rank) != 0)[: len(cells)]
    alone = values_at(axis.owner(busy.end - 1), block - 1, -1) != rank
    unknown = alone | (fresh[work.cell] & (work.start - before <= cells.begin[work.cell]))
    first = np.full(len(cells), np.iinfo(np.int64).max)
    np.minimum.at(first, work.cell, work.start)
    own = np.where((first > cells.begin)[work.cell], work.start - cells.begin[work.cell], np.nan)
    return np.where(opens, np.where(unknown, own, before), 0.0)


def _host_start(
    device: DeviceTimeline, kernels: Table[Kernel], tasks: Table[DeviceTask] | None, launches: Table[Launch]
) -> Array:
    """Per piece of work: when its launching call began, by rank, device start and (where both know it) stream.

    A call that lasts longer than a launch may take, and is over when the device begins all that it launched, did
    something else first, such as loading the code of the kernel: it launched as it returned.
    """
    work = device.work
    rank = device.cells.rank[work.cell]
    stream = np.full(len(rank), MISSING)
    stream[work.kind == KERNEL] = kernels["stream"][work.row[work.kind == KERNEL]]
    if tasks is not None:
        stream[work.kind == COPY] = tasks["stream"][work.row[work.kind == COPY]]
    timed = launches.take((launches["host_start_ns"] != MISSING) & (launches["device_start_ns"] != MISSING))
    launch = row_at_or_near((timed["rank"], timed["device_start_ns"], timed["stream"]), (rank, work.start, stream))
    begun, ended = timed["host_start_ns"], timed["host_end_ns"]
    run = timed["device_start_ns"]
    slow = np.zeros(len(timed), bool)
    long = np.flatnonzero((ended != MISSING) & (ended - begun > SLOW_START_NS))
    calls = group_by(timed["rank"][long], begun[long])
    first = np.full(len(calls), np.iinfo(np.int64).max)
    np.minimum.at(first, calls.of, run[long])
    slow[long] = ended[long] <= first[calls.of] + AT_ONCE_NS
    launched = np.where(slow, np.minimum(ended, run), begun)
    return values_at(launched, launch, MISSING)


def names_of(device: DeviceTimeline, kernels: Table[Kernel], collectives: Table[Collective] | None) -> Texts:
    """Per piece of work: the operator type of a kernel, the kind of a collective, or `copy`."""
    work = device.work
    none = Texts.constant(None, 0)
    ops = none if collectives is None else collectives.texts("op")
    return Texts.concat(
        [
            kernels.texts("op_type").take(work.row[work.kind == KERNEL]),
            ops.take(work.row[work.kind == COMM]),
            Texts.constant("copy", int((work.kind == COPY).sum())),
        ]
    )
