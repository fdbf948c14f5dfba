# SPDX-License-Identifier: Apache-2.0
"""Signs in single launches: the thread that launches is held up in the middle of one, and everything on the host is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import corpus
from corpus.events import HostCall, RankTrace
from corpus.signs import Sign, Write
from corpus.signs.captures import job

_HELD_NS = 1_500_000


def _held_up(count: int) -> Write:
    """A job of one rank whose host is held up so often, for 1.5 ms, within a launch that the idle device waits for."""

    def written(folder: Path) -> None:
        made = job("python-busy", "single")
        (trace,) = made.ranks
        waited_for = _launches_into_idle_device(trace)
        chosen = waited_for[-count:]
        moments = [call.start + 1 for call in chosen]
        corpus.write(replace(made, ranks=[_stopped(trace, moments, _HELD_NS)]), folder)

    return written


def _launches_into_idle_device(trace: RankTrace) -> list[HostCall]:
    def idle(moment: int) -> bool:
        return not any(task.start <= moment < task.end for task in trace.tasks)

    return [call for call in trace.calls if call.layer == "node" and call.name == "launch" and idle(call.start + 1)]


def _stopped(trace: RankTrace, moments: Sequence[int], length: int) -> RankTrace:
    """The same; at each of these moments, in order, everything stands still so long."""

    def later(time: int) -> int:
        return time if time < 0 else time + length * bisect_left(moments, time)

    calls = {id(call): replace(call, start=later(call.start), end=later(call.end)) for call in trace.calls}
    tasks = [
        replace(
            task, start=later(task.start), end=later(task.end), launch_start=later(task.launch_start),
            origin=calls.get(id(task.origin), task.origin),
        )
        for task in trace.tasks
    ]  # fmt: skip
    return replace(
        trace,
        calls=list(calls.values()),
        tasks=tasks,
        memory=[replace(one, time=later(one.time)) for one in trace.memory],
        allocations=[replace(one, time=later(one.time), released=later(one.released)) for one in trace.allocations],
        modules=[replace(call, start=later(call.start), end=later(call.end)) for call in trace.modules],
        gradients=[],
        frequency=[(later(time), mhz) for time, mhz in trace.frequency],
        end=later(trace.end),
    )


SIGNS: Mapping[str, Sign] = {
    "host/launch-jitter": Sign(spoiled=_held_up(12), twin=_held_up(5), shows={"held_count": 12}),
}
