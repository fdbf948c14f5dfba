# SPDX-License-Identifier: Apache-2.0
"""What holds the host up, by kind, and how much sooner each step would end without it.

Idle time beside a call tells only part of what the call costs: the device may still live on its queue while the host
stands still, and run dry later. So each kind of cost is taken out of what the host did and the rank is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, row_at, row_of_key
from advisor.analysis.arrays.intervals import Spans, covered_ns, span_at, union_of_sets
from advisor.analysis.host import host
from advisor.analysis.host.cpu_operators import possible_cpu_operators
from advisor.analysis.launches.copy_directions import copied_in_calls
from advisor.analysis.launches.fetch_work import own_work_in_fetches
from advisor.analysis.launches.handovers import calls_operators, with_queue
from advisor.analysis.launches.long_pauses import FEW_READS, LONGEST_LAUNCH_US, calls_around, waits_before_long_pauses
from advisor.analysis.launches.pause_calls import LatePauses, calls_in_pauses, ends_of_pauses
from advisor.analysis.launches.program_rounds import round_borders
from advisor.analysis.replay import replay
from advisor.analysis.replay.joined_ranks import JoinedRanks, join_ranks_in_time, joined_in_parts
from advisor.analysis.replay.replayed_rank import PAUSE_NS, WAITING, ReplayedRank, replayed_rank
from advisor.analysis.replay.shorter_cells import ShorterCells
from advisor.analysis.steps.cells import Cells
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import COPY, DeviceTimeline, build_timeline
from advisor.analysis.steps.step_ends import last_waits_of_steps
from advisor.analysis.steps.step_levels import FEW
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, EngineBorder, LaunchDelay, Overlap
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts, ascending, values_at

ENDING_IN_WAITS = (*WAITING, "allocate", "cpu_operator")
"""Kinds in which the host waits for the device: what they cost is the restart after them too."""
_OF_DATA = ("data_loader", "synchronise", "blocking_copy")
"""Kinds by which a step gets its data: before its first work there is nothing else on the device to wait for."""
_STEPS_TO_COMPARE = 3
"""With two steps there is no telling which is the usual one."""
_LIKE_MOST = 0.25
"""Own: a step that loses less than a quarter of what the worst one does is not hit in the same way."""
_NEARLY_ALL = 0.8
"""Own: if at most half of the steps hold four fifths of it, it is not a cost of every step."""


def launch_delays(
    kernels: Table[Kernel],
    calls: Table[HostCall],
    *,
    links: Table[Dispatch] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    borders: Table[EngineBorder] | None = None,
) -> Table[LaunchDelay]:
    """One row per rank, step and kind of cost that was seen, and one of kind `host` for all that remains.

    Where operators may compute on the CPU, and directions of copies were not recorded, their row has no cost.
    What a kind costs is missing in steps whose list of kernels lacks rows. Where no launches were recorded nothing can
    be replayed: a kind then loses the idle time beside it, and there is no row of kind `host`.
    """
    device = build_timeline(kernels, collectives, tasks, windows)
    ranks = np.unique(device.cells.rank).tolist()
    idle_us = np.maximum(device.window.lengths / 1e3 - device.per_cell(device.compute), 0.0)
    room_us = {rank: float(idle_us[device.cells.rank == rank].sum()) for rank in ranks}
    launched = Table.empty(Dispatch) if links is None else links
    replayed = (_prepared_rank(rank, device, launched, calls, windows=windows, borders=borders) for rank in ranks)
    parts = (
        [_of_ranks(seen, device, room_us) for seen in joined_in_parts(replayed)]
        if len(launched)
        else [_beside_idle_time(seen, device, room_us[seen.rank]) for seen in replayed]
    )
    told = Table.concat(LaunchDelay, parts)
    found = _beside_other_steps(
        Table.concat(LaunchDelay, [told, *_untold_cpu_operators(told, device, launched, calls)])
    )
    unknown = lacks_kernel_rows(split, found["rank"], found["step"])
    measured = ("idle_us", "lost_us", "restart_us")
    found = found.having(**{name: np.where(unknown, np.nan, found[name]) for name in measured})
    known, steps = np.unique(device.cells.rank, return_counts=True)
    steps_of_rank = steps[np.searchsorted(known, found["rank"])]
    return _with_lossy_steps(_beside_other_rows(found, steps_of_rank), device.cells, steps_of_rank)


def _untold_cpu_operators(
    told: Table[LaunchDelay], device: DeviceTimeline, links: Table[Dispatch], calls: Table[HostCall]
) -> Iterator[Table[LaunchDelay]]:
    """A row without a cost per step that may have operators on the CPU, for it was not recorded whether what was copied
    before them went to the host; of ranks of which none is known."""
    known = told["rank"][told.texts("cause").isin(["cpu_operator"])]
    for rank in np.setdiff1d(device.cells.rank, known).tolist():
        begun = possible_cpu_operators(calls, rank, device, links).start
        cell = device.cells.on_host(np.full(len(begun), rank), begun)
        steps = np.unique(device.cells.step[cell[cell >= 0]])
        yield Table.build(LaunchDelay, rank=rank, step=steps, cause=Texts.constant("cpu_operator", len(steps)))


def _with_lossy_steps(found: Table[LaunchDelay], cells: Cells, steps_of_rank: Array) -> Table[LaunchDelay]:
    """With the number of steps in which nearly all that a kind loses lies, where these are half of them or fewer, and
    the first of them where they are the last ones.

    Of kind `host` single pauses are left out: a long one of one step is a stall, and says nothing of what the host does
    beside it. Where most of the steps have one, what is left of the loss without them says nothing of the steps either.
    """
    steps = group_by(found["rank"], found.texts("cause"), found["step"])
    idle = np.where(found["idle_us"] > 0, found["idle_us"], 1.0)
    single = np.where(found.texts("cause").isin(["host"]), np.clip(found["longest_us"] / idle, 0.0, 1.0), 0.0)
    lost, every = steps.sums(found["lost_us"] * (1 - single)), steps.sums(found["lost_us"])
    kinds = group_by(found["rank"][steps.first], found.texts("cause").take(steps.first))
    hit = (every > 0) & (every > _LIKE_MOST * kinds.largest(every)[kinds.of])
    of_many = (kinds.sums(hit.astype(np.float64))[kinds.of] > steps_of_rank[steps.first] / 2)[steps.of]
    lossy = (lost > 0) & (lost > _LIKE_MOST * kinds.largest(lost)[kinds.of])
    count = kinds.sums(lossy.astype(np.float64))[kinds.of]
    nearly_all = kinds.sums(np.where(lossy, lost, 0.0)) > _NEARLY_ALL * kinds.sums(lost)
    count, nearly_all = count[steps.of], nearly_all[kinds.of][steps.of]
    few = (steps_of_rank >= _STEPS_TO_COMPARE) & (count <= steps_of_rank / 2) & nearly_all & ~of_many
    first = kinds.smallest(np.where(lossy, found["step"][steps.first], np.nan))[kinds.of][steps.of]
    lasting = few & (count >= FEW) & (count == _steps_from(cells, found["rank"], first))
    return found.having(lossy_steps=np.where(few, count, np.nan), lossy_since=np.where(lasting, first, np.nan))


def _steps_from(cells: Cells, rank: Array, first: Array) -> Array:
    """Per row: how many steps its rank has from a step on, that one included; 0 where it is none of them."""
    step = np.where(np.isnan(first), MISSING, np.nan_to_num(first).astype(np.int64))
    at = row_at(cells.rank, cells.step, rank, step)
    return np.where(at >= 0, np.searchsorted(cells.rank, rank, "right") - at, 0)


def _beside_other_rows(found: Table[LaunchDelay], steps_of_rank: Array) -> Table[LaunchDelay]:
    """With the idle time of all rows of a call; one long pause of one of several steps makes no call the busiest."""
    comparable = steps_of_rank >= _STEPS_TO_COMPARE
    beyond = np.where(comparable, np.nan_to_num(np.fmax(found["longest_us"] - found["usual_longest_us"], 0.0)), 0.0)
    usual_us = np.fmax(np.nan_to_num(found["idle_us"]) - beyond, 0.0)
    alike = group_by(found["rank"], found.texts("cause"), found.texts("call"))
    return found.having(call_idle_us=alike.sums(usual_us)[alike.of])


def _within_room(lost_us: Array, room_us: float) -> Array:
    """Per own cell: what a kind loses, and in all of them together no more than there is room for."""
    total = lost_us.sum()
    return lost_us * (room_us / total) if total > room_us else lost_us


def _beside_other_steps(found: Table[LaunchDelay]) -> Table[LaunchDelay]:
    """With the longest of the same kind in the middle one of the other steps."""
    steps = group_by(found["rank"], found.texts("cause"), found["step"])
    first = found.take(steps.first)
    longest = np.nan_to_num(steps.largest(found["longest_us"]))
    usual = group_by(first["rank"], first.texts("cause")).medians_of_others(longest)
    return found.having(usual_longest_us=usual[steps.of])


def _prepared_rank(
    rank: int,
    device: DeviceTimeline,
    links: Table[Dispatch],
    table: Table[HostCall],
    *,
    windows: Table[StepWindow] | None,
    borders: Table[EngineBorder] | None,
) -> ReplayedRank:
    seen = replayed_rank(rank, device, links, table, windows=windows)
    rounds = round_borders(rank, seen.cells, table, links, borders)
    return _prepared(msgspec.structs.replace(seen, engine_ns=rounds))


def _kinds_met(seen: ReplayedRank) -> list[str]:
    return [name for name, calls in seen.kinds.items() if len(calls)]


def _beside_idle_time(seen: ReplayedRank, device: DeviceTimeline, room_us: float) -> Table[LaunchDelay]:
    """What a rank loses of which nothing can be replayed: the idle time beside each kind."""
    alone = [_with_insides(_delays_of_kind(seen, name), name, seen, device) for name in _kinds_met(seen)]
    told = [part.having(lost_us=_within_room(part["idle_us"], room_us)) for part in alone]
    return Table.concat(LaunchDelay, [part.take(part["calls"] > 0) for part in told])


Reliefs = dict[str, tuple[replay.Relief, Spans]]
"""Per kind of cost: its host time, and the waits that stay without it."""


def _of_ranks(joined: JoinedRanks, device: DeviceTimeline, room_us: dict[int, float]) -> Table[LaunchDelay]:
    """What ranks lose that are replayed together; `room_us` is by rank for how long its steps compute nothing."""
    reliefs = [{name: _relief_of_kind(seen, name) for name in seen.kinds} for seen in joined.seen]
    lost = _lost_by_kind(joined, reliefs, room_us)
    prompt = _gains_of_prompt_hosts(joined, reliefs)
    unqueued = _unqueued_delays(joined, room_us)
    found, late_hosts = [], list[_LateHost]()
    for number, seen in enumerate(joined.seen):
        room, met = room_us[seen.rank], _kinds_met(seen)
        rows = [_with_loss(_delays_of_kind(seen, name), name, lost[name][number]) for name in met]
        reads = rows[met.index("read")]["calls"] if "read" in met else np.zeros(len(seen.own))
        rows = [_with_insides(part, name, seen, device) for part, name in zip(rows, met, strict=True)]
        rows += unqueued.get(number, [])
        computing = np.flatnonzero(device.work.kind[seen.row] != COPY)
        found.append([part.take((part["calls"] > 0) | (part["lost_us"] > 0)) for part in rows])
        after_reads = partial(_part_after_reads, seen, reliefs[number], reads)
        late_hosts.append(_late_host(seen, prompt[number], after_reads, room_us=room, computing=computing))
        seen.replayed.let_go()
    pauses = [LatePauses.of(one.seen, one.late, one.pause) for one in late_hosts]
    calls = calls_in_pauses(joined.seen[0].table, pauses, [len(one.late) for one in late_hosts])
    rest = [_other_delays(*one) for one in zip(late_hosts, calls, strict=True)]
    return Table.concat(LaunchDelay, [part for parts, last in zip(found, rest, strict=True) for part in (*parts, last)])


class _Lost(Struct, frozen=True):
    """What one rank loses by a kind of cost."""

    us: Array
    """Per own cell: by how much it would be shorter without, µs."""
    uncounted_us: float
    """Of a rank with a single step: how much earlier that would begin, µs."""


def _lost_by_kind(joined: JoinedRanks, reliefs: list[Reliefs], room_us: dict[int, float]) -> dict[str, list[_Lost]]:
    """By kind, what each rank loses."""
    plain = joined.of_each(joined.replayed.plain)
    unthrottled = _gains_without_passing_waits(joined, plain)
    met = dict.fromkeys(("read", *(name for seen in joined.seen for name in _kinds_met(seen)), "synchronise"))
    lost = {}
    for name in met:
        own = [one[name] for one in reliefs]
        if name in ENDING_IN_WAITS:
            lost[name] = _lost_of_ranks(joined, own, plain, room_us)
        else:
            passing = [_with_passing_waits(*one) for one in zip(joined.seen, own, strict=True)]
            lost[name] = _lost_of_ranks(joined, passing, unthrottled, room_us)
    for number, one in enumerate(reliefs):
        if _equal_spans(one["read"][0].main, one["synchronise"][0].main):  # every wait is a read
            lost["synchronise"][number] = lost["read"][number]
    return lost


def _with_loss(part: Table[LaunchDelay], name: str, lost: _Lost) -> Table[LaunchDelay]:
    told = part.having(lost_us=lost.us)
    return told.having(before_us=lost.uncounted_us) if name in _OF_DATA else told


def _with_insides(
    part: Table[LaunchDelay], name: str, seen: ReplayedRank, device: DeviceTimeline
) -> Table[LaunchDelay]:
    """Blocking copies with their time on the device and the part that goes to the host, operators on the CPU with the
    latter, fetches with the work of this process in them; others as they are."""
    if name == "data_loader":
        return part.having(own_work_us=own_work_in_fetches(seen))
    if name == "cpu_operator":
        return part.having(to_host_share=np.ones(len(part)))
    if name != "blocking_copy":
        return part
    copied_us, share = copied_in_calls(seen, device)
    return part.having(copied_us=copied_us, to_host_share=share)


def _gains_without_passing_waits(joined: JoinedRanks, plain: list[Array]) -> list[Array]:
    """Per rank and task: how much earlier it ends where the host does not wait for what the device did before; as in a
    replay that changes nothing where it never does.

    Such waits keep the host no further ahead than it was. They get shorter as the device gets faster, so what else is
    taken away wins as much as it does without them.
    """
    if not any(len(seen.passing_waits) for seen in joined.seen):
        return plain
    waits = [seen.replayed.waits for seen in joined.seen]
    return joined.gains([replay.Relief(seen.passing_waits, Spans.none()) for seen in joined.seen], waits)


def _with_passing_waits(seen: ReplayedRank, one: tuple[replay.Relief, Spans]) -> tuple[replay.Relief, Spans]:
    relief, waits = one
    if not len(seen.passing_waits):
        return one
    return replay.Relief(union_of_sets([relief.main, seen.passing_waits]), relief.queue), waits


def _unqueued_delays(joined: JoinedRanks, room_us: dict[int, float]) -> dict[int, list[Table[LaunchDelay]]]:
    """By number of a rank without a task queue: what it loses by launching on the thread that prepares operators."""
    numbers = [
        number
        for number, seen in enumerate(joined.seen)
        if calls_operators(seen) and not len(seen.replayed.queue.start)
    ]
    if not numbers:
        return {}
    ranks, spans = zip(*(with_queue(joined.seen[number]) for number in numbers), strict=True)
    queued = join_ranks_in_time(ranks)
    taken = [replay.Relief(main, Spans.none()) for main in spans]
    reliefs = [*zip(taken, (seen.replayed.waits for seen in ranks), strict=True)]
    lost = _lost_of_ranks(queued, reliefs, queued.of_each(queued.replayed.plain), room_us)
    rows = [_delays_of_kind(seen, "unqueued").having(lost_us=own.us) for seen, own in zip(ranks, lost, strict=True)]
    return {number: [part] for number, part in zip(numbers, rows, strict=True)}


def _relief_of_kind(seen: ReplayedRank, name: str, *, last_too: bool = False) -> tuple[replay.Relief, Spans]:
    """The host time of one kind, on either thread, and the waits that stay without it: the last of each step, and
    those for a value or a copy after which the host does something long of its own."""
    calls, waits = seen.kinds[name], seen.replayed.waits
    if not len(calls):
        return replay.Relief.none(), waits
    if name in (*WAITING, "drain"):
        kept = seen.unhidden_waits
        if not last_too:
            asked = span_at(seen.kinds["allocate"].spans, waits.end - 1) < 0
            own = Spans(waits.start[asked], waits.end[asked])
            kept = union_of_sets([kept, last_waits_of_steps(own, seen.rank, seen.cells, seen.engine_ns)])
        calls = calls.take(span_at(kept, calls.end - 1) < 0)
    on_queue = np.isin(seen.table.at("thread", calls.row), seen.queue_threads)
    main, queue = calls.take(~on_queue).spans, calls.take(on_queue).spans
    if name == "cpu_operator":
        main = seen.on_cpu.stretches
    if name in (*ENDING_IN_WAITS, "drain"):
        gone = span_at(main, waits.end - 1) >= 0
        if name == "allocate":
            gone |= _answered_by_others(seen, waits, gone)
        main = union_of_sets([main, Spans(waits.start[gone], waits.end[gone])])
        waits = Spans(waits.start[~gone], waits.end[~gone])
    return replay.Relief(main, queue), waits


def _answered_by_others(seen: ReplayedRank, waits: Spans, gone: Array) -> Array:
    """Per wait: whether it waits for an event, and one of those marked had emptied the device since the last launch.

    What it would have waited for without that one is what was launched before its event, which may be long before.
    """
    before = np.searchsorted(waits.end[gone], waits.start, "right") - 1
    emptied = values_at(waits.end[gone], before, MISSING)
    launched = ascending(seen.replayed.work.launch)
    none_since = np.searchsorted(launched, emptied) == np.searchsorted(launched, waits.start)
    of_events = seen.calls.take(seen.calls.of_rows(host.are_event_waits(seen.table))).spans
    found: Array = (before >= 0) & none_since & (span_at(of_events, waits.end - 1) >= 0)
    return found


def _drain_calls(seen: ReplayedRank) -> host.Calls:
    """Waits for the device that are no part of an operator that brings something to the host."""
    fetching = seen.calls.take(seen.calls.texts(seen.table.texts("activity")).isin(["read", "fetch"])).spans
    waits = seen.kinds["synchronise"]
    return waits.take(span_at(fetching, waits.start) < 0)


def _lost_of_ranks(
    joined: JoinedRanks,
    reliefs: Sequence[tuple[replay.Relief, Spans]],
    plain: Sequence[Array],
    room_us: dict[int, float],
) -> list[_Lost]:
    """What each rank loses, set against a replay that changes nothing."""
    taken = [bool(len(relief.main) or len(relief.queue)) for relief, _ in reliefs]
    if not any(taken):
        return [_Lost(np.zeros(len(seen.own)), 0.0) for seen in joined.seen]
    gains = joined.gains([relief for relief, _ in reliefs], [waits for _, waits in reliefs])
    shorter = (seen.shorter_cells(gain - before) for seen, gain, before in zip(joined.seen, gains, plain, strict=True))
    return [
        _Lost(_within_steps(one, room_us[seen.rank]), float(one.uncounted[0]) / 1e3)
        if takes
        else _Lost(np.zeros(len(seen.own)), 0.0)
        for seen, one, takes in zip(joined.seen, shorter, taken, strict=True)
    ]


def _within_steps(lost: ShorterCells, room_us: float) -> Array:
    """Per own cell of a rank: what it loses, µs, and no more than there is time in which nothing is computed.

    A replay begins and ends with the host's steps. What the host does after the last task of a capture holds the device
    up as well, but lies outside of what is measured as steps. So does what comes before the first one; as far as that
    is counted, it is lost beside the steps' own idle time: others that were captured wait for it.
    """
    return _within_room(lost.by / 1e3, room_us + float(lost.ahead[0]) / 1e3)


def _equal_spans(one: Spans, other: Spans) -> bool:
    return np.array_equal(one.start, other.start) and np.array_equal(one.end, other.end)


class _LateHost(Struct, frozen=True):
    """What one rank loses to all other work of its host: what remains when the kinds are gone, and it only kept up."""

    seen: ReplayedRank
    late: Array
    """The tasks that began late for a host that did not keep up."""
    pause: Array
    """Per such task: how long the device was idle before it, without what one of the kinds fills, ns."""
    lost: Array
    """Per own cell, µs."""
    before: Array
    """Per own cell: what is lost between two steps once more, µs (`_lost_us_before_first_step`)."""
    of_reads: Array
    """Per own cell: the part of what is lost that would not be if no value were read."""


def _late_host(
    seen: ReplayedRank,
    prompt: tuple[Array, Spans],
    part_after_reads: Callable[[Array], Array],
    *,
    room_us: float,
    computing: Array,
) -> _LateHost:
    gain, kinds = prompt
    shorter, before_first = seen.shorter_cells(gain), _lost_us_before_first_step(seen, gain, kinds, computing)
    of_reads = part_after_reads(shorter.by / 1e3)
    lost = _within_steps(shorter, room_us)
    before = np.append(before_first, np.zeros(len(lost)))[: len(lost)]
    gained = np.diff(np.append(0, gain))
    late = np.flatnonzero(gained[:-1] > PAUSE_NS)
    return _LateHost(seen, late, _pauses_apart_from(kinds, seen, late, gained), lost, before, of_reads)


def _other_delays(rest: _LateHost, row: Array) -> Table[LaunchDelay]:
    """The rows of kind `host` of one rank; `row` are the calls that filled the pauses."""
    lost = rest.lost + rest.before
    told = _late_tasks_by_call(rest, row, lost)
    share = rest.before / np.where(lost > 0, lost, 1.0)
    before_us = told["lost_us"] * share[row_of_key(rest.seen.cells.step[rest.seen.own], told["step"])]
    return told.having(lost_us=told["lost_us"] - before_us, before_us=before_us)


def _lost_us_before_first_step(seen: ReplayedRank, gain: Array, kinds: Spans, computing: Array) -> float:
    """What a late host loses between two steps, µs, once more: each step has a pause before it, but of so many steps
    one pause less lies between them.

    It counts as the middle one of these, and as no more than the device waited for what the host did of its own before
    its first launch and after its last. `computing` are the tasks with which a step begins or ends: all but copies.
    """
    replayed = seen.replayed
    last = seen.last[:-1][np.diff(seen.cells.step[seen.own]) == 1]
    after = np.searchsorted(computing, last, "right")
    after = after[(after > 0) & (after < len(computing))]
    if len(after) < _STEPS_TO_COMPARE - 1:
        return 0.0
    between = ascending(np.maximum(gain[computing[after]] - gain[computing[after - 1]], 0))
    put = replay.handed_over(replayed.queue, replayed.work)
    start = np.array([int(replayed.ranks.begin[0]), max(put[computing[-1]], replayed.work.reach[computing[-1]])])
    end = np.maximum([put[computing[0]], put[-1]], start)
    own = int((end - start - covered_ns(kinds, start, end)).sum())
    return float(min(between[(len(between) - 1) // 2], own)) / 1e3


def _part_after_reads(seen: ReplayedRank, reliefs: Reliefs, reads: Array, lost: Array) -> Array:
    """Per own cell: the part of what a late host loses that it would not lose if no value were read; `reads` is how
    many each reads."""
    many = (reads > FEW_READS) & (lost > 0)
    if not many.any():
        return np.full(len(lost), np.nan)
    every_read = {**reliefs, "read": _relief_of_kind(seen, "read", last_too=True)}
    [(gain, _)] = _gains_of_prompt_hosts(join_ranks_in_time([seen]), [every_read])
    spared = lost - seen.shorter_cells(gain).by / 1e3
    return np.where(many, np.clip(spared / np.where(many, lost, 1.0), 0.0, 1.0), np.nan)


def late_ns_by_task(seen: ReplayedRank) -> Array:
    """Per task of the replay: how much later than the one before it began for a host that did not keep up, ns.

    What `launch_delays` of kind `host` sum up step by step; negative where a task makes up for it.
    """
    seen = _prepared(seen)
    reliefs = {name: _relief_of_kind(seen, name) for name in seen.kinds}
    [(gain, _)] = _gains_of_prompt_hosts(join_ranks_in_time([seen]), [reliefs])
    return np.diff(np.append(0, gain))


def _prepared(seen: ReplayedRank) -> ReplayedRank:
    """A rank with waits of kind `drain`, and with the reads and copies whose pauses are something else's."""
    seen = msgspec.structs.replace(seen, kinds={**seen.kinds, "drain": _drain_calls(seen)})
    return msgspec.structs.replace(seen, unhidden_waits=waits_before_long_pauses(seen))


def _gains_of_prompt_hosts(joined: JoinedRanks, reliefs: Sequence[Reliefs]) -> list[tuple[Array, Spans]]:
    """Per rank and task: how much earlier it ends for a host that keeps up, ns, beside one without these kinds; and the
    time of these."""
    main = [union_of_sets([relief.main for relief, _ in one.values()]) for one in reliefs]
    queue = [union_of_sets([relief.queue for relief, _ in one.values()]) for one in reliefs]
    waits = [_waits_beside(seen.replayed.waits, one) for seen, one in zip(joined.seen, reliefs, strict=True)]
    of_host = [*zip(main, queue, strict=True)]
    gone = joined.gains([replay.Relief(*one) for one in of_host], waits)
    kept = joined.gains([replay.Relief(*one, keeps_up=True) for one in of_host], waits)
    gains = (seen.until_last_task(after - before) for seen, after, before in zip(joined.seen, kept, gone, strict=True))
    return [(gain, union_of_sets(one)) for gain, one in zip(gains, of_host, strict=True)]


def _waits_beside(waits: Spans, reliefs: Reliefs) -> Spans:
    """The waits that no kind that ends in one has taken away."""
    left = np.ones(len(waits), bool)
    for name in ENDING_IN_WAITS:
        left &= span_at(reliefs[name][0].main, waits.end - 1) < 0
    return Spans(waits.start[left], waits.end[left])


def _late_tasks_by_call(rest: _LateHost, row: Array, lost: Array) -> Table[LaunchDelay]:
    """By step and call: the tasks that began late for a host that did not keep up; what it lost, by their pauses.

    The part of a pause that one of the kinds fills is told as that kind.
    """
    seen, late, pause = rest.seen, rest.late, rest.pause
    count = len(seen.own)
    of = np.searchsorted(seen.last, late)  # the last tasks of the cells, in order
    names, kinds_of_calls = seen.table.texts("name"), seen.table.texts("kind")
    call, does = values_at(names.codes, row, -1), values_at(kinds_of_calls.codes, row, -1)
    groups = group_by(of, call, does)
    paused, cell = groups.sums(pause.astype(np.float64)), of[groups.first]
    share = paused / np.maximum(np.bincount(cell, weights=paused, minlength=count), 1)[cell]
    bare = np.setdiff1d(np.arange(count), cell)  # steps without such a task
    none, every = np.zeros(len(bare)), np.append(cell, bare)
    around = _calls_around_longest(seen, late, pause, of=of, group=groups.of, groups=len(groups) + len(bare))
    lost_us = np.append(lost[cell] * share, lost[bare])
    kinds_told = Texts(np.append(does[groups.first], none - 1).astype(np.int32), kinds_of_calls.names)
    launches = np.zeros(len(seen.table) + 1, bool)  # the last stands for no call
    operators = seen.launching_operators
    launches[operators.calls.rows_at(operators.places)] = True
    launching = groups.sums(launches[row].astype(np.float64))
    return Table.build(
        LaunchDelay,
        rank=seen.rank,
        step=seen.cells.step[seen.own][every],
        cause="host",
        call=Texts(np.append(call[groups.first], none - 1).astype(np.int32), names.names),
        call_kind=kinds_told,
        calls=np.append(groups.sizes, none),
        launching_calls=np.where(kinds_told.isin(["operator"]), np.append(launching, none), np.nan),
        longest_us=np.append(groups.largest(pause / 1e3), none),
        longest_after=around[0],
        longest_before=around[1],
        idle_us=np.append(paused / 1e3, none),
        lost_us=lost_us,
        restart_us=lost_us * rest.of_reads[every],
    )


def _calls_around_longest(
    seen: ReplayedRank, late: Array, pause: Array, *, of: Array, group: Array, groups: int
) -> tuple[Texts, Texts]:
    """Per group of late tasks: between which calls the longest pause of its step lies; missing in all others, and where
    it is as short as one before a kernel."""
    long = np.flatnonzero(pause > LONGEST_LAUNCH_US * 1e3)
    longest = long[group_by(of[long]).first_rows(-pause[long])]
    end, place = ends_of_pauses(seen, late[longest]), np.full(groups, -1)
    place[group[longest]] = np.arange(len(longest))
    after, before = calls_around(seen, end - pause[longest], end)
    return after.at(place), before.at(place)


def _pauses_apart_from(kinds: Spans, seen: ReplayedRank, late: Array, gained: Array) -> Array:
    """Per late task: how long the device was idle before it was launched while none of the kinds held the host up, ns.

    Never less than what the task gains where the host keeps up, for that is told as lost to the host.
    """
    idle, end = seen.replayed.slack[late], ends_of_pauses(seen, late)
    left: Array = np.maximum(idle - covered_ns(kinds, end - idle, end), np.minimum(gained[late], idle))
    return left


def _heaviest_names(names: Texts, of: Array, weight: Array, count: int) -> Texts:
    """Per group: the name with most weight."""
    groups = group_by(of, names)
    order = np.argsort(np.bincount(groups.of, weights=weight, minlength=len(groups)), kind="stable")
    best = np.full(count, -1)
    best[of[groups.first[order]]] = groups.first[order]
    return names.at(best)


def _delays_of_kind(seen: ReplayedRank, name: str) -> Table[LaunchDelay]:
    """One kind of cost by step; nested calls count once."""
    calls, spans = seen.kinds[name], seen.kinds[name].spans
    owner = seen.own_cell_at(spans.start)
    of = owner[span_at(spans, calls.start)]
    calls, of = calls.take(of >= 0), of[of >= 0]
    spans, owner = Spans(spans.start[owner >= 0], spans.end[owner >= 0]), owner[owner >= 0]
    count = len(seen.own)
    longest = np.zeros(count, np.int64)
    np.maximum.at(longest, owner, spans.lengths)
    return Table.build(
        LaunchDelay,
        rank=seen.rank,
        step=seen.cells.step[seen.own],
        cause=name,
        call=_heaviest_names(seen.table.texts("name").take(calls.row), of, calls.end - calls.start, count),
        calls=np.bincount(owner, minlength=count).astype(np.float64),
        host_us=np.bincount(owner, weights=spans.lengths, minlength=count) / 1e3,
        longest_us=longest / 1e3,
        idle_us=np.bincount(owner, weights=covered_ns(seen.free, spans.start, spans.end), minlength=count) / 1e3,
    )
