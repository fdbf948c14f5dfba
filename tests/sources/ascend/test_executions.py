# SPDX-License-Identifier: Apache-2.0
"""Runs of a loaded model, recorded by msprof, against the calls and the lane of the device as they are written here."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from advisor import diagnose
from advisor.facts.base import MISSING
from advisor.facts.observed import Kernel, Launch, StepWindow
from advisor.sources import open_input
from tests.sources.ascend.test_msprof import PROF, START, summary_rows, write

Piece = tuple[str, str, float, float]
"""Lane, name, begin and length in µs."""


def timeline(pieces: list[Piece]) -> str:
    """Calls of the host, copies and kernels of the device; calls that copy have an arrow to their copy."""
    number = count(1)
    lanes = {"CANN": (7, 9, "CPU"), "Ascend Hardware": (1000, 2, "NPU 0")}
    events: list[dict[str, object]] = []
    for lane, (pid, tid, label) in lanes.items():
        events += [
            {"name": "process_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": lane}},
            {"name": "process_labels", "pid": pid, "tid": tid, "ph": "M", "args": {"labels": label}},
            {"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": f"{lane} {tid}"}},
        ]
    for lane, name, at, us in pieces:
        pid, tid, _ = lanes[lane]
        args = {"Task Type": "PCIE_DMA_SQE" if "MEMCPY" in name else "AI_CORE"} if pid == 1000 else {}
        events.append(
            {"name": name, "pid": pid, "tid": tid, "ts": f"{START + at:.3f}", "dur": us, "ph": "X", "args": args}
        )
        if "MEMCPY" in name:
            flow = {"cat": "HostToDevice", "id": str(next(number)), "name": "HostToDevice"}
            events.append({**flow, "ph": "s", "pid": 7, "tid": 9, "ts": f"{START + at - 8:.3f}"})
            events.append({**flow, "ph": "f", "bp": "e", "pid": pid, "tid": tid, "ts": f"{START + at:.3f}"})
    return json.dumps(events)


def program(
    folder: Path, runs: list[int], *, call: str = "aclmdlExecute", copied: float = 60.0, marked: bool = False
) -> Path:
    """A program that loads a model, then copies an input and executes the model again and again; `runs` are the kernels
    of each, 20 µs long. With `marked` msprof has marked the iterations of the model on the device."""
    pieces: list[Piece] = [("CANN", "AscendCL@aclrtMemcpy", 0, 5000), ("Ascend Hardware", "MEMCPY_ASYNC", 8, 4900)]
    rows: list[tuple[int, str, float, float]] = []
    at = 6000.0
    iterations = ["Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),Model ID"]
    for number, kernels in enumerate(runs, 1):
        pieces.append(("CANN", "AscendCL@aclrtMemcpy", at, copied + 20))
        pieces.append(("Ascend Hardware", "MEMCPY_ASYNC", at + 8, copied))
        at += copied + 30
        pieces.append(("CANN", f"AscendCL@{call}", at, 30 + 21.0 * kernels))
        rows += [(0, "MatMulV2", at + 20 + 21 * i, 20.0) for i in range(kernels)]
        last = START + at + 20 + 21 * kernels
        iterations.append(f"0,{number},N/A,N/A,{last:.3f},{21 * kernels},1")
        at += 130 + 21.0 * kernels
    pieces += [("Ascend Hardware", "MatMulV2", begin, us) for _, _, begin, us in rows]
    files = {"msprof_20250101000000.json": timeline(pieces), "op_summary_20250101000000.csv": summary_rows(*rows)}
    if marked:
        files["step_trace_20250101000000.csv"] = "\n".join(iterations) + "\n"
    return write(folder / PROF / "mindstudio_profiler_output", files)


def only_source(path: Path):
    run, (source,) = open_input(path)
    return run, source


def test_equal_runs_of_a_model_are_the_steps(tmp_path: Path):
    run, source = only_source(program(tmp_path, [40, 40, 40]))
    windows = source.read(StepWindow)
    assert run.steps == (1, 2, 3) and run.times_of == "step"
    begun = [6090, 6090 + 1060, 6090 + 2 * 1060]
    assert ((windows["start_ns"] // 1000) - START).tolist() == begun
    assert ((windows["end_ns"] // 1000) - START).tolist()[:2] == begun[1:]
    assert np.bincount(source.read(Kernel)["step"]).tolist() == [0, 40, 40, 40]


def test_iterations_that_calls_begin_last_from_one_call_to_the_next(tmp_path: Path):
    run, source = only_source(program(tmp_path, [40, 40, 40], marked=True))
    windows = source.read(StepWindow)
    assert run.steps == (1, 2, 3)
    begun = [6090, 6090 + 1060, 6090 + 2 * 1060]
    assert ((windows["start_ns"] // 1000) - START).tolist() == begun
    assert ((windows["end_ns"] // 1000) - START).tolist()[:2] == begun[1:]


def test_the_time_between_marked_iterations_is_told_where_calls_begin_them(tmp_path: Path):
    found = diagnose(program(tmp_path, [40] * 5, copied=700.0, marked=True))
    assert found.findings[0].rule == "io/exposed-copies"
    assert found.findings[0].saving is not None and 500 < found.findings[0].saving.us < 700


def test_marked_iterations_need_not_be_equal_to_last_from_call_to_call(tmp_path: Path):
    _, source = only_source(program(tmp_path, [40, 41, 40], marked=True))
    windows = source.read(StepWindow)
    assert ((windows["end_ns"] - windows["start_ns"]) // 1000).tolist()[:2] == [1060, 1081]


def test_iterations_without_a_call_of_their_own_stay_as_they_were_marked(tmp_path: Path):
    _, source = only_source(program(tmp_path, [40, 41, 40], call="aclrtSynchronizeStream", marked=True))
    windows = source.read(StepWindow)
    assert ((windows["end_ns"] - windows["start_ns"]) // 1000).tolist() == [840, 861, 840]


def test_a_process_that_runs_two_devices_has_on_each_the_steps_of_its_own_calls(tmp_path: Path):
    path = program(tmp_path, [40, 40, 40])
    (file,) = path.rglob("msprof_*.json")
    events = json.loads(file.read_text())
    calls = [one for one in events if one["name"] == "AscendCL@aclmdlExecute"]
    for number, call in enumerate(calls, 1):
        other = {**call, "ts": f"{float(call['ts']) + 250 + 60 * number:.3f}", "args": {"connection_id": 100 + number}}
        call["args"] = {"connection_id": number}
        started = {"name": "MODEL_EXECUTE", "pid": 1000, "tid": 3, "ts": call["ts"], "dur": 1, "ph": "X"}
        events += [other, {**started, "args": {"Task Type": "MODEL_EXECUTE", "connection_id": number}}]
    file.write_text(json.dumps(events))
    _, source = only_source(path)
    windows = source.read(StepWindow)
    begun = [6090, 6090 + 1060, 6090 + 2 * 1060]
    assert ((windows["start_ns"] // 1000) - START).tolist() == begun


def test_models_that_are_executed_in_turn_make_a_step_together(tmp_path: Path):
    run, source = only_source(program(tmp_path, [40, 7, 40, 7, 40, 7, 40]))
    assert run.steps == (1, 2, 3)
    steps = source.read(Kernel)["step"]
    assert np.bincount(steps[steps != MISSING]).tolist() == [0, 47, 47, 47]


@pytest.mark.parametrize("runs", [[40], [40, 41, 40], [40, 41, 40, 41], []])
def test_runs_that_differ_or_are_alone_mark_nothing(runs: list[int], tmp_path: Path):
    path = program(tmp_path, runs) if runs else program(tmp_path, [3, 3], call="aclmdlLoadFromFile")
    run, source = only_source(path)
    assert run.steps == () and run.times_of == "work"
    assert set(source.read(Kernel)["step"].tolist()) == {MISSING}


def test_kernels_of_a_model_are_launched_by_the_call_that_runs_it(tmp_path: Path):
    _, source = only_source(program(tmp_path, [40, 40]))
    launches = source.read(Launch)
    mine = launches.take(np.isin(launches["device_start_ns"], source.read(Kernel)["start_ns"]))
    assert len(mine) == 80
    assert np.unique((mine["host_start_ns"] // 1000) - START).tolist() == [6090, 7150]


def test_copies_of_the_input_are_told_and_the_loading_of_the_model_is_not(tmp_path: Path):
    found = diagnose(program(tmp_path, [40] * 5, copied=700.0))
    (copies,) = [one for one in found.findings if one.rule == "io/exposed-copies"]
    assert copies.saving is not None and 500 < copies.saving.us < 700
    assert found.findings[0] is copies
    assert "aclmdlExecute" in {sign.name for sign in found.run.job.signs}
    assert found.run.job.workload == "inference"


def test_what_the_host_does_between_two_runs_is_told(tmp_path: Path):
    path = program(tmp_path, [10] * 5)
    found = diagnose(path)
    assert "host/python-bound" in {one.rule for one in found.findings}
