# SPDX-License-Identifier: Apache-2.0
"""What a run would win if that were mended which a finding speaks of: its claim, tried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.injected.faults import Run
from benchmarks.injected.program import Call, Rank
from benchmarks.injected.rerun import rerun

LEFT = 0.05
"""What is left of work that is mended."""


def won_us(run: Run, rule: str) -> float | None:
    """By how much the step gets shorter without what a rule speaks of, in µs; None for rules that are not tried out.

    The run is changed by this: call it in a child.
    """
    if rule not in _MENDED:
        return None
    before = _step_ns(run)
    for rank in run.job.ranks:
        _MENDED[rule](rank)
    rerun(run.job)
    return (before - _step_ns(run)) / 1e3


def _step_ns(run: Run) -> float:
    """Until host and device have done all steps, per step, of the rank that takes longest."""
    if all(rank.on_gpu for rank in run.job.ranks):
        return run.job.longest_step_ns
    return max(_reach(rank) - rank.steps[0].begin.at for rank in run.job.ranks) / run.steps


def _reach(rank: Rank) -> int:
    return max(rank.steps[-1].end.at, *(task.end.at for task in rank.tasks if task.row is not None))


def _let_go(rank: Rank) -> None:
    """Nothing waits for the device."""
    for call in rank.calls:
        if "ynchronize" in call.name:
            call.end.waits = []


def _without_python(rank: Rank) -> None:
    """Threads that call operators do next to nothing in between."""
    senders = {id(call.lane) for call in rank.calls if call.event.get("cat") == "cpu_op"}
    start = rank.steps[0].begin.at
    for lane in rank.lanes.values():
        if id(lane) in senders or lane is rank.main:
            for moment in lane:
                if moment.at > start and moment.work > 0:
                    moment.work = round(moment.work * LEFT)


def _without(called: Callable[[Call], bool]) -> Callable[[Rank], None]:
    def mend(rank: Rank) -> None:
        for call in rank.calls:
            if called(call):
                moment = call.begin.after
                while moment is not None and moment is not call.end.after:
                    moment.work = round(max(moment.work, 0) * LEFT)
                    moment = moment.after

    return mend


def _shorter(types: tuple[str, ...], left: float) -> Callable[[Rank], None]:
    def mend(rank: Rank) -> None:
        for task in rank.kernels:
            if task.op_type.startswith(types):
                task.end.work = round(task.duration * left)

    return mend


def _quick_talk(rank: Rank) -> None:
    """Collectives end when the last rank has come."""
    for collective in rank.collectives:
        collective.end.waits = [(other, 0) for other, _ in collective.end.waits]


_MENDED: Mapping[str, Callable[[Rank], None]] = {
    "host/device-to-host-reads": _let_go,
    "host/synchronising-calls": _let_go,
    "host/blocking-copies": _let_go,
    "host/python-bound": _without_python,
    "host/late-launches": _without_python,
    "host/free-time": _without_python,
    "host/interrupted-launches": _without_python,
    "host/slow-preparation": _without_python,
    "host/garbage-collection": _without(lambda call: call.event.get("cat") == "GC" or "function collect>" in call.name),
    "host/online-compilation": _without(lambda call: "ompile" in call.name),
    "io/data-loader": _without(lambda call: "DataLoader" in call.name and "__next__" in call.name),
    "compute/fp32-matmul": _shorter(("MatMul", "BatchMatMul"), 0.5),
    "compute/transdata-excess": _shorter(("TransData",), LEFT),
    "compute/cast-excess": _shorter(("Cast",), LEFT),
    "comm/exposed-communication": _quick_talk,
    "comm/dominant-communication": _quick_talk,
}
