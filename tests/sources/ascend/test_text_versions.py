# SPDX-License-Identifier: Apache-2.0
"""Every heading of every version of the text export reaches the column it means, in the unit of that column.

Each file is written as one version of torch_npu, MindSpore or msprof writes it, with a value of its own per column.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.messages.errors import FactMissing
from advisor.sources.ascend.aicpu import AICPU_TASKS
from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.kernel_counters import KERNEL_COUNTERS
from advisor.sources.ascend.kernels import KERNELS
from advisor.sources.ascend.links import LINKS
from advisor.sources.ascend.memory import L2_CACHE, MEMORY_USES, MODULE_MEMORY, OPERATOR_MEMORY
from advisor.sources.ascend.operator_calls import OPERATOR_CALLS
from advisor.sources.ascend.steps import STEP_TIMES
from advisor.sources.ascend.totals import API_TOTALS, OPERATOR_TOTALS
from advisor.sources.ascend.transfers import TRANSFERS
from advisor.sources.reading import Reading
from tests.sources.counter_sets import SETS_OF_COUNTERS
from tests.sources.traces import captured, of

MIB = 1024 * 1024
MATMUL = {
    "step": 13,
    "stream": 2,
    "op_name": "aclnnMatmul_MatMulV3Common_MatMulV3",
    "op_type": "BatchMatMulV2",
    "function": None,
    "effect": None,
    "core": "AI_CORE",
    "start_ns": 1764246877079027200,
    "duration_us": 170.4,
    "wait_us": 322.69,
    "blocks": 20.0,
    "input_shapes": "4096,1024;4096,512",
    "input_dtypes": "DT_BF16;FLOAT",
    "input_formats": "ND;FRACTAL_NZ",
    "output_shapes": "4096,64",
    "output_dtypes": "DT_BF16",
}
"""What each version says of one and the same kernel; its type is not the one its name ends in."""
MOMENT = "1764246877079027.200\t"
INPUTS = '"4096,1024;4096,512"', "DT_BF16;FLOAT", "ND;FRACTAL_NZ", '"4096,64"', "DT_BF16", "NCHW"
COUNTERS = (
    "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,"
    "aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,"
    "aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),"
    "aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,"
    "cube_utilization(%)"
)
PIPES = {
    "aic_mac_ratio": "0.11",
    "aic_scalar_ratio": "0.12",
    "aic_mte1_ratio": "0.13",
    "aic_mte2_ratio": "0.14",
    "aic_fixpipe_ratio": "0.15",
    "aiv_vec_ratio": "0.16",
    "aiv_scalar_ratio": "0.17",
    "aiv_mte2_ratio": "0.09",
    "aiv_mte3_ratio": "0.18",
    "cube_utilization(%)": "97",
    "aic_total_cycles": "5454504",
}
SHARES = {
    "mac_share": 0.11,
    "vector_share": 0.16,
    "scalar_share": 0.17,
    "mte2_share": 0.14,
    "mte3_share": 0.18,
    "mte1_share": 0.13,
    "fixpipe_share": 0.15,
    "cube_share": 0.97,
    "cube_mhz": 33000.0,
}


def table(columns: str, **cells: object) -> str:
    """A file of one row; cells that are not given hold something no column of ours may take."""
    names = columns.split(",")
    assert cells.keys() <= set(names), cells.keys() - set(names)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([names, [cells.get(name, "777777") for name in names]])
    return out.getvalue()


def kernel(columns: str, *, step: str, block: str, title: str = "", op: str = "Type", core: str, **more: str) -> str:
    shapes = (
        "Input Shapes",
        "Input Data Types",
        "Input Formats",
        "Output Shapes",
        "Output Data Types",
        "Output Formats",
    )
    task = "Task " if core == "Task Type" else ""
    unit = "" if title == "2023" else "(us)"
    cells: dict[str, object] = {
        "Stream ID": "2",
        "Op Name" if core == "Task Type" else "Name": MATMUL["op_name"],
        op: "BatchMatMulV2",
        core: "AI_CORE",
        f"{task}Start Time{unit}": MOMENT,
        f"{task}Duration(us)": "170.400",
        f"{task}Wait Time(us)": "322.690000",
        block: "20",
        **dict(zip(shapes, INPUTS, strict=True)),
        **more,
    }
    if step:
        cells[step] = "13"
    return table(columns, **cells)


DETAILS_2023 = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID"
)
DETAILS_2025 = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    f"Output Data Types,Output Formats,Context ID,{COUNTERS}"
)
OP_SUMMARY = (
    "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),"
    "Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,"
    "Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID"
)
STATE = {"OP State": "dynamic", "HF32 Eligible": "YES"}
KERNELS_OF = {
    "September 2023": kernel(DETAILS_2023, step="Step Id", block="Block Dim", core="Accelerator Core"),
    "January 2025": kernel(
        DETAILS_2025, step="Step Id", block="Block Dim", core="Accelerator Core", **STATE, **PIPES
    ),
    "November 2025": kernel(
        DETAILS_2025.replace("Step Id,", "Step Id,Device_id,"),
        step="Step Id", block="Block Dim", core="Accelerator Core", **STATE, **PIPES,
    ),
    "torch_npu 2.14": kernel(
        DETAILS_2025.replace("Block Dim", "Block Num"),
        step="Step Id", block="Block Num", core="Accelerator Core", **STATE, **PIPES,
    ),
    "MindSpore": kernel(
        DETAILS_2025.replace("Step Id", "Step ID"), step="Step ID", block="Block Dim", core="Accelerator Core",
        **STATE, **PIPES,
    ),
    "op_summary": kernel(
        OP_SUMMARY, step="", block="Block Num", op="OP Type", core="Task Type", **STATE
    ),
    "op_summary of 2023": kernel(
        OP_SUMMARY.replace("Task Start Time(us)", "Task Start Time"), step="", block="Block Num", title="2023",
        op="OP Type", core="Task Type", **STATE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("version", KERNELS_OF)
def test_every_version_says_the_same_of_a_kernel(version: str, tmp_path: Path) -> None:
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=KERNELS_OF[version]))
    expected: dict[str, object] = {"rank": 3, "op_state": "dynamic", "hf32": "YES", **MATMUL, **SHARES}
    if "2023" in version or version.startswith("op_summary"):
        expected |= dict.fromkeys(SHARES)
    if version == "September 2023":
        expected |= {"op_state": None, "hf32": None}
    if version.startswith("op_summary"):
        expected["step"] = None
    expected["graph"] = 777777 if "Model ID" in KERNELS_OF[version] else None
    assert row == {
        name: pytest.approx(value) if isinstance(value, float) else value for name, value in expected.items()
    }


@pytest.mark.parametrize("counted", ["ratio", "exe_ratio"], ids=["PipeUtilization", "PipelineExecuteUtilization"])
def test_a_chip_without_two_kinds_of_core_names_its_counters_without_one(counted: str, tmp_path: Path) -> None:
    names = ",".join(f"{pipe}_{counted}" for pipe in ("mac", "vec", "scalar", "mte1", "mte2", "mte3"))
    shares = dict(zip(names.split(","), ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6"), strict=True))
    columns = f"Name,Start Time(us),Duration(us),{names}"
    text = table(columns, Name="k", **{"Start Time(us)": MOMENT, "Duration(us)": "2"}, **shares)
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=text))
    found = [row[f"{pipe}_share"] for pipe in ("mac", "vector", "scalar", "mte1", "mte2", "mte3")]
    assert found == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert row["fixpipe_share"] is None


@pytest.mark.parametrize("counted", ["ratio", "exe_ratio"], ids=["PipeUtilization", "PipelineExecuteUtilization"])
def test_filling_and_emptying_l0_are_two_pipes_of_which_each_may_be_the_busier(counted: str, tmp_path: Path) -> None:
    cells = {f"mte1_{counted}": "0.4", f"fixpipe_{counted}": "0.7"}
    plain = {"Name": "k", "Start Time(us)": MOMENT, "Duration(us)": "2"}
    text = table(",".join([*plain, *cells]), **plain, **cells)
    (row,) = of(KERNELS.ways["text"], captured(tmp_path, kernel_details=text))
    assert (row["mte1_share"], row["fixpipe_share"]) == (0.4, 0.7)


@pytest.mark.parametrize("names", ["kernel_details", "op_summary"])
@pytest.mark.parametrize("counted", SETS_OF_COUNTERS)
def test_each_set_of_counters_fills_the_columns_it_means(counted: str, names: str, tmp_path: Path) -> None:
    cells, expected = SETS_OF_COUNTERS[counted]
    title, op, unit = ("Name", "Type", "") if names == "kernel_details" else ("Op Name", "OP Type", "Task ")
    plain = {title: "k", op: "MatMulV3", f"{unit}Start Time(us)": MOMENT, f"{unit}Duration(us)": "2"}
    text = table(",".join([*plain, *cells]), **plain, **cells)
    (row,) = of(KERNEL_COUNTERS.ways["text"], captured(tmp_path, kernel_details=text))
    about = {"rank": 3, "op_name": "k", "op_type": "MatMulV3", "duration_us": 2.0}
    assert {name: value for name, value in row.items() if value is not None} == {**about, **expected}


def test_counters_of_pipes_alone_are_no_further_set(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(KERNEL_COUNTERS.ways["text"], captured(tmp_path, kernel_details=KERNELS_OF["January 2025"]))


def test_collectives_are_no_kernels_of_a_set_of_counters(tmp_path: Path) -> None:
    columns = "Name,Accelerator Core,Start Time(us),Duration(us),aic_write_cache_hit"
    text = table(columns, Name="hcom_allReduce_", **{"Accelerator Core": "HCCL", "Duration(us)": "2"})
    assert of(KERNEL_COUNTERS.ways["text"], captured(tmp_path, kernel_details=text)) == []


STEP = {
    "Computing": "11",
    "Communication(Not Overlapped)": "12",
    "Overlapped": "13",
    "Communication": "25",
    "Free": "15",
    "Bubble": "16",
    "Preparing": "17",
    "Step": "4",
}
SUMS = {
    "step": 4,
    "compute_us": 11.0,
    "exposed_comm_us": 12.0,
    "overlapped_us": 13.0,
    "comm_us": 25.0,
    "free_us": 15.0,
    "bubble_us": 16.0,
    "preparing_us": 17.0,
}
STEPS_2025 = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)


@pytest.mark.parametrize("columns", [STEPS_2025, f"Device_id,{STEPS_2025}", STEPS_2025.removesuffix(",Preparing")])
def test_the_sums_of_a_step_are_read_by_their_names(columns: str, tmp_path: Path) -> None:
    told = {name: value for name, value in STEP.items() if name in columns.split(",")}
    (row,) = of(STEP_TIMES.ways["text"], captured(tmp_path, step_trace_time=table(columns, **told)))
    expected = {**SUMS, "preparing_us": 17.0 if "Preparing" in columns else None}
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize(("wrote", "damaged"), [("host_1_2_ascend_ms", 0), ("host_1_2_ascend_pt", 1)])
def test_a_device_at_work_before_the_first_event_of_mindspore_took_no_preparation(
    wrote: str, damaged: int, tmp_path: Path
) -> None:
    """Without `prof.step()` it takes the first task of the device less the first event of the host."""
    folder = captured(tmp_path, step_trace_time=table(STEPS_2025, **{**STEP, "Preparing": "-12.345"}))
    folder = replace(folder, root=tmp_path / wrote)
    (row,) = of(STEP_TIMES.ways["text"], folder)
    assert (row["preparing_us"], row["compute_us"]) == (None, 11.0)
    assert len(folder.notes.all()) == damaged


TOTALS: tuple[tuple[str, Reading[Any, Any], str, Mapping[str, str], Mapping[str, object]], ...] = (
    (
        "op_statistic",
        OPERATOR_TOTALS,
        "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)",
        {"OP Type": "Cast", "Core Type": "AI_VECTOR_CORE", "Count": "3", "Total Time(us)": "1954.7",
         "Min Time(us)": "623.7", "Max Time(us)": "700.3", "Ratio(%)": "97.5"},
        {"op_type": "Cast", "core": "AI_VECTOR_CORE", "calls": 3.0, "total_us": 1954.7, "min_us": 623.7,
         "max_us": 700.3, "share": 0.975},
    ),
    (
        "api_statistic",
        API_TOTALS,
        "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
        {"Level": "acl", "API Name": "aclrtMemcpyAsync", "Time(us)": "318.2", "Count": "8", "Min(us)": "4.9",
         "Max(us)": "158.8"},
        {"level": "acl", "kind": "api", "name": "aclrtMemcpyAsync", "activity": "copy", "total_us": 318.2,
         "calls": 8.0, "min_us": 4.9, "max_us": 158.8},
    ),
    (
        "operator_details",
        OPERATOR_CALLS,
        "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
        "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)",
        {"Name": "aten::mm", "Input Shapes": "4,5;\r\n6", "Call Stack": "a.py(1): f;\r\nb.py(2): g",
         "Host Self Duration(us)": "1", "Host Total Duration(us)": "2", "Device Self Duration(us)": "3",
         "Device Total Duration(us)": "4"},
        {"name": "aten::mm", "input_shapes": "4,5;6", "call_stack": "a.py(1): f;b.py(2): g", "host_self_us": 1.0,
         "host_total_us": 2.0, "device_self_us": 3.0, "device_total_us": 4.0},
    ),
    (
        "memory_record",
        MEMORY_USES,
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type",
        {"Component": "PTA", "Timestamp(us)": MOMENT, "Total Allocated(MB)": "1.5", "Total Reserved(MB)": "3",
         "Total Active(MB)": "2"},
        {"component": "PTA", "time_ns": 1764246877079027200, "allocated_bytes": 1.5 * MIB, "reserved_bytes": 3.0 * MIB,
         "active_bytes": 2.0 * MIB},
    ),
    (
        "npu_module_mem",
        MODULE_MEMORY,
        "Device_id,Component,Timestamp(us),Total Reserved(KB),Device",
        {"Component": "HCCL", "Timestamp(us)": MOMENT, "Total Reserved(KB)": "4"},
        {"component": "HCCL", "time_ns": 1764246877079027200, "reserved_bytes": 4096.0},
    ),
    (
        "operator_memory",
        OPERATOR_MEMORY,
        "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
        "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),"
        "Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type",
        {"Name": "aten::empty", "Size(KB)": "2.5", "Allocation Time(us)": "1.001\t", "Release Time(us)": "2.002\t"},
        {"name": "aten::empty", "size_bytes": 2560.0, "allocated_ns": 1001, "released_ns": 2002},
    ),
    (
        "data_preprocess",
        AICPU_TASKS,
        "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),"
        "Stream ID,Task ID",
        {"Node": "k", "Compute_time(us)": "1", "Memcpy_time(us)": "2", "Task_time(us)": "4", "Dispatch_time(us)": "8",
         "Total_time(us)": "16"},
        {"op_name": "k", "compute_us": 1.0, "copy_us": 2.0, "task_us": 4.0, "dispatch_us": 8.0, "total_us": 16.0},
    ),
    (
        "data_preprocess",
        AICPU_TASKS,
        "Timestamp,Node,Compute_time(ms),Memcpy_time(us),Task_time(ms),Dispatch_time(ms),Total_time(ms),Stream ID,"
        "Task ID",
        {"Node": "k", "Compute_time(ms)": "1", "Memcpy_time(us)": "2", "Task_time(ms)": "4", "Dispatch_time(ms)": "8",
         "Total_time(ms)": "16"},
        {"op_name": "k", "compute_us": 1e3, "copy_us": 2.0, "task_us": 4e3, "dispatch_us": 8e3, "total_us": 16e3},
    ),
    (
        "l2_cache",
        L2_CACHE,
        "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name",
        {"Stream Id": "2", "Task Id": "9", "Hit Rate": "0.25", "Victim Rate": "2e-05", "Op Name": "k"},
        {"stream": 2, "task": 9, "hit_share": 0.25, "victim_share": 2e-05, "op_name": "k"},
    ),
)  # fmt: skip


@pytest.mark.parametrize("case", TOTALS, ids=[case[0] for case in TOTALS])
def test_each_heading_fills_the_column_it_means(
    case: tuple[str, Reading[Any, Any], str, dict[str, str], dict[str, object]], tmp_path: Path
) -> None:
    name, reading, columns, cells, expected = case
    (row,) = of(reading.ways["text"], captured(tmp_path, **{name: table(columns, **cells)}))
    assert row == {"rank": 3, **expected}


@pytest.mark.parametrize(
    ("written", "level"),
    [("acl", "acl"), ("model", "model"), ("node", "node"), ("hccl", "hccl"), ("communication", "hccl"),
     ("runtime", "runtime")],
)  # fmt: skip
def test_layers_of_calls_have_one_name_in_all_versions(written: str, level: str, tmp_path: Path) -> None:
    text = table("Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance", Level=written, **{"API Name": "x"})
    (row,) = of(API_TOTALS.ways["text"], captured(tmp_path, api_statistic=text))
    assert row["level"] == level


@pytest.mark.parametrize("case", TOTALS[:2], ids=[case[0] for case in TOTALS[:2]])
def test_a_total_that_stands_twice_counts_once_and_is_told(
    case: tuple[str, Reading[Any, Any], str, Mapping[str, str], Mapping[str, object]], tmp_path: Path
) -> None:
    name, reading, columns, cells, expected = case
    heading, row = table(columns, **cells).splitlines()
    other = table(columns, **{**cells, "Count": "99"}).splitlines()[1]
    folder = captured(tmp_path, **{name: "\n".join([heading, row, other, row, row])})
    assert [row["calls"] for row in of(reading.ways["text"], folder)] == [expected["calls"], 99.0]
    (note,) = folder.notes.all()
    assert (note.file, note.what.code, note.rows, note.share) == (f"{name}.csv", "totals_repeated", 2, 0.5)


OPERATOR = "hcom_allReduce__271_0_1@6457"
SPENT = {
    "Start Timestamp(us)": 1764246877076689.8,
    "Elapse Time(ms)": 60.0,
    "Transit Time(ms)": 11.0,
    "Wait Time(ms)": 22.0,
    "Synchronization Time(ms)": 13.0,
    "Idle Time(ms)": 27.0,
    "Wait Time Ratio": 0.6,
    "Synchronization Time Ratio": 0.5,
}


def bandwidth(size: float, count: int, ms: float) -> dict[str, object]:
    """What communication.json says of one kind of link; the sums beside the packets are others."""
    distribution = {str(size): [count, ms]}
    sums = {"Transit Size(MB)": 777, "Transit Time(ms)": 777, "Bandwidth(GB/s)": 777, "Large Packet Ratio": 0.7}
    return {**sums, "Size Distribution": distribution}


def test_the_parts_of_a_collective_are_told_apart(tmp_path: Path) -> None:
    content = {"step13": {"collective": {OPERATOR: {"Communication Time Info": SPENT}, "Total Op Info": {}}}}
    (row,) = of(COLLECTIVES.ways["text"], captured(tmp_path, communication=json.dumps(content)))
    parts = [row[f"{part}_us"] for part in ("elapse", "transit", "wait", "sync", "idle")]
    assert parts == [60_000.0, 11_000.0, 22_000.0, 13_000.0, 27_000.0]
    assert (row["step"], row["op"], row["group"], row["p2p"]) == (13, "allReduce", "6457", False)


def test_packets_of_each_link_count_once_and_their_sum_not_again(tmp_path: Path) -> None:
    links = {"HCCS": (8.0, 1, 0.5), "RDMA": (2.0, 3, 0.25), "PCIE": (4.0, 5, 0.125), "SIO": (1.0, 7, 1.5)}
    told = {link: bandwidth(*packets) for link, packets in links.items()} | {"SDMA": bandwidth(13.0, 13, 2.1)}
    content = {"step": {"collective": {OPERATOR: {"Communication Bandwidth Info": told}}}}
    rows = of(TRANSFERS.ways["text"], captured(tmp_path, communication=json.dumps(content)))
    found = {row["link"]: (row["packet_bytes"], row["packets"], row["transit_us"]) for row in rows}
    assert found == {link: (size * 1e6, count, ms * 1e3) for link, (size, count, ms) in links.items()}


def test_links_between_chips_are_kept_and_copies_inside_of_one_are_not(tmp_path: Path) -> None:
    kinds = ("HCCS", "RDMA", "PCIE", "SIO", "LOCAL")
    told = {
        f"3-{target + 4}": {"Transport Type": kind, "Transit Size(MB)": target + 1, "Transit Time(ms)": 0.5,
                        "Bandwidth(GB/s)": 777, "Op Name": "hcom_allReduce__271_0_1"}
        for target, kind in enumerate(kinds)
    }  # fmt: skip
    content = {"step4": {"collective": {"allreduce-total@6457": told, "allreduce-top1@6457": told}}}
    rows = of(LINKS.ways["text"], captured(tmp_path, communication_matrix=json.dumps(content)))
    found = [(row["target"], row["link"], row["size_bytes"], row["transit_us"], row["bandwidth_gbps"]) for row in rows]
    assert found == [(at + 4, kind, (at + 1) * 1e6, 500.0, (at + 1) * 2.0) for at, kind in enumerate(kinds[:-1])]
