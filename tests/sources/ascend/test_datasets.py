# SPDX-License-Identifier: Apache-2.0
"""What MindSpore's profiler writes of data preparation beside a capture, by the documented layout."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import advisor
from advisor.facts.observed import BatchQueue, DatasetOperation, HostCpu
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from corpus.mindinsight import write_one_rank

STEPS = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A capture that idles four fifths of its step, with the files of data preparation where the profiler has them."""
    folder = tmp_path / "worker_20250101000000000_ascend_ms"
    output, framework = folder / "ASCEND_PROFILER_OUTPUT", folder / "FRAMEWORK"
    output.mkdir(parents=True)
    framework.mkdir()
    (output / "step_trace_time.csv").write_text(STEPS + "0,1,2000,0,0,0,8000,0,0\n0,2,2000,0,0,0,8000,0,0\n")
    legacy = write_one_rank(tmp_path / "legacy")
    shutil.move(legacy / "minddata_pipeline_raw_0.csv", output)
    for name in ("device_queue_profiling_0.txt", "minddata_cpu_utilization_0.json"):
        shutil.move(legacy / name, framework)
    return folder


def test_the_files_are_read_where_the_profiler_writes_them(capture: Path) -> None:
    run, (source,) = open_input(capture)
    assert run.framework == "MindSpore"
    assert [row["operation"] for row in source.read(DatasetOperation).rows()] == ["Batch", "Map", "TFReader"]
    assert [row["size"] for row in source.read(BatchQueue).rows()] == [0, 0, 2]
    assert source.read(HostCpu).rows()[0]["busy_share"] == pytest.approx(0.65)


SAMPLED = {
    "context_switch_count": [0, 0, 5874, 0, 5573, 0],
    "idle_utilization": [0, 0, 60, 0, 0, 0],
    "io_utilization": [0, 0, 10, 0, 0, 0],
    "runnable_process": [7, 7, 6, 6, 7, 7],
    "sys_utilization": [0, 0, 12],
    "user_utilization": [0, 0, 18],
}
"""As MindSpore 2.10 writes it: the first is no measurement, and each other one is followed by a second look at once,
which sees nothing; loads of user and system are cut to half of the list."""


def _sample(capture: Path, **samples: list[int]) -> None:
    content = {"cpu_processor_num": 2, "device_info": {**SAMPLED, **samples}}
    (capture / "FRAMEWORK" / "minddata_cpu_utilization_0.json").write_text(json.dumps(content))


def test_looks_at_the_processors_that_saw_nothing_are_no_load(capture: Path) -> None:
    _sample(capture)
    _, (source,) = open_input(capture)
    (row,) = source.read(HostCpu).rows()
    assert (row["busy_share"], row["waiting_share"]) == (pytest.approx((0.3 + 1) / 2), pytest.approx(0.05))


def test_processors_of_which_no_look_saw_anything_were_not_recorded(capture: Path) -> None:
    nothing = [0] * 6
    _sample(capture, context_switch_count=nothing, idle_utilization=nothing, io_utilization=nothing,
            sys_utilization=nothing, user_utilization=nothing)  # fmt: skip
    _, (source,) = open_input(capture)
    with pytest.raises(FactMissing):
        source.read(HostCpu)


def test_busy_processors_beside_no_device_are_told_without_one(capture: Path) -> None:
    _sample(capture, idle_utilization=[0] * 6, io_utilization=[0] * 6)
    found = advisor.diagnose(capture / "FRAMEWORK")
    (finding,) = (one for one in found.findings if one.rule == "host/saturated-cpu")
    title = found.rule(finding.rule).title_of(finding)
    assert "device" not in title.en
    assert "设备" not in title.zh


def test_files_of_another_rank_are_not_taken(capture: Path) -> None:
    output = capture / "ASCEND_PROFILER_OUTPUT"
    (output / "minddata_pipeline_raw_0.csv").rename(output / "minddata_pipeline_raw_3.csv")
    _, (source,) = open_input(capture)
    with pytest.raises(FactMissing):
        source.read(DatasetOperation)


def test_files_that_bear_the_number_of_the_device_are_those_of_the_rank(capture: Path) -> None:
    """MindSpore names some by the device on its host, which is the rank on the first host alone."""
    for path in [*capture.glob("*/*_0.*")]:
        if path.name.startswith("minddata_pipeline"):
            continue
        path.rename(path.with_name(path.name.replace("_0.", "_8.")))
    info = {"rank_id": 8, "ms_profiler_info": {"rank_id": 8, "device_id": 0}}
    (capture / "profiler_info_8.json").write_text(json.dumps(info))
    _, (source,) = open_input(capture)
    assert [row["operation"] for row in source.read(DatasetOperation).rows()] == ["Batch", "Map", "TFReader"]
    assert [row["size"] for row in source.read(BatchQueue).rows()] == [0, 0, 2]


def test_an_idle_device_before_an_empty_queue_is_told_without_a_time(capture: Path) -> None:
    found = {finding.rule: finding for finding in advisor.diagnose(capture).findings}
    assert found["io/dataset-pipeline"].saving.us == 0
    assert found["io/slow-dataset-operation"].subject == {"operation": "Map"}


LOOKS = (
    "Device_id,Node Name,Start Time(us),End Time(us),Queue Size\n"
    "0,GetNext_dequeue_wait,1700000000000020.000\t,1700000000000025.000\t,2\n"
    "1,GetNext_dequeue_wait,1700000000000011.000\t,1700000000000012.000\t,9\n"
    "0,GetNext_dequeue_wait,1700000000000010.000\t,1700000000000015.000\t,0\n"
    "0,other_wait,1700000000000010.000\t,1700000000000015.000\t,7\n"
    "0,GetNext_dequeue_wait,1700000000000030.000\t,1700000000000035.000\t,N/A\n"
)


TOTALS = "Device_id,OP Type,Core Type,Count,Total Time(us)\n0,MatMulV2,AI_CORE,2,30.5\n1,MatMulV2,AI_CORE,2,30.5\n"


@pytest.mark.parametrize("devices", [1, 2])
def test_the_queue_of_the_device_is_read_from_msprof(devices: int, tmp_path: Path) -> None:
    """What takes something else is no look at batches, and a row without a size none either."""
    folder = tmp_path / "PROF_000001_20250101000000000_ABCDEFGHIJKLMNOP"
    output = folder / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "aicpu_mi_20250101000000.csv").write_text(LOOKS if devices > 1 else LOOKS.replace("\n1,", "\n0,other_"))
    (output / "op_statistic_20250101000000.csv").write_text(TOTALS)
    for device in range(devices):
        (folder / f"device_{device}").mkdir()
        (folder / f"device_{device}" / f"start_info.{device}").write_text("{}")
    _, sources = open_input(tmp_path)
    rows = [
        [(row["step"], row["queue"], row["sunk"], row["size"]) for row in one.read(BatchQueue).rows()]
        for one in sources
    ]
    assert rows == [[(1, "device", True, 0), (2, "device", True, 2)], [(1, "device", True, 9)]][:devices]


def test_batches_are_not_counted_where_nothing_takes_any(tmp_path: Path) -> None:
    output = tmp_path / "PROF_000001_20250101000000000_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "aicpu_mi_20250101000000.csv").write_text(LOOKS.replace("GetNext_dequeue", "other"))
    (output / "op_statistic_20250101000000.csv").write_text(TOTALS)
    _, (source,) = open_input(tmp_path)
    with pytest.raises(FactMissing):
        source.read(BatchQueue)
