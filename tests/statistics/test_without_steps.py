# SPDX-License-Identifier: Apache-2.0
"""Where no step was marked nothing is called one: neither the window that was captured, nor the work of a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import advisor
from advisor.cli.main import main
from corpus.gpu_traces import host, launched, trace, training, write

ROWS = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Input Shapes"


def recorded_by_msprof(folder: Path) -> Path:
    """A program of two kernels, far apart, without a mark."""
    output = folder / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    kernels = [f"0,{name},{name},AI_CORE,{start},10," for name, start in (("Mul", 1000), ("Add", 90_000))]
    (output / "op_summary_20260101000000.csv").write_text("\n".join([ROWS, *kernels, ""]), "utf-8")
    return folder


@pytest.mark.parametrize(("language", "work", "step"), [("en", "Device work", "tep"), ("zh", "设备工作时间", "单步")])
def test_the_work_of_a_program_without_steps_is_not_called_a_step(
    language: str, work: str, step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = recorded_by_msprof(tmp_path / "prof")
    assert main(["stats", str(folder), "--of", "ranks", "--of", "steps", "--lang", language]) == 0
    said = capsys.readouterr().out
    assert said.count(work) >= 2
    assert step not in said
    assert main(["stats", str(folder), "--of", "ranks", "-q", "-o", "json:-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["times_of"] == "work"
    names = [column["name"] for column in found["tables"][0]["rows"]["columns"]]
    row = dict(zip(names, found["tables"][0]["rows"]["rows"][0], strict=True))
    assert (row["span_us"], row["steps"], row["free_us"]) == (20.0, None, None)


def traced(folder: Path) -> Path:
    """A trace of a GPU with one module and no step."""
    events = [*launched(1, 10, 30, 20), host("nn.Module: Net_0", 0, 150, "python_function")]
    folder.mkdir()
    (folder / "rank0.pt.trace.json").write_text(json.dumps(trace(events, rank=0, world=1)), "utf-8")
    return folder


@pytest.mark.parametrize(("language", "window", "step"), [("en", "Captured window", "tep"), ("zh", "采集窗口", "单步")])
def test_a_captured_window_is_not_called_a_step(
    language: str, window: str, step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = traced(tmp_path / "prof")
    assert main(["stats", str(folder), "--of", "ranks", "--of", "steps", "--of", "modules", "--lang", language]) == 0
    said = capsys.readouterr().out
    assert said.lower().count(window.lower()) >= 3
    assert step not in said


def test_steps_that_hold_no_work_are_called_what_a_diagnosis_calls_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [{**event, "dur": 0} if "ProfilerStep" in str(event["name"]) else event for event in training()]
    path = write(tmp_path / "worker0.pt.trace.json", trace(events))
    assert main(["stats", str(path), "--of", "ranks", "--of", "steps"]) == 0
    assert "tep" not in capsys.readouterr().out
    assert advisor.diagnose(path).run.times_of == "window"
