# SPDX-License-Identifier: Apache-2.0
"""How much sooner each step would end without some of its kernels.

A kernel that goes away lets what follows begin earlier only as far as the host has launched it by then. So the rank is
replayed, once with kernels that take no time but are launched as before, once without their launches too, and once with
kernels that take no longer than the fastest quarter of their like; chains once more with one fused kernel each. Where
kernels are slow in some steps, once with all of them as quick as in the others.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, structs

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.arrays.intervals import Spans, covered_ns, subtract, union, union_of_sets
from advisor.analysis.fusion.chain_search import (
    FoundChains,
    chains_in_steps,
    fused_us_of_chains,
    pattern_of_chains,
)
from advisor.analysis.operators.launching_operators import HostRecords, called_by_operators
from advisor.analysis.operators.like_kernels import TurnTakers
from advisor.analysis.operators.operator_paces import slow_steps
from advisor.analysis.operators.operators import (
    StepKernels,
    in_steps,
    turn_takers,
    typed_in_steps,
)
from advisor.analysis.replay import replay
from advisor.analysis.replay.joined_ranks import JoinedRanks, joined_in_parts
from advisor.analysis.replay.replayed_rank import PAUSE_NS, ReplayedRank, forget_replayed_rank, replayed_rank
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import COMM, DeviceTimeline, build_timeline, forget_timeline
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import ChipLimit, Dispatch, Overlap, Removal
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts, row_type, values_at

LEAST_SHARE = 0.005
"""Operator types and chains that take less of the step are not asked for: no rule says a word of half a per cent."""


class _Fused(Struct, frozen=True):
    """What stays of the kernels of chains where one fused kernel takes the place of each chain."""

    part: Array
    """Per kernel: the part of its time that the fused one needs."""
    launched: Array
    """Per kernel: whether its launch becomes that of the fused one; one of each chain."""

    def take(self, where: Array) -> _Fused:
        return _Fused(self.part[where], self.launched[where])


class _Sets(Struct, frozen=True):
    """Sets of kernels, each of one rank, that are taken out one after another."""

    kind: str
    names: Texts
    rank: Array
    row: Array
    """Rows of `DeviceTimeline.work`, and the set each belongs to."""
    of: Array
    slower_ns: Array
    """Per such row: how much longer it took than the fastest quarter of its like, or than in a quick step; missing for
    chains."""
    steps: Array
    """How many whole steps the rank of each has; 0 where none is."""
    fused: _Fused | None = None
    """Of chains."""


def removals(
    kernels: Table[Kernel],
    links: Table[Dispatch],
    *,
    calls: Table[HostCall] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    limits: Table[ChipLimit] | None = None,
    host: HostRecords | None = None,
    patterns: ChainPatterns,
) -> Table[Removal]:
    """One row per rank and operator type that takes time worth a word, one per rank and kind of fusible chain, and one
    per rank with slow steps."""
    device = build_timeline(kernels, collectives, tasks, windows)
    # as others have it: rows of kernels are the same in both
    without_tasks = build_timeline(kernels, collectives, None, windows)
    calls = Table.empty(HostCall) if calls is None else calls
    chains = chains_in_steps(
        called_by_operators(kernels, host, patterns), collectives, windows, split, patterns, host=host
    )
    sets = _sets_taken_out(without_tasks, kernels, split, chains=(chains, patterns), limits=limits)
    del without_tasks
    if len(links) >= replay.LONG:
        kernels.forget_for_now()
        if tasks is not None:
            forget_timeline(kernels, collectives, None, windows)
    whole = ~lacks_kernel_rows(split, device.cells.rank, device.cells.step)
    ranks = np.unique(links["rank"]).tolist()
    replayed = (_passing_sooner(replayed_rank(rank, device, links, calls, windows=windows)) for rank in ranks)
    found = Table.concat(Removal, [_of_ranks(seen, sets, device, whole) for seen in joined_in_parts(replayed)])
    if len(links) >= replay.LONG:  # most of the others that replay are done with it, and it is as long as the kernels
        for rank in ranks:
            forget_replayed_rank(rank, device, links, calls, windows=windows)
    return found


def _of_ranks(seen: JoinedRanks, sets: list[_Sets], device: DeviceTimeline, whole: Array) -> Table[Removal]:
    """What ranks that are replayed together gain, those of the first of them first."""
    plain = _gains_of_whole_steps(seen, seen.replayed.plain, whole)
    collective = values_at(device.work.kind, seen.row) == COMM
    parts = [_of_sets(seen, one, whole, plain) for one in sets]
    found = Table.concat(Removal, [*parts, _of_communication(seen, collective, whole, plain)])
    seen.replayed.let_go()
    return found.take(np.argsort(found["rank"], kind="stable"))


def _sets_taken_out(
    device: DeviceTimeline,
    kernels: Table[Kernel],
    split: Table[Overlap] | None,
    *,
    chains: tuple[FoundChains, ChainPatterns],
    limits: Table[ChipLimit] | None,
) -> list[_Sets]:
    found, patterns = chains
    every = in_steps(device, kernels, split)
    fused_us = fused_us_of_chains(found, patterns, every, limits)
    return [
        _of_types(every, turn_takers(device, kernels, split, typed=False)),
        _of_chains(every, found, pattern_of_chains(found, patterns), fused_us),
        _of_slow_steps(device, kernels, split),
    ]


def _of_types(every: StepKernels, alike: TurnTakers) -> _Sets:
    """The kernels of each operator type that takes enough of the step."""
    types = every.table.texts("op_type")
    groups = group_by(every.table["rank"], types)
    first = groups.first
    share = ratio(groups.sums(every.duration_us), (every.steps * every.step_us)[first])
    large = (share >= LEAST_SHARE) & (types.codes[first] >= 0)
    slower = alike.slower_us(every.duration_us) * 1e3
    return _sets_of_kernels("operator", types, every, (groups, np.arange(len(groups.of)), slower), large)


def _of_chains(every: StepKernels, chains: FoundChains, pattern: Texts, fused_us: Array) -> _Sets:
    """The kernels of the chains of each pattern; per chain its pattern, and what the fused operator needs."""
    row, names = chains.row, pattern.take(chains.chain)
    groups = group_by(every.table["rank"][row], names)
    share = ratio(groups.sums(every.duration_us[row]), (every.steps * every.step_us)[row[groups.first]])
    members = groups, row, np.full(len(row), np.nan)
    kept = share >= LEAST_SHARE
    sets = _sets_of_kernels("chain", names, every, members, kept)
    return structs.replace(sets, fused=_fused_kernels(every, chains, fused_us).take(kept[groups.of]))


def _of_slow_steps(device: DeviceTimeline, kernels: Table[Kernel], split: Table[Overlap] | None) -> _Sets:
    """The kernels of each rank that take longer in its slow steps, where that makes enough of a step."""
    every, found = typed_in_steps(device, kernels, split), slow_steps(device, kernels, split)
    row, excess = found.row[found.excess_us > 0], found.excess_us[found.excess_us > 0]
    groups = group_by(every.table["rank"][row])
    share = ratio(groups.sums(excess), (every.steps * every.step_us)[row[groups.first]])
    none = Texts.constant(None, len(row))
    return _sets_of_kernels("pace", none, every, (groups, row, excess * 1e3), share >= LEAST_SHARE)


def _fused_kernels(every: StepKernels, chains: FoundChains, fused_us: Array) -> _Fused:
    total = np.bincount(chains.chain, every.duration_us[chains.row], len(chains.size))
    part = ratio(fused_us, total)[chains.chain]
    launched = np.zeros(len(chains.row), bool)
    launched[chains.begin] = True
    return _Fused(part, launched)


def _sets_of_kernels(
    kind: str, names: Texts, every: StepKernels, members: tuple[Groups, Array, Array], kept: Array
) -> _Sets:
    groups, row, slower_ns = members
    of = (np.cumsum(kept) - 1)[groups.of]
    chosen = kept[groups.of]
    first = groups.first[kept]
    steps = np.where(every.whole, every.steps, 0)[row[first]]
    rank = every.table["rank"][row[first]]
    return _Sets(kind, names.take(first), rank, every.row[row[chosen]], of[chosen], slower_ns[chosen], steps)


def _of_sets(seen: JoinedRanks, sets: _Sets, whole: Array, plain: Array) -> Table[Removal]:
    ranks = np.array([one.rank for one in seen.seen])
    of_rank = row_of_key(ranks, sets.rank)
    own = np.flatnonzero((of_rank >= 0) & (sets.steps > 0))
    own = own[np.argsort(of_rank[own], kind="stable")]
    turn = np.arange(len(own)) - np.searchsorted(of_rank[own], of_rank[own])
    place = _places_of_rows(seen, sets)
    order = np.argsort(sets.of, kind="stable")
    edges = np.searchsorted(sets.of[order], np.arange(len(sets.rank) + 1))
    unknown = np.bincount(sets.of, np.isnan(sets.slower_ns), len(sets.rank)) > 0
    found = np.full((4, len(own)), np.nan)
    for number in range(int(turn.max(initial=-1)) + 1):  # in each turn one set of each rank that has so many
        at = np.flatnonzero(turn == number)
        members = np.concatenate([order[edges[one] : edges[one + 1]] for one in own[at].tolist()])
        gains = _gains_without(seen, sets, (members, place[sets.row[members]]), whole, plain)
        found[:, at] = [gain[of_rank[own[at]]] for gain in gains]
    instant, removed, steady, fused = found / sets.steps[own] / 1e3
    return Table.build(
        Removal,
        rank=sets.rank[own],
        kind=sets.kind,
        name=sets.names.take(own),
        instant_us=instant,
        removed_us=np.maximum(removed, instant),
        steady_us=np.where(unknown[own], np.nan, steady),
        fused_us=np.maximum(fused, 0),
    )


def _places_of_rows(seen: JoinedRanks, sets: _Sets) -> Array:
    """Per row of the timeline's work: the task that it is of these ranks, or behind the last."""
    tasks = len(seen.row)
    place = np.full(int(max(seen.row.max(initial=-1), sets.row.max(initial=-1))) + 1, tasks, row_type(tasks))
    known = np.flatnonzero(seen.row >= 0)
    place[seen.row[known]] = known
    return place


def _gains_without(
    seen: JoinedRanks, sets: _Sets, chosen: tuple[Array, Array], whole: Array, plain: Array
) -> tuple[Array, Array, Array, Array]:
    """Per rank, ns of all its whole steps: what it gains without its kernels among those chosen.

    They are rows of the sets, with the task that each is. They take no time, are not launched either, are as quick as
    the quickest of their like, or are fused.
    """
    members, at = chosen
    tasks = len(seen.row)
    slower = np.zeros(tasks + 1)  # the last stands for what was not replayed
    taken = np.zeros(tasks + 1, bool)
    taken[at] = True
    slower[at] = sets.slower_ns[members]
    taken, slower = taken[:-1], slower[:-1]
    spared = spared_time(seen.replayed, seen.replayed.work, taken)
    instant = _gain_of_device(seen, spared, whole, plain)
    removed = _gain_with_relief(seen, without_launches(seen, taken, spared), whole) - plain
    steady = _gain_of_device(seen, _at_most(spared, np.nan_to_num(slower)), whole, plain)
    fused = np.full(len(plain), np.nan)
    if sets.fused is not None:
        relief = _with_fused_kernels(seen, sets.fused.take(members), at, taken, spared)
        fused = _gain_with_relief(seen, relief, whole) - plain
    return instant, removed, steady, fused


def _of_communication(seen: JoinedRanks, collective: Array, whole: Array, plain: Array) -> Table[Removal]:
    """All collectives of each rank, as if none took any time; no row where it has none or no whole step.

    `collective` is per task of the replay.
    """
    work, beside = seen.replayed.work, seen.replayed.beside
    steps = seen.whole_of_rank(whole[seen.own])
    every = np.ones(len(beside.start), bool)
    alone = spared_time(seen.replayed, work, collective), spared_time(seen.replayed, beside, every)
    any_beside = np.zeros(len(steps), bool)
    any_beside[seen.replayed.ranks.at(beside.start[alone[1].alone > 0])] = True
    met = np.flatnonzero((steps > 0) & (seen.any_of_rank(alone[0].alone > 0) | any_beside))
    if not len(met):
        return Table.empty(Removal)
    relief = structs.replace(replay.Relief.of_device(alone[0]), beside=alone[1])
    gain = np.maximum(_gain_with_relief(seen, relief, whole) - plain, 0)[met] / steps[met] / 1e3
    return Table.build(
        Removal,
        rank=np.array([one.rank for one in seen.seen])[met],
        kind="communication",
        name=Texts.constant(None, len(met)),
        instant_us=gain,
        removed_us=gain,
        steady_us=np.nan,
        fused_us=np.nan,
    )


def gains_without_communication(rank: Array, without: Table[Removal] | None) -> Array:
    """Per rank: how much sooner its step would end if communication took no time; missing without launches."""
    if without is None:
        return np.full(len(rank), np.nan)
    own = without.take(without.texts("kind").isin(["communication"]))
    return values_at(own["instant_us"], row_of_key(own["rank"], rank), np.nan)


def _passing_sooner(seen: ReplayedRank) -> ReplayedRank:
    """The same rank, whose host also waits for events of earlier work only as long as the device takes for that."""
    if not len(seen.passing_waits):
        return seen
    blocked = seen.replayed.blocked or replay.BlockedLaunches(Spans.none(), Spans.none())
    main = union_of_sets([blocked.main, seen.passing_waits])
    waiting = structs.replace(seen.replayed, blocked=structs.replace(blocked, main=main))
    return structs.replace(seen, replayed=waiting)


def _with_fused_kernels(
    seen: JoinedRanks, fused: _Fused, at: Array, taken: Array, spared: replay.SparedTime
) -> replay.Relief:
    """One kernel in place of each chain: launched as the first of them, as long as the part of their time it needs."""
    part, gone = np.ones(len(taken) + 1), np.append(taken, False)
    part[at] = fused.part
    gone[at[fused.launched]] = False
    less = replay.SparedTime(*((one * (1 - part[:-1])).astype(np.int64) for one in (spared.alone, spared.under)))
    return without_launches(seen, gone[:-1], less)


def _gain_of_device(seen: JoinedRanks, spared: replay.SparedTime, whole: Array, plain: Array) -> Array:
    """The same for tasks that each take so much less time, beyond what a replay that changes nothing gives."""
    any_spared = seen.any_of_rank(spared.alone != 0)
    if not any_spared.any():
        return np.zeros(len(plain))
    return np.where(any_spared, _gain_with_relief(seen, replay.Relief.of_device(spared), whole) - plain, 0.0)


def _gain_with_relief(seen: JoinedRanks, relief: replay.Relief, whole: Array) -> Array:
    gain = replay.gains_by_task(seen.replayed, relief, waits=seen.replayed.waits)
    return _gains_of_whole_steps(seen, gain, whole, None if relief.device is None else relief.device.alone)


def _gains_of_whole_steps(seen: JoinedRanks, gain: Array, whole: Array, spared: Array | None = None) -> Array:
    """Per rank: how much sooner its whole steps end, ns together; the last one with its last task, as its time is
    counted."""
    sooner = seen.shorter_cells(seen.until_last_task(gain), spared=spared).by
    return seen.whole_of_rank(np.where(whole[seen.own], sooner, 0)).astype(np.float64)


def spared_time(rank: replay.ReplayInput, work: replay.ReplayedWork, taken: Array) -> replay.SparedTime:
    """Per task, ns: for how long a taken one was all that the device did, tasks that are taken too aside.

    What begins and ends beside another task holds nothing up and does not count.
    """
    reach = np.append(work.start[:1], work.reach[:-1])
    rank.ranks.write_first(reach, work.start, rank.ranks.place)
    begin = np.maximum(work.start, reach)
    end = np.maximum(work.end, begin)
    other = ~taken & (work.end > reach)
    others = union(work.start[other], work.end[other])
    at = np.flatnonzero(taken)
    alone, under = np.zeros((2, len(taken)), np.int64)
    alone[at] = end[at] - begin[at] - covered_ns(others, begin[at], end[at])
    start, until = work.start[at], np.minimum(begin, work.end)[at]
    under[at] = until - start - covered_ns(others, start, until)
    return replay.SparedTime(alone, under)


def _at_most(spared: replay.SparedTime, most: Array) -> replay.SparedTime:
    """The same with no more than so much of each task together."""
    alone = np.where(spared.alone > 0, np.minimum(spared.alone, most), 0)
    under = np.where(spared.under > 0, np.minimum(spared.under, most - alone), 0)
    return replay.SparedTime(alone.astype(np.int64), under.astype(np.int64))


def without_launches(seen: JoinedRanks, taken: Array, spared: replay.SparedTime) -> replay.Relief:
    """Without these tasks, the usual pause before each, and the calls on either thread that launch nothing else."""
    work, beside, queue = seen.replayed.work, seen.replayed.beside, seen.replayed.queue
    known = work.queued < replay.UNBOUND
    every = np.concatenate([work.entry[known], beside.entry[beside.queued < replay.UNBOUND]])
    mine = work.entry[known & taken]
    count = len(queue.start)
    own, total = (np.bincount(entry[entry >= 0], minlength=count) for entry in (mine, every))
    gone = (own > 0) & (own == total)
    pause = np.where(taken, _launch_pauses(seen), 0)
    return replay.Relief(
        main=subtract(_operators_launching(seen, known & taken), seen.replayed.waits),
        queue=union(queue.start[gone], queue.end[gone]),
        device=structs.replace(spared, alone=spared.alone + pause),
    )


def _launch_pauses(seen: JoinedRanks) -> Array:
    """Per task, ns: the pause that comes with launching it. A longer one than that of most tasks which the device had
    long been given has a further cause, which stays."""
    held = seen.replayed.held
    in_turn = (held > 0) & (seen.replayed.slack == 0)
    parts = zip(np.split(held, seen.tasks[1:-1]), np.split(in_turn, seen.tasks[1:-1]), strict=True)
    usual = [int(np.median(own[those])) if those.any() else 0 for own, those in parts]
    return np.where(held <= PAUSE_NS, held, np.minimum(held, np.repeat(usual, np.diff(seen.tasks))))


def _operators_launching(seen: JoinedRanks, taken: Array) -> Spans:
    """When operators of the framework ran that launched these tasks and no other."""
    return seen.launching_operators.launched_none_but(taken).spans
