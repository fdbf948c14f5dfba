# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from tests.sources.traces import captured, event, lane, of

KINDS = [
    ("aclnnAdd_Add", "AI_CORE", "kernel"),
    ("aclnnAdd_Add", "AI_VECTOR_CORE", "kernel"),
    ("MEMCPY_ASYNC", "PCIE_DMA_SQE", "copy"),
    ("MEMCPY_ASYNC", "SDMA_SQE", "copy"),
    ("EVENT_WAIT", "EVENT_WAIT_SQE", "wait"),
    ("EVENT_RECORD", "EVENT_RECORD_SQE", "mark"),
    ("PROFILING_ENABLE", "PLACE_HOLDER_SQE", "mark"),
    ("Notify Wait", "Notify Wait", "comm"),
    ("SDMA", "SDMA", "comm"),
    ("something new", "NEW_SQE", "mark"),
    ("aclnnMul_MulAiCore_Mul", "Other", "kernel"),
    ("MatMul12", "Other", "kernel"),
    ("MEMCPY_ASYNC", "Other", "copy"),
    ("EVENT_WAIT", "Other", "wait"),
    ("Notify Wait", "Other", "comm"),
    ("EVENT_RECORD", "Other", "mark"),
    ("PLACE_HOLDER_SQE", "Other", "mark"),
    ("Other", "Other", "mark"),
]


@pytest.mark.parametrize(("name", "task_type", "kind"), KINDS)
def test_tasks_are_told_apart_by_name_and_type(tmp_path: Path, name: str, task_type: str, kind: str) -> None:
    trace = [lane(9, "Ascend Hardware"), event(name, "1.000", pid=9, tid=2, args={"Task Type": task_type})]
    (row,) = of(DEVICE_TASKS.ways["text"], captured(tmp_path, trace))
    assert (row["kind"], row["stream"]) == (kind, 2)


@pytest.mark.parametrize("signal", ["Notify Wait", "NOTIFY_WAIT", "NOTIFY_RECORD_SQE"])
def test_copies_on_a_stream_that_waits_for_other_ranks_are_communication(tmp_path: Path, signal: str) -> None:
    tasks = [(2, "aclnnAdd_Add", "AI_CORE"), (2, "MEMCPY_ASYNC", "SDMA_SQE"), (7, signal, signal)]
    tasks += [
        (7, "MEMCPY_ASYNC", "SDMA_SQE"),
        (8, signal, signal),
        (8, "Add", "AI_CORE"),
        (8, "MEMCPY_ASYNC", "SDMA_SQE"),
    ]
    trace = [
        event(name, f"{at}.000", pid=9, tid=stream, args={"Task Type": kind})
        for at, (stream, name, kind) in enumerate(tasks)
    ]
    rows = of(DEVICE_TASKS.ways["text"], captured(tmp_path, [lane(9, "Ascend Hardware"), *trace]))
    kinds = [(row["stream"], row["kind"]) for row in rows if row["name"] == "MEMCPY_ASYNC"]
    assert kinds == [(2, "copy"), (7, "comm"), (8, "copy")]


@pytest.mark.parametrize(
    ("size", "words", "direction"),
    [
        ({"data size(Byte)": 1168}, {"memcpy direction": "host to device ex"}, "h2d"),
        ({"size(B)": 1168}, {"operation": "device to host"}, "d2h"),
        ({"size(B)": 1168}, {"operation": "managed memory"}, None),
    ],
)
def test_copies_say_how_much_and_where_to(
    tmp_path: Path, size: dict[str, int], words: dict[str, str], direction: str | None
) -> None:
    args = {"Task Type": "PCIE_DMA_SQE", "Physic Stream Id": 5, **size, **words}
    trace = [lane(9, "Ascend Hardware"), event("MEMCPY_ASYNC", "1.000", pid=9, tid=2, args=args)]
    (row,) = of(DEVICE_TASKS.ways["text"], captured(tmp_path, trace))
    assert (row["size_bytes"], row["direction"], row["stream"]) == (1168, direction, 5)


def test_a_copy_below_level2_has_no_size_and_only_on_the_chip_a_direction(tmp_path: Path) -> None:
    trace = [
        lane(9, "Ascend Hardware"),
        event("MEMCPY_ASYNC", "1.000", pid=9, args={"Task Type": "PCIE_DMA_SQE"}),
        event("MEMCPY_ASYNC", "2.000", pid=9, args={"Task Type": "SDMA_SQE"}),
    ]
    rows = of(DEVICE_TASKS.ways["text"], captured(tmp_path, trace))
    assert [(row["size_bytes"], row["direction"]) for row in rows] == [(None, None), (None, "d2d")]


def test_no_connection_is_missing(tmp_path: Path) -> None:
    args = {"Task Type": "AI_CORE", "connection_id": 4294967295}
    trace = [lane(9, "Ascend Hardware"), event("k", "1.000", pid=9, args=args)]
    (row,) = of(DEVICE_TASKS.ways["text"], captured(tmp_path, trace))
    assert row["connection"] is None


def test_a_timeline_without_a_device_has_no_tasks(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(DEVICE_TASKS.ways["text"], captured(tmp_path, [event("aten::add", "1.000", cat="cpu_op")]))
