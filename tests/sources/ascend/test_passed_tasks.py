# SPDX-License-Identifier: Apache-2.0
"""Tasks that threads of MindSpore pass on, read from the timeline as its profiler writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.pipeline import modules, open_profile
from advisor.sources.ascend.passed_tasks import PASSED_TASKS
from tests.sources.traces import Json, captured, event, lane, of, write

PYTHON, FRONTEND, BACKEND, LAUNCHER = 10, 11, 12, 13
FRAMEWORK, MARKS, CANN, DEVICE = 1, 5, 6, 7


def passed(number: int | str, start: tuple[int, str], end: tuple[int, str]) -> list[Json]:
    """Both ends of an arrow, each as thread and time."""
    base = {"bp": "e", "name": "mindspore_to_self", "cat": "async_mindspore", "id": number, "pid": FRAMEWORK}
    return [{**base, "ph": phase, "tid": tid, "ts": ts} for phase, (tid, ts) in (("s", start), ("f", end))]


def task(name: str, thread: int, ts: str, dur: float) -> Json:
    return event(name, ts, dur, pid=FRAMEWORK, tid=thread, cat="", args={})


def said(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("thread", "passed_ns", "worker", "start_ns", "end_ns")) for row in rows]


def test_a_task_is_the_longest_event_that_begins_at_the_end_of_its_arrow(tmp_path: Path) -> None:
    events = [
        lane(FRAMEWORK, "MindSpore"),
        task("PynativeFramework::PyNativeFrontendTask::MatMul", FRONTEND, "101.5", 9),
        task("PynativeFramework::PyNativeInfer::MatMul", FRONTEND, "101.5", 2),
        task("PynativeFramework::PyNativeFrontendTask::MatMul", BACKEND, "101.5", 50),
        *passed("18446744073709551614", (PYTHON, "100.25"), (FRONTEND, "101.5")),
        *passed(7, (PYTHON, "200"), (FRONTEND, "201")),  # of which the task is gone
        *passed(8, (PYTHON, "300"), (FRONTEND, "301"))[:1],
        *passed(9, (PYTHON, "102"), (FRONTEND, "101.5")),  # against time
    ]
    rows = of(PASSED_TASKS.ways["text"], captured(tmp_path, events))
    assert said(rows) == [(PYTHON, 100_250, FRONTEND, 101_500, 110_500)]


def test_a_timeline_without_such_arrows_passes_nothing_on(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(PASSED_TASKS.ways["text"], captured(tmp_path, [event("aten::mm", "1", cat="cpu_op")]))


def launched(number: int, ts: int, kernel: int) -> list[Json]:
    """An operator as three threads carry it out after Python has asked for it, and its kernel at this time."""
    events: list[Json] = [
        task("PynativeFramework::RunOp::MatMul", PYTHON, str(ts), 5),
        task("PynativeFramework::PyNativeFrontendTask::MatMul", FRONTEND, str(ts + 50), 5),
        task("PynativeFramework::PyNativeDeviceTask::pyboost", BACKEND, str(ts + 100), 5),
        task("PynativeFramework::PyNativeLaunchTask::pyboost", LAUNCHER, str(ts + 150), 5),
        event("AscendCL@aclnnMatmul", str(ts + 152), 2, pid=CANN, tid=LAUNCHER),
        event("MatMulV3", str(kernel), 20, pid=DEVICE, tid=2, args={"Task Type": "AI_CORE", "Physic Stream Id": 2}),
    ]
    threads = (PYTHON, FRONTEND, BACKEND, LAUNCHER)
    for step in range(3):
        start, end = (threads[step], str(ts + 50 * step + 2)), (threads[step + 1], str(ts + 50 * step + 50))
        events += passed(3 * number + step, start, end)
    for category, pid, asked in (("async_npu", FRAMEWORK, ts + 150), ("HostToDevice", CANN, ts + 152)):
        name = {"async_npu": "mindspore_to_npu"}.get(category, f"HostToDevice{number}")
        identity = f"{kernel}.000" if category == "async_npu" else str(number)
        ends = (("s", pid, LAUNCHER, asked), ("f", DEVICE, 2, kernel))
        events += [
            {
                "ph": phase,
                "bp": "e",
                "name": name,
                "cat": category,
                "id": identity,
                "pid": to,
                "tid": tid,
                "ts": str(at),
            }
            for phase, to, tid, at in ends
        ]
    return events


def marked(root: Path, stream: bool) -> Path:
    """A capture with two marked cells of one operator each, and an operator outside; marked in Python or, with a
    stream, on the thread that launches."""
    kernels = (1000, 2000, 3000)
    thread, later = (LAUNCHER, 150) if stream else (PYTHON, 0)
    lanes = ((FRAMEWORK, "MindSpore"), (MARKS, "python"), (CANN, "CANN"), (DEVICE, "Ascend Hardware"))
    events = [lane(pid, name) for pid, name in lanes]
    events += [one for number, at in enumerate(kernels) for one in launched(number, 100 + 20 * number, at)]
    for name, ts in (("Attention", 99), ("MLP", 119)):
        args = {"event_type": "start/end", "domain": "Module"}
        events.append(event(name, str(ts + later), 10, pid=MARKS, tid=thread, args=args))
    output = root / "host_1_20250109084754000_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text('{"rank_id": 0, "ms_version": "2.7.0"}')
    write(output / "trace_view.json", events)
    heading = "Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)"
    name = "PynativeFramework::PyNativeLaunchTask::pyboost/MatMulV3"
    rows = [f"{at},2,{name},MatMulV3,AI_CORE,{at}.000,20,0" for at in kernels]
    (output / "kernel_details.csv").write_text("\n".join([heading, *rows, ""]))
    return root


@pytest.mark.parametrize("stream", [False, True], ids=["marked in Python", "marked with a stream"])
def test_kernels_belong_to_the_cells_that_asked_for_them_three_threads_before(tmp_path: Path, stream: bool) -> None:
    (rank,) = modules(open_profile(marked(tmp_path, stream))).ranks
    assert rank.source == "mark"
    assert {node.path: node.total_us for node in rank.tree} == {"Attention": 20, "MLP": 20, "": 20}
    assert rank.linked_share == 1
