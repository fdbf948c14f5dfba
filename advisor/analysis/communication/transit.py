# SPDX-License-Identifier: Apache-2.0
"""How long the data of each collective was on its way, where the profiler splits its time and where it does not.

The split of an operator into transit, wait and idle time rests on tasks that not every way of running a collective
has: with vector cores as its engine, as from CANN 8.3 on, and for batched sends and receives, transit and wait are
written as 0 and all time as idle. The sums per kind of link beside them are measured all the same.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Collective, Link, Transfer
from advisor.facts.table import Array, Table, Texts

Calls: TypeAlias = Table[Collective] | Table[CollectiveCall]

LONGEST_PART = 1.01
"""A part of a call to its length: in whole captures all parts together make the call, within a millionth."""
_CARDS = ("RDMA", "ROCE")
"""Links on which a rank serves one peer after the other."""


def split_times(
    collectives: Table[Collective], transfers: Table[Transfer] | None, links: Table[Link] | None
) -> tuple[Array, Array, Array]:
    """Per collective: transit, wait and idle time as far as they were measured, µs.

    A transit of 0 is no measurement: what its links took stands in, and it is missing where they are not recorded. With
    no wait either, nothing tells waiting from idling, so both are missing. A part that outlasts its call is one of
    another call or of a damaged file: then all of them are missing.
    """
    parts = np.stack([collectives[name] for name in ("transit_us", "wait_us", "idle_us")])
    impossible = (parts > LONGEST_PART * collectives["elapse_us"]).any(axis=0)
    transit, wait, idle = np.where(impossible, np.nan, parts)
    unmeasured = transit == 0
    took = np.full(len(collectives), np.nan) if transfers is None else link_times(transfers, links, collectives)
    took = np.minimum(np.where(took > 0, took, np.nan), collectives["elapse_us"] - np.nan_to_num(wait))
    unsplit = unmeasured & (wait == 0)
    left = np.maximum(idle - took, 0)
    return (
        np.where(unmeasured, took, transit),
        np.where(unsplit, np.nan, wait),
        np.where(unsplit, np.nan, np.where(unmeasured, left, idle)),
    )


def link_times(transfers: Table[Transfer], links: Table[Link] | None, calls: Calls) -> Array:
    """Per call: the time its packets took, those of links side by side counted once, µs; NaN where none is recorded."""
    call = call_of(transfers, calls)
    serial = transfers["transit_us"] / side_by_side(transfers, links)
    known = (call >= 0) & (serial >= 0)
    total = np.bincount(call[known], weights=serial[known], minlength=len(calls))
    seen = np.bincount(call[known], minlength=len(calls)) > 0
    return np.where(seen, total, np.nan)


def call_of(transfers: Table[Transfer], calls: Calls) -> Array:
    """The row of the call of each transfer, or -1."""
    count = len(calls)
    keys = group_by(
        *(np.concatenate([calls[column], transfers[column]]) for column in ("rank", "step")),
        *(Texts.concat([calls.texts(column), transfers.texts(column)]) for column in ("name", "group")),
    ).of
    return row_of_key(keys[:count], keys[count:])


def side_by_side(transfers: Table[Transfer], links: Table[Link] | None) -> Array:
    """Per transfer: over how many links of its kind the rank sends at the same time; 1 where that is not known."""
    card = transfers.texts("link").isin(_CARDS)
    if links is None:
        return np.ones(len(transfers))
    own = links.take((links["rank"] == links["source"]) & (links["target"] != MISSING))
    ways = group_by(own["rank"], own.texts("group"), own.texts("link"), own["target"]).first
    own = own.take(ways)
    keys = group_by(
        np.concatenate([own["rank"], transfers["rank"]]),
        Texts.concat([own.texts("group"), transfers.texts("group")]),
        Texts.concat([own.texts("link"), transfers.texts("link")]),
    )
    peers = np.bincount(keys.of[: len(own)], minlength=len(keys))[keys.of[len(own) :]]
    return np.where(card, 1, np.maximum(peers, 1)).astype(np.float64)
