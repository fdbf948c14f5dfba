# SPDX-License-Identifier: Apache-2.0
"""The figures of a capture once more, from definitions and with loops: what a patient person would work out by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import mean, median
from typing import NamedTuple

from tests.figures.raw_capture import Call, Rank

Interval = tuple[int, int]
Place = tuple[int, int | None]
"""Rank and step."""


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time without overlaps, in order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return [(start, end) for start, end in found if end > start]


def without(whole: list[Interval], taken: list[Interval]) -> list[Interval]:
    """The parts of merged intervals that no interval of another merged list covers."""
    left, first = [], 0
    for start, end in whole:
        while first < len(taken) and taken[first][1] <= start:
            first += 1
        at, place = start, first
        while place < len(taken) and taken[place][0] < end:
            if taken[place][0] > at:
                left.append((at, taken[place][0]))
            at = max(at, taken[place][1])
            place += 1
        if at < end:
            left.append((at, end))
    return left


def within(whole: list[Interval], taken: list[Interval]) -> list[Interval]:
    """The parts of merged intervals that another merged list covers too."""
    return without(whole, without(whole, taken))


def us(intervals: Iterable[Interval]) -> float:
    """How long they last together, µs."""
    return sum(end - start for start, end in intervals) / 1000


class Split(NamedTuple):
    """Where the time of one rank went in one step, µs."""

    span: float
    compute: float
    comm: float
    exposed: float
    overlapped: float
    free: float
    bubble: float
    copies: float | None
    waits: float | None
    gaps: tuple[Interval, ...]
    """The intervals of free time."""


def split_steps(rank: Rank) -> dict[int | None, Split]:
    """Each step from its first kernel or collective to the first of the step after it, or to its last end."""
    begin: dict[int | None, int] = {}
    finish: dict[int | None, int] = {}
    for row in (*rank.kernels, *rank.calls):
        begin[row.step] = min(begin.get(row.step, row.start), row.start)
        finish[row.step] = max(finish.get(row.step, row.end), row.end)
    found = {}
    for step, first in begin.items():
        follows = None if step is None else begin.get(step + 1)
        end = max(finish[step], follows) if follows is not None else finish[step]
        found[step] = _split_step(rank, step, (first, end))
    return found


def _split_step(rank: Rank, step: int | None, window: Interval) -> Split:
    compute = merged((row.start, row.end) for row in rank.kernels if row.step == step)
    comm = merged((row.start, row.end) for row in rank.calls if row.step == step)
    pairs = merged((row.start, row.end) for row in rank.calls if row.step == step and row.p2p)
    free = without([window], merged([*compute, *comm]))
    copies = merged(rank.copies or ())
    return Split(
        span=us([window]),
        compute=us(compute),
        comm=us(comm),
        exposed=us(without(comm, compute)),
        overlapped=us(within(comm, compute)),
        free=us(free),
        bubble=us(without(pairs, compute)),
        copies=None if rank.copies is None else us(within(free, copies)),
        waits=None if rank.waits is None else us(within(without(free, copies), merged(rank.waits))),
        gaps=tuple(free),
    )


def exposed_us(rank: Rank, call: Call) -> float:
    """How long no kernel of its rank ran beside a collective, µs."""
    beside = merged((row.start, row.end) for row in rank.kernels if row.start < call.end and row.end > call.start)
    return us(without([(call.start, call.end)], beside))


def calls_that_meet(ranks: list[Rank]) -> list[list[tuple[Rank, Call]]]:
    """Collectives that are one operation on several ranks: same step, name and group, in the same turn."""
    met = defaultdict(list)
    for rank in ranks:
        seen: dict[tuple[int | None, str, str | None], int] = defaultdict(int)
        for call in sorted(rank.calls, key=lambda call: call.start):
            key = call.step, call.name, call.group
            met[(*key, seen[key])].append((rank, call))
            seen[key] += 1
    return [parts for parts in met.values() if len(parts) > 1 and not parts[0][1].p2p]


def length(call: Call) -> float:
    """Start to end, µs."""
    return (call.end - call.start) / 1000


class Link(NamedTuple):
    """Traffic from one rank to another over one kind of link."""

    size: float
    """Bytes per step."""
    time: float
    """µs per step."""
    bulk: float
    """Bytes of what moves 1 MB or more in a step, in all steps."""
    bulk_time: float


BULK = 1e6


def link_traffic(ranks: list[Rank], members: dict[str, list[int]]) -> dict[tuple[int, int, str], Link]:
    """All links by sender, receiver and kind; what the sender says counts, where it says anything."""
    rows = []
    for rank in ranks:
        for way in rank.ways:
            inside = members.get(way.group)
            source, target = (inside[way.source], inside[way.target]) if inside else (way.source, way.target)
            rows.append((rank.number, (source, target, way.link), way))
    told = {key for number, key, _ in rows if number == key[0]}
    steps = len({way.step for _, _, way in rows})
    found: dict[tuple[int, int, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for number, key, way in rows:
        if number == key[0] or key not in told:
            bulk = way.size >= BULK
            for place, value in enumerate((way.size / steps, way.us / steps, way.size * bulk, way.us * bulk)):
                found[key][place] += value
    return {key: Link(*values) for key, values in found.items()}


def mean_of_steps(splits: dict[int | None, Split], part: str) -> float:
    """The mean of a part over the steps of a rank, µs."""
    return mean(getattr(split, part) for split in splits.values())


def median_of_others(values: dict[int, float], own: int) -> float:
    """The median of all values but one's own."""
    return median(value for number, value in values.items() if number != own)
