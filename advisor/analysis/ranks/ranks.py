# SPDX-License-Identifier: Apache-2.0
"""Each rank's mean step beside its peers, the other captured ranks of the same pipeline stage.

Ranks of different stages run different layers and are not compared; where no pipeline is known all ranks are peers.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.communication.collective_calls import Meetings, met_in
from advisor.analysis.ranks.pipeline import worth_of_stages
from advisor.analysis.replay.removals import gains_without_communication
from advisor.analysis.rooflines.families import communicate_inside
from advisor.facts.derived import (
    CollectiveCall,
    Exchange,
    FrequencyUse,
    IdleCause,
    LaunchDelay,
    OperatorShape,
    OperatorShare,
    Overlap,
    RankTime,
    Removal,
    StageTime,
    StepWork,
)
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.model.run import UNEVEN

_COMPARED = 0.5
"""Share of the kernel time that must have a like on other ranks before a pace is told from it."""


def rank_times(
    split: Table[Overlap],
    calls: Table[CollectiveCall] | None,
    idle: Table[IdleCause] | None,
    clocks: Table[FrequencyUse] | None = None,
    shapes: Table[OperatorShape] | None = None,
    *,
    operators: Table[OperatorShare] | None = None,
    without: Table[Removal] | None = None,
    work: Table[StepWork] | None = None,
    held: Table[LaunchDelay] | None = None,
    stages: Table[StageTime] | None = None,
    exchanged: Table[Exchange] | None = None,
) -> Table[RankTime]:
    """One row per rank. Meetings across stages and point-to-point ones do not tell a slow rank and are left out."""
    ranks = group_by(split["rank"])
    first = ranks.first
    rank, stage = split["rank"][first], split["stage"][first]
    means = {
        name: ranks.means(split[name]) for name in ("span_us", "compute_us", "comm_us", "exposed_comm_us", "free_us")
    }
    if not np.isfinite(means["comm_us"]).any():  # summed up by a profiler that tells no hidden communication
        means["comm_us"] = means["exposed_comm_us"]
    inside = _communicating_us(rank, operators, means["compute_us"], ranks.sizes)
    if operators is not None:  # totals are of a whole capture, and not of a step
        operators = operators.take(~operators.texts("source").isin(["totals"]))
    own = _own_work_inside(rank, exchanged, ranks.sizes)
    means |= {"compute_us": means["compute_us"] - inside + own, "comm_us": means["comm_us"] + inside - own}
    peers = group_by(stage)
    mhz = _highest_mhz_by_rank(rank, clocks)
    kernels = _kernels_per_step(rank, operators)
    return Table.build(
        RankTime,
        rank=rank,
        stage=stage,
        peers=peers.sizes[peers.of] - 1.0,
        **means,
        host_gap_us=_host_gaps(rank, ranks, idle),
        peer_compute_us=peers.medians_of_others(means["compute_us"]),
        mean_compute_us=peers.means(means["compute_us"])[peers.of],
        **_attention_beside_peers(rank, peers, work, means["compute_us"]),
        chance_us=_standard_errors(split, ranks, peers),
        peer_comm_us=peers.medians_of_others(means["comm_us"]),
        peer_free_us=peers.medians_of_others(means["free_us"]),
        late_before_us=_late_before_first_step(rank, peers, held, ranks.sizes),
        least_peer_comm_us=_least_of_others(peers, means["comm_us"]),
        next_peer_comm_us=_least_clearly_above(peers, means["comm_us"], UNEVEN * means["span_us"]),
        peer_gain_without_comm_us=peers.medians_of_others(gains_without_communication(rank, without)),
        stage_worth_us=worth_of_stages(stages, stage, even=True),
        **_meetings_by_rank(rank, stage, calls, exchanged, ranks.sizes),
        pace=_pace_by_rank(rank, shapes),
        kernels=kernels,
        peer_kernels=peers.medians_of_others(kernels),
        **_slower_types(rank, peers, operators),
        **_busiest_calls(rank, peers, held, ranks.sizes),
        unlike_share=_unlike_shares(rank, peers, shapes),
        peer_elements_ratio=_elements_beside_peers(rank, peers, work),
        mhz=mhz,
        peer_mhz=peers.medians_of_others(mhz),
        fastest_mhz=np.fmax.reduce(mhz, initial=np.nan),
    )


def _communicating_us(rank: Array, operators: Table[OperatorShare] | None, compute_us: Array, steps: Array) -> Array:
    """Per rank: computation per step in kernels that communicate inside, at most all of it; 0 where it has none. Where
    totals stand in for the list of kernels, all of their time.

    A rank that is late is the one on which these are short: counted as computation they would name its peers.
    """
    if operators is None:
        return np.zeros(len(rank))
    own = operators.take(communicate_inside(operators.texts("op_type")) & np.isin(operators["rank"], rank))
    of = row_of_key(rank, own["rank"])
    per_step = np.where(own.texts("source").isin(["totals"]), own["total_us"] / steps[of], own["unshared_us"])
    total = np.bincount(of, weights=np.nan_to_num(per_step), minlength=len(rank))
    least: Array = np.minimum(total, np.nan_to_num(compute_us))
    return least


def _own_work_inside(rank: Array, exchanged: Table[Exchange] | None, steps: Array) -> Array:
    """Per rank and step, µs: what kernels for which it came last take beyond those of other groups."""
    if exchanged is None:
        return np.zeros(len(rank))
    own = exchanged.take(~np.isnan(exchanged["beyond_us"]) & np.isin(exchanged["rank"], rank))
    total = np.bincount(row_of_key(rank, own["rank"]), own["beyond_us"], len(rank))
    longer: Array = np.maximum(total, 0.0) / steps
    return longer


def _standard_errors(split: Table[Overlap], ranks: Groups, peers: Groups) -> Array:
    """Per rank: by how much its mean computation may differ from its peers' because steps differ; NaN with one step.

    In each step a rank is held against the median of its peers in that step. How far these differences scatter from
    step to step is taken from the rank in the middle of a stage, so that one unsteady rank says nothing of the others.
    """
    beyond = split["compute_us"] - group_by(split["stage"], split["step"]).medians_of_others(split["compute_us"])
    known = ~np.isnan(beyond)
    count = ranks.sums(known)
    mean = ratio(ranks.sums(np.where(known, beyond, 0.0)), count)
    squares = ranks.sums(np.where(known, beyond - mean[ranks.of], 0.0) ** 2)
    scatter = np.sqrt(np.where(count > 1, ratio(squares, count - 1), np.nan))
    error: Array = peers.medians(scatter)[peers.of] / np.sqrt(np.where(count > 1, count, np.nan))
    return error


def _pace_by_rank(rank: Array, shapes: Table[OperatorShape] | None) -> Array:
    """Per rank: its kernel time over that of the same kernels elsewhere.

    Ranks of different stages run different numbers of the same kernels, so this tells a slow device from a stage that
    has more to do.
    """
    if shapes is None:
        return np.full(len(rank), np.nan)
    comparable = (shapes.texts("input_shapes").codes >= 0) & (shapes["communicates"] != 1)
    shapes = shapes.take(comparable & np.isin(shapes["rank"], rank))
    keys = ("op_type", "core", "input_shapes", "input_dtypes", "input_formats", "function")
    elsewhere = group_by(*(shapes.texts(key) for key in keys)).medians_of_others(shapes["mean_us"])
    alike = (shapes["mean_us"] > 0) & (elsewhere > 0)
    own = shapes["total_us"]
    usual = np.divide(own * elsewhere, shapes["mean_us"], out=np.zeros(len(own)), where=alike)
    of = row_of_key(rank, shapes["rank"])

    def total(us: Array) -> Array:
        sums: Array = np.bincount(of, weights=us, minlength=len(rank))
        return sums

    compared = total(np.where(alike, own, 0))
    enough = (compared > 0) & (compared >= _COMPARED * total(own))
    pace: Array = np.divide(compared, total(usual), out=np.full(len(rank), np.nan), where=enough)
    return pace


def _kernels_per_step(rank: Array, operators: Table[OperatorShare] | None) -> Array:
    """Per rank; missing where none is known."""
    if operators is None:
        return np.full(len(rank), np.nan)
    at = row_of_key(rank, operators["rank"])
    total = np.bincount(at[at >= 0], np.nan_to_num(operators["calls"][at >= 0]), len(rank))
    return np.where(total > 0, total, np.nan)


def _slower_types(rank: Array, peers: Groups, operators: Table[OperatorShare] | None) -> dict[str, Texts | Array]:
    """Per rank: the operator type that takes longest beyond what it takes on the peers, by how much, and what it takes
    there, µs. A rank of which operators are known, and not this type, takes 0 for it."""
    unknown = np.full(len(rank), np.nan)
    nothing: dict[str, Texts | Array] = {
        "slower_type": Texts.constant(None, len(rank)),
        "slower_us": unknown,
        "slower_usual_us": unknown,
    }
    if operators is None:
        return nothing
    types = operators.texts("op_type")
    own = operators.take(np.isin(operators["rank"], rank) & (types.codes >= 0) & ~communicate_inside(types))
    if not len(own):
        return nothing
    name, longer, usual = _most_beyond_peers(rank, peers, own["rank"], own.texts("op_type"), own["total_us"])
    return {"slower_type": name, "slower_us": longer, "slower_usual_us": usual}


def _busiest_calls(
    rank: Array, peers: Groups, held: Table[LaunchDelay] | None, steps: Array
) -> dict[str, Texts | Array]:
    """Per rank: the call that fills most of its pauses beyond those of its peers, and by how much per step, µs."""
    own = Table.empty(LaunchDelay) if held is None else held.take(np.isin(held["rank"], rank))
    own = own.take(own.texts("cause").isin(["host"]) & (own.texts("call").codes >= 0))
    if not len(own):
        return {"busiest_call": Texts.constant(None, len(rank)), "busiest_us": np.full(len(rank), np.nan)}
    idle = np.nan_to_num(own["idle_us"]) / steps[row_of_key(rank, own["rank"])]
    name, longer, _ = _most_beyond_peers(rank, peers, own["rank"], own.texts("call"), idle)
    return {"busiest_call": name, "busiest_us": longer}


def _late_before_first_step(rank: Array, peers: Groups, held: Table[LaunchDelay] | None, steps: Array) -> Array:
    """Per rank: what it lost before its first step beyond its peers, µs per step; missing without launches."""
    if held is None:
        return np.full(len(rank), np.nan)
    own = held.take(np.isin(held["rank"], rank) & ~np.isnan(held["before_us"]))
    of = row_of_key(rank, own["rank"])
    total = np.bincount(of, own["before_us"], len(rank)) / steps
    known = np.where(np.bincount(of, minlength=len(rank)) > 0, total, np.nan)
    beyond: Array = known - peers.medians_of_others(known)
    return beyond


def _most_beyond_peers(
    rank: Array, peers: Groups, of_rank: Array, names: Texts, us: Array
) -> tuple[Texts, Array, Array]:
    """Per rank: the name on which it spends most beyond its peers (median), by how much, and what these spend, µs.

    A rank of which anything is known, and not this name, spends 0 on it.
    """
    names = names.in_use()
    of, count = row_of_key(rank, of_rank), len(names.names)
    total = np.bincount(of * count + names.codes, us, len(rank) * count).reshape(len(rank), count)
    total[np.bincount(of, minlength=len(rank)) == 0] = np.nan
    kinds = group_by(np.repeat(peers.of, count), np.tile(np.arange(count), len(rank)))
    usual = kinds.medians_of_others(total.ravel()).reshape(total.shape)
    beyond = np.nan_to_num(total - usual, nan=-np.inf)
    most = beyond.argmax(axis=1)
    at = np.arange(len(rank)), most
    longer = beyond[at] > 0
    return (
        Texts(np.where(longer, most, -1).astype(np.int32), names.names),
        np.where(longer, beyond[at], np.nan),
        np.where(longer, usual[at], np.nan),
    )


def _unlike_shares(rank: Array, peers: Groups, shapes: Table[OperatorShape] | None) -> Array:
    """Per rank: the part of its kernel time in shapes that no other rank has, beyond that of its peers (median).

    Kernels that wait for other ranks inside are left out: they take as long as these let them.
    """
    if shapes is None:
        return np.full(len(rank), np.nan)
    told = (shapes.texts("input_shapes").codes >= 0) & (shapes["communicates"] != 1)
    shapes = shapes.take(told & np.isin(shapes["rank"], rank))
    alike = group_by(*(shapes.texts(key) for key in ("op_type", "input_shapes")))
    ranks_of_shape = np.bincount(alike.of[group_by(alike.of, shapes["rank"]).first], minlength=len(alike))
    of = row_of_key(rank, shapes["rank"])
    total, unlike = (
        np.bincount(of, weights=shapes["total_us"] * which, minlength=len(rank))
        for which in (np.ones(len(of)), ranks_of_shape[alike.of] == 1)
    )
    own = ratio(unlike, total)
    return np.asarray(own - peers.medians_of_others(own))


def _attention_beside_peers(
    rank: Array, peers: Groups, work: Table[StepWork] | None, compute_us: Array
) -> dict[str, Array]:
    """Per rank: its attention per step, the mean of its stage, and what else its peers compute; missing without lists
    of kernels."""
    if work is None:
        return dict.fromkeys(("attention_us", "mean_attention_us", "peer_rest_us"), np.full(len(rank), np.nan))
    ranks = group_by(work["rank"])
    own = values_at(ranks.means(work["attention_us"]), row_of_key(work["rank"][ranks.first], rank), np.nan)
    return {
        "attention_us": own,
        "mean_attention_us": peers.means(own)[peers.of],
        "peer_rest_us": peers.medians_of_others(compute_us - own),
    }


def _elements_beside_peers(rank: Array, peers: Groups, work: Table[StepWork] | None) -> Array:
    """Per rank: elements of the inputs of its kernels, over the median of its peers; missing without shapes."""
    if work is None:
        return np.full(len(rank), np.nan)
    ranks = group_by(work["rank"])
    own = values_at(ranks.means(work["mega_elements"]), row_of_key(work["rank"][ranks.first], rank), np.nan)
    return ratio(own, peers.medians_of_others(own))


def _highest_mhz_by_rank(rank: Array, clocks: Table[FrequencyUse] | None) -> Array:
    """Per rank: the highest frequency it reached; missing where none was recorded."""
    if clocks is None:
        return np.full(len(rank), np.nan)
    return np.append(clocks["highest_mhz"], np.nan)[row_of_key(clocks["rank"], rank)]


def _host_gaps(rank: Array, ranks: Groups, idle: Table[IdleCause] | None) -> Array:
    """Per rank and step: idle time the host is to blame for; missing for ranks without launches."""
    if idle is None:
        return np.full(len(rank), np.nan)
    of = row_of_key(rank, idle["rank"])
    known = (of >= 0) & (idle["host"] >= 0)
    charged = np.where(idle["host"] == 1, idle["total_us"], 0.0)
    total = np.bincount(of[known], weights=charged[known], minlength=len(rank))
    seen = np.bincount(of[known], minlength=len(rank)) > 0
    return np.where(seen, total / ranks.sizes, np.nan)


def _least_of_others(peers: Groups, values: Array) -> Array:
    """Per rank: the smallest value of its peers; NaN without any."""
    smallest = peers.first_rows(values)
    rest = values.copy()
    rest[smallest] = np.nan
    own = np.zeros(len(values), bool)
    own[smallest] = True
    least: Array = np.where(own, peers.smallest(rest)[peers.of], values[smallest][peers.of])
    return least


def _least_clearly_above(peers: Groups, values: Array, apart: Array) -> Array:
    """Per rank: the smallest value of a peer that is larger than its own by more than this; NaN without any."""
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.lexsort((values[known], peers.of[known]))]
    beyond = np.fmax.reduce(values, initial=0.0) + np.fmax.reduce(apart, initial=0.0) + 1.0
    behind_each_other = values[order] + peers.of[order] * beyond
    at = np.searchsorted(behind_each_other, values + apart + peers.of * beyond, "right")
    above = values_at(order, np.where(at < len(order), at, -1), -1)
    found: Array = np.where(values_at(peers.of, above, -1) == peers.of, values_at(values, above, np.nan), np.nan)
    return found


class _Parts(Struct, frozen=True):
    """Ranks that took part in meetings with their peers: one entry per meeting and rank, as rows of `rank_times`."""

    rank: Array
    step: Array
    last: Array
    """The rank that came last."""
    lost_us: Array
    """What the rank lost waiting for it, with nothing computed beside it."""
    caused_us: Array
    """What all ranks of the meeting lost together."""


def _meetings_by_rank(
    rank: Array, stage: Array, calls: Table[CollectiveCall] | None, exchanged: Table[Exchange] | None, steps: Array
) -> dict[str, Array]:
    """Per rank: meetings with peers, how often it came last, and what those it kept waiting then lost each, per step.

    A wait costs what computation does not hide, and once where a rank waits for the same one in two calls at once. The
    ranks kept waiting in different groups wait side by side, so their waits are averaged and not added. Ranks meet in
    collectives, and in kernels that exchange data inside.
    """
    unknown = np.full(len(rank), np.nan)
    met = [] if calls is None else [_parts_of_calls(rank, stage, calls)]
    if exchanged is not None and len(exchanged):
        met.append(_parts_of_exchanges(rank, exchanged))
    if not met:
        names = ("meetings", "last_share", "made_wait_us", "made_wait_again_us", "made_wait_once_us", "blamed_share")
        return dict.fromkeys(names, unknown)
    own, step, last, lost, caused = (
        np.concatenate([getattr(part, name) for part in met]) for name in _Parts.__struct_fields__
    )
    kept = group_by(last, own).first
    kept = np.bincount(last[kept][last[kept] != own[kept]], minlength=len(rank))
    total = np.bincount(last, lost, len(rank))
    longest = np.zeros(len(rank))
    np.maximum.at(longest, last, caused)
    of_steps = group_by(last, step)
    longest_of_each = np.bincount(last[of_steps.first], of_steps.largest(caused), len(rank))
    count = np.bincount(own, minlength=len(rank)).astype(np.float64)
    each = np.maximum(kept, 1) * steps
    peers = group_by(stage)
    all_lost = peers.sums(total)[peers.of]
    return {
        "meetings": count,
        "last_share": ratio(np.bincount(own[own == last], minlength=len(rank)), count),
        "made_wait_us": np.where(count > 0, total / each, np.nan),
        "made_wait_again_us": np.where(count > 0, np.maximum(total - longest, 0) / each, np.nan),
        "made_wait_once_us": np.where(count > 0, longest_of_each / each, np.nan),
        "blamed_share": np.divide(total, all_lost, out=unknown.copy(), where=all_lost > 0),
    }


def _parts_of_calls(rank: Array, stage: Array, calls: Table[CollectiveCall]) -> _Parts:
    """Those of collectives, among ranks of one stage."""
    calls = calls.take(calls["p2p"] != 1)
    met = met_in(calls)
    fair = _among_peers(met, np.append(stage, 0)[row_of_key(rank, calls["rank"])[met.row]], calls["rank"], rank)
    last = row_of_key(rank, calls["rank"][met.last])[met.groups.of]
    lost = met.lost_us(calls, last)
    part = fair[met.groups.of]
    caused = np.bincount(met.groups.of[part], lost[part], len(met.groups))[met.groups.of]
    row = met.row[part]
    return _Parts(row_of_key(rank, calls["rank"][row]), calls["step"][row], last[part], lost[part], caused[part])


def _parts_of_exchanges(rank: Array, exchanged: Table[Exchange]) -> _Parts:
    """Those of kernels that exchange inside; what all lost together is at most as much as each of the others."""
    met = exchanged.take(
        (exchanged["ranks"] > 1) & np.isin(exchanged["rank"], rank) & np.isin(exchanged["last_rank"], rank)
    )
    lost = met["bare_wait_us"]
    own, last = (row_of_key(rank, met[name]) for name in ("rank", "last_rank"))
    return _Parts(own, met["step"], last, lost, lost * (met["ranks"] - 1))


def _among_peers(met: Meetings, stage: Array, caller: Array, rank: Array) -> Array:
    """Per meeting: whether all who took part are known and of one stage."""
    known = np.isin(caller[met.row], rank)
    low, high = np.full(len(met.groups), np.iinfo(np.int64).max), np.full(len(met.groups), np.iinfo(np.int64).min)
    np.minimum.at(low, met.groups.of, np.where(known, stage, np.iinfo(np.int64).min + 1))
    np.maximum.at(high, met.groups.of, np.where(known, stage, np.iinfo(np.int64).max))
    fair: Array = low == high
    return fair
