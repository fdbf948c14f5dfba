# SPDX-License-Identifier: Apache-2.0
"""Traces of the PyTorch profiler on GPUs: read as captures, as programs, and written again."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.injected import binding
from benchmarks.injected.capture import Capture, nanoseconds
from benchmarks.injected.program import Call, Collective, Event, Job, Lane, Rank, Task
from benchmarks.injected.reading import attach_flows, lay, main_lane, meetings, moments, set_clocks, steps_of
from benchmarks.injected.trace import Moved

ENDING = ".pt.trace.json"
"""How the names of traces end, before `.gz`."""
RUNTIME = frozenset({"cuda_runtime", "cuda_driver", "Runtime"})
"""Categories of calls into the runtime, in all versions."""
_HOST = RUNTIME | {"cpu_op", "user_annotation", "python_function", "Operator", "Python"}
_DEVICE = {
    "kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "other", "Kernel": "kernel", "Memcpy": "copy",
    "Memset": "other",
}  # fmt: skip
_SHADOW = "gpu_user_annotation"
_QUEUED = 1021
"""So many tasks at most are sent and not done: CUDA's queue of launches has 1 024 places, and in a recorded run the
calls that were held up let go when all but 1 019 to 1 021 were done."""
_SENT = 5_000
"""A launch that nothing holds up, in ns."""
_AFTER_LAUNCH = 10_000
"""From the begin of a launch to that of its task where the stream is free, in ns."""
_HELD = "Pageable"
"""Copies that hold up the call which sent them are from or to memory of this kind."""


def traces(place: Path) -> list[Path]:
    """The traces at a place: itself, or those in a folder, by name."""
    if place.is_file():
        return [place]
    return sorted(path for path in place.iterdir() if ENDING in path.name)


def read_trace(path: Path) -> Capture:
    """A trace as it lies on disk, zipped or not."""
    content = path.read_bytes()
    read: Any = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    around = {key: value for key, value in read.items() if key != "traceEvents"} if isinstance(read, dict) else {}
    events = read["traceEvents"] if isinstance(read, dict) else read
    rank = int(around.get("distributedInfo", {}).get("rank", 0))
    return Capture(f"rank{rank}", rank, [event for event in events if "name" in event], around=around)


def with_ranks(capture: Capture, ranks: int) -> list[Capture]:
    """As many ranks as asked for, which all do what a recorded one does, in groups of all of them."""
    return [_as_rank(capture, rank, ranks) for rank in range(ranks)]


def _as_rank(capture: Capture, rank: int, ranks: int) -> Capture:
    everyone = list(range(ranks))
    around = deepcopy(capture.around or {})
    job = around.setdefault("distributedInfo", {})
    job |= {"rank": rank, "world_size": ranks}
    for group in job.get("pg_config", ()):
        group |= {"pg_size": ranks, "ranks": everyone}
    wider = {"Group size": ranks, "Process Group Ranks": str(everyone)}
    events = [
        event | {"args": event["args"] | wider} if "Process Group Ranks" in event.get("args", {}) else event
        for event in capture.events
    ]
    return Capture(f"rank{rank}", rank, events, around=around)


def program(found: Sequence[Capture]) -> Job:
    """The program of these traces, with the times that were recorded."""
    job = Job([_rank(capture) for capture in found])
    job.meetings = meetings(job.ranks)
    set_clocks(job)
    binding.bind(job)
    for rank in job.ranks:
        _bind_runtime(rank)
    return job


def _rank(capture: Capture) -> Rank:
    rank = Rank(capture.name, capture.rank, on_gpu=True)
    slices = [event for event in capture.events if event["ph"] == "X" and "dur" in event]
    threads: dict[tuple[Any, Any], list[Event]] = defaultdict(list)
    streams: dict[tuple[Any, Any], list[Event]] = defaultdict(list)
    for event in slices:
        if event.get("cat") in _HOST:
            threads[event["pid"], event["tid"]].append(event)
        elif event.get("cat") in _DEVICE:
            streams[event["pid"], event["tid"]].append(event)
    for number, events in enumerate(threads.values()):
        lane = rank.lanes["thread", number] = Lane()
        calls = [Call(*moments(event), event, lane) for event in events]
        lay(lane, calls)
        rank.calls += calls
    for number, events in enumerate(streams.values()):
        lane = rank.lanes["stream", number] = Lane()
        tasks = [_task(event, lane) for event in events]
        lay(lane, tasks)
        rank.tasks += tasks
    rank.calls.sort(key=lambda call: call.begin.at)
    rank.tasks.sort(key=lambda task: task.begin.at)
    rank.steps = steps_of(rank)
    rank.main = main_lane(rank)
    attach_flows(rank, capture.events)
    return rank


def _task(event: Event, lane: Lane) -> Task:
    if event["name"].startswith("nccl"):
        return Collective(*moments(event), event, lane, "collective")
    return Task(*moments(event), event, lane, _DEVICE[event["cat"]])


def _bind_runtime(rank: Rank) -> None:
    """What copies hold up, and what streams wait for: `cudaStreamWaitEvent` says that, and not what it names."""
    launched = [task for task in rank.tasks if task.launch is not None]
    for task in launched:
        call = task.launch
        if call is not None and _HELD in task.name and task.end.at <= call.end.at:
            binding.bind_synchronise(call, [task])
    launched.sort(key=_launched)
    for task, earlier in zip(launched[_QUEUED:], launched, strict=False):
        if task.launch is not None and task.kind != "copy":
            binding.fasten(task.launch.end, [(earlier.end, 0)], _SENT)
    begins = [_launched(task) for task in launched]
    streams: dict[int, list[Task]] = defaultdict(list)
    for task in launched:
        streams[id(task.lane)].append(task)
    awaiting: dict[int, Task] = {}
    awaited: dict[int, dict[int, Task]] = defaultdict(dict)
    for call in rank.calls:
        place = bisect_left(begins, call.begin.at) if call.name.endswith("StreamWaitEvent") else len(launched)
        if place < len(launched):
            task = launched[place]
            awaiting[id(task)] = task
            awaited[id(task)] |= {id(other): other for other in _sent_before(call, task, streams)}
    for number, task in awaiting.items():
        _wait_for_others(task, list(awaited[number].values()))


def _launched(task: Task) -> int:
    return task.launch.begin.at if task.launch else 0


def _sent_before(call: Call, task: Task, streams: dict[int, list[Task]]) -> Iterator[Task]:
    """The last task of each other stream that was sent before a call and had ended when a task began."""
    for tasks in streams.values():
        place = bisect_right(tasks, call.begin.at, key=_launched) - 1
        if place >= 0 and tasks[place].lane is not task.lane and tasks[place].end.at <= task.begin.at:
            yield tasks[place]


def _wait_for_others(task: Task, others: Sequence[Task]) -> None:
    """Makes a task wait for those of other streams as well as for its launch and what its own stream did before."""
    launch = [(task.launch.begin, _AFTER_LAUNCH)] if task.launch else []
    binding.fasten(task.begin, [*launch, *((other.end, binding.SHORT) for other in others)], binding.SHORT)


def write(job: Job, captures: Sequence[Capture], folder: Path) -> Path:
    """Writes the traces of a program that was run into a folder that does not exist yet; returns it."""
    folder.mkdir(parents=True)
    for rank, capture in zip(job.ranks, captures, strict=True):
        content = {**(capture.around or {}), "traceEvents": list(_events(rank, capture))}
        (folder / f"{capture.name}{ENDING}").write_bytes(msgspec.json.encode(content))
    return folder


def _events(rank: Rank, capture: Capture) -> Iterator[Event]:
    moved = Moved(rank)
    for event in capture.events:
        category = event.get("cat")
        if event["ph"] == "M":
            yield event
        elif category == _SHADOW:
            yield from _over_tasks(event, rank)
        elif event["ph"] not in ("s", "f") and category not in _HOST and category not in _DEVICE:
            begin = moved(nanoseconds(event["ts"]))
            end = moved(nanoseconds(event["ts"]) + round(float(event.get("dur", 0)) * 1000))
            length = {"dur": (end - begin) / 1000} if "dur" in event else {}
            yield event | {"ts": begin / 1000} | length
    for thing in (*rank.calls, *rank.tasks):
        begin = thing.begin.at + rank.clock
        length_ns = thing.end.at - thing.begin.at
        yield thing.event | {"ts": begin / 1000, "dur": length_ns / 1000}
        for flow in thing.flows:
            yield flow.event | {"ts": (begin + min(flow.lag, length_ns)) / 1000}


def _over_tasks(event: Event, rank: Rank) -> Iterator[Event]:
    """A range over tasks of a stream: from the first of those that it was around to the last."""
    start = nanoseconds(event["ts"])
    stop = start + round(float(event["dur"]) * 1000)
    around = [
        task
        for task in rank.tasks
        if (task.event["pid"], task.event["tid"]) == (event["pid"], event["tid"])
        and (task.begin.recorded or 0) >= start - rank.clock - 1_000
        and (task.end.recorded or stop * 2) <= stop - rank.clock + 1_000
    ]
    if around:
        begin, end = min(task.begin.at for task in around), max(task.end.at for task in around)
        yield event | {"ts": (begin + rank.clock) / 1000, "dur": (end - begin) / 1000}
