# SPDX-License-Identifier: Apache-2.0
"""Items one after another, of which each holds up the next: a running minimum in stretches, without a loop."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, row_type


class Turns(Struct, frozen=True):
    """Items one after another, in stretches that are replayed each by itself."""

    of: Array
    """The stretch of each item."""
    begin: Array
    """The first item of each stretch that has any, and per item the number of its stretch among these."""
    number: Array
    end: Array
    """The last item of each stretch that has any."""

    @classmethod
    def of_stretches(cls, stretch: Array) -> Turns:
        """From the stretch of each item; stretches ascend."""
        first = np.append(True, stretch[1:] != stretch[:-1])[: len(stretch)]
        begin = np.flatnonzero(first)
        end = np.full(len(begin), len(stretch) - 1)
        end[:-1] = begin[1:] - 1
        return cls(stretch, begin, np.cumsum(first, dtype=row_type(len(first))) - 1, end)


def gains_in_turn(limit: Array, slack: Array, turns: Turns) -> Array:
    """Per item: `least(limit, gain of the item before + slack)`, afresh (from 0) in each stretch."""
    if not len(limit):
        return limit
    begin, number = turns.begin, turns.number
    total = np.cumsum(slack)
    total -= (total[begin] - slack[begin]).take(number)  # for numbers of 32 bits in half of the time of [number]
    most = total[turns.end]  # no gain is larger than all the slack of its stretch
    room: Array = np.minimum(limit, most.take(number))
    room -= total
    room[begin] = np.minimum(room[begin], 0)
    # the stretches one below another, so that one running minimum does for all
    depth = most - np.minimum(np.minimum.reduceat(limit, begin), 0)
    above = np.zeros_like(depth)
    above[1:] = depth[:-1]
    lower = np.cumsum(most + above + 1).take(number)
    room -= lower
    np.minimum.accumulate(room, out=room)
    room += lower
    room += total
    return room
