# SPDX-License-Identifier: Apache-2.0
"""What holds the host up, by kind, and how much sooner each step would end without it.

Idle time beside a call tells only part of what the call costs: the device may still live on its queue while the host
stands still, and run dry later. So each kind of cost is taken out of what the host did and the rank is replayed.
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec import Struct

from advisor.analysis import host, replay
from advisor.analysis.cells import Cells
from advisor.analysis.completeness import incomplete
from advisor.analysis.device import COMM, COPY, Timeline, timeline
from advisor.analysis.grouping import grouped, row_at
from advisor.analysis.intervals import Spans, cover, holder, joined, union
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, Holdup, Overlap
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts

READS = ("aten::item", "aten::_local_scalar_dense", "aten::nonzero")
"""Framework operators that bring a value to the host."""
ALLOCATIONS = ("aclMallocMem", "aclrtMalloc", "aclrtFree", "aclrtMapMem", "aclrtUnmapMem", "aclrtReleaseMem")
"""Beginnings of the names of calls that take device memory from the driver, or give it back."""

MOST_PAUSES = 2_000
"""Of so many pauses, the longest, it is asked what the host was doing."""

WAITING = ("read", "synchronise", "blocking_copy")
"""Kinds of cost in which the host waits for the device."""
_JOINED_NS = 20_000
"""So soon after a collective begins what waited for it, and so long after its launch what was queued."""
_PAUSE_NS = 5_000
"""One kernel follows another within some µs: only a longer pause shows that the second waited for something."""


def holdups(
    kernels: Table[Kernel],
    calls: Table[HostCall],
    *,
    links: Table[Dispatch] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[Holdup]:
    """One row per rank, step and kind of cost that was seen, and one of kind `host` for all that remains.

    What a kind costs is missing in steps whose list of kernels lacks rows. Where no launches were recorded nothing can
    be replayed: a kind then loses the idle time beside it, and there is no row of kind `host`.
    """
    device = timeline(kernels, collectives, tasks, windows)
    kinds = costs_of(calls)
    parts = [
        _of_rank(rank, device, links, calls, kinds, windows=windows) for rank in np.unique(device.cells.rank).tolist()
    ]
    found = Table.concat(Holdup, parts)
    unknown = incomplete(split, found["rank"], found["step"])
    return found.having(**{name: np.where(unknown, np.nan, found[name]) for name in ("idle_us", "lost_us")})


def costs_of(calls: Table[HostCall]) -> dict[str, Array]:
    """Per kind of cost: whether each row of `host_calls` is such a call."""
    names = calls.texts("name")
    read = calls.texts("kind").isin(["operator"]) & names.isin(READS)
    allocate = calls.texts("kind").isin(host.CANN) & names.hits(name.startswith(ALLOCATIONS) for name in names.names)
    kinds = host.activities(calls)
    return {**kinds, "synchronise": kinds["synchronise"] | read, "read": read, "allocate": allocate}


class _Seen(Struct, frozen=True):
    """Everything of one rank that the replays share."""

    rank: int
    cells: Cells
    own: Array
    """Its cells, in order of time."""
    last: Array
    """Per own cell: the row of the last task of the replay until its end, or -1; of the last cell its very end."""
    replayed: replay.Rank
    table: Table[HostCall]
    calls: host.Calls
    kinds: dict[str, host.Calls]
    free: Spans
    queue_threads: Array


def _of_rank(
    rank: int,
    device: Timeline,
    links: Table[Dispatch] | None,
    table: Table[HostCall],
    kinds: dict[str, Array],
    *,
    windows: Table[StepWindow] | None,
) -> Table[Holdup]:
    seen = _seen(rank, device, Table.empty(Dispatch) if links is None else links, table, kinds, windows=windows)
    if links is None or not len(links):
        alone = [_rows(seen, name) for name in seen.kinds]
        return Table.concat(Holdup, [r.having(lost_us=r["idle_us"]).take(r["calls"] > 0) for r in alone])
    reliefs = {name: _relief(seen, name) for name in seen.kinds}
    plain = replay.gains(seen.replayed, replay.Relief(Spans.none(), Spans.none()), waits=seen.replayed.waits)
    lost = {name: _lost(seen, *reliefs[name], plain) for name in seen.kinds if name != "synchronise"}
    same = _equal(reliefs["read"][0].main, reliefs["synchronise"][0].main)  # every wait is a read
    lost["synchronise"] = lost["read"] if same else _lost(seen, *reliefs["synchronise"], plain)
    rows = [_rows(seen, name).having(lost_us=lost[name]) for name in seen.kinds]
    return Table.concat(Holdup, [*(part.take(part["calls"] > 0) for part in rows), _others(seen, reliefs)])


def _seen(
    rank: int,
    device: Timeline,
    links: Table[Dispatch],
    table: Table[HostCall],
    kinds: dict[str, Array],
    *,
    windows: Table[StepWindow] | None,
) -> _Seen:
    calls = host.calls_of(table, rank)
    own_kinds = {name: calls.take(mask[calls.row]) for name, mask in kinds.items()}
    queue, queue_threads = _queue(table, calls)
    waits = _widened(joined([own_kinds[name].spans for name in WAITING]), queue)
    own = np.flatnonzero(device.cells.rank == rank)
    own = own[np.argsort(device.cells.begin[own], kind="stable")]
    work, beside, cell = _work(rank, device, links, queue=queue, copied=own_kinds["blocking_copy"].spans, waits=waits)
    begin, end = _window(rank, work, windows, device.cells.step[own])
    last = np.full(len(device.cells), -1)
    last[cell] = np.arange(len(cell))  # of several the last
    last[own[-1:]] = len(cell)  # the end of the last step
    free = _free(device, rank)
    return _Seen(
        rank=rank,
        cells=device.cells,
        own=own,
        last=np.maximum.accumulate(last[own]),
        replayed=replay.Rank(begin, _ended(work, end), beside, queue, waits),
        table=table,
        calls=calls,
        kinds=own_kinds,
        free=free,
        queue_threads=queue_threads,
    )


def _free(device: Timeline, rank: int) -> Spans:
    cell, start, end = device.on_clock(device.free)
    here = device.cells.rank[cell] == rank
    return union(start[here], end[here])


def _window(rank: int, work: replay.Work, windows: Table[StepWindow] | None, steps: Array) -> tuple[int, int]:
    """When the host began the first of these steps and ended the last; without its windows, when the device did."""
    first, last = (int(work.start.min()), int(work.end.max())) if len(work.start) else (0, 0)
    if windows is None:
        return first, last
    own = (windows["rank"] == rank) & np.isin(windows["step"], steps)
    opened, closed = windows["start_ns"][own], windows["end_ns"][own]
    opened, closed = opened[opened != MISSING], closed[closed != MISSING]
    return min([first, *opened.tolist()]), max(closed.tolist(), default=last)


def _ended(work: replay.Work, end: int) -> replay.Work:
    """The work, and after it an empty task that the host launches as the last step ends: what comes last counts too."""
    reach = int(work.end.max()) if len(work.end) else end
    start = max(reach, end)
    added = replay.Work(*(np.array([value]) for value in (start, start, end, -1, start - end, -1)))
    return replay.Work(*(np.append(getattr(work, name), getattr(added, name)) for name in work.__struct_fields__))


def _queue(table: Table[HostCall], calls: host.Calls) -> tuple[replay.Queue, Array]:
    """What the second thread took from the queue, and which threads do that."""
    taken = calls.take(table.texts("kind").isin(["dequeue"])[calls.row])
    put = host.partners(table, taken.row)
    known = put >= 0
    moment = np.where(known, table["end_ns"][put], MISSING)
    moment = np.where((moment == MISSING) | (moment > taken.start), taken.start, moment)
    return replay.Queue(taken.start, taken.end, moment), np.unique(table["thread"][taken.row])


# The device


def _work(
    rank: int, device: Timeline, links: Table[Dispatch], *, queue: replay.Queue, copied: Spans, waits: Spans
) -> tuple[replay.Work, replay.Work, Array]:
    """What the device did in turn, the collectives beside it, and the cell of each task of the former."""
    work = device.work
    rows = np.flatnonzero(device.cells.rank[work.cell] == rank)
    rows = rows[np.lexsort((work.end[rows], work.start[rows]))]
    start, end, kind = work.start[rows], work.end[rows], work.kind[rows]
    link = row_at(links["rank"], links["start_ns"], np.full(len(rows), rank), start)
    known = link >= 0
    latency = np.where(known, np.rint(np.append(links["latency_us"], 0.0)[link] * 1e3), 0).astype(np.int64)
    launch = start - latency
    queued = np.maximum(latency - _usual_latency(latency[known], links["vertical"][link[known]] == 1), 0)
    late = known & (queued <= _JOINED_NS)
    tasks = replay.Work(
        start,
        end,
        launch,
        entry=np.where(known, _entry(queue, launch), -1),
        queued=np.where(known, queued, replay.UNBOUND),
        awaits=np.full(len(rows), -1),
    )
    aside = _aside(tasks, kind == COMM, waits)
    blocking = known & (kind == COPY) & (holder(copied, launch) >= 0)
    turn, other = np.flatnonzero(~aside & ~blocking), np.flatnonzero(aside)
    main, beside = tasks.take(turn), tasks.take(other)
    main = msgspec.structs.replace(main, awaits=_awaited(main, late[turn], beside.end))
    beside = msgspec.structs.replace(beside, awaits=_followed(main, beside))
    return main, beside, work.cell[rows][turn]


def _aside(tasks: replay.Work, comm: Array, waits: Spans) -> Array:
    """Which collectives hold nothing up: computation begins while they run, or the host launches it only later."""
    computing = np.flatnonzero(~comm)
    begun = tasks.start[computing]
    after = np.searchsorted(begun, tasks.start, "right")
    within = np.searchsorted(begun, tasks.end, "left") > after
    launched = np.append(tasks.launch[computing], 0)[after]
    waited = np.searchsorted(waits.end, launched, "right") > np.searchsorted(waits.end, tasks.start, "right")
    late = (after < len(begun)) & (launched > tasks.end) & ~waited
    return comm & (within | late)


def _entry(queue: replay.Queue, moment: Array) -> Array:
    """The entry of the queue in which each moment lies, or -1."""
    at = np.searchsorted(queue.start, moment, "right") - 1
    return np.where((at >= 0) & (moment < np.append(queue.end, 0)[at]), at, -1)


def _usual_latency(latency: Array, vertical: Array) -> int:
    """From the launching call to an idle device."""
    chosen = latency[vertical] if vertical.any() else latency
    return int(np.median(chosen)) if len(chosen) else 0


def _followed(work: replay.Work, beside: replay.Work) -> Array:
    """Per collective beside computation: the last task launched before it."""
    order = np.argsort(work.launch, kind="stable")
    at = np.searchsorted(work.launch[order], beside.launch, "left") - 1
    return np.where(at >= 0, np.append(order, -1)[at], -1)


def _awaited(work: replay.Work, late: Array, ended: Array) -> Array:
    """Per task: the collective beside computation whose end let it begin, or -1."""
    if not len(ended):
        return work.awaits
    order = np.argsort(ended, kind="stable")
    at = np.searchsorted(ended[order], work.start, "right") - 1
    before = np.append(-replay.UNBOUND, work.reach[:-1])[: len(late)]
    last = ended[order][np.maximum(at, 0)]
    joins = ~late & (at >= 0) & (last > before + _PAUSE_NS) & (work.start - last <= _JOINED_NS)
    return np.where(joins, order[np.maximum(at, 0)], -1)


# The host


def _widened(waits: Spans, queue: replay.Queue) -> Spans:
    """Waits from where they really began: before the call itself the main thread waits for the queue to run empty.

    Where the queue did so right before the call, the wait began when the last entry had been handed over.
    """
    if not len(waits) or not len(queue.end):
        return waits
    emptied = np.maximum.accumulate(queue.end)
    last = np.searchsorted(emptied, waits.start, "right") - 1
    waited = (last >= 0) & (waits.start - emptied[last] <= _JOINED_NS)
    start = np.where(waited, np.minimum(queue.put[last], waits.start), waits.start)
    return Spans(np.maximum(start, np.append(start[0], waits.end[:-1] + 1)), waits.end)


def _relief(seen: _Seen, name: str) -> tuple[replay.Relief, Spans]:
    """The host time of one kind, on either thread, and the waits that stay without it."""
    calls, waits = seen.kinds[name], seen.replayed.waits
    if name in WAITING:
        calls = calls.take(holder(_last_of_steps(seen), calls.end - 1) < 0)
    on_queue = np.isin(seen.table["thread"][calls.row], seen.queue_threads)
    main, queue = calls.take(~on_queue).spans, calls.take(on_queue).spans
    if name in WAITING:
        gone = holder(main, waits.end - 1) >= 0
        main = joined([main, Spans(waits.start[gone], waits.end[gone])])
        waits = Spans(waits.start[~gone], waits.end[~gone])
    return replay.Relief(main, queue), waits


def _last_of_steps(seen: _Seen) -> Spans:
    """The last wait of each step, and those outside of every step.

    A job reads its loss, or the tokens it made, once per step; that is no fault.
    """
    waits = seen.replayed.waits
    cell = seen.cells.on_host(np.full(len(waits), seen.rank), waits.end - 1)
    last = np.append(cell[1:] != cell[:-1], True)[: len(cell)] | (cell < 0)
    return Spans(waits.start[last], waits.end[last])


def _lost(seen: _Seen, relief: replay.Relief, waits: Spans, plain: Array) -> Array:
    """Per own cell: by how much it would be shorter, µs, set against a replay that changes nothing."""
    if not len(relief.main) and not len(relief.queue):
        return np.zeros(len(seen.own))
    gain = replay.gains(seen.replayed, relief, waits=waits)
    return _per_cell(seen, gain - plain) / 1e3


def _equal(one: Spans, other: Spans) -> bool:
    return np.array_equal(one.start, other.start) and np.array_equal(one.end, other.end)


def _per_cell(seen: _Seen, gain: Array) -> Array:
    return np.diff(np.append(0, np.append(gain, 0)[seen.last]))


def _others(seen: _Seen, reliefs: dict[str, tuple[replay.Relief, Spans]]) -> Table[Holdup]:
    """What is lost to all other work of the host: what remains when the kinds are gone, and it only kept up."""
    main = joined([relief.main for relief, _ in reliefs.values()])
    queue = joined([relief.queue for relief, _ in reliefs.values()])
    waits = seen.replayed.waits
    left = np.ones(len(waits), bool)
    for name in WAITING:
        left &= holder(reliefs[name][0].main, waits.end - 1) < 0
    waits = Spans(waits.start[left], waits.end[left])
    gone = replay.gains(seen.replayed, replay.Relief(main, queue), waits=waits)
    kept = replay.gains(seen.replayed, replay.Relief(main, queue, keeps_up=True), waits=waits)
    return _late(seen, np.diff(np.append(0, kept - gone)), _per_cell(seen, kept - gone) / 1e3)


def _late(seen: _Seen, gained: Array, lost: Array) -> Table[Holdup]:
    """By step and call: the tasks that began late for a host that did not keep up; what it lost, by their pauses."""
    idle, count = seen.replayed.work.idle(seen.replayed.begin), len(seen.own)
    late = np.flatnonzero(gained[:-1] > _PAUSE_NS)
    of = np.searchsorted(seen.last, late)  # the last tasks of the cells, in order
    call = _doing(seen, late, idle)
    groups = grouped(of, call)
    paused, cell = groups.sums(idle[late].astype(np.float64)), of[groups.first]
    share = paused / np.maximum(np.bincount(cell, weights=paused, minlength=count), 1)[cell]
    bare = np.setdiff1d(np.arange(count), cell)  # steps without such a task
    none = np.zeros(len(bare))
    return Table.build(
        Holdup,
        rank=seen.rank,
        step=seen.cells.step[seen.own][np.append(cell, bare)],
        cause="host",
        call=Texts(np.append(call[groups.first], none - 1).astype(np.int32), seen.table.texts("name").names),
        calls=np.append(groups.sizes, none),
        longest_us=np.append(groups.largest(idle[late] / 1e3), none),
        idle_us=np.append(paused / 1e3, none),
        lost_us=np.append(lost[cell] * share, lost[bare]),
    )


def _doing(seen: _Seen, late: Array, idle: Array) -> Array:
    """Per pause before a task, the longest ones: the name of the call of the framework that filled it, or -1."""
    longest = np.argsort(-idle[late], kind="stable")[:MOST_PAUSES]
    end = seen.replayed.work.start[late[longest]]
    own = seen.calls.take(seen.table.texts("kind").isin(host.FRAMEWORK)[seen.calls.row])
    row = host.covering_on_any(seen.table, own, end - idle[late[longest]], end)
    call = np.full(len(late), -1)
    call[longest] = np.append(seen.table.texts("name").codes, -1)[row]
    return call


def _most(names: Texts, of: Array, weight: Array, count: int) -> Texts:
    """Per group: the name with most weight."""
    groups = grouped(of, names)
    order = np.argsort(np.bincount(groups.of, weights=weight, minlength=len(groups)), kind="stable")
    best = np.full(count, -1)
    best[of[groups.first[order]]] = groups.first[order]
    return Texts(np.append(names.codes, -1)[best].astype(np.int32), names.names)


def _rows(seen: _Seen, name: str) -> Table[Holdup]:
    """One kind of cost by step; nested calls count once."""
    calls, spans = seen.kinds[name], seen.kinds[name].spans
    place = np.full(len(seen.cells) + 1, -1)
    place[seen.own] = np.arange(len(seen.own))
    owner = place[seen.cells.on_host(np.full(len(spans), seen.rank), spans.start)]
    of = owner[holder(spans, calls.start)]
    calls, of = calls.take(of >= 0), of[of >= 0]
    spans, owner = Spans(spans.start[owner >= 0], spans.end[owner >= 0]), owner[owner >= 0]
    count = len(seen.own)
    longest = np.zeros(count, np.int64)
    np.maximum.at(longest, owner, spans.lengths)
    return Table.build(
        Holdup,
        rank=seen.rank,
        step=seen.cells.step[seen.own],
        cause=name,
        call=_most(seen.table.texts("name").take(calls.row), of, calls.end - calls.start, count),
        calls=np.bincount(owner, minlength=count).astype(np.float64),
        host_us=np.bincount(owner, weights=spans.lengths, minlength=count) / 1e3,
        longest_us=longest / 1e3,
        idle_us=np.bincount(owner, weights=cover(seen.free, spans.start, spans.end), minlength=count) / 1e3,
    )
