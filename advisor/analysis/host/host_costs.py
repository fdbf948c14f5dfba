# SPDX-License-Identifier: Apache-2.0
"""What the host spent its time on, and how much of that time the device stood idle.

The length of a call says little: a host that waits for a busy device loses nothing. Only the part during which the
device was free can be won back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import Spans, covered_ns, unions_by_cell
from advisor.analysis.host.host import Calls, calls_of
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.facts.derived import HostCost, Overlap
from advisor.facts.observed import Collective, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table

MOST_PYTHON_NAMES = 200
"""Python functions kept per rank, those beside most idle time first: a stack has thousands, a reader looks at ten."""

BLOCK_CALLS = 1 << 17
"""Calls worked on at once: large enough for numpy, small enough that what it needs besides the table stays small."""


def host_costs(
    calls: Table[HostCall],
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[HostCost]:
    """Calls by rank, step, kind and name; steps themselves and calls outside of every step are left out.

    The idle time beside them is missing in steps whose list of kernels lacks rows.
    """
    device = build_timeline(kernels, collectives, None, windows)
    ranks = np.unique(device.cells.rank).tolist()
    costs = Table.concat(HostCost, [_of_rank(calls, device, rank) for rank in ranks])
    return costs.having(
        idle_us=np.where(lacks_kernel_rows(split, costs["rank"], costs["step"]), np.nan, costs["idle_us"])
    )


def _of_rank(table: Table[HostCall], device: DeviceTimeline, rank: int) -> Table[HostCost]:
    free = device.free_of_rank(rank)
    calls = calls_of(table, rank)
    cell = device.cells.on_host(calls.of_rows(table["rank"]), calls.start)
    kept = (cell >= 0) & ~calls.texts(table.texts("kind")).isin(["step"]) & _worth_naming(table, calls, free)
    calls, cell = calls.take(kept), cell[kept]
    blocks = _blocks_of_cells(cell, len(device.cells))
    return Table.concat(HostCost, [_of_cells(table, calls.take(own), cell[own], device, free) for own in blocks])


def _blocks_of_cells(cell: Array, cells: int) -> Iterator[Array]:
    """Positions of the calls, whole cells together and in ascending order, about `BLOCK_CALLS` at a time."""
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(np.bincount(cell, minlength=cells))
    cuts = np.unique(ends[np.searchsorted(ends, np.arange(BLOCK_CALLS, len(cell), BLOCK_CALLS))])
    yield from np.split(order, cuts[cuts < len(cell)])


def _of_cells(
    table: Table[HostCall], calls: Calls, cell: Array, device: DeviceTimeline, free: Spans
) -> Table[HostCost]:
    kinds, names = table.texts("kind").take(calls.row), table.texts("name").take(calls.row)
    groups = group_by(cell, kinds, names)
    owner, start, end = unions_by_cell(groups.of, calls.start, calls.end, len(groups))
    covered = covered_ns(free, start, end)
    return Table.build(
        HostCost,
        rank=device.cells.rank[cell[groups.first]],
        step=device.cells.step[cell[groups.first]],
        kind=kinds.take(groups.first),
        name=names.take(groups.first),
        calls=groups.sizes.astype(np.float64),
        total_us=np.bincount(owner, weights=end - start, minlength=len(groups)) / 1e3,
        longest_us=groups.largest((calls.end - calls.start) / 1e3),
        idle_us=np.bincount(owner, weights=covered, minlength=len(groups)) / 1e3,
    )


def _worth_naming(table: Table[HostCall], calls: Calls, free: Spans) -> Array:
    """Everything but the Python functions that stand beside little idle time."""
    kinds, names = table.texts("kind"), table.texts("name")
    python = np.flatnonzero(calls.texts(kinds).isin(["python"]))
    codes = names.codes[calls.row[python]] + 1  # a function without a name counts as one name
    idle = np.bincount(
        codes, weights=covered_ns(free, calls.start[python], calls.end[python]), minlength=len(names.names) + 1
    )
    chosen = np.zeros(len(idle), bool)
    chosen[np.argsort(-idle, kind="stable")[:MOST_PYTHON_NAMES]] = True
    kept = np.ones(len(calls), bool)
    kept[python] = chosen[codes]
    return kept
