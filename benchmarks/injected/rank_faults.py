# SPDX-License-Identifier: Apache-2.0
"""Faults of one rank, which all others wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchmarks.injected.changes import Changes
from benchmarks.injected.compute_faults import lower_clock
from benchmarks.injected.faults import HOST, JITTER, TALK, Fault, Run, forward, spread
from benchmarks.injected.host_faults import wait_for_batch
from benchmarks.injected.program import Rank

SLOW = 1
"""The rank that is slow."""
_SLOW_HOSTS = 1.2
"""What slow hosts do in a step, of a step with quick ones."""


def scale_host(rank: Rank, factor: float) -> None:
    """Makes everything a host does take longer."""
    if not rank.steps:
        return
    start = rank.steps[0].begin.at
    for key, lane in rank.lanes.items():
        if key[0] == "thread":
            for moment in lane:
                if moment.at > start and moment.work > 0:
                    moment.work = round(moment.work * factor)


def _host_ns(rank: Rank) -> float:
    """What the main thread does per step."""
    start, end = rank.steps[0].begin.at, rank.steps[-1].end.at
    return sum(max(m.work, 0) for m in rank.main if start < m.at <= end) / len(rank.steps)


def slow_host(run: Run, amount: float) -> None:
    """The host of one rank is slow in all it does."""
    rank = run.job.ranks[SLOW]
    scale_host(rank, 1 + amount / _host_ns(rank))


def slow_hosts(run: Run) -> None:
    """All hosts are so slow that devices wait for them."""
    scale_hosts(run, _SLOW_HOSTS)


def scale_hosts(run: Run, part: float) -> None:
    """Makes what all hosts do take this part of a step."""
    for rank in run.job.ranks:
        scale_host(rank, part * run.step_ns / _host_ns(rank))


def slow_compute(run: Run, amount: float) -> None:
    """The kernels of one rank take longer."""
    rank = run.job.ranks[SLOW]
    factor = 1 + amount * run.steps / max(sum(task.duration for task in rank.kernels), 1)
    for task in rank.kernels:
        task.end.work = round(task.duration * factor)


def low_clock(run: Run, amount: float) -> None:
    """The clock of one rank is low, and its kernels take longer accordingly."""
    lower_clock(run, SLOW, amount)


def data_loader(run: Run, amount: float) -> None:
    """One rank waits for its data."""
    wait_for_batch(run.ranks[SLOW], amount)


def busy_python(run: Run, amount: float) -> None:
    """One rank does work in Python that others do not."""
    _work(run.ranks[SLOW : SLOW + 1], amount)


def _work(ranks: Iterable[Changes], amount: float) -> None:
    for changes in ranks:
        for operators in forward(changes):
            for operator in spread(operators, 6):
                place = operator.top.begin.before or operator.top.begin
                changes.stall(
                    place, operator.top.lane, round(amount / 6), changes.python("train.py(140): log_to_tensorboard")
                )


def loaders_in_turn(run: Run, amount: float) -> None:
    """In each step another rank waits for its batch."""
    for number, changes in enumerate(run.ranks):
        fetches = [call for call in changes.rank.calls if "DataLoader" in call.name and "__next__" in call.name]
        for call in sorted(fetches, key=lambda call: call.begin.at)[number :: len(run.ranks)]:
            call.end.work += round(amount)


def collections_in_turn(run: Run, amount: float) -> None:
    """In each step another rank collects garbage, seen by the profiler."""
    for number, changes in enumerate(run.ranks):
        for operators in forward(changes)[number :: len(run.ranks)]:
            operator = spread(operators[: len(operators) // 2], 1)[0]
            event = changes.python("GC", category="GC") | {"args": {}}
            changes.stall(operator.top.begin.before or operator.top.begin, operator.top.lane, round(amount), event)


def pauses_in_turn(run: Run, amount: float) -> None:
    """In each step another rank stands still, and nothing was recorded of it."""
    for number, changes in enumerate(run.ranks):
        for operators in forward(changes)[number :: len(run.ranks)]:
            operator = spread(operators[: len(operators) // 2], 1)[0]
            changes.stall(operator.top.begin.before or operator.top.begin, operator.top.lane, round(amount))


def bursts_in_turn(run: Run, amount: float) -> None:
    """In each step all calls of another rank take longer, as where something else has its cores."""
    for number, changes in enumerate(run.ranks):
        for operators in forward(changes)[number :: len(run.ranks)]:
            for operator in operators:
                operator.top.end.work += round(amount / len(operators))


ONE = frozenset({SLOW})
BASES = ("recorded", "balanced-4")

FAULTS: Mapping[str, Fault] = {
    "slow-host-rank": Fault(
        slow_host,
        frozenset({"ranks/slow-host-rank", "ranks/late-rank"}),
        HOST | TALK | {"host/python-bound"},
        ranks=ONE,
        bases=BASES,
    ),
    "slow-compute-rank": Fault(slow_compute, frozenset({"ranks/slow-compute-rank"}), TALK, ranks=ONE, bases=BASES[1:]),
    "low-clock-rank": Fault(
        low_clock,
        frozenset({"ranks/low-frequency-rank"}),
        TALK | {"ranks/slow-compute-rank"},
        ranks=ONE,
        bases=BASES[1:],
    ),
    "data-loader-rank": Fault(
        data_loader,
        frozenset({"io/data-loader", "io/first-batch"}),
        HOST | TALK | {"ranks/slow-host-rank"},
        ranks=ONE,
        bases=BASES,
    ),
    "loaders-in-turn": Fault(
        loaders_in_turn,
        frozenset({"ranks/loaders-in-turn"}),
        HOST | TALK | JITTER | {"io/data-loader", "ranks/late-rank", "ranks/slow-host-rank"},
        bases=BASES[1:],
    ),
    "collections-in-turn": Fault(
        collections_in_turn,
        frozenset({"ranks/collections-in-turn"}),
        HOST | TALK | JITTER | {"host/garbage-collection", "ranks/late-rank", "ranks/slow-host-rank"},
        bases=BASES[1:],
    ),
    "pauses-in-turn": Fault(
        pauses_in_turn,
        frozenset({"ranks/hosts-in-turn"}),
        HOST | TALK | JITTER | {"host/stalled-step", "host/python-bound", "ranks/late-rank", "ranks/slow-host-rank"},
        bases=BASES[1:],
    ),
    "bursts-in-turn": Fault(
        bursts_in_turn,
        frozenset({"ranks/hosts-in-turn"}),
        HOST | TALK | JITTER | {"host/python-bound", "ranks/late-rank", "ranks/slow-host-rank"},
        bases=BASES[1:],
    ),
    "slower-among-slow": Fault(
        slow_host,
        frozenset({"ranks/slow-host-rank", "ranks/late-rank"}),
        HOST | TALK | {"host/python-bound", "host/synchronising-calls", "host/device-to-host-reads"},
        common=slow_hosts,
        ranks=ONE,
        bases=BASES[1:],
    ),
    "busy-rank": Fault(
        busy_python,
        frozenset({"ranks/slow-host-rank", "host/python-bound"}),
        HOST | TALK | {"ranks/late-rank"},
        ranks=ONE,
        bases=BASES,
    ),
}
