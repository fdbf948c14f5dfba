# SPDX-License-Identifier: Apache-2.0
"""Programs of recorded traces of GPUs: they come out as recorded, say the same written again, and take faults."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from benchmarks.injected import gpu_traces
from benchmarks.injected.changes import Changes
from benchmarks.injected.faults import Run, all_faults
from benchmarks.injected.mark import claims
from benchmarks.injected.program import Job
from benchmarks.injected.rerun import rerun
from benchmarks.injected.run import spoil

TRACES = (
    "gpu_hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    "gpu_hta/nccl_parser_config/nccl_data.json.gz",
    "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz",
)


def read(real_data: Path, name: str) -> tuple[Job, list[gpu_traces.Capture]]:
    found = [gpu_traces.read_trace(real_data / name)]
    return gpu_traces.program(found), found


@pytest.mark.parametrize("name", TRACES)
def test_a_recorded_trace_run_without_change_comes_out_as_recorded(real_data: Path, name: str) -> None:
    job, _ = read(real_data, name)
    recorded = [moment.at for moment in job.moments()]
    rerun(job)
    assert [moment.at for moment in job.moments()] == recorded


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_written_again_has_the_findings_of_the_recorded_one(real_data: Path, tmp_path: Path, name: str) -> None:
    job, found = read(real_data, name)
    written = gpu_traces.write(job, found, tmp_path / "again")
    again, before = claims(advisor.diagnose(written)), claims(advisor.diagnose(real_data / name))
    assert [claim.rule for claim in again] == [claim.rule for claim in before]
    assert [claim.us for claim in again] == pytest.approx([claim.us for claim in before], rel=0.01)


def test_a_host_that_is_ahead_hides_a_pause_until_the_queue_of_the_device_has_run_dry(real_data: Path) -> None:
    job, found = read(real_data, TRACES[0])
    before = job.longest_step_ns
    run = Run.of(job, found)
    pause = all_faults()["gpu-stall-in-one-step"]
    spoil(run, pause, 2e6)
    hidden = job.longest_step_ns - before
    spoil(run, pause, 40e6)
    assert hidden < 0.1e6
    assert 5e6 < job.longest_step_ns - before < 42e6


def test_operators_without_a_queue_of_tasks_are_found_by_what_they_launch(real_data: Path) -> None:
    job, _ = read(real_data, TRACES[1])
    changes = Changes(job.ranks[0])
    launched = [task for operator in changes.operators for task in operator.tasks]
    assert len({id(task) for task in launched}) == len(launched)
    assert len(launched) > 0.9 * len(job.ranks[0].tasks)


def test_ranks_made_of_one_are_a_group_and_meet_in_its_collectives(real_data: Path) -> None:
    ranks = gpu_traces.with_ranks(gpu_traces.read_trace(real_data / TRACES[1]), 4)
    job = gpu_traces.program(ranks)
    assert [rank.number for rank in job.ranks] == [0, 1, 2, 3]
    assert job.meetings
    assert {len(meeting) for meeting in job.meetings} == {4}
