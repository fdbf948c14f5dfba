# SPDX-License-Identifier: Apache-2.0
"""Each word and number that captures use for chips, groups, parallel sizes, levels and lanes means what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.facts.observed import Device, RankCapture
from advisor.sources import open_input
from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from advisor.sources.ascend.devices import DEVICES
from advisor.sources.ascend.groups import Sizes, kind_of
from advisor.sources.ascend.settings import Recorded
from tests.sources.traces import captured, event, lane, of, thread


@pytest.mark.parametrize(
    ("version", "chip"),
    [("0", "310"), ("1", "910A"), ("4", "310P"), ("5", "910B"), ("7", "310B"), ("15", "950"), (5, "910B")],
)
def test_the_platform_of_the_raw_data_names_the_chip(version: str | int, chip: str, tmp_path: Path) -> None:
    raw = tmp_path / "PROF_000001_20251119092620336_GAOJ" / "device_4"
    raw.mkdir(parents=True)
    about = {"ai_core_num": 24, "aiv_num": 48, "ai_cpu_core_num": 6, "aic_frequency": "1850", "aiv_frequency": "777"}
    (raw / "info.json.4").write_text(json.dumps({"platform_version": version, "DeviceInfo": [about]}))
    (row,) = of(DEVICES.ways["text"], captured(tmp_path))
    cores = {"cube_cores": 24.0, "vector_cores": 48.0, "nominal_mhz": 1850.0}
    expected = {"rank": 3, "chip": f"Ascend{chip}", **cores, "memory_bytes": None, "number": None}
    assert row == expected
    assert row.keys() == Device.columns().keys()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("default_group", "world"),
        ("tp", "tp"),
        ("moeTp", "tp"),
        ("pp", "pp"),
        ("dp", "dp"),
        ("dp_cp", "dp"),
        ("cp", "cp"),
        ("cp_ulysses", "cp"),
        ("exp", "ep"),
        ("ep", "ep"),
        ("embd", "embedding"),
        ("mp", "mp"),
        ("tp_exp", "tp_exp"),
    ],
)
def test_a_group_is_for_what_its_framework_calls_it(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_each_parallel_size_is_the_one_of_its_name() -> None:
    told = {
        "tensor_model_parallel_size": 2,
        "pipeline_model_parallel_size": 3,
        "data_parallel_size": 5,
        "context_parallel_size": 7,
        "expert_model_parallel_size": 11,
        "sequence_parallel": True,
        "rank": 13,
        "world_size": 210,
    }
    assert Sizes.recorded(told) == Sizes({"tp": 2, "pp": 3, "dp": 5, "cp": 7, "ep": 11}, 210)


@pytest.mark.parametrize(("level", "number"), [("Level_none", -1), ("Level0", 0), ("Level1", 1), ("Level2", 2)])
def test_levels_are_counted_as_they_are_named(level: str, number: int, tmp_path: Path) -> None:
    folder = tmp_path / "host_1_20250109084754000_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "step_trace_time.csv").write_text("Step,Computing,Free\n1,2,3\n")
    info = {"config": {"experimental_config": {"_profiler_level": level}}}
    (folder / "profiler_info_0.json").write_text(json.dumps(info))
    _, (source,) = open_input(tmp_path)
    (row,) = source.read(RankCapture).rows()
    assert (row["level"], row["level_number"]) == (level, number)


@pytest.mark.parametrize("name", ["HCCL", "Communication"])
def test_collectives_stand_in_the_lane_of_either_version(name: str, tmp_path: Path) -> None:
    args = {"connection_id": 5, "data_type": "FP32", "alg_type": "MESH-RING", "count": 1024}
    trace = [
        lane(9, name),
        thread(9, 0, "Group 0 Communication"),
        thread(9, 1, "Plane 0"),
        event("hcom_allReduce__271_0_1", "5.000", 40.0, pid=9, tid=0, args=args),
        event("Memcpy", "5.000", 4.0, pid=9, tid=1),
    ]
    (row,) = of(COLLECTIVES.ways["text"], captured(tmp_path, trace))
    assert [row[column] for column in ("op", "start_ns", "elapse_us")] == ["allReduce", 5000, 40.0]
    assert [row[column] for column in ("dtype", "algorithm", "size_bytes")] == ["FP32", "MESH-RING", 4096.0]


@pytest.mark.parametrize("size", ["data size(Byte)", "size(B)"])
@pytest.mark.parametrize("words", ["memcpy direction", "operation"])
@pytest.mark.parametrize(
    ("way", "direction"),
    [
        ("host to device", "h2d"),
        ("host to device ex", "h2d"),
        ("device to host", "d2h"),
        ("device to host ex", "d2h"),
        ("device to device", "d2d"),
        ("addr device to device", "d2d"),
        ("host to host", None),
        ("managed memory", None),
    ],
)
def test_copies_go_where_their_words_say(
    size: str, words: str, way: str, direction: str | None, tmp_path: Path
) -> None:
    args = {"Task Type": "PCIE_DMA_SQE", "Stream Id": 5, size: 1168, words: way}
    trace = [lane(9, "Ascend Hardware"), event("MEMCPY_ASYNC", "1.000", pid=9, tid=2, args=args)]
    (row,) = of(DEVICE_TASKS.ways["text"], captured(tmp_path, trace))
    assert (row["kind"], row["size_bytes"], row["direction"], row["stream"]) == ("copy", 1168.0, direction, 5)


@pytest.mark.parametrize(
    ("said", "cache", "means"),
    [
        ("ACL_AICORE_PIPE_UTILIZATION", False, "PipeUtilization"),
        ("ACL_AICORE_ARITHMETIC_UTILIZATION", False, "ArithmeticUtilization"),
        ("ACL_AICORE_MEMORY_BANDWIDTH", False, "Memory"),
        ("ACL_AICORE_L0B_AND_WIDTH", False, "MemoryL0"),
        ("ACL_AICORE_MEMORY_UB", False, "MemoryUB"),
        ("ACL_AICORE_RESOURCE_CONFLICT_RATIO", False, "ResourceConflictRatio"),
        ("ACL_AICORE_L2_CACHE", False, "L2Cache"),
        ("ACL_AICORE_MEMORY_ACCESS", False, "MemoryAccess"),
        ("ACL_AICORE_NONE", False, ""),
        ("ACL_AICORE_NONE", True, "L2 cache"),
        ("ACL_AICORE_PIPE_UTILIZATION", True, "PipeUtilization, L2 cache"),
        ("", True, None),
    ],
)
def test_the_set_of_hardware_counters_is_called_as_people_ask_for_it(said: str, cache: bool, means: str | None) -> None:
    info = {"config": {"experimental_config": {"_aic_metrics": said, "_l2_cache": cache}}}
    assert Recorded(info, {}).core_metrics == means


@pytest.mark.parametrize(
    ("switches", "means"),
    [
        ({"_sys_io": True, "_sys_interconnection": False, "_host_sys": []}, "sys_io"),
        (
            {"_sys_io": True, "_sys_interconnection": True, "_host_sys": ["cpu"]},
            "sys_io, sys_interconnection, host_sys",
        ),
        ({"_profiler_level": "Level1"}, "none"),
        ({}, None),
    ],
)
def test_samplers_are_known_by_their_switches(switches: dict[str, object], means: str | None) -> None:
    assert Recorded({"config": {"experimental_config": switches}}, {}).sampled == means


def test_mindspore_says_which_hardware_counters_it_recorded() -> None:
    info = {"profiler_parameters": {"aic_metrics": "AicoreMetrics.L2Cache", "l2_cache": False}}
    assert Recorded(info, {}).core_metrics == "L2Cache"
