# SPDX-License-Identifier: Apache-2.0
"""Collectives: each call set against its like, and each meeting of ranks with who came last.

Ranks are never compared by their clocks, which may differ by more than a collective lasts. Durations suffice: all
leave a collective at about the same moment, so the rank on which it was *shortest* entered last and kept the others
waiting.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_at
from advisor.analysis.arrays.intervals import Spans, covered_by_earlier, covered_ns, union, whole_ns
from advisor.analysis.communication.awaited_ranks import LongestWait, longest_wait_of_calls, without_waits_for_captured
from advisor.analysis.communication.gradient_repeats import micro_batches_by_repeats
from advisor.analysis.communication.queued_collectives import ops_queued_behind
from advisor.analysis.communication.same_moments import lie_apart
from advisor.analysis.communication.tensor_groups import kinds_of_calls
from advisor.analysis.communication.transit import split_times
from advisor.analysis.launches.program_rounds import number_rounds
from advisor.analysis.steps.cells import lie_outside_steps
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import collective_times, kernel_times
from advisor.analysis.steps.overlap import stages_of
from advisor.analysis.steps.stage_transfers import count_micro_batches
from advisor.facts.base import MISSING
from advisor.facts.derivation import completed_by
from advisor.facts.derived import CallMatch, CollectiveCall, Overlap
from advisor.facts.observed import Collective, Kernel, Link, PeerWait, Transfer
from advisor.facts.table import Array, Table, Texts
from advisor.model.run import Run
from advisor.model.run_of_ranks import RunOfRanks

_PAIR = re.compile(r"(hcom_)?(send|receive)(?=_|$)", re.IGNORECASE)
_MAY_PAIR = re.compile("send|receive", re.IGNORECASE)
_RANKS_OF_A_PAIR = 2
_SMALL = 0.1
"""Calls below this part of the largest of their kind and group have no turn."""
_NOTHING = 0.005
"""Part of communication beside computation that is none: sums are rounded."""
_EVER = np.iinfo(np.int64)


def complete_by_other_ranks(run: Run, calls: Table[CollectiveCall]) -> Table[CollectiveCall]:
    """The calls with what depends on all ranks: waits for those not captured, and the micro-batches of a pipeline."""
    calls = calls.having(absent_us=without_waits_for_captured(run, calls))
    known = np.flatnonzero((calls["stage"] != MISSING) & (calls["step"] != MISSING))
    batches, _ = count_micro_batches(calls.take(known), calls["stage"][known], len(run.parallel.stages))
    return calls if np.isnan(batches) else calls.having(micro_batches=np.full(len(calls), batches))


@completed_by(complete_by_other_ranks)
def collective_calls(
    run: RunOfRanks,
    collectives: Table[Collective],
    kernels: Table[Kernel] | None,
    split: Table[Overlap] | None = None,
    *,
    transfers: Table[Transfer] | None = None,
    links: Table[Link] | None = None,
    waits: Table[PeerWait] | None = None,
) -> Table[CollectiveCall]:
    """Every communication operator with its exposed part and the usual length of its like.

    Those outside of the steps of a rank that numbers its steps, as it warms up, are none of a step and left out. What
    is exposed is missing in steps whose list of kernels lacks rows, but for those in which computation hides nothing by
    the profiler's own sums; of transit, wait and idle what was not measured
    (see `transit`).
    """
    collectives = collectives.take(~lie_outside_steps(collectives["rank"], collectives["step"]))
    lacking = lacks_kernel_rows(split, collectives["rank"], collectives["step"])
    alike = group_by(
        collectives["rank"],
        collectives.texts("op"),
        collectives.texts("group"),
        _size_class(collectives["size_bytes"]),
    )
    elapse = collectives["elapse_us"]
    in_rounds = collectives.having(
        step=number_rounds(kernels, collectives["rank"], collectives["step"], collectives["start_ns"])
    )
    turn, apart = _turns_and_pauses(in_rounds)
    transit, wait, idle = split_times(collectives, transfers, links)
    kinds = kinds_of_calls(collectives, kernels)
    shared = _us_beside_like(collectives, kinds)
    exposed, still, stalled, begun = (
        np.where(lacking, np.nan, us) for us in _without_kernels(collectives, kernels, shared)
    )
    hide_nothing = np.isnan(exposed) & _hide_nothing(split, collectives)
    exposed, begun = np.where(hide_nothing, elapse, exposed), np.where(hide_nothing, shared, begun)
    waited = np.nan_to_num(np.where(np.isnan(wait), elapse - transit, wait))  # what moves nothing may be a wait
    awaited = longest_wait_of_calls(collectives, waits)
    same = ("name", "op", "group")
    return Table.build(
        CollectiveCall,
        **{column: collectives.texts(column) for column in same},
        group_kind=kinds,
        **{column: collectives[column] for column in ("rank", "step", "p2p", "start_ns", "elapse_us")},
        transit_us=transit,
        bare_transit_us=np.maximum(exposed - (elapse - transit), 0),
        wait_us=wait,
        idle_us=idle,
        size_bytes=collectives["size_bytes"],
        bus_bytes=collectives["bus_bytes"],
        stage=stages_of(run, collectives["rank"]),
        exposed_us=exposed,
        unwaited_us=np.maximum(exposed - waited, 0),
        unshared_us=np.maximum(exposed - np.maximum(waited, begun), 0),
        still_us=still,
        stalled_us=stalled,
        working_us=elapse - waited,
        cover_us=_cover_us(split, collectives),
        micro_batches=_micro_batches(collectives, kernels, lacking),
        alike=alike.sizes[alike.of].astype(np.float64),
        typical_us=alike.medians(elapse)[alike.of],
        turn=turn,
        apart_us=apart,
        queued_op=ops_queued_behind(collectives, kernels),
        computed_share=np.where(lacking, np.nan, _computed_share(in_rounds, kernels)),
        awaited_rank=awaited.rank,
        awaited_place=awaited.place,
        awaited_ns=awaited.since_ns,
        awaited_us=awaited.us,
        awaited_late=awaited.late,
        absent_us=awaited.absent_us,
        awaited_alike=awaited.alike,
        awaited_all_us=awaited.all_us,
        waited_again_us=_waited_again(collectives, wait, awaited),
        sole=_has_sole_group(collectives),
    )


def _micro_batches(collectives: Table[Collective], kernels: Table[Kernel] | None, lacking: Array) -> Array:
    """Per call: micro-batches of its rank and step by its own kernels; missing in steps whose list lacks some."""
    told = micro_batches_by_repeats(kernels, collectives["rank"], collectives["step"])
    return np.where(lacking, np.nan, told)


def _waited_again(collectives: Table[Collective], wait_us: Array, awaited: LongestWait) -> Array:
    """Per call, µs: the part of its wait in which another one of its rank waits that began to do so before."""
    shown = awaited.us >= 0
    since = np.where(shown, awaited.since_ns, collectives["start_ns"])
    return _covered_by_earlier_us(since, np.where(shown, awaited.us, wait_us), collectives["rank"], collectives["p2p"])


def _covered_by_earlier_us(since: Array, lasts_us: Array, *keys: Array) -> Array:
    """Per wait: the part that those with the same keys cover which began before, µs; missing where its time is."""
    covered = np.full(len(since), np.nan)
    known = np.flatnonzero((since != MISSING) & (lasts_us >= 0))
    start, cell = since[known], group_by(*(key[known] for key in keys)).of
    covered[known] = covered_by_earlier(cell, start, start + whole_ns(lasts_us[known])) / 1e3
    return covered


def _size_class(size_bytes: Array) -> Array:
    """The power of two nearest to each size: alike enough for one bandwidth. Unknown and empty are classes too."""
    known = (size_bytes > 0) & np.isfinite(size_bytes)
    power = np.rint(np.log2(np.where(known, size_bytes, 1))).astype(np.int64)
    return np.where(known, power, np.where(np.isnan(size_bytes), -2, -1))


def _turns_and_pauses(collectives: Table[Collective]) -> tuple[Array, Array]:
    """Per call: how many of its rank, step, group and kind began before it, and the time since the last of those, µs.

    Small ones are passed over: a loss or a norm that is reduced as well says nothing of when the gradients were.
    """
    same = (collectives["rank"], collectives["step"], collectives.texts("group"), collectives.texts("op"))
    size = np.nan_to_num(collectives["size_bytes"], nan=np.inf)
    largest = np.full(len(size), -np.inf)
    of = group_by(*same).of
    np.maximum.at(largest, of, size)
    timed = collective_times(collectives)
    counted = size[timed.row] >= _SMALL * largest[of[timed.row]]
    row, start, end = timed.row[counted], timed.start[counted], timed.end[counted]
    turn, apart = np.full(len(size), np.nan), np.full(len(size), np.nan)
    turn[row] = group_by(of[row]).turns(start)
    order = np.lexsort((start, of[row]))
    follows = np.append(False, np.diff(of[row][order]) == 0)[: len(order)]
    since = np.append(0, start[order][1:] - end[order][:-1])[: len(order)]
    apart[row[order]] = np.where(follows, np.maximum(since, 0) / 1e3, np.nan)
    return turn, apart


def _us_beside_like(collectives: Table[Collective], kinds: Texts) -> Array:
    """Per call: µs from its start in which one like it runs on another stream that began before.

    Alike are calls of one rank, of one kind of operator and of communicators of one kind, whatever is told of it behind
    `_`: gradients of experts are reduced in `dp_modulo_exp`.
    """
    main = Texts.of([name.split("_", 1)[0] for name in kinds.names]).at(kinds.codes)
    like = group_by(collectives["rank"], collectives.texts("op"), main).of
    return np.nan_to_num(_covered_by_earlier_us(collectives["start_ns"], collectives["elapse_us"], like))


def _without_kernels(
    collectives: Table[Collective], kernels: Table[Kernel] | None, begin_us: Array
) -> tuple[Array, Array, Array, Array]:
    """Per call, µs: without a kernel beside it; of that the piece about its middle; of the pause in computation in
    which that piece lies, what no collective takes; and without a kernel in so much of its beginning. Missing where
    kernels or the time of the call are."""
    exposed, still, stalled, begun = np.full((4, len(collectives)), np.nan)
    if kernels is None:
        return exposed, still, stalled, begun
    compute, comm = kernel_times(kernels), collective_times(collectives)
    ranks = collectives["rank"][comm.row]
    for rank in np.intersect1d(ranks, kernels["rank"]).tolist():
        own = kernels["rank"][compute.row] == rank
        here = np.flatnonzero(ranks == rank)
        row, start, end = comm.row[here], comm.start[here], comm.end[here]
        busy = union(compute.start[own], compute.end[own])
        exposed[row] = (end - start - covered_ns(busy, start, end)) / 1e3
        until = start + whole_ns(begin_us[row])
        begun[row] = (until - start - covered_ns(busy, start, until)) / 1e3
        begin, finish = _pauses_at(busy, start + (end - start) // 2)
        still[row] = np.maximum(np.minimum(end, finish) - np.maximum(start, begin), 0) / 1e3
        whole = (begin < finish) & (begin > _EVER.min) & (finish < _EVER.max)
        begin, finish = begin[whole], finish[whole]
        stalled[row[whole]] = (finish - begin - covered_ns(union(start, end), begin, finish)) / 1e3
    return exposed, still, stalled, begun


def _hide_nothing(split: Table[Overlap] | None, collectives: Table[Collective]) -> Array:
    """Per call: whether in its step, as summed up, no communication lies beside computation."""
    if split is None:
        return np.zeros(len(collectives), bool)
    at = row_at(split["rank"], split["step"], collectives["rank"], collectives["step"])
    bare = (split["overlapped_us"] <= _NOTHING * split["comm_us"]) & (split["comm_us"] > 0)
    found: Array = np.append(bare, False)[at]
    return found


def _pauses_at(busy: Spans, moment: Array) -> tuple[Array, Array]:
    """Begin and end of the pause that holds each moment, ever before the first and after the last; empty within one."""
    before = np.searchsorted(busy.start, moment, "right")
    begin = np.append(_EVER.min, busy.end)[before]
    return begin, np.where(begin > moment, begin, np.append(busy.start, _EVER.max)[before])


def _computed_share(collectives: Table[Collective], kernels: Table[Kernel] | None) -> Array:
    """Per call: the part of the kernels of its rank and step that began before it; missing where there are none.

    Of a program without steps those of its round count, and where rounds are not known either nothing is told.

    By time or by number, whichever is less: one slow kernel does not move a call to the end of its step. Kernels that
    took no time do not count.
    """
    share = np.full(len(collectives), np.nan)
    if kernels is None:
        return share
    compute, comm = kernel_times(kernels), collective_times(collectives)
    rank, step = kernels["rank"], number_rounds(kernels, kernels["rank"], kernels["step"], kernels["start_ns"])
    cells = group_by(
        *(
            np.concatenate([collectives[key][comm.row], own[compute.row]])
            for key, own in (("rank", rank), ("step", step))
        )
    )
    start = np.concatenate([comm.start, compute.start])
    order = cells.in_order(start)
    nothing, lengths = np.zeros(len(comm.row)), (compute.end - compute.start).astype(np.float64)
    shares = [_done_before(cells, order, np.concatenate([nothing, weight])) for weight in (lengths, np.sign(lengths))]
    share[comm.row] = np.fmin(*shares)[: len(comm.row)]
    share[collectives["step"] == MISSING] = np.nan
    return share


def _done_before(cells: Groups, order: Array, work: Array) -> Array:
    """Per row: the part of the work of its cell that precedes it in this order."""
    done = np.empty(len(order))
    done[order] = np.cumsum(work[order]) - work[order]
    total = cells.sums(work)
    return ratio(done - (np.cumsum(total) - total)[cells.of], total[cells.of])


def _has_sole_group(collectives: Table[Collective]) -> Array:
    """Per call: whether all ranks seen use one communicator, and none sends to a single peer.

    Where no communicator was recorded it is one if no rank calls twice in a step.
    """
    group = collectives.texts("group").codes
    alike = len(group) > 0 and (group == group[0]).all() and not (collectives["p2p"] == 1).any()
    one = alike and (group[0] >= 0 or bool((group_by(collectives["rank"], collectives["step"]).sizes == 1).all()))
    return np.full(len(group), one, np.int8)


def _cover_us(split: Table[Overlap] | None, collectives: Table[Collective]) -> Array:
    """Per call: µs of computation in its step that no communication runs beside; missing where the split is."""
    if split is None:
        return np.full(len(collectives), np.nan)
    at = row_at(split["rank"], split["step"], collectives["rank"], collectives["step"])
    left: Array = np.append(np.maximum(split["compute_us"] - split["overlapped_us"], 0), np.nan)[at]
    return left


class Meetings(Struct, frozen=True):
    """Which calls of different ranks are one and the same operation."""

    row: Array
    """Row of `collective_calls` of each part."""
    groups: Groups
    """The meeting of each part."""
    shortest: Array
    """Per meeting."""
    longest: Array
    waited: Array
    """Per meeting: mean over its ranks of elapse minus the shortest."""
    last: Array
    """Per meeting: the row of the call that was shortest."""

    def lost_us(self, calls: Table[CollectiveCall], *keys: Array) -> Array:
        """Per part: what its rank lost waiting for the last one, with no kernel beside it as far as that is known.

        Calls on several streams may wait at once: what those of its rank with the same keys wait together counts for
        the one that began first.
        """
        waited = calls["elapse_us"][self.row] - self.shortest[self.groups.of]
        again = _covered_by_earlier_us(calls["start_ns"][self.row], waited, calls["rank"][self.row], *keys)
        alone = np.maximum(waited - np.nan_to_num(again), 0)
        return np.asarray(np.fmin(alone, calls["exposed_us"][self.row]))


def met_in(calls: Table[CollectiveCall]) -> Meetings:
    """Operations seen on two or more ranks that did not all take equally long.

    The k-th call of one name in one step and communicator is one operation on all ranks; send k of one rank is
    receive k of the other. Point-to-point operations count only where exactly two ranks were seen, for in a longer
    chain the same number is another pair.
    """
    timed = np.flatnonzero(calls["elapse_us"] >= 0)
    rank = calls["rank"][timed]
    parts = same_operation(calls, timed)
    elapse = calls["elapse_us"][timed]
    pairs = np.zeros(len(parts), bool)
    pairs[parts.of[calls["p2p"][timed] == 1]] = True
    differ = parts.largest(elapse) > parts.smallest(elapse)
    real = np.where(pairs, parts.sizes == _RANKS_OF_A_PAIR, parts.sizes >= _RANKS_OF_A_PAIR) & differ
    kept = np.flatnonzero(real[parts.of])
    groups = group_by(parts.of[kept])
    row, elapse = timed[kept], elapse[kept]
    last = groups.first_rows(rank[kept], elapse)
    shortest = elapse[last]
    return Meetings(
        row,
        groups,
        shortest=shortest,
        longest=groups.largest(elapse),
        waited=groups.means(elapse) - shortest,
        last=row[last],
    )


def call_matches(calls: Table[CollectiveCall]) -> Table[CallMatch]:
    """One row per rank that made calls which others made too."""
    timed = np.flatnonzero((calls["elapse_us"] >= 0) & (calls["p2p"] != 1))
    numbered = _numbered_alike(calls, timed)
    met = _split_by_moment(calls, timed, numbered)
    several = numbered.sizes[numbered.of] > 1
    apart = met.sizes[met.of] == 1
    ranks = group_by(calls["rank"][timed][several])
    return Table.build(
        CallMatch,
        rank=calls["rank"][timed][several][ranks.first],
        calls=ranks.sizes.astype(np.float64),
        apart=ranks.sums(apart[several].astype(np.float64)),
    )


def same_operation(calls: Table[CollectiveCall], rows: Array) -> Groups:
    """These calls, those of different ranks that are one operation in one group.

    Calls that did not end at one moment are none, though they have the same number: in some recording one is missing.
    Sends and receives may be over before the other side comes, and are not held to that.
    """
    return _split_by_moment(calls, rows, _numbered_alike(calls, rows))


def _split_by_moment(calls: Table[CollectiveCall], rows: Array, numbered: Groups) -> Groups:
    """Calls with the same number, split into those that ended together."""
    apart = np.flatnonzero(_lie_apart(calls, rows, numbered))
    if not len(apart):
        return numbered
    others = group_by(numbered.of[apart])  # where the lowest rank lacks a call, all others may still have met
    alone = _lie_apart(calls, rows[apart], others)
    part = np.zeros(len(rows), np.int64)
    part[apart] = np.where(alone, calls["rank"][rows[apart]] + 2, 1)
    return group_by(numbered.of, part)


def _numbered_alike(calls: Table[CollectiveCall], rows: Array) -> Groups:
    """These calls: those that are the k-th of their kind in one step and group of their rank, for each k."""
    what = [_shared_names(calls.texts(column).take(rows)) for column in ("name", "op")]  # NCCL names kernels, not calls
    step, group = calls["step"][rows], calls.texts("group").take(rows)
    once = group_by(calls["rank"][rows], step, group, *what)
    return group_by(step, group, *what, once.turns(calls["start_ns"][rows]))


def _lie_apart(calls: Table[CollectiveCall], rows: Array, numbered: Groups) -> Array:
    """Per call: whether it and that of the lowest rank with its number were not made at one moment, where known."""
    apart = np.zeros(len(rows), bool)
    start, lasted = calls["start_ns"][rows], calls["elapse_us"][rows]
    held = np.flatnonzero((calls["p2p"][rows] != 1) & (start != MISSING) & (lasted >= 0))
    if len(held):
        apart[held] = lie_apart(calls["rank"][rows[held]], start[held], lasted[held], group_by(numbered.of[held]))
    return apart


def _shared_names(names: Texts) -> Texts:
    """The names with send and receive called alike, numbered anew."""
    if not _MAY_PAIR.search("\n".join(names.names)):  # as mostly, and told in a tenth of the time
        return names
    return Texts.of([_PAIR.sub("pair", name, count=1) for name in names.names]).at(names.codes)
