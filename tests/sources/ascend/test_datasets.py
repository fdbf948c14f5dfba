# SPDX-License-Identifier: Apache-2.0
"""What MindSpore's profiler writes of data preparation beside a capture, by the documented layout."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import advisor
from advisor.facts.observed import BatchQueue, DatasetOperation, HostCpu
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from tests.sources.mindinsight.legacy_folders import write_one_rank

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
    assert source.read(HostCpu).rows()[0]["busy_share"] == pytest.approx(0.7)


def test_files_of_another_rank_are_not_taken(capture: Path) -> None:
    output = capture / "ASCEND_PROFILER_OUTPUT"
    (output / "minddata_pipeline_raw_0.csv").rename(output / "minddata_pipeline_raw_3.csv")
    _, (source,) = open_input(capture)
    with pytest.raises(FactMissing):
        source.read(DatasetOperation)


def test_an_idle_device_before_an_empty_queue_is_told_without_a_time(capture: Path) -> None:
    found = {finding.rule: finding for finding in advisor.diagnose(capture).findings}
    assert found["io/dataset-pipeline"].saving.us == 0
    assert found["io/slow-dataset-operation"].subject == {"operation": "Map"}
