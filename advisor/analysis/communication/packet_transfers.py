# SPDX-License-Identifier: Apache-2.0
"""What moving data costs: each size of packet of each collective, with the time that passed and the part that is bare.

communication.json adds up the packets of all links, though those of a mesh work side by side and a network card serves
its peers in turn. And a transfer hidden behind computation can still hold up the one that follows on the same
communicator. So calls that follow each other without a pause are taken as one *train*, whose bare time is spread over
all it moved on one kind of link: if that became faster, the train would be shorter by what is saved on it, and of that
no more than its bare time would be won. The last of a train stands for itself: it may have been given out last as well,
when nothing was left to hide it, and then it stays bare however soon the others are done.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.communication.transit import call_of, side_by_side
from advisor.analysis.steps.device import collective_times
from advisor.chips.known_chips import ChipTable
from advisor.facts.derived import CollectiveCall, PacketTransfer
from advisor.facts.observed import Collective, Link, Transfer
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.model.run_of_ranks import RunOfRanks

_PAUSE_NS = 50_000
"""Queued collectives follow each other within microseconds; a longer pause ends a train."""

_LARGE_BYTES = 1_000_000
"""Of smaller packets their number decides how fast they are, and not the link (`comm/slow-transfer`)."""
_LINE_BYTES = 512
"""Copies between devices are aligned to so many bytes (MindStudio's analysis of misaligned transfers)."""


def packet_transfers(
    run: RunOfRanks,
    chips: ChipTable,
    transfers: Table[Transfer],
    calls: Table[CollectiveCall],
    links: Table[Link] | None,
) -> Table[PacketTransfer]:
    """One row per row of `transfers`. Wall and bare time are missing where the call was not found."""
    call = call_of(transfers, calls)
    serial = transfers["transit_us"] / side_by_side(transfers, links)
    wall, trains = _wall_time(serial, call, calls), _train_numbers(calls)
    kinds, known = calls.texts("group_kind"), chips.known_of(run.chip).links
    lines = transfers["packet_bytes"] / _LINE_BYTES
    moved, took = transfers["packet_bytes"] * transfers["packets"], transfers["transit_us"]
    rate = np.divide(moved, took * 1e3, out=np.full(len(moved), np.nan), where=took > 0)
    return Table.build(
        PacketTransfer,
        **{column: transfers[column] for column in ("rank", "step", "packet_bytes", "packets", "transit_us")},
        **{column: transfers.texts(column) for column in ("name", "op", "group", "link")},
        group_kind=kinds.at(call),
        whole_lines=np.where(np.isfinite(transfers["packet_bytes"]), lines == np.rint(lines), -1).astype(np.int8),
        link_gbps=_rates_of_links(transfers.texts("link"), known),
        shared_port=_share_one_port(transfers.texts("link"), known),
        rate_gbps=rate,
        others_gbps=_rates_of_others(transfers, kinds.at(call), rate),
        wall_us=wall,
        bare_us=_bare_time(wall, transfers.texts("link"), values_at(trains, call, -1), calls["exposed_us"], trains),
    )


def _rates_of_links(link: Texts, known: Mapping[str, float]) -> Array:
    """Per transfer: what one such link of the chip moves at most; NaN where that is not known."""
    return values_at(np.array([known.get(name, np.nan) for name in link.names], float), link.codes, np.nan)


def _share_one_port(link: Texts, known: Mapping[str, float]) -> Array:
    """Per transfer: whether all peers share its port. Devices with SIO to the other die of their module, by the chip or
    by what was moved, reach all others over HCCS through switches; others have a link to each."""
    two_dies = "SIO" in known or bool(link.isin(["SIO"]).any())
    return link.isin(["HCCS"]) & two_dies


def _rates_of_others(transfers: Table[Transfer], group_kind: Texts, rate: Array) -> Array:
    """Per transfer in large packets: the rate of those of the other kinds of collectives of its rank on such links, the
    median of their medians; NaN of all others, and where there is one kind alone."""
    large = np.flatnonzero(transfers["packet_bytes"] >= _LARGE_BYTES)
    rank, link, op = transfers["rank"][large], transfers.texts("link").take(large), transfers.texts("op").take(large)
    kinds = group_by(rank, link, op, group_kind.take(large))
    links = group_by(rank[kinds.first], link.take(kinds.first))
    found = np.full(len(rate), np.nan)
    found[large] = links.medians_of_others(kinds.medians(rate[large]))[kinds.of]
    return found


def _wall_time(serial: Array, call: Array, calls: Table[CollectiveCall]) -> Array:
    """The transit time of each call, as far as it is recorded, shared among its packets."""
    known = (call >= 0) & (serial >= 0)
    total = np.bincount(call[known], weights=serial[known], minlength=len(calls))
    transit, elapse = calls["transit_us"], calls["elapse_us"]
    took = np.where(transit > 0, transit, np.fmin(total, elapse))
    share = np.divide(serial, values_at(total, call, np.nan), out=np.zeros(len(call)), where=known & (serial > 0))
    return np.where(known, share * values_at(took, call, np.nan), np.nan)


def _train_numbers(calls: Table[CollectiveCall]) -> Array:
    """Per call: the number of its train, another one for the last of it; -1 where its time is not known."""
    timed = collective_times(Table.build(Collective, start_ns=calls["start_ns"], elapse_us=calls["elapse_us"]))
    stream = group_by(calls["rank"], calls.texts("group")).of[timed.row]
    order = np.lexsort((timed.start, stream))
    pause = timed.start[order][1:] - timed.end[order][:-1]
    begins = np.append(True, (np.diff(stream[order]) != 0) | (pause > _PAUSE_NS))[: len(order)]
    train = np.full(len(calls), -1)
    ends = np.append(begins[1:], True)[: len(order)]
    train[timed.row[order]] = np.cumsum(begins) * 2 + ends
    return train


def _bare_time(wall: Array, link: Texts, train: Array, exposed: Array, trains: Array) -> Array:
    """Per transfer: its share of the bare time of its train, among all that moved there on the same kind of link."""
    known = (train >= 0) & (wall >= 0)
    bare = np.bincount(trains[trains >= 0], weights=exposed[trains >= 0], minlength=1)
    alike = group_by(train, link)
    moved = alike.sums(np.where(known, wall, 0))[alike.of]
    part = np.divide(values_at(bare, train, np.nan), moved, out=np.full(len(wall), np.nan), where=known & (moved > 0))
    bare_us: Array = wall * np.minimum(part, 1.0)
    return bare_us
