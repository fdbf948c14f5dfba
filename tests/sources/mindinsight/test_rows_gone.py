# SPDX-License-Identifier: Apache-2.0
"""Rows that are gone from a file of the old profiler of MindSpore are told with its name, and so with its rank."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import advisor
from advisor.facts.observed import Collective, RankCapture, StepPhase
from advisor.model.findings import Diagnosis
from advisor.pipeline import open_profile
from advisor.report.output_formats import WRITERS, Reported
from corpus.mindinsight import write_one_rank, write_pipeline

COSTS = 'step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n{}-,1,1,{{}},"{{}}"\n'
LISTED = '{""stream_1_0_AllReduce-op1"": [""reduce"", 1.5, 0.5, {}]}'


def costs(steps: int) -> str:
    return COSTS.format("".join(f'{step},1,1,{{}},"{LISTED}"\n' for step in range(1, steps + 1)))


@pytest.fixture
def one_rank(tmp_path: Path) -> Path:
    return write_one_rank(tmp_path / "profiler")


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    folder = write_pipeline(tmp_path / "cluster")
    for rank in range(4):
        (folder / f"hccl_raw_{rank}.csv").write_text(costs(3))
    return folder


def damaged_files(found: Diagnosis) -> set[str]:
    """The files that are told as damaged, which is a finding."""
    assert bool(found.unread) == ("capture/damaged-input" in {one.rule for one in found.findings})
    return {one.file for one in found.unread}


def cut_rows(path: Path, keep: Callable[[list[str]], list[str]]) -> None:
    heading, *rows = path.read_text().splitlines(keepends=True)
    path.write_text(heading + "".join(keep(rows)))


def test_a_whole_folder_has_lost_nothing(one_rank: Path, pipeline: Path) -> None:
    for folder in (one_rank, pipeline):
        assert not advisor.diagnose(folder).unread


def test_a_rank_whose_step_trace_was_cut_in_its_heading_is_told_with_its_file(pipeline: Path) -> None:
    path = pipeline / "step_trace_raw_1_detail_time.csv"
    path.write_bytes(path.read_bytes()[:60])
    found = advisor.diagnose(pipeline)
    assert damaged_files(found) == {path.name}
    for writer in WRITERS:
        if writer.name in ("markdown", "html"):
            assert path.name in str(writer.text(Reported(found, "en"))), writer.name


@pytest.mark.parametrize("damaged", ["heading", "empty"])
def test_steps_whose_trace_is_gone_are_those_of_the_summary_without_what_the_trace_tells_apart(
    damaged: str, pipeline: Path
) -> None:
    before = {(row["rank"], row["step"]): row for row in open_profile(pipeline).table(StepPhase).rows()}
    path = pipeline / "step_trace_raw_1_detail_time.csv"
    path.write_text(path.read_text().splitlines(keepends=True)[0] if damaged == "heading" else "")
    profile = open_profile(pipeline)
    after = {(row["rank"], row["step"]): row for row in profile.table(StepPhase).rows()}
    assert after.keys() == before.keys()
    for key, row in after.items():
        lost = ("whole_us", "collective_us", "receive_us") if key[0] == 1 else ()
        assert [row[name] for name in lost] == [None] * len(lost)
        assert row["compute_us"] == before[key]["compute_us"]
    assert {row["has_steps"] for row in profile.table(RankCapture).rows()} == {True}
    assert {row["step"] for row in profile.table(Collective).rows()} == {2, 3}
    assert damaged_files(advisor.diagnose(pipeline)) == {path.name}


@pytest.mark.parametrize("damaged", ["heading", "empty", "gone"])
def test_steps_that_cannot_be_read_were_recorded_all_the_same(damaged: str, pipeline: Path) -> None:
    for path in pipeline.glob("ascend_cluster_analyse*"):
        path.unlink()
    path = pipeline / "step_trace_raw_1_detail_time.csv"
    path.write_text(path.read_text().splitlines(keepends=True)[0] if damaged == "heading" else "")
    if damaged == "gone":
        path.unlink()
    profile = open_profile(pipeline)
    told = {row["rank"]: row["has_steps"] for row in profile.table(RankCapture).rows()}
    assert told == {0: True, 1: False if damaged == "gone" else None, 2: True, 3: True}
    calls = profile.table(Collective).rows()
    assert {(row["rank"], row["step"]) for row in calls} == {(rank, step) for rank in range(4) for step in (2, 3)}
    assert "capture/no-steps" not in {one.rule for one in advisor.diagnose(pipeline).findings} or damaged == "gone"


def test_a_real_capture_with_a_rank_without_its_step_trace_makes_no_new_finding(
    real_data: Path, tmp_path: Path
) -> None:
    whole = real_data / "mindinsight_legacy" / "cluster_propose"
    shutil.copytree(whole, tmp_path / "cluster", copy_function=shutil.copyfile)
    cut_rows(tmp_path / "cluster" / "step_trace_raw_1_detail_time.csv", lambda rows: [])
    before, after = ({one.rule for one in advisor.diagnose(path).findings} for path in (whole, tmp_path / "cluster"))
    assert after - before == {"capture/damaged-input"}


@pytest.mark.parametrize("rows", [slice(0, 3), slice(1, 2)])
def test_steps_without_a_time_are_told_with_their_file_and_no_other(pipeline: Path, rows: slice) -> None:
    path = pipeline / "step_trace_raw_2_detail_time.csv"
    heading, *steps = path.read_text().splitlines()
    steps[rows] = [re.sub(",[0-9]+", ",0", step) for step in steps[rows]]
    path.write_text("\n".join([heading, *steps, ""]))
    (told,) = advisor.diagnose(pipeline).unread
    count = len(steps[rows])
    assert (told.file, told.what, told.rows) == (path.name, "`total` holds no usable number", count)
    assert told.place == f"row {2 + (rows.start or 0)}"


NAMES = (
    "step_trace_raw_0_detail_time.csv",
    "minddata_pipeline_raw_0.csv",
    "aicore_intermediate_0_type.csv",
    "aicpu_intermediate_0.csv",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_which_only_the_heading_is_left_is_named(one_rank: Path, name: str) -> None:
    cut_rows(one_rank / name, lambda rows: [])
    assert damaged_files(advisor.diagnose(one_rank)) == {name}


@pytest.mark.parametrize("name", ["ascend_cluster_analyse_pipeline-parallel_2_4_1.csv", "hccl_raw_1.csv"])
def test_a_summary_of_which_only_the_heading_is_left_is_named(pipeline: Path, name: str) -> None:
    cut_rows(pipeline / name, lambda rows: [])
    assert damaged_files(advisor.diagnose(pipeline)) == {name}


@pytest.mark.parametrize("name", ["step_trace_raw_1_detail_time.csv", "hccl_raw_1.csv"])
@pytest.mark.parametrize("kept", [[0], [0, 1], [0, 2, 3], [2, 3], [1, 3]])
def test_steps_that_are_gone_are_missed_by_their_numbers_and_the_averages_behind_them(
    pipeline: Path, name: str, kept: list[int]
) -> None:
    cut_rows(pipeline / name, lambda rows: [rows[place] for place in kept])
    told = damaged_files(advisor.diagnose(pipeline)) - {"ascend_cluster_analyse_pipeline-parallel_2_4_1.csv"}
    assert told == ({name} if kept != [1, 3] else set())  # a recording may leave out its first step


def test_rows_that_do_not_say_which_step_they_are_of_are_told(one_rank: Path) -> None:
    name = "step_trace_raw_0_detail_time.csv"
    cut_rows(one_rank / name, lambda rows: [f"step {row}" if row[0] not in "-0" else row for row in rows])
    found = advisor.diagnose(one_rank)
    assert damaged_files(found) == {name}
    assert "`step_num` holds no usable number" in found.unread[0].what


def test_operations_that_others_lead_to_are_missed(one_rank: Path) -> None:
    cut_rows(one_rank / "minddata_pipeline_raw_0.csv", lambda rows: rows[:1])
    assert damaged_files(advisor.diagnose(one_rank)) == {"minddata_pipeline_raw_0.csv"}


def test_operator_types_are_missed_by_their_shares(one_rank: Path) -> None:
    cut_rows(one_rank / "aicore_intermediate_0_type.csv", lambda rows: rows[1:])
    assert damaged_files(advisor.diagnose(one_rank)) == {"aicore_intermediate_0_type.csv"}


def test_operators_on_ai_cores_are_missed_where_those_of_the_ai_cpu_are_there(one_rank: Path) -> None:
    (one_rank / "aicore_intermediate_0_type.csv").unlink()
    assert damaged_files(advisor.diagnose(one_rank)) == {"aicore_intermediate_0_type.csv"}


def test_without_a_call_that_brings_batches_nothing_is_said_of_when_they_came(one_rank: Path) -> None:
    (one_rank / "aicpu_intermediate_0.csv").unlink()
    outcomes = {one.rule: one.outcome for one in advisor.diagnose(one_rank).outcomes}
    assert outcomes["io/late-getnext"] == "skipped"


def test_calls_on_the_host_processor_of_the_device_are_missed_by_their_numbers(one_rank: Path) -> None:
    cut_rows(one_rank / "aicpu_intermediate_0.csv", lambda rows: [rows[0], rows[2]])
    assert damaged_files(advisor.diagnose(one_rank)) == {"aicpu_intermediate_0.csv"}


@pytest.mark.parametrize("gone", ["1 64 3 2 10\n1 64 2 0 10\n", "1 64 2 0 10\n"])
def test_looks_at_a_queue_are_missed_by_steps_of_which_times_are_there(one_rank: Path, gone: str) -> None:
    path = one_rank / "device_queue_profiling_0.txt"
    times = "".join(f"0 {kind} {step} 4 10\n" for step in (1, 2, 3) for kind in (0, 1))
    path.write_text(times + "1 64 1 0 10\n1 64 3 2 10\n1 64 2 0 10\n".replace(gone, ""))
    assert damaged_files(advisor.diagnose(one_rank)) == {path.name}
