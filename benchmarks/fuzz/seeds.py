# SPDX-License-Identifier: Apache-2.0
"""The captures that mutations begin with: generated ones, and where they are at hand, recorded ones with fewer rows."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from functools import cache, partial
from types import MappingProxyType

from benchmarks.fuzz.captures import Files
from benchmarks.fuzz.other_seeds import JUDGED, READ
from benchmarks.fuzz.sources_of_seeds import REAL, generate_job, record_capture

_TIMES = {"Start Timestamp(us)": 1695115378810042.5, "Elapse Time(ms)": 3, "Wait Time(ms)": 1, "Transit Time(ms)": 2}
_SENT = {"HCCS": {"Size Distribution": {"1": [2, 0.5]}}, "RDMA": {"Size Distribution": {"1": [2, 0.5]}}}
_STEPS = (
    "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    "2,rank,0,10,1,0,1,4,15,0\n2,rank,1,11,1,0,1,4,15,0\n2,rank,2,30,1,0,1,4,35,5\n2,rank,3,31,1,0,1,4,35,5\n"
    '2,stage,"(0, 1)",11,1,0,1,4,15,0\n2,stage,"(2, 3)",31,1,0,1,4,35,5\n'
)


def _cluster_text() -> Files:
    """What an analysis of four ranks in two stages sums up."""
    info = {"Communication Time Info": _TIMES, "Communication Bandwidth Info": _SENT}
    operators = {"hcom_allReduce__1_0@77": {"0": info, "1": info}, "Total Op Info": {"0": info}}
    sent = {"hcom_send__1_0@88": {"1": info, "3": info}}
    link = {"Transport Type": "RDMA", "Transit Size(MB)": 2, "Transit Time(ms)": 0.5, "Bandwidth(GB/s)": 4}
    content = {
        "cluster_communication.json": {"(0, 1)": {"step2": operators}, "p2p": {"step2": sent}},
        "cluster_communication_matrix.json": {"p2p": {"step2": {"hcom_send__1_0@88": {"1-3": link, "1-1": link}}}},
        "communication_group.json": {"collective": [[0, 1], [2, 3]], "p2p": [[0, 2], [1, 3]]},
    }
    files: Files = {f"cluster_analysis_output/{name}": json.dumps(held).encode() for name, held in content.items()}
    return files | {"cluster_analysis_output/cluster_step_trace_time.csv": _STEPS.encode()}


_TABLES = {
    "ClusterCommunicationTime": (
        "step,hccl_op_name,group_name,rank_id,start_timestamp,elapsed_time,transit_time,wait_time,synchronization_time,idle_time",
        [("step2", "hcom_allReduce__1_0", "77", rank, 1695115378810042.5, 3, 2, 1, 0, 0) for rank in (0, 1)],
    ),
    "ClusterCommunicationBandwidth": (
        "step,hccl_op_name,group_name,rank_id,band_type,package_size,count,total_duration",
        [("step2", "hcom_allReduce__1_0", "77", rank, "HCCS", 1.0, 2, 0.5) for rank in (0, 1)],
    ),
    "ClusterCommunicationMatrix": (
        "step,hccl_op_name,group_name,src_rank,dst_rank,transport_type,transit_size,transit_time",
        [("step2", "hcom_send__1_0", "88", 1, 3, "RDMA", 2.0, 0.5)],
    ),
    "CommunicationGroupMapping": (
        "type,rank_set,group_name,group_id,pg_name",
        [("collective", "(0,1)", "77", "a", "dp"), ("p2p", "(1,3)", "88", "b", "pp")],
    ),
}


def _cluster_database() -> Files:
    """The same as a database."""
    headings, *rows = csv.reader(io.StringIO(_STEPS))
    tables = _TABLES | {"ClusterStepTraceTime": (",".join(f'"{name}"' for name in headings), rows)}
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA page_size = 512")
    for name, (columns, held) in tables.items():
        base.execute(f"CREATE TABLE {name} ({columns})")
        base.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(held[0]))})", held)
    base.commit()
    return {"cluster_analysis_output/cluster_analysis.db": base.serialize()}


_LATER = {"device_column": True, "block_word": "Num", "communication_word": "COMMUNICATION", "versions": True}
_MATRIX = "msinsight_pytorch_matrix"
LOAD = MappingProxyType({
    "text": partial(generate_job, "host-bound", "text", 1, 1, 12),
    "text later": partial(generate_job, "slow-link", "text", 2, 2, 8, **_LATER),
    "database": partial(generate_job, "host-bound", "database", 1, 1, 12),
    "database later": partial(generate_job, "slow-link", "database", 2, 2, 8, **_LATER),
    "cluster text": _cluster_text,
    "cluster database": _cluster_database,
    f"{REAL}text level0": partial(record_capture, f"{_MATRIX}/text/level0/rank0_ascend_pt", 5),
    f"{REAL}text level1": partial(record_capture, f"{_MATRIX}/text/level1/rank0_ascend_pt", 5),
    f"{REAL}text level2": partial(record_capture, f"{_MATRIX}/text/level2/rank0_ascend_pt", 5),
    f"{REAL}database level1": partial(record_capture, f"{_MATRIX}/db/level1/rank0_ascend_pt", 5),
    f"{REAL}database level2": partial(record_capture, f"{_MATRIX}/db/level2/rank1_ascend_pt", 5),
    f"{REAL}trimmed": partial(record_capture, "msinsight_server_testdata/test_rank_0", 8),
    f"{REAL}cluster": partial(record_capture, "msinsight_server_testdata/cluster_analysis_output", 12),
    f"{REAL}micro-benchmark": partial(record_capture, "helix_fixtures/standalone_real_output", 12),
})  # fmt: skip
"""Few rows: what is read is one file, or all of a capture."""
DIAGNOSE = MappingProxyType({
    "host-bound text": partial(generate_job, "host-bound", "text"),
    "host-bound database": partial(generate_job, "host-bound", "database"),
    "synchronising text": partial(generate_job, "synchronise-per-layer", "text"),
    "slow-link text": partial(generate_job, "slow-link", "text", 2, 2, **_LATER),
    "exposed database": partial(generate_job, "exposed-communication", "database", 2),
    "casts database": partial(generate_job, "cast-excess", "database", 1, 2, **_LATER),
    "cluster text": _cluster_text,
    f"{REAL}micro-benchmark": partial(record_capture, "helix_fixtures/standalone_real_output", 100),
    f"{REAL}text level1": partial(record_capture, f"{_MATRIX}/text/level1/rank0_ascend_pt", 60),
    f"{REAL}database level1": partial(record_capture, f"{_MATRIX}/db/level1/rank0_ascend_pt", 60),
    f"{REAL}cluster": partial(record_capture, "msinsight_server_testdata/cluster_analysis_output", 40),
})  # fmt: skip
"""Whole jobs, small: rules fire on them."""
SEEDS = MappingProxyType({"load": LOAD, "diagnose": DIAGNOSE, "load-others": READ, "diagnose-others": JUDGED})
"""By target. Those of the first two stay as they are, so that a number stays the same input."""


def names_at_hand(target: str) -> tuple[str, ...]:
    """The seeds that can be made here: recorded captures lie elsewhere."""
    real = bool(os.environ.get("ADVISOR_REAL_DATA"))
    return tuple(name for name in SEEDS[target] if real or not name.startswith(REAL))


def is_recorded(name: str) -> bool:
    """Whether a seed was recorded, and hence must not be kept in a case."""
    return name.startswith(REAL)


@cache
def seed_files(target: str, name: str) -> Files:
    """The files of a seed."""
    return SEEDS[target][name]()
