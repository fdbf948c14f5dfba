# SPDX-License-Identifier: Apache-2.0
"""From captures to a program: calls and tasks with their moments in lanes; what they wait for is found in `binding`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.injected import binding
from benchmarks.injected.capture import KERNELS, OPERATORS, Capture, captures, nanoseconds, read_capture
from benchmarks.injected.program import Call, Collective, Event, Flow, Inner, Job, Lane, Moment, Rank, Task

HOST, DEVICE, TALK = ("Python", "CANN"), "Ascend Hardware", ("HCCL", "Communication")
STEP = re.compile(r"ProfilerStep#(\d+)")
_COMMUNICATION = ("HCCL", "COMMUNICATION")
_KINDS = {"MEMCPY": "copy", "EVENT_WAIT": "wait", "EVENT_RECORD": "record"}
_ROUNDING = 2
"""Starts of one task in two files are this near, in ns."""


def job_of(folder: Path) -> tuple[Job, list[Capture]]:
    """The program of all captures in a folder, and the captures."""
    found = [read_capture(path) for path in captures(folder)]
    return program(found), found


def program(found: Sequence[Capture]) -> Job:
    """The program of these captures, with the times that were recorded."""
    parts = [_Reader(capture).rank() for capture in found]
    job = Job(parts)
    job.meetings = meetings(parts)
    set_clocks(job)
    binding.bind(job)
    return job


class _Reader:
    """One capture being read."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        named = [event for event in capture.events if event["ph"] == "M"]
        self.process = {event["pid"]: event["args"]["name"] for event in named if event["name"] == "process_name"}
        self.thread = {
            (event["pid"], event["tid"]): event["args"]["name"] for event in named if event["name"] == "thread_name"
        }
        self.slices = [event for event in capture.events if event["ph"] == "X"]
        self.program = Rank(capture.name, capture.rank)

    def rank(self) -> Rank:
        self._read_calls()
        self._read_tasks()
        self._attach_rows()
        attach_flows(self.program, self.capture.events)
        self._attach_entries()
        return self.program

    def _of(self, *processes: str) -> list[Event]:
        return [event for event in self.slices if self.process.get(event["pid"]) in processes]

    def _read_calls(self) -> None:
        threads: dict[int, list[Event]] = defaultdict(list)
        for event in self._of(*HOST):
            threads[event["tid"]].append(event)
        for thread, events in threads.items():
            lane = self.program.lanes[("thread", thread)] = Lane()
            calls = [Call(*moments(event), event, lane) for event in events]
            lay(lane, calls)
            self.program.calls += calls
        self.program.calls.sort(key=lambda call: call.begin.at)
        self.program.steps = steps_of(self.program)
        self.program.main = main_lane(self.program)

    def _read_tasks(self) -> None:
        collectives = self._collectives()
        inner_streams = self._take_inside(collectives)
        streams: dict[int, list[Task]] = defaultdict(list)
        for event in self._of(DEVICE):
            if id(event) not in inner_streams:
                task = Task(*moments(event), event, Lane(), _kind(event))
                streams[event["tid"]].append(task)
        for collective, stream in collectives:
            streams[stream].append(collective)
        for stream, tasks in streams.items():
            lane = self.program.lanes[("stream", stream)] = Lane()
            for task in tasks:
                task.lane = lane
            lay(lane, tasks)
            self.program.tasks += tasks
        self.program.tasks.sort(key=lambda task: task.begin.at)

    def _collectives(self) -> list[tuple[Collective, int]]:
        """The collectives and the stream each ran on: that of its tasks, else one of its own per group."""
        found = []
        for event in self._of(*TALK):
            if self.thread.get((event["pid"], event["tid"]), "").startswith("Group "):
                found.append((Collective(*moments(event), event, Lane(), "collective"), -1 - event["tid"]))
        return sorted(found, key=lambda pair: pair[0].begin.at)

    def _take_inside(self, collectives: list[tuple[Collective, int]]) -> set[int]:
        """Gives each collective the tasks that are part of it; the events that were given away, by identity."""
        taken: set[int] = set()
        by_link = {collective.link: place for place, (collective, _) in enumerate(collectives)}
        starts = [collective.begin.at for collective, _ in collectives]
        for event in self._of(DEVICE):
            place = by_link.get(event.get("args", {}).get("connection_id"), -1)
            if place >= 0 and collectives:
                collective = collectives[place][0]
                collectives[place] = collective, event["tid"]
                taken.add(id(event))
                collective.inner.append(_inside(collective, event))
        for event in self._of(*TALK):
            if not self.thread.get((event["pid"], event["tid"]), "").startswith("Group "):
                place = bisect_right(starts, nanoseconds(event["ts"])) - 1
                if place >= 0:
                    collective = collectives[place][0]
                    collective.inner.append(_inside(collective, event))
        return taken

    def _attach_rows(self) -> None:
        details = self.capture.sheets.get(KERNELS)
        near: dict[int, list[Task]] = defaultdict(list)
        for task in self.program.tasks:
            near[task.begin.at].append(task)
        for row in details.rows if details else ():
            found = _nearest(near, nanoseconds(row.get("Start Time(us)") or 0), row.get("Name", ""))
            if found is not None:
                found.row = row
                if row.get("Accelerator Core") not in _COMMUNICATION and found.kind != "collective":
                    found.kind = "kernel"
        operators = [call for call in self.program.calls if call.event.get("cat") == "cpu_op"]
        operators = [call for call in operators if not STEP.fullmatch(call.name)]
        sheet = self.capture.sheets.get(OPERATORS)
        if sheet and [row["Name"] for row in sheet.rows] == [call.name for call in operators]:
            for call, row in zip(operators, sheet.rows, strict=True):
                call.row = row

    def _attach_entries(self) -> None:
        """Gives each collective what communication.json and the matrix say of it, in the order of its begin."""
        told: dict[str, list[dict[str, object]]] = defaultdict(list)
        for step in self.capture.communication.values():
            for kind in step.values():
                for key, entry in kind.items():
                    told[key.split("@")[0]].append(entry)
        for collective in self.program.collectives:
            if told.get(collective.name):
                collective.entry = told[collective.name].pop(0)


def steps_of(rank: Rank) -> list[Call]:
    """The calls that are steps, in order."""
    return [call for call in rank.calls if STEP.fullmatch(call.name)]


def main_lane(rank: Rank) -> Lane:
    """The thread that steps are on, else the busiest lane."""
    if rank.steps:
        return rank.steps[0].lane
    return max(rank.lanes.values(), key=lambda lane: sum(1 for _ in lane))


def attach_flows(rank: Rank, events: Iterable[Event]) -> None:
    """Gives each end of an arrow to the call or task that it stands in."""
    holders = _Holders([*rank.calls, *rank.tasks])
    for event in events:
        if event["ph"] in ("s", "f"):
            found = holders.around(event)
            if found is not None:
                found.flows.append(Flow(event, nanoseconds(event["ts"]) - found.begin.at))


def moments(event: Event) -> tuple[Moment, Moment]:
    """When an event begins and ends, as recorded."""
    start = nanoseconds(event["ts"])
    end = start + round(float(event["dur"]) * 1000)
    return Moment(recorded=start, at=start), Moment(recorded=end, at=end)


def lay(lane: Lane, things: Iterable[Call | Task]) -> None:
    """Puts begins and ends in order: an end before a begin of the same time, the longer begin before the shorter."""
    order: list[tuple[int, int, int, int, Moment]] = []
    for number, thing in enumerate(things):
        begin, end = thing.begin.at, thing.end.at
        order.append((begin, 1, begin - end, number, thing.begin))
        order.append((end, 2 if begin == end else 0, begin, number, thing.end))
    for *_, moment in sorted(order, key=lambda entry: entry[:4]):
        lane.append(moment)


def _kind(event: Event) -> str:
    for name, kind in _KINDS.items():
        if event["name"].startswith(name):
            return kind
    return "other"


def _inside(collective: Collective, event: Event) -> Inner:
    start = nanoseconds(event["ts"]) - collective.begin.at
    return Inner(event, start, start + round(float(event["dur"]) * 1000))


def _nearest(near: Mapping[int, list[Task]], start: int, name: str) -> Task | None:
    """The task of a row, by its start and name; by its start alone where names differ."""
    found = [task for shift in range(-_ROUNDING, _ROUNDING + 1) for task in near.get(start + shift, ())]
    found = [task for task in found if task.row is None]
    named = [task for task in found if task.name == name]
    return next(iter(named or found), None)


class _Holders:
    """Calls and tasks by where they stand in the trace."""

    def __init__(self, things: Iterable[Call | Task]) -> None:
        self._tracks: dict[tuple[int, int], list[Call | Task]] = defaultdict(list)
        for thing in things:
            self._tracks[thing.event["pid"], thing.event["tid"]].append(thing)
        self._starts = {}
        for track, held in self._tracks.items():
            held.sort(key=lambda thing: thing.begin.at)
            self._starts[track] = [thing.begin.at for thing in held]

    def around(self, event: Event) -> Call | Task | None:
        """The last to begin by the time of an event, if it is still running then."""
        track = event["pid"], event["tid"]
        time = nanoseconds(event["ts"])
        place = bisect_right(self._starts.get(track, ()), time) - 1
        while place >= 0:
            thing = self._tracks[track][place]
            if thing.end.at >= time:
                return thing
            place -= 1
        return None


def meetings(ranks: Sequence[Rank]) -> list[list[Collective]]:
    """Collectives of one name, the nth of each rank with the nth of the others."""
    met: dict[tuple[str, int], list[Collective]] = defaultdict(list)
    for rank in ranks:
        seen: dict[str, int] = defaultdict(int)
        for collective in rank.collectives:
            met[collective.name, seen[collective.name]].append(collective)
            seen[collective.name] += 1
    return list(met.values())


def set_clocks(job: Job) -> None:
    """Puts all ranks on the clock of the first: collectives end for all at once."""
    ahead: dict[int, list[int]] = defaultdict(list)
    place = {id(collective): number for number, rank in enumerate(job.ranks) for collective in rank.collectives}
    for meeting in job.meetings:
        for collective in meeting[1:]:
            ahead[place[id(collective)]].append(collective.end.at - meeting[0].end.at)
    for number, rank in enumerate(job.ranks):
        rank.clock = round(median(ahead[number])) if ahead[number] else 0
        for lane in rank.lanes.values():
            for moment in lane:
                moment.at -= rank.clock
                moment.recorded = moment.at
