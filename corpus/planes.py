# SPDX-License-Identifier: Apache-2.0
"""The tasks a collective consists of: notifies and packets, one plane per peer; and how groups are named."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.events import Collective, Task, Transfer
from corpus.links import Phase, Route, is_remote, packet_ns
from corpus.program import Communicate, Machine

_BYTES = {"FP32": 4, "FP16": 2, "BFP16": 2, "INT64": 8, "INT32": 4, "INT8": 1}
_TASK_OF = {
    "Notify_Record": "Write Value", "Notify_Wait": "Notify Wait", "Memcpy": "SDMA", "Reduce_Inline": "SDMA",
    "RDMASend": "Write Value",
}  # fmt: skip
_NOTIFY_NS = 720
_DOORBELL_NS = 320
"""Posting a send to the network card; 320 ns in the example tasks of msprof's tests (test_communication_parser.py)."""
_SIGNAL_BYTES = 4
"""What an RDMA notify writes at the peer; 4 bytes in the same tasks."""
_ON_CHIP_GBPS = 500.0
"""Copies within the chip; 430 to 600 GB/s in the msinsight AlexNet capture."""


def dtype_bytes(dtype: str) -> int:
    """The size of one element."""
    return _BYTES[dtype]


def group_name(kind: str, members: tuple[int, ...]) -> str:
    """The name of a communicator."""
    return f"group_name_{kind}_{'_'.join(map(str, members))}"


def group_hash(name: str) -> str:
    """The number by which operators name their communicator: two polynomial hashes of 32 bits, side by side."""
    low = high = 0
    for letter in name.encode():
        high = (high * 29 + letter) % 2**32
        low = (low * 131 + letter) % 2**32
    return str(high << 32 | low)


def operator_name(kind: str, group: str, index: int) -> str:
    """The name of a collective: kind, last digits of the group, number within the group, iteration."""
    return f"hcom_{kind}__{group_hash(group)[-3:]}_{index}_1"


class Planes:
    """The tasks of one collective on one rank."""

    def __init__(  # noqa: PLR0917 - what a collective is made of
        self, done: Collective, wanted: Communicate, rank: int, machine: Machine, route: Route, came: Mapping[int, int]
    ) -> None:
        self.done, self.wanted, self.rank, self.machine, self.route = done, wanted, rank, machine, route
        self.came = came
        """When each rank came to it."""
        self.there = max(done.start + done.wait, done.start + 2020)
        self._plane_of: dict[int, int] = {}
        self._found: list[Transfer] = []

    def transfers(self, stream: int, task_id: int) -> list[Transfer]:
        """A copy within the chip, then per peer: tell, wait, send."""
        own = self.wanted.size if self.done.p2p else self.wanted.size // len(self.wanted.members)
        self._add("Memcpy", 0, self.done.start, round(own / _ON_CHIP_GBPS), self.rank, size=own)
        at = self.there
        for number, phase in enumerate(self.route.phases):
            self._phase(phase, at, first=number == 0)
            if number == 0:
                self._await_others(phase)
            at += phase.ns
        for number, transfer in enumerate(self._found):
            task = transfer.task
            task.stream, task.task_id, task.context = stream, task_id, number
        return self._found

    def _phase(self, phase: Phase, at: int, first: bool) -> None:
        card = at
        for peer in self._peers(phase):
            plane = self._plane_of.setdefault(peer, len(self._plane_of))
            if is_remote(self.rank, peer, self.machine):
                self._meet_remote(plane, peer, at, first=first)
            elif first:
                self._meet(plane, peer)
            if peer not in phase.peers.get(self.rank, ()):
                continue
            if is_remote(self.rank, peer, self.machine):
                card = self._add_remote_packets(plane, peer, phase, card)
            else:
                self._add_packets(plane, peer, phase, at)

    def _peers(self, phase: Phase) -> list[int]:
        """Who sends to this rank, and whom it sends to."""
        sends = phase.peers.get(self.rank, ())
        return [m for m in self.wanted.members if m in sends or self.rank in phase.peers.get(m, ())]

    def _meet(self, plane: int, peer: int) -> None:
        start = self.done.start
        self._add("Notify_Record", plane, start + 1000, _NOTIFY_NS, peer)
        self._add("Notify_Wait", plane, start + 2000, self._here(peer) - start - 2000, peer)

    def _meet_remote(self, plane: int, peer: int, at: int, first: bool) -> None:
        """Ranks meet when they come, or when a later phase begins for which they are there already."""
        start, until = (self.done.start + 1000, self._here(peer)) if first else (at - 2000, at)
        self._add("RDMASend", plane, start, _DOORBELL_NS, peer, size=_SIGNAL_BYTES, rdma="RDMA_SEND_NOTIFY")
        self._add("Notify_Wait", plane, start + 1000, until - start - 1000, peer, rdma="RDMA_PAYLOAD_PREPARE")

    def _here(self, peer: int) -> int:
        """When this rank knows that another one came."""
        return max(self.came[peer], self.done.start + 2020)

    def _await_others(self, phase: Phase) -> None:
        """Peers that are there send only when those they wait for have come."""
        peers = self._peers(phase)
        met = max((self._here(peer) for peer in peers), default=self.there)
        if met < self.there:
            late = max(peers, key=self._here)
            self._add("Notify_Wait", self._plane_of[late], met, self.there - met, late)

    def _add_packets(self, plane: int, peer: int, phase: Phase, at: int) -> None:
        for number, size in enumerate(phase.packets):
            took = packet_ns(size, self.rank, peer, self.machine)
            self._add("Reduce_Inline" if number < phase.reducing else "Memcpy", plane, at, took, peer, size=size)
            at += took

    def _add_remote_packets(self, plane: int, peer: int, phase: Phase, at: int) -> int:
        """Packets through the network card; a packet that was lost is confirmed only after it was sent again."""
        for number, size in enumerate(phase.packets):
            took = packet_ns(size, self.rank, peer, self.machine)
            took += self.route.held_up(self.rank, peer) if number == 0 else 0
            self._add_remote_packet(plane, peer, size, at, took)
            at += took
        return at

    def _add_remote_packet(self, plane: int, peer: int, size: int, at: int, took: int) -> None:
        """Payload, signal, checked, signal, acknowledged: the five tasks msprof takes for one RDMA packet."""
        end, bell = at + took, _DOORBELL_NS
        self._add("RDMASend", plane, at, bell, peer, size=size, rdma="RDMA_SEND_PAYLOAD")
        self._found[-1].moving = took
        self._add("RDMASend", plane, at + bell, bell, peer, size=_SIGNAL_BYTES, rdma="RDMA_SEND_NOTIFY")
        confirmed = end - 3 * bell
        self._add("Notify_Wait", plane, at + 2 * bell, confirmed - at - 2 * bell, peer, rdma="RDMA_PAYLOAD_CHECK")
        self._add("RDMASend", plane, confirmed, bell, peer, size=_SIGNAL_BYTES, rdma="RDMA_SEND_NOTIFY")
        self._add("Notify_Wait", plane, confirmed + bell, end - confirmed - bell, peer, rdma="RDMA_PAYLOAD_ACK")

    def _add(self, name: str, plane: int, at: int, took: int, peer: int, *, size: int = 0, rdma: str = "") -> None:
        done = self.done
        end = min(at + took, done.end)
        task = Task("comm", _TASK_OF[name], 0, 0, at, end, done.connection, done.step)
        source, target = done.members.index(self.rank), done.members.index(peer)
        self._found.append(Transfer(name, plane, at, end, source, target, size, self._link(size, peer), task, rdma))

    def _link(self, size: int, peer: int) -> str:
        if not size:
            return "INVALID_TYPE"
        if peer == self.rank:
            return "ON_CHIP"
        return "ROCE" if is_remote(self.rank, peer, self.machine) else "HCCS"
