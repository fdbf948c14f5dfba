# SPDX-License-Identifier: Apache-2.0
"""What kind of job a run was, which software drove it and on which framework, by what was seen of it.

What nothing tells stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from math import isfinite
from statistics import median
from typing import get_args

from advisor.facts.derived import EngineStep, JobSign
from advisor.facts.derived.job import LAYERS, TORCH_OPERATOR
from advisor.facts.table import Table
from advisor.model.job import STACKS, EnginePhase, JobEvidence, JobKind, Phase
from advisor.model.run import Run

_SERVING = ("vLLM", "SGLang", "MindIE")
_HALVES = ("rollout", "update")
_GENERATES = ("decode", "prefill", "cache")
_LOADED = "loaded model"
_ON_TORCH = ("PyTorch", "FSDP", "DeepSpeed")
"""Stacks of PyTorch alone; others also run on MindSpore (vLLM, Megatron by MindSpeed, verl) or on neither."""
_WAYS = ("operator", "call", "mark", "line", "setting")
"""What shows a thing best stands first."""


def infer_job(run: Run, table: Table[JobSign], steps: Table[EngineStep] | None = None) -> JobKind:
    """What the user told, filled up by what was seen; names tell the phase before sizes of engine steps do."""
    told, seen = run.job, _Seen(table)
    stack, of_stack = (told.stack, ()) if told.stack else _infer_stack(run, seen)
    known = told if told.workload else _infer_workload(run, seen, stack)
    signs = (*(one for one in told.signs if one not in known.signs), *known.signs, *of_stack)
    engine = sum_engine_steps(steps) if steps is not None and known.workload != "training" else ()
    phase = known.phase or (_phase_of_steps(engine) if known.workload == "inference" else "")
    return known.model_copy(update={"phase": phase, "stack": stack, "signs": signs, "engine": engine})


def infer_framework(run: Run, table: Table[JobSign], job: JobKind) -> str:
    """`PyTorch` or `MindSpore`: what the files say, else what calls of the host and the stack of the job tell.

    Files of results that were taken out of their folder do not say it. MindSpore is told by its names for what its
    graphs hold, in captures of msprof as well; PyTorch is not, for msprof is switched in its own words alone.
    """
    if run.framework or job.stack == "MindSpore":
        return run.framework or job.stack
    if run.recorder == "msprof":
        return ""
    return "PyTorch" if job.stack in _ON_TORCH or _Seen(table).first(TORCH_OPERATOR) else ""


def sum_engine_steps(table: Table[EngineStep]) -> tuple[EnginePhase, ...]:
    """A row per phase and what told where steps begin, over all ranks."""
    rows = sorted(table.rows(), key=_phase_and_source)
    found = []
    for (phase, by), alike in groupby(rows, _phase_and_source):
        mine = list(alike)
        values = {name: _median(row[name] for row in mine) for name in _OF_STEPS}
        found.append(EnginePhase.model_validate({"phase": phase, "by": by, "ranks": len(mine), **values}))
    return tuple(found)


_OF_STEPS = ("steps", "requests", "tokens", "apart_us", "idle_us")


def _phase_and_source(row: dict[str, object]) -> tuple[str, str]:
    return str(row["engine_phase"]), str(row["by"])


def _median(values: Iterable[object]) -> float | None:
    known = [float(value) for value in values if isinstance(value, int | float) and isfinite(value)]
    return median(known) if known else None


def _phase_of_steps(engine: Iterable[EnginePhase]) -> Phase:
    """What all steps together do; nothing where that of some is not known."""
    phases = {one.phase for one in engine}
    return "" if not phases or "unknown" in phases else "mixed" if len(phases) > 1 else phases.pop()  # type: ignore[return-value]


class _Seen:
    """What was seen on any rank, by what it tells: the sign that shows it best."""

    def __init__(self, table: Table[JobSign]) -> None:
        rows = zip(*(table.texts(name).values() for name in ("tells", "seen_as", "name")), table["calls"], strict=True)
        ordered = sorted(rows, key=lambda row: (_WAYS.index(str(row[1])), -row[3], str(row[2])))
        self._best: dict[str, tuple[str, str]] = {}
        for tells, seen_as, name, _ in ordered:
            self._best.setdefault(str(tells), (str(seen_as), str(name)))

    def first(self, *things: str) -> str:
        """The first of these that was seen; empty where none was."""
        return next((one for one in things if one in self._best), "")

    def sign(self, about: str, *things: str) -> tuple[JobEvidence, ...]:
        """What shows the first of these that was seen."""
        thing = self.first(*things)
        if not thing:
            return ()
        seen_as, name = self._best[thing]
        return (JobEvidence.model_validate({"about": about, "seen_as": seen_as, "name": name}),)


def _infer_stack(run: Run, seen: _Seen) -> tuple[str, tuple[JobEvidence, ...]]:
    of_megatron = run.parallel.source == "distributed_args"
    serves = "" if seen.first("backward") else seen.first(*_SERVING)
    stack = seen.first("verl") or serves or (of_megatron and "Megatron") or seen.first(*STACKS)
    if not stack and run.framework == "MindSpore":
        return "MindSpore", (JobEvidence(about="stack", seen_as="framework", name="MindSpore"),)
    if not stack and run.recorder == "msprof" and seen.first(_LOADED):
        return "AscendCL", seen.sign("stack", _LOADED)
    if stack == "Megatron" and not seen.first("Megatron"):
        return stack, (JobEvidence(about="stack", seen_as="layout", name="distributed_args"),)
    return stack or "", seen.sign("stack", stack or "")


def _infer_workload(run: Run, seen: _Seen, stack: str) -> JobKind:
    trains, generates = seen.first("backward"), seen.first(*_GENERATES)
    learns = stack == "verl" or seen.first(*_HALVES) or (trains and generates)
    if learns:
        return _infer_half(seen) or JobKind(workload="RL", signs=seen.sign("workload", "verl", *_HALVES, *_GENERATES))
    if trains:
        return JobKind(workload="training", signs=seen.sign("workload", "backward"))
    if generates or stack in _SERVING or seen.first(_LOADED):
        signs = seen.sign("workload", *_GENERATES, *_SERVING, _LOADED)
        return JobKind(workload="inference", phase=_infer_phase(seen), signs=signs)
    layers = [sign.name for kind in LAYERS for sign in seen.sign("workload", kind)]
    if run.steps and len(layers) > 1:
        sign = JobEvidence(about="workload", seen_as="forward", name=", ".join(layers))
        return JobKind(workload="inference", signs=(sign,))
    return JobKind()


def _infer_half(seen: _Seen) -> JobKind | None:
    """Reinforcement learning of which one half alone was recorded, by what ran on the device or what marks say.

    Lines of a serving engine in a capture that trains may be those that take new weights: the capture may hold both.
    """
    rolls, updates = seen.first("rollout", *_GENERATES), seen.first("update", "backward")
    if rolls and not updates:
        signs = seen.sign("workload", "rollout", *_GENERATES)
        return JobKind(workload="inference", half="rollout", phase=_infer_phase(seen), signs=signs)
    if updates and not rolls and not seen.first(*_SERVING):
        return JobKind(workload="training", half="update", signs=seen.sign("workload", "update", "backward"))
    return None


def _infer_phase(seen: _Seen) -> Phase:
    found = [phase for phase in ("prefill", "decode") if seen.first(phase)]
    name = "mixed" if len(found) > 1 else next(iter(found), "")
    return name if name in get_args(Phase) else ""  # type: ignore[return-value]
