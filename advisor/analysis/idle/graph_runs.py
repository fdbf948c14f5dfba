# SPDX-License-Identifier: Apache-2.0
"""Runs of compiled graphs as the list of kernels shows them, and what the device waits for between them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.grouping import group_by, ratio
from advisor.analysis.arrays.intervals import Spans, intersect, subtract, union
from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import KERNEL, DeviceTimeline, Events, build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import GraphRun, Overlap
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts
from advisor.model.run_of_ranks import RunOfRanks


def graph_runs(
    run: RunOfRanks,
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    *,
    split: Table[Overlap] | None = None,
) -> Table[GraphRun]:
    """One row per rank that ran a graph, over its steps whose kernels are all listed.

    Raises:
        FactMissing: No step has its kernels all listed: what rows are missing of is no pause.
    """
    if run.times_of == "work" or not (kernels["graph"] != MISSING).any():
        return Table.empty(GraphRun)
    device = build_timeline(kernels, collectives, tasks, windows)
    whole = only_whole(device, split)
    work = _kernels_on_axis(device, whole)
    runs = _find_runs(kernels, device, work)
    idle, spans = subtract(device.free, device.copies), union(runs.start, runs.end)
    cells = group_by(device.cells.rank[whole])
    ranks = device.cells.rank[whole][cells.first]

    def mean_of_cells(per_cell: Array) -> Array:
        return cells.means(per_cell[whole].astype(np.float64))

    def count(events: Events) -> Array:
        return mean_of_cells(np.bincount(events.cell, minlength=len(device.cells)))

    of_graph = kernels["graph"][work.row] != MISSING
    each = count(runs)
    between = _in_cells(device, subtract(idle, spans), whole)
    lasts = [(runs.end - runs.start)[device.cells.rank[runs.cell] == one] for one in ranks]
    table = Table.build(
        GraphRun,
        rank=ranks,
        runs=each,
        run_us=np.array([np.median(one) / 1e3 if len(one) else np.nan for one in lasts]),
        kernels=ratio(count(work.take(of_graph)), each),
        single_kernels=ratio(count(work.take(~of_graph)), each),
        within_us=mean_of_cells(device.per_cell(intersect(idle, spans))),
        between_us=mean_of_cells(device.per_cell(between)),
        **_longest_waits(
            kernels.texts("op_type"),
            device,
            work,
            between,
            dict(zip(ranks.tolist(), cells.sizes.tolist(), strict=True)),
        ),
    )
    return table.take(table["runs"] > 0)


def _kernels_on_axis(device: DeviceTimeline, chosen: Array) -> Events:
    """The kernels of the chosen cells in order of time, on the axis of all cells."""
    rows = np.flatnonzero((device.work.kind == KERNEL) & chosen[device.work.cell])
    cell = device.work.cell[rows]
    shift = device.axis.shift[cell]
    work = Events(device.work.row[rows], cell, device.work.start[rows] + shift, device.work.end[rows] + shift)
    return work.take(np.argsort(work.start, kind="stable"))


def _in_cells(device: DeviceTimeline, spans: Spans, chosen: Array) -> Spans:
    """Those of these intervals that lie in the chosen cells."""
    own = chosen[device.axis.owner(spans.start)]
    return Spans(spans.start[own], spans.end[own])


def _find_runs(kernels: Table[Kernel], device: DeviceTimeline, work: Events) -> Events:
    """Each run of a graph: the row and cell of its first kernel, when that begins and when its last one ends.

    A run ends where another graph or a kernel launched by itself begins, where the next step does, or where the graph
    begins anew after a pause: with the kernel that its first run began with.
    """
    graph, name = kernels["graph"][work.row], kernels.texts("op_name").codes[work.row]
    rank = device.cells.rank[work.cell]
    of = group_by(rank, graph)
    opening = of.first_rows(np.arange(len(graph)))
    paused = np.append(True, work.start[1:] - np.maximum.accumulate(work.end)[:-1] > AT_ONCE_NS)
    anew = paused & (name == name[opening][of.of])
    follows = (graph[1:] == graph[:-1]) & (work.cell[1:] == work.cell[:-1])
    begins = np.append(True, ~follows) | anew
    number = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    end = np.full(len(first), np.iinfo(np.int64).min)
    np.maximum.at(end, number, work.end)
    found = Events(work.row[first], work.cell[first], work.start[first], end)
    return found.take(graph[first] != MISSING)


def _longest_waits(
    types: Texts, device: DeviceTimeline, work: Events, pauses: Spans, steps: Mapping[int, int]
) -> dict[str, object]:
    """Of the pauses of each rank, of which so many steps count: the longest, and the operator before which they are
    longest together, per step. `types` are by row of the kernels."""
    cell, start, _ = device.on_clock(pauses)
    ending = np.minimum(np.searchsorted(work.start, pauses.end), len(work.row) - 1)
    awaited = np.where(work.cell[ending] == cell, types.codes[work.row[ending]], -1)
    rank, us = device.cells.rank[cell], pauses.lengths / 1e3
    longest, begun, code, waited = (np.full(len(steps), fill) for fill in (np.nan, MISSING, -1, np.nan))
    for place, (one, count) in enumerate(steps.items()):
        here = np.flatnonzero(rank == one)
        if not len(here):
            continue
        worst = here[np.argmax(us[here])]
        longest[place], begun[place] = us[worst], start[worst]
        by_type = np.bincount(awaited[here] + 1, weights=us[here], minlength=2)[1:]
        if by_type.any():
            code[place] = np.argmax(by_type)
            waited[place] = by_type.max() / count
    return {
        "longest_us": longest,
        "longest_start_ns": begun,
        "awaited_type": Texts(code, types.names),
        "awaited_us": waited,
    }
