# SPDX-License-Identifier: Apache-2.0
"""The tasks a collective consists of: notifies and packets, one plane per peer; and how groups are named."""

from __future__ import annotations

from corpus.events import Collective, Task, Transfer
from corpus.links import packet_ns, packets, sends
from corpus.program import Communicate, Machine

_BYTES = {"FP32": 4, "FP16": 2, "BFP16": 2, "INT64": 8, "INT32": 4, "INT8": 1}
_TASK_OF = {"Notify_Record": "Write Value", "Notify_Wait": "Notify Wait", "Memcpy": "SDMA", "Reduce_Inline": "SDMA"}
_REDUCING = {"allReduce": 0.5, "reduceScatter": 1.0}
"""Share of the packets that are added to what the peer holds."""
_NOTIFY_NS = 720
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

    def __init__(self, done: Collective, wanted: Communicate, rank: int, machine: Machine) -> None:
        self.done, self.wanted, self.rank, self.machine = done, wanted, rank, machine
        self.there = max(done.start + done.wait, done.start + 2020)
        self._found: list[Transfer] = []

    def transfers(self, stream: int, task_id: int) -> list[Transfer]:
        """A copy within the chip, then per peer: tell, wait, send."""
        each = packets(self.wanted.kind, self.wanted.size, self.wanted.members, self.machine)
        own = self.wanted.size if self.done.p2p else self.wanted.size // len(self.wanted.members)
        self._add("Memcpy", 0, self.done.start, round(own / _ON_CHIP_GBPS), self.rank, size=own)
        for plane, peer in enumerate(member for member in self.wanted.members if member != self.rank):
            self._add("Notify_Record", plane, self.done.start + 1000, _NOTIFY_NS, peer)
            self._add("Notify_Wait", plane, self.done.start + 2000, self.there - self.done.start - 2000, peer)
            if sends(self.wanted.kind, self.rank, peer, self.wanted.members):
                self._add_packets(plane, peer, each)
        for number, transfer in enumerate(self._found):
            task = transfer.task
            task.stream, task.task_id, task.context = stream, task_id, number
        return self._found

    def _add_packets(self, plane: int, peer: int, each: list[int]) -> None:
        at, reducing = self.there, len(each) * _REDUCING.get(self.wanted.kind, 0)
        for number, size in enumerate(each):
            took = packet_ns(size, self.rank, peer, self.machine)
            self._add("Reduce_Inline" if number < reducing else "Memcpy", plane, at, took, peer, size=size)
            at += took

    def _add(self, name: str, plane: int, at: int, took: int, peer: int, *, size: int = 0) -> None:
        done = self.done
        end = min(at + took, done.end)
        link = "INVALID_TYPE" if not size else "ON_CHIP" if peer == self.rank else "HCCS"
        task = Task("comm", _TASK_OF[name], 0, 0, at, end, done.connection, done.step)
        source, target = done.members.index(self.rank), done.members.index(peer)
        self._found.append(Transfer(name, plane, at, end, source, target, size, link, task))
