# SPDX-License-Identifier: Apache-2.0
"""Where the device time of each step went: computing, communicating, both, or neither.

Recomputed from intervals wherever kernels were recorded. The profiler's own sums are taken where they were not, as in
a cluster summary, and where the list of kernels lacks rows (see `completeness`). A step spans from its first kernel or
collective to its last one, and on through the pause before the next step: copies at its borders do not widen it. So
counts torch_npu (the Overlap Analysis lane and `_trace_step_time_parser.py`), and so both agree to the nanosecond on
the captures at hand. Traces of GPUs hold no such sums: there a pause belongs to the marked step in which the host is.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import intersect, subtract, unions_by_cell
from advisor.analysis.steps.completeness import reconcile_with_sums, without_sums_of_host_windows
from advisor.analysis.steps.device import DeviceTimeline, build_timeline, collective_times
from advisor.analysis.steps.stage_transfers import are_between_stages
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepTime, StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks


def overlaps(
    run: RunOfRanks,
    *,
    kernels: Table[Kernel] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    recorded: Table[StepTime] | None,
) -> Table[Overlap]:
    """The time split of every rank and step.

    Raises:
        FactMissing: Neither kernels nor the profiler's own sums were recorded.
    """
    sums = Table.empty(Overlap) if recorded is None else _batched_bubbles(_recorded_sums(run, recorded), collectives)
    if kernels is None or not len(kernels):
        if recorded is None:
            raise FactMissing([Kernel.table, StepTime.table])
        return sums
    device = build_timeline(kernels, collectives, tasks, windows)
    split = _recompute_split(run, device, tasks=tasks is not None)
    sums = without_sums_of_host_windows(run.framework, sums, kernels, windows)
    return reconcile_with_sums(split, sums, device, kernels, collectives).sorted_by("rank", "step")


def _recompute_split(run: RunOfRanks, device: DeviceTimeline, *, tasks: bool) -> Table[Overlap]:
    free = device.free
    uncopied = subtract(free, device.copies)
    within = subtract(intersect(free, device.copies), device.to_or_from_host)
    in_graphs = intersect(subtract(uncopied, device.waits), device.launched_at_once)
    exposed = device.per_cell(subtract(device.comm, device.compute))
    comm = device.per_cell(device.comm)
    unknown = np.full(len(device.cells), np.nan)
    paused = run.times_of != "work"  # else nobody knows which pauses are the job's
    return Table.build(
        Overlap,
        rank=device.cells.rank,
        step=device.cells.step,
        stage=stages_of(run, device.cells.rank),
        start_ns=device.cells.begin,
        span_us=device.window.lengths / 1e3 if paused else device.per_cell(device.compute) + exposed,
        compute_us=device.per_cell(device.compute),
        comm_us=comm,
        exposed_comm_us=exposed,
        overlapped_us=device.per_cell(intersect(device.comm, device.compute)),
        free_us=device.per_cell(free) if paused else unknown,
        copy_us=device.per_cell(intersect(free, device.copies)) if tasks and paused else unknown,
        to_host_us=np.where(device.knows_directions & paused, device.per_cell(intersect(free, device.to_host)), np.nan),
        device_copy_us=np.where(device.knows_directions & paused, device.per_cell(within), np.nan),
        event_wait_us=device.per_cell(intersect(uncopied, device.waits)) if tasks and paused else unknown,
        graph_idle_us=device.per_cell(in_graphs) if tasks and paused else unknown,
        bubble_us=device.per_cell(subtract(device.between_stages, device.compute)),
        listed_us=device.per_cell(device.compute),
        listed_exposed_us=exposed,
        unlisted_us=0.0,
        source="intervals",
    )


def _recorded_sums(run: RunOfRanks, recorded: Table[StepTime]) -> Table[Overlap]:
    for name in ("compute_us", "exposed_comm_us", "free_us"):
        recorded = recorded.take(~np.isinf(recorded[name]))
    parts = [recorded[name] for name in ("compute_us", "exposed_comm_us", "free_us")]
    stage = stages_of(run, recorded["rank"])
    return Table.build(
        Overlap,
        rank=recorded["rank"],
        step=recorded["step"],
        stage=np.where(recorded["stage"] == MISSING, stage, recorded["stage"]),
        span_us=parts[0] + parts[1] + parts[2],
        compute_us=parts[0],
        comm_us=recorded["comm_us"],
        exposed_comm_us=parts[1],
        overlapped_us=recorded["overlapped_us"],
        free_us=parts[2],
        bubble_us=recorded["bubble_us"],
        source="recorded",
    )


def _batched_bubbles(sums: Table[Overlap], collectives: Table[Collective] | None) -> Table[Overlap]:
    """The sums, with the exposed time in batched sends and receives where a bubble of 0 leaves them out.

    How much of them computation hides is not known there, so no more than all exposed communication counts. Where all
    that was sent and received lies inside of stages, as in rings of attention, none of it is a bubble.
    """
    if collectives is None:
        return sums
    sending = collectives.take(collectives["p2p"] == 1)
    passing = are_between_stages(sending)
    if len(sending) and not passing.any():
        return sums.having(bubble_us=np.where(np.isnan(sums["bubble_us"]), np.nan, 0.0))
    batched = sending.take(passing & sending.texts("op").isin(["batchSendRecv"]))
    timed = collective_times(batched)
    cell = row_at(sums["rank"], sums["step"], batched["rank"][timed.row], batched["step"][timed.row])
    known = cell >= 0
    owner, start, end = unions_by_cell(cell[known], timed.start[known], timed.end[known], len(sums))
    inside = np.bincount(owner, weights=end - start, minlength=len(sums)) / 1e3
    unwritten = (sums["bubble_us"] == 0) & (inside > 0)
    bare = np.minimum(inside, sums["exposed_comm_us"])
    return sums.having(bubble_us=np.where(unwritten, bare, sums["bubble_us"]))


def stages_of(run: RunOfRanks, rank: Array) -> Array:
    """The pipeline stage of each rank; missing where there is none or it is unknown."""
    names, of = np.unique(rank, return_inverse=True)
    return np.array([run.stages.get(one, MISSING) for one in names.tolist()], np.int64)[of]
