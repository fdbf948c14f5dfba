# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.sources.ascend.host_calls import HOST_CALLS
from advisor.sources.ascend.reading import Folder
from tests.sources.traces import Json, captured, event, lane, of

SPELLED = [
    (event("aten::add", "1.000", cat="cpu_op"), "operator", "aten::add"),
    (event("ProfilerStep#5", "1.000", cat="cpu_op"), "step", "ProfilerStep#5"),
    (event("Optimizer.step#SGD.step", "1.000", cat="cpu_op"), "optimizer", "Optimizer.step#SGD.step"),
    (
        event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "1.000", cat="cpu_op"),
        "data_loader",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    ),
    (event("Enqueue", "1.000", cat="enqueue"), "enqueue", "Enqueue"),
    (event("Enqueue@aclnnAdd", "1.000", cat="enqueue"), "enqueue", "aclnnAdd"),
    (event("Dequeue@aclnnAdd", "1.000", cat="dequeue"), "dequeue", "aclnnAdd"),
    (event("main.py(3): step@home", "1.000", cat="python_function"), "python", "main.py(3): step@home"),
    (event("GC", "1.000", cat="GC"), "gc", "GC"),
    (event("<built-in function collect>", "1.000", cat="python_function"), "gc", "GC"),
    (event("AscendCL@aclrtMemcpy", "1.000"), "api", "aclrtMemcpy"),
    (event("Node@launch", "1.000"), "launch", "launch"),
    (event("Node@launch", "1.000", cat=""), "launch", "launch"),
    (
        event("Kernel::KernelLaunch::Default/net/Add-op1", "1.000", cat=""),
        "operator",
        "Kernel::KernelLaunch::Default/net/Add-op1",
    ),
    (
        event("PynativeFramework::PyNativeLaunchTask::Add", "1.000", cat=""),
        "operator",
        "PynativeFramework::PyNativeLaunchTask::Add",
    ),
    (event("Python::PythonObserved::ProfilerStep#5", "1.000", cat=""), "step", "ProfilerStep#5"),
    (event("ProfilerStep#5", "1.000", cat=""), "step", "ProfilerStep#5"),
    (event("Hccl@Launch_Ffts", "1.000"), "communicate", "Launch_Ffts"),
    (event("Communication@Launch_Ffts", "1.000"), "communicate", "Launch_Ffts"),
    (event("Runtime@StreamSynchronize", "1.000"), "runtime", "StreamSynchronize"),
]


@pytest.mark.parametrize(("found", "kind", "name"), SPELLED, ids=lambda part: part if isinstance(part, str) else "")
def test_calls_have_the_kind_and_name_of_their_layer(tmp_path: Path, found: Json, kind: str, name: str) -> None:
    (row,) = of(HOST_CALLS.ways["text"], captured(tmp_path, [found]))
    assert (row["kind"], row["name"]) == (kind, name)


@pytest.mark.parametrize(
    ("name", "activity"),
    [
        ("Asnumpy", "read"),
        ("SyncStream", "synchronise"),
        ("Kernel::StreamSync::kernel_graph_0_LoopCountActor", "synchronise"),  # at the end of a step of a graph
    ],
)
def test_an_event_of_mindspore_in_which_the_host_waits_is_known_as_that(
    tmp_path: Path, name: str, activity: str
) -> None:
    (row,) = of(HOST_CALLS.ways["text"], captured(tmp_path, [event(name, "1.000", cat="")]))
    assert (row["kind"], row["name"], row["activity"]) == ("operator", name, activity)


@pytest.mark.parametrize("name", ["RuntimeFramework::WaitTaskFinish::Default", "RunOp", "Default/net/Add-op1"])
def test_an_event_of_mindspore_that_launches_nothing_is_no_operator(tmp_path: Path, name: str) -> None:
    with pytest.raises(FactMissing):
        of(HOST_CALLS.ways["text"], captured(tmp_path, [event(name, "1.000", cat="")]))


def test_an_event_of_mindspore_that_leads_to_work_is_an_operator_whatever_its_name(tmp_path: Path) -> None:
    leads = {"ph": "s", "name": "mindspore_to_npu", "cat": "async_npu", "id": "9.000", "tid": 1, "bp": "e"}
    trace = [
        lane(1, "MindSpore"),
        lane(2, "Ascend Hardware"),
        event("PynativeFramework::RunTask::Add", "1.000", cat=""),
        {**leads, "pid": 1, "ts": "1.000"},
        event("RunOp", "2.000", cat=""),
        event("RunOp", "3.000", cat=""),
        event("Kernel::KernelLaunch::Default/net/Add-op1", "3.000", cat=""),
        {**leads, "pid": 1, "ts": "3.000"},
        event("aclnnAdd", "1.000", pid=2, args={"Task Type": "AI_CORE"}),
    ]
    rows = of(HOST_CALLS.ways["text"], captured(tmp_path, trace))
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("operator", "PynativeFramework::RunTask::Add"),
        ("operator", "Kernel::KernelLaunch::Default/net/Add-op1"),
    ]


def test_what_runs_on_the_device_is_no_host_call(tmp_path: Path) -> None:
    trace = [lane(1, "Ascend Hardware"), event("aclnnAdd_Add", "1.000", args={"Task Type": "AI_CORE"})]
    with pytest.raises(FactMissing):
        of(HOST_CALLS.ways["text"], captured(tmp_path, trace))


def test_both_ends_of_the_task_queue_share_a_connection(tmp_path: Path) -> None:
    queue = {"correlation_id": 8230}
    trace = [
        event("Enqueue", "1.000", cat="enqueue", args=queue),
        event("Dequeue@x", "2.000", cat="dequeue", args=queue),
    ]
    rows = of(HOST_CALLS.ways["text"], captured(tmp_path, trace))
    assert [row["connection"] for row in rows] == [8230, 8230]


def test_calls_come_by_their_start_and_those_that_take_no_time_last(tmp_path: Path) -> None:
    trace = [
        event("AscendCL@late", "3.000"),
        event("AscendCL@nothing", "1.000", dur=0),
        event("AscendCL@early", "2.000"),
    ]
    rows = of(HOST_CALLS.ways["text"], captured(tmp_path, trace))
    assert [row["name"] for row in rows] == ["early", "late", "nothing"]


def test_entries_of_the_task_queue_whose_names_are_gone_are_put_in_before_they_are_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO STRING_IDS VALUES (2, 'Dequeue@x'), (3, 'Other');
            CREATE TABLE CONNECTION_IDS(id INT, connectionId INT);
            INSERT INTO CONNECTION_IDS VALUES (7, 7), (8, 8);
            CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INT, connectionId INT, name INT, type INT);
            INSERT INTO PYTORCH_API VALUES (1, 2, 5, 7, 1, 50002), (3, 4, 6, 7, 2, 50002), (7, 8, 6, 8, 9, 50002),
                (5, 6, 5, 8, 1, 50002), (9, 9, 5, NULL, 1, 50002), (9, 9, 5, 7, 3, 50002);
        """)
    rows = of(HOST_CALLS.ways["database"], Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path}))
    assert [(row["start_ns"], row["kind"]) for row in rows] == [
        (1, "enqueue"),
        (3, "dequeue"),
        (5, "enqueue"),
        (7, "dequeue"),
    ]


def test_what_has_no_connection_shares_none_even_with_what_has_none_either(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'Enqueue'), (2, 'Dequeue@x');
            CREATE TABLE CONNECTION_IDS(id INT, connectionId INT);
            INSERT INTO CONNECTION_IDS VALUES (7, 8231), (NULL, 666), (7, 8230);
            CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INT, connectionId INT, name INT, type INT);
            INSERT INTO PYTORCH_API VALUES (1, 2, 5, 7, 1, 50002), (3, 4, 6, 7, 2, 50002), (5, 6, 5, NULL, 1, 50002);
        """)
    rows = of(HOST_CALLS.ways["database"], Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path}))
    assert [(row["kind"], row["connection"]) for row in rows] == [
        ("enqueue", 8230),
        ("dequeue", 8230),
        ("enqueue", None),
    ]
