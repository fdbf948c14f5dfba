# SPDX-License-Identifier: Apache-2.0
"""Output of msprof, in the layouts of several versions: written here in the published format, and as recorded."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from advisor import diagnose
from advisor.facts.base import MISSING
from advisor.facts.observed import (
    ApiTotal,
    Collective,
    Device,
    DeviceTask,
    Frequency,
    HostCall,
    HostCpu,
    Kernel,
    Launch,
    OperatorTotal,
    StepPhase,
    StepWindow,
    TrafficSample,
)
from advisor.facts.rank_facts import Source
from advisor.messages.errors import InputError
from advisor.model.run import Run
from advisor.sources import open_input
from advisor.sources.ascend.msprof import parse_name
from advisor.sources.ascend.reading import Folder
from tests.input_notes import note
from tests.sources.conftest import Capture

PROF = "PROF_000001_20250101000000000_ABCDEFGHIJKLMNOP"
SUMMARY = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID,aic_mac_ratio,aiv_vec_ratio,cube_utilization(%)\n"
)
START = 1_700_000_000_000_000


def summary_rows(*rows: tuple[int, str, float, float]) -> str:
    """Rows of op_summary: device, type, start after the first moment and duration, µs."""
    lines = [
        f"{device},4294967295,{i},2,aclnn{kind}_{kind}_{kind},{kind},dynamic,AI_CORE,{START + at:.3f}\t,{us:.3f},0,20,"
        f'0,NO,"""32,32""",FLOAT16,ND,"""32,32""",FLOAT16,ND,N/A,0.5,N/A,14.2\n'
        for i, (device, kind, at, us) in enumerate(rows)
    ]
    return SUMMARY + "".join(lines)


TOTALS = (
    "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    "0,MatMulV2,AI_CORE,2,30.5,10,15.25,20.5,75.3\n1,MatMulV2,AI_CORE,2,40.5,10,20.25,30.5,100\n"
)
APIS = (
    "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
    "host,acl,aclrtMemcpyAsync,69.43,2,34.715,16.86,52.57,3\n"
)
ITERATIONS = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
    "Iteration Refresh(us),Data Aug Bound(us),Model ID\n"
    f"0,1,{START + 1}.000\t,{START + 80}.000\t,{START + 100}.000\t,100,79,20,N/A,2\n"
    f"0,2,{START + 151}.000\t,{START + 230}.000\t,{START + 250}.000\t,100,79,20,51,2\n"
)


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def only(path: Path) -> tuple[Run, Source]:
    run, sources = open_input(path)
    assert len(sources) == 1
    return run, sources[0]


def test_names_tell_the_kind_the_parts_and_the_time_of_an_export():
    def told(name: str) -> tuple[object, ...] | None:
        return found and tuple(found) if (found := parse_name(name)) else None

    assert told("op_summary_20250101000000.csv") == ("op_summary.csv", (), "20250101000000")
    assert told("op_summary_slice_3_20250101000000.csv") == ("op_summary.csv", (3,), "20250101000000")
    assert told("msprof_0_2_10.json") == ("msprof.json", (0, 2, 10), "")
    assert told("op_summary_0_1_20230101000000.csv") == ("op_summary.csv", (0, 1), "20230101000000")
    for foreign in ("op_summary.csv", "op_summary_extra_1.csv", "msprof_1.csv", "ge_memory_record_20250101000000.csv"):
        assert told(foreign) is None


def test_slices_are_read_as_one_and_of_several_exports_the_newest_counts(tmp_path: Path):
    output = tmp_path / PROF / "mindstudio_profiler_output"
    write(
        output,
        {
            "op_summary_slice_0_20250101000002.csv": summary_rows((0, "MatMulV2", 0, 10)),
            "op_summary_slice_0_20250101000001.csv": summary_rows((0, "Old", 0, 10)),
            "op_summary_slice_1_20250101000003.csv": summary_rows((0, "Cast", 20, 5)),
            "op_summary_slice_2_20250101000003.csv": "",
        },
    )
    for path in (tmp_path, tmp_path / PROF, output, output / "op_summary_slice_0_20250101000002.csv"):
        kernels = only(path)[1].read(Kernel)
        assert kernels.texts("op_type").values() == ["MatMulV2", "Cast"]
        assert np.diff(kernels["start_ns"]).tolist() == [20_000]
        assert kernels["mac_share"].tolist() == [0.5, 0.5]
        assert set(kernels["step"].tolist()) == {MISSING}


@pytest.mark.parametrize(
    ("second", "named"), [("", "op_summary_slice_1_20250101000000.csv"), (None, "op_summary_slice_1_*.csv")]
)
def test_a_slice_that_is_empty_or_gone_is_told(second: str | None, named: str, tmp_path: Path):
    rows = [summary_rows((0, "MatMulV2", at, 10)) for at in (0, 20, 40)]
    files = {
        f"op_summary_slice_{place}_20250101000000.csv": text
        for place, text in enumerate((rows[0], second, rows[2]))
        if text is not None
    }
    found = diagnose(write(tmp_path / PROF / "mindstudio_profiler_output", files))
    assert [Path(one.file).name for one in found.unread] == [named]


def test_totals_and_calls_are_the_same_facts(tmp_path: Path):
    run, source = only(
        write(
            tmp_path / PROF / "mindstudio_profiler_output",
            {"op_statistic_20250101000000.csv": TOTALS, "api_statistic_20250101000000.csv": APIS},
        )
    )
    assert source.read(OperatorTotal)["total_us"].tolist() == [30.5, 40.5]
    assert source.read(ApiTotal).texts("name").values() == ["aclrtMemcpyAsync"]
    assert run.recorder == "msprof" and run.times_of == "work"


def test_several_devices_of_one_folder_are_ranks_with_rows_of_their_own(tmp_path: Path):
    info = (
        '{{"rank_id": -1, "hostname": "h", "platform_version": "5", "DeviceInfo": [{{"id": {0}, "ai_core_num": 24}}]}}'
    )
    write(
        tmp_path / PROF,
        {
            "mindstudio_profiler_output/op_summary_20250101000000.csv": summary_rows(
                (0, "MatMulV2", 0, 10), (1, "Cast", 1, 20), (1, "Add", 30, 20)
            ),
            "mindstudio_profiler_output/op_statistic_20250101000000.csv": TOTALS,
            "mindstudio_profiler_output/api_statistic_20250101000000.csv": APIS,
            **{f"device_{i}/info.json.{i}": info.format(i) for i in (0, 1)},
        },
    )
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1) and run.chip == "Ascend910B"
    assert [len(source.read(Kernel)) for source in sources] == [1, 2]
    assert [source.read(OperatorTotal)["total_us"].tolist() for source in sources] == [[30.5], [40.5]]
    assert [len(source.read(ApiTotal)) for source in sources] == [1, 1]
    assert [source.read(Device)["cube_cores"].tolist() for source in sources] == [[24], [24]]


def lanes_of(device: int) -> list[dict[str, object]]:
    """The lane of one device as msprof draws it: two tasks, the second launched by the host."""
    pid = 1000 + device
    events: list[dict[str, object]] = [
        {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}},
        {"name": "process_labels", "pid": pid, "tid": 0, "ph": "M", "args": {"labels": f"NPU {device}"}},
        {"name": "thread_name", "pid": pid, "tid": 2, "ph": "M", "args": {"name": "Stream 2"}},
    ]
    for i, at in enumerate((START + device, START + 50 + device)):
        args = {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": i, "connection_id": 10 * device + i}
        events.append({"name": "MatMul", "pid": pid, "tid": 2, "ts": f"{at}.000", "dur": 10, "ph": "X", "args": args})
    flow = {"cat": "HostToDevice", "id": str(device + 1), "name": f"HostToDevice{device + 1}"}
    events.append({**flow, "ph": "s", "pid": 7, "tid": 9, "ts": f"{START + 20}.000"})
    events.append({**flow, "ph": "f", "bp": "e", "pid": pid, "tid": 2, "ts": f"{START + 50 + device}.000"})
    return events


def test_each_device_of_one_timeline_has_its_own_lanes_and_launches(tmp_path: Path):
    write(
        tmp_path / PROF,
        {
            "mindstudio_profiler_output/msprof_20250101000000.json": json.dumps([*lanes_of(0), *lanes_of(1)]),
            **{f"device_{i}/start_info.{i}": "{}" for i in (0, 1)},
        },
    )
    run, sources = open_input(tmp_path)
    assert len(run.ranks) == 2
    for device, source in enumerate(sources):
        tasks, launches = source.read(DeviceTask), source.read(Launch)
        assert ((tasks["start_ns"] // 1000) - START).tolist() == [device, 50 + device]
        assert ((launches["device_start_ns"] // 1000) - START).tolist() == [50 + device]


def counters_of(device: int) -> list[dict[str, object]]:
    """The lanes of counters of one device: its clock, its memory and a class of traffic; `MHz` and MB/s tell whose."""
    lanes = (("AI Core Freq", "AI Core Freq", "MHz"), ("HBM", "HBM 0/Read", "Read(MB/s)"))
    return [
        event
        for row, (lane, name, key) in enumerate(lanes)
        for pid in [100 * (row + 2) + device]
        for event in (
            {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": lane}},
            {"name": "process_labels", "pid": pid, "tid": 0, "ph": "M", "args": {"labels": f"NPU {device}"}},
            {"name": name, "pid": pid, "tid": 0, "ts": f"{START + 5}.000", "ph": "C", "args": {key: 1000 + device}},
        )
    ]


def test_each_device_of_one_timeline_has_its_own_counters(tmp_path: Path):
    events = [one for device in (0, 1) for one in (*lanes_of(device), *counters_of(device))]
    host = {"pid": 9, "tid": 0, "ph": "M"}
    events += [
        {**host, "name": "process_name", "args": {"name": "CPU Usage"}},
        {**host, "name": "process_labels", "args": {"labels": "CPU"}},
        {**host, "name": "CPU 0", "ph": "C", "ts": f"{START}.000", "args": {"Usage(%)": 50}},
    ]
    write(
        tmp_path / PROF,
        {
            "mindstudio_profiler_output/msprof_20250101000000.json": json.dumps(events),
            **{f"device_{i}/start_info.{i}": "{}" for i in (0, 1)},
        },
    )
    _, sources = open_input(tmp_path)
    assert [source.read(Frequency)["mhz"].tolist() for source in sources] == [[1000], [1001]]
    moved = [(source.read(TrafficSample)["speed_gbps"] * 1e9 / 2**20).round().tolist() for source in sources]
    assert moved == [[1000], [1001]]
    assert [source.read(HostCpu)["busy_share"].tolist() for source in sources] == [[0.5], [0.5]]


def test_devices_of_one_folder_that_keep_their_own_results_are_ranks_of_their_own(tmp_path: Path):
    files = {f"device_{i}/summary/op_summary_{i}_1.csv": summary_rows((i, "A", 10, 5)) for i in (0, 1)}
    cards = {f"device_{i}/info.json.{i}": json.dumps({"rank_id": i, "platform_version": "0"}) for i in (0, 1)}
    run, sources = open_input(write(tmp_path / PROF, {**files, **cards}))
    assert len(sources) == 2 and len(run.captures) == 2
    assert sorted(source.read(Kernel)["rank"].tolist() for source in sources) == [[0], [1]]


def test_devices_that_lost_their_description_are_numbered_by_their_folders(tmp_path: Path):
    for i in (1, 0):
        rows = summary_rows((i, "A", 10, 5))
        write(tmp_path / f"PROF_00000{i}_2025010100000000{i}_X", {f"device_{i}/summary/op_summary_{i}_1.csv": rows})
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1) and not run.notes
    assert [source.name[:11] for source in sources if isinstance(source, Folder)] == ["PROF_000000", "PROF_000001"]


def test_the_tasks_of_a_collective_tell_how_long_it_moved_data_and_how_long_it_only_waited(tmp_path: Path):
    lane = {"process_name": {"name": "HCCL"}}
    events = [{"name": name, "pid": 3, "tid": 0, "ph": "M", "args": args} for name, args in lane.items()]
    threads = {0: "Plane 0", 1: "Plane 1", 9: "Communication Kernel"}
    events += [{"name": "thread_name", "pid": 3, "tid": t, "ph": "M", "args": {"name": n}} for t, n in threads.items()]
    tasks = [
        (9, "Default/AllReduce-op5_0", 0, 100),
        (0, "Notify_Wait", 0, 40),
        (1, "Notify_Wait", 0, 50),
        (0, "Memcpy", 40, 30),
        (1, "Reduce_Inline", 60, 20),
        (1, "Notify_Wait", 80, 10),
    ]
    events += [
        {"name": name, "pid": 3, "tid": tid, "ts": 1000.0 + at, "dur": us, "ph": "X"} for tid, name, at, us in tasks
    ]
    _, source = only(write(tmp_path / PROF / "device_0/timeline", {"hccl_0_1_1.json": json.dumps(events)}).parents[1])
    calls = source.read(Collective)
    assert calls.texts("op").values() == ["allReduce"]
    assert [calls[name].tolist() for name in ("transit_us", "wait_us", "idle_us")] == [[40], [50], [10]]


def test_iterations_of_a_graph_are_steps_and_kernels_belong_to_them(tmp_path: Path):
    rows = summary_rows((0, "A", 10, 5), (0, "B", 120, 5), (0, "C", 160, 5), (0, "D", 260, 5))
    run, source = only(
        write(
            tmp_path / PROF / "mindstudio_profiler_output",
            {"op_summary_20250101000000.csv": rows, "step_trace_20250101000000.csv": ITERATIONS},
        )
    )
    assert run.steps == (1, 2) and run.times_of == "step"
    assert source.read(Kernel)["step"].tolist() == [1, MISSING, 2, MISSING]
    windows = source.read(StepWindow)
    assert ((windows["end_ns"] - windows["start_ns"]) / 1000).tolist() == [100, 100]


def test_the_passes_of_an_iteration_are_its_phases_and_what_lies_between_two_is_an_interval(tmp_path: Path):
    def slices(number: int, start: float, forward: float, backward: float, end: float) -> list[dict[str, object]]:
        return [
            {"name": f"Iteration {number}", "cat": "Iteration Time", "ts": start, "dur": end - start},
            {"name": f"FP_BP Time {number}", "cat": "FP_BP Time", "ts": forward, "dur": backward - forward},
        ]

    lane: list[dict[str, object]] = [{"name": "process_name", "ph": "M", "args": {"name": "Step Trace"}}]
    lane += [{**one, "ph": "X"} for one in slices(1, 100, 104, 130, 150) + slices(2, 200, 205, 235, 250)]
    lane += [{**one, "ph": "X"} for one in slices(4, 400, 405, 435, 450)]
    events = json.dumps([{**one, "pid": 1, "tid": 1} for one in lane])
    files = {
        "op_summary_20250101000000.csv": summary_rows((0, "A", 110, 5), (0, "B", 210, 5)),
        "step_trace_1.json": events,
    }
    _, source = only(write(tmp_path / PROF / "mindstudio_profiler_output", files))
    rows = source.read(StepPhase).rows()
    phases = ("step", "first", "whole_us", "interval_us", "forward_backward_us", "tail_us")
    assert [tuple(row[name] for name in phases) for row in rows] == [
        (1, True, 46, None, 26, 20),
        (2, False, 100, 55, 30, 15),
        (4, True, 45, None, 30, 15),  # the end of the third is not known
    ]


def test_what_lies_between_two_iterations_is_told_where_no_passes_were_marked(tmp_path: Path):
    rows = summary_rows(*((0, "A", 1000 * at + 600, 300) for at in range(5)))
    heading = "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),Model ID\n"
    marks = "".join(f"0,{at + 1},N/A,N/A,{START + 1000 * at + 900:.3f},300,1\n" for at in range(5))
    files = {"op_summary_20250101000000.csv": rows, "step_trace_20250101000000.csv": heading + marks}
    path = write(tmp_path / PROF / "mindstudio_profiler_output", files)
    _, source = only(path)
    found = source.read(StepPhase).rows()
    assert [row["interval_us"] for row in found] == [None, 700, 700, 700, 700]
    assert {row["forward_backward_us"] for row in found} == {None}


def test_what_was_recorded_and_not_exported_says_how_to_export_it(tmp_path: Path):
    write(tmp_path / PROF, {"device_0/data/task.slice_0": "binary", "host/data/api.slice_0": "binary"})
    for path in (tmp_path, tmp_path / PROF):
        with pytest.raises(InputError) as told:
            open_input(path)
        assert "not been exported" in told.value.what.en
        assert f"msprof --export=on --output={tmp_path / PROF}" in told.value.hint.en


def test_a_database_that_lost_its_name_is_refused_with_what_reads_it(tmp_path: Path):
    database = write(tmp_path / PROF, {"info.json.0": "{}"}) / "msprof_rank0.db"
    with sqlite3.connect(database) as file:
        numbers = (
            "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId"
        )
        file.execute(f"CREATE TABLE TASK ({numbers}, modelId)")
        file.execute("INSERT INTO TASK VALUES (1000, 2000, 0, 1, 1, 1, 1, 0, 1, 1, 0)")
        file.execute("CREATE TABLE COMPUTE_TASK_INFO (name, globalTaskId, opType)")
        file.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1, 1)")
        file.execute("CREATE TABLE STRING_IDS (id, value)")
        file.execute("INSERT INTO STRING_IDS VALUES (1, 'Add')")
    with pytest.raises(InputError) as told:
        open_input(tmp_path / PROF)
    assert "msprof_rank0.db is not named as msprof names" in told.value.what.en
    assert f"advisor diagnose {database}" in told.value.hint.en
    assert only(database)[0].recorder == "msprof"


def test_of_several_recordings_the_newest_that_tells_what_the_device_did_is_read(tmp_path: Path):
    newer = PROF.replace("20250101", "20250102")
    rows = summary_rows((0, "MatMulV2", 1, 10))
    write(tmp_path / PROF / "mindstudio_profiler_output", {"op_summary_20250101000000.csv": rows})
    write(tmp_path / newer / "mindstudio_profiler_output", {"api_statistic_20250102000000.csv": APIS})
    run, source = only(tmp_path)
    assert len(source.read(Kernel)) == 1
    assert run.captures[0].path == PROF
    assert run.captures[0].path != newer


def test_a_folder_of_files_that_nothing_is_read_from_is_not_called_empty(tmp_path: Path):
    table = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
    write(tmp_path / PROF / "mindstudio_profiler_output", {"task_time_20250101000000.csv": table + "0,a,b,1,1,1,1,2\n"})
    with pytest.raises(InputError) as told:
        open_input(tmp_path)
    assert "it holds task_time_20250101000000.csv" in told.value.what.en
    assert "op_summary_*.csv" in told.value.hint.en


@pytest.mark.parametrize(
    ("folder", "name"),
    [("OPPROF_1_A/add/0", "OpBasicInfo_20260823205050580.csv"), ("counters", "MemoryUB.csv"), ("x", "L2Cache_1.csv")],
)
@pytest.mark.parametrize("alone", [False, True])
def test_a_table_of_one_operator_is_told_wherever_it_lies(tmp_path: Path, folder: str, name: str, alone: bool):
    write(tmp_path / folder, {name: "block_id\n0\n"})
    with pytest.raises(InputError) as told:
        open_input(tmp_path / folder / name if alone else tmp_path / folder)
    assert "is what `msprof op` wrote" in told.value.what.en


@pytest.mark.parametrize("given", ["", "OPPROF_20260101000000_ABC"])
def test_what_msprof_wrote_of_one_operator_is_told_as_that(tmp_path: Path, given: str):
    write(tmp_path / "OPPROF_20260101000000_ABC", {"OpBasicInfo.csv": "Op Name,Task Duration(us)\nadd,6.9\n"})
    with pytest.raises(InputError) as told:
        open_input(tmp_path / given)
    assert "OPPROF_20260101000000_ABC is what `msprof op` wrote" in told.value.what.en
    assert "msprof --output=./prof" in told.value.hint.en


def test_what_the_profiler_of_services_wrote_is_told_as_that(tmp_path: Path):
    write(tmp_path, {"chrome_tracing.json": '{"traceEvents": []}', "request.csv": "http_rid,recv_token_size\nr1,20\n"})
    with pytest.raises(InputError) as told:
        open_input(tmp_path)
    assert "msServiceProfiler" in told.value.what.en
    assert "_ascend_pt" in told.value.hint.en


def test_raw_data_beside_the_output_of_a_framework_is_no_second_capture(tmp_path: Path):
    capture = tmp_path / "w_20250101000000000_ascend_pt"
    write(
        capture,
        {
            "ASCEND_PROFILER_OUTPUT/op_statistic.csv": TOTALS,
            f"{PROF}/mindstudio_profiler_output/op_statistic_20250101000000.csv": TOTALS,
            f"{PROF}/device_0/info.json.0": '{"platform_version": "5", "DeviceInfo": [{"ai_core_num": 24}]}',
        },
    )
    run, source = only(tmp_path)
    assert run.recorder == "" and run.chip == "Ascend910B"
    assert source.read(Device)["cube_cores"].tolist() == [24]


def test_what_msprof_exported_of_a_capture_that_was_not_parsed_is_read(tmp_path: Path):
    capture = tmp_path / "w_20250101000000000_ascend_pt"
    write(capture, {f"{PROF}/mindstudio_profiler_output/op_statistic_20250101000000.csv": TOTALS})
    assert only(tmp_path)[0].recorder == "msprof"


def test_captures_of_a_framework_come_before_those_of_msprof(tmp_path: Path):
    write(tmp_path / "a_ascend_pt", {"ASCEND_PROFILER_OUTPUT/op_statistic.csv": TOTALS})
    write(tmp_path / PROF, {"mindstudio_profiler_output/op_statistic_20250101000000.csv": TOTALS})
    run, _ = only(tmp_path)
    assert run.recorder == "" and run.notes == (note("msprof_captures=1"),)


def test_a_database_of_msprof_has_the_tables_of_the_other_one(capture: Capture, tmp_path: Path):
    told = sorted(capture("database").rglob("ascend_pytorch_profiler_0.db"))[0]
    (tmp_path / PROF).mkdir()
    os.symlink(told, tmp_path / PROF / "msprof_20250101000000.db")
    run, source = only(tmp_path)
    _, theirs = only(told)
    assert run.captures[0].source == "database" and run.recorder == "msprof"
    for fact, columns in {
        Kernel: ("start_ns", "duration_us", "blocks"),
        DeviceTask: ("start_ns", "end_ns"),
        Launch: ("host_start_ns", "device_start_ns"),
        Collective: ("start_ns", "elapse_us", "size_bytes"),
        OperatorTotal: ("calls", "total_us"),
    }.items():
        ours, known = source.read(fact), theirs.read(fact)
        for column in columns:
            np.testing.assert_array_equal(ours[column], known[column])


@pytest.mark.parametrize("spelling", ["{}.{}", "{} (1).{}", "card0_{}.{}"])
def test_results_that_lost_the_time_in_their_names_are_read(spelling: str, tmp_path: Path):
    kernels, totals = spelling.format("op_summary", "csv"), spelling.format("op_statistic", "csv")
    write(tmp_path, {kernels: summary_rows((0, "MatMulV2", 0, 10)), totals: TOTALS})
    for given in (tmp_path, tmp_path / kernels):
        run, source = only(given)
        assert isinstance(source, Folder)
        assert run.recorder == "msprof"
        assert {name: path.name for name, path in source.files.items()} == {
            "kernel_details.csv": kernels,
            "op_statistic.csv": totals,
        }
        assert source.read(Kernel).texts("op_type").values() == ["MatMulV2"]


def test_of_several_exports_the_one_that_was_given_is_read(capture: Capture, tmp_path: Path):
    databases = sorted(capture("database").rglob("ascend_pytorch_profiler_[01].db"))
    texts = {f"op_statistic_{year}0101000000.csv": TOTALS for year in (2025, 2026)}
    write(tmp_path / "text", texts)
    (tmp_path / "database").mkdir()
    for year, told in zip((2025, 2026), databases, strict=True):
        os.symlink(told, tmp_path / "database" / f"msprof_{year}0101000000.db")
    for given in (*(tmp_path / "text").iterdir(), *(tmp_path / "database").iterdir()):
        _, source = only(given)
        assert isinstance(source, Folder)
        assert [*source.files.values(), *source.databases.values()] == [given]


def test_databases_that_were_collected_in_one_folder_are_ranks_of_their_own(capture: Capture, tmp_path: Path):
    databases = sorted(capture("database").rglob("ascend_pytorch_profiler_[01].db"))
    for second, told in enumerate(databases):
        os.symlink(told, tmp_path / f"msprof_2025010100000{second}.db")
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1) and run.recorder == "msprof" and not run.notes
    for source, told in zip(sources, databases, strict=True):
        assert isinstance(source, Folder)
        assert source.databases["profiler"].resolve() == told.resolve()


def test_databases_of_one_device_number_on_different_hosts_are_different_ranks(capture: Capture, tmp_path: Path):
    told = sorted(capture("database").rglob("ascend_pytorch_profiler_0.db"))[0]
    for second, host in enumerate(("node-a", "node-b")):
        path = tmp_path / f"msprof_2025010100000{second}.db"
        shutil.copyfile(told, path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.executescript(f"""
                DROP TABLE IF EXISTS RANK_DEVICE_MAP; DELETE FROM META_DATA WHERE name NOT LIKE 'SCHEMA%';
                DELETE FROM HOST_INFO; DELETE FROM NPU_INFO;
                INSERT INTO HOST_INFO VALUES ('{second + 7}', '{host}'); INSERT INTO NPU_INFO VALUES (0, 'Ascend910B');
            """)
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1) and not run.notes
    assert [capture.host for capture in run.captures] == ["node-a", "node-b"]
    assert len(sources) == 2


def test_of_several_exports_of_one_recording_the_newest_is_read(capture: Capture, tmp_path: Path):
    told = sorted(capture("database").rglob("ascend_pytorch_profiler_0.db"))[0]
    (tmp_path / PROF).mkdir()
    for year in (2025, 2026):
        os.symlink(told, tmp_path / PROF / f"msprof_{year}0101000000.db")
    run, source = only(tmp_path)
    assert isinstance(source, Folder)
    assert source.databases["profiler"].name == "msprof_20260101000000.db" and not run.notes


@pytest.mark.parametrize("text", ["", "x", SUMMARY, SUMMARY[:40], "\0" * 400, "Device_id,Op Name\n0,a\n"])
def test_damaged_files_end_in_a_sentence(tmp_path: Path, text: str):
    output = tmp_path / PROF / "mindstudio_profiler_output"
    names = ("op_summary_20250101000000.csv", "msprof_20250101000000.json", "msprof_20250101000000.db")
    write(output, dict.fromkeys(names, text))
    with pytest.raises(InputError):
        open_input(tmp_path)
    write(output, {"op_statistic_20250101000000.csv": TOTALS, "step_trace_20250101000000.csv": text})
    assert diagnose(tmp_path).run.steps == ()


def test_a_program_without_steps_is_told_of_its_operators_and_never_of_idle_time(tmp_path: Path):
    write(
        tmp_path / PROF / "mindstudio_profiler_output",
        {"op_summary_20250101000000.csv": summary_rows((0, "MatMulV2", 0, 10), (0, "MatMulV2", 900_000, 10))},
    )
    found = diagnose(tmp_path)
    assert found.run.step_us == 20 and found.run.idle_share is None
    assert not [one for one in found.findings if one.rule.startswith(("host/", "io/"))]


class TestRecorded:
    """As msprof itself wrote it."""

    def test_a_run_of_a_matmul_holds_the_same_in_every_file(self, real_data: Path):
        run, source = only(real_data / "helix_fixtures/msprof_real_output")
        kernels, totals = source.read(Kernel), source.read(OperatorTotal)
        assert len(kernels) == totals["calls"].sum() == 9
        assert kernels["duration_us"].sum() == pytest.approx(totals["total_us"].sum())
        tasks = source.read(DeviceTask)
        own = tasks.take(tasks.texts("kind").isin(["kernel"]))
        assert sorted(own["start_ns"].tolist()) == kernels["start_ns"].tolist()
        assert tasks.texts("kind").isin(["copy"]).sum() == 2
        assert len(source.read(Launch)) and len(source.read(HostCall))
        assert not run.steps

    def test_no_idle_time_is_claimed_of_it(self, real_data: Path):
        found = diagnose(real_data / "helix_fixtures/msprof_real_output")
        assert found.run.step_us == pytest.approx(30.1, abs=0.1)  # the inputs that were drawn first are none of it
        assert not [one for one in found.findings if one.rule.startswith(("host/", "io/"))]

    def test_two_cards_of_2023_wait_in_their_only_collective(self, real_data: Path, tmp_path: Path):
        folders = sorted((real_data / "mindinsight_legacy/profiler").glob("PROF_*"))
        for folder in folders:
            os.symlink(folder, tmp_path / folder.name)
        run, sources = open_input(tmp_path)
        assert run.ranks == (0, 1) and run.steps == tuple(range(1, 11)) and run.chip == "Ascend910A"
        for source in sources:
            calls = source.read(Collective)
            assert calls.texts("op").values() == ["allReduce"] * 10
            assert calls["step"].tolist() == [*range(1, 11)]
            assert set(source.read(Kernel)["step"].tolist()) == {*range(1, 11)}
            waited = calls["wait_us"] / calls["elapse_us"]
            assert waited[0] > 0.75 and waited[1:].max() < 0.2, "only the first step waits, the others move data"
            np.testing.assert_allclose(calls["transit_us"] + calls["wait_us"] + calls["idle_us"], calls["elapse_us"])
        found = diagnose(tmp_path)
        split = found.split
        assert split is not None and split.exposed_comm_us / split.step_us == pytest.approx(0.62, abs=0.01)
        [start_up] = [one for one in found.findings if one.rule == "capture/start-up-step"]
        assert {(place.rank, place.step) for place in start_up.seen} == {(0, None), (1, None)}
        assert "of it `{collective}` waits for other ranks" in found.rule(start_up.rule).title_of(start_up).en
        measured = {one.name: one.value for one in start_up.evidence}
        assert measured["collective_part"] == pytest.approx(0.87, abs=0.005)
        assert measured["collective"] == "allReduce"
        assert found.findings[0].rule.startswith("comm/")

    def test_the_step_is_what_the_lane_of_its_own_analysis_sums_up(self, real_data: Path):
        folder = next((real_data / "mindinsight_legacy/profiler").glob("PROF_*JGGGCANRMICFBC"))
        first = json.loads((folder / "device_0/timeline/msprof_0_2_1.json").read_text())
        exposed = sum(e["dur"] for e in first if e["name"] == "Communication(Not Overlapped)" and e["ph"] == "X")
        iteration = next(e["dur"] for e in first if e.get("cat") == "Iteration Time")
        assert exposed / iteration == pytest.approx(0.87, abs=0.005)
        calls = only(folder)[1].read(Collective)
        assert calls["elapse_us"][0] == pytest.approx(exposed)

    def test_emptied_files_are_never_diagnosed(self, real_data: Path):
        for kind in ("normal", "slice"):
            with pytest.raises(InputError, match="0 bytes"):
                open_input(real_data / "msinsight_server_testdata/msprof" / kind)
