# SPDX-License-Identifier: Apache-2.0
"""What the time of a step goes to: computing, communication that nothing hides, free; as intervals and as sums."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.injected.program import Rank, Task

Intervals = list[tuple[int, int]]


def union(spans: Iterable[tuple[int, int]]) -> Intervals:
    """The same time without overlaps, in order; what lasts no time is none."""
    merged: Intervals = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def without(spans: Intervals, others: Intervals) -> Intervals:
    """What of some intervals lies outside of others; both in order and without overlaps."""
    left: Intervals = []
    for start, end in spans:
        reached = start
        place = max(bisect_right(others, (start, start)) - 1, 0)
        while place < len(others) and others[place][0] < end:
            covered_from, covered_to = others[place]
            if covered_from > reached:
                left.append((reached, covered_from))
            reached = max(reached, covered_to)
            place += 1
        if reached < end:
            left.append((reached, end))
    return left


def length(spans: Iterable[tuple[int, int]]) -> int:
    """All of them together."""
    return sum(end - start for start, end in spans)


@dataclass(frozen=True, slots=True)
class Split:
    """One step of one rank."""

    step: int
    begins: int
    """Of the step on the host."""
    computing: Intervals
    talking: Intervals
    exposed: Intervals
    free: Intervals

    @property
    def span(self) -> tuple[int, int]:
        """From the first to the last work of the device."""
        spans = [*self.computing, *self.talking]
        return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (0, 0)


def steps_of(rank: Rank, tasks: Iterable[Task]) -> dict[int, list[Task]]:
    """Tasks by the step they begin in; what begins before the first belongs to it."""
    begins = [step.begin.at for step in rank.steps]
    found: dict[int, list[Task]] = {number: [] for number in step_numbers(rank)}
    numbers = list(found)
    for task in tasks:
        found[numbers[max(bisect_right(begins, task.begin.at) - 1, 0)]].append(task)
    return found


def step_numbers(rank: Rank) -> list[int]:
    """The numbers of the steps; 0 alone where none is marked."""
    return [int(step.name.partition("#")[2]) for step in rank.steps] or [0]


def splits(rank: Rank) -> list[Split]:
    """The split of each step."""
    begins = [step.begin.at for step in rank.steps] or [0]
    parts = steps_of(rank, [task for task in rank.tasks if task.kind in ("kernel", "collective")])
    return [_split(step, begin, tasks) for begin, (step, tasks) in zip(begins, parts.items(), strict=True)]


def _split(step: int, begins: int, tasks: Sequence[Task]) -> Split:
    computing = union((task.begin.at, task.end.at) for task in tasks if task.kind == "kernel")
    talking = union((task.begin.at, task.end.at) for task in tasks if task.kind == "collective")
    busy = union([*computing, *talking])
    whole = [(busy[0][0], busy[-1][1])] if busy else []
    return Split(step, begins, computing, talking, without(talking, computing), without(whole, busy))
