# SPDX-License-Identifier: Apache-2.0
"""Copies with nothing beside them: how many they are, and which of them operators on the CPU ask for."""

from __future__ import annotations

import numpy as np

from advisor.analysis.cpu_operators import cpu_operators
from advisor.analysis.device import DeviceTimeline, build_timeline
from advisor.analysis.grouping import row_at
from advisor.analysis.intervals import covered_ns, intersect
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
    stretches, for_cpu = unknown, unknown
    if kernels is not None and tasks is not None and len(kernels):
        device = build_timeline(kernels, collectives, tasks, windows)
        at = row_at(device.cells.rank, device.cells.step, split["rank"], split["step"])
        lacking = np.isnan(split["copy_us"])
        count, us = _counted(device, links, calls)
        stretches, for_cpu = (np.where(lacking, np.nan, values_at(one, at, np.nan)) for one in (count, us))
    return Table.build(BareCopy, **{name: split[name] for name in _KEPT}, stretches=stretches, for_cpu_us=for_cpu)


def _counted(
    device: DeviceTimeline, links: Table[Dispatch] | None, calls: Table[HostCall] | None
) -> tuple[Array, Array]:
    """Per cell: how many stretches of bare copies there are, and how long operators on the CPU have of them, us."""
    bare = intersect(device.free, device.copies)
    cell, start, end = device.on_clock(bare)
    count = np.bincount(cell, minlength=len(device.cells)).astype(np.float64)
    if links is None or calls is None:
        return count, np.full(len(device.cells), np.nan)
    rank, asked = device.cells.rank[cell], np.zeros(len(cell))
    for one in np.unique(rank).tolist():
        own = rank == one
        asked[own] = covered_ns(cpu_operators(calls, one, device, links).stretches, start[own], end[own])
    return count, np.bincount(cell, weights=asked, minlength=len(device.cells)) / 1e3
