# SPDX-License-Identifier: Apache-2.0
"""What if the host had not spent some of its time: how much sooner would the device have been where it was.

The idea is that of a virtual speed-up (Curtsinger and Berger, "Coz", SOSP 2015), worked out on what was recorded. Every
launch moves up by the host time taken away before it, and every task on the device as far as its own launch, the task
before it and the collective it waited for let it:

    gain(task) = min(gain(its launch) + how long it was queued, gain(task before it) + idle time between them, ...)

A task that was launched and the device free, and that still did not begin, was held up by something that is not known
and holds it up again. Device time taken away from a task is as good as idle time before the next one.

That is a running minimum once the idle times are summed up, so a rank is replayed in a few passes. Where the host waits
for the device both start afresh: what lies between two such waits is a *stretch* and is replayed by itself.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct

from advisor.analysis.at_once import AT_ONCE_NS
from advisor.analysis.intervals import Spans, covered_ns, span_at
from advisor.facts.table import Array

UNBOUND = 2**50
"""ns that no capture lasts."""
_ROUNDS = 4
"""Collectives beside computation and the work that waits for them are worked out in turns."""


class Queue(Struct, frozen=True):
    """The second thread: what it takes from the task queue, in order of time."""

    start: Array
    end: Array
    put: Array
    """When the main thread handed the entry over; the start where that is not known."""

    def entry_at(self, moment: Array) -> Array:
        """The entry in which each moment lies, or -1."""
        at = np.searchsorted(self.start, moment, "right") - 1
        return np.where((at >= 0) & (moment < np.append(self.end, 0)[at]), at, -1)

    def idle(self, begin: int) -> Array:
        """How long the thread had nothing to do before each entry; before the first since this moment."""
        return _idle_before(self.start, self.end, begin)


class ReplayedWork(Struct, frozen=True):
    """What one rank's device did one after another, in order of start. Times in ns."""

    start: Array
    end: Array
    launch: Array
    """When the launching call began; the task's own start where that is not known."""
    entry: Array
    """Row of the `Queue` entry that launched it, or -1."""
    queued: Array
    """For how long it was ready before it began; without bound where its launch is not known."""
    awaits: Array
    """Row of the collective beside computation that it waited for, or -1."""

    def take(self, where: Array) -> ReplayedWork:
        return ReplayedWork(*(getattr(self, name)[where] for name in self.__struct_fields__))

    @property
    def reach(self) -> Array:
        """Until when the device was busy with this or what began before."""
        return np.maximum.accumulate(self.end)

    def idle(self, begin: int) -> Array:
        """How long the device had nothing to do before each; before the first since this moment."""
        return _idle_before(self.start, self.end, begin)


def _idle_before(start: Array, end: Array, begin: int) -> Array:
    reach = np.append(begin, np.maximum.accumulate(end)[:-1])[: len(start)]
    return np.asarray(np.maximum(start - reach, 0))


class ReplayInput(Struct, frozen=True, dict=True):
    """One rank as far as a replay needs it."""

    begin: int
    """When its host began the first step, or later, when the device was done with what came before."""
    work: ReplayedWork
    beside: ReplayedWork
    """Collectives that run beside computation; `awaits` is the row of `work` that they follow."""
    queue: Queue
    waits: Spans
    """When the host waits until the device has nothing left to do (`emptying_waits`)."""
    steps: Spans | None = None
    """The time of its steps on the device; None where all of it is."""

    @cached_property
    def unrelieved(self) -> _Limits:
        """What holds its tasks while the host does what it did: asked for anew for each thing the device may spare."""
        return _limits_of(self, Relief.none(), self.waits)

    @cached_property
    def held(self) -> Array:
        """Per task of `work`: for how long it was launched and the device free, and it did not begin, ns."""
        work = self.work
        return np.where(work.awaits < 0, np.minimum(work.idle(self.begin), np.maximum(work.queued, 0)), 0)

    @cached_property
    def slack(self) -> Array:
        """Per task of `work`: how long the device was idle before it, beyond that, ns."""
        return self.work.idle(self.begin) - self.held


class Relief(Struct, frozen=True):
    """Host time taken away, as a set of time."""

    main: Spans
    queue: Spans
    keeps_up: bool = False
    """Beside that, whether the host is taken to launch early enough; after a wait as soon as it usually goes on to the
    next launch."""
    device: Array | None = None
    """Device time taken away from each task, ns; none of it where this is None."""

    @property
    def leaves_the_host(self) -> bool:
        """Whether the host does what it did, when it did."""
        return not (self.keeps_up or len(self.main) or len(self.queue))

    @classmethod
    def none(cls) -> Relief:
        """Nothing is taken away."""
        return cls(Spans.none(), Spans.none())

    @classmethod
    def of_device(cls, spared: Array) -> Relief:
        """Tasks take so much less time; the host does what it did."""
        return cls(Spans.none(), Spans.none(), device=spared)


def gains_by_task(rank: ReplayInput, relief: Relief, *, waits: Spans) -> Array:
    """Per task of `rank.work`: how much earlier it ends, ns, when these parts of the host's and device's time go.

    `waits` are those of `rank.waits` that stay.
    """
    work, beside = rank.work, rank.beside
    same = relief.leaves_the_host and waits is rank.waits
    limit, of, first, beside_limit, beside_of = rank.unrelieved if same else _limits_of(rank, relief, waits)
    spared = np.zeros(len(of), np.int64) if relief.device is None else relief.device
    slack = rank.slack + np.where(first, 0, np.append(0, spared)[: len(of)])
    gain = gains_in_turn(limit, slack, of) + spared
    before = _gain_before_stretch(rank, relief, waits, gain, of)
    joins = np.flatnonzero(work.awaits >= 0)
    for _ in range(_ROUNDS if len(joins) else 0):
        other = _gains_beside(rank, gain + before[of], before, beside_limit, beside_of)
        awaited = work.awaits[joins]
        held = other[awaited] + np.maximum(work.start[joins] - beside.end[awaited], 0) - before[of[joins]]
        bound = limit.copy()
        bound[joins] = np.minimum(limit[joins], held)
        last, gain = gain, gains_in_turn(bound, slack, of) + spared
        if np.array_equal(last, gain):
            break
        before = _gain_before_stretch(rank, relief, waits, gain, of)
    return gain + before[of]


_Limits = tuple[Array, Array, Array, Array, Array]
"""Per task of the work by how much earlier it may begin, its stretch, and whether it is the first there; per collective
beside computation the first two."""


def _limits_of(rank: ReplayInput, relief: Relief, waits: Spans) -> _Limits:
    edges = np.append(rank.begin, waits.end)
    limit, of = _launch_limits(rank, relief, rank.work, edges)
    beside_limit, beside_of = _launch_limits(rank, relief, rank.beside, edges)
    of = np.maximum.accumulate(of) if len(of) else of
    first = np.append(True, of[1:] != of[:-1])[: len(of)]
    if relief.keeps_up:
        limit = np.where(first, limit + _delay_after_wait(rank, relief, edges, of), UNBOUND)
        beside_limit = np.full(len(beside_limit), UNBOUND)
    return limit - rank.held, of, first, beside_limit, beside_of


def handed_over(queue: Queue, work: ReplayedWork) -> Array:
    """Per task: when the main thread was done with launching it."""
    return np.where(work.entry >= 0, np.append(queue.put, 0)[work.entry], work.launch)


def emptying_waits(waits: Spans, work: ReplayedWork, queue: Queue) -> Spans:
    """The waits at whose end the device is done with all that was launched before: those after which it starts afresh.

    What waits for something earlier or for another stream, or finds nothing to wait for, leaves the queue as it is: the
    device works on through it.
    """
    put = handed_over(queue, work)
    order = np.argsort(put, kind="stable")
    reach = np.append(-UNBOUND, np.maximum.accumulate(work.end[order]))
    done = reach[np.searchsorted(put[order], waits.start)] <= waits.end + AT_ONCE_NS
    return Spans(waits.start[done], waits.end[done])


def _delay_after_wait(rank: ReplayInput, relief: Relief, edges: Array, of: Array) -> Array:
    """Per task: by how much later after the wait before it the host launched it than one launch follows another.

    What was taken away already does not count, nor what precedes the first launch of all.
    """
    put = handed_over(rank.queue, rank.work)
    known = rank.work.queued < UNBOUND
    apart = np.diff(put[known])[np.diff(of[known]) == 0]
    usual = int(np.median(apart[apart > 0])) if (apart > 0).any() else 0
    spent = put - edges[of] - covered_ns(relief.main, edges[of], put) - usual
    if rank.steps is not None:  # a pause between captures strung together is no step's
        start = rank.work.start
        spent = np.minimum(spent, covered_ns(rank.steps, start - rank.work.idle(rank.begin), start))
    return np.where(of > 0, np.maximum(spent, 0), 0)


def _gains_beside(rank: ReplayInput, gain: Array, before: Array, limit: Array, of: Array) -> Array:
    """Per collective beside computation: its gain, from those of the work in turn and of each stretch's beginning."""
    work, beside = rank.work, rank.beside
    slack = beside.start - np.append(work.end, 0)[beside.awaits]
    follows = (beside.awaits >= 0) & (slack >= 0)
    bound = np.where(follows, np.append(gain, 0)[beside.awaits] + slack - before[of], limit)
    return gains_in_turn(np.minimum(limit, bound), beside.idle(rank.begin), of) + before[of]


def gains_in_turn(limit: Array, slack: Array, stretch: Array) -> Array:
    """Per item: `least(limit, gain of the item before + slack)`, afresh (from 0) in each stretch; stretches ascend."""
    if not len(limit):
        return limit
    first = np.append(True, stretch[1:] != stretch[:-1])
    number = np.cumsum(first) - 1
    total = np.cumsum(slack)
    total -= (total - slack)[first][number]
    most = total[np.append(first[1:], True)]  # no gain is larger than all the slack of its stretch
    room = np.minimum(limit, most[number]) - total
    room[first] = np.minimum(room[first], 0)
    # the stretches one below another, so that one running minimum does for all
    depth = most - np.minimum(np.minimum.reduceat(limit, np.flatnonzero(first)), 0)
    lower = np.cumsum(most + np.append(0, depth[:-1]) + 1)[number]
    return np.asarray(np.minimum.accumulate(room - lower) + lower + total)


def _launch_limits(rank: ReplayInput, relief: Relief, work: ReplayedWork, edges: Array) -> tuple[Array, Array]:
    """Per task: how much earlier it could begin for all its launch says; and its stretch."""
    queue = rank.queue
    put = handed_over(rank.queue, work)
    of = _stretch_at(edges, put)
    gain = covered_ns(relief.main, edges[of], put)
    if len(queue.start):
        begun, ended, of_entry = _entry_gains(queue, relief, rank.begin, edges)
        within = covered_ns(relief.queue, np.append(queue.start, 0)[work.entry], work.launch)
        gain = np.where(work.entry >= 0, np.append(begun, 0)[work.entry] + within, gain)
        gain = _after_queue(rank, work, gain, of, (ended, of_entry))
    return gain + work.queued, of


def _entry_gains(queue: Queue, relief: Relief, begin: int, edges: Array) -> tuple[Array, Array, Array]:
    """Per entry of the queue: how much earlier it begins, and ends; and its stretch."""
    of = np.maximum.accumulate(_stretch_at(edges, queue.put))
    handed = covered_ns(relief.main, edges[of], queue.put) + np.maximum(queue.start - queue.put, 0)
    saved = covered_ns(relief.queue, queue.start, queue.end)
    # the time saved in an entry is as good as idle time before the next one
    begun = gains_in_turn(handed, queue.idle(begin) + np.append(0, saved)[: len(saved)], of)
    return begun, begun + saved, of


def _after_queue(rank: ReplayInput, work: ReplayedWork, gain: Array, of: Array, entries: tuple[Array, Array]) -> Array:
    """The same for what is launched inside of a wait, once the queue has run empty, as the copy of a value read."""
    ended, of_entry = entries
    row = np.flatnonzero(work.entry < 0)
    wait = span_at(rank.waits, work.launch[row])
    row, wait = row[wait >= 0], wait[wait >= 0]
    last = np.searchsorted(rank.queue.start, work.launch[row], "right") - 1
    same = (last >= 0) & (of_entry[last] == of[row])
    row, arrived, last = row[same], rank.waits.start[wait[same]], last[same]
    emptied = rank.queue.end[last]
    bound = np.minimum(
        gain[row] + np.maximum(emptied - arrived, 0),
        ended[last] + np.maximum(arrived - emptied, 0),
    )
    gain = gain.copy()
    gain[row] = bound
    return gain


def _stretch_at(edges: Array, moment: Array) -> Array:
    """The stretch in which each moment lies; the first for those before it."""
    return np.maximum(np.searchsorted(edges, moment, "right") - 1, 0)


def _gain_before_stretch(rank: ReplayInput, relief: Relief, waits: Spans, gain: Array, of: Array) -> Array:
    """Per stretch: the gain at its beginning, the sum of those before it."""
    count = len(waits) + 1
    begins = np.append(rank.begin, waits.end)
    ends = np.append(waits.end, np.iinfo(np.int64).max)
    host = covered_ns(relief.main, begins[:-1], waits.start)
    work = rank.work
    seen = np.flatnonzero(np.append(of[1:] != of[:-1], True)[: len(of)])
    drained, reached = np.full(count, np.iinfo(np.int64).min), np.zeros(count, np.int64)
    drained[of[seen]] = np.minimum(work.reach[seen], ends[of[seen]])
    reached[of[seen]] = gain[seen]
    drained, reached = drained[:-1], reached[:-1]
    empty = drained == np.iinfo(np.int64).min
    of_host = host + np.where(empty, 0, np.maximum(drained - waits.start, 0))
    of_device = np.where(empty, of_host, reached + np.maximum(waits.start - drained, 0))
    if relief.keeps_up:
        of_host = np.maximum(of_host, of_device)
    return np.append(0, np.cumsum(np.minimum(of_host, of_device)))
