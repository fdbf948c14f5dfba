# SPDX-License-Identifier: Apache-2.0
"""A generated server some of whose steps replay a graph: one call in place of those that launch kernels one by one."""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_HOST = ("cpu_op", "enqueue", "dequeue", "async_task_queue", "HostToDevice", "async_npu")
_KEPT = ("copy", "memcpy", "argmax")
"""What is launched beside the graph: inputs, and the choice of tokens, which ends a step."""


def replay_steps(folder: Path, replayed: Callable[[int], bool]) -> None:
    """Changes the text export of each rank; steps are numbered from 0. Sums of what is gone are taken away too."""
    for trace in list(folder.rglob("trace_view.json")):
        for sums in ("api_statistic.csv", "operator_details.csv", "operator_memory.csv"):
            trace.with_name(sums).unlink()
        _replay_in_trace(trace, replayed)
        _hide_shapes(trace.with_name("kernel_details.csv"), replayed)


def _replay_in_trace(trace: Path, replayed: Callable[[int], bool]) -> None:
    events: list[dict[str, Any]] = json.loads(trace.read_text("utf-8"))
    ends: dict[object, list[float]] = {}
    beside: dict[object, list[tuple[float, float]]] = {}
    for event in events:
        if event.get("ph") == "X" and any(one in _said(event) for one in _KEPT):
            start = float(event["ts"])
            beside.setdefault(event["tid"], []).append((start, start + event["dur"]))
            if event["name"] in ("aten::argmax", "Dequeue@aclnnArgMax"):
                ends.setdefault(event["tid"], []).append(start + event["dur"])
    gone: set[tuple[str, object]] = set()
    kept: list[dict[str, Any]] = []
    begun: set[tuple[object, int]] = set()
    for event in events:
        at = float(event.get("ts", 0))
        step = bisect_left(ends.get(event.get("tid"), ()), at)
        of_host = event.get("cat") in _HOST or _said(event).startswith(("ascendcl@", "node@", "hccl@"))
        spared = not of_host or event.get("ph") not in ("X", "s") or not replayed(step)
        if spared or _lies_in(at, beside.get(event["tid"], ())):
            kept.append(event)
        elif event["ph"] == "s":
            gone.add((str(event.get("cat")), event.get("id")))
        elif _said(event).startswith("ascendcl@") and (event["tid"], step) not in begun:
            begun.add((event["tid"], step))
            call = {**event["args"], "id": "aclmdlRIExecuteAsync"}
            kept.append({**event, "name": "AscendCL@aclmdlRIExecuteAsync", "dur": 40.0, "args": call})
    kept = [one for one in kept if one.get("ph") != "f" or (str(one.get("cat")), one.get("id")) not in gone]
    trace.write_text(json.dumps(kept), "utf-8")


def _said(event: dict[str, Any]) -> str:
    return f"{event.get('name', '')} {event.get('args', {}).get('item_id', '')}".lower()


def _lies_in(moment: float, stretches: Sequence[tuple[float, float]]) -> bool:
    place = bisect_right(stretches, (moment, float("inf"))) - 1
    return place >= 0 and stretches[place][0] <= moment <= stretches[place][1]


def _hide_shapes(details: Path, replayed: Callable[[int], bool]) -> None:
    with details.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shapes = [name for name in rows[0] if name.startswith(("Input ", "Output "))]
    order = sorted(rows, key=lambda row: float(row["Start Time(us)"]))
    step = 0
    for row in order:
        if row["Type"].lower().startswith("argmax"):
            step += 1
        elif replayed(step):
            row.update(dict.fromkeys(shapes, "N/A"))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    details.write_text(out.getvalue(), "utf-8")
