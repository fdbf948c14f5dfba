# SPDX-License-Identifier: Apache-2.0
"""What each moment of a recorded program waits for.

Of all that a moment may wait for, what came last bound it: the time from there to the moment is kept as it was
recorded. The others get the usual time of their kind, or less where the record shows less. So a program that is run
without change comes out as recorded, to the nanosecond, and one that is changed waits for whatever is last then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from benchmarks.injected.program import Call, Collective, Job, Moment, Rank, Task

AHEAD = 150_000
"""A launch this long before the stream is free has not bound its task, in ns."""
SHORT = 1_000
"""A wait of the device below this has not waited, in ns."""
SLACK = 20_000
"""Clocks of host and device agree to this, in ns."""
_SYNCHRONISE = (
    "AscendCL@aclrtSynchronize", "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
    "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize",
)  # fmt: skip


def bind(job: Job) -> None:
    """Sets the work and the waits of all moments from the recorded times."""
    for rank in job.ranks:
        for lane in rank.lanes.values():
            for moment in lane:
                moment.work = moment.at - (moment.before.at if moment.before else 0)
        _Binding(rank).bind()
    for meeting in job.meetings:
        _bind_meeting(meeting)


@dataclass(slots=True)
class _Usual:
    """Usual times of one rank, in ns."""

    launch: int = 0
    """From the begin of a launch to that of its task."""
    gaps: dict[tuple[str, str], int] = field(default_factory=dict)
    """From the end of a task of one kind to the begin of one of another, when the stream had it at hand."""

    def gap(self, task: Task, previous: Task) -> int:
        return self.gaps.get((previous.kind, task.kind), 0)


def fasten(moment: Moment, candidates: Sequence[tuple[Moment, int]], lane_gap: int | None) -> None:
    """Makes a moment wait for these, each with its usual lag, and for the moment before it if there is a usual gap.

    What would have come last bound it, and keeps its recorded lag. With nothing to wait for it stays as it is.
    """
    waits = [(other, min(usual, moment.at - other.at)) for other, usual in candidates]
    options = [other.at + lag for other, lag in waits]
    work = None
    if moment.before is not None and lane_gap is not None:
        work = min(lane_gap, moment.at - moment.before.at)
        options.append(moment.before.at + work)
    if not options:
        return
    last = max(range(len(options)), key=options.__getitem__)
    if last < len(waits):
        waits[last] = waits[last][0], moment.at - waits[last][0].at
    elif work is not None and moment.before is not None:
        work = moment.at - moment.before.at
    moment.waits = waits
    if moment.before is None:
        moment.work = 0
    elif work is not None:
        moment.work = work
    else:
        moment.work = min(0, moment.at - moment.before.at)


class _Binding:
    """One rank being bound."""

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self.streams: dict[int, list[Task]] = defaultdict(list)
        for task in rank.tasks:
            self.streams[id(task.lane)].append(task)
        self._by_end = sorted(rank.tasks, key=lambda task: task.end.at)
        self._ends = [task.end.at for task in self._by_end]
        self._marks = [task for task in rank.tasks if task.kind == "record"]

    def bind(self) -> None:
        _find_launches(self.rank)
        bind_threads(self.rank)
        usual = self._usual()
        for tasks in self.streams.values():
            for previous, task in zip([None, *tasks], tasks, strict=False):
                _bind_begin(task, previous, usual)
                if task.kind == "wait":
                    self._bind_wait(task)
        for call in self.rank.calls:
            if call.name.startswith(_SYNCHRONISE):
                bind_synchronise(call, self._before(call))

    def _usual(self) -> _Usual:
        """Gaps of tasks launched long before, latencies of tasks whose stream had been free for long."""
        gaps: dict[tuple[str, str], list[int]] = defaultdict(list)
        latencies = []
        for tasks in self.streams.values():
            for previous, task in pairwise(tasks):
                if task.launch is None:
                    continue
                launched = task.launch.begin.at
                if launched + AHEAD < previous.end.at:
                    gaps[previous.kind, task.kind].append(task.begin.at - previous.end.at)
                elif launched > previous.end.at:
                    latencies.append(task.begin.at - launched)
        usual_launch = sorted(latencies)[len(latencies) // 4] if latencies else 0
        return _Usual(usual_launch, {kinds: round(median(found)) for kinds, found in gaps.items()})

    def _bind_wait(self, task: Task) -> None:
        """The end of an event wait: the task of another stream that ended it, else the mark recorded before it."""
        ended = self._ended_by(task) if task.duration >= SHORT else None
        found = ended or self._marked_before(task)
        if found is not None:
            lag = task.end.at - found.end.at
            fasten(task.end, [(found.end, lag if ended else min(lag, SHORT))], 0)

    def _ended_by(self, task: Task) -> Task | None:
        """What ended last on another stream during a wait."""
        others = [
            other
            for other in self._ending(task.begin.at, task.end.at)
            if other.lane is not task.lane and other.kind != "wait"
        ]
        return others[-1] if others else None

    def _ending(self, start: int, end: int) -> list[Task]:
        """Tasks of all streams that end in a time, in the order of their ends."""
        return self._by_end[bisect_left(self._ends, start) : bisect_right(self._ends, end)]

    def _marked_before(self, task: Task) -> Task | None:
        marks = [
            other
            for other in self._marks
            if other.lane is not task.lane and other.end.at <= task.end.at
            and task.launch and other.launch and other.launch.begin.at < task.launch.begin.at
        ]  # fmt: skip
        return max(marks, key=lambda other: other.launch.begin.at if other.launch else 0, default=None)

    def _before(self, call: Call) -> list[Task]:
        """The last task of each stream that a synchronising call waited for."""
        found = []
        for tasks in self.streams.values():
            place = bisect_right(tasks, call.end.at + SLACK, key=lambda task: task.begin.at) - 1
            while place >= 0 and not _awaited(tasks[place], call):
                place -= 1
            found += tasks[place : place + 1] if place >= 0 else []
        return found


def _awaited(task: Task, call: Call) -> bool:
    launched = task.launch is not None and task.launch.begin.at < call.end.at  # the queue is emptied first
    return launched and task.end.at <= call.end.at + SLACK


def bind_synchronise(call: Call, awaited: Iterable[Task]) -> None:
    """Makes a call end when these tasks have ended."""
    fasten(call.end, [(task.end, SLACK) for task in awaited], min(call.end.at - call.begin.at, SHORT * 10))


def _bind_begin(task: Task, previous: Task | None, usual: _Usual) -> None:
    candidates = [(task.launch.begin, usual.launch)] if task.launch else []
    gap = usual.gap(task, previous) if previous else None
    if not candidates:
        return
    fasten(task.begin, candidates, gap)


def _find_launches(rank: Rank) -> None:
    """Pairs each task with the call that made it: `Node@launch` where there is one, else the first of its number."""
    calls: dict[object, Call] = {}
    for call in rank.calls:
        args = call.event.get("args", {})
        number = args.get("connection_id", args.get("correlation"))
        if number is not None and (number not in calls or call.name == "Node@launch"):
            calls[number] = call
    for task in rank.tasks:
        task.launch = calls.get(task.link)


def bind_threads(rank: Rank) -> None:
    """What host threads wait for: entries of the task queue, the backward pass; others follow the main thread."""
    backward = _backward(rank)
    queue = {call.link: call for call in rank.calls if call.event.get("cat") == "enqueue"}
    tops = _top_calls(rank)
    moments = list(rank.main)
    times = [moment.at for moment in moments]
    for lane, calls in tops.items():
        if lane in (backward, id(rank.main)):
            continue
        for call in calls:
            enqueue = queue.get(call.link) if call.event.get("cat") == "dequeue" else None
            place = bisect_right(times, call.begin.at) - 1
            leader = enqueue.begin if enqueue else moments[place]
            if enqueue or place >= 0:
                fasten(call.begin, [(leader, 30_000 if enqueue else 0)], 0)
    if backward is not None:
        _bind_backward(rank, tops[backward])


def _top_calls(rank: Rank) -> dict[int, list[Call]]:
    """Per lane the calls that no other is around, in order."""
    tops: dict[int, list[Call]] = defaultdict(list)
    for call in rank.calls:
        held = tops[id(call.lane)]
        if not held or call.begin.at >= held[-1].end.at:
            held.append(call)
    return tops


def _backward(rank: Rank) -> int | None:
    """The lane on which arrows from forward to backward operators end, unless it is the main one."""
    for call in rank.calls:
        if call.lane is not rank.main and any(_ends_backward(flow.event) for flow in call.flows):
            return id(call.lane)
    return None


def _ends_backward(event: dict[str, object]) -> bool:
    return event.get("cat") == "fwdbwd" and event["ph"] == "f"


def _bind_backward(rank: Rank, calls: Sequence[Call]) -> None:
    """The backward thread begins when the main one calls it, and the main one goes on when it has ended."""
    moments = list(rank.main)
    times = [moment.at for moment in moments]
    begins = sorted(call.begin.at for call in rank.calls if call.lane is rank.main)
    bursts: list[list[Call]] = []
    for call in calls:
        if not bursts or _any_between(begins, bursts[-1][-1].end.at, call.begin.at):
            bursts.append([])
        bursts[-1].append(call)
    for burst in bursts:
        first, last = burst[0].begin, burst[-1].end
        caller = moments[max(bisect_right(times, first.at) - 1, 0)]
        fasten(first, [(caller, first.at - caller.at)], 0)
        place = bisect_left(times, last.at)
        if place < len(moments) and moments[place] is not caller:
            fasten(moments[place], [(last, times[place] - last.at)], None)


def _any_between(times: Sequence[int], start: int, end: int) -> bool:
    return bisect_left(times, start) < bisect_left(times, end)


def _bind_meeting(meeting: Sequence[Collective]) -> None:
    """A collective ends for each rank when the last has come and the transfer is done."""
    come = max(collective.begin.at for collective in meeting)
    for collective in meeting:
        collective.waited = come - collective.begin.at
        collective.moved = collective.end.at - come
        collective.end.work = min(0, collective.moved)
        collective.end.waits = [(other.begin, collective.moved) for other in meeting]
