# SPDX-License-Identifier: Apache-2.0
"""Why the device was idle: every free moment of a step charged to exactly one cause, so that the charges add up.

A *stretch* is a time without kernels, collectives and copies; it is ended by one of them, and whether the host issued
that one too late decides the whole stretch (see `dispatch`). Where it did, the host is asked what it was doing.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, structs

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import Spans, intersect, span_at, subtract
from advisor.analysis.host import host
from advisor.analysis.host.calls_in_turn import CallsInTurn, calls_in_turn
from advisor.analysis.launches.dispatch import clock_tolerances, names_of
from advisor.analysis.steps.completeness import only_whole
from advisor.analysis.steps.device import COMM, COPY, DeviceTimeline, build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, Gap, Overlap
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts, ascending, values_at

CAUSES = (
    "python",
    "data_loader",
    "synchronise",
    "blocking_copy",
    "compile",
    "gc",
    "start_up",
    "dequeue",
    "host_late",
    "graph",
    "wait",
    "copy",
    "comm_setup",
    "step_boundary",
    "unknown",
)
HOST_CAUSES = CAUSES[:9]
"""Causes that lie on the host."""

_CODE = {cause: code for code, cause in enumerate(CAUSES)}
_PLAIN, _COPIED, _WAITED = 0, 1, 2


class _Pieces(Struct, frozen=True):
    """Parts of the free time, by the clock, each wholly inside or outside copies and waits."""

    cell: Array
    rank: Array
    start: Array
    end: Array
    kind: Array
    dry: Array
    """When the stretch that holds the piece began."""
    after: Array
    """Row of the work that ended the stretch, or -1."""
    late: Array
    """Whether the host issued that work only after the device had run dry."""
    launched: Array
    """When its launching call began; missing where not linked."""
    tolerance: Array
    in_graph: Array
    """Whether one call launched the work before the piece and the work that ended it."""

    def __len__(self) -> int:
        return len(self.cell)


def gaps(
    kernels: Table[Kernel],
    *,
    links: Table[Dispatch] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    calls: Table[HostCall] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[Gap]:
    """Every idle interval of every step whose kernels are all listed, with its cause; by rank, step and time.

    Raises:
        FactMissing: No step has its kernels all listed.
    """
    device = build_timeline(kernels, collectives, tasks, windows)
    free = _free_of(device, only_whole(device, split))
    pieces = _free_pieces(device, free, Table.empty(Dispatch) if links is None else links)
    if calls is not None:
        pieces = structs.replace(pieces, late=pieces.late | _ended_by_updates(pieces, calls))
    cause = _device_causes(device, pieces)
    call = np.full(len(pieces), -1)
    if calls is not None:
        _blame_copies(device, pieces, tasks, calls, cause=cause, call=call)
        _blame_hosts(pieces, calls, cause=cause, call=call)
    if links is None:  # without launches nobody can say that the host was not late
        cause[cause == _CODE["unknown"]] = -1
    called = Texts.constant(None, 0) if calls is None else calls.texts("name")
    ended = names_of(device, kernels, collectives)
    return Table.build(
        Gap,
        rank=pieces.rank,
        step=device.cells.step[pieces.cell],
        start_ns=pieces.start,
        duration_us=(pieces.end - pieces.start) / 1e3,
        cause=Texts(cause.astype(np.int32), CAUSES),
        host=np.where(cause < 0, -1, cause < len(HOST_CAUSES)).astype(np.int8),
        call=called.at(call),
        next_op=ended.at(pieces.after),
    )


def _free_of(device: DeviceTimeline, cells: Array) -> Spans:
    """The free time of the cells of a mask."""
    free = device.free
    kept = cells[device.axis.owner(free.start)]
    return Spans(free.start[kept], free.end[kept])


def _free_pieces(device: DeviceTimeline, free: Spans, links: Table[Dispatch]) -> _Pieces:
    stretches = subtract(free, device.copies)
    sets = (subtract(stretches, device.waits), intersect(free, device.copies), intersect(stretches, device.waits))
    order = np.argsort(np.concatenate([s.start for s in sets]), kind="stable")
    spans = Spans(*(np.concatenate([getattr(s, side) for s in sets])[order] for side in ("start", "end")))
    kind = np.repeat([_PLAIN, _COPIED, _WAITED], [len(s) for s in sets])[order]
    cell, start, end = device.on_clock(spans)
    rank = device.cells.rank[cell]
    stretch = span_at(stretches, spans.start)
    inside = stretch >= 0
    begins, ends = _across_steps(device, stretches)
    dry, wet = (np.where(inside, values_at(side, stretch, 0), own) for side, own in ((begins, start), (ends, end)))
    work = device.work
    work_rank = device.cells.rank[work.cell]
    after = row_at(work_rank, work.start, rank, wet)
    link = row_at(links["rank"], links["start_ns"], rank, wet)
    latency = np.rint(links["latency_us"] * 1e3).astype(np.int64)
    in_graph = span_at(device.launched_at_once, spans.start) >= 0
    return _Pieces(
        cell,
        rank,
        start,
        end,
        kind,
        dry=dry,
        after=after,
        late=inside & ~in_graph & (values_at(links["vertical"], link, 0) == 1),
        launched=np.where(link >= 0, wet - values_at(latency, link, 0), MISSING),
        tolerance=clock_tolerances(links["rank"], latency, rank),
        in_graph=in_graph,
    )


def _ended_by_updates(pieces: _Pieces, calls: Table[HostCall]) -> Array:
    """Per piece: whether the host brings captured tasks of a graph up to date in it, which the graph waits for."""
    updated = calls.take(np.flatnonzero(host.updates_graph(calls)))
    updated = updated.take(updated["end_ns"] != MISSING)
    found = np.zeros(len(pieces), bool)
    for rank in np.unique(updated["rank"]).tolist():
        mine = (pieces.rank == rank) & (pieces.kind != _COPIED)
        ends = ascending(updated["end_ns"][updated["rank"] == rank])
        within = np.searchsorted(ends, pieces.end[mine], "right") - np.searchsorted(ends, pieces.start[mine], "right")
        found[mine] = within > 0
    return found


def _across_steps(device: DeviceTimeline, stretches: Spans) -> tuple[Array, Array]:
    """Begin and end of the stretch that each of these is of, by the clock: one that goes on in the next step is one."""
    cell, begins, ends = device.on_clock(stretches)
    rank = device.cells.rank[cell]
    goes_on = (begins[1:] == ends[:-1]) & (rank[1:] == rank[:-1])
    first, last = (np.flatnonzero(~edge) for edge in (np.append(False, goes_on), np.append(goes_on, False)))
    whole = np.cumsum(~np.append(False, goes_on)[: len(cell)]) - 1
    return begins[first[: len(cell)]][whole], ends[last[: len(cell)]][whole]


def _device_causes(device: DeviceTimeline, pieces: _Pieces) -> Array:
    """The cause of each piece as far as the device and the links tell it."""
    work = device.work
    kind = np.append(work.kind, -1)
    starting = (kind[pieces.after] == COMM) & (pieces.launched != MISSING)  # else the host may have been late
    leaves = (pieces.after >= 0) & (values_at(work.cell, pieces.after, -1) != pieces.cell)
    return np.select(
        [pieces.kind == _COPIED, pieces.late, pieces.kind == _WAITED, pieces.in_graph, starting, leaves],
        [_CODE[cause] for cause in ("copy", "host_late", "wait", "graph", "comm_setup", "step_boundary")],
        _CODE["unknown"],
    )


def _blame_copies(
    device: DeviceTimeline,
    pieces: _Pieces,
    tasks: Table[DeviceTask] | None,
    calls: Table[HostCall],
    *,
    cause: Array,
    call: Array,
) -> None:
    """Charges copies in which the host waits to the host."""
    blocking = host.blocking_copies(calls)
    blocking = blocking[calls.at("connection", blocking) != MISSING]
    copied = np.flatnonzero(pieces.kind == _COPIED)
    if tasks is None or not len(blocking) or not len(copied):
        return
    work = device.work
    copies = np.flatnonzero(work.kind == COPY)
    keys = device.axis.shift[work.cell[copies]] + work.start[copies]
    copies = copies[np.argsort(keys, kind="stable")]
    begun = np.searchsorted(ascending(keys), device.axis.shift[pieces.cell[copied]] + pieces.start[copied], "right") - 1
    task = work.row[copies[np.maximum(begun, 0)]]
    row = row_at(
        calls["rank"][blocking], calls.at("connection", blocking), tasks["rank"][task], tasks["connection"][task]
    )
    held = (begun >= 0) & (row >= 0)
    cause[copied[held]] = _CODE["blocking_copy"]
    call[copied[held]] = blocking[row[held]]


def _blame_hosts(pieces: _Pieces, calls: Table[HostCall], *, cause: Array, call: Array) -> None:
    """What the host of each rank was doing in the pieces it is to blame for."""
    late = np.flatnonzero(pieces.late)
    launched, dry = pieces.launched[late], pieces.dry[late]
    known = launched != MISSING
    first = np.minimum(dry - pieces.tolerance[late], np.where(known, launched, dry))
    last = np.maximum(pieces.end[late], np.where(known, launched, dry))
    for turn in calls_in_turn(calls, pieces.rank[late], first, last):
        _blame_calls(
            _moved(pieces, late[turn.asked], turn.shift), late[turn.asked], calls, turn, cause=cause, call=call
        )


def _moved(pieces: _Pieces, rows: Array, by: Array) -> _Pieces:
    """The same with moments of some of them moved."""
    if not by.any():
        return pieces
    shift = np.zeros(len(pieces), np.int64)
    shift[rows] = by
    moved = {name: getattr(pieces, name) + shift for name in ("start", "end", "dry")}
    launched = np.where(pieces.launched == MISSING, MISSING, pieces.launched + shift)
    return structs.replace(pieces, **moved, launched=launched)


def _blame_calls(
    pieces: _Pieces, late: Array, table: Table[HostCall], turn: CallsInTurn, *, cause: Array, call: Array
) -> None:
    """What these calls were doing in these pieces, both in the time in which the ranks follow each other."""
    calls, kinds = turn.calls, host.calls_by_activity(table).by_mark(turn.calls)
    late = _blame_activities(pieces, late, kinds, cause, call)
    late = _blame_waiting(pieces, late, kinds, cause, call)
    late = _blame_queue(pieces, late, table, calls, cause=cause, call=call)
    framework = calls.texts(table.texts("kind")).isin(host.FRAMEWORK)
    touched = calls.are_touching(pieces.start[late], pieces.end[late])
    framework &= touched
    busy = host.is_mostly_covered(calls.spans_of(framework), pieces.start[late], pieces.end[late])
    cause[late[busy]] = _CODE["python"]
    start, end = pieces.start[late[busy]], pieces.end[late[busy]]
    call[late[busy]] = host.covering_on_any(table, calls, start, end, among=framework)
    late = late[~busy]
    launching = calls.texts(table.texts("kind")).isin(host.LAUNCHING) & touched
    call[late] = host.covering_on_any(table, calls, pieces.start[late], pieces.end[late], among=launching)


def _blame_activities(pieces: _Pieces, late: Array, kinds: dict[str, host.Calls], cause: Array, call: Array) -> Array:
    """Charges pieces that one activity fills for the most part; gives the others."""
    for name in host.SPECIFIC:
        start, end = pieces.start[late], pieces.end[late]
        filled = host.is_mostly_covered(kinds[name].spans, start, end)
        cause[late[filled]] = _CODE[name]
        call[late[filled]] = host.covering_on_thread(kinds[name], start[filled], end[filled])
        late = late[~filled]
    return late


def _blame_waiting(pieces: _Pieces, late: Array, kinds: dict[str, host.Calls], cause: Array, call: Array) -> Array:
    """Charges pieces that begin while the host waits for the device: it had let the queue run empty on purpose."""
    for name in ("blocking_copy", "synchronise"):
        row = host.running_at(kinds[name], pieces.dry[late], pieces.tolerance[late])
        cause[late[row >= 0]] = _CODE[name]
        call[late[row >= 0]] = row[row >= 0]
        late = late[row < 0]
    return late


def _blame_queue(
    pieces: _Pieces, late: Array, table: Table[HostCall], calls: host.Calls, *, cause: Array, call: Array
) -> Array:
    """Charges pieces whose work stood in the task queue for most of the time since the device ran dry, and was launched
    too late, to the call that launched meanwhile, else to the taking of the work."""
    dequeues = calls.take(calls.texts(table.texts("kind")).isin(["dequeue"]))
    launched = pieces.launched[late]
    at = np.searchsorted(dequeues.start, launched, "right") - 1
    inside = (at >= 0) & (launched < values_at(dequeues.end, at, 0))
    taken = values_at(dequeues.row, np.where(inside, at, -1), -1)
    put = np.where(taken >= 0, host.enqueue_of_dequeue(table, taken), -1)
    shift = values_at(dequeues.start, np.where(inside, at, -1), 0) - table["start_ns"][taken]
    middle = pieces.dry[late] + (pieces.end[late] - pieces.dry[late]) // 2
    early: Array = (put >= 0) & (table.at("end_ns", put) + shift <= middle - pieces.tolerance[late])
    cause[late[early]] = _CODE["dequeue"]
    start, end = pieces.start[late[early]], pieces.end[late[early]]
    launching = calls.texts(table.texts("kind")).isin(host.DEVICE_SOFTWARE) & calls.are_touching(start, end)
    filling = host.covering_on_any(table, calls, start, end, among=launching)
    call[late[early]] = np.where(filling >= 0, filling, taken[early])
    return late[~early]
