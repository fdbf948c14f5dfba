# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.analysis.launches.handovers import handovers
from advisor.facts.derived import Dispatch, HostKind, LaunchDelay, RankCoverage
from advisor.facts.observed import Kernel, StepWindow
from advisor.facts.table import read_table
from tests.analysis.timelines import host_calls

KERNELS = "step start_ns duration_us\n1 40000 10\n1 140000 10\n1 240000 10"
LINKS = "start_ns latency_us idle_before_us vertical\n40000 10 - true\n140000 10 90 true\n240000 10 90 true"


def launches(begin: int, end: int) -> str:
    """Three operators of 90 µs, one every 100 µs, with a launching call between these moments of each."""
    rows = [
        f"1 operator aten::mul {at} {at + 90_000}\n1 api aclnnMul {at + begin * 1000} {at + end * 1000}"
        for at in (0, 100_000, 200_000)
    ]
    return "thread kind name start_ns end_ns\n" + "\n".join(rows)


def unqueued(calls: str) -> list[float]:
    found = launch_delays(
        read_table(Kernel, KERNELS), host_calls(calls), links=read_table(Dispatch, LINKS),
        collectives=None, tasks=None, windows=read_table(StepWindow, "step start_ns end_ns\n1 0 250000"),
    )  # fmt: skip
    return [row["lost_us"] for row in found.rows() if row["cause"] == "unqueued"]


def test_a_second_thread_wins_the_launching_calls_that_precede_the_last_task():
    """Two calls of 50 precede the third; the second thread is done with each before the next arrives."""
    assert unqueued(launches(30, 80)) == [100.0]


def test_a_second_thread_that_is_never_idle_sets_the_pace():
    """Launching takes 85 of every 100: each of the two calls before the last begins only the other 15 earlier."""
    assert unqueued(launches(5, 90)) == [30.0]


def test_where_no_operators_were_recorded_nobody_knows_who_prepares_the_launches():
    assert unqueued(launches(30, 80).replace("1 operator", "1 python")) == []


def test_a_rank_with_a_task_queue_has_nothing_to_win():
    assert unqueued(launches(30, 80) + "\n2 dequeue mul 32000 33000") == []


KINDS = """
rank step kind     calls
0    1    operator 80
0    2    operator 40
1    1    operator 9
1    1    dequeue  7
1    1    enqueue  7
2    1    api      5
"""


def test_operators_and_handovers_are_counted_by_rank():
    held = read_table(LaunchDelay, "rank step cause lost_us\n0 1 unqueued 300\n0 2 unqueued 100\n1 1 host 5")
    rows = handovers(read_table(HostKind, KINDS), held).rows()
    assert [(r["rank"], r["operators"], r["handed_over"], r["lost_us"]) for r in rows] == [
        (0, 120.0, 0.0, 200.0),
        (1, 9.0, 14.0, None),
    ]


def test_without_a_replay_the_loss_is_missing():
    table = handovers(read_table(HostKind, KINDS), None)
    assert all(math.isnan(lost) for lost in table["lost_us"])


def test_beside_calls_that_are_gone_nobody_knows_whether_any_were_handed_over():
    gone = read_table(
        RankCoverage, "rank step of by needed matched\n0 - host_calls launches 100 66\n1 - host_calls launches 100 99"
    )
    kinds = read_table(HostKind, "rank step kind calls\n0 1 operator 500\n1 1 operator 500")
    first, second = handovers(kinds, None, gone).rows()
    assert (first["handed_over"], second["handed_over"]) == (None, 0)
