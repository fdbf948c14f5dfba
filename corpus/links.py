# SPDX-License-Identifier: Apache-2.0
"""What a collective moves over which link, and how long that takes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from corpus.program import Machine

_PACKETS_PER_PEER = {"allReduce": 2, "broadcast": 2}
"""Phases of the mesh algorithm: an AllReduce is a ReduceScatter and an AllGather, one packet to each peer in both."""


def ns(us: float) -> int:
    """Whole nanoseconds of a time in µs."""
    return round(us * 1000)


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


def packets(kind: str, size: int, members: tuple[int, ...], machine: Machine) -> list[int]:
    """The packets one rank sends to one peer of the group."""
    if kind in ("send", "receive", "batchSendRecv"):
        return pieces(size, machine.packet_bytes)
    share = size // len(members)
    return pieces(share, machine.packet_bytes) * _PACKETS_PER_PEER.get(kind, 1)


def link_of(source: int, target: int, machine: Machine) -> float:
    """The bandwidth of one link in GB/s, which is bytes per ns."""
    return machine.slow_links.get((source, target), machine.link_gbps)


def packet_ns(size: int, source: int, target: int, machine: Machine) -> int:
    """The time one packet takes."""
    return ns(machine.packet_overhead_us) + round(size / link_of(source, target, machine))


def sends(kind: str, source: int, target: int, members: tuple[int, ...]) -> bool:
    """Whether data moves from one member to another."""
    if kind in ("send", "receive"):
        return (source, target) == members
    return source != target


def transit_ns(kind: str, size: int, members: tuple[int, ...], machine: Machine) -> int:
    """The time of the slowest link; the links of a mesh work side by side."""
    each = packets(kind, size, members, machine)
    pairs = _pairs(kind, members)
    return max((sum(packet_ns(p, a, b, machine) for p in each) for a, b in pairs), default=0)


def _pairs(kind: str, members: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return ((a, b) for a in members for b in members if a != b and sends(kind, a, b, members))
