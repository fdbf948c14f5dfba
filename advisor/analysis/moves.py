# SPDX-License-Identifier: Apache-2.0
"""What moving data costs: each size of packet of each collective, with the time that passed and the part that is bare.

communication.json adds up the packets of all links, though those of a mesh work side by side and a network card serves
its peers in turn. And a transfer hidden behind computation can still hold up the one that follows on the same
communicator. So calls that follow each other without a pause are taken as one *train*, whose bare time is spread over
all it moved: of a train that became shorter by some time, no more than its bare time would be won.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.device import collective_times
from advisor.analysis.grouping import grouped, matched
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Move
from advisor.facts.observed import Collective, Link, Transfer
from advisor.facts.table import Array, Table, Texts

_PAUSE_NS = 50_000
"""Queued collectives follow each other within microseconds; a longer pause ends a train."""
_CARDS = ("RDMA", "ROCE")
"""Links on which a rank serves one peer after the other."""


def moves(
    transfers: Table[Transfer],
    calls: Table[CollectiveCall],
    collectives: Table[Collective],
    links: Table[Link] | None,
) -> Table[Move]:
    """One row per row of `transfers`. Wall and bare time are missing where the call was not found."""
    call = _call_of(transfers, calls)
    serial = transfers["transit_us"] / _side_by_side(transfers, links)
    wall = _wall(serial, call, calls)
    bare_part = np.append(_bare_part(calls, collectives), np.nan)[call]
    kinds = calls.texts("group_kind")
    moved, took = transfers["packet_bytes"] * transfers["packets"], transfers["transit_us"]
    return Table.build(
        Move,
        **{column: transfers[column] for column in ("rank", "step", "packet_bytes", "packets", "transit_us")},
        **{column: transfers.texts(column) for column in ("name", "op", "group", "link")},
        group_kind=Texts(np.append(kinds.codes, -1)[call].astype(np.int32), kinds.names),
        rate_gbps=np.divide(moved, took * 1e3, out=np.full(len(moved), np.nan), where=took > 0),
        wall_us=wall,
        bare_us=wall * bare_part,
    )


def _call_of(transfers: Table[Transfer], calls: Table[CollectiveCall]) -> Array:
    """The row of the call of each transfer, or -1."""
    count = len(calls)
    keys = grouped(
        *(np.concatenate([calls[column], transfers[column]]) for column in ("rank", "step")),
        *(Texts.concat([calls.texts(column), transfers.texts(column)]) for column in ("name", "group")),
    ).of
    return matched(keys[:count], keys[count:])


def _side_by_side(transfers: Table[Transfer], links: Table[Link] | None) -> Array:
    """Per transfer: over how many links of its kind the rank sends at the same time; 1 where that is not known."""
    card = transfers.texts("link").isin(_CARDS)
    if links is None:
        return np.ones(len(transfers))
    own = links.take((links["rank"] == links["source"]) & (links["target"] != MISSING))
    ways = grouped(own["rank"], own.texts("group"), own.texts("link"), own["target"]).first
    own = own.take(ways)
    keys = grouped(
        np.concatenate([own["rank"], transfers["rank"]]),
        Texts.concat([own.texts("group"), transfers.texts("group")]),
        Texts.concat([own.texts("link"), transfers.texts("link")]),
    )
    peers = np.bincount(keys.of[: len(own)], minlength=len(keys))[keys.of[len(own) :]]
    return np.where(card, 1, np.maximum(peers, 1)).astype(np.float64)


def _wall(serial: Array, call: Array, calls: Table[CollectiveCall]) -> Array:
    """The transit time of each call, as far as it is recorded, shared among its packets."""
    known = (call >= 0) & (serial >= 0)
    total = np.bincount(call[known], weights=serial[known], minlength=len(calls))
    transit, elapse = calls["transit_us"], calls["elapse_us"]
    took = np.where(transit > 0, transit, np.fmin(total, elapse))
    share = np.divide(serial, np.append(total, np.nan)[call], out=np.zeros(len(call)), where=known & (serial > 0))
    return np.where(known, share * np.append(took, np.nan)[call], np.nan)


def _bare_part(calls: Table[CollectiveCall], collectives: Table[Collective]) -> Array:
    """Per call: bare time over transit time of the train it belongs to, at most 1. Rows are those of `collectives`."""
    timed = collective_times(collectives)
    train = np.full(len(calls), -1)
    stream = grouped(collectives["rank"], collectives.texts("group")).of[timed.row]
    order = np.lexsort((timed.start, stream))
    pause = timed.start[order][1:] - timed.end[order][:-1]
    begins = np.append(True, (np.diff(stream[order]) != 0) | (pause > _PAUSE_NS))[: len(order)]
    train[timed.row[order]] = np.cumsum(begins) - 1
    of = np.where(train >= 0, train, len(order))
    moved = np.bincount(of, weights=np.nan_to_num(calls["transit_us"]), minlength=len(order) + 1)
    bare = np.bincount(of, weights=calls["exposed_us"], minlength=len(order) + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        part: Array = np.where(moved[of] > 0, (bare / moved)[of], calls["exposed_us"] / calls["elapse_us"])
    return np.minimum(part, 1.0)
