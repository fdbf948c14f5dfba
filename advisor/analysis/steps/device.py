# SPDX-License-Identifier: Apache-2.0
"""What the devices did, step by step: the ground that overlap, gaps and host costs stand on.

An event belongs to the step in which it **starts** and is not cut where the step ends, as torch_npu counts it too.
All cells (one step of one rank each) lie one after another on one *axis*, so that a set of time holds every step of
every rank at once and each formula is written once, for all.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.intervals import Axis, Spans, axis_of_cells, gaps_in_window, union, union_of_sets
from advisor.analysis.steps.cells import Cells, cells_of
from advisor.analysis.steps.set_up_kernels import are_set_up
from advisor.analysis.steps.stage_transfers import are_between_stages
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts, row_type

KERNEL, COMM, COPY = 0, 1, 2
"""Kinds of work a device is busy with."""

DAY_NS = 86_400 * 10**9
"""No capture lasts a day (a minute fills gigabytes): what lies further from the middle has a damaged clock."""

_OF_COLLECTIVES = ("AicpuKernel", "AivKernel", "AicpuInit")
"""Kernels by which HCCL runs a collective, such as allreduceAicpuKernel, or sets one up (hcomAicpuInit). Their time is
that of the collective; the profiler does not count it as Computing either."""


class DeviceWork(Struct, frozen=True):
    """Kernels, collectives and copies of all cells, one row each, on the clock of the device.

    In this order, so that kernels and collectives have the same rows where copies were left out.
    """

    cell: Array
    kind: Array
    row: Array
    """Row of the table it came from: `kernels`, `collectives` or `device_tasks`, by kind."""
    start: Array
    end: Array


class DeviceTimeline(Struct, frozen=True, dict=True):
    """The device time of every cell, on one axis."""

    cells: Cells
    axis: Axis
    window: Spans
    """Per cell: from its first kernel or collective to its last, and through the pause before the next step: a pause
    belongs to the step in which it begins, as in the profiler's own Free; on GPUs, where no such sums are, to the step
    in which the host is meanwhile."""
    compute: Spans
    comm: Spans
    between_stages: Spans
    """Sends and receives that may be those of a pipeline."""
    copies: Spans
    to_host: Spans
    """The copies from the device to the host."""
    to_or_from_host: Spans
    untold: Spans
    """When copies ran whose direction was not recorded."""
    knows_directions: Array
    """Per cell: whether the direction of every copy of its rank is known, of which there is one."""
    waits: Spans
    launched_at_once: Spans
    """From the begin of each task to that of the next, where one call launched both, as it does all of a graph."""
    work: DeviceWork
    outer: Array
    """Per cell: the pause between it and the next step where the host was in neither for most of it, ns; else 0."""
    earlier: dict[int, int] = {}
    """By rank: until when the device still worked on what was launched before the first step, by the clock."""

    @cached_property
    def busy(self) -> Spans:
        """Kernels or collectives."""
        return union_of_sets([self.compute, self.comm])

    @cached_property
    def free(self) -> Spans:
        """Neither, between the first and the last activity of each cell."""
        return gaps_in_window(self.busy, self.window)

    def per_cell(self, spans: Spans) -> Array:
        """How much of a set lies in each cell, µs."""
        return np.bincount(self.axis.owner(spans.start), weights=spans.lengths, minlength=len(self.cells)) / 1e3

    def on_clock(self, spans: Spans) -> tuple[Array, Array, Array]:
        """Cell, start and end of each interval, by the clock."""
        cell = self.axis.owner(spans.start)
        return cell, spans.start - self.axis.shift[cell], spans.end - self.axis.shift[cell]

    def free_of_rank(self, rank: int) -> Spans:
        """When the device of a rank was idle in any of its steps, by the clock."""
        return self.of_rank(self.free, rank)

    def of_rank(self, spans: Spans, rank: int) -> Spans:
        """The part of a set of its time that is of a rank, by the clock."""
        cell, start, end = self.on_clock(spans)
        own = self.cells.rank[cell] == rank
        return union(start[own], end[own])


class Events(Struct, frozen=True):
    """Rows of one table that carry a believable time and belong to a cell."""

    row: Array
    cell: Array
    start: Array
    end: Array

    def take(self, where: Array) -> Events:
        where = np.flatnonzero(where) if where.dtype == bool else where
        return Events(self.row.take(where), self.cell.take(where), self.start.take(where), self.end.take(where))

    def placed(self, cell: Array) -> Events:
        """The events that belong to a cell, with it."""
        return Events(self.row, cell, self.start, self.end).take(cell >= 0)


def build_timeline(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None = None,
    tasks: Table[DeviceTask] | None = None,
    windows: Table[StepWindow] | None = None,
) -> DeviceTimeline:
    """What the devices did, by cell. Rows without a believable time, or outside every step, are left out.

    Of what ran before the first step of a rank it is kept when it was done. Most derivations begin with it, so it is
    worked out once for the same tables.
    """
    return kernels.once(_timeline_of, collectives, tasks, windows)


def forget_timeline(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None = None,
    tasks: Table[DeviceTask] | None = None,
    windows: Table[StepWindow] | None = None,
) -> None:
    """Lets go of the timeline of these tables; who asks for it next has it worked out anew."""
    kernels.forget_one(_timeline_of, collectives, tasks, windows)


def _timeline_of(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
) -> DeviceTimeline:
    collectives = Table.empty(Collective) if collectives is None else collectives
    tasks = Table.empty(DeviceTask) if tasks is None else tasks
    compute, comm, other = work_times(kernels, collectives), collective_times(collectives), task_times(tasks)
    ranks = kernels["rank"][compute.row], collectives["rank"][comm.row]
    steps = kernels["step"][compute.row], collectives["step"][comm.row]
    begun = np.concatenate([compute.start, comm.start])
    ended = np.concatenate([compute.end, comm.end])
    cells = cells_of(np.concatenate(ranks), np.concatenate(steps), begun, ended, windows)
    of = cells.of(ranks[0], steps[0], compute.start), cells.of(ranks[1], steps[1], comm.start)
    parts = (
        compute.placed(of[0]),
        comm.placed(of[1]),
        other.placed(cells.at(tasks["rank"][other.row], other.start)),
    )
    earlier = _ends_before_first_step(cells, np.concatenate(ranks), begun, np.where(np.concatenate(of) < 0, ended, -1))
    return msgspec.structs.replace(_laid_out(cells, parts, kernels, collectives, tasks), earlier=earlier)


def _ends_before_first_step(cells: Cells, rank: Array, begun: Array, ended: Array) -> dict[int, int]:
    """By rank: the last end of what began before its first step and belongs to none; events of steps end at -1."""
    found = {}
    for one in np.unique(cells.rank).tolist():
        first = int(cells.begin[cells.rank == one].min())
        before = ended[(rank == one) & (begun < first)]
        found[one] = min(int(before.max(initial=-1)), first)
    return {one: end for one, end in found.items() if end >= 0}


def _laid_out(
    cells: Cells,
    parts: tuple[Events, Events, Events],
    kernels: Table[Kernel],
    collectives: Table[Collective],
    tasks: Table[DeviceTask],
) -> DeviceTimeline:
    compute, comm, other = parts
    end, outer = _ends_of_cells(cells, (compute, comm), begun_anew(cells, kernels, compute))
    other = other.take(other.start < end[other.cell])
    rest = _rest_in_next_cells(cells, other, end)
    parts = compute, comm, other
    axis = axis_of_cells(
        np.concatenate([*(p.cell for p in parts), np.arange(len(cells))]),
        np.concatenate([*(p.start for p in parts), cells.begin]),
        np.concatenate([*(p.end for p in parts), end]),
        len(cells),
    )
    kinds, told = tasks.texts("kind"), tasks.texts("direction")
    copies = other.take(kinds.isin(["copy"])[other.row])

    def spans(events: Events) -> Spans:
        return union(events.start + axis.shift[events.cell], events.end + axis.shift[events.cell])

    def spans_of_tasks(chosen: Array) -> Spans:
        return union_of_sets([spans(events.take(chosen[events.row])) for events in (other, rest)])

    return DeviceTimeline(
        cells=cells,
        axis=axis,
        window=Spans(cells.begin + axis.shift, end + axis.shift),
        compute=spans(compute),
        comm=spans(comm),
        between_stages=spans(comm.take(are_between_stages(collectives)[comm.row])),
        copies=spans_of_tasks(kinds.isin(["copy"])),
        to_host=spans_of_tasks(kinds.isin(["copy"]) & told.isin(["d2h"])),
        to_or_from_host=spans_of_tasks(kinds.isin(["copy"]) & told.isin(["d2h", "h2d"])),
        untold=spans_of_tasks(kinds.isin(["copy"]) & (told.codes < 0)),
        knows_directions=_cells_with_directions(cells, copies, told),
        waits=spans_of_tasks(kinds.isin(["wait"])),
        launched_at_once=_between_tasks_of_one_launch(cells, axis, end, tasks),
        work=_join_work((compute, comm, copies)),
        outer=outer,
    )


def _between_tasks_of_one_launch(cells: Cells, axis: Axis, end: Array, tasks: Table[DeviceTask]) -> Spans:
    """From task to task that one call launched, where nothing that another one launched begins between them; until the
    `end` of their cell, behind which the axis goes on with another one."""
    rows = np.flatnonzero(
        tasks.texts("kind").isin(["kernel", "comm", "copy"])
        & (tasks["start_ns"] != MISSING)
        & (tasks["end_ns"] != MISSING)
    )
    rows = rows[np.lexsort((tasks["start_ns"][rows], tasks["rank"][rows]))]
    rank, start, connection = (tasks[name][rows] for name in ("rank", "start_ns", "connection"))
    joined = (rank[1:] == rank[:-1]) & (connection[1:] == connection[:-1]) & (connection[1:] != MISSING)
    earlier = np.flatnonzero(joined & (start[1:] > start[:-1]))
    begun, next_begun = start[earlier], start[earlier + 1]
    cell, next_cell = cells.at(rank[earlier], begun), cells.at(rank[earlier], next_begun)
    inside = (cell >= 0) & (cell == next_cell)
    cell, begun, next_begun = cell[inside], begun[inside], next_begun[inside]
    return union(begun + axis.shift[cell], np.minimum(next_begun, end[cell]) + axis.shift[cell])


def _rest_in_next_cells(cells: Cells, events: Events, end: Array) -> Events:
    """What lies in later cells of copies and waits that run on when the step ends in which they begin."""
    follows = np.append(cells.follow[:-1] == cells.begin[1:], False) & np.append(np.diff(cells.rank) == 0, False)
    left, parts = events, [events.take(np.empty(0, np.intp))]
    while len(left.row):
        left = left.take(follows[left.cell])
        begin = np.maximum(left.start, cells.begin[left.cell + 1])
        left = Events(left.row, left.cell + 1, begin, left.end)
        left = left.take(left.end > left.start)
        parts.append(Events(left.row, left.cell, left.start, np.minimum(left.end, end[left.cell])))
    return Events(*(np.concatenate([getattr(part, name) for part in parts]) for name in Events.__struct_fields__))


def _cells_with_directions(cells: Cells, copies: Events, told: Texts) -> Array:
    """Per cell: whether its rank has copies, and the direction of each is known."""
    rank, known = cells.rank[copies.cell], told.codes[copies.row] >= 0
    return np.isin(cells.rank, np.setdiff1d(rank[known], rank[~known]))


def _ends_of_cells(cells: Cells, parts: tuple[Events, Events], anew: Array) -> tuple[Array, Array]:
    """Per cell: the end of its last kernel or collective, or the beginning of the next step if that is later; and a
    pause before that step that belongs to neither, 0 where there is none.

    A pause for most of which the host was in no step (the job did something else, or captures were strung together)
    is not part of the step before it; nor is one after which the recording began anew, which was none of the job.
    """
    end = cells.begin.copy()
    for events in parts:
        np.maximum.at(end, events.cell, events.end)
    pause = np.where(cells.follow > end, cells.follow - end, 0)
    strung = np.append(anew, False)[1:]
    inside = 2 * cells.away <= pause
    return np.where(inside & ~strung, end + pause, end), np.where(inside | strung, 0, pause)


def begun_anew(cells: Cells, kernels: Table[Kernel], compute: Events) -> Array:
    """Per cell: whether its first kernel says that the device had not been idle before it, as the first of a capture.

    The wait of a row is the gap to the one above it. Nothing stands above the first row of a capture, and it says 0;
    where captures were strung together, the first row of a later step says so too, whatever the pause before it.
    """
    rank, wait = kernels["rank"][compute.row], kernels["wait_us"][compute.row]
    measured = np.isin(rank, np.unique(rank[wait > 0]))
    first = compute.start == cells.begin[compute.cell]
    found = np.zeros(len(cells), bool)
    found[compute.cell[first & measured & (wait == 0)]] = True
    return found


def _join_work(parts: tuple[Events, Events, Events]) -> DeviceWork:
    return DeviceWork(
        cell=_narrow_numbers([events.cell for events in parts]),
        kind=np.repeat(np.array([KERNEL, COMM, COPY], np.int8), [len(events.row) for events in parts]),
        row=_narrow_numbers([events.row for events in parts]),
        start=np.concatenate([events.start for events in parts]),
        end=np.concatenate([events.end for events in parts]),
    )


def _narrow_numbers(parts: list[Array]) -> Array:
    """Numbers of cells or rows as one array, in as few bytes as hold them: all work has them, as long as it is kept."""
    found: Array = np.concatenate(parts)
    return found.astype(row_type(int(found.max(initial=0)) + 1), copy=False)


def work_times(kernels: Table[Kernel], collectives: Table[Collective]) -> Events:
    """The same without what makes the inputs of a benchmark (see `set_up_kernels`)."""
    events = kernel_times(kernels)
    return events.take(~set_up_of(kernels, collectives))


def set_up_of(kernels: Table[Kernel], collectives: Table[Collective]) -> Array:
    """Per kernel with a believable time: whether it makes the inputs of a benchmark."""
    events = kernel_times(kernels)
    return are_set_up(kernels, events.row, events.start, events.end, distinct_ranks(collectives["rank"]).tolist())


def kernel_times(kernels: Table[Kernel]) -> Events:
    """Kernels with a believable time, in no cell yet; those that drive a collective compute nothing: left out."""
    return kernels.once_for_now(_find_kernel_times)


def _find_kernel_times(kernels: Table[Kernel]) -> Events:
    events = _believable_events(kernels["start_ns"], end_after(kernels["start_ns"], kernels["duration_us"]))
    return events.take(~drive_collectives(kernels.texts("op_name"))[events.row])


def drive_collectives(names: Texts) -> Array:
    """Per name of a kernel or operator type: whether HCCL runs a collective by it."""
    return names.hits(name.endswith(_OF_COLLECTIVES) for name in names.names)


def collective_times(collectives: Table[Collective] | Table[CollectiveCall]) -> Events:
    """Collectives with a believable time, in no cell yet."""
    return _believable_events(collectives["start_ns"], end_after(collectives["start_ns"], collectives["elapse_us"]))


def task_times(tasks: Table[DeviceTask]) -> Events:
    """Copies and waits with a believable time, in no cell yet."""
    events = _believable_events(tasks["start_ns"], tasks["end_ns"])
    return events.take(tasks.texts("kind").isin(["copy", "wait"])[events.row])


def end_after(start: Array, duration_us: Array) -> Array:
    """Start plus duration to the nanosecond; before the start where the duration is unknown or impossible."""
    known = (duration_us >= 0) & (duration_us < DAY_NS / 1e3)
    return start + np.where(known, np.rint(np.where(known, duration_us, 0) * 1e3).astype(np.int64), -1)


def believable_moments(moments: Array, timed: Array) -> tuple[Array, int]:
    """Which of the moments that are `timed` lie within a day of the middle one, and that one; 0 where none is."""
    middle = int(np.median(moments[timed])) if timed.any() else 0
    return timed & (moments > middle - DAY_NS) & (moments < middle + DAY_NS), middle


def _believable_events(start: Array, end: Array) -> Events:
    near, middle = believable_moments(start, (start != MISSING) & (end != MISSING))
    row = np.flatnonzero(near & (end >= start) & (end < middle + 2 * DAY_NS))
    return Events(row, np.full(len(row), -1), start[row], end[row])
