# SPDX-License-Identifier: Apache-2.0
"""Signs of links and ports: how fast data move, over which of them, and what ports lose."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus import program as do
from corpus.events import Layout
from corpus.export import EPOCH_NS, us_text
from corpus.signs import Sign, Write
from corpus.signs.captures import about, edit_json
from corpus.signs.instructed import EVEN, MS, computes, instructed, moves, moves_alone

_PAIR = (0, 1)
_CALLS = 4
_LINK_GBPS = EVEN.link_gbps


def _beside_and_alone(slower: float) -> Write:
    """Reductions of 64 MB, in packets of 32: some beside kernels, where they are slower, and as many with none."""

    def work(_rank: int, _step: int) -> Iterator[do.Instruction]:
        for _ in range(_CALLS):
            yield moves("allReduce", _PAIR, 64_000_000, "dp", slower=slower)
            yield from (computes(4 * MS) for _ in range(3))
            yield do.AwaitCommunication()
        for _ in range(_CALLS):
            yield from moves_alone("allReduce", _PAIR, 64_000_000, "dp")
            yield computes(1 * MS)

    return instructed(work, Layout(dp=2))


def _out_of_line(odd_bytes: int, slower: float) -> Write:
    """Reductions in packets of whole lines of 512 bytes, and in packets of another size."""

    def work(_rank: int, _step: int) -> Iterator[do.Instruction]:
        for packet_bytes, takes in ((7813 * 512, 1.0), (odd_bytes, slower)):
            for _ in range(_CALLS):
                yield from moves_alone("allReduce", _PAIR, 2 * packet_bytes, "dp", slower=takes)
                yield computes(1 * MS)

    return instructed(work, Layout(dp=2))


def _over_the_network(hosts: tuple[int, int]) -> Write:
    """Two ranks that reach each other over RDMA alone, on these hosts."""

    def work(_rank: int, _step: int) -> Iterator[do.Instruction]:
        yield computes(2 * MS)
        yield from moves_alone("allReduce", _PAIR, 24_000_000, "dp")

    slow_port = replace(EVEN, rdma_gbps=6.0)
    return instructed(work, Layout(dp=2, ranks_per_node=1), hosts=hosts, machine=slow_port)


def _six_ranks(*slow: tuple[int, int]) -> Write:
    """Six ranks with a link between any two, of which these move half as much, in both directions."""

    def work(_rank: int, _step: int) -> Iterator[do.Instruction]:
        yield computes(5 * MS)
        yield from moves_alone("allReduce", tuple(range(_MESH)), _MESH * 16_000_000, "dp")

    links = {link: _LINK_GBPS / 2 for pair in slow for link in (pair, pair[::-1])}
    return instructed(work, Layout(dp=_MESH), machine=replace(EVEN, slow_links=links))


_MESH = 6


def _reduces(_rank: int, _step: int) -> Iterator[do.Instruction]:
    yield computes(5 * MS)
    yield from moves_alone("allReduce", _PAIR, 8_000_000, "dp")


def _sampled(info: dict[str, Any]) -> None:
    """Ports were sampled: `sys_io` of the profiler's experimental configuration was on."""
    info["config"]["experimental_config"]["_sys_io"] = True


_PORT_HEADINGS = (
    "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),rxDropped rate(%),"
    "Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),funcId"
)


def _with_a_port(received: tuple[float, ...], sent: tuple[float, ...]) -> Write:
    """Beside each rank a roce.csv that says what share of 25 000 MB/s was received and sent, look by look."""

    def change(folder: Path) -> None:
        edit_json(folder, "profiler_info_*.json", _sampled)
        for device, output in enumerate(sorted(folder.rglob("ASCEND_PROFILER_OUTPUT"))):
            lines = [_PORT_HEADINGS]
            for look, (one, other) in enumerate(zip(received, sent, strict=True)):
                at = us_text(EPOCH_NS + look * 2_000_000)
                lines.append(f"{device},{at}\t,25000,{one},61000,0,0,{other},61000,0,0,0")
            (output / "roce.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    return instructed(_reduces, Layout(dp=2), change=change)


_COUNTERS = (
    "deviceId INTEGER, timestampNs INTEGER, macTxPfcPkt INTEGER, macRxPfcPkt INTEGER, macTxByte INTEGER, "
    "macTxBandwidth NUMERIC, macRxByte INTEGER, macRxBandwidth NUMERIC, macTxBadByte INTEGER, macRxBadByte INTEGER, "
    "roceTxPkt INTEGER, roceRxPkt INTEGER, roceTxErrPkt INTEGER, roceRxErrPkt INTEGER, roceTxCnpPkt INTEGER, "
    "roceRxCnpPkt INTEGER, roceNewPktRty INTEGER, nicTxByte INTEGER, nicTxBandwidth NUMERIC, nicRxByte INTEGER, "
    "nicRxBandwidth NUMERIC"
)


def _with_counters(repeated: Callable[[int], int], broken: Callable[[int], int]) -> Write:
    """NETDEV_STATS with two looks at each device, counted from when its port came up: packets, those sent again, and
    those received with errors."""

    def change(folder: Path) -> None:
        edit_json(folder, "profiler_info_*.json", _sampled)
        for device, path in enumerate(sorted(folder.rglob("ascend_pytorch_profiler_*.db"))):
            looks = [_counted(device, look, repeated(look), broken(look)) for look in range(2)]
            marks = ",".join("?" * len(looks[0]))
            with closing(sqlite3.connect(path)) as database, database:
                database.execute(f"CREATE TABLE NETDEV_STATS ({_COUNTERS})")
                database.executemany(f"INSERT INTO NETDEV_STATS VALUES ({marks})", looks)  # noqa: S608 - question marks

    return instructed(_reduces, Layout(dp=2), change=change, export="database")


def _counted(device: int, look: int, repeated: int, broken: int) -> tuple[int, ...]:
    at = EPOCH_NS + look * 3_000_000
    sent, received = 5_000_000 + 400 * look, 6_000_000 + 300 * look
    bytes_so_far = 4096 * received
    return (
        device, at, 7, 90 + 5 * look, bytes_so_far, 3_000_000_000, bytes_so_far, 2_000_000_000, 0, 0,
        sent, received, 0, broken, 11, 30 + 4 * look, repeated, 0, 0, 0, 0,
    )  # fmt: skip


SIGNS: Mapping[str, Sign] = {
    "comm/contended-bandwidth": Sign(
        spoiled=_beside_and_alone(2.0),
        twin=_beside_and_alone(1.2),
        shows={"alone_gbps": about(_LINK_GBPS, 0.01), "ratio": about(0.5, 0.01)},
    ),
    "comm/misaligned-transfers": Sign(
        spoiled=_out_of_line(7813 * 512 + 100, 2.0),
        twin=_out_of_line(7815 * 512, 2.0),
        shows={"whole_gbps": about(_LINK_GBPS, 0.03), "odd_gbps": about(_LINK_GBPS / 2, 0.03)},
    ),
    "comm/network-inside-host": Sign(
        spoiled=_over_the_network((0, 0)),
        twin=_over_the_network((0, 1)),
        shows={"rate": about(6.0, 0.03)},
    ),
    "comm/lost-packets": Sign(
        spoiled=_with_counters(repeated=lambda look: 20 + 3 * look, broken=lambda look: 8 + 2 * look),
        twin=_with_counters(repeated=lambda _: 23, broken=lambda _: 10),
        shows={"repeated_packets": 3, "lost": 2, "all_packets": 700, "congestion": 4, "pauses": 5},
    ),
    "comm/saturated-port": Sign(
        spoiled=_with_a_port((88.0, 92.0), (10.0, 20.0)),
        twin=_with_a_port((72.0, 82.0), (10.0, 20.0)),
        shows={"busy": about(0.90, 1e-9), "capacity": about(25_000 * 1.048576e-3, 1e-9)},
    ),
    "ranks/slow-port": Sign(
        spoiled=_six_ranks((3, 0), (3, 1), (3, 2), (3, 4), (3, 5)),
        twin=_six_ranks((3, 4)),
        shows={"rank": 3, "ends": 5, "best": about(_LINK_GBPS / 2, 0.01), "usual": about(_LINK_GBPS, 0.01)},
    ),
}
