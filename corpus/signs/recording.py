# SPDX-License-Identifier: Apache-2.0
"""Signs of how a capture was made: what the profiler was told to record, of which ranks and when, and what was lost."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import corpus
from corpus import gpu_traces
from corpus.events import Job, Layout, RankTrace
from corpus.signs import Sign, Write
from corpus.signs.captures import Row, about, edit_json, edit_rows, write, write_setup
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS, Setup

_MODEL = Transformer(layers=4, steps=3, vocabulary=2048, trimmings=True)
_ALONE = replace(WORKLOADS["single"], workload=_MODEL)
_PAIR = replace(WORKLOADS["dense"], workload=_MODEL, layout=Layout(dp=2))
_SECOND_NS = 10**9
_OTHER_PROCESS = 9999
_BUCKETS_US = (5000, 12000, 30000, 55000, 90000)
"""When each bucket is reduced; ranks whose calls are as far apart throughout would look like clocks that differ."""

Change = Callable[[list[RankTrace]], list[RankTrace]]


@cache
def _pair() -> Job:
    return corpus.job("healthy", seed=11, setup=replace(_PAIR, name=""))


def _setup(setup: Setup, **how: Any) -> Write:
    return lambda folder: write_setup(folder, setup, **how)


def _case(case: str, **how: Any) -> Write:
    return lambda folder: write(folder, case, **how)


def _ranks(change: Change = lambda ranks: ranks) -> Write:
    """Two ranks, of which this is what was recorded."""
    return lambda folder: corpus.write(replace(_pair(), ranks=change(copy.deepcopy(_pair().ranks))), folder)


# When ranks were recorded


_MOMENTS = frozenset({"start", "end", "launch_start", "time", "released"})


def _later(trace: RankTrace, ns: int) -> RankTrace:
    """The same recording, made so much later."""
    moved = copy.deepcopy(trace)
    seen: set[int] = set()
    for name in ("calls", "tasks", "collectives", "memory", "allocations", "modules"):
        for one in getattr(moved, name):
            _move(one, ns, seen)
    moved.frequency = [(moment + ns, mhz) for moment, mhz in moved.frequency]
    moved.end += ns
    return moved


def _move(one: object, ns: int, seen: set[int]) -> None:
    """Moves an event and those that belong to it, each once; what never happened stays at -1."""
    if id(one) in seen or not is_dataclass(one):
        return
    seen.add(id(one))
    for field in fields(one):
        held = getattr(one, field.name)
        if field.name in _MOMENTS and isinstance(held, int) and held >= 0:
            setattr(one, field.name, held + ns)
        elif isinstance(held, list):
            for part in held:
                _move(part, ns, seen)
        elif field.name in ("origin", "task"):
            _move(held, ns, seen)


def _second_later(ns: int) -> Change:
    return lambda ranks: [ranks[0], _later(ranks[1], ns)]


def _copied(ns: int) -> Change:
    """The second rank has what the first recorded, so much later."""
    return lambda ranks: [ranks[0], replace(_later(ranks[0], ns), rank=1, device=1, pid=ranks[1].pid)]


def _in_steps(trace: RankTrace, first: int, last: int) -> RankTrace:
    """What is left where only these of its steps were recorded."""
    windows = {int(call.name.split("#")[1]): call for call in trace.steps()}
    begin, end = windows[first].start, windows[last].end
    return replace(
        trace,
        calls=[call for call in trace.calls if begin <= call.start <= end],
        tasks=[task for task in trace.tasks if first <= task.step <= last],
        collectives=[one for one in trace.collectives if first <= one.step <= last],
        memory=[one for one in trace.memory if begin <= one.time <= end],
        allocations=[one for one in trace.allocations if begin <= one.time <= end],
        end=end,
    )


def _held_steps(*steps: tuple[int, int]) -> Write:
    """Two ranks of a job of six steps, each with what it recorded of them, counted from 0."""

    def written(folder: Path) -> None:
        job = corpus.job("healthy", seed=11, setup=replace(_PAIR, workload=replace(_MODEL, layers=2, steps=6), name=""))
        first = _MODEL.first_step
        cut = [_in_steps(rank, first + since, first + until)
               for rank, (since, until) in zip(job.ranks, steps, strict=True)]  # fmt: skip
        corpus.write(replace(job, ranks=cut), folder)

    return written


def _recorded_again(later_ns: int) -> Write:
    """The first rank was recorded a second time, so much later, by another process."""

    def written(folder: Path) -> None:
        _ranks()(folder)
        again = replace(_later(_pair().ranks[0], later_ns), pid=_OTHER_PROCESS)
        corpus.write(replace(_pair(), ranks=[again]), folder)
        (second,) = folder.glob(f"*_{_OTHER_PROCESS}_*")
        edit_json(second, "profiler_info*.json", lambda info: _began_later(info, later_ns))

    return written


def _began_later(info: dict[str, dict[str, int]], ns: int) -> None:
    info["start_info"]["start_monotonic"] += ns


def _first_rank_alone(folder: Path) -> None:
    _ranks()(folder)
    for info in list(folder.rglob("profiler_info*.json")):
        if int(json.loads(info.read_bytes())["rank_id"]):
            shutil.rmtree(info.parent)


def _reducing(lost: int) -> Write:
    """Traces of two GPUs that compute and reduce five buckets in each of three steps of 100 ms; of the second step this
    bucket is missing in the recording of the second rank."""

    def written(folder: Path) -> None:
        for rank in range(2):
            events: list[gpu_traces.Event] = []
            for step in range(3):
                begin, number = 1e6 + step * 1e5 + 3 * rank, 1000 + step * 20
                events.append(gpu_traces.host(f"ProfilerStep#{step + 3}", begin, 99_900, "user_annotation"))
                for bucket, at in enumerate(_BUCKETS_US):
                    events += gpu_traces.launched(number + bucket, begin + at - 3000, 20, 2500)
                    if (rank, step, bucket) != (1, 1, lost):
                        events += _reduction(number + 10 + bucket, begin + at, 500)
            gpu_traces.write(folder / f"host_{rank}.pt.trace.json", gpu_traces.trace(events, rank, 2))

    return written


def _reduction(number: int, at: float, us: float) -> list[gpu_traces.Event]:
    about = {"Collective name": "allreduce", "In msg nelems": 500, "dtype": "Float", "Process Group Name": "0"}
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
    return gpu_traces.launched(number, at, 10, us, name=name, operator="c10d::x", **about)


# What was recorded, and what was lost


def _device_alone(folder: Path) -> None:
    """activities=[ProfilerActivity.NPU]: nothing of the framework is recorded, and no step."""
    write_setup(folder, _ALONE, steps=False, stacks=False, memory=False)
    edit_json(folder, "profiler_info*.json", _told_the_device)
    edit_json(folder, "trace_view.json", lambda events: [one for one in events if _is_of_cann(one)])


def _told_the_device(info: dict[str, dict[str, dict[str, object]]]) -> None:
    info["config"]["common_config"]["activities"] = ["ProfilerActivity.NPU"]


def _is_of_cann(event: dict[str, object]) -> bool:
    return event["ph"] == "M" or event.get("cat", "HostToDevice") == "HostToDevice"


def _summed_up(part: float) -> Write:
    """The profiler's own sums of the steps tell of this part of the computation, and of the rest as idle time."""

    def change(rows: list[Row]) -> None:
        for row in rows:
            computing = float(row["Computing"])
            row["Computing"] = str(part * computing)
            row["Free"] = str(float(row["Free"]) + (1 - part) * computing)

    def written(folder: Path) -> None:
        write_setup(folder, _ALONE)
        edit_rows(folder, "step_trace_time.csv", change)

    return written


def _thinned(every: int) -> Write:
    """Every n-th row of the list of kernels is missing."""

    def drop(rows: list[Row]) -> None:
        rows[:] = [row for place, row in enumerate(rows) if place % every]

    def written(folder: Path) -> None:
        write_setup(folder, _ALONE)
        edit_rows(folder, "kernel_details.csv", drop)

    return written


def _one_step(sequence: int) -> Write:
    """A single step of one narrow layer."""
    model = Transformer(layers=1, hidden=128, batch=1, sequence=sequence, steps=1, vocabulary=64)
    return _setup(replace(_ALONE, workload=model))


SIGNS: Mapping[str, Sign] = {
    "capture/clocks-apart": Sign(
        spoiled=_setup(_ALONE, clock_ns=-5 * _SECOND_NS),
        twin=_setup(_ALONE, clock_ns=-_SECOND_NS // 2000),
        shows={"early_share": 1, "quickest_us": about(-5e6, 0.03), "apart_us": about(5e6, 0.03)},
    ),
    "capture/contradicted-times": Sign(
        spoiled=_summed_up(0.8),
        twin=_summed_up(0.96),
        shows={"apart_share": about(0.2, 1e-3)},
    ),
    "capture/incomplete-kernels": Sign(
        spoiled=_thinned(3),
        twin=_thinned(200),
        shows={"steps_hit": 3},
    ),
    "capture/inflated-host-times": Sign(
        spoiled=_case("host-bound", stacks=True, memory=False),
        twin=_case("host-bound", stacks=False, memory=False),
        shows={"stacks_on": True, "memory_on": False},
    ),
    "capture/level-too-low": Sign(
        spoiled=_setup(_ALONE, level=0),
        twin=_setup(_ALONE, level=1),
        shows={"recorded_level": 0},
    ),
    "capture/little-work": Sign(
        spoiled=_one_step(sequence=64),
        twin=_one_step(sequence=16384),
    ),
    "capture/no-steps": Sign(
        spoiled=_setup(_ALONE, steps=False),
        twin=_setup(_ALONE),
        shows={"unmarked": 1},
    ),
    "capture/one-side-recorded": Sign(
        spoiled=_device_alone,
        twin=_setup(_ALONE),
        shows={"alone": 1},
    ),
    "capture/ranks-apart": Sign(
        spoiled=_ranks(_second_later(120 * _SECOND_NS)),
        twin=_ranks(_second_later(59 * _SECOND_NS)),
        shows={"ranks_seen": 2, "apart_us": about(120e6, 0.03)},
    ),
    "capture/ranks-missing": Sign(
        spoiled=_first_rank_alone,
        twin=_ranks(),
        shows={"captured": 1, "job_ranks": 2, "which": "1", "missing_share": 0.5},
    ),
    "capture/same-recording": Sign(
        spoiled=_ranks(_copied(0)),
        twin=_ranks(_copied(1000)),
        shows={"copies": 1, "captured_ranks": 2},
    ),
    "capture/several-captures": Sign(
        spoiled=_recorded_again(600 * _SECOND_NS),
        twin=_ranks(),
        shows={"left_aside": 1, "at_once": None},
    ),
    "capture/steps-apart": Sign(
        spoiled=_held_steps((0, 2), (3, 5)),
        twin=_held_steps((0, 4), (1, 5)),
        shows={"held": 0.5, "steps_seen": 6, "per_rank": 3, "ranks_seen": 2},
    ),
    "capture/unmatched-collectives": Sign(
        spoiled=_reducing(lost=0),
        twin=_reducing(lost=4),
        shows={"alike_calls": 14, "apart_calls": 4},
    ),
}
