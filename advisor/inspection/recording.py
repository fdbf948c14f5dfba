# SPDX-License-Identifier: Apache-2.0
"""One way to record what rules lacked: what each of them asks for, merged into one configuration of one profiler."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from advisor.engine import mindspore_hints
from advisor.engine.hit import RuleResult
from advisor.facts.base import Fact
from advisor.facts.observed import BatchQueue, DatasetOperation, L2Cache, ModuleRange, OperatorCall, StepWindow
from advisor.facts.observed.recording import BOTH, DATA, LEVEL1, MEMORY, NPU, PIPES_ON, STEPS_ON
from advisor.inspection.recorders import CARE, IN_SHELL, OPTIONS, RECORDS, Switch, write_code
from advisor.messages.text import Text
from advisor.model.inspection import Addition, Advice, FoundPart, Recorder, Recording
from advisor.model.run import Capture, Run
from advisor.sources.ascend import msprof_hints
from advisor.sources.kineto import gpu_hints
from advisor.sources.recorder_hints import UNTOLD

_SHARED: Mapping[Text, tuple[Switch, ...]] = {
    NPU: ("device",),
    gpu_hints.OF_SWITCH[NPU]: ("device",),
    mindspore_hints.RECORD_NPU: ("device",),
    BOTH: ("host", "device"),
    gpu_hints.OF_SWITCH[BOTH]: ("host", "device"),
    mindspore_hints.RECORD_BOTH: ("host", "device"),
    LEVEL1: ("level1",),
    MEMORY: ("memory",),
    gpu_hints.SHAPES: ("shapes",),
    gpu_hints.OF_SWITCH[ModuleRange.record_with]: ("stack",),
    PIPES_ON: ("level1", "pipes"),
    STEPS_ON: ("steps",),
    DATA: ("data",),
    msprof_hints.OF_SWITCH[NPU]: ("device", "level1"),
    msprof_hints.OF_SWITCH[BOTH]: ("host", "device"),
    msprof_hints.OF_SWITCH[MEMORY]: ("memory",),
    msprof_hints.OF_SWITCH[PIPES_ON]: ("level1", "pipes"),
    msprof_hints.OF_SOURCE["l2_cache"]: ("l2",),
}
"""What of the profiler has a value recorded, by the hint that rules give; other hints are no switches."""
_OF_FACT: Mapping[type[Fact], tuple[Switch, ...]] = {StepWindow: ("steps",), L2Cache: ("l2",), OperatorCall: ("host",)}
"""The same of tables that have a hint of their own."""
_WRITTEN_WITH: Mapping[type[Fact], Switch] = {BatchQueue: "data", DatasetOperation: "data", L2Cache: "l2"}
"""What was on where a table was recorded, which no capture says of itself."""
_NO_USE = (gpu_hints.NOT_RECORDED, msprof_hints.NOT_RECORDED, UNTOLD.not_recorded)
"""Hints that say that nothing helps."""
ALWAYS_ON: tuple[Switch, ...] = ("device", "host", "steps")
"""Without these little can be said of any run."""
_LEFT_OFF: Mapping[str, tuple[Switch, ...]] = {"host": ("device",), "device": ("host",)}
"""What was not switched on where one side was recorded alone."""
_AT_FIRST: tuple[Switch, ...] = (*ALWAYS_ON, "level1", "pipes", "shapes", "memory")
"""What to begin with where nothing is recorded: what most rules read."""


_HALF_KNOWN: tuple[Switch, ...] = ("pipes",)
"""Switches that are on at a level unless they were turned off, which is not recorded."""


def switches_of_hint(hint: Text) -> tuple[Switch, ...]:
    """The switches that do what a hint says; nothing where it is about something else."""
    own = next((switches for fact, switches in _OF_FACT.items() if fact.record_with == hint), ())
    return _SHARED.get(hint, own)


def merged_recording(
    run: Run, results: Iterable[RuleResult], recorded: Collection[str] = frozenset()
) -> Recording | None:
    """What was switched on, and what rules lacked, as one configuration; None where nothing was lacking.

    Tables that were `recorded`, by name, tell of switches that captures do not name.
    """
    recorder = recorder_of_run(run)
    options = OPTIONS[recorder]
    asking: dict[Switch, list[str]] = {}
    for result in results:
        for hint in dict.fromkeys(result.hints):
            for switch in switches_of_hint(hint):
                asking.setdefault(switch, []).append(result.outcome.rule)
    written = {switch for fact, switch in _WRITTEN_WITH.items() if fact.table in recorded}
    on = {*ALWAYS_ON, *switched_on(run), *written} - {*_left_off(run)}
    adds = [switch for switch in options if switch in asking and (switch not in on or switch in _HALF_KNOWN)]
    if not adds:
        return None
    level2 = bool(run.captures) and all(capture.level == "Level2" for capture in run.captures)
    made = _write_recording(recorder, on | {*adds}, level2=level2, infers=run.job.workload == "inference")
    added = (
        Addition(option=options[switch], records=RECORDS[switch], rules=tuple(dict.fromkeys(asking[switch])))
        for switch in sorted(adds, key=lambda one: (-len(asking[one]), one))
    )
    return made.model_copy(update={"adds": tuple(added)})


def _left_off(run: Run) -> tuple[Switch, ...]:
    """What of a host and a device was not recorded. The old profiler of MindSpore recorded single events of neither."""
    if run.captures and all(capture.export.phases_alone for capture in run.captures):
        return ("host", "device")
    return _LEFT_OFF.get(run.recorded_alone or "", ())


def recording_anew(found: Sequence[FoundPart]) -> Recording | None:
    """What to record where nothing can be read, in the words of what was found; None where parsing is all it takes."""
    if any(part.kind == "unparsed" for part in found):
        return None
    return _write_recording(_recorder_of_parts(found), {*_AT_FIRST}, level2=False)


def _write_recording(recorder: Recorder, on: set[Switch], *, level2: bool, infers: bool = False) -> Recording:
    language: Literal["python", "sh"] = "sh" if recorder in IN_SHELL else "python"
    care = tuple(said for switch, said in CARE[recorder] if switch in on or not switch)
    return Recording(
        recorder=recorder, language=language, code=write_code(recorder, on, level2=level2, infers=infers), care=care
    )


def advice_beside(results: Iterable[RuleResult]) -> tuple[Advice, ...]:
    """What rules ask for that no profiler is switched for, what most of them ask for first."""
    asking: dict[Text, list[str]] = {}
    for result in results:
        for hint in dict.fromkeys(result.hints):
            if not switches_of_hint(hint) and hint not in _NO_USE:
                asking.setdefault(hint, []).append(result.outcome.rule)
    ordered = sorted(asking.items(), key=lambda one: (-len(one[1]), one[0].en))
    return tuple(Advice(do=hint, rules=tuple(rules)) for hint, rules in ordered)


def switched_on(run: Run) -> set[Switch]:
    """What every capture of a run says was on, and a new recording keeps."""
    said = [_switches_of_capture(capture) for capture in run.captures]
    return set[Switch].intersection(*said) if said else set()


def _switches_of_capture(capture: Capture) -> set[Switch]:
    on: Mapping[Switch, bool] = {
        "level1": capture.at_level1,
        "pipes": capture.at_level1,
        "memory": capture.profile_memory is True,
        "shapes": capture.record_shapes is True,
        "stack": capture.with_stack is True,
    }
    return {switch for switch, there in on.items() if there}


def recorder_of_run(run: Run) -> Recorder:
    """The profiler that recorded a run, by the device, the framework and the kind of its files."""
    if run.recorder == "msprof":
        return "msprof"
    if run.job.workload == "inference" and run.job.stack in _SERVERS:
        return _SERVERS[run.job.stack]
    if run.job.stack == "verl":
        return "verl-gpu" if run.device_family == "gpu" else "verl"
    if run.device_family == "gpu":
        return "torch.profiler"
    if run.job.stack == "MindIE":
        return "atb"
    return "mindspore" if run.framework == "MindSpore" else "torch_npu"


_SERVERS: Mapping[str, Recorder] = {"vLLM": "vllm", "SGLang": "sglang"}
"""Engines that switch their own profiler on."""


def _recorder_of_parts(found: Sequence[FoundPart]) -> Recorder:
    """The profiler that wrote what cannot be read; the one of PyTorch for Ascend where nothing tells."""
    if any(
        part.family == "MindSpore Insight" or part.tool == "insight" or part.path.endswith("_ascend_ms")
        for part in found
    ):
        return "mindspore"
    if any(part.tool == "msprof" for part in found):
        return "msprof"
    return "torch.profiler" if any(part.family == "Kineto" for part in found) else "torch_npu"
