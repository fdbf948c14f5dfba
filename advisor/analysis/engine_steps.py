# SPDX-License-Identifier: Apache-2.0
"""Steps of a serving engine: how long they take and the device idles between them, by what they do, and which of them
replay a graph.

What says best where a step begins is taken: the marks that an engine sets around its steps; else the function of the
engine that runs one, where it was recorded; else what repeats on the device (`engine_passes`), which is an estimate.
The latter two only where no step was recorded, and nothing trains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from advisor.analysis.engine_passes import Passes, choices_of_tokens, find_passes
from advisor.analysis.engine_phases import (
    DECODE,
    MIXED,
    PHASES,
    PREFILL,
    UNKNOWN,
    PassWork,
    StepSizes,
    sizes_of_steps,
    work_of_passes,
)
from advisor.analysis.grouping import group_by, row_at
from advisor.analysis.host import launches_graph
from advisor.analysis.intervals import Spans, covered_ns, whole_ns
from advisor.analysis.job_signs import ENGINE_STEP
from advisor.facts.base import MISSING
from advisor.facts.derived import DecodeSize, EngineStep, Gap, JobSign
from advisor.facts.observed import DeviceTask, HostCall, Kernel, Launch, StepWindow
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

_MARK = re.compile(ENGINE_STEP)
_DECODE = re.compile(r"(?:execute_(?:\d+_)?context_0(?:\(.*?\))?_generation_|step\[DECODE bs=)(\d+)")
"""The mark of a step that reads no prompt, and for how many requests it generates."""
_VLLM = re.compile(r"execute_(?:\d+_)?context_(\d+)(?:\((?:sq)?(\d*).*?\))?_generation_(\d+)(?:\((?:sq)?(\d*).*?\))?")
"""Requests whose prompts are read and tokens of these, then the same of those for which tokens are generated."""
_SGLANG = re.compile(r"step\[(\w+) bs=(\d+)(?: toks=(\d+))?")
_SGLANG_PHASES = {"EXTEND": PREFILL, "DECODE": DECODE, "MIXED": MIXED}
_FUNCTION = re.compile(
    r"prepare input$|gpu_model_runner: preprocess$"
    r"|(?:.*/)?vllm(_\w+)?/\S*model_runner\w*\.py\(\d+\): execute_model$"
    r"|(?:.*/)?sglang/srt/model_executor/model_runner\.py\(\d+\): forward$"
    r"|(?:.*/)?mindie_llm/text_generator/generator\.py\(\d+\): generate_token$"
)
"""What an engine calls once in each step: the first of its own ranges (vLLM with VLLM_CUSTOM_SCOPES_FOR_PROFILING, of
vLLM-Ascend and of vLLM), or the function of Python that runs a step."""
_COLUMNS = ("rank", "engine_phase", "by", "steps", "requests", "tokens", "apart_us", "idle_us")


class _Steps(Struct, frozen=True):
    """Steps of one rank; an entry per step."""

    by: str
    sizes: StepSizes
    apart_us: Array
    """From its begin to that of the next; NaN of a last one that ends nowhere."""
    idle_us: Array
    """Idle time before it; NaN of a first one that nothing is known before."""


def engine_steps(  # noqa: PLR0917 - the tables it rests on
    run: RunOfRanks,
    idle: Table[Gap],
    kernels: Table[Kernel],
    calls: Table[HostCall] | None,
    launches: Table[Launch] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    signs: Table[JobSign] | None,
) -> Table[EngineStep]:
    """One row per rank and phase; none where steps were recorded otherwise, and where nothing keeps a cache.

    Between two steps the device idles where a gap holds the moment at which the later one begins on the host: launched
    ahead, as with asynchronous scheduling, a step begins while the device is busy. Of steps that were found by what
    repeats it is what idles from the choice of tokens to the first layer.

    Raises:
        FactMissing: Something keeps a cache, and on no rank anything tells where steps begin.
    """
    made = Table.empty(HostCall) if calls is None else calls
    marks = _outermost_calls(made, _MARK)
    barred = _ranks_with_other_steps(run, windows, signs)
    rows: list[tuple[object, ...]] = []
    untold = False
    for rank in np.unique(np.concatenate([kernels["rank"], marks["rank"]])).tolist():
        gaps, mine = idle.take(idle["rank"] == rank), marks.take(marks["rank"] == rank)
        if len(mine):
            rows += _by_phase(rank, _steps_of_marks(mine, gaps))
        elif rank not in barred and (run.job.workload != "training") and not run.steps:
            own = _RankTables.of(rank, kernels, launches, tasks)
            begins = np.unique(_outermost_calls(made.take(made["rank"] == rank), _FUNCTION)["start_ns"])
            found = _steps_of_functions(begins, own, gaps) if len(begins) else _steps_that_repeat(own, gaps)
            rows += _by_phase(rank, found) if found is not None else ()
            untold |= found is None and bool(own.work.stores.any() or own.work.attends.any())
    if untold and not rows:
        raise FactMissing([EngineStep.table])
    columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
    given = dict(zip(_COLUMNS, columns, strict=True))
    return Table.build(
        EngineStep, **{name: Texts.of(v) if name in ("engine_phase", "by") else v for name, v in given.items()}
    )


def _ranks_with_other_steps(
    run: RunOfRanks, windows: Table[StepWindow] | None, signs: Table[JobSign] | None
) -> set[int]:
    """The ranks whose steps were recorded, or that train."""
    marked = set() if windows is None else set(windows["rank"].tolist())
    return marked | (set() if signs is None else set(signs["rank"][signs.texts("tells").isin(["backward"])].tolist()))


def _by_phase(rank: int, steps: _Steps) -> Iterator[tuple[object, ...]]:
    """A row per phase, in their order."""
    groups = group_by(steps.sizes.phase)
    columns = [groups.medians(v) for v in (steps.sizes.requests, steps.sizes.tokens, steps.apart_us, steps.idle_us)]
    for group, first in enumerate(groups.first.tolist()):
        phase = PHASES[int(steps.sizes.phase[first])]
        yield (rank, phase, steps.by, float(groups.sizes[group]), *(float(column[group]) for column in columns))


def _steps_of_marks(marks: Table[HostCall], idle: Table[Gap]) -> _Steps:
    names = marks.texts("name")
    said = np.array([*map(_read_mark, names.names), (UNKNOWN, np.nan, np.nan)], float)[names.codes]
    begins, first = np.unique(marks["start_ns"], return_index=True)
    sizes = StepSizes(said[first, 0].astype(np.int64), said[first, 1], said[first, 2])
    return _steps_from("marks", begins, sizes, idle)


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


def _steps_from(by: str, begins: Array, sizes: StepSizes, idle: Table[Gap]) -> _Steps:
    """Steps whose begins on the host are known."""
    unknown = [np.nan]
    return _Steps(by, sizes, np.append(np.diff(begins) / 1e3, unknown), np.append(unknown, _idle_at(begins[1:], idle)))


class _RankTables(Struct, frozen=True):
    """What one rank ran, in the order in which kernels began."""

    kernels: Table[Kernel]
    work: PassWork
    launched_ns: Array
    """When the host launched each kernel; missing where not linked."""
    exchanges_ns: Array
    """When it copied from or to the host."""

    @classmethod
    def of(
        cls, rank: int, kernels: Table[Kernel], launches: Table[Launch] | None, tasks: Table[DeviceTask] | None
    ) -> _RankTables:
        mine = kernels.take((kernels["rank"] == rank) & (kernels["start_ns"] != MISSING)).sorted_by("start_ns")
        at = np.full(len(mine), MISSING)
        if launches is not None and len(launches):
            place = row_at(launches["rank"], launches["device_start_ns"], mine["rank"], mine["start_ns"])
            at = values_at(launches["host_start_ns"], place)
        copies = np.empty(0, np.int64)
        if tasks is not None:
            outside = tasks.texts("kind").isin(["copy"]) & ~tasks.texts("direction").isin(["d2d"])
            copies = tasks["start_ns"][outside & (tasks["rank"] == rank)]
        return cls(mine, work_of_passes(mine), at, copies)


def _steps_of_functions(begins: Array, own: _RankTables, idle: Table[Gap]) -> _Steps:
    """Steps that begin where a function of the engine does."""
    return _steps_from("calls", begins, sizes_of_steps(own.work, _steps_of_launches(begins, own), len(begins)), idle)


def _steps_of_launches(begins: Array, own: _RankTables) -> Array:
    """Per kernel: in which step the host launched it; one without a launch follows those before it."""
    known = own.launched_ns != MISSING
    step = np.where(known, np.searchsorted(begins, own.launched_ns, side="right") - 1, -1)
    return np.maximum.accumulate(step) if len(step) else step


def _steps_that_repeat(own: _RankTables, idle: Table[Gap]) -> _Steps | None:
    found = _passes_of(own)
    if found is None:
        return None
    sizes = sizes_of_steps(own.work, _steps_between(found, own.kernels["start_ns"]), len(found))
    return _Steps("repetition", sizes, np.diff(found.border_ns) / 1e3, _idle_before_layers(found, idle))


def _passes_of(own: _RankTables) -> Passes | None:
    start = own.kernels["start_ns"]
    end = start + whole_ns(own.kernels["duration_us"])
    return find_passes(start, end, own.work, choices_of_tokens(own.kernels), own.exchanges_ns)


def _steps_between(found: Passes, start: Array) -> Array:
    """Per kernel: in which pass it begins; -1 in none."""
    step = np.searchsorted(found.border_ns, start, side="right") - 1
    return np.where(step < len(found), step, -1)


def _idle_before_layers(found: Passes, idle: Table[Gap]) -> Array:
    """Per pass: how long the device idles until its first layer, µs."""
    order = np.argsort(idle["start_ns"], kind="stable")
    start = idle["start_ns"][order]
    free = Spans(start, start + whole_ns(idle["duration_us"][order]))
    return covered_ns(free, found.border_ns[:-1], np.maximum(found.layer_ns, found.border_ns[:-1])) / 1e3


def _outermost_calls(calls: Table[HostCall], wanted: re.Pattern[str]) -> Table[HostCall]:
    """The calls of such a name, by rank and time; one inside another is of the same step."""
    names = calls.texts("name")
    marks = calls.take(names.hits(map(bool, map(wanted.match, names.names))) & (calls["start_ns"] != MISSING))
    marks = marks.sorted_by("rank", "start_ns")
    inside = np.zeros(len(marks), bool)
    for rank in np.unique(marks["rank"]).tolist():
        mine = marks["rank"] == rank
        reach = np.maximum.accumulate(marks["end_ns"][mine])
        inside[mine] = np.append(False, marks["start_ns"][mine][1:] < reach[:-1])
    return marks.take(~inside)


def decode_sizes(  # noqa: PLR0917 - the tables it rests on
    run: RunOfRanks,
    calls: Table[HostCall],
    launches: Table[Launch],
    kernels: Table[Kernel] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    signs: Table[JobSign] | None,
) -> Table[DecodeSize]:
    """One row per rank and number of requests for which steps generate that read no prompt.

    What the host launches from the begin of a step to that of the next belongs to it, whatever thread does so; the last
    step of a rank ends nowhere and is left out. Where no marks say what a step does, one that replays a graph counts
    unless its sizes tell that it reads prompts, and one that does not only where each request has one row in all
    products: nothing fills its batch up.

    Raises:
        FactMissing: Something keeps a cache, and on no rank anything tells where steps begin.
    """
    marks = _outermost_calls(calls, _MARK)
    replays = launches_graph(calls)
    barred = _ranks_with_other_steps(run, windows, signs)
    told = run.job.workload != "training" and not run.steps
    ran = Table.empty(Kernel) if kernels is None else kernels
    rows: list[tuple[object, ...]] = []
    untold = False
    for rank in np.unique(np.concatenate([ran["rank"], marks["rank"]])).tolist():
        mine = marks.take(marks["rank"] == rank)
        found: _HostSteps | None = None
        if len(mine):
            found = _marked_on_host(mine)
        elif told and rank not in barred:
            own = _RankTables.of(rank, ran, launches, tasks)
            found = _unmarked_on_host(calls.take(calls["rank"] == rank), own)
            untold |= found is None and bool(own.work.stores.any() or own.work.attends.any())
        if found is not None:
            replayed = _count_between(found.border_ns, calls["start_ns"][replays & (calls["rank"] == rank)])
            launched = _count_between(found.border_ns, launches["host_start_ns"][launches["rank"] == rank])
            rows += _by_size(rank, found, replayed > 0, launched)
    if untold and not rows:
        raise FactMissing([DecodeSize.table])
    columns = zip(*rows, strict=True) if rows else ((),) * len(_SIZE_COLUMNS)
    given = dict(zip(_SIZE_COLUMNS, columns, strict=True))
    return Table.build(DecodeSize, **{name: Texts.of(v) if name == "by" else v for name, v in given.items()})


_SIZE_COLUMNS = ("rank", "by", "requests", "steps", "replayed", "launches", "apart_us")


class _HostSteps(Struct, frozen=True):
    """Steps of one rank as the host launches them, one after the other."""

    by: str
    border_ns: Array
    """When each begins, and when the last ends; one more than there are steps."""
    generates: Array
    """Whether a step reads no prompt, were it launched kernel by kernel."""
    may_generate: Array
    """Whether nothing says that it reads a prompt."""
    requests: Array


def _marked_on_host(marks: Table[HostCall]) -> _HostSteps:
    sizes = marks.texts("name")
    matches = [_DECODE.match(name) for name in sizes.names]
    asked = np.array([*(float(match[1]) if match else np.nan for match in matches), np.nan])[sizes.codes][:-1]
    return _HostSteps("marks", marks["start_ns"], asked > 0, asked > 0, asked)


def _unmarked_on_host(calls: Table[HostCall], own: _RankTables) -> _HostSteps | None:
    """Steps of one rank by the function that runs them, else by what repeats; None where neither tells."""
    border = np.unique(_outermost_calls(calls, _FUNCTION)["start_ns"])
    if len(border):
        step = _steps_of_launches(border, own)
        step = np.where(step < len(border) - 1, step, -1)
        return _sized("calls", border, sizes_of_steps(own.work, step, len(border) - 1))
    start = own.kernels["start_ns"]
    found = _passes_of(own)
    if found is None:
        return None
    ended = np.searchsorted(start, found.border_ns) - 1
    last = np.maximum.accumulate(own.launched_ns)[ended]
    if (last == MISSING).any():
        return None
    return _sized("repetition", last + 1, sizes_of_steps(own.work, _steps_between(found, start), len(found)))


def _sized(by: str, border: Array, sizes: StepSizes) -> _HostSteps:
    alone = (sizes.phase == DECODE) & (sizes.tokens == sizes.requests)
    return _HostSteps(by, border, alone, np.isin(sizes.phase, [DECODE, UNKNOWN]), sizes.requests)


def _by_size(rank: int, found: _HostSteps, replayed: Array, launched: Array) -> Iterator[tuple[object, ...]]:
    """A row per number of requests; the last of those of which nothing tells how many they are."""
    chosen = np.flatnonzero(np.where(replayed, found.may_generate, found.generates))
    lasts = np.diff(found.border_ns) / 1e3
    asked, group = np.unique(found.requests[chosen], return_inverse=True)
    for number, requests in enumerate(asked.tolist()):
        of = chosen[group == number]
        mid = float(np.median(lasts[of]))
        yield rank, found.by, requests, len(of), replayed[of].sum(), launched[of].mean(), mid


def _count_between(borders: Array, moments: Array) -> Array:
    """How many moments lie from each border to the next."""
    return np.diff(np.searchsorted(np.sort(moments), borders, "left"))


def _idle_at(moments: Array, gaps: Table[Gap]) -> Array:
    """How long the gap lasts in which each moment lies, µs; 0 where the device is busy."""
    order = np.argsort(gaps["start_ns"], kind="stable")
    start, us = gaps["start_ns"][order], gaps["duration_us"][order]
    at = np.searchsorted(start, moments, side="right") - 1
    found = np.append(us, 0.0)[at]
    inside = (at >= 0) & (moments - np.append(start, 0)[at] < found * 1e3)
    return np.where(inside, found, 0.0)
