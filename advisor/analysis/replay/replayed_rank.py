# SPDX-License-Identifier: Apache-2.0
"""One rank as a replay needs it: what its device did in turn, what launched that, and where the host waited."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec
import numpy as np
from msgspec import Struct, field

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import Spans, span_at, subtract, union, union_of_sets
from advisor.analysis.host import host
from advisor.analysis.host.cpu_operators import CpuOperators, cpu_operators
from advisor.analysis.host.full_queue import waits_for_room
from advisor.analysis.host.giving_back import waits_to_give_back
from advisor.analysis.replay import replay
from advisor.analysis.replay.shorter_cells import RankEdges, ShorterCells, shorter_cells, until_last_task
from advisor.analysis.steps.cells import Cells
from advisor.analysis.steps.device import COMM, COPY, DeviceTimeline
from advisor.analysis.steps.step_ends import NO_BORDERS
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch
from advisor.facts.observed import HostCall, StepWindow
from advisor.facts.table import Array, Table, row_type, values_at

WAITING = ("read", "synchronise", "blocking_copy")
_NEVER = np.iinfo(np.int64).max
_ROUNDED_NS = 2
"""Latencies are kept in us as floats, from which the moment of a launch is worked out."""
PAUSE_NS = 5_000
"""One kernel follows another within some µs: only a longer pause shows that the second waited for something."""


def costs_of(calls: Table[HostCall]) -> host.RowMarks:
    """Per kind of cost: whether each row of `host_calls` is such a call."""
    return calls.once(_find_costs)


def _find_costs(calls: Table[HostCall]) -> host.RowMarks:
    return host.RowMarks(len(calls), _masks_of_costs(calls))


def _masks_of_costs(calls: Table[HostCall]) -> Iterator[tuple[str, Array]]:
    does, kinds = calls.texts("activity"), host.calls_by_activity(calls)
    reads, giving = host.are_waiting_reads(calls), waits_to_give_back(calls)
    of_program = does.isin(["compile"])
    for name, mask in kinds.items():
        if name == "compile":
            yield name, mask & ~of_program
        elif name == "blocking_copy":
            yield name, mask & ~host.begin_within(calls, mask, reads)  # by which a value is read: that is its cost
        else:
            yield name, (mask & ~giving) | reads if name == "synchronise" else mask
    yield "graph_compile", of_program
    yield "read", reads
    yield "allocate", does.isin(["allocate", "free"]) & ~kinds["start_up"] | giving
    yield "pin", host.are_of_launching_threads(calls, does.isin(["pin"]) & ~kinds["start_up"])


class LaunchingOperators(Struct, frozen=True):
    """The operators of the framework that launched anything."""

    calls: host.Calls
    """All calls of the rank."""
    places: Array
    """Where the operators stand among these: they are many, and kept."""
    first: Array
    """Per operator: the first launch that was handed over in it, in the order of these moments, and how many were."""
    launches: Array
    order: Array
    """Per launch in that order: its task of the replay, or -1 of what ran beside."""

    def launched_none_but(self, taken: Array) -> host.Calls:
        """Those that launched none but these tasks, a mask."""
        others = np.zeros(len(self.order) + 1, row_type(len(self.order)))
        np.cumsum(~values_at(taken, self.order, False), out=others[1:])
        none = others.take(self.first + self.launches) == others.take(self.first)
        return self.calls.take(self.places[none])


class ReplayedRank(Struct, frozen=True, dict=True):
    """Everything of one rank that the replays share."""

    rank: int
    cells: Cells
    own: Array
    """Its cells, in order of time."""
    last: Array
    """Per own cell: the row of the last task of the replay until its end, or -1; of the last cell its very end."""
    row: Array
    """Per task of the replay but the last: its row of the timeline's work."""
    replayed: replay.ReplayInput
    table: Table[HostCall]
    calls: host.Calls
    kinds: dict[str, host.Calls]
    free: Spans
    queue_threads: Array
    on_cpu: CpuOperators
    """Operators that compute on the host; their calls are the kind `cpu_operator`."""
    passing_waits: Spans
    """When a launching thread waited for something that the device did before it was done with all it was given, such
    as an event of an earlier batch: such a wait gets shorter as the device gets faster."""
    engine_ns: Array = NO_BORDERS
    """When steps of a serving engine begin, where any are known."""
    unhidden_waits: Spans = field(default_factory=Spans.none)
    """Waits for a value or a copy after which the host does something long of its own that would not hide without."""

    @property
    def launching_operators(self) -> LaunchingOperators:
        """Worked out once for all replays of the same work, whatever kinds of cost they tell apart."""
        replayed = self.replayed
        return self.table.once(_find_launching_operators, self.rank, replayed.work, replayed.beside, replayed.queue)

    @cached_property
    def reaches_ns(self) -> tuple[int, int]:
        """The first and the last moment of anything that a replay of it looks at."""
        rank = self.replayed
        columns = [rank.ranks.begin, rank.queue.start, rank.queue.end, rank.queue.put, self.calls.bounds]
        columns += [getattr(one, name) for one in (rank.work, rank.beside) for name in ("start", "end", "launch")]
        sets = [rank.waits, self.passing_waits, *([] if rank.steps is None else [rank.steps])]
        sets += [] if rank.blocked is None else [rank.blocked.main, rank.blocked.queue]
        columns += [column for spans in sets for column in (spans.start, spans.end)]
        columns = [column for column in columns if len(column)]
        return min(int(column.min()) for column in columns), max(int(column.max()) for column in columns)

    def until_last_task(self, gain: Array) -> Array:
        """The gains of a replay of it that ends with its last task."""
        return until_last_task(gain, self._edges)

    def shorter_cells(self, gain: Array) -> ShorterCells:
        """By how much its own cells are shorter, from how much earlier each of its tasks ends."""
        return shorter_cells(gain, self.last, self._edges)

    @property
    def _edges(self) -> RankEdges:
        return RankEdges.of_one(len(self.replayed.work.start), len(self.own), self.lead_ns)

    @cached_property
    def lead_ns(self) -> int:
        """For how long its first step lasts before its very first task: steps begin with work, or where they are
        marked."""
        work, steps = self.replayed.work.start, self.replayed.steps
        return max(int(work[0]) - int(steps.start[0]), 0) if len(work) and steps else 0

    def own_cell_at(self, moment: Array) -> Array:
        """Per moment on the host: which of its own cells it lies in, or -1."""
        place = np.full(len(self.cells) + 1, -1)  # the last one is what -1, no cell, reads
        place[self.own] = np.arange(len(self.own))
        found: Array = place[self.cells.on_host(np.full(len(moment), self.rank), moment)]
        return found


def replayed_rank(
    rank: int,
    device: DeviceTimeline,
    links: Table[Dispatch],
    table: Table[HostCall],
    *,
    windows: Table[StepWindow] | None,
) -> ReplayedRank:
    """One rank of a timeline with its launches, host calls and, where recorded, its steps on the host.

    Several derivations replay a rank, so it is worked out once for the same tables.
    """
    return table.once(_replayed_rank_of, rank, device, links, windows)


def forget_replayed_rank(
    rank: int,
    device: DeviceTimeline,
    links: Table[Dispatch],
    table: Table[HostCall],
    *,
    windows: Table[StepWindow] | None,
) -> None:
    """Lets go of a rank and of all that is kept of its replays; who replays it next has it worked out anew."""
    replayed = replayed_rank(rank, device, links, table, windows=windows).replayed
    table.forget_one(_find_launching_operators, rank, replayed.work, replayed.beside, replayed.queue)
    table.forget_one(_replayed_rank_of, rank, device, links, windows)


def _replayed_rank_of(
    table: Table[HostCall],
    rank: int,
    device: DeviceTimeline,
    links: Table[Dispatch],
    windows: Table[StepWindow] | None,
) -> ReplayedRank:
    calls = host.calls_of(table, rank)
    own_kinds = costs_of(table).by_mark(calls)
    queue, queue_threads = _task_queue(table, calls)
    free = device.free_of_rank(rank)
    through = calls.take(host.runs_graph_through(table, calls))
    giving = calls.take(calls.of_rows(waits_to_give_back(table)))
    waiting = [*(own_kinds[name] for name in WAITING), giving, _waiting_frees(table, calls, free)]
    waiting.append(_after_the_launch(through))
    passing = _waits_of_launching_threads(table, waiting)
    waits = _widen_waits(union_of_sets([one.spans for one in waiting]), queue)
    own = np.flatnonzero(device.cells.rank == rank)
    own = own[np.argsort(device.cells.begin[own], kind="stable")]
    copied = calls.take(calls.of_rows(host.calls_by_activity(table)["blocking_copy"])).spans
    work, beside, row = _work_in_turn(rank, device, links, queue=queue, copied=copied, waits=waits)
    cell = device.work.cell[row]
    begin, end = _host_window(rank, work, windows, device.cells.step[own])
    begin = max(begin, device.earlier.get(rank, begin))
    waits = _waits_from(replay.emptying_waits(waits, work, queue), begin)
    blocked = _blocked_launches(calls, table, (work, beside), queue_threads)
    in_time, steps = replay.RanksInTime.of_one(begin), _steps_on_clock(device, own)
    on_cpu = cpu_operators(table, rank, device, links)
    last = np.full(len(device.cells), -1)
    last[cell] = np.arange(len(cell))  # of several the last
    last[own[-1:]] = len(cell)  # the end of the last step
    return ReplayedRank(
        rank=rank,
        cells=device.cells,
        own=own,
        last=np.maximum.accumulate(last[own]),
        row=row,
        replayed=replay.ReplayInput(in_time, _append_end_task(work, end), beside, queue, waits, steps, blocked),
        table=table,
        calls=calls,
        kinds=on_cpu.among(own_kinds),
        free=free,
        queue_threads=queue_threads,
        on_cpu=on_cpu,
        passing_waits=subtract(_waits_from(passing, begin), waits),
    )


def _find_launching_operators(
    table: Table[HostCall], rank: int, work: replay.ReplayedWork, beside: replay.ReplayedWork, queue: replay.Queue
) -> LaunchingOperators:
    calls = host.calls_of(table, rank)
    known = [np.flatnonzero(one.queued < replay.UNBOUND) for one in (work, beside)]
    moments = np.concatenate(
        [replay.handed_over(queue, one)[rows] for one, rows in zip((work, beside), known, strict=True)]
    )
    order = np.argsort(moments, kind="stable")
    operators = calls.texts(table.texts("kind")).isin(["operator"])
    places, first, launches = calls.places_holding(moments.take(order), operators)
    tasks = np.append(known[0], np.full(len(known[1]), -1)).astype(row_type(len(work.start)))
    return LaunchingOperators(calls, places, first, launches, tasks.take(order))


def _waiting_frees(table: Table[HostCall], calls: host.Calls, free: Spans) -> host.Calls:
    """The calls that give device memory back while the device is busy: they return when all it was given is done."""
    freeing = calls.take(calls.texts(table.texts("activity")).isin(["free"]))
    return freeing.take(span_at(free, freeing.start) < 0)


def _after_the_launch(calls: host.Calls) -> host.Calls:
    """Calls that launch first of all and then wait: as the waits that they are from then on."""
    return host.Calls(calls.row, calls.start + 1, calls.ends)


def _waits_of_launching_threads(table: Table[HostCall], waits: list[host.Calls]) -> Spans:
    """What a helper waits for beside those threads holds nothing up."""
    some = [calls for calls in waits if len(calls)]
    return union_of_sets([calls.take(host.made_by_launching_threads(table, calls.row)).spans for calls in some])


def _steps_on_clock(device: DeviceTimeline, own: Array) -> Spans:
    """The time of the steps of one rank, by the clock."""
    shift = device.axis.shift[own]
    return union(device.window.start[own] - shift, device.window.end[own] - shift)


def _host_window(
    rank: int, work: replay.ReplayedWork, windows: Table[StepWindow] | None, steps: Array
) -> tuple[int, int]:
    """When the host began the first of these steps and ended the last; without its windows, when the device did."""
    first, last = (int(work.start.min()), int(work.end.max())) if len(work.start) else (0, 0)
    if windows is None:
        return first, last
    own = (windows["rank"] == rank) & np.isin(windows["step"], steps)
    opened, closed = windows["start_ns"][own], windows["end_ns"][own]
    opened, closed = opened[opened != MISSING], closed[closed != MISSING]
    return min([first, *opened.tolist()]), max(closed.tolist(), default=last)


def _append_end_task(work: replay.ReplayedWork, end: int) -> replay.ReplayedWork:
    """The work, and after it an empty task that the host launches as the last step ends: what comes last counts too."""
    reach = int(work.end.max()) if len(work.end) else end
    start = max(reach, end)
    added = zip(work.__struct_fields__, (start, start, end, -1, start - end, -1), strict=True)
    before = ((getattr(work, name), value) for name, value in added)
    return replay.ReplayedWork(*(np.append(column, np.array([value], column.dtype)) for column, value in before))


def _waits_from(waits: Spans, begin: int) -> Spans:
    """What is left of waits from a moment on: while the device did what is no part of a step, nothing was lost."""
    later = waits.end > begin
    return Spans(np.maximum(waits.start[later], begin), waits.end[later])


def _task_queue(table: Table[HostCall], calls: host.Calls) -> tuple[replay.Queue, Array]:
    """What the second thread took from the queue, and which threads do that."""
    taken = calls.take(calls.texts(table.texts("kind")).isin(["dequeue"]))
    put = host.enqueue_of_dequeue(table, taken.row)
    known = put >= 0
    moment = np.where(known, table.at("end_ns", put), MISSING)
    moment = np.where((moment == MISSING) | (moment > taken.start), taken.start, moment)
    return replay.Queue(taken.start, taken.end, moment), np.unique(table.at("thread", taken.row))


# The device


def _work_in_turn(
    rank: int, device: DeviceTimeline, links: Table[Dispatch], *, queue: replay.Queue, copied: Spans, waits: Spans
) -> tuple[replay.ReplayedWork, replay.ReplayedWork, Array]:
    """What the device did in turn, the collectives beside it, and the row of the timeline's work of the former."""
    work = device.work
    rows = np.flatnonzero(device.cells.rank[work.cell] == rank)
    rows = rows[np.lexsort((work.end[rows], work.start[rows]))].astype(row_type(len(work.cell)))
    start, end, kind = work.start[rows], work.end[rows], work.kind[rows]
    link = row_at(links["rank"], links["start_ns"], np.full(len(rows), rank), start)
    known = link >= 0
    latency = np.where(known, np.rint(values_at(links["latency_us"], link, 0.0) * 1e3), 0).astype(np.int64)
    launch = start - latency
    vertical = known & (values_at(links["vertical"], link, 0) == 1)  # all of its latency is that of launching
    queued = np.where(vertical, 0, np.maximum(latency - _usual_latency(latency[known], vertical[known]), 0))
    late = known & (queued <= AT_ONCE_NS)
    tasks = replay.ReplayedWork(
        start,
        end,
        launch,
        entry=np.where(known, queue.entry_at(launch), np.int32(-1)),
        queued=np.where(known, queued, replay.UNBOUND),
        awaits=np.full(len(rows), -1, row_type(len(rows))),
    )
    aside = _collectives_beside(tasks, kind == COMM, waits)
    held = span_at(copied, launch)  # calls that returned before their copy was done held nothing up
    blocking = known & (kind == COPY) & (held >= 0) & (values_at(copied.end, held, 0) >= end)
    turn, other = np.flatnonzero(~aside & ~blocking), np.flatnonzero(aside)
    main, beside = tasks.take(turn), tasks.take(other)
    main = msgspec.structs.replace(main, awaits=_awaited_collective(main, late[turn], beside.end))
    beside = msgspec.structs.replace(beside, awaits=_task_awaited(main, beside, np.flatnonzero(kind[turn] == COMM)))
    return main, beside, rows[turn]


def _collectives_beside(tasks: replay.ReplayedWork, comm: Array, waits: Spans) -> Array:
    """Which collectives hold nothing up: computation begins while they run, or the host launches it only later."""
    computing = np.flatnonzero(~comm)
    begun = tasks.start[computing]
    after = np.searchsorted(begun, tasks.start, "right")
    within = np.searchsorted(begun, tasks.end, "left") > after
    launched = values_at(tasks.launch[computing], after, 0)
    waited = np.searchsorted(waits.end, launched, "right") > np.searchsorted(waits.end, tasks.start, "right")
    late = (after < len(begun)) & (launched > tasks.end) & ~waited
    return comm & (within | late)


def _usual_latency(latency: Array, vertical: Array) -> int:
    """From the launching call to an idle device; where no task found it idle, the least that was seen."""
    if vertical.any():
        return int(np.median(latency[vertical]))
    return max(int(latency.min(initial=replay.UNBOUND)), 0)


def _task_awaited(work: replay.ReplayedWork, beside: replay.ReplayedWork, collectives: Array) -> Array:
    """Per collective beside computation: the last task launched before it, or -1.

    Where it began as soon as one of the `collectives` of the work ended, and that later, it is that one: they take
    turns.
    """
    order = np.argsort(work.launch, kind="stable")
    at = np.searchsorted(work.launch[order], beside.launch, "left") - 1
    launched = np.where(at >= 0, values_at(order, at, -1), -1)
    order = collectives[np.argsort(work.end[collectives], kind="stable")]
    at = np.searchsorted(work.end[order], beside.start, "right") - 1
    before = np.where(at >= 0, values_at(order, at, -1), -1)
    ended = values_at(work.end, before, -replay.UNBOUND)
    at_once = (before >= 0) & (beside.start - ended <= AT_ONCE_NS)
    later = at_once & ((launched < 0) | (ended > values_at(work.end, launched, 0)))
    return np.where(later, before, launched)


def _awaited_collective(work: replay.ReplayedWork, late: Array, ended: Array) -> Array:
    """Per task: the collective beside computation whose end let it begin, or -1."""
    if not len(ended):
        return work.awaits
    order = np.argsort(ended, kind="stable")
    at = np.searchsorted(ended[order], work.start, "right") - 1
    before = np.append(-replay.UNBOUND, work.reach[:-1])[: len(late)]
    last = ended[order][np.maximum(at, 0)]
    joins = ~late & (at >= 0) & (last > before + PAUSE_NS) & (work.start - last <= AT_ONCE_NS)
    return np.where(joins, order[np.maximum(at, 0)], -1).astype(row_type(len(ended)))


# The host


def _blocked_launches(
    calls: host.Calls, table: Table[HostCall], work: tuple[replay.ReplayedWork, ...], queue_threads: Array
) -> replay.BlockedLaunches | None:
    """When launching calls waited for room in a full queue of the device; None where they never did."""
    launch, begun = (
        np.concatenate([getattr(one, name)[one.queued < replay.UNBOUND] for one in work])
        for name in ("launch", "start")
    )
    launching = calls.take(calls.texts(table.texts("kind")).isin(host.DEVICE_SOFTWARE))
    if not len(launching) or not len(launch):
        return None
    at = np.searchsorted(launching.start, launch + _ROUNDED_NS, "right") - 1
    known = launch <= values_at(launching.end, at, -replay.UNBOUND) + _ROUNDED_NS  # long ones launch as they return
    first = np.full(len(launching), _NEVER)
    np.minimum.at(first, at[known], begun[known])
    launching, first = launching.take(first < _NEVER), first[first < _NEVER]
    waiting = waits_for_room(launching.start, launching.end, first)
    if not len(waiting):
        return None
    queued = launching.take(np.isin(table.at("thread", launching.row), queue_threads)).spans
    held = span_at(queued, waiting.start) >= 0
    return replay.BlockedLaunches(
        Spans(waiting.start[~held], waiting.end[~held]), Spans(waiting.start[held], waiting.end[held])
    )


def _widen_waits(waits: Spans, queue: replay.Queue) -> Spans:
    """Waits from where they really began: before the call itself the main thread waits for the queue to run empty.

    Where the queue did so right before the call, the wait began when the last entry had been handed over.
    """
    if not len(waits) or not len(queue.end):
        return waits
    emptied = np.maximum.accumulate(queue.end)
    last = np.searchsorted(emptied, waits.start, "right") - 1
    waited = (last >= 0) & (waits.start - emptied[last] <= AT_ONCE_NS)
    start = np.where(waited, np.minimum(queue.put[last], waits.start), waits.start)
    return Spans(np.maximum(start, np.append(start[0], waits.end[:-1] + 1)), waits.end)
