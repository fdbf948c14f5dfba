# SPDX-License-Identifier: Apache-2.0
"""Collectives that a rank has to have called because other members of its group did: none runs without all."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import Counted, Looked, rows_of_counts
from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Coverage, RankCoverage
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

_AT_BORDERS = 2
"""So many calls of a kind may lie just outside of the steps of one rank and inside of those of another."""


def coverage(run: RunOfRanks, own: Table[RankCoverage] | None, calls: Table[CollectiveCall] | None) -> Table[Coverage]:
    """What each rank tells of itself, and how many of the collectives that it had to take part in it has.

    Raises:
        FactMissing: Nothing can be told.
    """
    met = None if calls is None else rows_of_counts(run, [_attended(calls)], None)
    known = [table for table in (own, met) if table is not None and len(table)]
    if not known:
        raise FactMissing([HostCall.table])
    every = Table.concat(RankCoverage, known)
    numbers, texts = ("rank", "step", "needed", "matched", "hole"), ("of", "by", "file")
    return Table.build(Coverage, **{n: every[n] for n in numbers}, **{n: every.texts(n) for n in texts})


def _attended(calls: Table[CollectiveCall]) -> Counted:
    """Per rank, of all its groups: the most calls of a kind that any member made in steps all have, and its own.

    Of ranks that lack some in a step, calls are held against those of the same step.
    """
    calls = calls.take((calls["p2p"] == 0) & (calls["step"] != MISSING))
    calls = calls.take((calls.texts("group").codes >= 0) & _in_common_steps(calls["rank"], calls["step"]))
    made, each = _calls_of_members(calls), _calls_of_members(calls, calls["step"])
    ranks = np.unique(made.rank[made.members > 1])
    total, own = (
        np.bincount(row_of_key(ranks, made.rank) + 1, values, len(ranks) + 1)[1:]
        for values in (made.needed, made.there)
    )
    counted = Counted("collectives", "collectives", ranks, total, own)
    rows = {
        rank: Looked.of_counts(each.step[here], each.needed[here], each.there[here])
        for rank in np.unique(each.rank[each.there < each.needed]).tolist()
        for here in [each.rank == rank]
    }
    return counted.with_rows(rows)


class _Made(Struct, frozen=True):
    """Calls of each kind by each member of its group, one entry for both; with steps, in each of them."""

    rank: Array
    step: Array
    members: Array
    """How many members were recorded."""
    needed: Array
    """The most that any member made."""
    there: Array
    """Those that this one made; all that are needed if it lacks no more than lie at a border."""


def _calls_of_members(calls: Table[CollectiveCall], *step: Array) -> _Made:
    groups, kinds = group_by(calls.texts("group")), group_by(calls.texts("group"), calls.texts("op"), *step)
    ranks, rank = np.unique(calls["rank"], return_inverse=True)
    many = max(len(ranks), 1)
    members = np.unique(groups.of * many + rank)
    kind, member = _pairs_within(groups.of[kinds.first], members // many)
    here = members[member] % many
    made = np.bincount(kinds.of * many + rank, minlength=len(kinds) * many)[kind * many + here]
    most = np.zeros(len(kinds), np.int64)
    np.maximum.at(most, kind, made)
    needed = most[kind]
    there = np.where(needed - made > _AT_BORDERS, made, needed)
    return _Made(ranks[here], calls["step"][kinds.first][kind], np.bincount(kind)[kind], needed, there)


def _in_common_steps(rank: Array, step: Array) -> Array:
    """Per call: whether its step was recorded on all ranks, and is not the first or the last such of three or more."""
    ranks, steps = len(np.unique(rank)), group_by(step, rank)
    number, seen = np.unique(step[steps.first], return_counts=True)
    common = number[seen == ranks]
    return np.isin(step, common[1:-1] if len(common) > 2 else common)  # noqa: PLR2004 - two have no middle


def _pairs_within(group: Array, members: Array) -> tuple[Array, Array]:
    """For each group in turn every place at which it stands among the members, which are sorted: both as places."""
    begin, end = np.searchsorted(members, group), np.searchsorted(members, group, "right")
    of = np.repeat(np.arange(len(group)), end - begin)
    before = np.cumsum(end - begin) - (end - begin)
    return of, np.arange(len(of)) - before[of] + begin[of]
