# SPDX-License-Identifier: Apache-2.0
"""Folders of the old profiler of MindSpore: every fact they hold, and what becomes of damage."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import advisor
from advisor.facts.base import Fact
from advisor.facts.observed import (
    BatchQueue,
    Collective,
    Damage,
    DataFetch,
    DatasetOperation,
    HostCpu,
    OperatorTotal,
    RankFlops,
    StepPhase,
    StepTime,
)
from advisor.facts.profile import Profile
from advisor.messages.errors import FactMissing, InputError
from advisor.pipeline import open_profile
from corpus.mindinsight import device_queue, host_queue, stage_times, trace, write_one_rank, write_pipeline
from tests.input_notes import note


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_one_rank(tmp_path / "profiler")


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    return write_pipeline(tmp_path / "cluster")


def cells(profile: Profile, fact: type[Fact], *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in profile.table(fact).rows()]


def test_a_run_says_what_it_is_of(folder: Path) -> None:
    run = open_profile(folder).run
    assert (run.framework, run.ranks, run.steps, run.device_family) == ("MindSpore", (0,), (2, 3), "npu")
    assert run.step_us == pytest.approx(10_000)
    assert {capture.source for capture in run.captures} == {"insight"}


def test_one_file_stands_for_the_folder(folder: Path) -> None:
    assert open_profile(folder / "step_trace_raw_0_detail_time.csv").run.steps == (2, 3)


def test_ticks_become_microseconds_and_the_averages_no_step(folder: Path) -> None:
    found = cells(open_profile(folder), StepPhase, "step", "first", "interval_us", "forward_backward_us", "tail_us")
    assert found == [(1, True, None, 1500, 500), (2, False, 8000, 1500, 500), (3, False, 8000, 1500, 500)]


def test_averages_of_old_versions_are_no_step_either(folder: Path) -> None:
    text = trace([(0, 1500, 500), (8000, 1500, 500)]).replace("\n-,", "\n0,")
    (folder / "step_trace_raw_0_detail_time.csv").write_text(text)
    assert [row["step"] for row in open_profile(folder).table(StepPhase).rows()] == [1, 2]


def test_a_single_step_counts_though_it_is_the_first(folder: Path) -> None:
    (folder / "step_trace_raw_0_detail_time.csv").write_text(trace([(0, 1500, 500)]))
    profile = open_profile(folder)
    assert profile.run.steps == (1,)
    assert cells(profile, StepPhase, "first", "interval_us") == [(False, None)]


def test_both_queues_are_read_in_order_of_steps(folder: Path) -> None:
    found = cells(open_profile(folder), BatchQueue, "queue", "step", "size", "capacity", "sunk")
    host = [row[1:] for row in found if row[0] == "host"]
    assert host == [(1, 0, 64, True), (2, 0, 64, True), (3, 2, 64, True)]
    assert [row[1:3] for row in found if row[0] == "device"] == [(1, 0), (2, 1)]


def test_without_sinking_the_queue_of_the_iterator_is_that_of_the_host(folder: Path) -> None:
    (folder / "device_queue_profiling_0.txt").rename(folder / "dataset_iterator_profiling_0.txt")
    (folder / "minddata_aicpu_0.txt").unlink()
    found = cells(open_profile(folder), BatchQueue, "queue", "size", "sunk")
    assert found == [("host", 0, False), ("host", 0, False), ("host", 2, False)]


def test_how_long_the_loop_waits_for_a_batch_is_told_where_it_takes_them_itself(folder: Path) -> None:
    lines = "0 1 1 0 77\n0 2 1 9 77\n0 0 1 9 77\n1 16 1 0 77\n0 0 2 oops 77\n1 16 2 3 77\n"
    (folder / "device_queue_profiling_0.txt").unlink()
    (folder / "minddata_aicpu_0.txt").unlink()
    (folder / "dataset_iterator_profiling_0.txt").write_text(lines)
    assert cells(open_profile(folder), BatchQueue, "step", "size", "taken_us") == [(1, 0, 9000), (2, 3, None)]
    (folder / "dataset_iterator_profiling_0.txt").rename(folder / "device_queue_profiling_0.txt")
    assert cells(open_profile(folder), BatchQueue, "step", "taken_us") == [(1, None), (2, None)]


def test_operations_of_the_dataset_have_their_queues(folder: Path) -> None:
    names = ("number", "parent", "operation", "workers", "queue_mean", "queue_share", "empty_share")
    assert cells(open_profile(folder), DatasetOperation, *names) == [
        (0, None, "Batch", 4, 0, 0, 1),
        (1, 0, "Map", 1, 1, 0.015625, 0.5),
        (2, 1, "TFReader", 4, 63, 0.984375, 0),
    ]


def test_samples_stand_in_for_the_summary_of_operations(folder: Path) -> None:
    (folder / "minddata_pipeline_raw_0.csv").unlink()
    queue = {"length": 64, "size": [0, 2], "throughput": [0.0, 1.0]}
    content = [
        {"op_id": 1, "op_type": "MapOp", "num_workers": 8, "metrics": {"output_queue": queue}},
        {"op_id": 0, "op_type": "EpochCtrlOp", "num_workers": 1, "children": [1], "metrics": None},
    ]
    (folder / "pipeline_profiling_0.json").write_text(json.dumps({"sampling_interval": 10, "op_info": content}))
    names = ("number", "parent", "operation", "queue_share", "empty_share")
    assert cells(open_profile(folder), DatasetOperation, *names) == [
        (0, None, "EpochCtrlOp", None, None),
        (1, 0, "MapOp", 1 / 64, 0.5),
    ]


def test_operators_of_one_step_are_counted_for_all_and_those_of_data_apart(folder: Path) -> None:
    profile = open_profile(folder)
    totals = cells(profile, OperatorTotal, "op_type", "core", "calls", "total_us")
    assert totals == [("MatMul", "AI_CORE", 18, 2400), ("Cast", "AI_CORE", 8, 600), ("Unique", "AI_CPU", 1, 300)]
    assert cells(profile, DataFetch, "start_ns", "duration_us") == [(1_002_000_000, 2500)]


def test_the_load_of_the_host_is_a_mean_without_waiting_for_files(folder: Path) -> None:
    found = cells(open_profile(folder), HostCpu, "cores", "busy_share", "waiting_share")
    assert found == [(64, pytest.approx(0.65), pytest.approx(0.05))]


def test_the_summary_of_a_pipeline_gives_stages_and_split(pipeline: Path) -> None:
    profile = open_profile(pipeline)
    assert profile.run.parallel.stages == ((0, 1), (2, 3))
    assert (profile.run.world_size, profile.run.parallel.pp) == (4, 2)
    times = cells(profile, StepTime, "rank", "step", "stage", "compute_us", "exposed_comm_us", "free_us", "bubble_us")
    assert times[0] == (0, 2, 0, 10_000, 45_000, 1500, 40_000)
    assert len(times) == 8
    assert cells(profile, RankFlops, "stage", "mega_flops")[2] == (1, 3e5)


def test_what_is_sent_to_another_stage_is_no_collective_inside_of_it(pipeline: Path) -> None:
    """The summary says 5 ms of collectives: 3 of them are sends, and two AllReduces run at once for 1 of their 2."""
    spans = {"0_0_Send-op1": (0, 3), "0_1_AllReduce-op2": (4, 5.5), "0_2_AllReduce-op3": (4.5, 6)}
    path = pipeline / "step_trace_raw_0_detail_time.csv"
    heading, *rows = path.read_text().splitlines()
    names = [f"stream_{name}{end}" for name in spans for end in ("", "_start_point", "_end_point")]
    moments = [cell for begin, end in spans.values() for cell in (0, 1e6 + begin * 1e3, 1e6 + end * 1e3)]
    ticks = ",".join(str(round(us * 100)) for us in moments)
    path.write_text("\n".join([f"{heading},{','.join(names)}", *(f"{row},{ticks}" for row in rows), ""]))
    found = cells(open_profile(pipeline), StepPhase, "rank", "first", "collective_us", "receive_us")
    assert {row[2:] for row in found if row[:2] == (0, False)} == {(2000, 43000)}
    assert {row[2:] for row in found if row[:2] == (1, False)} == {(5000, 40000)}


def test_collectives_have_their_ends_and_their_parts(pipeline: Path) -> None:
    path = pipeline / "step_trace_raw_0_detail_time.csv"
    names = ("stream_48_0_Receive-op663", "stream_10_1_AllReduce-op7")
    lines = path.read_text().splitlines()
    lines[0] += "".join(f",{name},{name}_start_point,{name}_end_point" for name in names)
    lines[1:4] = [f"{line},50,200000000,200005000,70,200006000,200013000" for line in lines[1:4]]
    lines[4] += ",1,1,1,1,1,1"
    path.write_text("\n".join(lines))
    parts = json.dumps({names[0]: ["1", 0.01, 0.04, {}], "stream_1_1_Send-op1": ["1", 0.5, 0.1, {}]}).replace('"', '""')
    head = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost"
    (pipeline / "hccl_raw_0.csv").write_text(f'{head}\n2,1,1,"{{}}","{parts}"\n-,1,1,"{{}}","{parts}"\n')
    columns = ("step", "op", "p2p", "start_ns", "elapse_us", "transit_us", "wait_us", "idle_us")
    assert cells(open_profile(pipeline), Collective, *columns) == [
        (2, "send", True, None, 600, 500, 100, None),
        (2, "receive", True, 2_000_000_000, 50, 10, 40, 0),
        (2, "allReduce", False, 2_000_060_000, 70, None, None, None),
        (3, "receive", True, 2_000_000_000, 50, None, None, None),
        (3, "allReduce", False, 2_000_060_000, 70, None, None, None),
    ]


def test_a_step_trace_that_a_spreadsheet_saved_in_utf_16_is_read_whole(pipeline: Path) -> None:
    path = pipeline / "step_trace_raw_0_detail_time.csv"
    name = "stream_10_1_AllReduce-op7"
    lines = path.read_text().splitlines()
    lines[0] += f",{name},{name}_start_point,{name}_end_point"
    lines[1:] = [f"{line},70,200006000,200013000" for line in lines[1:]]
    path.write_bytes("\r\n".join([*lines, ""]).encode("utf-16"))
    profile = open_profile(pipeline)
    found = [cell for cell in cells(profile, Collective, "rank", "step", "op", "elapse_us") if cell[0] == 0]
    assert found == [(0, 2, "allReduce", 70), (0, 3, "allReduce", 70)]
    assert not profile.table(Damage).rows()


def test_what_an_all_reduce_neither_moves_nor_waits_is_what_its_ends_leave(pipeline: Path) -> None:
    name, path = "stream_10_1_AllReduce-op7", pipeline / "step_trace_raw_0_detail_time.csv"
    lines = path.read_text().splitlines()
    lines[0] += f",{name},{name}_start_point,{name}_end_point"
    lines[1:4] = [f"{line},70,200006000,200013000" for line in lines[1:4]]
    lines[4] += ",1,1,1"
    path.write_text("\n".join(lines))
    parts = [json.dumps({name: ["1", *ms, {}]}).replace('"', '""') for ms in ((0.02, 0.01), (0.08, 0.01))]
    head = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost"
    rows = "".join(f'{step},1,1,"{{}}","{part}"\n' for step, part in enumerate(parts, 2))
    (pipeline / "hccl_raw_0.csv").write_text(f'{head}\n{rows}-,1,1,"{{}}","{parts[0]}"\n')
    assert cells(open_profile(pipeline), Collective, "elapse_us", "idle_us") == [(70, 40), (70, 0)]


@pytest.mark.parametrize("entry", [["1", "n/a", 0.01, {}], ["1", -1, 0.01, {}], ["1", 0.02], {}, 3])
def test_a_collective_without_usable_times_is_told(entry: object, pipeline: Path) -> None:
    fine = {f"stream_10_1_AllReduce-op{n}": ["1", 0.02, 0.0, {}] for n in (7, 8, 9)}
    part = json.dumps({**fine, "stream_1_1_Send-op1": entry}).replace('"', '""')
    head = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost"
    (pipeline / "hccl_raw_0.csv").write_text(f'{head}\n2,1,1,"{{}}","{part}"\n-,1,1,"{{}}","{part}"\n')
    profile = open_profile(pipeline)
    assert cells(profile, Collective, "op") == [("allReduce",)] * 3
    found = [(row["what"], row["place"], row["rows"], row["share"]) for row in profile.table(Damage).rows()]
    assert found == [("`communication_operator_cost` holds no usable value", "row 3", 1.0, 0.25)]


def test_idle_collectives_are_not_judged_where_nobody_knows_what_runs_beside_them(pipeline: Path) -> None:
    name, path = "stream_10_1_AllReduce-op7", pipeline / "step_trace_raw_0_detail_time.csv"
    lines = path.read_text().splitlines()
    lines[0] += f",{name},{name}_start_point,{name}_end_point"
    lines[1:4] = [f"{line},2000000,200000000,202000000" for line in lines[1:4]]
    lines[4] += ",1,1,1"
    path.write_text("\n".join(lines))
    part = json.dumps({name: ["1", 0.02, 0.01, {}]}).replace('"', '""')
    head = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost"
    (pipeline / "hccl_raw_0.csv").write_text(f'{head}\n2,1,1,"{{}}","{part}"\n-,1,1,"{{}}","{part}"\n')
    outcomes = {one.rule: one.outcome for one in advisor.diagnose(pipeline).outcomes}
    assert outcomes["comm/idle-collectives"] == "skipped"


def test_a_summary_that_contradicts_the_device_is_not_believed(pipeline: Path) -> None:
    rows = [(9000.0, 1.0, 1.0)] * 3
    for rank in range(4):
        (pipeline / f"ascend_cluster_analyse_pipeline-parallel_2_4_{rank}.csv").write_text(stage_times(rows))
    profile = open_profile(pipeline)
    with pytest.raises(FactMissing):
        profile.table(StepTime)
    said = [row["what"] for row in profile.table(Damage).rows()]
    assert said == ["computation and communication last longer than the steps they are of"] * 4


def test_a_summary_of_other_steps_is_not_believed(pipeline: Path) -> None:
    (pipeline / "ascend_cluster_analyse_pipeline-parallel_2_4_0.csv").write_text(stage_times([(10.0, 1.0, 1.0)] * 7))
    profile = open_profile(pipeline)
    assert {row["rank"] for row in profile.table(StepTime).rows()} == {1, 2, 3}
    assert "8 rows for 3 steps" in str(profile.table(Damage).rows()[0]["what"])


def test_of_folders_with_the_same_ranks_the_newest_counts(tmp_path: Path) -> None:
    write_one_rank(tmp_path / "profiler-1666666666")
    write_one_rank(tmp_path / "profiler-1777777777")
    run = open_profile(tmp_path).run
    assert [capture.path for capture in run.captures] == ["profiler-1777777777"]
    assert note("other_captures=1") in run.notes


def test_folders_of_several_jobs_are_refused(tmp_path: Path) -> None:
    write_one_rank(tmp_path / "a")
    write_one_rank(tmp_path / "b")
    with pytest.raises(InputError) as refused:
        open_profile(tmp_path)
    assert "files of several jobs" in refused.value.what.en


def test_folders_of_the_nodes_of_one_job_are_read_together(tmp_path: Path) -> None:
    write_one_rank(tmp_path / "node0", 0)
    write_one_rank(tmp_path / "node1", 8)
    assert open_profile(tmp_path).run.ranks == (0, 8)


def test_raw_data_beside_the_files_is_left_aside_and_said(folder: Path) -> None:
    raw = folder / "PROF_000001_20230818142704322_COJGGGCANRMICFBC" / "device_0" / "timeline"
    raw.mkdir(parents=True)
    (raw / "msprof_0_2_1.json").write_text("[]")
    run = open_profile(folder).run
    assert run.notes == (note("raw_beside=1"),)
    assert run.ranks == (0,)


FILES = (
    "step_trace_raw_0_detail_time.csv",
    "device_queue_profiling_0.txt",
    "minddata_aicpu_0.txt",
    "minddata_pipeline_raw_0.csv",
    "aicore_intermediate_0_type.csv",
    "aicpu_intermediate_0.csv",
    "minddata_cpu_utilization_0.json",
)
DAMAGE = {
    "empty": b"",
    "foreign": b"\x7fELF\x02\x01\x01\x00 nothing of a profiler",
    "zeros": bytes(300),
    "not numbers": b"step_num,total,op_id,op_type,kernel_type,run_start,execution_time\n"
    + b"NaN," * 6
    + b"NaN\n1 NaN inf\n",
    "huge": b"step_num,total,op_id,op_type\n1,1e308,99999999999999999999,x\n1 1 99999999999999999999 9e99\n",
    "wrong json": b'{"device_info": [1, 2], "op_info": {"a": null}, "cpu_processor_num": "many"}',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_ends_in_an_honest_report(folder: Path, name: str, damage: str) -> None:
    (folder / name).write_bytes(DAMAGE[damage])
    assert_honest(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_file_that_was_cut_off_ends_in_an_honest_report(folder: Path, name: str, part: float) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: int(len(whole) * part)])
    assert_honest(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone_ends_in_an_honest_report(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert_honest(folder)


def assert_honest(folder: Path) -> None:
    found = advisor.diagnose(folder)
    assert not [outcome.rule for outcome in found.outcomes if outcome.outcome == "failed"]
    for finding in found.findings:
        assert math.isfinite(finding.saving.us)
        assert finding.saving.us <= found.run.step_us or not found.run.step_us
        assert not [item for item in finding.evidence if isinstance(item.value, float) and math.isnan(item.value)]


def test_files_without_a_measurement_are_refused_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "step_trace_raw_0_detail_time.csv").write_text("x")
    with pytest.raises(InputError) as refused:
        open_profile(tmp_path)
    assert "step_num" in refused.value.what.en


def test_a_job_that_waits_for_its_data_is_told_so_and_which_operation_is_slow(folder: Path) -> None:
    found = advisor.diagnose(folder)
    first = found.findings[0]
    assert first.rule == "io/dataset-pipeline"
    assert first.saving.us == pytest.approx(7000)
    slow = next(finding for finding in found.findings if finding.rule == "io/slow-dataset-operation")
    assert slow.subject == {"operation": "Map"}


BRANCHES = {"io/dataset-pipeline", "io/slow-sending", "io/slow-data-transfer", "io/slow-getnext"}
EMPTY, FILLED = (0,) * 6, (64,) * 6


@pytest.mark.parametrize(
    ("sunk", "host", "device", "branch"),
    [
        (False, EMPTY, None, "io/dataset-pipeline"),
        (False, FILLED, None, "io/slow-sending"),
        (True, EMPTY, EMPTY, "io/dataset-pipeline"),
        (True, FILLED, EMPTY, "io/slow-data-transfer"),
        (True, FILLED, FILLED, "io/slow-getnext"),
        (True, EMPTY, FILLED, "io/slow-getnext"),
    ],
)
def test_each_state_of_the_queues_before_long_intervals_leads_to_one_branch(
    sunk: bool, host: tuple[int, ...], device: tuple[int, ...] | None, branch: str, folder: Path
) -> None:
    for name in ("device_queue_profiling_0.txt", "minddata_aicpu_0.txt"):
        (folder / name).unlink()
    kind = "device_queue_profiling" if sunk else "dataset_iterator_profiling"
    (folder / f"{kind}_0.txt").write_text(host_queue(host))
    if device is not None:
        (folder / "minddata_aicpu_0.txt").write_text(device_queue(device))
    (folder / "step_trace_raw_0_detail_time.csv").write_text(trace([(8000, 1500, 500)] * 6))
    assert {finding.rule for finding in advisor.diagnose(folder).findings} & BRANCHES == {branch}


def test_a_heavy_stage_is_named_and_the_first_receive_is_set_apart(pipeline: Path) -> None:
    found = advisor.diagnose(pipeline)
    rules = {finding.rule: finding for finding in found.findings}
    assert found.findings[0].rule == "pipeline/stage-imbalance"
    assert rules["pipeline/stage-imbalance"].subject == {"stage": 1}
    assert rules["pipeline/flops-imbalance"].subject == {"stage": 1}
    assert rules["pipeline/first-receive"].subject == {"stage": 1}
    assert found.run.step_us < 100_000


def write_stages(folder: Path, compute: tuple[float, ...], interval_us: float = 300.0) -> Path:
    """A pipeline of two stages of two ranks, of which the quicker one of a stage waits for the other in collectives."""
    for rank, own in enumerate(compute):
        stage = compute[rank // 2 * 2 :][:2]
        rows = [(own, 60 + 5 - max(stage), max(stage) - own + 5)] * 6
        steps = [(interval_us, sum(row) * 1e3 + rank, 4000.0) for row in rows]
        (folder / f"step_trace_raw_{rank}_detail_time.csv").write_text(trace(steps, begin_us=1e6 + rank))
        name = f"ascend_cluster_analyse_pipeline-parallel_2_4_{rank}.csv"
        (folder / name).write_text(stage_times(rows))
    return folder


def test_a_rank_that_computes_longer_than_the_other_of_its_stage_leads(tmp_path: Path) -> None:
    found = advisor.diagnose(write_stages(tmp_path, (40, 40, 40, 60)))
    first = found.findings[0]
    assert first.rule == "ranks/slow-compute-rank" and {place.rank for place in first.seen} == {3}
    assert first.saving.us == pytest.approx(20_000, rel=0.01)


def test_where_the_split_of_steps_is_known_too_waiting_for_data_is_told_once(tmp_path: Path) -> None:
    found = advisor.diagnose(write_stages(tmp_path, (55, 55, 55, 55), interval_us=50_000))
    rules = {finding.rule: finding for finding in found.findings}
    assert found.findings[0].rule == "io/iteration-interval"
    assert rules["host/free-time"].causes == (found.findings[0].fingerprint,)


def test_a_rank_that_alone_waits_for_its_data_is_named_and_the_time_not_told_twice(tmp_path: Path) -> None:
    for rank in range(4):
        interval, tail = (8000.0, 1000.0) if rank == 3 else (300.0, 8700.0)
        steps = [(interval + rank, 20_000.0 + 7 * rank, tail + 3 * rank)] * 6
        (tmp_path / f"step_trace_raw_{rank}_detail_time.csv").write_text(trace(steps, begin_us=1e6 + rank))
    found = advisor.diagnose(tmp_path).findings
    assert found[0].rule == "ranks/slow-input-rank" and {place.rank for place in found[0].seen} == {3}
    (interval_found,) = (finding for finding in found if finding.rule == "io/iteration-interval")
    assert interval_found.causes == (found[0].fingerprint,)
