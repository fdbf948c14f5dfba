# SPDX-License-Identifier: Apache-2.0
"""Collectives that a rank has to have called because other members of its group did: none runs without all."""

from __future__ import annotations

import numpy as np

from advisor.analysis.counted import Counted, rows_of_counts
from advisor.analysis.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Coverage, RankCoverage
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run

_AT_BORDERS = 2
"""So many calls of a kind may lie just outside of the steps of one rank and inside of those of another."""


def coverage(run: Run, own: Table[RankCoverage] | None, calls: Table[CollectiveCall] | None) -> Table[Coverage]:
    """What each rank tells of itself, and how many of the collectives that it had to take part in it has.

    Raises:
        FactMissing: Nothing can be told.
    """
    met = None if calls is None else rows_of_counts(run, [_attended(run, calls)])
    known = [table for table in (own, met) if table is not None and len(table)]
    if not known:
        raise FactMissing([HostCall.table])
    every = Table.concat(RankCoverage, known)
    numbers, texts = ("rank", "needed", "found", "hole"), ("of", "by", "file")
    return Table.build(Coverage, **{n: every[n] for n in numbers}, **{n: every.texts(n) for n in texts})


def _attended(run: Run, calls: Table[CollectiveCall]) -> Counted:
    """Per rank, of all its groups: the most calls of a kind that any member made in steps all have, and its own."""
    calls = calls.take((calls["p2p"] == 0) & (calls["step"] != MISSING))
    calls = calls.take((calls.texts("group").codes >= 0) & _in_common_steps(calls["rank"], calls["step"]))
    groups, kinds = group_by(calls.texts("group")), group_by(calls.texts("group"), calls.texts("op"))
    ranks, rank = np.unique(calls["rank"], return_inverse=True)
    members = np.unique(groups.of * len(ranks) + rank)
    kind, member = _pairs_within(groups.of[kinds.first], members // max(len(ranks), 1))
    here = members[member] % max(len(ranks), 1)
    made = np.bincount(kinds.of * len(ranks) + rank, minlength=len(kinds) * len(ranks))[kind * len(ranks) + here]
    most = np.zeros(len(kinds), np.int64)
    np.maximum.at(most, kind, made)
    needed = most[kind]
    there = np.where(needed - made > _AT_BORDERS, made, needed)
    total, own = (np.bincount(here, weights=values, minlength=len(ranks)) for values in (needed, there))
    shared = np.flatnonzero(np.bincount(here, weights=(np.bincount(kind) > 1)[kind], minlength=len(ranks)))
    return Counted("collectives", "collectives", ranks[shared], total[shared], own[shared])


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
