# SPDX-License-Identifier: Apache-2.0
"""The longest call of every kind of collective, beside its like and beside the same call on other ranks."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.analysis.communication.awaited_ranks import follow_waits
from advisor.analysis.communication.collective_calls import same_operation
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, LongestCall
from advisor.facts.table import Array, Table
from advisor.model.run import Run

_MOST = 0.5
"""A wait of less than this part of a call does not explain its length."""
_OTHER_STEPS = 2
"""With a single other step there is no telling which of the two is the usual one."""
_KEPT = ("rank", "step", "start_ns", "elapse_us", "exposed_us", "transit_us", "wait_us", "idle_us", "size_bytes")


def longest_calls(run: Run, calls: Table[CollectiveCall]) -> Table[LongestCall]:
    """One row per rank, step, kind and communicator; sends and receives, which wait by design, are left out."""
    opening = _is_opening_call(calls)
    bare = group_by(calls["rank"], calls["step"])
    all_bare = bare.sums(calls["exposed_us"])[bare.of]
    timed = np.flatnonzero((calls["elapse_us"] >= 0) & (calls["p2p"] != 1))
    parts = same_operation(calls, timed)
    elapse = calls["elapse_us"][timed]
    like = group_by(*(calls[key][timed] for key in ("rank", "step")), *(calls.texts(k).take(timed) for k in _KIND))
    longest = like.first_rows(calls["start_ns"][timed], -elapse)
    row = timed[longest]
    awaited_us = calls["awaited_us"][row]
    explains = awaited_us >= _MOST * calls["elapse_us"][row]
    awaited = follow_waits(calls, timed, parts)
    whom = np.where(explains, awaited.rank[longest], MISSING)
    absent = np.where(whom == MISSING, -1, ~np.isin(whom, run.ranks)).astype(np.int8)
    late = np.where(explains, awaited.late[longest], -1).astype(np.int8)
    again = (awaited.late == 1) & (calls["awaited_us"][timed] >= _MOST * elapse)
    again &= (awaited.rank == _of_longest(whom, like, longest)) & (_of_longest(absent, like, longest) == 1)
    again &= _of_longest(late, like, longest) == 1
    again[longest] = False
    bare_us = np.fmin(calls["awaited_us"][timed], calls["exposed_us"][timed])
    with np.errstate(invalid="ignore", divide="ignore"):
        exposed_part = calls["exposed_us"][row] / all_bare[row]
    return Table.build(
        LongestCall,
        **{column: calls[column][row] for column in _KEPT},
        **{column: calls.texts(column).take(row) for column in ("name", "op", "group", "group_kind")},
        others=like.sizes[like.of[longest]] - 1.0,
        others_us=like.medians_of_others(elapse)[longest],
        others_bytes=like.medians_of_others(calls["size_bytes"][timed])[longest],
        others_transit_us=like.medians_of_others(calls["transit_us"][timed])[longest],
        seen_on=parts.sizes[parts.of[longest]].astype(np.float64),
        steps_us=_medians_of_other_steps(calls, row),
        in_turn_us=_medians_in_turn(calls.take(timed), like)[longest],
        shortest_us=parts.smallest(elapse)[parts.of[longest]],
        opening=opening[row],
        exposed_part=exposed_part,
        awaited_us=np.where(explains, awaited_us, np.nan),
        awaited_rank=whom,
        awaited_place=np.where(explains, awaited.place[longest], MISSING),
        awaited_alike=np.where(explains, calls["awaited_alike"][row], np.nan),
        awaited_absent=absent,
        awaited_late=late,
        also_awaiting=like.sums(again)[like.of[longest]],
        also_awaiting_us=like.sums(np.where(again, bare_us, 0.0))[like.of[longest]],
    )


_KIND = ("op", "group")


def _of_longest(values: Array, like: Groups, longest: Array) -> Array:
    """Per call: what the longest of its kind has; `longest` has one row per kind."""
    by_kind = np.empty(len(like), values.dtype)
    by_kind[like.of[longest]] = values
    return by_kind[like.of]


def _medians_of_other_steps(calls: Table[CollectiveCall], row: Array) -> Array:
    """Per call of a step: the median of those of its kind in the other steps of its rank."""
    kinds = group_by(calls["rank"][row], *(calls.texts(key).take(row) for key in _KIND))
    return kinds.medians_of_others(calls["elapse_us"][row])


def _medians_in_turn(calls: Table[CollectiveCall], like: Groups) -> Array:
    """Per call: the median of those that come as many-th of its kind in the other steps of its rank; missing with fewer
    than two, and where steps have different numbers of them. `like` are those of one kind and step."""
    kinds = group_by(calls["rank"], *(calls.texts(key) for key in _KIND))
    of_steps = Groups(kinds.of[like.first], kinds.first)
    sizes = like.sizes.astype(np.float64)
    even = of_steps.smallest(sizes) == of_steps.largest(sizes)
    even &= (of_steps.sizes > _OTHER_STEPS) & (kinds.smallest(calls["start_ns"].astype(np.float64)) != MISSING)
    in_turn = group_by(kinds.of, like.turns(calls["start_ns"])).medians_of_others(calls["elapse_us"])
    return np.where(even[kinds.of], in_turn, np.nan)


def _is_opening_call(calls: Table[CollectiveCall]) -> Array:
    """Per call: whether its communicator has no earlier one on its rank; missing where its time or communicator is."""
    own = group_by(calls["rank"], calls.texts("group"))
    known = (calls["start_ns"] != MISSING) & (calls.texts("group").codes >= 0)
    begun = np.full(len(own), np.iinfo(np.int64).max)
    np.minimum.at(begun, own.of[known], calls["start_ns"][known])
    return np.where(known, (calls["start_ns"] == begun[own.of]).astype(np.int8), -1)
