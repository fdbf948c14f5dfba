# SPDX-License-Identifier: Apache-2.0
"""Ranks that are replayed together gain what each of them gains by itself, whatever the others do."""

from __future__ import annotations

from itertools import chain, count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.arrays.intervals import Spans, union
from advisor.analysis.idle.gaps import gaps
from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.analysis.replay import joined_ranks, replay
from advisor.analysis.replay.joined_ranks import join_ranks_in_time, joined_in_parts
from advisor.analysis.replay.removals import removals
from advisor.analysis.replay.replayed_rank import ReplayedRank, replayed_rank
from advisor.analysis.steps.device import build_timeline
from advisor.facts.base import Fact
from advisor.facts.derived import Dispatch
from advisor.facts.observed import Collective, HostCall, Kernel, StepWindow
from advisor.facts.table import Table
from advisor.rules.patterns import shipped_patterns
from tests.analysis.timelines import meant

Job = tuple[Table[Kernel], Table[Dispatch], Table[HostCall], Table[Collective], Table[StepWindow]]
_US = 1000
_CALLS = [
    ("gc", "gc"),
    ("api", "aclrtSynchronizeStream"),
    ("api", "aclrtMemcpy"),
    ("operator", "aten::item"),
    ("operator", "aten::mul"),
    ("data_loader", "__next__"),
    ("api", "launch"),
]
EVENT = st.tuples(
    st.sampled_from([0, 0, 3, 20, 90]) | st.integers(0, 400),  # idle before it, us
    st.integers(0, 60),  # its length, us
    st.sampled_from([None, 0, 5, 50]) | st.integers(0, 300),  # its latency, us
    st.sampled_from(["Cast", "Mul", "MatMul", "Mul", "comm", "beside"]),
    st.none() | st.tuples(st.integers(0, 50), st.integers(1, 120), st.sampled_from(_CALLS)),
)
RANK = st.tuples(
    st.lists(EVENT, min_size=1, max_size=14),
    st.integers(0, 10**7),  # when it begins, us
    st.booleans(),  # whether a second thread launches
    st.integers(1, 4),  # after how many events a step ends; one step where there are no more
)
RANKS = st.lists(RANK, min_size=2, max_size=4)


def _built(fact: type[Fact], rows: list[dict[str, Any]]) -> Table[Any]:
    return Table.build(fact, **{name: [row[name] for row in rows] for name in rows[0]}) if rows else Table.empty(fact)


def _job(ranks: list[Any]) -> Job:
    """Tables of a job: per rank events one after another, some of them launched by a second thread."""
    kernels, links, calls, collectives, windows = ([] for _ in range(5))
    number = count()
    for rank, (events, begin, queued, every) in enumerate(ranks):
        clock, opened = begin * _US, begin * _US - 400 * _US
        for place, (idle, length, latency, kind, call) in enumerate(events):
            step = place // every
            start, us = clock + idle * _US, float(length)
            if kind in ("comm", "beside"):
                collectives.append({"rank": rank, "step": step, "start_ns": start, "elapse_us": us, "op": "allReduce"})
            else:
                kernels.append({"rank": rank, "step": step, "start_ns": start, "duration_us": us, "op_type": kind})
            if latency is not None:
                vertical = {"vertical": idle > 5 and latency < idle}
                links.append({"rank": rank, "start_ns": start, "latency_us": float(latency), **vertical})
                moment, id_ = start - latency * _US, next(number)
                line = {"rank": rank, "thread": 1 + queued, "start_ns": moment - 500, "end_ns": moment + 1500}
                calls.append({**line, "kind": "api", "name": "launch", "connection": id_})
                if queued:
                    calls.append({**line, "kind": "dequeue", "name": "Dequeue@x", "connection": id_})
                    put = {"thread": 1, "start_ns": moment - 9000, "end_ns": moment - 6000}
                    calls.append({**line, **put, "kind": "enqueue", "name": "Enqueue@x", "connection": id_})
                aten = {"thread": 1, "start_ns": moment - 9500, "end_ns": moment + 2000}
                calls.append({**line, **aten, "kind": "operator", "name": "aten::add", "connection": next(number)})
            if call is not None:
                after, lasts, (what, name) = call
                line = {"rank": rank, "thread": 1, "start_ns": start + after * _US, "kind": what, "name": name}
                calls.append({**line, "end_ns": start + (after + lasts) * _US, "connection": next(number)})
            clock = start + (0 if kind == "beside" else length * _US)
            if place % every == every - 1 or place == len(events) - 1:
                windows.append({"rank": rank, "step": step, "start_ns": opened, "end_ns": clock - 10})
                opened = clock
    built = (_built(*one) for one in ((Dispatch, links), (Collective, collectives), (StepWindow, windows)))
    dispatches, comm, steps = built
    return _built(Kernel, kernels), dispatches, meant(_built(HostCall, calls)), comm, steps


def _of_rank(job: Job, rank: int) -> Job:
    return tuple(table.take(table["rank"] == rank) for table in job)  # type: ignore[return-value]


def _replayed(job: Job) -> list[ReplayedRank]:
    kernels, links, calls, collectives, windows = job
    device = build_timeline(kernels, collectives, None, windows)
    ranks = np.unique(device.cells.rank).tolist()
    return [replayed_rank(rank, device, links, calls, windows=windows) for rank in ranks]


def _removed(job: Job) -> list[str]:
    kernels, links, calls, collectives, windows = job
    found = removals(
        kernels, links, calls=calls, collectives=collectives, tasks=None, windows=windows,
        patterns=shipped_patterns().chains,
    )  # fmt: skip
    return [str(row) for row in found.rows()]


@settings(max_examples=100)
@given(RANKS)
def test_what_kernels_win_that_go_is_the_same_for_ranks_together_and_one_by_one(ranks):
    job = _job(ranks)
    assert _removed(job) == [*chain(*(_removed(_of_rank(job, rank)) for rank in range(len(ranks))))]


def _held_up(job: Job) -> list[str]:
    kernels, links, calls, collectives, windows = job
    found = launch_delays(kernels, calls, links=links, collectives=collectives, tasks=None, windows=windows)
    return [str(row) for row in found.rows()]


@settings(max_examples=100)
@given(RANKS)
def test_what_holds_hosts_up_is_the_same_for_ranks_together_and_one_by_one(ranks):
    job = _job(ranks)
    alone = [_of_rank(job, rank) for rank in range(len(ranks))]
    if all(len(links) for _, links, *_ in alone):  # where nothing of a job was launched, nothing is replayed
        assert _held_up(job) == [*chain(*map(_held_up, alone))]


def _idle(job: Job) -> list[str]:
    kernels, links, calls, collectives, windows = job
    found = gaps(kernels, links=links, collectives=collectives, tasks=None, calls=calls, windows=windows)
    return [str(row) for row in found.rows()]


@settings(max_examples=100)
@given(RANKS)
def test_what_leaves_devices_idle_is_the_same_for_ranks_together_and_one_by_one(ranks):
    job = _job(ranks)
    assert _idle(job) == [*chain(*(_idle(_of_rank(job, rank)) for rank in range(len(ranks))))]


PARTS = st.lists(st.tuples(st.integers(-400, 3000), st.integers(1, 300)), max_size=4)


def _shifted(spans: Spans, by: int) -> Spans:
    return Spans(spans.start + by, spans.end + by)


def _joined_spans(parts: list[Spans], shift: tuple[int, ...]) -> Spans:
    moved = [_shifted(*one) for one in zip(parts, shift, strict=True)]
    return Spans(np.concatenate([one.start for one in moved]), np.concatenate([one.end for one in moved]))


def _within(seen: ReplayedRank, parts: list[tuple[int, int]]) -> Spans:
    """Parts of what the calls of a rank last, from when it begins."""
    begin = int(seen.replayed.ranks.begin[0])
    if not len(seen.calls):
        return Spans.none()
    first, last = int(seen.calls.start.min()), int(seen.calls.end.max())
    start, length = (np.array([one[at] for one in parts], np.int64) * _US for at in range(2))
    return union(np.clip(begin + start, first, last), np.clip(begin + start + length, first, last))


@settings(max_examples=150)
@given(RANKS, st.lists(PARTS, min_size=4, max_size=4), st.sampled_from(["host", "prompt", "device"]), st.booleans())
def test_each_task_of_joined_ranks_gains_what_it_gains_in_its_rank_alone(ranks, parts, takes, leaves_waits):
    seen = _replayed(_job(ranks))
    parts = [_within(one, some) for one, some in zip(seen, parts, strict=False)]
    joined = join_ranks_in_time(seen)

    def relief(rank: replay.ReplayInput, main: Spans) -> replay.Relief:
        spared = replay.SparedTime.in_turn((rank.work.end - rank.work.start) // 2)
        less = replay.SparedTime.in_turn((rank.beside.end - rank.beside.start) // 2)
        taken = {"device": spared, "beside": less} if takes == "device" else {}
        return replay.Relief(main, Spans.none(), takes == "prompt", **taken)

    def waits(rank: replay.ReplayInput) -> Spans:
        return rank.waits if leaves_waits else Spans.none()

    alone = [
        replay.gains_by_task(one.replayed, relief(one.replayed, main), waits=waits(one.replayed))
        for one, main in zip(seen, parts, strict=True)
    ]
    together = replay.gains_by_task(
        joined.replayed, relief(joined.replayed, _joined_spans(parts, joined.shift)), waits=waits(joined.replayed)
    )
    assert together.tolist() == np.concatenate(alone).tolist()
    ends = np.concatenate([one.until_last_task(gain) for one, gain in zip(seen, alone, strict=True)])
    assert joined.until_last_task(together).tolist() == ends.tolist()
    cells = np.concatenate([one.shorter_cells(gain).by for one, gain in zip(seen, alone, strict=True)])
    assert joined.shorter_cells(together).by.tolist() == cells.tolist()


def test_long_ranks_and_those_of_damaged_clocks_are_replayed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    event = (10, 20, 5, "Mul", None)
    seen = _replayed(_job([([event] * 3, begin, False, 3) for begin in (0, 5, 9)]))
    assert [len(part.seen) for part in joined_in_parts(seen)] == [3]
    monkeypatch.setattr(replay, "LONG", 9)
    assert [len(part.seen) for part in joined_in_parts(seen)] == [2, 1]
    monkeypatch.setattr(joined_ranks, "_LONGEST_NS", 1)
    assert [len(part.seen) for part in joined_in_parts(seen)] == [1, 1, 1]


def test_a_single_rank_is_replayed_as_it_is() -> None:
    (seen,) = _replayed(_job([([(10, 20, 5, "Mul", None)], 0, True, 1)]))
    assert join_ranks_in_time([seen]).replayed is seen.replayed
