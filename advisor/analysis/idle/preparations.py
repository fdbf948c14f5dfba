# SPDX-License-Identifier: Apache-2.0
"""How long the device stands idle from the host's start of each step to the first work of it.

The profiler says how long that takes; of a single step that is marked the timeline does, too. Where the host runs ahead
the device is busy meanwhile with the step before, or copies what the step needs: then it costs nothing, or is no
preparation.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import covered_ns, union, union_of_sets
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.analysis.steps.step_marks import marked_begins
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, Preparation
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepTime, StepWindow
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing


def preparations(
    recorded: Table[StepTime] | None,
    kernels: Table[Kernel] | None,
    *,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[Preparation]:
    """One row per rank and step of which the profiler says how long it took to the first work, and one per rank with a
    single marked step.

    How long the device was idle meanwhile is missing beside steps whose list of kernels lacks rows.

    Raises:
        FactMissing: Neither was recorded.
    """
    if recorded is None and (kernels is None or windows is None):
        raise FactMissing([StepTime.table])
    known = Table.empty(StepTime) if recorded is None else recorded.take(recorded["preparing_us"] >= 0)
    found = Table.build(
        Preparation,
        rank=known["rank"],
        step=known["step"],
        preparing_us=known["preparing_us"],
        compute_us=known["compute_us"],
        free_us=known["free_us"],
        counted_us=known["compute_us"] + known["exposed_comm_us"] + known["free_us"],
    )
    if kernels is None or windows is None:
        return found
    device = build_timeline(kernels, collectives, tasks, windows)
    cell = row_at(device.cells.rank, device.cells.step, found["rank"], found["step"])
    found = found.having(idle_us=values_at(_idle_before_cells(device, windows, split), cell, np.nan))
    return Table.concat(Preparation, [found, _of_single_steps(device, windows, known["rank"])])


def _of_single_steps(device: DeviceTimeline, windows: Table[StepWindow], known: Array) -> Table[Preparation]:
    """Of ranks with a single step, which is marked, and of which nothing is `known`: what the timeline says."""
    cells = device.cells
    ranks, steps = np.unique(cells.rank, return_counts=True)
    opened = marked_begins(windows, cells.rank, cells.step)
    single = np.isin(cells.rank, np.setdiff1d(ranks[steps == 1], known)) & (opened != MISSING)
    cell = np.flatnonzero(single & (cells.begin >= opened))
    length_us, compute_us = device.window.lengths[cell] / 1e3, device.per_cell(device.compute)[cell]
    return Table.build(
        Preparation,
        rank=cells.rank[cell],
        step=cells.step[cell],
        preparing_us=(cells.begin - opened)[cell] / 1e3,
        compute_us=compute_us,
        free_us=length_us - device.per_cell(device.busy)[cell],
        counted_us=length_us,
    )


def _idle_before_cells(device: DeviceTimeline, windows: Table[StepWindow], split: Table[Overlap] | None) -> Array:
    """Per cell: how long the device neither works nor copies from the host's start of the step on, µs; missing of the
    first one of a rank, for what came before it was not recorded, and where this step or the one before lacks rows.
    What the device waits before an earlier step counts for that one, though a host that is ahead has begun others by
    then."""
    cells = device.cells
    opened = marked_begins(windows, cells.rank, cells.step)
    of, start, end = device.on_clock(union_of_sets([device.busy, device.copies]))
    found, lacking = np.full(len(cells), np.nan), lacks_kernel_rows(split, cells.rank, cells.step)
    for rank in np.unique(cells.rank).tolist():
        own = np.flatnonzero((cells.rank == rank) & (opened != MISSING))
        own = own[np.argsort(cells.begin[own], kind="stable")]
        mine = cells.rank[of] == rank
        since = np.maximum(opened[own[1:]], cells.begin[own[:-1]])
        unknown, own = lacking[own[1:]] | lacking[own[:-1]], own[1:]
        begin = np.maximum(cells.begin[own], since)
        idle_us = (begin - since - covered_ns(union(start[mine], end[mine]), since, begin)) / 1e3
        found[own] = np.where(unknown, np.nan, idle_us)
    return found
