# SPDX-License-Identifier: Apache-2.0
"""Collectives of which marks alone tell are those that were recorded as such."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
import corpus
from advisor.facts.observed import Collective
from advisor.facts.table import Texts
from advisor.pipeline import open_profile
from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.marked_collectives import marked_collectives, tell_of_collectives
from tests.sources.traces import captured, event, lane, of

MESSAGE = {"streamId": "9", "count": "8194", "dataType": "bfp16", "groupName": "group_name_29"}
CALLED = {"allReduce": "HcclAllreduce", "allGather": "HcclAllGather", "broadcast": "HcclBroadcast"}
OF_DEVICE = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO", "TASK")


def message(op: str = "HcclAllreduce", *, escaped: bool = False, **others: str) -> str:
    said = json.dumps({**MESSAGE, "opName": op, **others})
    return said.replace('"', '\\"') if escaped else said


def recorded_at_level_none(database: Path) -> None:
    """Makes of a database one that holds nothing of the device but what marks around collectives left there."""
    with closing(sqlite3.connect(database)) as opened:
        rows = opened.execute(
            "SELECT substr(n.value, 6, instr(n.value, '__') - 6), g.value, d.name, o.count, "
            "(SELECT min(a.startNs) FROM CANN_API a WHERE a.connectionId = o.connectionId), o.startNs, o.endNs "
            "FROM COMMUNICATION_OP o JOIN STRING_IDS n ON n.id = o.opName JOIN STRING_IDS g ON g.id = o.groupName "
            "JOIN ENUM_HCCL_DATA_TYPE d ON d.id = o.dataType"
        ).fetchall()
        for table in OF_DEVICE:
            opened.execute(f"DELETE FROM {table}")
        opened.execute(
            "CREATE TABLE MSTX_EVENTS (startNs, endNs, eventType, globalTid, message, domainId, connectionId)"
        )
        last = opened.execute("SELECT max(id) FROM STRING_IDS").fetchone()[0]
        for number, (op, group, dtype, count, asked, start, end) in enumerate(rows, 1):
            said = message(CALLED.get(op, op), dataType=dtype.lower(), groupName=group, count=str(count))
            opened.execute("INSERT INTO STRING_IDS (id, value) VALUES (?, ?)", (last + number, said))
            opened.execute(
                "INSERT INTO MSTX_EVENTS VALUES (?, ?, 2, 1, ?, NULL, ?)", (asked, end, last + number, 7000 + number)
            )
            opened.execute(
                "INSERT INTO TASK (startNs, endNs, deviceId, connectionId) VALUES (?, ?, 0, ?)",
                (start, end, 7000 + number),
            )
        opened.commit()


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize(
    ("op", "kind"), [("HcclAllreduce", "allReduce"), ("HcclAlltoAllV", "alltoallv"), ("HcclRecv", "receive")]
)
def test_a_mark_tells_its_operator(op: str, kind: str, escaped: bool) -> None:
    texts = Texts.of(["nn.Linear", message(op, escaped=escaped), '{"opName": 3}', "{"])
    assert tell_of_collectives(texts).tolist() == [False, True, False, False]
    found = marked_collectives(texts, np.arange(4), np.arange(4) + 10)
    assert found is not None
    assert found.name.values() == [f"hcom_{kind}__843_0"]
    assert (found.dtype.values(), found.count.tolist()) == (["BFP16"], [8194.0])
    assert (found.start_ns.tolist(), found.end_ns.tolist()) == ([1], [11])


@given(st.lists(st.tuples(st.sampled_from(["HcclAllreduce", "HcclAllGather"]), st.sampled_from("ab")), max_size=12))
def test_names_number_the_calls_of_each_kind_in_each_group(calls: list[tuple[str, str]]) -> None:
    texts = Texts.of([message(op, groupName=group) for op, group in calls])
    found = marked_collectives(texts, np.arange(len(calls)), np.arange(len(calls)) + 1)
    if found is None:
        assert not calls
        return
    names = [str(name) for name in found.name.values()]
    assert len(set(zip(names, found.group.values(), strict=True))) == len(calls)
    assert [int(name.rpartition("_")[2]) for name in names] == [calls[:at].count(one) for at, one in enumerate(calls)]


def test_ranks_that_recorded_marks_alone_have_the_collectives_they_made(tmp_path: Path) -> None:
    whole = corpus.write(corpus.job("slow-rank-compute", 1, workload="dense"), tmp_path / "whole", "database")
    columns = ("rank", "step", "op", "group", "start_ns", "elapse_us", "size_bytes", "dtype")
    before = open_profile(whole).table(Collective).rows()
    for database in whole.rglob("ascend_pytorch_profiler_*.db"):
        recorded_at_level_none(database)
    for analysed in whole.rglob("analysis.db"):
        analysed.unlink()
    after = open_profile(whole).table(Collective).rows()
    assert [tuple(row[name] for name in columns) for row in after] == [
        tuple(row[name] for name in columns) for row in before
    ]
    assert not [one for one in advisor.diagnose(whole).outcomes if one.outcome == "failed"]


def test_in_the_timeline_they_are_what_marks_left_on_the_device(tmp_path: Path) -> None:
    trace = (
        lane(7, "Ascend Hardware"),
        event(message(), "100.500", 80.25, pid=7, tid=2),
        event("nn.Linear", "100.500", 80.25, pid=7, tid=2),
    )
    (row,) = of(COLLECTIVES.ways["text"], captured(tmp_path, trace))
    assert (row["name"], row["start_ns"], row["elapse_us"]) == ("hcom_allReduce__843_0", 100_500, 80.25)
