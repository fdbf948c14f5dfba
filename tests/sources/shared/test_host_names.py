# SPDX-License-Identifier: Apache-2.0
"""Which host a rank ran on is told by what profilers write of it, and never guessed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from advisor.pipeline import open_profile
from advisor.sources.shared.host_names import host_of_worker, named_host
from tests.shared_captures import SharedCaptures


@pytest.mark.parametrize(
    ("worker", "host"),
    [
        ("node0_3178000", "node0"),
        ("gpu-a3_77_4242", "gpu-a3_77"),
        ("master.example.org_981", "master.example.org"),
        ("localhost.localdomain_139247", ""),
        ("rank_17", ""),
        ("worker_17", ""),
        ("rank0", ""),
        ("node0", ""),
        ("_17", ""),
        ("", ""),
        ("x" * 100_000, ""),
    ],
)
def test_a_worker_is_called_by_host_and_process(worker: str, host: str) -> None:
    assert host_of_worker(worker) == host


def test_names_that_all_machines_have_name_none() -> None:
    assert [named_host(name) for name in ("localhost", "LocalHost", "ubuntu", "")] == ["", "", "ubuntu", ""]


def test_a_rank_is_no_host_whatever_its_number() -> None:
    workers = ("rank3_4003", "rank_3_4003", "global-rank12_4003", "rank3b_4003", "node3_4003")
    assert [host_of_worker(worker) for worker in workers] == ["", "", "", "rank3b", "node3"]


@pytest.mark.parametrize("export", ["text", "database"])
def test_captures_of_two_nodes_tell_their_hosts(shared: SharedCaptures, export: str) -> None:
    run = open_profile(shared.written("slow-network-link", export=export)).run
    assert run.hosts == {"node0": tuple(range(8)), "node1": tuple(range(8, 16))}


def test_a_trace_of_a_gpu_tells_its_host_by_its_name(tmp_path: Path) -> None:
    for rank in range(2):
        kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10.0, "dur": 5.0}
        trace = {
            "schemaVersion": 1,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
            "traceEvents": [kernel | {"args": {"stream": 7}}],
        }
        file = tmp_path / f"gpu{rank}-a_{100 + rank}.1700000000000000000.pt.trace.json.gz"
        file.write_bytes(gzip.compress(json.dumps(trace).encode()))
    assert open_profile(tmp_path).run.hosts == {"gpu0-a": (0,), "gpu1-a": (1,)}
