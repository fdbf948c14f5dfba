# SPDX-License-Identifier: Apache-2.0
"""Calls of ranks laid one after another in time: what is asked of the calls of each is then asked of all at once.

Of small ranks it takes as long to ask one as to ask all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from advisor.analysis.host.host import Calls, calls_of
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table

_MOST_CALLS = 1 << 18
"""So many are laid together at most: of more it is the calls, not the ranks, that take time and memory."""
_LONGEST_NS = 1 << 61
"""Ranks that would take more time together, as those of damaged clocks, are not laid one after another."""


class CallsInTurn(Struct, frozen=True):
    """The calls of one rank as they are, or of several, each in a time of its own; and what is asked of them."""

    calls: Calls
    asked: Array
    """The places of the intervals that are of these ranks, ascending."""
    shift: Array
    """Per such interval: by how much its moments move, ns."""


class _Rank(Struct, frozen=True):
    number: int
    calls: Calls
    first: int
    last: int


def calls_in_turn(table: Table[HostCall], rank: Array, first: Array, last: Array) -> Iterator[CallsInTurn]:
    """The calls that intervals are asked about, each of which has a rank, and a first and a last moment looked at (ns).

    Intervals of a rank without calls are asked of none.
    """
    ranks, of = np.unique(rank, return_inverse=True)
    begin, end = np.full(len(ranks), np.iinfo(np.int64).max), np.full(len(ranks), np.iinfo(np.int64).min)
    np.minimum.at(begin, of, first)
    np.maximum.at(end, of, last)
    part: list[_Rank] = []
    calls = lasting = 0
    for number, (one, since, until) in enumerate(zip(ranks.tolist(), begin.tolist(), end.tolist(), strict=True)):
        own = calls_of(table, one)
        if not len(own):
            continue
        begun, ended = own.bounds.tolist()
        found = _Rank(number, own, min(since, begun), max(until, ended))
        length = found.last - found.first + 1
        if part and (calls + len(own) > _MOST_CALLS or lasting + length > _LONGEST_NS):
            yield _laid_in_turn(part, of)
            part, calls, lasting = [], 0, 0
        part.append(found)
        calls, lasting = calls + len(own), lasting + length
    if part:
        yield _laid_in_turn(part, of)


def _laid_in_turn(part: Sequence[_Rank], of: Array) -> CallsInTurn:
    numbers = np.array([one.number for one in part])
    place = np.searchsorted(numbers, of)
    asked = np.flatnonzero(np.append(numbers, -1)[place] == of)
    if len(part) == 1:
        return CallsInTurn(part[0].calls, asked, np.zeros(len(asked), np.int64))
    ends = np.cumsum([one.last - one.first + 1 for one in part])
    shift = np.append(0, ends[:-1]) - np.array([one.first for one in part])
    calls = [one.calls for one in part]
    row = np.concatenate([one.row for one in calls])
    by = np.repeat(shift, [len(one) for one in calls])
    start, end = (np.concatenate([getattr(one, side) for one in calls]) + by for side in ("start", "end"))
    return CallsInTurn(Calls(row, start, end), asked, shift[place[asked]])
