# SPDX-License-Identifier: Apache-2.0
"""The course of a step: what the device did from its beginning to its end, slice by slice."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import SLICES, covered_ns, edges_of_slices
from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.facts.derived import Dispatch, Overlap, StepCourse
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Array, Table


def step_courses(
    kernels: Table[Kernel],
    *,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    links: Table[Dispatch] | None,
) -> Table[StepCourse]:
    """Of each rank two steps, `SLICES` rows each: the one in the middle of its recording, and its longest.

    The middle is neither that of warming up nor one that the recording may have cut, and it is the same on all ranks
    that recorded the same steps. A step of fewer ns than slices has none.

    Raises:
        FactMissing: No step has its kernels all listed.
    """
    device = build_timeline(kernels, collectives, tasks, windows)
    cell = _middle_and_longest(device, only_whole(device, split) & (device.window.lengths >= SLICES))
    begin, length = device.window.start[cell], device.window.lengths[cell]
    edge = edges_of_slices(begin, length)
    start, end = edge[:, :-1].ravel(), edge[:, 1:].ravel()
    compute, busy = (covered_ns(spans, start, end) / 1e3 for spans in (device.compute, device.busy))
    rank, step = (np.repeat(of[cell], SLICES) for of in (device.cells.rank, device.cells.step))
    lead = np.full(len(start), np.nan) if links is None else _median_leads(device, cell, start, links)
    return Table.build(
        StepCourse,
        rank=rank,
        step=step,
        from_us=(start - np.repeat(begin, SLICES)) / 1e3,
        to_us=(end - np.repeat(begin, SLICES)) / 1e3,
        compute_us=compute,
        exposed_comm_us=busy - compute,
        free_us=(end - start) / 1e3 - busy,
        lead_us=lead,
    )


def _middle_and_longest(device: DeviceTimeline, usable: Array) -> Array:
    """Per rank the cells of its middle step and of its longest, in order; one where they are the same."""
    cells = np.flatnonzero(usable)
    ranks = group_by(device.cells.rank[cells])
    turn = ranks.turns(device.cells.begin[cells])
    middle = cells[turn == (ranks.sizes // 2)[ranks.of]]
    longest = cells[ranks.first_rows(device.cells.begin[cells], -device.window.lengths[cells])]
    return np.unique(np.concatenate([middle, longest]))


def _median_leads(device: DeviceTimeline, cell: Array, start: Array, links: Table[Dispatch]) -> Array:
    """Per slice: the median time from launch to start of what began in it; missing where nothing did."""
    found = np.full(len(start), np.nan)
    for place, one in enumerate(cell.tolist()):
        own = np.flatnonzero((links["rank"] == device.cells.rank[one]) & (links["step"] == device.cells.step[one]))
        borders = start[place * SLICES : (place + 1) * SLICES]
        at = np.searchsorted(borders, links["start_ns"][own] + device.axis.shift[one], "right") - 1
        own, at = own[at >= 0], at[at >= 0]
        begun = group_by(at)
        found[place * SLICES + at[begun.first]] = begun.medians(links["latency_us"][own])
    return found
