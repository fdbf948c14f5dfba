# SPDX-License-Identifier: Apache-2.0
"""Whom a collective waited for, by the longest wait of each rank for a signal of another one.

A wait that began before its rank had moved any data proves that the other rank had not come yet: what is exchanged
first is the signal that one is there. A later wait proves only that the other rank was not ready; in a ring it may have
waited for a third one. So waits are followed from rank to rank as long as both waited at the same time, and the last
rank of such a chain is the one that was waited for. Clocks of ranks differ: moments are counted from the end of the
call, which all leave at about the same time.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, row_at, row_of_key
from advisor.analysis.arrays.intervals import whole_ns
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Collective, PeerWait
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.model.run import Run

_ROOTED = ("broadcast", "gather", "reduce", "scatter")
"""Through these data flows one way: a rank that is waited for may have come and wait for its own share."""
_NEARLY = 0.9
"""A rank for which a call waits so much of its longest wait is waited for nearly as long."""
_TOGETHER = 0.5
"""A wait goes on in that of another rank where the two last together for more than this part of the former."""


class LongestWait(Struct, frozen=True):
    """Per call: the longest wait for another rank."""

    rank: Array
    """The rank it waited for; missing where nothing tells who it is."""
    place: Array
    """Its place in the communicator."""
    since_ns: Array
    us: Array
    late: Array
    """Flag: that rank had not come when the wait began; missing where the wait does not tell."""
    alike: Array
    """For how many ranks it waited as long, or nearly."""
    all_us: Array
    """The longest waits of all calls of the same rank for the same other one together."""

    @property
    def absent_us(self) -> Array:
        """Per call: the wait, where it was for a rank that had not come; 0 where it was not.

        Missing where no wait was recorded, and where nothing tells for whom it was.
        """
        us: Array = np.where(self.rank == MISSING, np.nan, np.where(self.late == 1, self.us, 0.0))
        return us


def without_waits_for_captured(run: Run, calls: Table[CollectiveCall]) -> Array:
    """`absent_us` of the calls with 0 for waits that were for ranks that were captured too: what those did is known.

    Where several were waited for as long, the one that is named stands for others too: then nothing tells for whom.
    """
    here = calls["absent_us"] > 0
    # asked for each of thousands of ranks, whose calls are fewer than these
    here[here] = [rank in run.captured for rank in calls["awaited_rank"][here].tolist()]
    return np.where(here, np.where(calls["awaited_alike"] > 1, np.nan, 0.0), calls["absent_us"])


def longest_wait_of_calls(calls: Table[Collective], waits: Table[PeerWait] | None) -> LongestWait:
    """For whom each call waited longest; all missing where no wait was recorded."""
    if waits is None:
        waits = Table.empty(PeerWait)
    waits = waits.take(np.lexsort((waits["place"], -waits["wait_us"])))
    count = len(calls)
    keys = group_by(
        np.concatenate([calls["rank"], waits["rank"]]),
        np.concatenate([calls["start_ns"], waits["call_ns"]]),
        Texts.concat([calls.texts("name"), waits.texts("name")]),
    ).of
    row = row_of_key(keys[count:], keys[:count])
    rank, place, us = (values_at(waits[name], row, missing) for name, missing in _TOLD)
    called = keys[count:]
    longest = values_at(waits["wait_us"], row_of_key(called, called))
    nearly = np.bincount(called[waits["wait_us"] >= _NEARLY * longest], minlength=int(keys.max(initial=0)) + 1)
    opening = values_at(waits["opening"], row, -1)
    rooted = are_rooted(calls.texts("op"))
    of_same = group_by(calls["rank"], calls.texts("group"), place)
    return LongestWait(
        rank=rank,
        place=place,
        since_ns=values_at(waits["start_ns"], row),
        us=us,
        late=np.where(rooted & (opening == 1), -1, opening).astype(np.int8),
        alike=np.where(row >= 0, nearly[keys[:count]], np.nan),
        all_us=np.where(row >= 0, of_same.sums(us)[of_same.of], np.nan),
    )


def are_rooted(op: Texts) -> Array:
    """Per call: whether data flow one way in it, so that a wait may be for data as well as for a rank."""
    return op.hits(one.lower() in _ROOTED for one in op.names)


_TOLD = (("peer", MISSING), ("place", MISSING), ("wait_us", np.nan))


class AwaitedRanks(Struct, frozen=True):
    """Per call: whom it waited for in the end, from rank to rank."""

    rank: Array
    place: Array
    late: Array
    """Flag: that rank came late itself, and was not held up by another one in this call; missing where not known."""


def follow_waits(calls: Table[CollectiveCall], rows: Array, parts: Groups) -> AwaitedRanks:
    """Whom these calls waited for in the end; `parts` are those of them that are one operation on several ranks.

    Where ranks wait for each other in a circle nobody is named.
    """
    rank, awaited, us = (calls[name][rows] for name in ("rank", "awaited_rank", "awaited_us"))
    lasts = whole_ns(us)
    since = calls["awaited_ns"][rows] - calls["start_ns"][rows] - whole_ns(calls["elapse_us"][rows])
    until = since + lasts
    other = row_at(parts.of, rank, parts.of, awaited)
    goes_on = (other >= 0) & (awaited != MISSING)
    both = np.minimum(until, values_at(until, other)) - np.maximum(since, values_at(since, other))
    goes_on &= (values_at(lasts, other, 0) > 0) & (both > _TOGETHER * lasts)
    last = np.where(goes_on, other, np.arange(len(rows)))
    for _ in range(len(rows).bit_length()):  # each turn doubles how far it was followed
        last = last[last]
    told = ~goes_on[last] & (awaited[last] != rank)
    place, late = calls["awaited_place"][rows], calls["awaited_late"][rows]
    return AwaitedRanks(
        np.where(told, awaited[last], MISSING),
        np.where(told, place[last], MISSING),
        np.where(told, late[last], -1).astype(np.int8),
    )
