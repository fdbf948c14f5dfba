# SPDX-License-Identifier: Apache-2.0
"""Where the steps of a serving engine begin on one rank, what each does, and which of them launched a task.

What says best where a step begins is taken: the marks that an engine sets around its steps; else the function of the
engine that runs one, where it was recorded; else what repeats on the device (`engine_passes`), which is an estimate.
The latter two only where no step was recorded, and nothing trains. What generates tokens within recorded steps, or
beside a training as in reinforcement learning, is found by what repeats there (`find_generating_passes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.arrays.intervals import Spans, union, whole_ns
from advisor.analysis.job.engine_passes import LEAST, Passes, choices_of_tokens, find_passes
from advisor.analysis.job.engine_phases import (
    DECODE,
    MIXED,
    PREFILL,
    UNKNOWN,
    PassWork,
    StepSizes,
    are_named,
    reach_cache,
    sizes_of_steps,
    work_of_passes,
)
from advisor.analysis.job.job_signs import ENGINE_STEP, OPERATORS
from advisor.facts.base import MISSING
from advisor.facts.derived import JobSign
from advisor.facts.observed import DeviceTask, HostCall, Kernel, Launch, StepWindow
from advisor.facts.table import Array, Table, values_at
from advisor.model.run_of_ranks import RunOfRanks

MARK = re.compile(ENGINE_STEP)
_VLLM = re.compile(r"execute_(?:\d+_)?context_(\d+)(?:\((?:sq)?(\d*+).*?\))?_generation_(\d+)(?:\((?:sq)?(\d*+).*?\))?")
"""Requests whose prompts are read and tokens of these, then the same of those for which tokens are generated."""
_SGLANG = re.compile(r"step\[(\w+) bs=(\d+)(?: toks=(\d+))?")
_SGLANG_PHASES = {"EXTEND": PREFILL, "DECODE": DECODE, "MIXED": MIXED}
FUNCTION = re.compile(
    r"prepare input$|gpu_model_runner: preprocess$"
    r"|(?>(?:.*/)?vllm(?:_\w+)?/)(?>\S*model_runner)\w*\.py\(\d+\): execute_model$"
    r"|(?:.*/)?sglang/srt/model_executor/model_runner\.py\(\d+\): forward$"
    r"|(?:.*/)?mindie_llm/text_generator/generator\.py\(\d+\): generate_token$"
)
"""What an engine calls once in each step: the first of its own ranges (vLLM with VLLM_CUSTOM_SCOPES_FOR_PROFILING, of
vLLM-Ascend and of vLLM), or the function of Python that runs a step. Of several folders `vllm` in a path only the last
is looked at: no earlier one fits where it does not."""


class EngineTables(NamedTuple):
    """What tells, with the launches, where steps of an engine begin."""

    kernels: Table[Kernel]
    calls: Table[HostCall] | None
    tasks: Table[DeviceTask] | None
    windows: Table[StepWindow] | None
    signs: Table[JobSign] | None


class FoundSteps(Struct, frozen=True):
    """Steps of one rank, in order of time."""

    by: str
    sizes: StepSizes
    border_ns: Array
    """When each begins on the host; by repetition when each begins on the device, and when the last ends."""
    layer_ns: Array | None = None
    """By repetition: when the first layer of each begins on the device."""
    beside_others: bool = False
    """Whether these are passes within steps that do more than generate."""

    def steps_at(self, launched: Array, started: Array) -> Array:
        """Per task in the order in which the device began them: the step that launched it; -1 for none.

        `launched` is when the host did so. A task of which that is not known follows those before it.
        """
        if self.layer_ns is not None:
            return steps_between(self.border_ns, started)
        return steps_of_launches(self.border_ns, launched)


def find_engine_steps(
    run: RunOfRanks, told: EngineTables, launches: Table[Launch] | None
) -> Mapping[int, FoundSteps | None]:
    """Each rank with its steps; None where something keeps a cache and nothing tells where they begin.

    A rank that keeps none, that trains or whose steps were recorded otherwise is left out. Several derivations begin
    with it, so it is worked out once for the same tables.
    """
    return told.kernels.once(_steps_by_rank, run, launches, *told[1:])


def _steps_by_rank(
    kernels: Table[Kernel], run: RunOfRanks, launches: Table[Launch] | None, *others: Any
) -> Mapping[int, FoundSteps | None]:
    told = EngineTables(kernels, *others)
    calls = Table.empty(HostCall) if told.calls is None else told.calls
    steps: dict[int, FoundSteps | None] = {}
    marks = outermost_calls(calls, MARK)
    barred = ranks_with_other_steps(run, told.windows, told.signs)
    may_serve = run.job.workload != "training" and not run.steps
    for rank in np.unique(np.concatenate([kernels["rank"], marks["rank"]])).tolist():
        mine = marks.take(marks["rank"] == rank)
        if len(mine):
            steps[rank] = _steps_of_marks(mine)
        elif may_serve and rank not in barred:
            own = RankTables.of(rank, kernels, launches, told.tasks)
            begins = function_begins(calls.take(calls["rank"] == rank))
            found = _steps_of_functions(begins, own) if len(begins) else _steps_that_repeat(own)
            if found is not None or own.keeps_cache:
                steps[rank] = found
    return steps


def find_generating_passes(
    run: RunOfRanks, told: EngineTables, launches: Table[Launch] | None
) -> Mapping[int, FoundSteps]:
    """Ranks without steps of an engine that generate tokens in some part of what was recorded, with their passes.

    They are looked for in each recorded step, and before and after what a backward pass computes. Between two such
    parts lies something else, whose phase is -1. Worked out once for the same tables.
    """
    return told.kernels.once(_passes_by_rank, run, launches, *told[1:])


def find_steps_and_passes(
    run: RunOfRanks, told: EngineTables, launches: Table[Launch] | None
) -> Mapping[int, FoundSteps]:
    """Each rank of which it is known where steps of an engine begin, or passes that generate within its steps."""
    found = {**find_engine_steps(run, told, launches), **find_generating_passes(run, told, launches)}
    return {rank: steps for rank, steps in sorted(found.items()) if steps is not None}


def _passes_by_rank(
    kernels: Table[Kernel], run: RunOfRanks, launches: Table[Launch] | None, *others: Any
) -> Mapping[int, FoundSteps]:
    if run.job.workload == "training":
        return {}
    told = EngineTables(kernels, *others)
    known = find_engine_steps(run, told, launches)
    found: dict[int, FoundSteps] = {}
    keeping = kernels["rank"][reach_cache(kernels) & (kernels["start_ns"] != MISSING)]
    for rank in sorted(set(distinct_ranks(keeping).tolist()) - known.keys()):
        passes = _passes_of_parts(RankTables.of(rank, kernels, launches, told.tasks))
        if passes is not None:
            found[rank] = passes
    return found


def _passes_of_parts(own: RankTables) -> FoundSteps | None:
    """The passes of all parts of one rank that generate; None where there are none."""
    parts = [found for rows in _parts_that_choose(own) if (found := _steps_that_repeat(own.take(rows))) is not None]
    if not parts:
        return None
    gaps = [np.array([-1])] * (len(parts) - 1) + [np.empty(0, np.int64)]
    unknown = [np.full(len(gap), np.nan) for gap in gaps]

    def joined(name: str, between: list[Array]) -> Array:
        held = [getattr(part.sizes, name) for part in parts]
        return np.concatenate([one for pair in zip(held, between, strict=True) for one in pair])

    sizes = StepSizes(joined("phase", gaps), joined("requests", unknown), joined("tokens", unknown))
    borders = np.concatenate([part.border_ns for part in parts])
    layers = np.concatenate([part.layer_ns for part in parts if part.layer_ns is not None])
    return FoundSteps("repetition", sizes, borders, layers, beside_others=True)


def _parts_that_choose(own: RankTables) -> Iterator[Array]:
    """Kernels of one rank between two that a backward pass computes, or of one step: those of each stretch with enough
    choices of tokens, from the first layer that reaches its cache until the last choice."""
    backward = are_named(own.kernels, lambda name: "backward" in OPERATORS.told_by(name))
    part = group_by(own.kernels["step"], np.cumsum(backward)).of
    chooses, caches = choices_of_tokens(own.kernels), own.work.stores | own.work.attends
    for one in np.flatnonzero(np.bincount(part[chooses]) > LEAST).tolist():
        rows = np.flatnonzero(part == one)
        first, last = (rows[mask[rows]] for mask in (caches, chooses))
        if len(first):
            yield rows[(rows >= first[0]) & (rows <= last[-1])]


def ranks_with_other_steps(
    run: RunOfRanks, windows: Table[StepWindow] | None, signs: Table[JobSign] | None
) -> set[int]:
    """The ranks whose steps were recorded, or that train."""
    marked = set() if windows is None else set(windows["rank"].tolist())
    return marked | (set() if signs is None else set(signs["rank"][signs.texts("tells").isin(["backward"])].tolist()))


def _steps_of_marks(marks: Table[HostCall]) -> FoundSteps:
    names = marks.texts("name")
    said = np.array([*map(_read_mark, names.names), (UNKNOWN, np.nan, np.nan)], float)[names.codes]
    begins, first = np.unique(marks["start_ns"], return_index=True)
    return FoundSteps("marks", StepSizes(said[first, 0].astype(np.int64), said[first, 1], said[first, 2]), begins)


def _read_mark(name: str) -> tuple[float, float, float]:
    """The phase, requests and tokens that a mark says."""
    if found := _VLLM.match(name):
        read, made = float(found[1]), float(found[3])
        phase = MIXED if read and made else PREFILL if read else DECODE if made else UNKNOWN
        return phase, read + made, sum(float(found[place] or "nan") for place in (2, 4))
    if found := _SGLANG.match(name):
        phase, requests = _SGLANG_PHASES.get(found[1], UNKNOWN), float(found[2])
        return phase, requests, float(found[3] or (requests if phase == DECODE else "nan"))
    return UNKNOWN, np.nan, np.nan


class RankTables(Struct, frozen=True):
    """What one rank ran, in the order in which kernels began."""

    kernels: Table[Kernel]
    work: PassWork
    launched_ns: Array
    """When the host launched each kernel; missing where not linked."""
    exchanges_ns: Array
    """When it copied from or to the host."""
    copies: Spans
    """When the device copied, from wherever to wherever."""

    @property
    def keeps_cache(self) -> bool:
        """Whether anything keeps keys and values for later tokens, or attends to what is kept."""
        return bool(self.work.stores.any() or self.work.attends.any())

    def take(self, rows: Array) -> RankTables:
        """Some of its kernels, in their order; the copies are those of the rank."""
        chosen = self.kernels.take(rows), self.work.take(rows), self.launched_ns[rows]
        return RankTables(*chosen, self.exchanges_ns, self.copies)

    @classmethod
    def of(
        cls, rank: int, kernels: Table[Kernel], launches: Table[Launch] | None, tasks: Table[DeviceTask] | None
    ) -> RankTables:
        mine = kernels.take((kernels["rank"] == rank) & (kernels["start_ns"] != MISSING)).sorted_by("start_ns")
        at = np.full(len(mine), MISSING)
        if launches is not None and len(launches):
            place = row_at(launches["rank"], launches["device_start_ns"], mine["rank"], mine["start_ns"])
            at = values_at(launches["host_start_ns"], place)
        exchanges = np.empty(0, np.int64)
        if tasks is not None:
            outside = tasks.texts("kind").isin(["copy"]) & ~tasks.texts("direction").isin(["d2d"])
            exchanges = tasks["start_ns"][outside & (tasks["rank"] == rank)]
        return cls(mine, work_of_passes(mine), at, exchanges, copies_of(rank, tasks))


def copies_of(rank: int, tasks: Table[DeviceTask] | None) -> Spans:
    """When the device of one rank copied."""
    if tasks is None:
        return Spans.none()
    timed = (tasks["start_ns"] != MISSING) & (tasks["end_ns"] != MISSING)
    own = tasks.take(tasks.texts("kind").isin(["copy"]) & (tasks["rank"] == rank) & timed)
    return union(own["start_ns"], own["end_ns"])


def function_begins(calls: Table[HostCall]) -> Array:
    """When the engine calls its function that runs a step; `calls` are those of one rank."""
    return np.unique(outermost_calls(calls, FUNCTION)["start_ns"])


def _steps_of_functions(begins: Array, own: RankTables) -> FoundSteps:
    """Steps that begin where a function of the engine does."""
    step = steps_of_launches(begins, own.launched_ns)
    return FoundSteps("calls", sizes_of_steps(own.work, step, len(begins)), begins)


def steps_of_launches(begins: Array, launched: Array) -> Array:
    """Per task in order of its start: in which step the host launched it; one of which that is not known follows those
    before it."""
    step = np.where(launched != MISSING, np.searchsorted(begins, launched, side="right") - 1, -1)
    return np.maximum.accumulate(step) if len(step) else step


def _steps_that_repeat(own: RankTables) -> FoundSteps | None:
    found = passes_of(own)
    if found is None:
        return None
    sizes = sizes_of_steps(own.work, steps_between(found.border_ns, own.kernels["start_ns"]), len(found))
    return FoundSteps("repetition", sizes, found.border_ns, found.layer_ns)


def passes_of(own: RankTables) -> Passes | None:
    """The whole passes of one rank, found by what repeats; None where they cannot be told."""
    start = own.kernels["start_ns"]
    end = start + whole_ns(own.kernels["duration_us"])
    return find_passes(start, end, own.work, choices_of_tokens(own.kernels), own.exchanges_ns)


def steps_between(borders: Array, moments: Array) -> Array:
    """Per moment: between which borders it lies; -1 outside of all."""
    step = np.searchsorted(borders, moments, side="right") - 1
    return np.where(step < len(borders) - 1, step, -1)


def outermost_calls(calls: Table[HostCall], wanted: re.Pattern[str]) -> Table[HostCall]:
    """The calls of such a name, by rank and time; one inside another is of the same step."""
    names = calls.texts("name")
    marks = calls.take(names.passing(wanted.match) & (calls["start_ns"] != MISSING))
    marks = marks.sorted_by("rank", "start_ns")
    inside = np.zeros(len(marks), bool)
    for rank in np.unique(marks["rank"]).tolist():
        mine = marks["rank"] == rank
        reach = np.maximum.accumulate(marks["end_ns"][mine])
        inside[mine] = np.append(False, marks["start_ns"][mine][1:] < reach[:-1])
    return marks.take(~inside)
