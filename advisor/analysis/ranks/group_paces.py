# SPDX-License-Identifier: Apache-2.0
"""Communicators beside others of their kind: how long the same collectives take once all members are there.

No transfers need to be recorded for that: of each meeting the shortest elapse is the time it really takes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.ranks.links import set_against_like
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, GroupPace, Meeting, Overlap
from advisor.facts.observed import Group
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.units import spell_run

_EXCHANGE = "alltoall"
"""What its members give to each other depends on the data, and need not be as much on another communicator."""

_MOST_RUNS = 8
"""So many runs of ranks are spelled out."""


def group_paces(
    calls: Table[CollectiveCall], met: Table[Meeting], split: Table[Overlap] | None = None
) -> Table[GroupPace]:
    """A row per communicator of a known kind of which several members were captured.

    Raises:
        FactMissing: There are several communicators, and of none is it known what it is for.
    """
    met = met.take(_are_even(met.texts("op")) & (met["p2p"] != 1) & (met.texts("group").codes >= 0))
    told = met.texts("group_kind").codes >= 0
    if not told.any() and len(group_by(met.texts("group"))) > 1:
        raise FactMissing([Group.table])
    met = met.take(told)
    groups = group_by(met.texts("group"))
    names, kinds = (met.texts(column).take(groups.first) for column in ("group", "group_kind"))
    steps = np.bincount(groups.of[group_by(groups.of, met["step"]).first], minlength=len(groups))
    count = groups.sizes / np.maximum(steps, 1)
    needed = groups.sums(met["shortest_us"]) / np.maximum(steps, 1)
    bare = groups.means(met["exposed_us"] - np.nan_to_num(met["bare_wait_us"])) * count
    members, size, compute = _of_members(calls, names, split)
    ranks = np.array([len(own) for own in members], np.int64)
    like = group_by(kinds, ranks, np.rint(count * 1e3).astype(np.int64), _power_of_two(size))
    return Table.build(
        GroupPace,
        group=names,
        group_kind=kinds,
        member_ranks=[_spell_ranks(own) for own in members],
        ranks=ranks.astype(np.float64),
        calls=count,
        needed_us=needed,
        single_us=_beyond_next_longest(groups, met) / np.maximum(steps, 1),
        bare_us=np.maximum(bare, 0.0),
        others=like.sizes[like.of] - 1.0,
        like_us=like.medians_of_others(needed),
        deviation=set_against_like(like, ratio(np.ones(len(needed)), needed)).deviation,
        size_ratio=ratio(size, like.medians_of_others(size)),
        work_ratio=ratio(compute, like.medians_of_others(compute)),
    )


def _beyond_next_longest(groups: Groups, met: Table[Meeting]) -> Array:
    """Per communicator: by how much its longest meeting is longer than the next longest of its operator, µs; the larger
    of several operators, and 0 where each has one."""
    kinds = group_by(groups.of, met.texts("op"))
    order = kinds.in_order(met["shortest_us"])
    last = np.cumsum(kinds.sizes) - 1
    us = met["shortest_us"][order]
    beyond = np.where(kinds.sizes > 1, us[last] - us[np.maximum(last - 1, 0)], 0.0)
    return np.nan_to_num(Groups(groups.of[kinds.first], np.arange(len(groups))).largest(beyond))


def _are_even(ops: Texts) -> Array:
    names = [_EXCHANGE not in (name or "").lower().replace("_", "") for name in ops.names]
    return np.append(names, True)[ops.codes].astype(bool)


def _of_members(
    calls: Table[CollectiveCall], names: Texts, split: Table[Overlap] | None
) -> tuple[list[Array], Array, Array]:
    """Per communicator: its captured members, the bytes of a call, and the computation of a member in a step, µs."""
    calls = calls.take(
        _are_even(calls.texts("op")) & calls.texts("group").isin(name for name in names.values() if name)
    )
    groups = group_by(calls.texts("group"))
    place = {name: number for number, name in enumerate(calls.texts("group").take(groups.first).values())}
    at = np.array([place.get(name, MISSING) for name in names.values()], np.int64)
    pairs = group_by(groups.of, calls["rank"])
    rank, of = calls["rank"][pairs.first], groups.of[pairs.first]
    computed = np.full(len(rank), np.nan)
    if split is not None:
        ranks = group_by(split["rank"])
        computed = values_at(ranks.means(split["compute_us"]), row_of_key(split["rank"][ranks.first], rank), np.nan)
    work = Groups(of, np.arange(len(groups))).means(computed)
    size = groups.means(calls["size_bytes"])
    return [np.sort(rank[of == number]) for number in at], values_at(size, at, np.nan), values_at(work, at, np.nan)


def _power_of_two(size: Array) -> Array:
    known = (size > 0) & np.isfinite(size)
    return np.where(known, np.rint(np.log2(np.where(known, size, 1))), -1).astype(np.int64)


def _spell_ranks(ranks: Array) -> str | None:
    """Ranks in order, such as `8-15` or `0, 8, 16`; missing where there are none."""
    if not len(ranks):
        return None
    breaks = [0, *(np.flatnonzero(np.diff(ranks) != 1) + 1).tolist(), len(ranks)]
    runs = [(int(ranks[begin]), int(ranks[end - 1])) for begin, end in pairwise(breaks)]
    told = [spell_run(*run) for run in runs]
    return ", ".join(told if len(told) <= _MOST_RUNS else [*told[: _MOST_RUNS - 2], "…", told[-1]])
