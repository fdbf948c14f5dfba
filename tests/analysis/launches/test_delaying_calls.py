# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.launches.delaying_calls import MOST_CALLS, delaying_calls
from advisor.analysis.steps.recorded_spans import recorded_spans
from advisor.facts.derived import Gap
from advisor.facts.observed import Collective, HostCall, Kernel, StepPhase, StepWindow
from advisor.facts.table import Table, read_table
from tests.analysis.timelines import host_calls

KERNELS = "step start_ns duration_us\n1 100 40\n1 100000 20\n2 200000 40\n2 300000 20"
WINDOWS = "step start_ns end_ns\n1 50 150000\n2 150000 320000"
IDLE = "step start_ns duration_us\n1 40100 59.9\n2 240000 60"
CALLS = "thread kind name start_ns end_ns\n"


def called(calls: str, idle: str | None = IDLE) -> list[tuple[int, str, str, int, float | None]]:
    found = delaying_calls(
        read_table(Kernel, KERNELS),
        host_calls(CALLS + calls),
        windows=read_table(StepWindow, WINDOWS),
        idle=None if idle is None else read_table(Gap, idle),
    )
    return [(row["step"], row["cause"], row["name"], row["start_ns"], row["idle_us"]) for row in found.rows()]  # type: ignore[misc]


def test_a_call_is_listed_with_the_idle_time_beside_it() -> None:
    assert called("1 gc gc 30000 90000") == [(1, "gc", "gc", 30000, 49.9)]
    assert called("1 gc gc 30000 90000", idle=None) == [(1, "gc", "gc", 30000, None)]


def test_before_the_first_kernel_idle_time_is_not_known_and_a_call_may_be_the_worst_of_all() -> None:
    calls = "1 gc gc 60 95\n1 gc gc 30000 90000\n1 gc gc 160000 160010"
    assert called(calls) == [
        (1, "gc", "gc", 30000, 49.9), (1, "gc", "gc", 60, None), (2, "gc", "gc", 160000, 0.0),
    ]  # fmt: skip
    assert called("1 gc gc 60 95", idle="step start_ns duration_us\n1 55 0.045") == [(1, "gc", "gc", 60, 0.035)]


def test_the_last_wait_of_a_step_is_no_fault_and_not_listed() -> None:
    once = "1 api aclrtSynchronizeStream 30000 41000\n"
    twice = once + "1 api aclrtSynchronizeStream 130000 131000"
    assert called(once) == []
    assert [(cause, start) for _, cause, _, start, _ in called(twice)] == [("synchronise", 30000)]


def test_of_calls_inside_each_other_the_outermost_stands_for_all() -> None:
    calls = (
        "1 operator aten::item 10000 60000\n1 operator aten::_local_scalar_dense 20000 60000\n"
        "1 api aclrtSynchronizeStream 30000 60000\n1 api aclrtSynchronizeStream 130000 131000"
    )
    assert {(cause, name) for _, cause, name, _, _ in called(calls)} == {
        ("read", "aten::item"),
        ("synchronise", "aten::item"),
    }


def test_few_calls_are_kept_those_that_leave_the_device_idle_longest() -> None:
    short = "\n".join(f"1 gc gc {100 + n} {101 + n}" for n in range(0, 200, 2))
    found = called(short + "\n1 gc gc 30000 90000")
    assert len(found) == MOST_CALLS
    assert found[0][3] == 30000


def test_of_calls_that_leave_the_device_idle_as_long_the_longest_are_kept_and_of_those_the_first() -> None:
    calls = "\n".join(f"1 gc gc {200_100 + 100 * n} {200_110 + 100 * n + n % 3}" for n in range(60))
    starts = [row[3] for row in called(calls)]
    assert starts == [200_100 + 100 * n for n in range(2, 60, 3)]
    assert [row[3] for row in called(calls, idle=None)] == starts


def test_calls_outside_of_every_step_are_left_out() -> None:
    assert called("1 gc gc 400000 500000") == []


def test_a_timeline_reaches_from_its_first_event_to_its_last_on_any_side() -> None:
    spans = recorded_spans(
        read_table(Kernel, KERNELS + "\n2 - 7"),
        calls=host_calls(CALLS + "1 gc gc 20 90000"),
        collectives=read_table(Collective, "rank start_ns elapse_us\n0 300000 50\n3 7 -"),
        tasks=None,
        windows=read_table(StepWindow, WINDOWS),
    )
    assert [tuple(row.values())[:3] for row in spans.rows()] == [(0, 20, 350000), (3, 7, 7)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lasts", ["1e300", "inf", "-inf", "-7", "9e10"])
def test_a_time_that_nothing_can_take_does_not_lengthen_a_timeline(lasts: str) -> None:
    spans = recorded_spans(
        read_table(Kernel, f"rank start_ns duration_us\n0 500 1\n0 600 {lasts}"),
        calls=None,
        collectives=None,
        tasks=None,
        windows=None,
    )
    assert [tuple(row.values())[:3] for row in spans.rows()] == [(0, 500, 1500)]


def test_without_any_event_there_is_no_timeline() -> None:
    phases = read_table(StepPhase, "step start_ns whole_us\n1 20 100\n2 - 5")
    [span] = recorded_spans(
        read_table(Kernel, KERNELS), calls=None, collectives=None, tasks=None, windows=None, phases=phases
    ).rows()
    assert span["start_ns"] == 20
    nothing = recorded_spans(None, calls=Table.empty(HostCall), collectives=None, tasks=None, windows=None)
    assert len(nothing) == 0


@pytest.mark.parametrize(("start_ns", "known"), [(1_736_412_474_701_224_784, True), (9_000_000_000_000, False)])
def test_only_times_that_count_from_1970_are_held_against_those_of_other_hosts(start_ns: int, known: bool) -> None:
    kernels = read_table(Kernel, f"step start_ns duration_us\n1 {start_ns} 40")
    [span] = recorded_spans(kernels, calls=None, collectives=None, tasks=None, windows=None).rows()
    assert (span["began_us"] is not None, span["ended_us"] is not None) == (known, known)
