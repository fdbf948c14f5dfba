# SPDX-License-Identifier: Apache-2.0
"""What captured ranks wait in collectives for ranks that were not captured."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.analysis.communication.awaited_ranks import are_rooted
from advisor.analysis.communication.collective_calls import same_operation
from advisor.facts.base import MISSING
from advisor.facts.derived import AbsentWait, CollectiveCall
from advisor.facts.observed import Group, Link
from advisor.facts.table import Array, Table, Texts
from advisor.model.run import Run

_TIMES = ("elapse_us", "exposed_us", "transit_us", "wait_us", "waited_again_us", "size_bytes")
_AWAITED = ("awaited_rank", "awaited_place", "awaited_us", "awaited_late", "awaited_alike", "awaited_all_us")
_TEXTS = ("name", "op", "group")
_OTHERS = 2
"""Fewer other ranks have no usual wait."""


def absent_waits(
    run: Run,
    calls: Table[CollectiveCall],
    members: Table[Group] | None = None,
    links: Table[Link] | None = None,
) -> Table[AbsentWait]:
    """One row per timed collective of each rank; those from rank to rank, which wait by design, are left out.

    The captured rank that waits shortest in an operation came last of them, and waits for none of them: as long as it
    waits, all wait for one that was not captured, whether or not its name was recorded.
    """
    calls = calls.take(np.flatnonzero((calls["elapse_us"] >= 0) & (calls["p2p"] != 1)))
    group = calls.texts("group")
    ranks = group_by(group.codes, calls["rank"]).first
    groups = group_by(group.codes)
    seen = np.bincount(groups.of[ranks], minlength=len(groups))[groups.of].astype(np.float64)
    absent = calls["absent_us"]
    unnamed = np.isnan(absent) & _others_take_part(run, group, seen, members, links) & ~are_rooted(calls.texts("op"))
    told = np.where(unnamed, calls["wait_us"], absent)
    parts = same_operation(calls, np.arange(len(calls)))
    least = _least_of_all(told, seen, parts)
    absent = np.where(np.isnan(absent), least, np.fmin(least, absent))
    return Table.build(
        AbsentWait,
        **{column: calls[column] for column in ("rank", "step", *_TIMES, *_AWAITED)},
        **{column: calls.texts(column) for column in _TEXTS},
        common_exposed_us=parts.smallest(calls["exposed_us"])[parts.of],
        absent_us=absent,
        others_absent_us=_of_other_ranks(calls["rank"], absent),
    )


def _of_other_ranks(rank: Array, absent_us: Array) -> Array:
    """Per call: what the other ranks wait in all of their calls, median; missing with fewer than two others."""
    ranks = group_by(rank)
    every = Groups(np.zeros(len(ranks), np.int64), np.zeros(min(len(ranks), 1), np.int64))
    usual = every.medians_of_others(ranks.sums(absent_us))
    return np.where(len(ranks) > _OTHERS, usual, np.nan)[ranks.of]


def _others_take_part(
    run: Run, group: Texts, seen: Array, members: Table[Group] | None, links: Table[Link] | None
) -> Array:
    """Per call: whether its communicator has ranks that were not captured.

    Where its members are unknown, a captured rank that is the only one of it is not alone in it, and where more places
    send and receive than ranks of it were captured, the others are of somebody else.
    """
    more: Array = (group.codes >= 0) & ((seen == 1) | (seen < _places_in_links(group, links)))
    if members is None:
        return more
    away = members.take(np.flatnonzero(~np.isin(members["rank"], run.ranks)))
    known, with_others = (group.isin(_names_of_groups(some)) for some in (members, away))
    return np.where(known, with_others, more)


def _places_in_links(group: Texts, links: Table[Link] | None) -> Array:
    """Per call: how many ranks of its communicator were seen to send or receive; 0 without its links."""
    if links is None:
        return np.zeros(len(group.codes))
    names = Texts.concat([group, links.texts("group"), links.texts("group")]).codes
    place = np.concatenate([links["source"], links["target"]])
    told = (place != MISSING) & (names[len(group.codes) :] >= 0)
    pairs = group_by(names[len(group.codes) :][told], place[told])
    places = np.bincount(names[len(group.codes) :][told][pairs.first], minlength=int(names.max(initial=0)) + 1)
    return np.where(group.codes >= 0, places[names[: len(group.codes)]], 0).astype(np.float64)


def _names_of_groups(members: Table[Group]) -> list[str]:
    return [name for name in dict.fromkeys(members.texts("group").values()) if name is not None]


def _least_of_all(us: Array, seen: Array, parts: Groups) -> Array:
    """Per call: the least of all captured ranks of its communicator in the same operation; missing where that of one
    is."""
    whole = (parts.sums(np.isnan(us).astype(np.float64)) == 0) & (parts.sizes == parts.largest(seen))
    return np.where(whole, parts.smallest(us), np.nan)[parts.of]
