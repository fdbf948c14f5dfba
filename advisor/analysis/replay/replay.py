# SPDX-License-Identifier: Apache-2.0
"""What if the host had not spent some of its time: how much sooner would the device have been where it was.

The idea is that of a virtual speed-up (Curtsinger and Berger, "Coz", SOSP 2015), worked out on what was recorded. Every
launch moves up by the host time taken away before it, and every task on the device as far as its own launch, the task
before it and the collective it waited for let it:

    gain(task) = min(gain(its launch) + how long it was queued, gain(task before it) + idle time between them, ...)

A task that was launched and the device free, and that still did not begin, was held up by something that is not known
and holds it up again. Device time taken away from a task is as good as idle time before the next one.

The task before it is the one that kept the device busy until then: what begins and ends beside it, on another stream,
holds nothing up. That is a running minimum once the idle times are summed up, so a rank is replayed in a few passes.
Where the host waits for the device both start afresh: what lies between two such waits is a *stretch*, replayed by
itself. So is what different ranks do: several of them can lie one after another on one axis of time, and a few passes
replay them all (`joined_ranks`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.intervals import Spans, covered_ns, span_at, union, union_of_sets
from advisor.analysis.arrays.turns import Turns, gains_in_turn
from advisor.facts.table import Array, row_type, values_at

UNBOUND = 2**50
"""ns that no capture lasts."""
ROUNDED_NS = 2_000
"""Start and duration of a task may each be rounded to a µs, as older versions of the PyTorch profiler do."""
LONG = 1 << 18
"""Tasks of a recording of which nothing is kept between those that replay it: a number of each takes 2 MiB."""
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
        found = np.where((at >= 0) & (moment < values_at(self.end, at, 0)), at, -1)
        return found.astype(row_type(len(self.start)))

    def idle(self, ranks: RanksInTime) -> Array:
        """How long the thread had nothing to do before each entry; before the first of a rank since that began.

        What passes between two entries while the later one waits already is its own time, whoever hands over sooner.
        """
        idle = _idle_before(self.start, self.end, ranks)
        return np.asarray(np.clip(self.put - (self.start - idle), 0, idle))


class ReplayedWork(Struct, frozen=True, dict=True):
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

    def idle(self, ranks: RanksInTime) -> Array:
        """How long the device had nothing to do before each; before the first of a rank since that began."""
        return _idle_before(self.start, self.end, ranks)


class RanksInTime(Struct, frozen=True):
    """Where on the axis of time of a replay each of its ranks lies: each has its time for itself."""

    begin: Array
    """Per rank: when its host began the first step, or later, when the device was done with what came before."""
    place: Array
    """Per rank: from when on the time is its own; before the first nothing is."""

    @classmethod
    def of_one(cls, begin: int) -> RanksInTime:
        """A single rank, whose time all of it is."""
        return cls(np.array([begin]), np.array([np.iinfo(np.int64).min]))

    def __len__(self) -> int:
        return len(self.begin)

    def at(self, moment: Array) -> Array:
        """The number of the rank whose time each moment is."""
        if len(self) == 1:
            return np.zeros(len(moment), np.int8)
        return np.searchsorted(self.place, moment, "right") - 1

    def edges_of(self, start: Array) -> Array:
        """In what begins at these ascending moments: where that of each rank begins, and at the end their number."""
        return np.append(np.searchsorted(start, self.place), len(start))

    def write_first(self, values: Array, start: Array, first: Array) -> None:
        """Writes a value of each rank where the first of those lies that begin at these ascending moments."""
        edges = self.edges_of(start)
        met = edges[:-1] < edges[1:]
        values[edges[:-1][met]] = first[met]


def _idle_before(start: Array, end: Array, ranks: RanksInTime) -> Array:
    reach = np.empty(len(start), np.int64)
    np.maximum.accumulate(end[:-1], out=reach[1:])
    ranks.write_first(reach, start, ranks.begin)
    np.subtract(start, reach, out=reach)
    return np.maximum(reach, 0, out=reach)


class BlockedLaunches(Struct, frozen=True):
    """When launching calls of either thread waited for the device to take what was launched long before."""

    main: Spans
    queue: Spans


class ReplayInput(Struct, frozen=True, dict=True):
    """One rank, or several one after another, as far as a replay needs them."""

    ranks: RanksInTime
    work: ReplayedWork
    beside: ReplayedWork
    """Collectives that run beside computation; `awaits` is the row of `work` that they follow."""
    queue: Queue
    waits: Spans
    """When the host waits until the device has nothing left to do (`emptying_waits`)."""
    steps: Spans | None = None
    """The time of its steps on the device; None where all of it is."""
    blocked: BlockedLaunches | None = None
    """When launching calls waited for room in a full queue of the device."""

    def let_go(self) -> None:
        """Lets go of what all replays of a long recording share: thirty numbers of each task, which are worked out in
        less time than one of its replays takes. Whoever replays it next, or does so now, has them made anew."""
        if len(self.work.start) >= LONG:
            self.__dict__.clear()
            self.work.__dict__.clear()

    @cached_property
    def unblocked(self) -> tuple[Array, Array]:
        """The same as `unrelieved` for a host that never waited for room."""
        return _limits_of(self, _without_blocks(Relief.none(), self.blocked), self.cut)

    @cached_property
    def cut(self) -> _Cut:
        """The rank cut at all of its waits."""
        return _cut_at(self, self.waits)

    @cached_property
    def unrelieved(self) -> tuple[Array, Array]:
        """What holds its tasks while the host does what it did: asked for anew for each thing the device may spare."""
        return _limits_of(self, Relief.none(), self.cut)

    @cached_property
    def plain(self) -> Array:
        """What a replay that changes nothing gives: other replays are set against it."""
        return gains_by_task(self, Relief.none(), waits=self.waits)

    @cached_property
    def held(self) -> Array:
        """Per task of `work`: for how long it was launched and the device free, and it did not begin, ns."""
        work = self.work
        return np.where(work.awaits < 0, np.minimum(work.idle(self.ranks), np.maximum(work.queued, 0)), 0)

    @cached_property
    def slack(self) -> Array:
        """Per task of `work`: how long the device was idle before it, beyond that, ns."""
        return self.work.idle(self.ranks) - self.held

    @cached_property
    def joins(self) -> Array:
        """The tasks of `work` that waited for a collective beside them."""
        return np.flatnonzero(self.work.awaits >= 0)

    @cached_property
    def beside_idle(self) -> Array:
        """How long no collective ran beside computation before each of those that did, ns."""
        return self.beside.idle(self.ranks)

    @cached_property
    def beside_slack(self) -> Array:
        """Per collective beside computation: how long after the task it follows it began, ns; negative without one.

        Times are rounded: one that seems to begin `ROUNDED_NS` before that task ends began as it ended.
        """
        slack = self.beside.start - values_at(self.work.end, self.beside.awaits, 0)
        slack = np.where((slack < 0) & (slack >= -ROUNDED_NS), 0, slack)
        return np.where(self.beside.awaits >= 0, slack, -1)


class _Launched(Struct, frozen=True):
    """What one rank's device did, as the host launched it: what it is spared changes nothing of this."""

    of: Array
    """Per task: the stretch in which the main thread was done with launching it."""
    in_wait: Array
    """The tasks that were launched inside of a wait, once the queue had run empty, and the entry before each."""
    entry: Array
    emptied_ns: Array
    """How much later the queue ran empty than that wait began; negative where it did before."""


class _Chain(Struct, frozen=True):
    """Of tasks in order of start those that follow each other: what begins and ends beside another one is left out."""

    row: Array
    turns: Turns
    at: Array
    """Per task: its place among these, or that of the last one before it."""

    @classmethod
    def of_tasks(cls, work: ReplayedWork, turns: Turns) -> _Chain:
        """The first task of each stretch, and all that end later than everything before them."""
        kept = work.end > np.append(-UNBOUND, work.reach)[: len(work.end)]
        kept[turns.begin] = True
        number = row_type(len(kept))
        row = np.flatnonzero(kept).astype(number)
        return cls(row, Turns.of_stretches(turns.of[row]), np.cumsum(kept, dtype=number) - 1)

    def gains(self, limit: Array, slack: Array, spared: SparedTime | None) -> Array:
        """Per task: `least(limit, gain of the one before it + slack)`, and what it is spared itself."""
        slack = slack.take(self.row)
        if spared is None:
            gain = gains_in_turn(limit.take(self.row), slack, self.turns)
        else:
            limit, own = limit + spared.under, spared.alone.take(self.row)
            slack[1:] += own[:-1]
            slack[self.turns.begin[1:]] -= own[self.turns.begin[1:] - 1]
            gain = gains_in_turn(limit.take(self.row), slack, self.turns) + own
        if len(self.row) == len(limit):
            return gain
        beside: Array = np.minimum(limit, gain.take(self.at))
        beside[self.row] = gain
        return beside


class _Cut(Struct, frozen=True):
    """A rank cut at some of its waits into stretches, whatever the host is spared."""

    waits: Spans
    edges: Array
    """When each stretch begins."""
    first: Array
    """Per rank: its first stretch."""
    waited: Array
    """The stretches that end with a wait: all but the last one of each rank, in order of the waits."""
    work: _Launched
    beside: _Launched
    work_turns: Turns
    work_chain: _Chain
    beside_turns: Turns
    beside_chain: _Chain
    entry_turns: Turns
    drained_ns: Array
    """Per stretch that ends with a wait: how much later the device was done with it than the wait began; missing
    (`UNBOUND`) where it did nothing."""


class SparedTime(Struct, frozen=True):
    """Device time taken away from each task, ns."""

    alone: Array
    """After all that began before it had ended."""
    under: Array
    """While something still ran that began before it and is spared that time too: where the task begins no earlier than
    it was launched, it ends so much earlier all the same."""

    @classmethod
    def in_turn(cls, alone: Array) -> SparedTime:
        """Of tasks that follow each other."""
        return cls(alone, np.zeros_like(alone))


class Relief(Struct, frozen=True):
    """Host time taken away, as a set of time."""

    main: Spans
    queue: Spans
    keeps_up: bool = False
    """Beside that, whether the host is taken to launch early enough; after a wait as soon as it usually goes on to the
    next launch."""
    device: SparedTime | None = None
    """Device time taken away; none of it where this is None."""
    beside: SparedTime | None = None
    """The same of each collective beside computation."""

    @property
    def leaves_the_host(self) -> bool:
        """Whether the host does what it did, when it did."""
        return not (self.keeps_up or len(self.main) or len(self.queue))

    @classmethod
    def none(cls) -> Relief:
        """Nothing is taken away."""
        return cls(Spans.none(), Spans.none())

    @classmethod
    def of_device(cls, spared: SparedTime) -> Relief:
        """Tasks take so much less time; the host does what it did."""
        return cls(Spans.none(), Spans.none(), device=spared)


def gains_by_task(rank: ReplayInput, relief: Relief, *, waits: Spans) -> Array:
    """Per task of `rank.work`: how much earlier it ends, ns, when these parts of the host's and device's time go.

    `waits` are those of `rank.waits` that stay.
    """
    cut = rank.cut if waits is rank.waits else _cut_at(rank, waits)
    usual = relief.leaves_the_host and cut is rank.cut
    limits = rank.unrelieved if usual else _limits_of(rank, relief, cut)
    if rank.blocked is None or relief.device is None or relief.keeps_up:
        gain, before = _gains_within(rank, relief, cut, limits)
        return gain + before.take(cut.work_turns.of)
    free = _without_blocks(relief, rank.blocked)
    loose = rank.unblocked if usual else _limits_of(rank, free, cut)
    gain, before = _gains_within(rank, free, cut, loose)
    sooner = gain + before.take(cut.work_turns.of)
    gain, before = _gains_within(rank, free, cut, _limits_with_room(rank, cut, (limits, loose), (sooner, before)))
    return gain + before.take(cut.work_turns.of)


def _without_blocks(relief: Relief, blocked: BlockedLaunches | None) -> Relief:
    """The same relief, and no wait for room in the queue of the device."""
    if blocked is None:
        return relief
    main, queue = union_of_sets([relief.main, blocked.main]), union_of_sets([relief.queue, blocked.queue])
    return Relief(main, queue, relief.keeps_up, relief.device, relief.beside)


def _limits_with_room(
    rank: ReplayInput, cut: _Cut, limits: tuple[tuple[Array, Array], tuple[Array, Array]], gains: tuple[Array, Array]
) -> tuple[Array, Array]:
    """By how much earlier each task may begin where the host waits for room only as long as the device makes it.

    `limits` are those of a host that waits as it did, and that never waits; `gains` by how much earlier each task ends
    for the latter, and each stretch begins. A host that waits for room goes on as much sooner as the device by then is.
    """
    (waiting, never), (sooner, before) = limits, gains
    first = rank.ranks.edges_of(rank.work.start)
    found = []
    for work, turns, least, most in zip(
        (rank.work, rank.beside), (cut.work_turns, cut.beside_turns), waiting, never, strict=True
    ):
        begun = np.searchsorted(rank.work.start, work.launch, "right") - 1
        begun = np.where(begun < first[rank.ranks.at(work.launch)], -1, begun)
        made = np.maximum(values_at(sooner, begun, 0) - before.take(turns.of), 0)
        found.append(least + np.minimum(most - least, made))
    return found[0], found[1]


def _gains_within(rank: ReplayInput, relief: Relief, cut: _Cut, limits: tuple[Array, Array]) -> tuple[Array, Array]:
    """Per task: how much earlier it ends beyond what its stretch begins earlier; and that, per stretch."""
    work, beside, joins = rank.work, rank.beside, rank.joins
    limit, beside_limit = limits
    turns, chain = cut.work_turns, cut.work_chain
    gain = chain.gains(limit, rank.slack, relief.device)
    before = _gain_before_stretch(rank, relief, cut, gain)
    bound = limit
    for _ in range(_ROUNDS if len(joins) else 0):
        other = _gains_beside(rank, gain + before.take(turns.of), before, (beside_limit, relief.beside), cut)
        awaited = work.awaits[joins]
        held = other[awaited] + np.maximum(work.start[joins] - beside.end[awaited], 0) - before[turns.of[joins]]
        held = np.minimum(limit[joins], held)
        if np.array_equal(bound[joins], held):
            break
        bound = limit.copy()
        bound[joins] = held
        last, gain = gain, chain.gains(bound, rank.slack, relief.device)
        if np.array_equal(last, gain):
            break
        before = _gain_before_stretch(rank, relief, cut, gain)
    return gain, before


def _cut_at(rank: ReplayInput, waits: Spans) -> _Cut:
    before = np.searchsorted(waits.start, rank.ranks.place)
    first = before + np.arange(len(before))
    edges = np.insert(waits.end, before, rank.ranks.begin)
    waited = np.delete(np.arange(len(edges)), np.append(first[1:], len(edges)) - 1)
    stretches = rank.ranks, edges, first
    entries = Turns.of_stretches(np.maximum.accumulate(_stretch_at(stretches, rank.queue.put)))
    work, beside = (_launched(rank, one, stretches, entries) for one in (rank.work, rank.beside))
    turns = Turns.of_stretches(np.maximum.accumulate(work.of))
    begun, ended = np.zeros(len(edges), np.int64), np.full(len(edges), np.iinfo(np.int64).max)
    begun[waited], ended[waited] = waits.start, waits.end
    drained = np.full(len(edges), UNBOUND)
    of = turns.of[turns.end]
    drained[of] = np.minimum(rank.work.reach[turns.end], ended[of]) - begun[of]
    beside_turns = Turns.of_stretches(beside.of)
    return _Cut(
        waits,
        edges,
        first,
        waited,
        work,
        beside,
        work_turns=turns,
        work_chain=_Chain.of_tasks(rank.work, turns),
        beside_turns=beside_turns,
        beside_chain=_Chain.of_tasks(rank.beside, beside_turns),
        entry_turns=entries,
        drained_ns=drained[waited],
    )


def _launched(
    rank: ReplayInput, work: ReplayedWork, stretches: tuple[RanksInTime, Array, Array], entries: Turns
) -> _Launched:
    queue = rank.queue
    put = handed_over(queue, work)
    of = _stretch_at(stretches, put)
    row = np.flatnonzero(work.entry < 0) if len(queue.start) else np.empty(0, np.intp)
    wait = span_at(rank.waits, work.launch[row])
    row, wait = row[wait >= 0], wait[wait >= 0]
    last = np.searchsorted(queue.start, work.launch[row], "right") - 1
    same = (last >= 0) & (entries.of[last] == of[row])
    row, wait, last = row[same], wait[same], last[same]
    return _Launched(
        of=of,
        in_wait=row,
        entry=last,
        emptied_ns=queue.end[last] - rank.waits.start[wait],
    )


def _limits_of(rank: ReplayInput, relief: Relief, cut: _Cut) -> tuple[Array, Array]:
    """Per task of the work, and per collective beside it: by how much earlier it may begin."""
    begun = _entry_gains(rank, relief, cut)
    limit, beside_limit = (
        _launch_limits(relief, (rank.queue, work), (launched, cut.edges), begun)
        for work, launched in ((rank.work, cut.work), (rank.beside, cut.beside))
    )
    if relief.keeps_up:
        first = np.zeros(len(limit), bool)
        first[cut.work_turns.begin] = True
        limit = np.where(first, limit + _delay_after_wait(rank, relief, cut), UNBOUND)
        beside_limit = np.full(len(beside_limit), UNBOUND)
    return limit - rank.held, beside_limit


def handed_over(queue: Queue, work: ReplayedWork) -> Array:
    """Per task: when the main thread was done with launching it."""
    return np.where(work.entry >= 0, values_at(queue.put, work.entry, 0), work.launch)


def emptying_waits(waits: Spans, work: ReplayedWork, queue: Queue) -> Spans:
    """The waits at whose end the device is done with all that was launched before: those after which it starts afresh.

    What waits for something earlier or for another stream, or finds nothing to wait for, leaves the queue as it is: the
    device works on through it. So it does where it goes on at once with a task of which it is not known when that was
    launched: it may have been queued all the time.
    """
    put = handed_over(queue, work)
    order = np.argsort(put, kind="stable")
    reach = np.append(-UNBOUND, np.maximum.accumulate(work.end[order]))
    done = reach[np.searchsorted(put[order], waits.start)] <= waits.end + AT_ONCE_NS
    unknown = work.queued >= UNBOUND
    done &= span_at(union(work.start[unknown], work.end[unknown]), waits.end + AT_ONCE_NS) < 0
    return Spans(waits.start[done], waits.end[done])


def _delay_after_wait(rank: ReplayInput, relief: Relief, cut: _Cut) -> Array:
    """Per task: by how much later after the wait before it the host launched it than one launch follows another.

    What was taken away already does not count in either, nor what precedes the first launch of all.
    """
    put, edges, of = handed_over(rank.queue, rank.work), cut.edges, cut.work_turns.of
    pace = _usual_paces(rank, relief, cut)[_ranks_of_stretches(cut)[of]]
    spent = put - edges[of] - covered_ns(relief.main, edges[of], put) - pace
    if rank.steps is not None:  # a pause between captures strung together is no step's
        start = rank.work.start
        spent = np.minimum(spent, covered_ns(rank.steps, start - rank.work.idle(rank.ranks), start))
    return np.where(np.isin(of, cut.first), 0, np.maximum(spent, 0))


def _delay_until_wait(rank: ReplayInput, relief: Relief, cut: _Cut) -> Array:
    """Per stretch that ends with a wait: by how much later the host came to that than to another launch; what was taken
    away already does not count."""
    since, until = cut.edges[cut.waited], cut.waits.start
    pace = _usual_paces(rank, relief, cut)[_ranks_of_stretches(cut)[cut.waited]]
    spent = until - since - covered_ns(relief.main, since, until) - pace
    if rank.steps is not None:
        spent = np.minimum(spent, covered_ns(rank.steps, since, until))
    return np.where(np.isin(cut.waited, cut.first), 0, np.maximum(spent, 0))


def _usual_paces(rank: ReplayInput, relief: Relief, cut: _Cut) -> Array:
    """Per rank: after how much time of its own the host follows one launch with another, ns."""
    put, of = handed_over(rank.queue, rank.work), cut.work_turns.of
    known = (rank.work.queued < UNBOUND) & (rank.work.end > rank.work.start)  # what ends a rank is no launch
    ranks = _ranks_of_stretches(cut)[of]
    left = put - covered_ns(relief.main, np.minimum(cut.edges[cut.first[ranks]], put), put)
    apart = np.diff(left[known])
    follow = (np.diff(of[known]) == 0) & (apart > 0)
    apart, edges = apart[follow], np.searchsorted(ranks[known][1:][follow], np.arange(1, len(cut.first)))
    return np.array([int(np.median(own)) if len(own) else 0 for own in np.split(apart, edges)])


def _ranks_of_stretches(cut: _Cut) -> Array:
    """Per stretch: which of the ranks it is of."""
    return np.searchsorted(cut.first, np.arange(len(cut.edges)), "right") - 1


def _gains_beside(
    rank: ReplayInput, gain: Array, before: Array, own: tuple[Array, SparedTime | None], cut: _Cut
) -> Array:
    """Per collective beside computation: its gain, from those of the work in turn and of each stretch's beginning.

    `own` is by how much earlier each may begin for all its launch says, and what it is spared itself. That none ran
    before the wait that its stretch follows leaves it no room: it had not been asked for.
    """
    (limit, spared), slack, earlier = own, rank.beside_slack, before.take(cut.beside_turns.of)
    bound = np.where(slack >= 0, values_at(gain, rank.beside.awaits, 0) + slack - earlier, limit)
    idle = np.clip(rank.beside.start - cut.edges[cut.beside_turns.of], 0, rank.beside_idle)
    return cut.beside_chain.gains(np.minimum(limit, bound), idle, spared) + earlier


def _entry_gains(rank: ReplayInput, relief: Relief, cut: _Cut) -> tuple[Array, Array]:
    """Per entry of the queue: how much earlier it begins, and ends."""
    queue, turns = rank.queue, cut.entry_turns
    handed = covered_ns(relief.main, cut.edges[turns.of], queue.put) + np.maximum(queue.start - queue.put, 0)
    saved = covered_ns(relief.queue, queue.start, queue.end)
    # the time saved in an entry is as good as idle time before the next one
    begun = gains_in_turn(handed, queue.idle(rank.ranks) + np.append(0, saved)[: len(saved)], turns)
    return begun, begun + saved


def _launch_limits(
    relief: Relief,
    launching: tuple[Queue, ReplayedWork],
    launched: tuple[_Launched, Array],
    entries: tuple[Array, Array],
) -> Array:
    """Per task: how much earlier it could begin for all its launch says."""
    (queue, work), (how, edges), (begun, ended) = launching, launched, entries
    gain = covered_ns(relief.main, edges[how.of], handed_over(queue, work))
    if len(begun):
        within = covered_ns(relief.queue, values_at(queue.start, work.entry, 0), work.launch)
        gain = np.where(work.entry >= 0, values_at(begun, work.entry, 0) + within, gain)
        # what is launched inside of a wait, as the copy of a value read, follows the last entry of the queue
        gain[how.in_wait] = np.minimum(
            gain[how.in_wait] + np.maximum(how.emptied_ns, 0), ended[how.entry] + np.maximum(-how.emptied_ns, 0)
        )
    return gain + work.queued


def _stretch_at(stretches: tuple[RanksInTime, Array, Array], moment: Array) -> Array:
    """The stretch in which each moment lies; the first of a rank for those before it."""
    ranks, edges, first = stretches
    found = np.searchsorted(edges, moment, "right") - 1
    return np.maximum(found, first[ranks.at(moment)]).astype(row_type(len(edges)))


def _gain_before_stretch(rank: ReplayInput, relief: Relief, cut: _Cut, gain: Array) -> Array:
    """Per stretch: the gain at its beginning, the sum of those before it.

    A host that keeps up comes to a wait that nothing was launched before, as a copy it waits for, as soon as it would
    to another launch.
    """
    drained, turns, waited = cut.drained_ns, cut.work_turns, cut.waited
    reached = np.zeros(len(cut.edges), np.int64)
    reached[turns.of[turns.end]] = gain[turns.end]
    empty = drained == UNBOUND
    late = _delay_until_wait(rank, relief, cut) if relief.keeps_up and empty.any() else 0
    of_host = covered_ns(relief.main, cut.edges[waited], cut.waits.start)
    of_host += np.where(empty, late, np.maximum(drained, 0))
    of_device = np.where(empty, of_host, reached[waited] + np.maximum(-drained, 0))
    if relief.keeps_up:
        of_host = np.maximum(of_host, of_device)
    more = np.zeros(len(cut.edges), np.int64)
    more[waited + 1] = np.minimum(of_host, of_device)
    found: Array = np.cumsum(more)
    return found if len(cut.first) == 1 else found - found[cut.first][_ranks_of_stretches(cut)]
