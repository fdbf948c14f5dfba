# SPDX-License-Identifier: Apache-2.0
"""The same run recorded in two ways, and traces of GPUs computed in two ways, give the same figures."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import advisor
from advisor.facts.derived import Overlap
from advisor.facts.observed import DeviceTask
from advisor.sources import open_input
from benchmarks.agreement.exports import as_msprof, compare_captures
from benchmarks.agreement.gpu_traces import figures_of_facts, kernels_of_facts, types_of_facts
from benchmarks.agreement.raw_trace import (
    Event,
    device_work,
    figures_of_work,
    is_collective,
    length_of,
    merge,
    read_events,
)
from tests.shared_captures import SharedCaptures

CASES = ("exposed-communication", "host-bound", "aicpu-exposed", "data-loader")
ONE_EXPORT = {"devices", "l2_cache", "overlap_tracks"}
"""Facts that torch_npu writes into one of its exports only."""

TRACES = (
    "gpu_hta/nccl_parser_config/nccl_data.json.gz",
    "gpu_hta/trace_filter/sampled_rank-0.json.gz",
    "gpu_hta/df_index_resolver/df_index_resolver.json.gz",
    "gpu_hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "gpu_hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz",
    "gpu_kineto_models/b200_eager.json.gz",
    "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz",
    "gpu_kineto_models/mi300_qwen1.5-0.5b.json.gz",
    "gpu_kineto_models/h100_vit_classifier.json.gz",
    "gpu_kineto_models/sglang_qwen3-8b_prefilldecode.json.gz",
    "gpu_kineto_models/vllm_piecewise_graph_execution.json.gz",
    "gpu_kineto_tb_samples/tb_plugin/samples/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
)
HTA = {
    "gpu_hta/nccl_parser_config/nccl_data.json.gz": {"idle": 503_051, "compute": 115_656, "overlap": 0.1561},
    "gpu_hta/trace_filter/sampled_rank-0.json.gz": {"idle": 675_191, "compute": 210_320, "overlap": 0.1495},
    "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz": {"idle": 4005.5, "compute": 45_432.7, "non-compute": 214.6},
    "gpu_kineto_models/vllm_piecewise_graph_execution.json.gz": {"idle": 380.6, "compute": 156_008.4},
}
"""What HolisticTraceAnalysis 0.5.0 says of them, µs; the benchmark compares every figure of every trace."""


@pytest.mark.parametrize("case", CASES)
def test_text_and_database_of_one_job_agree_in_every_fact_part_and_finding(case: str, shared: SharedCaptures) -> None:
    text, database = (shared.written(case, export=export, small=True) for export in ("text", "database"))
    pair = compare_captures(text, database)
    assert {fact.fact for fact in pair.facts if None in fact.rows} == ONE_EXPORT
    assert [fact for fact in pair.facts if None not in fact.rows and fact.rows[0] != fact.rows[1]] == []
    assert [fact for fact in pair.facts if fact.difference > 1e-9] == []
    assert pair.split and [part for part in pair.split if part.share > 1e-9] == []
    assert pair.findings
    for finding in pair.findings:
        assert finding.saving_us[0] == pytest.approx(finding.saving_us[1], rel=1e-6)


def test_what_msprof_writes_of_a_rank_agrees_with_torch_npu(shared: SharedCaptures, tmp_path: Path) -> None:
    folder = shared.written("exposed-communication", small=True)
    rank = next(path for path in sorted(folder.iterdir()) if path.is_dir())
    pair = compare_captures(rank, as_msprof(rank, tmp_path))
    found = {fact.fact: fact for fact in pair.facts}
    for name in ("kernels", "device_tasks", "launches", "operator_totals", "api_totals"):
        assert found[name].rows[0] == found[name].rows[1]
        assert found[name].difference < 1e-9
    assert found["collectives"].rows[0] == found["collectives"].rows[1]
    assert [part for part in pair.split if part.share > 1e-9] == []


def test_two_captures_that_differ_are_told_apart(shared: SharedCaptures) -> None:
    pair = compare_captures(*(shared.written(case, small=True) for case in ("host-bound", "aicpu-exposed")))
    assert pair.first[0] != pair.first[1]
    assert max(fact.difference for fact in pair.facts) > 0.1
    assert max(part.share for part in pair.split) > 0.1
    assert [one.rule for one in pair.findings if math.isnan(min(one.saving_us))]  # found in one alone


@pytest.fixture(scope="module", params=TRACES)
def trace(request: pytest.FixtureRequest, real_data: Path) -> Path:
    path = real_data / request.param
    if not path.is_file():
        pytest.skip("this trace is not in the folder of real data")
    return path


@pytest.fixture(scope="module")
def events(trace: Path) -> list[Event]:
    """All events of the trace, read once for the tests of it, which follow each other."""
    return read_events(trace)


def test_facts_of_a_gpu_trace_give_the_figures_of_its_raw_events(trace: Path, events: list[Event]) -> None:
    (source,) = open_input(trace)[1]
    raw = figures_of_work(device_work(events))
    for figure, value in figures_of_facts(source).items():
        assert value == pytest.approx(raw.values()[figure], rel=1e-6, abs=1e-3, nan_ok=True), figure
    assert types_of_facts(source) == pytest.approx({k: us for k, us in raw.types.items() if us}, rel=1e-6)
    assert kernels_of_facts(source) == pytest.approx(raw.kernels, rel=1e-6)


def test_the_split_of_a_trace_without_steps_is_that_of_its_raw_events(
    request: pytest.FixtureRequest, trace: Path
) -> None:
    """As reports show it: memsets compute, copies with nothing beside them are free time, a start is set apart."""
    profile = advisor.load_profile(trace)
    (split,) = profile.table(Overlap).rows() if not profile.run.steps else [None]
    if split is None:
        pytest.skip("this trace is marked with steps")
    work = device_work(request.getfixturevalue("events"))
    base_ns = int(profile.table(DeviceTask)["start_ns"].min()) - min(start for start, _ in intervals(work))
    work = [
        event for event, (start, _) in zip(work, intervals(work), strict=True) if start + base_ns >= start_of(split)
    ]
    compute = [event for event in work if event["cat"] == "kernel" and not is_collective(event)]
    compute += [event for event in work if event["cat"] == "gpu_memset"]
    communication = [event for event in work if is_collective(event)]
    busy = [*compute, *communication]
    assert split["compute_us"] == pytest.approx(time_of(compute), rel=1e-6)
    assert split["comm_us"] == pytest.approx(time_of(communication), rel=1e-6)
    assert split["free_us"] == pytest.approx(span_of(busy) - time_of(busy), rel=1e-6)


def start_of(split: dict[str, object]) -> int:
    assert isinstance(split["start_ns"], int)
    return split["start_ns"]


def intervals(events: list[Event]) -> list[tuple[int, int]]:
    starts = [(int(event["ts"] * 1000), round(event["dur"] * 1000)) for event in events]
    return [(start, start + length) for start, length in starts]


def time_of(events: list[Event]) -> float:
    return length_of(merge(intervals(events))) / 1000


def span_of(events: list[Event]) -> float:
    merged = merge(intervals(events))
    return (merged[-1][1] - merged[0][0]) / 1000


@pytest.mark.parametrize("name", HTA)
def test_facts_of_a_gpu_trace_are_within_half_a_percent_of_holistic_trace_analysis(name: str, real_data: Path) -> None:
    if not (real_data / name).is_file():
        pytest.skip("this trace is not in the folder of real data")
    (source,) = open_input(real_data / name)[1]
    found = figures_of_facts(source)
    assert {figure: found[figure] for figure in HTA[name]} == pytest.approx(HTA[name], rel=0.005)
