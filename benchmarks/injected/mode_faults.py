# SPDX-License-Identifier: Apache-2.0
"""Faults of how a job is run: switches that are set wrongly, shapes that change, operators in too many pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping

from benchmarks.injected.changes import Changes
from benchmarks.injected.faults import HOST, JITTER, Fault, Run, forward, spread
from benchmarks.injected.host_faults import online_compilation
from benchmarks.injected.program import Call, Moment
from benchmarks.injected.rank_faults import scale_hosts

_METADATA = "profiler_metadata.json"
_SMALL = 25_000
"""What a small operator costs a quick host, in ns."""


def launch_blocking(run: Run, amount: float) -> None:
    """ASCEND_LAUNCH_BLOCKING is set: the host waits for each operator."""
    for capture in run.captures:
        settings = json.loads(capture.beside.get(_METADATA, b"{}"))
        settings.setdefault("ENV_VARIABLES", {})["ASCEND_LAUNCH_BLOCKING"] = "1"
        capture.beside[_METADATA] = json.dumps(settings).encode()
    for changes in run.ranks:
        for operators in forward(changes):
            for operator in operators:
                changes.wait_for_device(operator.top.end, (), "aclrtSynchronizeStreamWithTimeout")


def busy_hosts(run: Run) -> None:
    """Hosts do as much as their devices."""
    scale_hosts(run, 0.85)


def task_queue_off(run: Run, amount: float) -> None:
    """TASK_QUEUE_ENABLE is 0: the thread that calls an operator also launches it."""
    for changes in run.ranks:
        dequeues = {call.link: call for call in changes.rank.calls if call.event.get("cat") == "dequeue"}
        gone: set[int] = set()
        for enqueue in [call for call in changes.rank.calls if call.event.get("cat") == "enqueue"]:
            dequeue = dequeues.get(enqueue.link)
            if dequeue is not None:
                _take_over(changes, enqueue, dequeue)
                gone |= {id(enqueue), id(dequeue)}
        changes.rank.calls = [call for call in changes.rank.calls if id(call) not in gone]


def _take_over(changes: Changes, enqueue: Call, dequeue: Call) -> None:
    """Puts what the queue did for an entry where the entry was made."""
    inside = changes.within(dequeue)
    moments = dequeue.lane.remove(dequeue.begin, dequeue.end)
    moments[0].work, moments[0].waits = 0, []
    enqueue.lane.insert(enqueue.end, *moments)
    thread = enqueue.event["tid"]
    for call in inside:
        call.lane = enqueue.lane
        args = call.event.get("args", {})
        call.event = call.event | {"tid": thread, "args": args | {"Thread Id": thread}}
        for flow in call.flows:
            flow.event = flow.event | {"tid": thread}


def silent_pauses(run: Run, amount: float) -> None:
    """Every third step stands still once, and nothing is recorded meanwhile: garbage is collected."""
    for changes in run.ranks:
        steps = forward(changes)
        paused = steps[1::3] or steps
        for operators in paused:
            operator = spread(operators, 2)[0]
            place: Moment = operator.top.begin.before or operator.top.begin
            changes.stall(place, operator.top.lane, round(amount * len(steps) / len(paused)))


def many_small_kernels(run: Run, amount: float) -> None:
    """Chains of tiny operators where one would do."""
    for changes in run.ranks:
        for operators in forward(changes):
            small = [op for op in operators if len(op.kernels) == 1]
            like = min(small, key=lambda op: len(op.calls))
            places = spread(small, 40)
            for place in places:
                for _ in range(max(round(amount / _SMALL / len(places)), 1)):
                    for kernel in changes.repeat(like, place).kernels:
                        kernel.end.work = 2_000


def dynamic_shapes(run: Run, amount: float) -> None:
    """Inputs have another size in every step, and operators are compiled for each."""
    online_compilation(run, amount)
    for changes in run.ranks:
        for number, operators in enumerate(changes.in_steps(changes.operators)):
            for kernel in (kernel for operator in operators for kernel in operator.kernels):
                if kernel.row:
                    shapes = ("Input Shapes", "Output Shapes")
                    kernel.row = kernel.row | {name: _longer(kernel.row.get(name, ""), number) for name in shapes}


def long_batch(run: Run, amount: float) -> None:
    """The samples of one step are longer: all of its kernels take longer, and have other shapes."""
    shapes = ("Input Shapes", "Output Shapes")
    for changes in run.ranks:
        steps = changes.in_steps(changes.operators)
        kernels = [kernel for operator in steps[len(steps) // 2] for kernel in operator.kernels]
        times = 1 + amount * len(steps) / max(sum(kernel.end.work for kernel in kernels), 1)
        for kernel in kernels:
            kernel.end.work = round(kernel.end.work * times)
            if kernel.row is not None:
                kernel.row = kernel.row | {name: _longer(kernel.row.get(name, ""), 1) for name in shapes}


def _longer(shapes: str, by: int) -> str:
    """Shapes with a first dimension that is larger by so much."""
    parts = shapes.strip('"').split(";")
    first = [part.partition(",") for part in parts]
    return '"' + ";".join(f"{int(n) + by}{comma}{rest}" if n.isdigit() else n for n, comma, rest in first) + '"'


FAULTS: Mapping[str, Fault] = {
    "launch-blocking": Fault(
        launch_blocking, frozenset({"env/launch-blocking"}), HOST, growth=None, bases=("recorded", "balanced")
    ),
    "task-queue-off": Fault(
        task_queue_off,
        frozenset({"host/task-queue-off"}),
        HOST | {"host/python-bound", "host/synchronising-calls", "host/device-to-host-reads"},
        growth=None,
        common=busy_hosts,
        bases=("balanced",),
    ),
    "silent-pauses": Fault(
        silent_pauses,
        frozenset({"host/silent-pauses", "host/stalled-step", "host/python-bound", "host/step-jitter"}),
        HOST | JITTER,
        bases=("balanced",),
    ),
    "many-small-kernels": Fault(
        many_small_kernels,
        frozenset({"host/many-small-kernels", "host/python-bound"}),
        HOST | {"host/synchronising-calls", "host/device-to-host-reads"},
        bases=("balanced",),
    ),
    "long-batch": Fault(
        long_batch, frozenset({"host/step-jitter"}), frozenset({"capture/boundary-step"}), bases=("balanced",)
    ),
    "dynamic-shapes": Fault(
        dynamic_shapes, frozenset({"compute/dynamic-shapes", "host/online-compilation"}), HOST, bases=("balanced",)
    ),
}
