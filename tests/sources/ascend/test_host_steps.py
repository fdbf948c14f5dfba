# SPDX-License-Identifier: Apache-2.0
"""Steps where a graph is executed as a whole: MindSpore's kernels bear none then, and its collectives are of step 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.kernels import KERNELS
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.transfers import TRANSFERS
from tests.sources.traces import captured, event, of

MARKS = [
    event("Python::PythonObserved::ProfilerStep#7", "0.000", dur=100, cat=""),
    event("Python::PythonObserved::ProfilerStep#8", "100.000", dur=100, cat=""),
]
KERNELS_OF_GRAPH = """Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim
Default/network/Mul-op7,Mul,AI_VECTOR_CORE,10.000,40,0,1
Default/network/Mul-op7,Mul,AI_VECTOR_CORE,{second},40,0,1
hcom_allReduce__868_0_1,hcom_allReduce_,HCCL,{third},9,0,1
"""


def operator(start_us: float) -> dict[str, object]:
    return {
        "Communication Time Info": {"Start Timestamp(us)": start_us, "Elapse Time(ms)": 0.009},
        "Communication Bandwidth Info": {"HCCS": {"Size Distribution": {"1.0": [1, 0.008]}}},
    }


def folder_of(tmp_path: Path, second: str, third: str, name: str = "w_1_ascend_ms") -> Folder:
    root = tmp_path / name
    root.mkdir()
    told = {"step0": {"p2p": {}, "collective": {"hcom_allReduce__868_0_1@868": operator(float(third))}}}
    return captured(
        root,
        MARKS,
        kernel_details=KERNELS_OF_GRAPH.format(second=second, third=third),
        communication=json.dumps(told),
    )


def test_where_the_host_waits_for_the_device_work_is_of_the_step_that_it_begins_in(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "120.000", "180.000")
    assert [row["step"] for row in of(KERNELS.ways["text"], folder)] == [7, 8]
    assert [row["step"] for row in of(COLLECTIVES.ways["text"], folder)] == [8]
    assert [row["step"] for row in of(TRANSFERS.ways["text"], folder)] == [8]


def test_where_the_host_is_ahead_nobody_knows_whose_work_it_is(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "220.000", "280.000")
    assert [row["step"] for row in of(KERNELS.ways["text"], folder)] == [None, None]
    assert [row["step"] for row in of(COLLECTIVES.ways["text"], folder)] == [None]
    assert [row["step"] for row in of(TRANSFERS.ways["text"], folder)] == [None]


LAUNCHED = """Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim
7,Default/network/Mul-op7,Mul,AI_VECTOR_CORE,10.000,40,0,1
7,hcom_allReduce__868_0_1,hcom_allReduce_,HCCL,180.000,9,0,1
"""


def test_what_a_collective_moved_is_of_the_step_that_launched_it_and_not_of_the_one_that_the_host_is_in(
    tmp_path: Path,
) -> None:
    root = tmp_path / "w_1_ascend_ms"
    root.mkdir()
    told = {"step8": {"p2p": {}, "collective": {"hcom_allReduce__868_0_1@868": operator(180.0)}}}
    folder = captured(root, MARKS, kernel_details=LAUNCHED, communication=json.dumps(told))
    assert [row["step"] for row in of(COLLECTIVES.ways["text"], folder)] == [7]
    assert [row["step"] for row in of(TRANSFERS.ways["text"], folder)] == [7]


def leads(host_us: str, device_us: str) -> dict[str, object]:
    """An arrow from what launched a kernel."""
    arrow = {"ph": "s", "name": "mindspore_to_npu", "cat": "async_npu", "bp": "e", "pid": 1, "tid": 1}
    return {**arrow, "id": device_us, "ts": host_us}


LAUNCH = "PynativeFramework::PyNativeLaunchTask::Mul/"
IN_FLIGHT = [
    # name, begin, launch, step in 2.7.0, step in 2.7.1.post1 to 2.10
    ("aclnnMul_Mul", 950, None, "", "8"),  # launched before the profiler began
    (f"{LAUNCH}aclnnMul_Mul", 980, 970, "", "8"),
    (f"{LAUNCH}aclnnMul_Mul", 1020, 990, "7", "8"),
    (f"{LAUNCH}aclnnMul_Mul", 1040, 1030, "7", "7"),
    (f"{LAUNCH}aclnnMul_Mul", 1140, 1130, "8", "8"),
    (f"{LAUNCH}aclnnMul_Mul", 1210, 1190, "8", "8"),  # the device is behind the host
    (f"{LAUNCH}aclnnMul_Mul", 1220, None, "8", "8"),  # its arrow was lost
    (f"{LAUNCH}aclnnMul_Mul", 1230, 1205, "", "8"),
    ("aclnnMul_Mul", 1240, None, "", "8"),
]
"""What begins on the device around two steps of the host, from 1000 to 1100 and to 1200 us."""


@pytest.mark.parametrize("written", [3, 4], ids=["2.7.0", "2.7.1.post1 to 2.10"])
def test_what_belongs_to_no_step_is_not_of_the_last_one_whatever_the_version_writes(
    tmp_path: Path, written: int
) -> None:
    root = tmp_path / "w_1_ascend_ms"
    root.mkdir()
    heading = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"
    rows = [f"{row[written]},{row[0]},Mul,AI_VECTOR_CORE,{row[1]}.000\t,5,0,1" for row in IN_FLIGHT]
    arrows = [leads(f"{launch}.000", f"{begin}.000") for _, begin, launch, *_ in IN_FLIGHT if launch]
    marks = [{**mark, "ts": str(1000 + float(mark["ts"]))} for mark in MARKS]
    folder = captured(root, [*marks, *arrows], kernel_details="\n".join([heading, *rows, ""]))
    expected = [int(row[3]) if row[3] else None for row in IN_FLIGHT]
    assert [row["step"] for row in of(KERNELS.ways["text"], folder)] == expected


def test_pytorch_gives_its_kernels_no_steps_by_time(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "120.000", "180.000", "w_1_ascend_pt")
    assert [row["step"] for row in of(KERNELS.ways["text"], folder)] == [None, None]
