# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.arrays.intervals import Spans, union
from advisor.analysis.arrays.turns import Turns, gains_in_turn
from advisor.analysis.host.full_queue import waits_for_room
from advisor.analysis.replay.replay import (
    BlockedLaunches,
    Queue,
    RanksInTime,
    Relief,
    ReplayedWork,
    ReplayInput,
    SparedTime,
    emptying_waits,
    gains_by_task,
)

NONE = Spans.none()
ITEMS = st.lists(
    st.tuples(st.integers(-20, 60), st.integers(0, 15), st.booleans()).map(lambda t: (t[0], t[1], int(t[2]))),
    max_size=20,
)


@settings(max_examples=60)
@given(ITEMS)
def test_following_agrees_with_one_item_after_another(items):
    stretch = np.cumsum([new for *_, new in items]).astype(np.int64)
    limit, slack = (np.array([item[at] for item in items], np.int64) for at in (0, 1))
    expected, gain, last = [], 0, None
    for one, room, own in zip(limit.tolist(), slack.tolist(), stretch.tolist(), strict=True):
        gain = min(one, (gain if own == last else 0) + room)
        # what a stretch has no slack for it cannot gain
        expected.append(gain)
        last = own
    assert gains_in_turn(limit, slack, Turns.of_stretches(stretch)).tolist() == expected


def tasks(*rows: tuple[int, int, int]) -> ReplayedWork:
    """Tasks of (launch, start, end), queued for as long as lies between launch and start."""
    launch, start, end = (np.array([row[at] for row in rows], np.int64) for at in range(3))
    nothing = np.full(len(rows), -1)
    return ReplayedWork(start, end, launch, entry=nothing, queued=start - launch, awaits=nothing)


def rank(work: ReplayedWork, waits: Spans = NONE, queue: Queue | None = None) -> ReplayInput:
    empty = np.empty(0, np.int64)
    return ReplayInput(RanksInTime.of_one(0), work, tasks(), queue or Queue(empty, empty, empty), waits)


def spans(*pairs: tuple[int, int]) -> Spans:
    return union(*(np.array(side, np.int64) for side in zip(*pairs, strict=True)))


def test_a_pause_of_the_host_costs_what_the_queue_did_not_hide():
    """The device lives on its queue for 30 of the 50 that the host pauses."""
    found = gains_by_task(rank(tasks((0, 0, 40), (60, 60, 70))), Relief(spans((10, 60)), NONE), waits=NONE)
    assert found.tolist() == [0, 20]


def test_a_pause_costs_nothing_while_the_queue_is_deep():
    found = gains_by_task(rank(tasks((0, 0, 100), (60, 100, 110))), Relief(spans((10, 60)), NONE), waits=NONE)
    assert found.tolist() == [0, 0]


def test_a_pause_that_only_shrinks_the_lead_is_paid_for_later():
    """No device is idle during the first pause, but without it the second would have been hidden."""
    work = tasks((0, 0, 50), (45, 50, 60), (100, 100, 110))
    both, first = spans((5, 45), (50, 100)), spans((5, 45))
    assert gains_by_task(rank(work), Relief(both, NONE), waits=NONE).tolist() == [0, 0, 40]
    assert gains_by_task(rank(work), Relief(first, NONE), waits=NONE).tolist() == [0, 0, 40]


def test_what_was_won_before_a_wait_is_kept_after_it():
    work = tasks((0, 0, 10), (30, 30, 40), (45, 45, 50))
    found = gains_by_task(rank(work, spans((35, 42))), Relief(spans((10, 30)), NONE), waits=spans((35, 42)))
    assert found.tolist() == [0, 20, 20]


def test_a_wait_that_ends_before_the_device_is_done_keeps_what_was_won_before_it():
    """The device is never without work: its second task goes on where the first ends, whatever is asked between."""
    ms = 1_000_000
    work = tasks((0, 0, 10 * ms), (2 * ms, 10 * ms, 14 * ms))
    short = spans((ms, ms + 100))
    less = Relief.of_device(SparedTime.in_turn(np.array([3 * ms, 0])))
    one = rank(work, short)
    assert gains_by_task(one, less, waits=emptying_waits(short, work, one.queue)).tolist() == [3 * ms, 3 * ms]


def test_a_wait_that_falls_away_lets_the_host_run_ahead():
    work = tasks((0, 0, 40), (60, 60, 70))
    wait = spans((5, 41))
    assert gains_by_task(rank(work, wait), Relief(wait, NONE), waits=NONE).tolist() == [0, 20]


def test_time_saved_on_the_second_thread_is_bounded_by_the_first():
    """The entry was handed over at 20: compiling for 50 less helps by 30 only for the second."""
    queue = Queue(*(np.array(side, np.int64) for side in ([5, 65], [60, 70], [5, 20])))
    nothing = np.full(2, -1)
    work = ReplayedWork(*(np.array(side, np.int64) for side in ([58, 68], [59, 69], [57, 67], [0, 1], [0, 0])), nothing)
    found = gains_by_task(rank(work, queue=queue), Relief(NONE, spans((6, 56))), waits=NONE)
    assert found.tolist() == [50, 45]


def test_a_second_thread_that_lags_behind_wins_nothing_where_the_first_hands_over_sooner() -> None:
    """Between its entries it does something of its own while the next one waits already."""
    queue = Queue(*(np.array(side, np.int64) for side in ([5, 66], [60, 120], [5, 20])))
    nothing = np.full(2, -1)
    work = ReplayedWork(
        *(np.array(side, np.int64) for side in ([58, 118], [59, 119], [57, 117], [0, 1], [0, 0])), nothing
    )
    assert gains_by_task(rank(work, queue=queue), Relief(spans((6, 16)), NONE), waits=NONE).tolist() == [0, 0]


def test_work_that_awaits_a_collective_comes_no_sooner_than_that():
    work, beside = tasks((0, 0, 10), (40, 40, 50), (41, 80, 90)), tasks((12, 12, 80))
    work = ReplayedWork(work.start, work.end, work.launch, work.entry, work.queued, awaits=np.array([-1, -1, 0]))
    beside = ReplayedWork(beside.start, beside.end, beside.launch, beside.entry, beside.queued, awaits=np.array([0]))
    empty = np.empty(0, np.int64)
    one = ReplayInput(RanksInTime.of_one(0), work, beside, Queue(empty, empty, empty), NONE)
    assert gains_by_task(one, Relief(spans((13, 40)), NONE), waits=NONE).tolist() == [0, 27, 0]


@pytest.mark.parametrize("early", [0, 1, 2000])
def test_a_collective_that_seems_to_begin_before_the_task_it_follows_ends_is_not_sooner_for_that(early: int) -> None:
    """Both were launched long before, so that nothing but that task holds it."""
    work, beside = tasks((0, 0, 100_000), (6_000, 400_000, 410_000)), tasks((5_000, 100_000 - early, 400_000))
    work = msgspec.structs.replace(work, awaits=np.array([-1, 0]), queued=np.array([0, 394_000]))
    beside = msgspec.structs.replace(beside, awaits=np.array([0]), queued=np.array([95_000]))
    empty = np.empty(0, np.int64)
    one = ReplayInput(RanksInTime.of_one(0), work, beside, Queue(empty, empty, empty), NONE)
    assert gains_by_task(one, Relief(NONE, NONE), waits=NONE).tolist() == [0, 0]


def test_a_replay_says_the_same_after_what_it_shares_was_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.analysis.replay.replay.LONG", 3)
    work = tasks((0, 0, 10), (30, 30, 40), (45, 45, 50))
    one, relief = rank(work, spans((35, 42))), Relief(spans((10, 30)), NONE)
    before = gains_by_task(one, relief, waits=one.waits).tolist()
    cut = one.cut
    one.let_go()
    assert gains_by_task(one, relief, waits=one.waits).tolist() == before == [0, 20, 20]
    assert one.cut is not cut


def test_nothing_taken_away_wins_nothing():
    found = gains_by_task(
        rank(tasks((0, 0, 10), (30, 30, 40)), spans((12, 14))), Relief(NONE, NONE), waits=spans((12, 14))
    )
    assert found.tolist() == [0, 0]


def test_a_host_that_keeps_up_leaves_the_pause_after_a_wait():
    work = tasks((0, 0, 10), (20, 20, 30), (50, 50, 60), (70, 70, 80))
    wait = spans((30, 40))
    found = gains_by_task(rank(work, wait), Relief(NONE, NONE, keeps_up=True), waits=wait)
    assert found.tolist() == [0, 10, 10, 20]


def test_a_host_that_keeps_up_goes_on_after_a_wait_as_soon_as_it_usually_launches():
    """Launches follow each other by 10; after the wait it takes 60, which leaves the device 50 without work."""
    work = tasks((0, 0, 10), (10, 10, 20), (20, 20, 30), (90, 90, 95), (100, 100, 110))
    wait = spans((22, 30))
    found = gains_by_task(rank(work, wait), Relief(NONE, NONE, keeps_up=True), waits=wait)
    assert found.tolist() == [0, 0, 0, 50, 55]


def test_a_host_that_keeps_up_comes_to_a_copy_that_it_waits_for_as_soon_as_to_a_launch():
    """Nothing is in turn between the two waits but the host itself, for 60; from launch to launch it needs 5."""
    work = tasks((0, 0, 10), (5, 10, 20), (100, 100, 110))
    waits = spans((15, 20), (80, 98))
    keeps_up = Relief(NONE, NONE, keeps_up=True)
    assert gains_by_task(rank(work, waits), keeps_up, waits=waits).tolist() == [0, 0, 55]


def test_a_wait_behind_which_the_device_goes_on_with_what_may_have_been_queued_leaves_the_queue_as_it_is():
    known = tasks((0, 0, 100_000), (300_000, 300_000, 400_000))
    unknown = ReplayedWork(*(np.array([one]) for one in (101_000, 200_000, 101_000, -1, 2**50, -1)))
    both = ReplayedWork(
        *(np.append(getattr(known, name), getattr(unknown, name)) for name in ReplayedWork.__struct_fields__)
    )
    order = np.argsort(both.start)
    waits, queue = spans((20_000, 100_000)), rank(known).queue
    assert len(emptying_waits(waits, known, queue)) == 1
    assert len(emptying_waits(waits, both.take(order), queue)) == 0


def test_a_receive_posted_after_a_wait_comes_no_sooner_than_that_wait_ends():
    """No collective ran for 55 before it, but the host had waited until 5 before: a pipeline stage that goes on with
    its next step cannot have asked for its first gradient in the last one."""
    work = tasks((0, 0, 40), (52, 52, 70), (54, 150, 160))
    work = msgspec.structs.replace(work, awaits=np.array([-1, -1, 0]))
    beside = tasks((55, 55, 150))
    empty, wait = np.empty(0, np.int64), spans((10, 50))
    one = ReplayInput(RanksInTime.of_one(0), work, beside, Queue(empty, empty, empty), wait)
    found = gains_by_task(one, Relief(NONE, NONE, keeps_up=True), waits=wait)
    assert found[2] <= 55 - 50


def test_a_pause_between_captures_is_not_won_by_a_host_that_keeps_up():
    """As above, but of the 60 without work only the last 10 lie in a step."""
    work = tasks((0, 0, 10), (10, 10, 20), (20, 20, 30), (90, 90, 95), (100, 100, 110))
    wait = spans((22, 30))
    one = msgspec.structs.replace(rank(work, wait), steps=spans((0, 30), (80, 120)))
    assert gains_by_task(one, Relief(NONE, NONE, keeps_up=True), waits=wait).tolist() == [0, 0, 0, 10, 15]


def launched_into_queue(host: list[int], device: list[int], depth: int) -> tuple[ReplayedWork, Spans]:
    """What a host does that needs so long for each launch and waits while `depth` of them have not begun."""
    start, end, launch, waits = [], [], [], []
    now = free = 0
    for number, (prepares, runs) in enumerate(zip(host, device, strict=True)):
        ready = now + prepares
        now = max(ready, start[number - depth]) if number >= depth else ready
        if now > ready:
            waits.append((ready, now))
        start.append(max(free, now))
        free = start[-1] + runs
        end.append(free)
        launch.append(now)
    return tasks(*zip(launch, start, end, strict=True)), spans(*waits) if waits else NONE


def gains_with_queue(host: list[int], device: list[int], spared: list[int], depth: int) -> tuple[list[int], list[int]]:
    """By a replay, and by doing it again."""
    work, waits = launched_into_queue(host, device, depth)
    one = msgspec.structs.replace(rank(work), blocked=BlockedLaunches(waits, NONE) if len(waits) else None)
    less = Relief.of_device(SparedTime.in_turn(np.array(spared, np.int64)))
    shorter, _ = launched_into_queue(host, [runs - less for runs, less in zip(device, spared, strict=True)], depth)
    return gains_by_task(one, less, waits=NONE).tolist(), (work.end - shorter.end).tolist()


LAUNCHED = st.integers(1, 40).flatmap(
    lambda count: st.tuples(
        st.lists(st.integers(1, 40), min_size=count, max_size=count),
        st.lists(st.integers(1, 50), min_size=count, max_size=count),
        st.lists(st.floats(0, 1), min_size=count, max_size=count),
        st.integers(2, 8),
    )
)


@given(LAUNCHED)
def test_a_host_that_waits_for_room_in_the_queue_goes_on_as_soon_as_a_faster_device_makes_it(launched):
    host, device, parts, depth = launched
    spared = [int(runs * part) for runs, part in zip(device, parts, strict=True)]
    found, truth = gains_with_queue(host, device, spared, depth)
    assert all(least <= gain <= most for least, gain, most in zip(truth, found, np.cumsum(spared), strict=True))


@given(LAUNCHED)
def test_a_device_that_stays_slower_than_its_host_wins_all_that_its_tasks_are_spared(launched):
    _, device, parts, depth = launched
    spared = [int(runs * part) for runs, part in zip(device, parts, strict=True)]
    found, truth = gains_with_queue([1] * len(device), [runs + 2 for runs in device], spared, depth)
    assert found == truth == np.cumsum(spared).tolist()


def test_calls_that_wait_for_room_are_those_that_last_long_while_the_queue_is_full():
    host, device = [5_000] * 3000, [30_000] * 1500 + [3_000] * 1500
    work, waits = launched_into_queue(host, device, 1_000)
    begun = np.concatenate([[0], work.launch[:-1]])
    found = waits_for_room(begun, work.launch, work.start)
    assert abs(int(found.lengths.sum()) - int(waits.lengths.sum())) <= 0.01 * waits.lengths.sum()
    assert not len(waits_for_room(*(launched_into_queue(host, device, 300)[0].launch[:0],) * 3))


def test_long_calls_of_a_host_that_is_not_far_ahead_do_something_else():
    host = [5_000] * 900 + [2_000_000] + [5_000] * 900
    work, _ = launched_into_queue(host, [4_000] * len(host), 1_000)
    assert not len(waits_for_room(np.concatenate([[0], work.launch[:-1]]), work.launch, work.start))
