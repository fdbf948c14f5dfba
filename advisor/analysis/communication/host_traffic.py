# SPDX-License-Identifier: Apache-2.0
"""What communicators move whose members all run on one host, and whether links of the board join these.

Ranks are joined where traffic over HCCS or SIO leads from one to the other, from rank to rank of the run. Such links do
not lead from one half of a server to the other where it has two, and to another host only in a super node. That is
measured, so nothing has to be known of how a server is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, ratio
from advisor.facts.base import MISSING
from advisor.facts.derived import HostTraffic, PacketTransfer
from advisor.facts.observed import Group, Link
from advisor.facts.table import Table, Texts
from advisor.model.run import MOST_ON_HOST, Run

_NEAR = ("HCCS", "SIO")
"""Links between devices of one board."""
_BULK_BYTES = 1e6
"""Smaller packets tell nothing of a bandwidth, as in `links`."""


class _Communicator(Struct, frozen=True):
    """One whose members all were captured on one host."""

    members: tuple[int, ...]
    host: str
    joined: int
    """Flag: whether links of the board join all members; missing where none was seen on that host."""


def host_traffic(
    run: Run, moved: Table[PacketTransfer], groups: Table[Group], links: Table[Link] | None = None
) -> Table[HostTraffic]:
    """One row per rank, communicator inside one host and kind of link."""
    ranks_of = _ranks_of_hosts(run)
    inside = _inside_hosts(groups, ranks_of, _joined_pairs(links, groups))
    names = moved.texts("group")
    own = np.isin(names.codes, [code for code, name in enumerate(names.names) if name in inside])
    host_of = {rank: host for host, ranks in ranks_of.items() for rank in ranks}
    near_gbps = _rates_of_boards(moved, host_of)
    moved = moved.take(own & (moved["wall_us"] >= 0))
    size = moved["packet_bytes"] * moved["packets"]
    calls = group_by(moved["rank"], moved.texts("group"))
    ways = group_by(moved["rank"], moved.texts("group"), moved.texts("link"))
    near = calls.sums(np.where(moved.texts("link").isin(_NEAR), size, 0))
    first = ways.first
    rank, group = moved["rank"][first], moved.texts("group").take(first)
    found = [inside[name] for name in group.values() if name is not None]
    wall = ways.sums(moved["wall_us"])
    return Table.build(
        HostTraffic,
        rank=rank,
        group=group,
        group_kind=moved.texts("group_kind").take(first),
        link=moved.texts("link").take(first),
        host=Texts.of([one.host for one in found]),
        members=np.array([len(one.members) for one in found], float),
        neighbours=np.array([len(ranks_of[one.host]) for one in found], float),
        joined=np.array([one.joined for one in found], np.int8),
        wall_us=wall,
        bare_us=ways.sums(moved["bare_us"]),
        rate_gbps=ratio(ways.sums(size), wall * 1e3),
        near_share=ratio(near, calls.sums(size))[calls.of[first]],
        near_gbps=np.array([near_gbps.get(one.host, np.nan) for one in found], float),
    )


def _ranks_of_hosts(run: Run) -> dict[str, tuple[int, ...]]:
    """The captured ranks of each host, where its name stands for no more than a server has devices."""
    found: dict[str, list[int]] = {}
    for capture in run.captures:
        if capture.host:
            found.setdefault(capture.host, []).append(capture.rank)
    return {host: tuple(sorted(ranks)) for host, ranks in found.items() if len(ranks) <= MOST_ON_HOST}


def _joined_pairs(links: Table[Link] | None, groups: Table[Group]) -> list[tuple[int, int]]:
    """Ranks between which something moved over links of a board; of communicators alone whose ranks are known."""
    if links is None:
        return []
    known = groups.texts("group")
    near = links.texts("link").isin(_NEAR) & links.texts("group").isin(known.names)
    near &= (links["source"] != MISSING) & (links["target"] != MISSING)
    return sorted(set(zip(links["source"][near].tolist(), links["target"][near].tolist(), strict=True)))


def _inside_hosts(
    groups: Table[Group], ranks_of: Mapping[str, tuple[int, ...]], pairs: Iterable[tuple[int, int]]
) -> dict[str, _Communicator]:
    """By name: the communicators of which all members run on one host."""
    members: dict[str, set[int]] = {}
    for name, rank in zip(groups.texts("group").values(), groups["rank"].tolist(), strict=True):
        if name is not None:
            members.setdefault(name, set()).add(rank)
    board = _boards(pairs)
    found = {}
    for name, ranks in members.items():
        host = next((host for host, own in ranks_of.items() if ranks <= set(own)), "")
        if not host or len(ranks) == 1:
            continue
        boards = {board.get(rank, -1) for rank in ranks}
        seen = any(rank in board for rank in ranks_of[host])
        joined = int(len(boards) == 1 and -1 not in boards) if seen else -1
        found[name] = _Communicator(tuple(sorted(ranks)), host, joined)
    return found


def _boards(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """By rank: the lowest rank it is joined to, from pair to pair."""
    lowest: dict[int, int] = {}

    def root(rank: int) -> int:
        while lowest.setdefault(rank, rank) != rank:
            rank = lowest[rank]
        return rank

    for one, other in pairs:
        first, second = sorted((root(one), root(other)))
        lowest[second] = first
    return {rank: root(rank) for rank in list(lowest)}


def _rates_of_boards(moved: Table[PacketTransfer], host_of: Mapping[int, str]) -> dict[str, float]:
    """By host: the median bandwidth of one HCCS link in large packets; SIO, which is faster, joins two dies alone."""
    bulk = moved.texts("link").isin(["HCCS"]) & (moved["packet_bytes"] >= _BULK_BYTES) & (moved["rate_gbps"] > 0)
    rates: dict[str, list[float]] = {}
    for rank, rate in zip(moved["rank"][bulk].tolist(), moved["rate_gbps"][bulk].tolist(), strict=True):
        rates.setdefault(host_of.get(rank, ""), []).append(rate)
    return {host: float(np.median(found)) for host, found in rates.items()}
