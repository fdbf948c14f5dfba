# SPDX-License-Identifier: Apache-2.0
"""Signs of time that is no usual step of the job: how it starts up, and what lies outside of the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import corpus
from corpus.events import Job, RankTrace
from corpus.export import EPOCH_NS, us_text
from corpus.msprof import STAMP, write_msprof
from corpus.operators import vector
from corpus.program import Host, Instruction, Launch, Pause, Step, Synchronize
from corpus.serving_operators import draw
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered, about, write_setup
from corpus.transformer import Transformer
from corpus.troubles import LOADER
from corpus.workloads import WORKLOADS

_MODEL = Transformer(layers=4, steps=3, vocabulary=2048, trimmings=True)
"""Its steps take 73 ms, in which the device is never idle for long."""
_ALONE = WORKLOADS["single"]
_MS = 1000.0
_LAST = _MODEL.steps - 1
_MIDDLE = 60
"""An instruction far from both ends of a step."""

Instructions = Iterator[Instruction]


def _changed(change: Altered, **how: bool) -> Write:
    return lambda folder: write_setup(folder, replace(_ALONE, workload=change), **how)


def _calling(first_ms: float, later_ms: float) -> Write:
    """A call into CANN that the device waits for amid a step takes so long in the first one, and in each after it."""

    def change(step: Instructions, number: int) -> Instructions:
        for place, one in enumerate(step):
            if place == _MIDDLE:
                yield Synchronize()
                yield Host("aclnnInplaceNormal", (later_ms if number else first_ms) * _MS, "acl")
            yield one

    return _changed(Altered(_MODEL, change))


def _compiling(*steps: int) -> Write:
    """In these steps eight operators are compiled for 3 ms each, in the middle of which the device runs out of work."""
    compiled = replace(vector("aten::mul", "Mul", (64, 128), 20.0, inputs=2), compile_us=3 * _MS)

    def change(step: Instructions, number: int) -> Instructions:
        yield Synchronize()
        if number in steps:
            yield from [compiled] * 8
        yield from step

    return _changed(Altered(_MODEL, change))


def _starting(first_ms: float) -> Write:
    """The first step waits so long before it begins to work."""

    def change(step: Instructions, number: int) -> Instructions:
        if not number:
            yield Host("train.py(31): load_checkpoint", first_ms * _MS, "python")
        yield from step

    return _changed(Altered(replace(_MODEL, steps=4), change))


def _pausing_without_steps(*before: int) -> Write:
    """No step is marked. Two short kernels run, then nothing for a second, before these steps."""

    def change(step: Instructions, number: int) -> Instructions:
        if number in before:
            yield from [vector("aten::add", "Add", (64, 128), 20.0)] * 2
            yield Synchronize()
            yield Pause(1000 * _MS)
        yield from step

    return _changed(Altered(_MODEL, change), steps=False, stacks=False)


def _outside(*ms: float) -> Write:
    """Between two steps, while in neither, the host does something else for so long: behind the first, the second."""

    def change(step: Instructions, number: int) -> Instructions:
        yield from step
        if number < _LAST:
            yield Step(-1)
            yield Pause(ms[number] * _MS)

    return _changed(Altered(_MODEL, change))


def _ending(last_ms: float, other_ms: float) -> Write:
    """When the device is done, the host goes on for so long in the last step, and in the others."""

    def change(step: Instructions, number: int) -> Instructions:
        yield from step
        yield Pause((last_ms if number == _LAST else other_ms) * _MS)

    return _changed(Altered(_MODEL, change))


def _preparing(ms: float) -> Write:
    """Of the only recorded step the batch is prepared for so long."""

    def change(step: Instructions, _number: int) -> Instructions:
        yield Host(LOADER, ms * _MS)
        yield from step

    return _changed(Altered(replace(_MODEL, steps=1), change))


def _marked_by_msprof(loading_ms: float) -> Write:
    """A graph whose iterations msprof marks on the device, each of which waits so long for its batch."""

    def change(step: Instructions, _number: int) -> Instructions:
        yield Synchronize()
        yield Pause(loading_ms * _MS)
        yield from step

    def written(folder: Path) -> None:
        job = _job(Altered(_MODEL, change))
        output = write_msprof(job, folder)
        (output / f"step_trace_{STAMP}.csv").write_text(_step_trace(job.ranks[0]), encoding="utf-8")

    return written


def _by_msprof(pause_ms: float) -> Write:
    """msprof records a program that pauses after every tenth kernel, twelve times in each of three steps."""

    def change(step: Instructions, _number: int) -> Instructions:
        launched = 0
        for one in step:
            yield one
            launched += isinstance(one, Launch)
            if isinstance(one, Launch) and not launched % 10:
                yield Synchronize()
                yield Pause(pause_ms * _MS)

    return lambda folder: write_msprof(_job(Altered(_MODEL, change)), folder)


def _timing(*drawing: int) -> Write:
    """msprof records how one operator is timed. In these of three rounds inputs are drawn first, and it is built."""
    inputs = (1024, 1024)

    def change(step: Instructions, number: int) -> Instructions:
        if number in drawing:
            yield from [draw(inputs, 400.0, 20.0)] * 2
            yield Synchronize()
            yield Pause(300 * _MS)
        yield from [vector("aten::gelu", "Gelu", inputs, 20.0)] * 40

    return lambda folder: write_msprof(_job(Altered(_MODEL, change)), folder)


def _job(change: Altered) -> Job:
    return corpus.job("healthy", seed=11, setup=replace(_ALONE, workload=change, name=""))


def _step_trace(trace: RankTrace) -> str:
    """step_trace_*.csv, of whose columns `Data Aug Bound` is what lies between two iterations."""
    lines, before = [_STEP_TRACE], 0
    for number in range(1, _MODEL.steps + 1):
        kernels = [task for task in trace.kernels() if task.step == _MODEL.first_step + number - 1]
        begin, end = kernels[0].start, kernels[-1].end
        bound = (begin - before) / 1e3 if before else "N/A"
        moments = ",".join(us_text(EPOCH_NS + moment) + "\t" for moment in (begin, end, end))
        lines.append(f"0,{number},{moments},{(end - begin) / 1e3},{(end - begin) / 1e3},0,{bound},1")
        before = end
    return "\n".join([*lines, ""])


_STEP_TRACE = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
    "Iteration Refresh(us),Data Aug Bound(us),Model ID"
)

SIGNS: Mapping[str, Sign] = {
    "capture/first-calls": Sign(
        spoiled=_calling(first_ms=25, later_ms=0.03),
        twin=_calling(first_ms=25, later_ms=25),
        shows={"calls_seen": 1, "longest_wait_us": about(25_000, 0.03), "first_call": "aclnnInplaceNormal"},
    ),
    "capture/first-compilations": Sign(
        spoiled=_compiling(0),
        twin=_compiling(0, _LAST),
        shows={"compilations": 8, "later_compilations": 0, "lost_us_per_step": about(8000, 0.1)},
    ),
    "capture/recorded-start": Sign(
        spoiled=_pausing_without_steps(0),
        twin=_pausing_without_steps(0, _LAST),
        shows={"apart": about(1e6, 0.03), "tasks_before": 2},
    ),
    "capture/set-up-kernels": Sign(
        spoiled=_timing(0),
        twin=_timing(0, 1, _LAST),
        shows={"made": 2, "busy": about(800, 0.03), "longest": "DSARandomUniform"},
    ),
    "capture/start-up-step": Sign(
        spoiled=_starting(73),
        twin=_starting(30),
        shows={"ratio": about(2, 0.1), "several_steps": None},
    ),
    "capture/uncounted-breaks": Sign(
        spoiled=_outside(50, 30),
        twin=_outside(12, 8),
        shows={
            "breaks": 2,
            "outside": about(80_000, 0.03),
            "longest": about(50_000, 0.03),
            "longest_after": _MODEL.first_step,
        },
    ),
    "capture/uncounted-ending": Sign(
        spoiled=_ending(50, 1),
        twin=_ending(50, 45),
        shows={"after": about(50_000, 0.03), "usual": about(1000, 0.03), "last_step": _MODEL.first_step + _LAST},
    ),
    "capture/uncounted-intervals": Sign(
        spoiled=_marked_by_msprof(20),
        twin=_marked_by_msprof(5),
        shows={"interval": about(20_000, 0.03)},
    ),
    "capture/uncounted-pauses": Sign(
        spoiled=_by_msprof(3),
        twin=_by_msprof(0.2),
        shows={"paused": about(36 * 3 * _MS, 0.05), "longest": about(3 * _MS, 0.05)},
    ),
    "capture/uncounted-preparation": Sign(
        spoiled=_preparing(40),
        twin=_preparing(5),
        shows={"before": about(40_000, 0.03), "lone_step": _MODEL.first_step},
    ),
}
