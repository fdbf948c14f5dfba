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

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import Spans, covered_ns, span_at, union, whole_ns
from advisor.analysis.host.host import DEVICE_SOFTWARE, are_event_waits, launches_graph, updates_graph
from advisor.analysis.job.engine_borders import (
    FUNCTION,
    MARK,
    EngineTables,
    FoundSteps,
    RankTables,
    copies_of,
    find_engine_steps,
    find_steps_and_passes,
    function_begins,
    outermost_calls,
    passes_of,
    ranks_with_other_steps,
    steps_between,
    steps_of_launches,
)
from advisor.analysis.job.engine_phases import DECODE, MIXED, PHASES, UNKNOWN, StepSizes, sizes_of_steps
from advisor.facts.base import MISSING
from advisor.facts.derived import DecodeSize, EngineBorder, EngineStep, Gap, JobSign
from advisor.facts.observed import DeviceTask, HostCall, Kernel, Launch, StepWindow
from advisor.facts.table import Array, Table, Texts, ascending, values_at
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

_DECODE = re.compile(r"(?:execute_(?:\d+_)?context_0(?:\(.*?\))?_generation_|step\[DECODE bs=)(\d+)")
"""The mark of a step that reads no prompt, and for how many requests it generates."""
_COLUMNS = (
    *("rank", "engine_phase", "by", "steps", "answering", "preceded", "requests", "tokens", "apart_us", "idle_us"),
    *("host_wait_us", "long_pauses", "long_idle_us"),
)
_UNUSUAL = 5.0
"""A pause so many times as long as the usual one is none that comes back with each step."""
_WAITING = ("synchronise", "blocking_copy")
"""What calls do in which the host waits for the device."""
_PREPARED_NS = 50_000
"""Own: what is launched so soon after a wait was prepared before it; engines take a millisecond for that."""
_KNOWN_WORK = ("compile", "gc", "start_up")
"""Causes of idle time that say what the host did, whether requests were waiting or not."""


def engine_steps(
    run: RunOfRanks, idle: Table[Gap], told: EngineTables, launches: Table[Launch] | None
) -> Table[EngineStep]:
    """One row per rank and phase; none where steps were recorded otherwise, and where nothing keeps a cache.

    Between two steps the device idles from the last kernel of the earlier one to the first of the later; launched
    ahead, as with asynchronous scheduling, one follows the other. Of steps that were found by what repeats it is what
    idles from the choice of tokens to the first layer.

    Raises:
        FactMissing: Something keeps a cache, and on no rank anything tells where steps begin.
    """
    rows: list[tuple[object, ...]] = []
    untold = False
    for rank, found in find_engine_steps(run, told, launches).items():
        untold |= found is None
        if found is not None:
            lasts_us, mine = _lengths_by_border(found), idle.take(idle["rank"] == rank)
            untold_gaps = mine.take(~mine.texts("cause").isin(_KNOWN_WORK))
            own = RankTables.of(rank, told.kernels, launches, told.tasks)
            if found.layer_ns is None:
                lasts_us = _lengths_on_device(found, own, lasts_us)
            idle_us, untold_us = (_idle_before(found, own, gaps) for gaps in (mine, untold_gaps))
            rows += _by_phase(rank, found, lasts_us, idle_us, untold_us, _host_waits(rank, found, told.calls))
    if untold and not rows:
        raise FactMissing([EngineStep.table])
    columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
    given = dict(zip(_COLUMNS, columns, strict=True))
    return Table.build(
        EngineStep, **{name: Texts.of(v) if name in ("engine_phase", "by") else v for name, v in given.items()}
    )


def engine_borders(run: RunOfRanks, told: EngineTables, launches: Table[Launch] | None) -> Table[EngineBorder]:
    """One row per rank and begin of a step of an engine, in order of time; of ranks whose steps are no engine's one per
    pass that generates tokens within them."""
    begins = {rank: steps.border_ns for rank, steps in find_steps_and_passes(run, told, launches).items()}
    return Table.build(
        EngineBorder,
        rank=np.repeat(np.array([*begins], np.int64), [len(moments) for moments in begins.values()]),
        start_ns=np.concatenate([np.empty(0, np.int64), *begins.values()]),
    )


def _by_phase(  # noqa: PLR0917 - what is told of each step
    rank: int, steps: FoundSteps, lasts_us: Array, idle_us: Array, untold_us: Array, waits_us: Array
) -> Iterator[tuple[object, ...]]:
    """A row per phase, in their order; of `untold_us` of the idle time nothing tells what the host did."""
    groups = group_by(steps.sizes.phase)
    generates = np.append(False, np.isin(steps.sizes.phase, [DECODE, MIXED]))
    answering = groups.sums((generates[:-1] | (steps.sizes.phase == MIXED)).astype(float))
    preceded = groups.sums(np.isfinite(idle_us).astype(float))
    columns = [groups.medians(v) for v in (steps.sizes.requests, steps.sizes.tokens, lasts_us, idle_us, waits_us)]
    apart, usual = columns[2][groups.of], columns[3][groups.of]
    long = (untold_us > apart) & (untold_us > _UNUSUAL * usual)
    columns += [groups.sums(long.astype(float)), groups.sums(np.where(long, untold_us, 0.0))]
    for group, first in enumerate(groups.first.tolist()):
        phase = PHASES[int(steps.sizes.phase[first])]
        counts = float(groups.sizes[group]), float(answering[group]), float(preceded[group])
        yield (rank, phase, steps.by, *counts, *(float(column[group]) for column in columns))


def _host_waits(rank: int, steps: FoundSteps, calls: Table[HostCall] | None) -> Array:
    """How long the thread that runs each step waits for the device, from its begin to that of the next, µs; NaN of a
    last step that ends nowhere, and where the thread is not known or no call of it into the software of the device was
    recorded."""
    if calls is None:
        return np.full(len(steps.sizes.phase), np.nan)
    waits = _waits_between(steps.border_ns, _waiting_calls(_calls_of(calls, rank), steps.by))
    return waits if steps.layer_ns is not None else np.append(waits, np.nan)


def _waits_between(borders: Array, waiting: Table[HostCall] | None) -> Array:
    """From each border to the next: how long the thread that runs the steps of one rank waits for the device, µs."""
    if waiting is None:
        return np.full(len(borders) - 1, np.nan)
    waits = union(waiting["start_ns"], waiting["end_ns"])
    found: Array = covered_ns(waits, borders[:-1], borders[1:]) / 1e3
    return found


def _drains_between(borders: Array, mine: Table[HostCall], waiting: Table[HostCall] | None) -> Array:
    """From each border to the next: whether that thread waits, other than for an event, until the device is done, and
    prepares what comes next only then."""
    if waiting is None:
        return np.full(len(borders) - 1, np.nan)
    ends = waiting["end_ns"][~are_event_waits(waiting)]
    replays = ascending(mine["start_ns"][launches_graph(mine)])
    prepared = np.searchsorted(replays, ends) < np.searchsorted(replays, ends + _PREPARED_NS)
    return (_count_between(borders, ends[~prepared]) > 0).astype(np.float64)


def _waiting_calls(mine: Table[HostCall], by: str) -> Table[HostCall] | None:
    """The calls in which the thread that runs the steps of one rank waits for the device; None where the thread is not
    known, or no call of it into the software of the device was recorded."""
    running = _of_running_thread(mine, by)
    if not (running & mine.texts("kind").isin(DEVICE_SOFTWARE)).any():
        return None
    return mine.take(running & mine.texts("activity").isin(_WAITING) & (mine["end_ns"] != MISSING))


def _calls_of(calls: Table[HostCall], rank: int) -> Table[HostCall]:
    """The calls of one rank; as they are where there are no others, for they are many."""
    own = calls["rank"] == rank
    return calls if own.all() else calls.take(own)


def _of_running_thread(mine: Table[HostCall], by: str) -> Array:
    """Per call of one rank: whether it is of the thread that runs the steps of the engine. Where nothing marks them
    that is the one which calls most operators."""
    if by == "repetition":
        telling = mine["thread"][mine.texts("kind").isin(["operator"])]
    else:
        telling = outermost_calls(mine, MARK if by == "marks" else FUNCTION)["thread"]
    threads, times = np.unique(telling, return_counts=True)
    runs = threads[times.argmax()] if len(threads) else MISSING
    found: Array = (mine["thread"] == runs) & (mine["thread"] != MISSING)
    return found


def _lengths_by_border(steps: FoundSteps) -> Array:
    """From the begin of each step to that of the next, µs; NaN of a last one that ends nowhere."""
    apart = np.diff(steps.border_ns) / 1e3
    return apart if steps.layer_ns is not None else np.append(apart, np.nan)


def _lengths_on_device(steps: FoundSteps, own: RankTables, on_host: Array) -> Array:
    """The same for steps that the host marks, from the first kernel that each launched: a host that runs ahead leaves
    the device behind. As on the host where that is not known of both."""
    step = np.where(own.launched_ns != MISSING, steps_of_launches(steps.border_ns, own.launched_ns), -1)
    begun = np.full(len(steps.border_ns), np.inf)
    first = own.kernels["start_ns"].min(initial=np.iinfo(np.int64).max)
    np.minimum.at(begun, step[step >= 0], (own.kernels["start_ns"] - first)[step >= 0])
    begun[np.isinf(begun)] = np.nan
    apart = np.append(np.diff(begun), np.nan) / 1e3
    return np.where(apart >= 0, apart, on_host)


def _idle_before(steps: FoundSteps, own: RankTables, gaps: Table[Gap]) -> Array:
    """Idle time before each step, µs; NaN where nothing is known before it."""
    if steps.layer_ns is None:
        return _idle_before_steps(steps, own, gaps)
    return _idle_before_layers(steps.border_ns[:-1], steps.layer_ns, gaps)


def _idle_before_steps(steps: FoundSteps, own: RankTables, gaps: Table[Gap]) -> Array:
    """Idle time before each step that the host marks, µs; NaN of the first one, which nothing is known before.

    It lies between the kernels around the mark, whatever copies split it; or, of a host that is a little ahead, before
    the first kernel that it launched in the step. Of a graph whose kernels have no launch only the mark tells.
    """
    marks, start = steps.border_ns[1:], own.kernels["start_ns"]
    if not len(start):
        return np.append(np.nan, _idle_at(marks, gaps))
    of_kernel, later = steps_of_launches(steps.border_ns, own.launched_ns), np.arange(1, len(marks) + 1)
    first = np.searchsorted(of_kernel, later)
    known = values_at(of_kernel, np.where(first < len(start), first, -1), -1) == later
    idle, ended = _without_copies(gaps, own.copies), np.maximum.accumulate(start + whole_ns(own.kernels["duration_us"]))
    around = _idle_before_kernels(np.searchsorted(start, marks, "right"), start, ended, idle)
    held = span_at(_spans_of(gaps), marks) >= 0
    ahead = _idle_before_kernels(np.where(known, first, 0), start, ended, idle)
    return np.append(np.nan, np.maximum(np.where(held, around, 0.0), ahead))


def _idle_before_kernels(number: Array, start: Array, ended: Array, gaps: Table[Gap]) -> Array:
    """Idle time right before each of these kernels, µs; 0 before the first and behind the last."""
    inside = (number > 0) & (number < len(start))
    begins, ends = (
        values_at(ended, np.where(inside, number - 1, -1), 0),
        values_at(start, np.where(inside, number, -1), 0),
    )
    return _idle_within(begins, np.maximum(begins, ends), gaps)


def _idle_before_layers(begins: Array, layer_ns: Array, gaps: Table[Gap]) -> Array:
    """Idle time of each step that was found by what repeats, from its begin to its first layer, µs."""
    return _idle_within(begins, np.maximum(layer_ns, begins), gaps)


def _idle_within(begins: Array, ends: Array, gaps: Table[Gap]) -> Array:
    """Idle time from each begin to its end, µs."""
    found: Array = covered_ns(_spans_of(gaps), begins, ends) / 1e3
    return found


def _spans_of(gaps: Table[Gap]) -> Spans:
    order = np.argsort(gaps["start_ns"], kind="stable")
    start = gaps["start_ns"][order]
    return Spans(start, start + whole_ns(gaps["duration_us"][order]))


def _without_copies(gaps: Table[Gap], copies: Spans) -> Table[Gap]:
    """Those in which the device does not copy; what it copies is told apart from the pauses around it."""
    return gaps.take(span_at(copies, gaps["start_ns"]) < 0)


def decode_sizes(  # noqa: PLR0917 - the tables it rests on
    run: RunOfRanks,
    calls: Table[HostCall],
    launches: Table[Launch],
    idle: Table[Gap] | None,
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
    marks = outermost_calls(calls, MARK)
    barred = ranks_with_other_steps(run, windows, signs)
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
            own = RankTables.of(rank, ran, launches, tasks)
            found = _unmarked_on_host(calls.take(calls["rank"] == rank), own)
            untold |= found is None and own.keeps_cache
        if found is not None:
            own_calls = _calls_of(calls, rank)
            launched = np.unique(launches["host_start_ns"][launches["rank"] == rank])
            gaps = None if idle is None else _without_copies(idle.take(idle["rank"] == rank), copies_of(rank, tasks))
            rows += _by_size(rank, found, _told_of_steps(found, own_calls, launched, gaps))
    if untold and not rows:
        raise FactMissing([DecodeSize.table])
    columns = zip(*rows, strict=True) if rows else ((),) * len(_SIZE_COLUMNS)
    given = dict(zip(_SIZE_COLUMNS, columns, strict=True))
    return Table.build(DecodeSize, **{name: Texts.of(v) if name == "by" else v for name, v in given.items()})


_SIZE_COLUMNS = (
    *("rank", "by", "requests", "steps", "replayed", "launches", "apart_us"),
    *("replayed_idle_us", "eager_idle_us", "busy_us", "replays", "between_idle_us"),
    *("update_us", "update_idle_us", "host_wait_us", "drains"),
)


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


def _unmarked_on_host(calls: Table[HostCall], own: RankTables) -> _HostSteps | None:
    """Steps of one rank by the function that runs them, else by what repeats; None where neither tells."""
    border = function_begins(calls)
    if len(border):
        step = steps_of_launches(border, own.launched_ns)
        step = np.where(step < len(border) - 1, step, -1)
        return _sized("calls", border, sizes_of_steps(own.work, step, len(border) - 1))
    start = own.kernels["start_ns"]
    found = passes_of(own)
    if found is None:
        return None
    ended = np.searchsorted(start, found.border_ns) - 1
    last = np.maximum.accumulate(own.launched_ns)[ended]
    if (last == MISSING).any():
        return None
    return _sized("repetition", last + 1, sizes_of_steps(own.work, steps_between(found.border_ns, start), len(found)))


def _sized(by: str, border: Array, sizes: StepSizes) -> _HostSteps:
    alone = (sizes.phase == DECODE) & (sizes.tokens == sizes.requests)
    return _HostSteps(by, border, alone, np.isin(sizes.phase, [DECODE, UNKNOWN]), sizes.requests)


class _StepTimes(Struct, frozen=True):
    """What happens from the begin of each step on the host to that of the next."""

    replays: Array
    launched: Array
    """How many calls launch."""
    idle_us: Array
    between_idle_us: Array
    """Idle time from the first replay to the last one."""
    update_us: Array
    """From the first to the last call that brings captured tasks up to date; 0 without any."""
    update_idle_us: Array
    host_wait_us: Array
    drains: Array


def _told_of_steps(found: _HostSteps, own: Table[HostCall], launched: Array, gaps: Table[Gap] | None) -> _StepTimes:
    borders, start = found.border_ns, own["start_ns"]
    replaying = launches_graph(own)
    between = _first_to_last(borders, start[replaying], start[replaying])
    updating, waiting = updates_graph(own), _waiting_calls(own, found.by)
    update = _first_to_last(borders, start[updating], own["end_ns"][updating])

    def idle_within(spans: tuple[Array, Array]) -> Array:
        return np.full(len(spans[0]), np.nan) if gaps is None else _idle_within(*spans, gaps)

    return _StepTimes(
        _count_between(borders, start[replaying]),
        _count_between(borders, launched),
        idle_within((borders[:-1], borders[1:])),
        idle_within(between),
        (update[1] - update[0]) / 1e3,
        idle_within(update),
        _waits_between(borders, waiting),
        _drains_between(borders, own, waiting),
    )


def _first_to_last(borders: Array, begins: Array, ends: Array) -> tuple[Array, Array]:
    """From each border to the next: when the first of these begins and the last ends; twice the border without any."""
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    first, last = np.searchsorted(begins, borders[:-1]), np.searchsorted(begins, borders[1:]) - 1
    some, none = last >= first, borders[:-1]
    begun, ended = values_at(begins, np.where(some, first, -1), 0), values_at(ends, np.where(some, last, -1), 0)
    return np.where(some, begun, none), np.where(some, ended, none)


def _by_size(rank: int, found: _HostSteps, told: _StepTimes) -> Iterator[tuple[object, ...]]:
    """A row per number of requests; the last of those of which nothing tells how many they are."""
    replayed = told.replays > 0
    chosen = np.flatnonzero(np.where(replayed, found.may_generate, found.generates))
    lasts = np.diff(found.border_ns) / 1e3
    asked, group = np.unique(found.requests[chosen], return_inverse=True)
    for number, requests in enumerate(asked.tolist()):
        of = chosen[group == number]
        again, eager = of[replayed[of]], of[~replayed[of]]
        counts = len(of), len(again), told.launched[of].mean(), float(np.median(lasts[of]))
        idle = told.idle_us[again], told.idle_us[eager], (lasts - told.idle_us)[of]
        of_graphs = (told.replays, told.between_idle_us, told.update_us, told.update_idle_us)
        of_host = told.host_wait_us, told.drains
        means = map(_mean_of_known, (*idle, *(values[again] for values in (*of_graphs, *of_host))))
        yield rank, found.by, requests, *counts, *means


def _mean_of_known(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def _count_between(borders: Array, moments: Array) -> Array:
    """How many moments lie from each border to the next."""
    return np.diff(np.searchsorted(ascending(moments), borders, "left"))


def _idle_at(moments: Array, gaps: Table[Gap]) -> Array:
    """How long the gap lasts in which each moment lies, µs; 0 where the device is busy."""
    order = np.argsort(gaps["start_ns"], kind="stable")
    start, us = gaps["start_ns"][order], gaps["duration_us"][order]
    at = np.searchsorted(start, moments, side="right") - 1
    found = np.append(us, 0.0)[at]
    inside = (at >= 0) & (moments - np.append(start, 0)[at] < found * 1e3)
    return np.where(inside, found, 0.0)
