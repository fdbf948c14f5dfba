# SPDX-License-Identifier: Apache-2.0
"""A recorded run as a program: lanes of moments, what each waits for, and what was recorded of it.

A *lane* is a host thread or a stream. Its *moments* are the begins and ends of what happened on it. A moment comes
when the work since the one before it is done, and when all that it waits for has come. Times are whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
"""One event of a Chrome trace."""
Row = dict[str, str]
"""One row of a CSV file, by heading."""


@dataclass(slots=True, eq=False)
class Moment:
    """The begin or end of something."""

    work: int = 0
    """Time from the moment before it on its lane."""
    waits: list[tuple[Moment, int]] = field(default_factory=list)
    """What must have come, and how long before."""
    recorded: int | None = None
    """When it was recorded; none for what was put in."""
    at: int = 0
    """When it comes, by the last run."""
    before: Moment | None = None
    after: Moment | None = None


@dataclass(slots=True)
class Lane:
    """The moments of one thread or stream, in order."""

    first: Moment | None = None
    last: Moment | None = None

    def append(self, moment: Moment) -> None:
        """Puts a moment at the end."""
        moment.before = self.last
        if self.last is None:
            self.first = moment
        else:
            self.last.after = moment
        self.last = moment

    def insert(self, place: Moment, *moments: Moment) -> None:
        """Puts moments behind one of the lane."""
        for moment in moments:
            moment.before, moment.after = place, place.after
            if place.after is None:
                self.last = moment
            else:
                place.after.before = moment
            place.after = moment
            place = moment

    def remove(self, first: Moment, last: Moment) -> list[Moment]:
        """Takes the moments from one to another out of the lane; returns them."""
        if first.before is None:
            self.first = last.after
        else:
            first.before.after = last.after
        if last.after is None:
            self.last = first.before
        else:
            last.after.before = first.before
        found: list[Moment] = [first]
        while found[-1] is not last and found[-1].after is not None:
            found.append(found[-1].after)
        return found

    def __iter__(self) -> Iterator[Moment]:
        moment = self.first
        while moment is not None:
            yield moment
            moment = moment.after


@dataclass(slots=True, eq=False)
class Flow:
    """One end of an arrow, and how long after the begin of its call or task it stands."""

    event: Event
    lag: int = 0


@dataclass(slots=True, eq=False)
class Call:
    """Something a host thread did."""

    begin: Moment
    end: Moment
    event: Event
    lane: Lane
    flows: list[Flow] = field(default_factory=list)
    row: Row | None = None
    """Of operator_details.csv."""

    @property
    def name(self) -> str:
        """What the trace calls it."""
        return str(self.event["name"])

    @property
    def link(self) -> Any:
        """Number of the task or queue entry it made."""
        args = self.event.get("args", {})
        return args.get("connection_id", args.get("correlation_id", args.get("correlation")))


@dataclass(slots=True, eq=False)
class Task:
    """Something a stream did."""

    begin: Moment
    end: Moment
    event: Event
    lane: Lane
    kind: str
    """kernel, copy, wait, record, collective or other."""
    launch: Call | None = None
    flows: list[Flow] = field(default_factory=list)
    row: Row | None = None
    """Of kernel_details.csv."""

    @property
    def name(self) -> str:
        """What the trace calls it."""
        return str(self.event["name"])

    @property
    def link(self) -> Any:
        """Number of the call that made it."""
        args = self.event.get("args", {})
        return args.get("connection_id", args.get("correlation"))

    @property
    def op_type(self) -> str:
        """Type of the operator, where kernel_details.csv knows it."""
        return (self.row or {}).get("Type", "")

    @property
    def duration(self) -> int:
        """How long it takes by the last run."""
        return self.end.at - self.begin.at


@dataclass(slots=True, eq=False)
class Inner:
    """One task inside a collective: how long after the begin of the collective, and how long."""

    event: Event
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Collective(Task):
    """A task that all ranks of a group end together."""

    inner: list[Inner] = field(default_factory=list)
    entry: dict[str, Any] | None = None
    """Of communication.json."""
    links: dict[str, Any] | None = None
    """Of communication_matrix.json: this operator's rows, by `source-target`."""
    waited: int = 0
    """Recorded: from its begin until the last rank had come."""
    moved: int = 0
    """Recorded: from then to its end."""
    slower: float = 1.0
    """By how much each transfer takes longer than recorded."""


@dataclass(slots=True)
class Rank:
    """The program of one rank."""

    name: str
    """Of its folder."""
    number: int
    calls: list[Call] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    lanes: dict[tuple[str, int], Lane] = field(default_factory=dict)
    main: Lane = field(default_factory=Lane)
    steps: list[Call] = field(default_factory=list)
    clock: int = 0
    """By how much its clock is ahead of that of the first rank."""
    next_number: int = 500_000_000
    """The next number of what is put in: recorded ones are far below."""
    on_gpu: bool = False
    """Whether its device is a GPU. Its host runs ahead: the last step ends when the device has done what was sent."""

    @property
    def kernels(self) -> list[Task]:
        """What computes."""
        return [task for task in self.tasks if task.kind == "kernel"]

    @property
    def collectives(self) -> list[Collective]:
        """What communicates."""
        return [task for task in self.tasks if isinstance(task, Collective)]


@dataclass(slots=True)
class Job:
    """The programs of all ranks."""

    ranks: list[Rank]
    meetings: list[list[Collective]] = field(default_factory=list)
    """Collectives of several ranks that are one."""

    def moments(self) -> Iterator[Moment]:
        """All moments of all ranks."""
        for rank in self.ranks:
            for lane in rank.lanes.values():
                yield from lane

    def step_ns(self, rank: Rank) -> float:
        """Mean length of a step of one rank, by the last run."""
        end = rank.steps[-1].end.at
        if rank.on_gpu:
            sent = [t.end.at for t in rank.tasks if t.launch is not None and t.launch.begin.at <= end]
            end = max(sent, default=end)
        return (end - rank.steps[0].begin.at) / len(rank.steps)

    @property
    def longest_step_ns(self) -> float:
        """Mean length of a step of the rank that takes longest."""
        return max(self.step_ns(rank) for rank in self.ranks)
