# SPDX-License-Identifier: Apache-2.0
"""Where the time of a rank went, counted as torch_npu counts it: the Overlap Analysis lane and the steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from corpus.events import RankTrace

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Intervals merged where they meet, in order."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def subtract(intervals: list[Interval], holes: list[Interval]) -> list[Interval]:
    """What is left of merged intervals outside merged holes."""
    left: list[Interval] = []
    first = 0
    for start, end in intervals:
        while first < len(holes) and holes[first][1] <= start:
            first += 1
        at = start
        for hole_start, hole_end in holes[first:]:
            if hole_start >= end:
                break
            if hole_start > at:
                left.append((at, hole_start))
            at = max(at, hole_end)
        if at < end:
            left.append((at, end))
    return left


def length(intervals: Iterable[Interval]) -> int:
    """Total length."""
    return sum(end - start for start, end in intervals)


@dataclass(frozen=True, slots=True)
class Lanes:
    """The four threads of the Overlap Analysis lane."""

    computing: list[Interval]
    communication: list[Interval]
    exposed: list[Interval]
    free: list[Interval]


def lanes(trace: RankTrace) -> Lanes:
    """Merged device intervals; free is what neither computes nor communicates between the first and the last that does.

    Copies before the first kernel are outside, as in all recordings of the msinsight matrix.
    """
    computing = union((k.start, k.end) for k in trace.tasks if k.kind == "kernel")
    communication = union((c.start, c.end) for c in trace.collectives)
    busy = union(computing + communication)
    window = [(busy[0][0], busy[-1][1])] if busy else []
    return Lanes(computing, communication, subtract(communication, computing), subtract(window, busy))


@dataclass(slots=True)
class StepTimes:
    """One row of step_trace_time, in ns."""

    step: int
    computing: int = 0
    communication: int = 0
    exposed: int = 0
    free: int = 0
    bubble: int = 0
    preparing: int = 0
    spans: list[Interval] = field(default_factory=list)

    @property
    def span(self) -> int:
        """From the first to the last event of the step."""
        return max(end for _, end in self.spans) - min(start for start, _ in self.spans) if self.spans else 0


def windows(trace: RankTrace) -> list[tuple[int, int, int]]:
    """(step, start, end) on the device: from the first task the step launched to the end of the last one it launched,
    or to the end of the host's step when that is later."""
    found = []
    for call in trace.steps():
        step = int(call.name.split("#")[1])
        launched = [(t.launch_start, t.start, t.end) for t in trace.tasks if t.step == step and t.launch_start >= 0]
        launched += [(c.launch_start, c.start, c.end) for c in trace.collectives if c.step == step]
        if launched:
            found.append((step, min(launched)[1], max(max(launched)[2], call.end)))
    return found


def step_times(trace: RankTrace) -> list[StepTimes]:
    """The rows of step_trace_time: an interval belongs to the first step in whose window it starts, uncut."""
    at = windows(trace)
    rows = {step: StepTimes(step) for step, _, _ in at}
    parts = lanes(trace)
    receives = [(c.start, c.end) for c in trace.collectives if c.op == "receive"]
    for name, intervals in (
        ("computing", parts.computing), ("communication", parts.communication), ("exposed", parts.exposed),
        ("free", parts.free), ("bubble", receives),
    ):  # fmt: skip
        for start, end in intervals:
            step = next((step for step, first, last in at if first <= start < last), None)
            if step is not None:
                row = rows[step]
                setattr(row, name, getattr(row, name) + end - start)
                row.spans.append((start, end))
    _prepare(trace, rows, parts, at)
    return list(rows.values())


def _prepare(trace: RankTrace, rows: dict[int, StepTimes], parts: Lanes, at: list[tuple[int, int, int]]) -> None:
    began = {int(call.name.split("#")[1]): call.start for call in trace.steps()}
    starts = sorted(start for start, _ in parts.computing + parts.communication)
    for step, first, last in at:
        inside = next((start for start in starts if first <= start < last), None)
        if inside is not None:
            rows[step].preparing = inside - began[step]


def step_us(traces: list[RankTrace]) -> float:
    """The mean time of a step of the slowest rank, from host to host, in µs."""
    return max((t.steps()[-1].end - t.steps()[0].start) / len(t.steps()) / 1000 for t in traces)


def whole(trace: RankTrace) -> StepTimes:
    """The one row of a run that never called prof.step()."""
    parts = lanes(trace)
    row = StepTimes(-1, length(parts.computing), length(parts.communication), length(parts.exposed), length(parts.free))
    row.bubble = length((c.start, c.end) for c in trace.collectives if c.op == "receive")
    row.spans = [*parts.computing, *parts.communication, *parts.free]
    first_op = min((call.start for call in trace.calls if call.layer == "op"), default=0)
    row.preparing = min((start for start, _ in parts.computing + parts.communication), default=0) - first_op
    return row
