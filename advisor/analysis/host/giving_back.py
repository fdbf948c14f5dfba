# SPDX-License-Identifier: Apache-2.0
"""Waits for the device that an allocator makes before it gives memory back, for what is used must not be given away."""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.host import host
from advisor.facts.base import MISSING
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table

_GIVES_BACK = re.compile("Free|Unmap|Release")
_GOES_ON = ("launch", "graph", "enqueue", "dequeue", "operator")
"""Kinds of calls before which a wait was made for something else."""


def waits_to_give_back(table: Table[HostCall]) -> Array:
    """Per call: whether the host waits in it for the device, and next on its thread gives device memory back.

    A wait inside of such a wait, as of the runtime in one of the level above it, is the same one.
    """
    found = np.zeros(len(table), bool)
    found[table.once(_find_waits)] = True
    return found


def _find_waits(table: Table[HostCall]) -> Array:
    """Their rows, which are few."""
    waits, returns = host.is_synchronising(table), _are_returns(table)
    found = [np.empty(0, np.intp)]
    told = (waits | returns | table.texts("kind").isin(_GOES_ON)) & (table["start_ns"] != MISSING)
    returning = np.flatnonzero(returns & told)
    ranks, threads = table["rank"][returning], table.at("thread", returning)
    first = group_by(ranks, threads).first
    for rank, thread in zip(ranks[first].tolist(), threads[first].tolist(), strict=True):
        own = np.flatnonzero(told & table.isin("thread", [thread]) & (table["rank"] == rank))
        start, end = table["start_ns"][own], table.at("end_ns", own)
        own = own[np.lexsort((-end, start))]
        found.append(own[_come_before(waits[own], returns[own], table.at("end_ns", own))])
    return np.concatenate(found)


def _come_before(waits: Array, returns: Array, end: Array) -> Array:
    """Per call of a thread, in order of start: whether it is a wait, or within one, that a return follows next."""
    reach = np.maximum.accumulate(np.where(waits, end, MISSING))
    within = waits & (end <= np.append(MISSING, reach)[: len(end)])
    outer = np.flatnonzero(~within)
    followed = np.append(returns[outer][1:], False)[: len(outer)]
    found: Array = waits & followed[np.cumsum(~within) - 1]
    return found


def _are_returns(table: Table[HostCall]) -> Array:
    names = table.texts("name")
    gives = names.passing(_GIVES_BACK.search)
    found: Array = table.texts("activity").isin(["allocate", "free"]) & gives
    return found
