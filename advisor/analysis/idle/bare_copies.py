# SPDX-License-Identifier: Apache-2.0
"""Copies with nothing beside them: how many they are, and which of them operators on the CPU ask for.

Those with which a step begins lie in the pause before it, and so in the step before; of the first step they lie in
none, and are counted apart.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, row_at, row_of_key
from advisor.analysis.arrays.intervals import covered_ns, intersect, unions_by_cell
from advisor.analysis.host.cpu_operators import cpu_operators
from advisor.analysis.steps.device import DeviceTimeline, build_timeline, task_times
from advisor.analysis.steps.step_marks import marked_begins
from advisor.facts.base import MISSING
from advisor.facts.derived import BareCopy, Dispatch, Overlap
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, values_at

_KEPT = ("rank", "step", "span_us", "free_us", "copy_us", "to_host_us", "device_copy_us")


def bare_copies(
    split: Table[Overlap],
    kernels: Table[Kernel] | None,
    *,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    links: Table[Dispatch] | None,
    calls: Table[HostCall] | None,
) -> Table[BareCopy]:
    """One row per rank and step; what lies in pauses is missing where `overlaps` lacks it."""
    unknown = np.full(len(split), np.nan)
    stretches, for_cpu, ahead = unknown, unknown, unknown
    if kernels is not None and tasks is not None and len(kernels):
        device = build_timeline(kernels, collectives, tasks, windows)
        at = row_at(device.cells.rank, device.cells.step, split["rank"], split["step"])
        lacking = np.isnan(split["copy_us"])
        asked = _CopiesForCpu(device, links, calls)
        bare = device.on_clock(intersect(device.free, device.copies))
        count = np.bincount(bare[0], minlength=len(device.cells)).astype(np.float64)
        at_begin = _usual_us_at_begin(device, asked, *bare)
        found = count, asked.us_by_cell(*bare), _us_ahead(device, tasks, windows, asked, at_begin)
        stretches, for_cpu, ahead = (np.where(lacking, np.nan, values_at(one, at, np.nan)) for one in found)
    return Table.build(
        BareCopy,
        **{name: split[name] for name in _KEPT},
        stretches=stretches,
        for_cpu_us=for_cpu,
        ahead_us=ahead,
    )


class _CopiesForCpu(Struct, frozen=True):
    """Which copies operators on the CPU ask for; that is not known without launches and calls of the host."""

    device: DeviceTimeline
    links: Table[Dispatch] | None
    calls: Table[HostCall] | None

    def us_by_cell(self, cell: Array, start: Array, end: Array) -> Array:
        """Per cell: how long such copies run in these intervals, µs."""
        cells = self.device.cells
        if self.links is None or self.calls is None:
            return np.full(len(cells), np.nan)
        rank, asked = cells.rank[cell], np.zeros(len(cell))
        for one in np.unique(rank).tolist():
            own = rank == one
            stretches = cpu_operators(self.calls, one, self.device, self.links).stretches
            asked[own] = covered_ns(stretches, start[own], end[own])
        return np.bincount(cell, weights=asked, minlength=len(cells)) / 1e3

    def other_us_by_cell(self, cell: Array, start: Array, end: Array) -> Array:
        """Per cell: for how long other copies run in these intervals, µs; all where that is not known."""
        every = np.bincount(cell, weights=end - start, minlength=len(self.device.cells)) / 1e3
        other: Array = every - np.nan_to_num(self.us_by_cell(cell, start, end))
        return other


def _us_ahead(
    device: DeviceTimeline,
    tasks: Table[DeviceTask],
    windows: Table[StepWindow] | None,
    asked: _CopiesForCpu,
    at_begin: tuple[Array, Array],
) -> Array:
    """Per cell: copies of the first step of a rank before its first task, µs; 0 of others.

    Whether each step begins so is told by the others alone: no more counts than the middle one of them begins with, as
    `at_begin` holds it of the first cell of each rank.
    """
    cells, (first, usual_us) = device.cells, at_begin
    copies = task_times(tasks)
    copies = copies.take(tasks.texts("kind").isin(["copy"])[copies.row])
    opened = marked_begins(windows, cells.rank[first], cells.step[first])
    done = np.array([device.earlier.get(rank, MISSING) for rank in cells.rank[first].tolist()], np.int64)
    begin = np.where(opened == MISSING, cells.begin[first], np.maximum(opened, done))
    of = row_of_key(cells.rank[first], tasks["rank"][copies.row])
    of, copies = of[of >= 0], copies.take(of >= 0)  # a rank without kernels has no step
    inside = (copies.start >= begin[of]) & (copies.start < cells.begin[first[of]])
    of, copies = of[inside], copies.take(inside)
    owner, start, end = unions_by_cell(of, copies.start, np.minimum(copies.end, cells.begin[first[of]]), len(first))
    found = np.zeros(len(cells))
    found[first] = np.minimum(asked.other_us_by_cell(first[owner], start, end)[first], usual_us)
    return found


def _usual_us_at_begin(
    device: DeviceTimeline, asked: _CopiesForCpu, cell: Array, start: Array, end: Array
) -> tuple[Array, Array]:
    """The first cell of each rank, and how long the middle one of its others copies before its first task, µs; by the
    stretches of bare copies."""
    cells = device.cells
    ended = np.full(len(cells), MISSING)
    busy, _, until = device.on_clock(device.busy)
    np.maximum.at(ended, busy, until)
    after = start >= ended[cell]
    us = asked.other_us_by_cell(cell[after], start[after], end[after])
    order = np.lexsort((cells.begin, cells.rank))
    ranks = group_by(cells.rank[order])
    last = np.append(np.diff(cells.rank[order]) != 0, True)
    usual = np.nan_to_num(ranks.medians(np.where(last, np.nan, us[order])))
    return order[ranks.first], usual
