# SPDX-License-Identifier: Apache-2.0
"""The single calls behind what holds the host up: few of each kind, so that a reader can look at them in a timeline."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.intervals import Spans, covered_ns, span_at, union, union_of_sets, whole_ns
from advisor.analysis.host import host
from advisor.analysis.host.cpu_operators import cpu_operators
from advisor.analysis.launches.program_rounds import round_borders
from advisor.analysis.replay.replayed_rank import WAITING, costs_of
from advisor.analysis.steps.cells import Cells, cells_of
from advisor.analysis.steps.device import build_timeline, kernel_times
from advisor.analysis.steps.step_ends import last_waits_of_steps
from advisor.facts.derived import DelayingCall, Dispatch, EngineBorder, Gap
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, ascending

MOST_CALLS = 20
"""Of each kind and rank; a finding lists no more."""


def delaying_calls(
    kernels: Table[Kernel],
    calls: Table[HostCall],
    *,
    windows: Table[StepWindow] | None,
    idle: Table[Gap] | None,
    borders: Table[EngineBorder] | None = None,
    links: Table[Dispatch] | None = None,
    collectives: Table[Collective] | None = None,
    tasks: Table[DeviceTask] | None = None,
) -> Table[DelayingCall]:
    """The calls of each kind and rank that leave the device idle longest; calls outside of every step are left out.

    Before the first kernel of a rank nobody knows for how long the device was free: such a call may have left it idle
    for as long as it lasts.
    Of waits the last of each step is no fault and left out too, as in `launch_delays`.
    """
    events = kernel_times(kernels)
    cells = cells_of(kernels["rank"][events.row], kernels["step"][events.row], events.start, events.end, windows)
    ranks = np.unique(cells.rank).tolist()
    device = None if links is None else build_timeline(kernels, collectives, tasks, windows)
    found = []
    for rank in ranks:
        every = host.calls_of(calls, rank)
        kinds = costs_of(calls).by_mark(every)
        if links is not None and device is not None:
            kinds = cpu_operators(calls, rank, device, links).among(kinds)
        known = None if idle is None else _free_of_rank(idle, rank, events.start[kernels["rank"][events.row] == rank])
        rounds = round_borders(rank, cells, calls, links, borders)
        found += _of_rank(rank, calls, kinds, cells=cells, free=known, rounds=rounds)
    return Table.concat(DelayingCall, found)


def _of_rank(
    rank: int,
    table: Table[HostCall],
    kinds: dict[str, host.Calls],
    *,
    cells: Cells,
    free: _KnownFree | None,
    rounds: Array,
) -> list[Table[DelayingCall]]:
    waits = union_of_sets([kinds[name].spans for name in WAITING])
    innocent = last_waits_of_steps(waits, rank, cells, rounds)
    found = []
    for name, calls in kinds.items():
        if not len(calls):
            continue
        cell = cells.on_host(np.full(len(calls), rank), calls.start)
        kept = (cell >= 0) & _is_outermost(calls.start, calls.end)
        if name in WAITING:
            kept &= span_at(innocent, calls.end - 1) < 0
        found.append(_worst_calls(name, table, calls.take(kept), cells=cells, cell=cell[kept], free=free))
    return found


def _worst_calls(
    cause: str, table: Table[HostCall], calls: host.Calls, *, cells: Cells, cell: Array, free: _KnownFree | None
) -> Table[DelayingCall]:
    lasted = (calls.end - calls.start) / 1e3
    idle = np.full(len(calls), np.nan) if free is None else free.idle_us(calls)
    at_most = np.where(np.isnan(idle), lasted, idle)
    worst = np.lexsort((calls.start, -lasted, -at_most))[:MOST_CALLS]
    return Table.build(
        DelayingCall,
        rank=cells.rank[cell[worst]],
        step=cells.step[cell[worst]],
        cause=cause,
        name=table.texts("name").take(calls.row[worst]),
        start_ns=calls.start[worst],
        duration_us=lasted[worst],
        idle_us=idle[worst],
    )


class _KnownFree(Struct, frozen=True):
    """When the device of a rank was free, as far as that is known."""

    spans: Spans
    since: int
    """From when on it is known, ns."""

    def idle_us(self, calls: host.Calls) -> Array:
        """Per call: for how long the device was known to be free beside it; missing where nothing of that is known of
        a call that begins before."""
        idle = covered_ns(self.spans, calls.start, calls.end) / 1e3
        return np.where((calls.start < self.since) & (idle == 0), np.nan, idle)


def _free_of_rank(idle: Table[Gap], rank: int, kernel_start: Array) -> _KnownFree:
    own = idle["rank"] == rank
    start = idle["start_ns"][own]
    free = union(start, start + whole_ns(idle["duration_us"][own]))
    return _KnownFree(free, min([*free.start[:1].tolist(), *ascending(kernel_start)[:1].tolist()], default=0))


def _is_outermost(start: Array, end: Array) -> Array:
    """Which intervals, given in order of start, lie in no other; of equal ones the first."""
    order = np.lexsort((-end, start))
    reach = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, end[order]))[: len(end)]
    kept = np.empty(len(end), bool)
    kept[order] = end[order] > reach
    return kept
