# SPDX-License-Identifier: Apache-2.0
"""Pipeline stages: what each computes in a step, and how long it waits for its neighbours.

A step lasts at least as long as one stage works, and one micro-batch takes through the others: in a schedule of
one forward, one backward the stage that works longest waits once, for its first micro-batch to come and its last to
leave, and the others wait for it. So one stage that gets quicker wins no more than is left until the next one sets
the pace. Interleaved stages pass on each micro-batch once for each of their virtual stages. Taken for granted is that
micro-batches are alike, that those which pass through other stages move in no time, and that data which move with no
kernel beside them would do so too if no stage waited. The pace of a stage is that of its slowest rank; a micro-batch
passes through it as through its rank in the middle.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.ranks.drains import drains, exposed_after_pairs, waits_for_absent_stages
from advisor.analysis.steps.stage_transfers import are_between_stages, count_micro_batches
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Overlap, StageTime
from advisor.facts.observed import Group
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run import UNEVEN, Run

_AVERAGED = ("span_us", "exposed_comm_us", "bubble_us", "free_us")
_NEARLY = 0.9
"""Stages of a balanced pipeline wait equally long but for noise: the first of them stands for all."""
_ALL_LISTED = 0.95
"""Part of the communication of a step that its calls make up at the least: what is tolerated of lost rows elsewhere."""


def stage_times(
    run: Run,
    split: Table[Overlap],
    calls: Table[CollectiveCall] | None = None,
    members: Table[Group] | None = None,
) -> Table[StageTime]:
    """One row per step and stage; none of a job whose groups are known and whose ranks send nothing to one another.

    Raises:
        FactMissing: The stage of no rank is known: groups tell it, or the rows of stages of a summary.
    """
    split = split.take(split["stage"] != MISSING)
    if not len(split) and _is_no_pipeline(run, calls, members):
        return Table.empty(StageTime)
    if not len(split):
        raise FactMissing([StageTime.table if run.is_summary else Group.table])
    groups = group_by(split["step"], split["stage"])
    first = groups.first
    ranks = group_by(groups.of, split["rank"])
    split, heard = _without_unheard_bubbles(split, calls)
    drained = drains(split, calls)
    count = max(len(run.parallel.stages), len(np.unique(split["stage"])))
    of_stage = group_by(split["stage"][first])
    means = {name: groups.means(split[name]) for name in _AVERAGED}
    means["compute_us"] = groups.lower_medians(split["compute_us"])  # a single slow rank makes no stage heavy
    steps = group_by(split["step"][first])
    unseen = steps.largest(means["span_us"])[steps.of] - means["span_us"]
    compute = of_stage.means(means["compute_us"])
    drained_us = np.nan_to_num(groups.means(np.where(heard, drained.drained_us, np.nan)))
    for_absent = waits_for_absent_stages(run.parallel, split, calls, members)
    absent_us = groups.smallest(np.maximum(for_absent - drained.drained_us, 0))  # beyond it for one of their own stage
    stalled = means["bubble_us"] + drained_us + absent_us
    waiting = of_stage.means(stalled + unseen)
    moved = _moving_us(split, calls)
    moving_us = groups.means(moved)
    moving = of_stage.means(moving_us)
    batches, chunks = _micro_batches_of_steps(split, calls, count)
    passed_on = batches if np.isnan(chunks) else batches * chunks
    pausing = split["bubble_us"] + np.where(heard, drained.waited_us + drained.filled_us, np.nan)
    ending = np.maximum(exposed_after_pairs(split, calls) - drained.waited_us - drained.filled_us, 0)
    passing = compute + _us_beside_compute(split, pausing + ending)
    interleaved = chunks > 1  # such a stage begins with micro-batches of its other virtual stages
    ahead = np.minimum((chunks + 1) * count if interleaved else count, passed_on) - 1
    own_pace_us, even_pace_us = _paces_us(
        split, pausing, passing, np.nan_to_num(moved), passed_on=passed_on, ahead=ahead
    )
    is_whole = len(of_stage) >= count
    lightest = split["stage"][first][of_stage.first[np.argmin(compute)]]
    of_all = np.where(is_whole, 1.0, np.nan)  # of a stage that was not captured nobody knows how it works
    table = Table.build(
        StageTime,
        step=split["step"][first],
        stage=split["stage"][first],
        stages=np.full(len(groups), float(count)),
        ranks=np.bincount(groups.of[ranks.first], minlength=len(groups)).astype(np.float64),
        slowest_compute_us=groups.largest(split["compute_us"]),
        **means,
        unseen_us=unseen,
        drained_us=drained_us,
        absent_us=absent_us,
        bare_moving_us=moving_us,
        micro_batches=batches,
        virtual_stages=chunks,
        average_compute_us=np.full(len(groups), compute.mean() * of_all),
        average_waiting_us=np.full(len(groups), waiting.mean() * of_all),
        average_working_us=np.full(len(groups), passing.mean() * of_all),
        others_working_us=np.full(len(groups), (passing.sum() - passing.max(initial=0)) * of_all),
        most_compute_us=np.full(len(groups), np.fmax.reduce(compute) * of_all),
        least_compute_us=np.full(len(groups), np.fmin.reduce(compute) * of_all),
        lightest_stage=np.full(len(groups), lightest if is_whole else MISSING),
        average_unseen_us=np.full(len(groups), of_stage.means(unseen + drained_us).mean() * of_all),
        average_moving_us=np.full(len(groups), moving.mean() * of_all),
        heaviest=_flag_first(compute == np.fmax.reduce(compute))[of_stage.of],
        waits_most=_flag_first(waiting >= _NEARLY * np.fmax.reduce(waiting))[of_stage.of],
        own_pace_us=(own_pace_us * of_all)[of_stage.of],
        even_pace_us=(even_pace_us * of_all)[of_stage.of],
    )
    return table.having(worth_us=worth_of_stages(table, table["stage"]))


def _without_unheard_bubbles(
    split: Table[Overlap], calls: Table[CollectiveCall] | None
) -> tuple[Table[Overlap], Array]:
    """The split without bubbles of nothing on ranks none of whose communication was recorded, and whose was, per row.

    The profiler writes 0 where ranks send and receive in batches; what those took is known by their calls alone.
    """
    heard = np.isin(split["rank"], calls["rank"]) if calls is not None and len(calls) else np.ones(len(split), bool)
    batched = calls is not None and calls.texts("op").isin(["batchSendRecv"]).any()
    unheard = ~heard & (split["bubble_us"] == 0) & batched
    return split.having(bubble_us=np.where(unheard, np.nan, split["bubble_us"])), heard


def _paces_us(
    split: Table[Overlap], pausing: Array, passing: Array, moved_us: Array, *, passed_on: float, ahead: float
) -> tuple[Array, Array]:
    """Per stage: how long a step would be if it waited for no other one, and if its ranks computed evenly too, µs.

    `pausing` is what each row of the split waits for other stages, `moved_us` what of it data move with nothing beside
    them, `passing` what all micro-batches take through each stage, in µs; `passed_on` how many of them go through a
    stage, once for each of its virtual ones, and `ahead` how many it may work on at most while the first is in others.
    Missing where the step was clearly shorter than a stage would take by these numbers: some waits count as work then.
    """
    else_us = _least_of_ranks(split, split["span_us"] - split["compute_us"] - pausing)
    slowest, slowest_even = _slowest_ranks(split, moved_us)
    passing_others = else_us + (passing.sum() - passing) / passed_on
    longest = group_by(split["step"]).largest(split["span_us"]).mean()
    impossible = slowest * (1 - ahead / passed_on) + passing_others > (1 + UNEVEN) * longest
    own, even = (np.where(impossible, np.nan, one + passing_others) for one in (slowest, slowest_even))
    return own, even


def _us_beside_compute(split: Table[Overlap], pausing: Array) -> Array:
    """Per stage, in order: what micro-batches take through it beside its computation, communicating and idle, µs.

    `pausing` is what of the exposed communication no micro-batch takes. What one rank idles alone holds up those of its
    peers only in what they wait for it, once.
    """
    free_us = np.nan_to_num(split["free_us"])
    ranks = group_by(split["stage"], split["rank"])
    usual_us = group_by(split["stage"][ranks.first]).lower_medians(ranks.means(free_us))
    return _least_of_ranks(split, split["span_us"] - split["compute_us"] - free_us - pausing) + usual_us


def worth_of_stages(
    stages: Table[StageTime] | None, stage: Array, other: Array | None = None, *, even: bool = False
) -> Array:
    """Per stage asked for: how much sooner a step would end if no other one waited for it, or for it and this other.

    Missing where one of them is no stage, where there are no more, and where not all is known. With `even` no rank of
    theirs computes clearly longer than its peers, as where all such ranks are brought to the others.
    """
    other = stage if other is None else other
    if stages is None or not len(stages):
        return np.full(len(stage), np.nan)
    longest = group_by(stages["step"]).largest(stages["span_us"]).mean()
    first = group_by(stages["stage"]).first
    names, paces = stages["stage"][first], stages["even_pace_us" if even else "own_pace_us"][first]
    asked = (names == stage[:, None]) | (names == other[:, None])
    pace = np.where(asked, -np.inf, paces).max(axis=1, initial=-np.inf)
    known = np.isin(stage, names) & np.isin(other, names) & np.isfinite(pace)
    return np.where(known, np.maximum(longest - pace, 0), np.nan)


def _is_no_pipeline(run: Run, calls: Table[CollectiveCall] | None, members: Table[Group] | None) -> bool:
    """Whether it is recorded that the job has no stages: no group is for them, and no call goes from rank to rank."""
    if run.parallel.pp > 1 or not members or not calls:
        return False
    return not members.texts("group_kind").isin(["pp"]).any() and not are_between_stages(calls).any()


def _least_of_ranks(split: Table[Overlap], us: Array) -> Array:
    """Per stage, in order: the least of its ranks, each over its steps: of waits for a rank among them it has least."""
    ranks = group_by(split["stage"], split["rank"])
    return group_by(split["stage"][ranks.first]).smallest(ranks.means(us))


def _slowest_ranks(split: Table[Overlap], moving_us: Array) -> tuple[Array, Array]:
    """Per stage, in order: what its slowest rank computes and moves in a step, as it is and if it computed as others.

    The latter takes ranks that compute clearly longer than their peers for such as these: beside several from where
    ranks count as uneven, beside a single one from twice that.
    """
    ranks = group_by(split["stage"], split["rank"])
    compute, moving = ranks.means(split["compute_us"]), ranks.means(moving_us)
    stages = group_by(split["stage"][ranks.first])
    peers, peer_compute = stages.sizes[stages.of] - 1, stages.medians_of_others(compute)
    slow = compute > peer_compute * np.where(peers > 1, 1 + UNEVEN, 1 + 2 * UNEVEN)
    return stages.largest(compute + moving), stages.largest(np.where(slow, peer_compute, compute) + moving)


def _moving_us(split: Table[Overlap], calls: Table[CollectiveCall] | None) -> Array:
    """Per rank and step: how long data of sends or receives move with no kernel beside them, at the least.

    A rank may send and receive at the same time: the direction counts that takes longer, and batches of both. Missing
    where a step has no such call of which that is known.
    """
    if calls is None:
        return np.full(len(split), np.nan)
    calls = calls.take(are_between_stages(calls) & ~np.isnan(calls["bare_transit_us"]))
    cell = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    known, ops = cell >= 0, calls.texts("op")
    sent, received = (known & ops.isin([op]) for op in ("send", "receive"))
    sums = [
        np.bincount(cell[some], weights=calls["bare_transit_us"][some], minlength=len(split))
        for some in (sent, received, known & ~sent & ~received)
    ]
    seen = np.bincount(cell[known], minlength=len(split)) > 0
    return np.where(seen, np.maximum(sums[0], sums[1]) + sums[2], np.nan)


def _micro_batches_of_steps(
    split: Table[Overlap], calls: Table[CollectiveCall] | None, stages: int
) -> tuple[float, float]:
    if calls is None:
        return np.nan, np.nan
    cell = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    known = np.flatnonzero((cell >= 0) & (calls["step"] != MISSING))  # without steps nobody knows how many there are
    known = known[~_cells_lacking_calls(split, calls.take(known), cell[known])[cell[known]]]
    return count_micro_batches(calls.take(known), split["stage"][cell[known]], stages)


def _cells_lacking_calls(split: Table[Overlap], calls: Table[CollectiveCall], cell: Array) -> Array:
    """Per row of the split: whether its calls are fewer than the profiler, which summed it up, counted; `cell` of each.

    All of them last at least as long together as the time in which any runs, so that a list which falls short of that
    lacks some: a summary of a cluster may come with the communication of few ranks, or with a part of it. Where the
    profiler counted nothing, nobody knows that they are all.
    """
    listed_us = np.bincount(cell, weights=calls["elapse_us"], minlength=len(split))
    counted_us = np.fmax(split["comm_us"], split["exposed_comm_us"])
    few = (listed_us < _ALL_LISTED * counted_us) | np.isnan(counted_us)
    found: Array = split.texts("source").isin(["recorded"]) & few
    return found


def _flag_first(these: Array) -> Array:
    """Only the first of these, as a flag; the first of all where nothing is known."""
    flags = np.zeros(len(these), np.int8)
    flags[np.argmax(these)] = 1
    return flags
