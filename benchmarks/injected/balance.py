# SPDX-License-Identifier: Apache-2.0
"""Makes a recorded program a healthy one: what was abnormal in the record is taken out of it.

Hosts are as fast as without the profiler's call stacks, queued tasks follow each other at once, nothing inside a
collective is idle, tasks start soon after their launch, and kernels take as long as with a larger batch.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.injected.program import Call, Collective, Job, Rank, Task

_SHAPES = ("Input Shapes", "Output Shapes")
_PRODUCTS = ("MatMul", "BatchMatMul", "Conv")
_BATCH = "32"
"""Images in a batch of the recorded job."""
_COMPILE = ("aclopCompileAndExecute", "opCompile")


@dataclass(frozen=True, slots=True)
class Health:
    """By how much what is changed."""

    host: float = 0.1
    """Host work, of what was recorded with call stacks, shapes and memory."""
    compiling: float = 0.02
    """Calls that compile, of what was recorded."""
    fetching: float = 0.04
    """The data loader, of what was recorded."""
    gap: int = 1_500
    """The longest time between two queued tasks, in ns; the counters of each kernel make it some 90 µs."""
    latency: int = 12_000
    """The longest time from a launch to its task when the stream is free, in ns."""
    kernels: float = 5.0
    """Length of kernels: a larger batch."""
    conversions: float = 0.3
    """Kernels that convert formats, of what all kernels are made."""
    jitter: float = 0.01
    """Deviation of host work and kernels from one time to the next."""


def balance(job: Job, health: Health, seed: int) -> None:
    """Makes a program healthy, in place."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    for rank in job.ranks:
        _quicken_host(rank, health, chance)
        for task in rank.tasks:
            _quicken(task, health, chance)
    for meeting in job.meetings:
        _unite(meeting)


def _quicken_host(rank: Rank, health: Health, chance: random.Random) -> None:
    factor = {id(moment): health.host for key, lane in rank.lanes.items() if key[0] == "thread" for moment in lane}
    for call in rank.calls:
        if call.name.rpartition("@")[2] in _COMPILE:
            _set_between(call, factor, health.compiling)
        elif "DataLoader" in call.name:
            _set_between(call, factor, health.fetching)
    first, last = rank.steps[0].begin, rank.steps[-1].end
    for key, lane in rank.lanes.items():
        if key[0] == "thread":
            for moment in lane:
                if moment.before is None or not first.at < moment.at <= last.at:
                    continue
                varied = factor[id(moment)] * max(chance.gauss(1.0, health.jitter), 0.5)
                moment.work = max(round(moment.work * varied), 0)
                moment.waits = [
                    (other, max(min(round(lag * varied), health.latency), 0)) for other, lag in moment.waits
                ]
    for before, step in zip(rank.steps, rank.steps[1:], strict=False):
        _close(before, step)


def _set_between(call: Call, factor: dict[int, float], value: float) -> None:
    moment = call.begin.after
    while moment is not None and moment is not call.end.after:
        factor[id(moment)] = value
        moment = moment.after


def _close(before: Call, step: Call) -> None:
    """Nothing passes between two steps: periods of ranks differed in the record."""
    moment = before.end.after
    while moment is not None:
        moment.work = min(moment.work, 1_000)
        if moment is step.begin:
            return
        moment = moment.after


def _quicken(task: Task, health: Health, chance: random.Random) -> None:
    if task.begin.before is not None:
        task.begin.work = max(min(task.begin.work, health.gap), 0)
    task.begin.waits = [(other, max(min(lag, health.latency), 0)) for other, lag in task.begin.waits]
    if task.kind in ("kernel", "copy"):
        longer = health.kernels if task.kind == "kernel" else 1.0
        longer *= health.conversions if task.op_type == "TransData" else 1.0
        task.end.work = round(task.duration * longer * max(chance.gauss(1.0, health.jitter), 0.5))
        task.end.waits = []
        if task.kind == "kernel" and task.row is not None:
            larger = round(longer)
            shapes = {key: enlarged(str(task.row.get(key, "")), larger, task.op_type) for key in _SHAPES}
            task.row = {**task.row, **{key: text for key, text in shapes.items() if text}}
    elif task.kind == "wait":
        task.end.work = 20
        task.end.waits = [(other, max(min(lag, health.gap), 0)) for other, lag in task.end.waits]


def enlarged(shapes: str, factor: int, op_type: str) -> str:
    """Shapes with so many times as much in them: of products the batch is larger, of all others the first side."""
    product = op_type.startswith(_PRODUCTS)
    tensors = [tensor.split(",") for tensor in shapes.strip('"').split(";")]
    for sides in tensors:
        if sides[0].isdigit() and (not product or sides[0] == _BATCH):
            sides[0] = str(int(sides[0]) * factor)
    joined = ";".join(map(",".join, tensors))
    return f'"{joined}"' if shapes.startswith('"') else joined


def _unite(meeting: Sequence[Collective]) -> None:
    """A collective without idle time: all its ranks transfer for as long as the fastest did, and end together."""
    needed = min(transfer_ns(collective) for collective in meeting)
    for collective in meeting:
        set_moved(meeting, collective, needed)
        _squeeze(collective, needed)


def transfer_ns(collective: Collective) -> int:
    """How long the transfer of a collective takes by communication.json; all of it where that says nothing."""
    times = (collective.entry or {}).get("Communication Time Info", {})
    transit = float(times.get("Transit Time(ms)") or 0)
    wait = float(times.get("Wait Time(ms)") or 0) - float(times.get("Synchronization Time(ms)") or 0)
    return round((transit + max(wait, 0)) * 1e6) if transit else collective.moved


def set_moved(meeting: Sequence[Collective], collective: Collective, time: int) -> None:
    """Lets a collective end this long after the last rank has come."""
    collective.end.work = min(0, time)
    collective.end.waits = [(other.begin, time) for other in meeting]


def _squeeze(collective: Collective, needed: int) -> None:
    """Takes the time in which nothing happened out of a collective, and puts its tasks closer accordingly."""
    spans = sorted((inner.start, inner.end) for inner in collective.inner)
    if not spans:
        return
    whole = max(end for _, end in spans)
    factor = needed / max(whole - collective.waited, 1)
    for inner in collective.inner:
        inner.start = round(max(inner.start - collective.waited, 0) * factor)
        inner.end = max(round(max(inner.end - collective.waited, 0) * factor), inner.start)
