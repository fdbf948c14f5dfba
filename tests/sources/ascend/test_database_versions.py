# SPDX-License-Identifier: Apache-2.0
"""Every column and every number of an enumeration of the database export means what the exporter means by it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from advisor.messages.errors import FactMissing
from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.communication import p2p_groups
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from advisor.sources.ascend.host_calls import HOST_CALLS
from advisor.sources.ascend.kernel_counters import KERNEL_COUNTERS
from advisor.sources.ascend.kernels import KERNELS
from advisor.sources.ascend.links import LINKS
from advisor.sources.ascend.memory import MEMORY_USES, MODULE_MEMORY, OPERATOR_MEMORY
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.steps import STEP_TIMES
from advisor.sources.ascend.totals import API_TOTALS, OPERATOR_TOTALS
from advisor.sources.ascend.transfers import TRANSFERS
from advisor.sources.reading import Reading
from tests.sources.counter_sets import SETS_OF_COUNTERS
from tests.sources.traces import of

Rows = Sequence[Mapping[str, object]]
NO_TIME = 65535


class Texts(dict[str, int]):
    """Numbers that stand for texts, as STRING_IDS has them."""

    def __missing__(self, text: str) -> int:
        self[text] = 1000 + len(self)
        return self[text]


def database(root: Path, texts: Texts | None = None, **tables: Rows) -> Folder:
    """A capture with these tables; those of analysis.db are told by their names."""
    summed = ("StepTraceTime", "CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix")
    named: dict[str, Rows] = {"STRING_IDS": [{"id": at, "value": text} for text, at in (texts or {}).items()]}
    files = {}
    for which, chosen in (
        ("profiler", {**named, **{name: rows for name, rows in tables.items() if name not in summed}}),
        ("analysis", {name: rows for name, rows in tables.items() if name in summed}),
    ):
        files[which] = root / f"{which}.db"
        with closing(sqlite3.connect(files[which])) as connection:
            for name, rows in chosen.items():
                columns = ", ".join(f'"{column}"' for column in (rows[0] if rows else {"id": 0, "value": 0}))
                connection.execute(f"CREATE TABLE {name} ({columns})")
                marks = ", ".join("?" * len(columns.split(",")))
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", [tuple(row.values()) for row in rows])
            connection.commit()
    return Folder(rank=3, root=root, output=root, databases=files)


def rows_of(reading: Reading[Any, Any], folder: Folder) -> list[dict[str, Any]]:
    return of(reading.ways["database"], folder)


def task(number: int, task_type: int, start: int = 1_000, **more: object) -> dict[str, object]:
    """A row of TASK, with something else in every column that is not ours."""
    row = {"startNs": start, "endNs": start + 500, "deviceId": 7, "connectionId": 70 + number, "globalTaskId": number}
    return {
        **row,
        "globalPid": 7,
        "taskType": task_type,
        "contextId": 7,
        "streamId": 2,
        "taskId": 7,
        "modelId": 2**32 - 1,
        **more,
    }


def info(texts: Texts, blocks: Mapping[str, object], core: str = "AI_CORE", **more: object) -> dict[str, object]:
    """A row of COMPUTE_TASK_INFO."""
    return {
        "name": texts["aclnnMatmul_MatMulV3Common_MatMulV3"],
        "globalTaskId": 1,
        **blocks,
        "taskType": texts[core],
        "opType": texts["BatchMatMulV2"],
        "inputFormats": texts["ND;FRACTAL_NZ"],
        "inputDataTypes": texts["DT_BF16;FLOAT"],
        "inputShapes": texts['"4096,1024;4096,512"'],
        "outputFormats": texts["NCHW"],
        "outputDataTypes": texts["INT8"],
        "outputShapes": texts['"4096,64"'],
        "attrInfo": 7,
        **more,
    }


@pytest.mark.parametrize("schema", ["1.0.0", "1.2.0"])
def test_a_kernel_is_the_same_in_both_schemas(schema: str, tmp_path: Path) -> None:
    """In the newer one blockDim came back with another meaning: a text."""
    texts = Texts()
    old = {"blockDim": 20, "mixBlockDim": 40}
    new = {
        "blockNum": 20,
        "mixBlockNum": 40,
        "blockDim": texts["8,8,1"],
        "opState": texts["static"],
        "hf32Eligible": texts["NO"],
    }
    tables = {"COMPUTE_TASK_INFO": [info(texts, old if schema == "1.0.0" else new)], "TASK": [task(1, texts["KERNEL"])]}
    counters = {"aic_mac_ratio": 0.11, "aiv_vec_ratio": 0.16, "aic_scalar_ratio": 0.12, "aiv_scalar_ratio": 0.17}
    counters |= {"aic_mte2_ratio": 0.14, "aiv_mte2_ratio": 0.09, "aiv_mte3_ratio": 0.18, "aic_mte1_ratio": 0.13}
    counters |= {"aic_fixpipe_ratio": 0.15, "aic_total_cycles": 7e9}
    measured = [{"globalTaskId": 1, "name": texts[name], "value": value} for name, value in counters.items()]
    (row,) = rows_of(KERNELS, database(tmp_path, texts, TASK_PMU_INFO=measured, **tables))
    assert row == {
        "rank": 3,
        "step": None,
        "stream": 2,
        "graph": None,
        "op_name": "aclnnMatmul_MatMulV3Common_MatMulV3",
        "op_type": "BatchMatMulV2",
        "function": None,
        "effect": None,
        "core": "AI_CORE",
        "op_state": None if schema == "1.0.0" else "static",
        "start_ns": 1000,
        "duration_us": 0.5,
        "wait_us": None,
        "blocks": 20.0,
        "input_shapes": "4096,1024;4096,512",
        "input_dtypes": "DT_BF16;FLOAT",
        "input_formats": "ND;FRACTAL_NZ",
        "output_shapes": "4096,64",
        "output_dtypes": "INT8",
        "hf32": None if schema == "1.0.0" else "NO",
        "mac_share": 0.11,
        "vector_share": 0.16,
        "scalar_share": 0.17,
        "mte2_share": 0.14,
        "mte3_share": 0.18,
        "mte1_share": 0.13,
        "fixpipe_share": 0.15,
        "cube_share": None,
        "cube_mhz": None,
    }


@pytest.mark.parametrize(("model", "graph"), [(2**32 - 1, None), (-1, None), (0, 0), (8, 8)])
def test_a_kernel_of_a_graph_has_its_number(model: int, graph: int | None, tmp_path: Path) -> None:
    """The largest number of 32 bits stands for what the host launched by itself."""
    texts = Texts()
    tables = {
        "COMPUTE_TASK_INFO": [info(texts, {"blockDim": 20})],
        "TASK": [task(1, texts["KERNEL"], modelId=model)],
    }
    (row,) = rows_of(KERNELS, database(tmp_path, texts, **tables))
    assert row["graph"] == graph


def test_a_fused_kernel_listed_as_communication_is_one_of_the_model_where_its_cores_counted(tmp_path: Path) -> None:
    texts = Texts()
    listed: list[tuple[str, float | None]] = [("DispatchFFNCombine", 0.2), ("HcomAllReduce", None)]
    listed += [("HcomAllGather", 0.0), ("hcom_allReduce__8_0_1", 0.1)]
    kernels = [
        info(texts, {"blockDim": 20}, "COMMUNICATION", globalTaskId=number, name=texts[name], opType=texts[name])
        for number, (name, _) in enumerate(listed)
    ]
    tasks = [task(number, texts["KERNEL"], 1_000 + 1_000 * number) for number in range(len(listed))]
    measured = [
        {"globalTaskId": number, "name": texts["aiv_vec_ratio"], "value": value}
        for number, (_, value) in enumerate(listed)
        if value is not None
    ]
    folder = database(tmp_path, texts, COMPUTE_TASK_INFO=kernels, TASK=tasks, TASK_PMU_INFO=measured)
    assert [row["op_type"] for row in rows_of(KERNELS, folder)] == ["DispatchFFNCombine"]


@pytest.mark.parametrize("counted", SETS_OF_COUNTERS)
def test_each_set_of_counters_says_the_same_as_the_text(counted: str, tmp_path: Path) -> None:
    cells, expected = SETS_OF_COUNTERS[counted]
    texts = Texts()
    plain = {re.sub(r"\(.*\)", "", name): float(value) for name, value in cells.items() if value != "N/A"}
    measured = [{"globalTaskId": 1, "name": texts[name], "value": value} for name, value in plain.items()]
    tables = {"COMPUTE_TASK_INFO": [info(texts, {"blockDim": 20})], "TASK": [task(1, texts["KERNEL"])]}
    (row,) = rows_of(KERNEL_COUNTERS, database(tmp_path, texts, TASK_PMU_INFO=measured, **tables))
    about = {
        "rank": 3,
        "op_name": "aclnnMatmul_MatMulV3Common_MatMulV3",
        "op_type": "BatchMatMulV2",
        "duration_us": 0.5,
    }
    assert {name: value for name, value in row.items() if value is not None} == {**about, **expected}


@pytest.mark.parametrize(("blocks", "cube_mhz"), [(20, None), (24, 43200.0), (48, 43200.0)])
def test_the_clock_of_all_cores_is_that_of_kernels_with_a_block_for_each(
    blocks: int, cube_mhz: float | None, tmp_path: Path
) -> None:
    texts = Texts()
    counted = {"aic_total_cycles": 432_000, "aic_total_time": 10_000}
    measured = [{"globalTaskId": 1, "name": texts[name], "value": value} for name, value in counted.items()]
    tables = {"COMPUTE_TASK_INFO": [info(texts, {"blockDim": blocks})], "TASK": [task(1, texts["KERNEL"])]}
    (row,) = rows_of(KERNELS, database(tmp_path, texts, TASK_PMU_INFO=measured, **tables))
    assert row["cube_mhz"] == cube_mhz


def test_counters_of_pipes_alone_are_no_further_set(tmp_path: Path) -> None:
    texts = Texts()
    measured = [{"globalTaskId": 1, "name": texts["aic_mac_ratio"], "value": 0.5}]
    tables = {"COMPUTE_TASK_INFO": [info(texts, {"blockDim": 20})], "TASK": [task(1, texts["KERNEL"])]}
    with pytest.raises(FactMissing):
        rows_of(KERNEL_COUNTERS, database(tmp_path, texts, TASK_PMU_INFO=measured, **tables))


@pytest.mark.parametrize(
    ("task_type", "core"),
    [
        ("KERNEL_AIVEC", "AI_VECTOR_CORE"),
        ("KERNEL_AICORE", "AI_CORE"),
        ("KERNEL_AICPU", "AI_CPU"),
        ("KERNEL_MIX_AIC", "MIX_AIC"),
        ("KERNEL_MIX_AIV", "MIX_AIV"),
        ("STARS_COMMON", "DSA_SQE"),
        ("MIX_AIV", "MIX_AIV"),
    ],
)
def test_at_level0_the_type_of_the_task_tells_the_core(task_type: str, core: str, tmp_path: Path) -> None:
    texts = Texts()
    folder = database(
        tmp_path, texts, COMPUTE_TASK_INFO=[info(texts, {"blockDim": 0}, "N/A")], TASK=[task(1, texts[task_type])]
    )
    (row,) = rows_of(KERNELS, folder)
    assert (row["core"], row["blocks"]) == (core, None)


TASKS = {
    **dict.fromkeys(("KERNEL_AIVEC", "KERNEL_AICORE", "KERNEL_AICPU", "AI_CORE", "AI_VECTOR_CORE", "AI_CPU"), "kernel"),
    **dict.fromkeys(("MIX_AIC", "MIX_AIV", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV", "STARS_COMMON", "DSA_SQE"), "kernel"),
    **dict.fromkeys(("MEMCPY_ASYNC", "PCIE_DMA_SQE"), "copy"),
    **dict.fromkeys(("EVENT_WAIT", "EVENT_WAIT_SQE", "NOTIFY_WAIT_SQE", "NOTIFY_WAIT"), "wait"),
    **dict.fromkeys(("Notify Wait", "Notify Record", "SDMA", "Write Value", "RDMA"), "comm"),
    **dict.fromkeys(("EVENT_RECORD", "PROFILING_ENABLE", "PROFILING_DISABLE", "PLACE_HOLDER_SQE"), "mark"),
}
"""What tasks of each type do for the device, as captures of several versions spell them."""


@pytest.mark.parametrize(("task_type", "kind"), TASKS.items())
def test_a_task_does_what_its_type_says(task_type: str, kind: str, tmp_path: Path) -> None:
    texts = Texts()
    (row,) = rows_of(DEVICE_TASKS, database(tmp_path, texts, TASK=[task(1, texts[task_type])]))
    assert (row["kind"], row["task_type"], row["start_ns"], row["end_ns"]) == (kind, task_type, 1000, 1500)
    assert (row["stream"], row["connection"]) == (2, 71)


COPIES = {
    0: None,  # host to host
    1: "h2d",
    2: "d2h",
    3: "d2d",
    4: None,  # managed memory
    5: "d2d",
    6: "h2d",
    7: "d2h",
    NO_TIME: None,
}


@pytest.mark.parametrize(("operation", "direction"), COPIES.items())
def test_copies_go_where_their_number_says(operation: int, direction: str | None, tmp_path: Path) -> None:
    texts = Texts()
    copies = [{"globalTaskId": 1, "size": 4096, "memcpyOperation": operation}]
    folder = database(tmp_path, texts, TASK=[task(1, texts["MEMCPY_ASYNC"])], MEMCPY_INFO=copies)
    (row,) = rows_of(DEVICE_TASKS, folder)
    assert (row["direction"], row["size_bytes"]) == (direction, 4096.0)


LAYERS = {20000: ("acl", "api"), 15000: ("model", "graph"), 10000: ("node", "launch"), 5500: ("hccl", "communicate")}
LAYERS[5000] = ("runtime", "runtime")


def call(texts: Texts, layer: int, name: str = "aclrtMemcpy") -> dict[str, object]:
    """A row of CANN_API."""
    tid = (77 << 32) | 9
    return {"startNs": 10, "endNs": 2_510, "type": layer, "globalTid": tid, "connectionId": 5, "name": texts[name]}


@pytest.mark.parametrize("own", [True, False], ids=["its own names", "no names"])
@pytest.mark.parametrize(("layer", "words"), LAYERS.items())
def test_a_call_belongs_to_the_layer_of_its_number(
    layer: int, words: tuple[str, str], own: bool, tmp_path: Path
) -> None:
    texts = Texts()
    tables: dict[str, Rows] = {"CANN_API": [call(texts, layer)]}
    if own:
        tables["ENUM_API_TYPE"] = [{"id": layer, "name": "communication" if words[0] == "hccl" else words[0]}]
    folder = database(tmp_path, texts, **tables)
    (row,) = rows_of(HOST_CALLS, folder)
    assert (row["kind"], row["activity"], row["thread"]) == (words[1], "blocking_copy", 9)
    (total,) = rows_of(API_TOTALS, folder)
    assert (total["level"], total["calls"], total["total_us"]) == (words[0], 1.0, 2.5)


@pytest.mark.parametrize(
    ("number", "name", "kind"),
    [
        (50001, "aten::add", "operator"),
        (50002, "Enqueue", "enqueue"),
        (50002, "Dequeue@x", "dequeue"),
        (50003, "a.py(1): f", "python"),
        (50003, "<built-in function collect>", "gc"),
    ],
)
def test_a_call_of_the_framework_is_what_its_number_says(number: int, name: str, kind: str, tmp_path: Path) -> None:
    texts = Texts()
    calls = [{**call(texts, number, name), "startNs": "10", "endNs": "2510"}]
    (row,) = rows_of(HOST_CALLS, database(tmp_path, texts, PYTORCH_API=calls))
    assert (row["kind"], row["start_ns"], row["end_ns"]) == (kind, 10, 2510)


def test_totals_of_operators_are_those_of_their_tasks(tmp_path: Path) -> None:
    texts = Texts()
    kernels = [info(texts, {"blockDim": 1}), info(texts, {"blockDim": 1}, globalTaskId=2)]
    tasks = [task(1, texts["K"]), task(2, texts["K"], endNs=2_500)]
    (row,) = rows_of(OPERATOR_TOTALS, database(tmp_path, texts, COMPUTE_TASK_INFO=kernels, TASK=tasks))
    assert [row[name] for name in ("op_type", "core", "calls")] == ["BatchMatMulV2", "AI_CORE", 2.0]
    assert [row[name] for name in ("total_us", "min_us", "max_us")] == [2.0, 0.5, 1.5]


STEP = {
    "deviceId": 4,
    "step": "13",
    "computing": 11.0,
    "communication_not_overlapped": 12.0,
    "overlapped": 13.0,
    "communication": 25.0,
    "free": 15.0,
    "stage": 777.0,
    "bubble": 16.0,
    "communication_not_overlapped_and_exclude_receive": 777.0,
    "preparing": 17.0,
}
SPENT = {"elapse_time": 60.0, "transit_time": 11.0, "wait_time": 22.0, "synchronization_time": 13.0, "idle_time": 27.0}
OPERATOR = {"hccl_op_name": "hcom_allReduce__271_0_1", "group_name": "6457", "step": "step13", "type": "collective"}


def test_the_sums_of_a_step_are_read_by_their_names(tmp_path: Path) -> None:
    (row,) = rows_of(STEP_TIMES, database(tmp_path, StepTraceTime=[STEP]))
    parts = ("compute", "exposed_comm", "overlapped", "comm", "free", "bubble", "preparing")
    assert [row["step"], *(row[f"{part}_us"] for part in parts)] == [13, 11.0, 12.0, 13.0, 25.0, 15.0, 16.0, 17.0]


def test_a_collective_carries_what_it_counts_and_took_what_was_analysed(tmp_path: Path) -> None:
    texts = Texts()
    operator = {
        "opName": texts[OPERATOR["hccl_op_name"]], "startNs": 1_000, "endNs": 60_001_000, "connectionId": 5,
        "groupName": texts["6457"], "opId": 1, "relay": 7, "retry": 7, "dataType": 4, "algType": texts["MESH-RING"],
        "count": 1024, "opType": texts["hcom_allReduce_"],
    }  # fmt: skip
    analysed = [{**OPERATOR, "start_timestamp": 7.0, **SPENT}]
    folder = database(tmp_path, texts, COMMUNICATION_OP=[operator], CommAnalyzerTime=analysed)
    (row,) = rows_of(COLLECTIVES, folder)
    parts = ("elapse", "transit", "wait", "sync", "idle")
    assert [row[f"{part}_us"] for part in parts] == [60_000.0, 11_000.0, 22_000.0, 13_000.0, 27_000.0]
    assert [row[name] for name in ("op", "group", "dtype", "algorithm", "size_bytes", "p2p")] == [
        "allReduce", "6457", "FP32", "MESH-RING", 4096.0, False,
    ]  # fmt: skip


def test_a_collective_whose_name_is_gone_is_the_one_analysed_that_took_as_long_then_else_one_of_its_type(
    tmp_path: Path,
) -> None:
    texts = Texts()
    call = {"startNs": 1_000, "endNs": 60_001_000, "groupName": texts["6457"], "opType": texts["hcom_allReduce_"]}
    calls = [
        {"opName": 77, **call},
        {"opName": 78, **call, "startNs": 70_000_000, "endNs": 130_000_000},
        {"opName": 79, **call, "startNs": 80_000_000, "endNs": 80_001_000, "opType": 80},
    ]
    again = {**OPERATOR, "hccl_op_name": "hcom_allReduce__271_1_1"}
    analysed = [{**again, "start_timestamp": 9e8, **SPENT}, {**OPERATOR, "start_timestamp": 15.0, **SPENT}]
    found = rows_of(COLLECTIVES, database(tmp_path, texts, COMMUNICATION_OP=calls, CommAnalyzerTime=analysed))
    assert [(row["name"], row["op"]) for row in found] == [
        ("hcom_allReduce__271_0_1", "allReduce"),
        ("hcom_allReduce__78", "allReduce"),
        ("STRING_IDS 79", "STRING_IDS 79"),
    ]
    assert found[0]["transit_us"] == 11_000.0


def test_packets_and_links_are_read_by_their_names(tmp_path: Path) -> None:
    kinds = ("HCCS", "RDMA", "PCIE", "SIO", "SDMA", "LOCAL")
    packets = [
        {**OPERATOR, "transport_type": kind, "transit_size": 777, "transit_time": 777, "bandwidth": 777,
         "large_packet_ratio": 777, "package_size": 2.0, "count": 3, "total_duration": 0.5}
        for kind in kinds[:-1]
    ]  # fmt: skip
    ways = [
        {**OPERATOR, "hccl_op_name": "allreduce-total", "src_rank": "3", "dst_rank": "1", "transport_type": kind,
         "transit_size": 2.0, "transit_time": 0.5, "bandwidth": 777, "op_name": OPERATOR["hccl_op_name"]}
        for kind in (*kinds[:4], "LOCAL")
    ]  # fmt: skip
    folder = database(tmp_path, CommAnalyzerBandwidth=packets, CommAnalyzerMatrix=ways)
    moved, links = rows_of(TRANSFERS, folder), rows_of(LINKS, folder)
    assert [row["link"] for row in moved] == [row["link"] for row in links] == sorted(kinds[:4])
    assert {(row["packet_bytes"], row["packets"], row["transit_us"]) for row in moved} == {(2e6, 3.0, 500.0)}
    assert {(row["source"], row["target"], row["size_bytes"], row["transit_us"]) for row in links} == {
        (3, 1, 2e6, 500.0)
    }


def by_msprof(row: Mapping[str, object]) -> dict[str, object]:
    """A row of a communication table as msprof itself writes it: it knows neither steps nor which operators send."""
    return {name: cell for name, cell in row.items() if name not in ("step", "type", "op_name")}


def test_communication_tables_of_msprof_which_know_no_steps_are_put_into_those_of_their_operators(
    tmp_path: Path,
) -> None:
    texts = Texts()
    reduce, send = OPERATOR["hccl_op_name"], "hcom_send__789_0_1"
    calls = [
        {"opName": texts[reduce], "startNs": 1_000, "endNs": 61_000, "groupName": texts["6457"], "connectionId": 71},
        {"opName": texts[send], "startNs": 101_000, "endNs": 161_000, "groupName": texts["6789"], "connectionId": 72},
    ]
    marks = [{"id": 13, "startNs": 0, "endNs": 100_000}, {"id": 14, "startNs": 100_000, "endNs": 200_000}]
    api = [{"startNs": 500 + at, "endNs": 600 + at, "connectionId": 71 + n} for n, at in enumerate((0, 100_000))]
    two = ({}, {"hccl_op_name": send, "group_name": "6789"})
    timed = [by_msprof({**OPERATOR, "start_timestamp": 7.0, **SPENT, **other}) for other in two]
    packets = [
        by_msprof({**OPERATOR, "transport_type": "HCCS", "package_size": 2.0, "count": 3, "total_duration": 0.5, **one})
        for one in two
    ]
    ways = [
        by_msprof({**OPERATOR, "src_rank": "3", "dst_rank": "1", "transport_type": "HCCS", "transit_size": 2.0,
                   "transit_time": 0.5, "bandwidth": 777, **one})
        for one in two
    ]  # fmt: skip
    folder = database(
        tmp_path, texts, COMMUNICATION_OP=calls, STEP_TIME=marks, CANN_API=api,
        CommAnalyzerTime=timed, CommAnalyzerBandwidth=packets, CommAnalyzerMatrix=ways,
    )  # fmt: skip
    ran, moved, links = (rows_of(reading, folder) for reading in (COLLECTIVES, TRANSFERS, LINKS))
    assert [row["transit_us"] for row in ran] == [11_000.0, 11_000.0]
    assert [(row["step"], row["op"]) for row in moved] == [(13, "allReduce"), (14, "send")]
    assert [(row["step"], row["op"]) for row in links] == [(13, "allreduce"), (14, "send")]
    assert p2p_groups(folder) == {"6789"}
    assert not folder.notes.all()


def test_an_operator_that_msprof_lists_in_several_iterations_has_the_times_of_each(tmp_path: Path) -> None:
    texts = Texts()
    call = {"opName": texts[OPERATOR["hccl_op_name"]], "groupName": texts["6457"]}
    calls = [{**call, "startNs": 1_000, "endNs": 60_000}, {**call, "startNs": 101_000, "endNs": 160_000}]
    timed = [by_msprof({**OPERATOR, "start_timestamp": at, **SPENT, "wait_time": at}) for at in (1.0, 101.0)]
    ran = rows_of(COLLECTIVES, database(tmp_path, texts, COMMUNICATION_OP=calls, CommAnalyzerTime=timed))
    assert [row["wait_us"] for row in ran] == [1_000.0, 101_000.0]


MEMORY: tuple[tuple[str, Reading[Any, Any], dict[str, object], dict[str, object]], ...] = (
    (
        "MEMORY_RECORD", MEMORY_USES,
        {"component": "PTA", "timestamp": 9, "totalAllocated": 1, "totalReserved": 3, "totalActive": 2,
         "streamPtr": 777, "deviceId": 0},
        {"component": "PTA", "time_ns": 9, "allocated_bytes": 1.0, "reserved_bytes": 3.0, "active_bytes": 2.0},
    ),
    (
        "OP_MEMORY", OPERATOR_MEMORY,
        {"name": "aten::empty", "size": 4, "allocationTime": 5, "releaseTime": 6, "activeReleaseTime": 777,
         "duration": 777, "activeDuration": 777, "allocationTotalAllocated": 777},
        {"name": "aten::empty", "size_bytes": 4.0, "allocated_ns": 5, "released_ns": 6},
    ),
    (
        "NPU_MODULE_MEM", MODULE_MEMORY,
        {"moduleId": 3, "timestampNs": 9, "totalReserved": 8, "deviceId": 0},
        {"component": "HCCL", "time_ns": 9, "reserved_bytes": 8.0},
    ),
)  # fmt: skip


@pytest.mark.parametrize(("name", "reading", "cells", "expected"), MEMORY, ids=[case[0] for case in MEMORY])
def test_each_column_of_memory_is_the_one_it_means(
    name: str, reading: Reading[Any, Any], cells: dict[str, object], expected: dict[str, object], tmp_path: Path
) -> None:
    texts = Texts()
    row = {column: texts[value] if isinstance(value, str) else value for column, value in cells.items()}
    tables: dict[str, Rows] = {name: [row], "ENUM_MODULE": [{"id": 3, "name": "HCCL"}]}
    (found,) = rows_of(reading, database(tmp_path, texts, **tables))
    assert found == {"rank": 3, **expected}


def test_the_memory_of_the_process_is_in_a_table_of_its_own(tmp_path: Path) -> None:
    texts = Texts()
    record = {"component": texts["PTA"], "timestamp": 9, "totalAllocated": 1, "totalReserved": 3, "totalActive": 2}
    process = [
        {"type": texts[kind], "ddr": 777, "hbm": size, "timestampNs": 8, "deviceId": 0}
        for kind, size in (("app", 5), ("device", 6))
    ]
    found = rows_of(MEMORY_USES, database(tmp_path, texts, MEMORY_RECORD=[record], NPU_MEM=process))
    assert [(row["component"], row["reserved_bytes"]) for row in found] == [("PTA", 3.0), ("APP", 5.0)]
