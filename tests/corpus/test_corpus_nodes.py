# SPDX-License-Identifier: Apache-2.0
"""Ranks on several nodes talk over RDMA, as the links and the tiers of HCCL have it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import advisor
import corpus
from corpus.cases import Setup
from corpus.events import Job, Layout
from corpus.links import is_remote, packet_ns, route, transit_ns
from corpus.program import Machine
from corpus.transformer import Transformer

TWO_BY_TWO = Setup(Transformer(layers=2, batch=1, steps=2), Layout(dp=4, ranks_per_node=2))
FOUR = (0, 1, 2, 3)
SPLIT = Machine(ranks_per_node=2)
SIZE = 1 << 26
RDMA_LINK_TYPE = 3


@pytest.fixture(scope="module")
def made() -> Job:
    return corpus.job("healthy", 2, setup=TWO_BY_TWO)


@pytest.fixture(scope="module")
def text(made: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus.write(made, tmp_path_factory.mktemp("text"), "text", 2)


@pytest.fixture(scope="module")
def database(made: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus.write(made, tmp_path_factory.mktemp("database"), "database", 2)


def _query(folder: Path, rank: int, sql: str) -> list[tuple[Any, ...]]:
    path = next(folder.rglob(f"ascend_pytorch_profiler_{rank}.db"))
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("kind", ["allReduce", "reduceScatter", "allGather", "broadcast", "alltoallv"])
def test_a_tier_is_within_nodes_or_between_them(kind: str) -> None:
    for phase in route(kind, SIZE, FOUR, SPLIT).phases:
        pairs = [(a, b) for a, peers in phase.peers.items() for b in peers]
        assert len({is_remote(a, b, SPLIT) for a, b in pairs}) == 1


def test_an_all_reduce_sends_no_more_than_its_share_between_nodes() -> None:
    near, far, back = route("allReduce", SIZE, FOUR, SPLIT).phases
    assert sum(near.packets) == sum(far.packets) == sum(back.packets) == SIZE // 2
    assert (near.reducing, far.reducing, back.reducing) == (1, 1, 0)


def test_ranks_alone_on_their_nodes_have_one_tier() -> None:
    assert len(route("allReduce", SIZE, (0, 2), SPLIT).phases) == 1
    assert len(route("allReduce", SIZE, FOUR, Machine()).phases) == 1


def test_tiers_take_as_long_as_the_slowest_link_of_each() -> None:
    even = transit_ns("allReduce", SIZE, FOUR, SPLIT)
    near = transit_ns("allReduce", SIZE, FOUR, Machine(ranks_per_node=2, slow_links={(0, 1): 1.65}))
    far = transit_ns("allReduce", SIZE, FOUR, Machine(ranks_per_node=2, slow_links={(1, 3): 2.45}))
    unused = transit_ns("allReduce", SIZE, FOUR, Machine(ranks_per_node=2, slow_links={(0, 3): 1.0}))
    assert near > 2 * even
    assert far > 2 * even
    assert unused == even


def test_one_network_card_sends_to_one_peer_after_the_other() -> None:
    three_nodes = Machine(ranks_per_node=1)
    share = SIZE // 3
    assert transit_ns("alltoallv", SIZE, (0, 1, 2), three_nodes) == 2 * packet_ns(share, 0, 1, three_nodes)


def test_large_rdma_packets_move_as_fast_as_in_the_recording() -> None:
    """21 and 66 MB at 24.3 and 24.4 GB/s, 4 bytes in 9.4 µs: msinsight's 16-rank capture."""
    for size, gbps in ((20_971_520, 24.2778), (65_536_000, 24.3985)):
        assert size / packet_ns(size, 0, 2, SPLIT) == pytest.approx(gbps, rel=0.01)
    assert packet_ns(4, 0, 2, SPLIT) == pytest.approx(9_437, rel=0.02)


def test_the_matrix_names_the_link_of_every_pair(text: Path) -> None:
    for path in text.rglob("communication_matrix.json"):
        pairs = {
            (*map(int, pair.split("-")), link["Transport Type"])
            for kinds in json.loads(path.read_text()).values()
            for links in kinds["collective"].values()
            for pair, link in links.items()
        }
        assert {kind for *_, kind in pairs} == {"LOCAL", "HCCS", "RDMA"}
        for source, target, kind in pairs:
            assert (kind == "RDMA") == (source // 2 != target // 2)


def test_bandwidths_are_told_by_link(text: Path) -> None:
    for path in text.rglob("communication.json"):
        for kinds in json.loads(path.read_text()).values():
            for name, entry in kinds["collective"].items():
                links = entry["Communication Bandwidth Info"]
                assert links["RDMA"]["Transit Size(MB)"] > 0, name
                assert links["SDMA"]["Transit Size(MB)"] == links["HCCS"]["Transit Size(MB)"] > 0


def test_both_exports_hold_the_same_rdma_tasks(text: Path, database: Path) -> None:
    events = json.loads(next(text.rglob("trace_view.json")).read_text())
    told = Counter(
        round(1000 * e["dur"]) for e in events if e["name"] == "RDMASend" and e["args"]["link type"] == "ROCE"
    )
    sql = f"""SELECT t.endNs - t.startNs FROM COMMUNICATION_TASK_INFO c JOIN TASK t USING(globalTaskId)
        WHERE c.transportType = 1 AND c.linkType = {RDMA_LINK_TYPE}"""
    assert told == Counter(row[0] for row in _query(database, 0, sql))
    assert told


def test_a_packet_is_a_payload_two_signals_and_two_waits(database: Path) -> None:
    names = "SELECT e.name, COUNT(*) FROM COMMUNICATION_TASK_INFO c JOIN ENUM_HCCL_RDMA_TYPE e ON e.id = c.rdmaType"
    counted = dict(_query(database, 0, f"{names} GROUP BY 1"))
    packets = counted["RDMA_SEND_PAYLOAD"]
    assert counted["RDMA_PAYLOAD_CHECK"] == counted["RDMA_PAYLOAD_ACK"] == packets
    assert counted["RDMA_SEND_NOTIFY"] == 2 * packets + counted["RDMA_PAYLOAD_PREPARE"]


def test_each_node_has_its_name_and_numbers_its_devices_from_zero(text: Path, database: Path) -> None:
    hosts = [_query(database, rank, "SELECT hostUid, hostName FROM HOST_INFO")[0] for rank in FOUR]
    assert [name for _, name in hosts] == ["node0", "node0", "node1", "node1"]
    assert len({uid for uid, _ in hosts}) == 2
    devices = [_query(database, rank, "SELECT rankId, deviceId FROM RANK_DEVICE_MAP")[0] for rank in FOUR]
    assert devices == [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert sorted(path.name[:5] for path in text.glob("*_ascend_pt")) == ["node0", "node0", "node1", "node1"]


@pytest.mark.parametrize("export", ["text", "database"])
def test_a_lost_packet_costs_the_timeout_and_is_found_where_it_was_lost(export: str, tmp_path: Path) -> None:
    job = corpus.job("retransmission-stall", 4, setup=TWO_BY_TWO)
    [cause] = job.causes
    lost = 4.096 * 2**20 / len(job.ranks[0].steps())
    assert job.step_us - cause.step_us_without == pytest.approx(lost, rel=0.01)
    found = next(
        f
        for f in advisor.diagnose(corpus.write(job, tmp_path, export)).findings
        if f.rule == "comm/retransmission-stall"
    )
    assert sorted(s.rank for s in found.seen if s.rank is not None) == cause.place["link"]
    assert found.saving.us == pytest.approx(job.step_us - cause.step_us_without, rel=0.02)


def test_a_short_timeout_does_no_harm() -> None:
    job = corpus.job("retransmission-stall", 4, strength=0.25)
    assert job.step_us < 1.02 * job.causes[0].step_us_without
