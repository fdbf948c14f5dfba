# SPDX-License-Identifier: Apache-2.0
"""A generated server some of whose steps replay a graph: one call in place of those that launch kernels one by one.

A captured graph may hold all of a decode step, or what lies between the attention operators, which the host then
launches. Where it holds them too the host brings their lengths up to date in it after each replay.
"""

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


_LAST = ("aten::argmax", "Dequeue@aclnnArgMax")
"""What ends a step, on each of the threads that launch."""
_ATTENTION = ("fusedinferattention", "fused_infer_attention")
WHOLE, PIECES, UPDATED = "whole", "pieces", "updated"
"""How a step is replayed: as one graph, as one for each stretch between attention operators, as one whose attention is
updated."""
_UPDATE = "aclmdlRICaptureTaskUpdate"


def replay_steps(folder: Path, replayed: Callable[[int], bool], how: str = WHOLE) -> None:
    """Changes the text export of each rank; steps are numbered from 0. Sums of what is gone are taken away too."""
    for trace in list(folder.rglob("trace_view.json")):
        for sums in ("api_statistic.csv", "operator_details.csv", "operator_memory.csv"):
            trace.with_name(sums).unlink()
        _replay_in_trace(trace, replayed, how)
        _hide_shapes(trace.with_name("kernel_details.csv"), replayed, how)


def _replay_in_trace(trace: Path, replayed: Callable[[int], bool], how: str) -> None:
    events: list[dict[str, Any]] = json.loads(trace.read_text("utf-8"))
    stretches = _stretches(events, _KEPT + _ATTENTION * (how == PIECES))
    beside = {thread: _outermost([(start, end) for start, end, _ in of]) for thread, of in stretches.items()}
    ends = {thread: sorted(end for _, end, name in of if name in _LAST) for thread, of in stretches.items()}
    attending = {
        thread: sorted(start for start, _, name in of if name.startswith("AscendCL@"))
        for thread, of in _stretches(events, _ATTENTION).items()
    }
    gone: set[tuple[str, object]] = set()
    kept: list[dict[str, Any]] = []
    begun: set[tuple[object, int, int]] = set()
    for event in events:
        at = float(event.get("ts", 0))
        step = bisect_left(ends.get(event.get("tid"), ()), at)
        of_host = event.get("cat") in _HOST or _said(event).startswith(("ascendcl@", "node@", "hccl@"))
        spared = not of_host or event.get("ph") not in ("X", "s") or not replayed(step)
        piece = bisect_left(attending.get(event.get("tid"), ()), at) if how == PIECES else 0
        if spared or _lies_in(at, beside.get(event["tid"], ())):
            kept.append(event)
        elif event["ph"] == "s":
            gone.add((str(event.get("cat")), event.get("id")))
        elif _said(event).startswith("ascendcl@"):
            if (event["tid"], step, piece) not in begun:
                begun.add((event["tid"], step, piece))
                kept.append(_called(event, "aclmdlRIExecuteAsync", at, 40.0 if how != PIECES else event["dur"]))
            if how == UPDATED and any(one in _said(event) for one in _ATTENTION):
                end = at + event["dur"]
                kept += [_called(event, f"{_UPDATE}Begin", at, 0.2), _called(event, f"{_UPDATE}End", end - 0.2, 0.2)]
    kept = [one for one in kept if one.get("ph") != "f" or (str(one.get("cat")), one.get("id")) not in gone]
    trace.write_text(json.dumps(kept), "utf-8")


def _stretches(events: list[dict[str, Any]], words: tuple[str, ...]) -> dict[object, list[tuple[float, float, str]]]:
    """By thread: when each call of what has one of these words in its name begins and ends, and what it is called."""
    found: dict[object, list[tuple[float, float, str]]] = {}
    for event in events:
        if event.get("ph") == "X" and any(one in _said(event) for one in words):
            start = float(event["ts"])
            found.setdefault(event["tid"], []).append((start, start + event["dur"], event["name"]))
    return found


def _called(event: dict[str, Any], name: str, start: float, us: float) -> dict[str, Any]:
    """Another call into CANN on the thread of this one."""
    given = {"ts": f"{start:.3f}", "dur": us, "args": {**event["args"], "id": name}}
    return {**event, "name": f"AscendCL@{name}", **given}


def _said(event: dict[str, Any]) -> str:
    return f"{event.get('name', '')} {event.get('args', {}).get('item_id', '')}".lower()


def _outermost(stretches: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those that lie in no other one, in order of time."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(stretches, key=lambda one: (one[0], -one[1])):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found


def _lies_in(moment: float, stretches: Sequence[tuple[float, float]]) -> bool:
    place = bisect_right(stretches, (moment, float("inf"))) - 1
    return place >= 0 and stretches[place][0] <= moment <= stretches[place][1]


def _hide_shapes(details: Path, replayed: Callable[[int], bool], how: str) -> None:
    with details.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shapes = [name for name in rows[0] if name.startswith(("Input ", "Output "))]
    order = sorted(rows, key=lambda row: float(row["Start Time(us)"]))
    step = 0
    for row in order:
        if row["Type"].lower().startswith("argmax"):
            step += 1
        elif replayed(step) and not (how == PIECES and any(one in row["Type"].lower() for one in _ATTENTION)):
            row.update(dict.fromkeys(shapes, "N/A"))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    details.write_text(out.getvalue(), "utf-8")
