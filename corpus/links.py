# SPDX-License-Identifier: Apache-2.0
"""What a collective moves over which link, in which order, and how long that takes.

Within a node every rank has a link to every other (HCCS, a mesh). Ranks of two nodes reach each other through one
network card per rank (RDMA). A collective over several nodes goes in two tiers, as HCCL describes it in its user
guide (CANN 8.1, "hierarchical communication"): AllReduce scatters and reduces inside the nodes, reduces between ranks
that have the same place in their node, and gathers inside the nodes; ReduceScatter starts between the nodes and
AllGather ends there. Between the nodes data goes around a ring.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from corpus.program import Machine

Ranks = tuple[int, ...]
Link = tuple[int, int]
_PACKETS_PER_PEER = {"allReduce": 2, "broadcast": 2}
"""Phases of the mesh algorithm: an AllReduce is a ReduceScatter and an AllGather, one packet to each peer in both."""
_REDUCED = {"allReduce": 0.5, "reduceScatter": 1.0}
"""Share of the packets that are added to what the peer holds."""
_PAIRWISE = ("send", "receive", "batchSendRecv")
_NOISE_KEPT = 1 << 16
"""A job is simulated once with its faults and once without each: these ask for the same numbers."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One tier of a collective: every rank sends the same packets to each of its peers."""

    packets: tuple[int, ...]
    reducing: int
    """How many of the packets, the first ones, are added to what the peer holds."""
    peers: dict[int, Ranks]
    """Whom a rank sends to; links within a node work side by side, those of one network card in turn."""
    ns: int
    """The time of the slowest rank."""


@dataclass(frozen=True, slots=True)
class Route:
    """The phases of one collective, one after the other, and what held up single links (ns)."""

    phases: tuple[Phase, ...]
    held: Mapping[Link, int]

    @property
    def transit(self) -> int:
        """The time data moves, in ns."""
        return sum(phase.ns for phase in self.phases)

    def crosses(self, source: int, target: int) -> bool:
        """Whether it moves data from one rank to another."""
        return any(target in phase.peers.get(source, ()) for phase in self.phases)

    def held_up(self, source: int, target: int) -> int:
        """What a lost packet cost between two ranks, in ns: the one waits for the data, the other to be told of it."""
        return self.held.get((source, target), 0) or self.held.get((target, source), 0)


def ns(us: float) -> int:
    """Whole nanoseconds of a time in µs."""
    return round(us * 1000)


@lru_cache(maxsize=_NOISE_KEPT)
def noise(seed: int, *key: object) -> float:
    """A number in [-1, 1] that depends on the seed and the key alone, so that a fault elsewhere does not change it."""
    digest = hashlib.blake2b(repr((seed, *key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**63 - 1


def pieces(size: int, largest: int) -> list[int]:
    """The packets a payload is sent in."""
    if largest <= 0 or size <= largest:
        return [size]
    whole, rest = divmod(size, largest)
    return [largest] * whole + ([rest] if rest else [])


def is_remote(source: int, target: int, machine: Machine) -> bool:
    """Whether two ranks are on different nodes."""
    return machine.ranks_per_node > 0 and source // machine.ranks_per_node != target // machine.ranks_per_node


def link_of(source: int, target: int, machine: Machine) -> float:
    """The bandwidth of one link in GB/s, which is bytes per ns."""
    usual = machine.rdma_gbps if is_remote(source, target, machine) else machine.link_gbps
    return machine.slow_links.get((source, target), usual)


def packet_ns(size: int, source: int, target: int, machine: Machine) -> int:
    """The time one packet takes."""
    overhead = machine.rdma_overhead_us if is_remote(source, target, machine) else machine.packet_overhead_us
    return ns(overhead) + round(size / link_of(source, target, machine))


def transit_ns(kind: str, size: int, members: Ranks, machine: Machine) -> int:
    """The time a collective moves data when nothing holds it up."""
    return route(kind, size, members, machine).transit


def route(kind: str, size: int, members: Ranks, machine: Machine, held: Mapping[Link, int] | None = None) -> Route:
    """How a collective moves its data. `held` is further time (ns) by link, for a packet that was lost there."""
    nodes = _nodes(members, machine)
    if kind in _PAIRWISE or len(nodes) == 1 or len({len(node) for node in nodes}) > 1:
        tiers = [_mesh(kind, size, members, machine)]
    else:
        tiers = _two_tiers(kind, size, nodes, machine)
    plain = Route((), held or {})
    return Route(tuple(_timed(*tier, machine, plain) for tier in tiers if tier[2]), plain.held)


_Tier = tuple[list[int], float, dict[int, Ranks]]


def _timed(packets: list[int], reduced: float, peers: dict[int, Ranks], machine: Machine, route: Route) -> Phase:
    slowest = max(_sending_ns(packets, source, targets, machine, route) for source, targets in peers.items())
    return Phase(tuple(packets), round(len(packets) * reduced), peers, slowest)


def _sending_ns(packets: list[int], source: int, targets: Ranks, machine: Machine, route: Route) -> int:
    """The time until a rank has sent everything: through its one network card in turn, inside its node side by side."""
    far, near = 0, 0
    for target in targets:
        took = sum(packet_ns(packet, source, target, machine) for packet in packets)
        if is_remote(source, target, machine):
            far += took + route.held_up(source, target)
        else:
            near = max(near, took)
    return max(far, near)


def _nodes(members: Ranks, machine: Machine) -> list[Ranks]:
    size = machine.ranks_per_node or max(members) + 1
    return [tuple(node) for _, node in groupby(sorted(members), key=lambda rank: rank // size)]


def _mesh(kind: str, size: int, members: Ranks, machine: Machine) -> _Tier:
    if kind in ("send", "receive"):
        return pieces(size, machine.packet_bytes), 0, {members[0]: members[1:]}
    everyone = {rank: tuple(peer for peer in members if peer != rank) for rank in members}
    if kind in _PAIRWISE:
        return pieces(size, machine.packet_bytes), 0, everyone
    packets = pieces(size // len(members), machine.packet_bytes) * _PACKETS_PER_PEER.get(kind, 1)
    return packets, _REDUCED.get(kind, 0), everyone


def _two_tiers(kind: str, size: int, nodes: list[Ranks], machine: Machine) -> list[_Tier]:
    inside = {rank: tuple(peer for peer in node if peer != rank) for node in nodes for rank in node}
    ahead = dict(zip(nodes, nodes[1:] + nodes[:1], strict=True))
    ring: dict[int, Ranks] = {rank: (after[place],) for node, after in ahead.items() for place, rank in enumerate(node)}
    local, count = len(nodes[0]), len(nodes)

    def near(part: int, reduced: float) -> _Tier:
        return (pieces(part, machine.packet_bytes), reduced, inside) if local > 1 else ([], 0, {})

    def far(part: int, times: int, reduced: float) -> _Tier:
        return pieces(part, machine.packet_bytes) * times, reduced, ring

    share, block = size // (local * count), size // count
    if kind == "reduceScatter":
        return [far(block, count - 1, 1.0), near(share, 1.0)]
    if kind == "allGather":
        return [near(share, 0), far(block, count - 1, 0)]
    if kind.startswith("alltoall"):
        return [near(share * count, 0), _across(share * local, nodes, machine)]
    adds = kind == "allReduce"
    return [near(size // local, adds), far(share, 2 * (count - 1), 0.5 * adds), near(size // local, 0)]


def _across(part: int, nodes: list[Ranks], machine: Machine) -> _Tier:
    """Every rank to the ranks that have its place in the other nodes."""
    alike = {rank: column for column in zip(*nodes, strict=True) for rank in column}
    peers = {rank: tuple(peer for peer in column if peer != rank) for rank, column in alike.items()}
    return pieces(part, machine.packet_bytes), 0, peers
