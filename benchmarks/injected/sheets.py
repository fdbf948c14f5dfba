# SPDX-License-Identifier: Apache-2.0
"""The CSV files of a program that was run: rows with the new times, and sums drawn anew from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import pvariance

from benchmarks.injected.capture import Sheet, microseconds, nanoseconds
from benchmarks.injected.program import Call, Rank, Row
from benchmarks.injected.splits import Split, length, steps_of

_COMMUNICATION = ("HCCL", "COMMUNICATION")


def step_times(split: Iterable[Split], headings: Sequence[str]) -> Sheet:
    """step_trace_time.csv."""
    return Sheet(list(headings), [_step_row(step) for step in split])


def _step_row(step: Split) -> Row:
    start, end = step.span
    parts = {
        "Computing": length(step.computing),
        "Communication(Not Overlapped)": length(step.exposed),
        "Overlapped": length(step.talking) - length(step.exposed),
        "Communication": length(step.talking),
        "Free": length(step.free),
        "Stage": end - start,
        "Bubble": 0,
        "Communication(Not Overlapped and Exclude Receive)": length(step.exposed),
        "Preparing": start - step.begins,
    }
    return {"Device_id": "0", "Step": str(step.step)} | {name: repr(time / 1000) for name, time in parts.items()}


def kernels(rank: Rank, sheet: Sheet) -> Sheet:
    """kernel_details.csv: rows by start; `Wait Time` is the gap to the end of the row before."""
    listed = sorted((task for task in rank.tasks if task.row is not None), key=lambda task: task.begin.at)
    step_of = {id(task): step for step, tasks in steps_of(rank, listed).items() for task in tasks}
    rows, before = [], 0
    for task in listed:
        wait = max(task.begin.at - before, 0) if before else 0
        before = task.end.at
        times = {
            "Start Time(us)": microseconds(task.begin.at + rank.clock) + "\t",
            "Duration(us)": f"{task.duration / 1000:.3f}",
            "Wait Time(us)": f"{wait / 1000:.3f}",
        }
        marked = {heading: str(step_of[id(task)]) for heading in ("Step Id",) if rank.steps}
        rows.append((task.row or {}) | times | marked)
    return Sheet(sheet.headings, rows)


def operators(rank: Rank, sheet: Sheet) -> Sheet:
    """operator_details.csv: rows in the order in which they began, own time and that of the device anew."""
    device = _device_times(rank)
    rows = []
    for lane_calls in _by_lane(rank):
        rows += _operator_rows(lane_calls, device)
    rows.sort(key=lambda pair: pair[0])
    return Sheet(sheet.headings, [row for _, row in rows])


def _by_lane(rank: Rank) -> list[list[Call]]:
    lanes: dict[int, list[Call]] = defaultdict(list)
    for call in rank.calls:
        if call.row is not None:
            lanes[id(call.lane)].append(call)
    return [sorted(calls, key=lambda call: (call.begin.at, -call.end.at)) for calls in lanes.values()]


def _device_times(rank: Rank) -> dict[int, tuple[int, int]]:
    """Per call that sent tasks itself: how long those took, and how long those on the cube cores."""
    senders = {
        flow.event["id"]: call
        for call in rank.calls
        for flow in call.flows
        if flow.event.get("cat") == "async_npu" and flow.event["ph"] == "s"
    }
    found: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for task in rank.tasks:
        for flow in task.flows:
            sender = senders.get(flow.event["id"]) if flow.event.get("cat") == "async_npu" else None
            if sender is not None:
                own, cube = found[id(sender)]
                on_cube = task.duration if task.event.get("args", {}).get("Task Type") == "AI_CORE" else 0
                found[id(sender)] = own + task.duration, cube + on_cube
    return found


def _operator_rows(calls: Sequence[Call], device: Mapping[int, tuple[int, int]]) -> list[tuple[int, Row]]:
    own = [call.end.at - call.begin.at for call in calls]
    sent = [device.get(id(call), (0, 0)) for call in calls]
    total = [list(times) for times in sent]
    around: list[int] = []
    for place, call in enumerate(calls):
        while around and calls[around[-1]].end.at <= call.begin.at:
            around.pop()
        if around:
            own[around[-1]] -= call.end.at - call.begin.at
        for parent in around:
            total[parent][0] += sent[place][0]
            total[parent][1] += sent[place][1]
        around.append(place)
    return [
        (call.begin.at, (call.row or {}) | _operator_times(call, max(own[n], 0), sent[n], total[n]))
        for n, call in enumerate(calls)
    ]


def _operator_times(call: Call, own: int, sent: Sequence[int], total: Sequence[int]) -> Row:
    times = {
        "Host Self Duration(us)": own,
        "Host Total Duration(us)": call.end.at - call.begin.at,
        "Device Self Duration(us)": sent[0],
        "Device Total Duration(us)": total[0],
        "Device Self Duration With AICore(us)": sent[1],
        "Device Total Duration With AICore(us)": total[1],
    }
    return {name: f"{time / 1000:g}" if not time else repr(time / 1000) for name, time in times.items()}


def operator_totals(rank: Rank, sheet: Sheet) -> Sheet:
    """op_statistic.csv: kernels by type and core, the longest first."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for task in rank.tasks:
        core = (task.row or {}).get("Accelerator Core", "")
        if task.row is not None and core not in _COMMUNICATION:
            found[task.op_type, core].append(task.duration)
    whole = sum(map(sum, found.values()))
    rows = [
        {"OP Type": op_type, "Core Type": core, "Count": str(len(times)), "Ratio(%)": _round(sum(times) / whole * 100)}
        | _amounts(times, ("Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)"))
        for (op_type, core), times in sorted(found.items(), key=lambda item: -sum(item[1]))
    ]
    return Sheet(sheet.headings, rows)


def api_totals(rank: Rank, sheet: Sheet) -> Sheet:
    """api_statistic.csv: calls into CANN by layer and name."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call in rank.calls:
        level = call.event.get("args", {}).get("level")
        if level:
            found[str(level), call.name.partition("@")[2]].append(call.end.at - call.begin.at)
    rows = [
        {"Device_id": "host", "Level": level, "API Name": name, "Count": str(len(times))}
        | _amounts(times, ("Time(us)", "Min(us)", "Avg(us)", "Max(us)"))
        | {"Variance": _round(pvariance([time / 1000 for time in times]))}
        for (level, name), times in sorted(found.items())
    ]
    return Sheet(sheet.headings, rows)


def _amounts(times: Sequence[int], headings: Sequence[str]) -> Row:
    values = (sum(times), min(times), sum(times) / len(times), max(times))
    return {heading: _round(value / 1000) for heading, value in zip(headings, values, strict=True)}


def _round(value: float) -> str:
    return repr(round(value, 3))


def shifted(sheet: Sheet, moved: Callable[[int], int]) -> Sheet:
    """A file of which only the times of day change, such as those on memory."""
    headings = [heading for heading in sheet.headings if heading.startswith(("Timestamp", "Allocation Time", "Release Time", "Active Release Time"))]  # fmt: skip  # noqa: E501
    rows = []
    for row in sheet.rows:
        times = {heading: row[heading] for heading in headings if (row.get(heading) or "").strip()}
        rows.append(row | {heading: microseconds(moved(nanoseconds(time))) + "\t" for heading, time in times.items()})
    return Sheet(sheet.headings, rows)
