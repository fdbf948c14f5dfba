# SPDX-License-Identifier: Apache-2.0
"""A capture of one step made one of several steps and more ranks, before it is read as a program.

A capture that was recorded over one step says what a step does. Another step of the same job does the same again: its
events are repeated a period later, with numbers of their own. Another rank does what a recorded one does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from benchmarks.injected.capture import KERNELS, OPERATORS, Capture, Sheet, microseconds, nanoseconds
from benchmarks.injected.program import Event, Row
from benchmarks.injected.reading import STEP

_NUMBERS = ("connection_id", "correlation_id", "Task Id", "task id", "Python id", "Python parent id")
_STRIDE = 1_000_000
"""Numbers of one repetition are this far from those of the one before."""
_COLLECTIVE = re.compile(r"(hcom_\w+?__\d+_)(\d+)(_\d+)")


def repeated(captures: Sequence[Capture], times: int) -> list[Capture]:
    """The same captures with the step several times. The period is that of the rank with the longest step."""
    spans = [_step(capture) for capture in captures]
    period = max(end - start for start, end in spans)
    return [_repeated(capture, span, period, times) for capture, span in zip(captures, spans, strict=True)]


def _step(capture: Capture) -> tuple[int, int]:
    found = [event for event in capture.events if event["ph"] == "X" and STEP.fullmatch(event["name"])]
    start = nanoseconds(found[0]["ts"])
    return start, start + round(float(found[0]["dur"]) * 1000)


def _repeated(capture: Capture, span: tuple[int, int], period: int, times: int) -> Capture:
    row_of = _rows_by_event(capture)
    kernel_rows = capture.sheets[KERNELS].rows
    collectives = len(set(_names(capture)))
    made = Capture(capture.name, capture.rank, [], beside=capture.beside)
    rows: list[tuple[int, Row]] = []
    for event in capture.events:
        for number, copy in _copies(event, span, period, times):
            renamed = _renumbered(copy, number, collectives)
            made.events.append(renamed)
            if id(event) in row_of:
                rows.append((nanoseconds(renamed["ts"]), row_of[id(event)]))
    made.sheets = dict(capture.sheets)
    step_number = int(next(m[1] for e in capture.events if (m := STEP.fullmatch(e.get("name", "")))))
    made.sheets[KERNELS] = Sheet(
        capture.sheets[KERNELS].headings,
        [_kernel_row(row, n, n * period, step_number, collectives) for n in range(times) for row in kernel_rows],
    )
    if OPERATORS in capture.sheets and rows:
        rows.sort(key=lambda pair: pair[0])
        made.sheets[OPERATORS] = Sheet(capture.sheets[OPERATORS].headings, [row for _, row in rows])
    made.communication = _entries(capture.communication, step_number, times, collectives)
    made.matrix = _entries(capture.matrix, step_number, times, collectives)
    return made


def _names(capture: Capture) -> list[str]:
    return [key for step in capture.communication.values() for key in step.get("collective", {}) if "@" in key]


def _rows_by_event(capture: Capture) -> dict[int, Row]:
    """Rows of operator_details.csv by the event they are of: both in the order in which they began."""
    sheet = capture.sheets.get(OPERATORS)
    found = [e for e in capture.events if e["ph"] == "X" and e.get("cat") == "cpu_op" and not STEP.fullmatch(e["name"])]
    found.sort(key=lambda event: nanoseconds(event["ts"]))
    if sheet is None or len(sheet.rows) != len(found):
        return {}
    return {id(event): row for event, row in zip(found, sheet.rows, strict=True)}


def _copies(event: Event, span: tuple[int, int], period: int, times: int) -> list[tuple[int, Event]]:
    """What becomes of one event: repeated in the step, longer around it, later behind it."""
    (start, end), later = span, (times - 1) * period
    if event["ph"] == "C":
        return [(0, event)] if event["name"] == "AI Core Freq" else []
    if event["ph"] not in ("X", "s", "f"):
        return [(0, event)]
    time = nanoseconds(event["ts"])
    if start <= time < end:
        return [(number, event | {"ts": microseconds(time + number * period)}) for number in range(times)]
    if time >= end:
        return [(0, event | {"ts": microseconds(time + later)})]
    duration = round(float(event.get("dur", 0)) * 1000)
    return [(0, event | {"dur": (duration + later) / 1000} if time + duration >= end else event)]


def _renumbered(event: Event, number: int, collectives: int) -> Event:
    if not number:
        return event
    changed = dict(event)
    if "args" in event:
        args = dict(event["args"])
        args |= {key: args[key] + number * _STRIDE for key in _NUMBERS if isinstance(args.get(key), int)}
        changed["args"] = args
    if "id" in event:
        changed["id"] = _other_id(event["id"], number)
        if event["cat"] == "HostToDevice":
            changed["name"] = f"HostToDevice{changed['id']}"
    changed["name"] = _renamed(changed["name"], number * collectives)
    found = STEP.fullmatch(event["name"])
    return changed | {"name": f"ProfilerStep#{int(found[1]) + number}"} if found else changed


def _other_id(value: Any, number: int) -> Any:
    other = int(value) + number * (1 << 40)
    return str(other) if isinstance(value, str) else other


def _renamed(name: str, further: int) -> str:
    return _COLLECTIVE.sub(lambda m: f"{m[1]}{int(m[2]) + further}{m[3]}", name)


def _kernel_row(row: Row, number: int, later: int, step: int, collectives: int) -> Row:
    start = nanoseconds(row["Start Time(us)"]) + later
    changed = {
        "Step Id": str(step + number),
        "Start Time(us)": microseconds(start) + "\t",
        "Name": _renamed(row["Name"], number * collectives),
    }
    if row.get("Task ID", "").isdigit():
        changed["Task ID"] = str(int(row["Task ID"]) + number * _STRIDE)
    return row | changed


def _entries(content: dict[str, Any], step: int, times: int, collectives: int) -> dict[str, Any]:
    """communication.json or the matrix: each step with names of its own."""
    found: dict[str, Any] = {}
    for recorded in content.values():
        for number in range(times):
            further = number * collectives
            found[f"step{step + number}"] = {
                kind: {_renamed(key, further): _inner(entry, further) for key, entry in operators.items()}
                for kind, operators in recorded.items()
            }
    return found


def _inner(entry: Any, further: int) -> Any:
    copied = deepcopy(entry)
    for cell in copied.values():
        if isinstance(cell, dict) and "Op Name" in cell:
            cell["Op Name"] = _renamed(cell["Op Name"], further)
    return copied


def with_ranks(captures: Sequence[Capture], ranks: int) -> list[Capture]:
    """As many ranks as asked for: each further one does what a recorded one does, under its own number."""
    found = list(captures[:ranks])
    while len(found) < ranks:
        found.append(_as_rank(captures[len(found) % len(captures)], len(found)))
    return found


def _as_rank(capture: Capture, rank: int) -> Capture:
    was = capture.rank
    swap = {was: rank, rank: was}
    beside = {
        name.replace(f"profiler_info_{was}", f"profiler_info_{rank}"): re.sub(
            rb'("rank_id":\s*"?)\d+', rb"\g<1>%d" % rank, content
        )
        for name, content in capture.beside.items()
    }
    events = [_swapped(event, swap) for event in capture.events]
    matrix = deepcopy(capture.matrix)
    for step in matrix.values():
        for kind in step.values():
            for key, cells in kind.items():
                kind[key] = {_pair(pair, swap): cell for pair, cell in cells.items()}
    name = capture.name.replace(f"rank{was}", f"rank{rank}")
    name = name if name != capture.name else f"rank{rank}_{capture.name}"
    return Capture(name, rank, events, dict(capture.sheets), deepcopy(capture.communication), matrix, beside)


def _swapped(event: Event, swap: dict[int, int]) -> Event:
    args = event.get("args", {})
    if "src rank" not in args:
        return event
    ends = {end: swap.get(args[end], args[end]) for end in ("src rank", "dst rank")}
    return event | {"args": args | ends}


def _pair(pair: str, swap: dict[int, int]) -> str:
    source, _, target = pair.partition("-")
    return f"{swap.get(int(source), int(source))}-{swap.get(int(target), int(target))}"
