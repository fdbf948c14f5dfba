# SPDX-License-Identifier: Apache-2.0
"""The tasks a collective consists of: notifies and packets, one plane per peer; and how groups are named."""

from __future__ import annotations

from corpus.events import Collective, Task, Transfer
from corpus.links import ns, packet_ns, packets, sends
from corpus.program import Communicate, Machine

_BYTES = {"FP32": 4, "FP16": 2, "BFP16": 2, "INT64": 8, "INT32": 4, "INT8": 1}
_TASK_OF = {"Notify_Record": "Write Value", "Notify_Wait": "Notify Wait", "Memcpy": "SDMA", "Reduce_Inline": "SDMA"}
_REDUCES = ("allReduce", "reduceScatter")
_NOTIFY_NS = 720


def dtype_bytes(dtype: str) -> int:
    """The size of one element."""
    return _BYTES[dtype]


def group_name(members: tuple[int, ...], kind: str) -> str:
    """The communicator of a group; send and receive have one of their own."""
    suffix = "p2p_" if kind in ("send", "receive", "batchSendRecv") else ""
    return f"group_name_{suffix}{'_'.join(map(str, members))}"


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


def transfers(
    done: Collective, wanted: Communicate, rank: int, machine: Machine, stream: int, task_id: int, there: int
) -> list[Transfer]:
    """The tasks of one collective on one rank. Gives the collective its name as well."""
    done.name = operator_name(done.op, done.group, done.index)
    found: list[Transfer] = []
    peers = [member for member in done.members if member != rank]
    for plane, peer in enumerate(peers):
        _add(found, done, "Notify_Record", plane, done.start + 1000, _NOTIFY_NS, rank, peer, 0)
        waited = max(20, there - done.start - 2000)
        _add(found, done, "Notify_Wait", plane, done.start + 2000, waited, rank, peer, 0)
        if sends(done.op, rank, peer, done.members):
            _add_packets(found, done, plane, peer, rank, wanted, machine, max(there, done.start + 2020))
    for number, transfer in enumerate(found):
        transfer.task = Task(
            "comm", _TASK_OF[transfer.name], stream, task_id, transfer.start, transfer.end, done.connection, done.step,
            context=number,
        )  # fmt: skip
        transfer.local_rank = done.members.index(rank)
    return found


def _add_packets(
    found: list[Transfer], done: Collective, plane: int, peer: int, rank: int, wanted: Communicate,
    machine: Machine, at: int,
) -> None:  # fmt: skip
    each = packets(done.op, wanted.size, done.members, machine)
    reducing = len(each) // 2 if done.op == "allReduce" else len(each) if done.op in _REDUCES else 0
    for number, size in enumerate(each):
        took = packet_ns(size, rank, peer, machine)
        name = "Reduce_Inline" if number < reducing else "Memcpy"
        _add(found, done, name, plane, at, took, rank, peer, size)
        at += took


def _add(
    found: list[Transfer], done: Collective, name: str, plane: int, at: int, took: int, rank: int, peer: int, size: int
) -> None:
    end = min(at + took, done.end)
    link = "HCCS" if name in ("Memcpy", "Reduce_Inline") else "INVALID_TYPE"
    task = Task("comm", name, 0, 0, at, end, 0, done.step)
    found.append(Transfer(name, plane, at, end, done.members.index(rank), done.members.index(peer), size, link, task))


def setup_and_idle(done: Collective) -> int:
    """What of a collective is neither waiting nor moving data."""
    return done.end - done.start - done.wait - done.transit


__all__ = ["dtype_bytes", "group_hash", "group_name", "ns", "operator_name", "setup_and_idle", "transfers"]
