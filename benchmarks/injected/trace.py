# SPDX-License-Identifier: Apache-2.0
"""The trace of a program that was run: its events with the new times, and the lane Overlap Analysis drawn anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.injected.capture import Capture, microseconds, nanoseconds
from benchmarks.injected.program import Call, Collective, Event, Rank, Task
from benchmarks.injected.splits import Intervals, Split

OVERLAP = "Overlap Analysis"
_TO_DEVICE = "async_npu"
"""Category of arrows from operators to tasks, whose id is the start of the task in ns."""
_THREADS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")


class Moved:
    """When something recorded would have been seen in the new run, by what the main thread did around it."""

    def __init__(self, rank: Rank) -> None:
        kept = [(moment.recorded, moment.at) for moment in rank.main if moment.recorded is not None]
        self._origin = kept[0][0]
        self._clock = rank.clock
        self._recorded = np.array([recorded - self._origin for recorded, _ in kept], np.float64)
        self._now = np.array([at - self._origin for _, at in kept], np.float64)

    def __call__(self, time: int) -> int:
        """A time of the new run, on the clock of the rank."""
        since = float(time - self._clock - self._origin)
        last = float(self._recorded[-1])
        if since >= last:
            now = float(self._now[-1]) + since - last
        elif since <= self._recorded[0]:
            now = float(self._now[0]) + since - float(self._recorded[0])
        else:
            now = float(np.interp(since, self._recorded, self._now))
        return round(now) + self._origin + self._clock


def events(rank: Rank, capture: Capture, split: list[Split], moved: Moved) -> Iterator[Event]:
    """All events of the new trace."""
    for event in capture.events:
        if event["ph"] == "M":
            yield event
        elif event["ph"] == "C":
            yield event | {"ts": microseconds(moved(nanoseconds(event["ts"])))}
    starts = _starts_of_arrows(rank)
    for thing in (*rank.calls, *rank.tasks):
        yield from _of_thing(thing, rank.clock, starts)
    yield from _overlap(rank, capture, split)


def _starts_of_arrows(rank: Rank) -> dict[Any, int]:
    """The id that each arrow from an operator to its task has now: when the task starts."""
    return {
        flow.event["id"]: task.begin.at + rank.clock
        for task in rank.tasks
        for flow in task.flows
        if flow.event["cat"] == _TO_DEVICE
    }


def _of_thing(thing: Call | Task, clock: int, starts: Mapping[Any, int]) -> Iterator[Event]:
    begin = thing.begin.at + clock
    yield thing.event | {"ts": microseconds(begin), "dur": (thing.end.at - thing.begin.at) / 1000}
    for flow in thing.flows:
        number = flow.event["id"]
        named = {"id": starts.get(number, number)} if flow.event["cat"] == _TO_DEVICE else {}
        yield flow.event | named | {"ts": microseconds(begin + min(flow.lag, thing.end.at - thing.begin.at))}
    if isinstance(thing, Collective):
        yield from _inside(thing, begin)


def _inside(collective: Collective, begin: int) -> Iterator[Event]:
    """The tasks of a collective: those that wait for other ranks take the new wait, the rest the new transfer."""
    if not collective.inner:
        return
    recorded = (collective.end.recorded or 0) - (collective.begin.recorded or 0)
    extent = max(recorded, *(inner.end for inner in collective.inner), 1)
    head = min(_first_wait(collective), extent)
    waited = min(max(head + 20, collective.waited), extent)
    now = collective.end.at - collective.begin.at
    extra = max(now - recorded, -waited) if collective.slower == 1.0 else 0
    old = np.array([0, head, waited, extent], np.float64)
    late = min(max(waited + extra, head), now)
    new = np.array([0, min(head, late), late, max(now, late)], np.float64)
    for inner in collective.inner:
        start, end = (round(float(np.interp(time, old, new))) for time in (inner.start, inner.end))
        yield inner.event | {"ts": microseconds(begin + start), "dur": max(end - start, 0) / 1000}


def _first_wait(collective: Collective) -> int:
    return min((i.start for i in collective.inner if "wait" in i.event["name"].lower()), default=0)


def _overlap(rank: Rank, capture: Capture, split: list[Split]) -> Iterator[Event]:
    lanes = [event["pid"] for event in capture.events if event["ph"] == "M" and event["name"] == "process_name"
             and event["args"]["name"] == OVERLAP]  # fmt: skip
    for process in lanes[:1]:
        for step in split:
            for thread, spans in enumerate((step.computing, step.talking, step.exposed, step.free)):
                yield from _drawn(process, thread, spans, rank.clock)


def _drawn(process: int, thread: int, spans: Intervals, clock: int) -> Iterator[Event]:
    for start, end in spans:
        yield {
            "name": _THREADS[thread], "pid": process, "tid": thread, "ts": microseconds(start + clock),
            "dur": (end - start) / 1000, "ph": "X",
        }  # fmt: skip
