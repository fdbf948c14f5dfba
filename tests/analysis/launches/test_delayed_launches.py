# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import advisor
import corpus
from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.facts.derived import Dispatch, EngineBorder, LaunchDelay
from advisor.facts.observed import DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Table, read_table
from tests.analysis.timelines import host_calls, meant

KERNELS = "step start_ns duration_us\n1 0 40\n1 100000 20\n2 200000 40\n2 300000 20"
LINKS = """start_ns latency_us idle_before_us vertical
0 0 - -
100000 0 60 true
200000 0 80 true
300000 0 60 true"""
WINDOWS = "step start_ns end_ns\n1 0 150000\n2 150000 320000"


def lost(calls: str, kernels: str = KERNELS, links: str | None = LINKS) -> list[tuple[int, str, float]]:
    found = launch_delays(
        read_table(Kernel, kernels),
        host_calls(calls),
        links=None if links is None else read_table(Dispatch, links),
        collectives=None,
        tasks=None,
        windows=read_table(StepWindow, WINDOWS),
    )
    return [(row["step"], row["cause"], row["lost_us"]) for row in found.rows()]


def test_a_collection_loses_what_comes_later_for_it():
    """60 of collection while the device works for 40 and idles for 60: the step is 60 longer."""
    calls = "thread kind name start_ns end_ns\n1 gc gc 30000 90000"
    assert (1, "gc", 60.0) in lost(calls)
    assert (2, "gc", 60.0) not in lost(calls)


def test_of_the_waits_of_a_step_the_last_stays():
    once = "thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream 30000 41000"
    twice = once + "\n1 api aclrtSynchronizeStream 130000 131000"
    assert [us for step, cause, us in lost(once) if cause == "synchronise"] == [0.0]
    assert [us for step, cause, us in lost(twice) if cause == "synchronise"] == [11.0]


def test_of_the_waits_of_an_engine_the_last_of_each_of_its_steps_stays_though_no_step_was_marked():
    calls = host_calls(
        "thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream 30000 41000\n"
        "1 api aclrtSynchronizeStream 110000 121000\n1 api aclrtSynchronizeStream 230000 241000"
    )
    kernels = read_table(Kernel, KERNELS.replace("2 2", "1 2").replace("2 3", "1 3"))

    def of_waits(borders: str | None) -> float:
        found = launch_delays(
            kernels, calls, links=read_table(Dispatch, LINKS), collectives=None, tasks=None, windows=None,
            borders=None if borders is None else read_table(EngineBorder, borders),
        )  # fmt: skip
        return sum(row["lost_us"] for row in found.rows() if row["cause"] == "synchronise")

    assert of_waits(None) == pytest.approx(22)
    assert of_waits("start_ns\n-1000\n60000\n200000\n300000") == 0.0
    assert of_waits("start_ns\n-1000\n200000\n300000") == pytest.approx(11)
    assert of_waits("rank start_ns\n1 60000\n1 200000") == pytest.approx(22)  # another rank


def test_a_copy_by_which_a_value_is_read_is_a_read_and_no_copy_that_blocks():
    """A value cannot be read without waiting: the time is told once, as that of the reads."""
    read = "thread kind name start_ns end_ns\n1 operator aten::item 30000 90000\n1 api aclrtMemcpy 31000 89000"
    both = read + "\n1 operator aten::copy_ 130000 190000\n1 api aclrtMemcpy 131000 189000"
    other_thread = read.replace("1 api", "2 api")

    def kinds(calls: str) -> dict[tuple[int, str], float]:
        return {(step, cause): us for step, cause, us in lost(calls) if cause in ("read", "blocking_copy")}

    assert kinds(read).keys() == {(1, "read")}
    assert kinds(both).keys() == {(1, "read"), (1, "blocking_copy")}
    assert kinds(other_thread).keys() == {(1, "read"), (1, "blocking_copy")}


@pytest.mark.parametrize("begun_by", ["data_loader __next__", "graph cudaGraphLaunch"])
def test_without_steps_the_wait_before_a_batch_is_asked_for_or_a_graph_replayed_ends_a_round(begun_by: str) -> None:
    waits = (
        "thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream 30000 41000\n"
        "1 api aclrtSynchronizeStream 110000 121000\n1 api aclrtSynchronizeStream 230000 241000"
    )
    rounds = "".join(f"\n1 {begun_by} {at} {at + 10}" for at in (-1000, 60000, 200000, 300000))
    without_steps = KERNELS.replace("\n1 ", "\n- ").replace("\n2 ", "\n- ")

    def of_waits(calls: str, kernels: str) -> float:
        found = launch_delays(
            read_table(Kernel, kernels), host_calls(calls), links=read_table(Dispatch, LINKS), collectives=None,
            tasks=None, windows=None,
        )  # fmt: skip
        return sum(row["lost_us"] for row in found.rows() if row["cause"] == "synchronise")

    assert of_waits(waits, without_steps) == pytest.approx(22)
    assert of_waits(waits + rounds, without_steps) == 0.0
    assert of_waits(waits + rounds, KERNELS) == pytest.approx(11)  # the last of each numbered step alone is aside


MS_KERNELS = "step start_ns duration_us\n1 0 1000\n1 11000000 1000\n2 20000000 1000\n2 22000000 1000"
MS_LINKS = """start_ns latency_us idle_before_us vertical
0 0 - -
11000000 0 10000 true
20000000 0 8000 true
22000000 0 1000 true"""
MS_WINDOWS = "step start_ns end_ns\n1 0 15000000\n2 15000000 23000000"
MS_STEPS = "thread kind name start_ns end_ns\n1 step First 0 15000000\n1 step Second 15000000 23000000\n"


def causes_of(calls: str, kernels: str = MS_KERNELS, steps: str = MS_STEPS) -> dict[str, float]:
    """Lost by kind, in steps of some ms."""
    found = launch_delays(
        read_table(Kernel, kernels), host_calls(steps + calls), links=read_table(Dispatch, MS_LINKS),
        collectives=None, tasks=None, windows=read_table(StepWindow, MS_WINDOWS),
    )  # fmt: skip
    rows = found.rows()
    return {cause: sum(row["lost_us"] for row in rows if row["cause"] == cause) for cause in {r["cause"] for r in rows}}


def test_a_first_call_that_is_far_longer_than_all_others_of_its_name_is_start_up_and_no_cost_of_its_kind():
    short = "\n1 api aclrtMalloc 16000000 16010000\n1 api aclrtMalloc 17000000 17010000"
    found = causes_of("1 api aclrtMallocPhysical 1000000 9000000" + short.replace("Malloc ", "MallocPhysical "))
    assert found["start_up"] == pytest.approx(8000)
    assert found.get("allocate", 0.0) < 100


def test_what_a_later_step_does_as_well_is_no_start_up():
    found = causes_of("1 api aclrtMalloc 1000000 9000000\n1 api aclrtMalloc 15500000 18000000")
    assert "start_up" not in found
    assert found["allocate"] > 8000


def test_waits_and_short_calls_are_no_start_up():
    assert "start_up" not in causes_of("1 api aclrtSynchronizeStream 1000000 9000000")
    assert "start_up" not in causes_of("1 launch launch 1000000 5900000\n1 launch launch 16000000 16010000")


LATE_KERNELS = "step start_ns duration_us\n1 500000 40\n1 600000 20\n2 700000 40\n2 800000 20"
LATE_LINKS = """start_ns latency_us idle_before_us vertical
500000 0 - -
600000 0 60 true
700000 0 80 true
800000 0 60 true"""


def test_what_lies_before_the_first_task_counts_no_more_than_in_the_other_steps():
    """The host loads for 490 before anything runs, and for 80 before the first task of the second step."""
    calls = "thread kind name start_ns end_ns\n1 data_loader load 0 490000\n1 data_loader load 610000 690000"
    windows = "step start_ns end_ns\n1 0 650000\n2 650000 820000"
    found = launch_delays(
        read_table(Kernel, LATE_KERNELS), host_calls(calls), links=read_table(Dispatch, LATE_LINKS),
        collectives=None, tasks=None, windows=read_table(StepWindow, windows),
    )  # fmt: skip
    loading = [row["lost_us"] for row in found.rows() if row["cause"] == "data_loader"]
    assert sum(loading) == pytest.approx(80 + 80)


def late_before_steps(stalls: Sequence[int], work: int, call: str, cause: str, after: int = 0) -> list[dict[str, Any]]:
    """What this cause loses where the host stalls so long before each step, and after the last one, in µs."""
    begun = [sum(stalls[:number]) + number * work for number in range(len(stalls))]
    kernels, links, calls, windows = [], [], [], []
    for number, (at, stall) in enumerate(zip(begun, stalls, strict=True), 1):
        start, end = (at + stall) * 1000, (at + stall + work) * 1000
        kernels.append(f"{number} {start} {work}")
        links.append(f"{start} 0 {stall if at else '-'} true")
        calls.append(f"1 {call} {at * 1000} {start}")
        windows.append(f"{number} {at * 1000} {end + after * 1000 * (number == len(stalls))}")
    found = launch_delays(
        read_table(Kernel, "\n".join(["step start_ns duration_us", *kernels])),
        host_calls("\n".join(["thread kind name start_ns end_ns", *calls])),
        links=read_table(Dispatch, "\n".join(["start_ns latency_us idle_before_us vertical", *links])),
        collectives=None, tasks=None, windows=read_table(StepWindow, "\n".join(["step start_ns end_ns", *windows])),
    )  # fmt: skip
    return [row for row in found.rows() if row["cause"] == cause]


def lost_to_stalls_before_steps(stalls: Sequence[int], work: int, call: str, cause: str, after: int = 0) -> float:
    """All of it, that before the first task included."""
    rows = late_before_steps(stalls, work, call, cause, after)
    return sum(row["lost_us"] + (row["before_us"] or 0.0) for row in rows)


@settings(max_examples=20)
@given(steps=st.integers(2, 5), stall=st.integers(20, 400), work=st.integers(50, 400))
def test_a_stall_before_each_step_is_lost_as_often_as_there_are_steps(steps: int, stall: int, work: int) -> None:
    """That before the first task lies in no step, and the ranks that wait for this one lose it all the same."""
    lost_us = lost_to_stalls_before_steps([stall] * steps, work, "data_loader next", "data_loader")
    assert lost_us == pytest.approx(steps * stall)


@settings(max_examples=20)
@given(steps=st.integers(3, 5), stall=st.integers(20, 400), work=st.integers(50, 400))
def test_a_host_that_is_late_before_each_step_is_so_as_often_as_there_are_steps(
    steps: int, stall: int, work: int
) -> None:
    late_us = lost_to_stalls_before_steps([stall] * steps, work, "operator aten::add", "host")
    assert late_us == pytest.approx(steps * stall)


def test_what_no_step_holds_is_told_beside_what_the_steps_lose() -> None:
    rows = late_before_steps([90, 90, 90], 100, "operator aten::add", "host")
    told = {row["step"]: (row["lost_us"], row["before_us"]) for row in rows}
    assert told == {1: (0, 90), 2: (90, 0), 3: (90, 0)}


def test_a_host_that_is_late_after_each_step_is_so_after_the_last_one_too() -> None:
    assert lost_to_stalls_before_steps([0, 90, 90], 100, "operator aten::add", "host", after=90) == pytest.approx(270)


def test_a_late_host_counts_before_the_first_step_no_more_than_between_the_others() -> None:
    """Of two pauses the shorter counts, of one there is no telling whether each step has it."""
    assert lost_to_stalls_before_steps([900, 90, 90], 100, "operator aten::add", "host") == pytest.approx(270)
    assert lost_to_stalls_before_steps([90, 900, 90], 100, "operator aten::add", "host") == pytest.approx(1080)
    assert lost_to_stalls_before_steps([900, 90, 90, 90], 100, "operator aten::add", "host") == pytest.approx(360)
    assert lost_to_stalls_before_steps([0, 90, 90], 100, "operator aten::add", "host") == pytest.approx(180)
    assert lost_to_stalls_before_steps([90, 90], 100, "operator aten::add", "host") == pytest.approx(90)


@pytest.mark.parametrize(
    ("calls", "named", "kind"),
    [
        ("1 launch launch 42000 98000", "launch", "launch"),
        ("2 dequeue Dequeue@x 42000 98000", "Dequeue@x", "dequeue"),
        ("1 operator aten::mul 41000 99000\n1 launch launch 42000 98000", "aten::mul", "operator"),
    ],
)
def test_a_pause_that_no_call_of_the_framework_fills_is_told_by_the_call_that_launches(
    calls: str, named: str, kind: str
) -> None:
    found = launch_delays(
        read_table(Kernel, KERNELS), host_calls("thread kind name start_ns end_ns\n" + calls),
        links=read_table(Dispatch, LINKS), collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
    )  # fmt: skip
    assert (named, kind) in {(row["call"], row["call_kind"]) for row in found.rows() if row["cause"] == "host"}


def test_nested_calls_count_once_and_are_named_by_the_longest():
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::item 10000 60000\n"
        "1 operator aten::_local_scalar_dense 20000 60000\n1 api aclrtSynchronizeStream 30000 60000"
    )
    found = launch_delays(
        read_table(Kernel, KERNELS), host_calls(calls), links=read_table(Dispatch, LINKS),
        collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
    ).rows()  # fmt: skip
    reads = {row["cause"]: row for row in found if row["calls"] and row["cause"] != "host"}
    assert reads.keys() == {"read", "synchronise"}
    for row in reads.values():
        assert (row["call"], row["calls"], row["host_us"], row["longest_us"]) == ("aten::item", 1.0, 50.0, 50.0)
        assert row["idle_us"] == 20.0


def rows_of(cause: str, calls: str, kernels: str = KERNELS, links: str = LINKS) -> list[dict[str, object]]:
    found = launch_delays(
        read_table(Kernel, kernels), host_calls(calls), links=read_table(Dispatch, links),
        collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
    )  # fmt: skip
    return [row for row in found.rows() if row["cause"] == cause]


def test_the_longest_of_several_calls_is_one_of_them_and_not_their_sum():
    calls = "thread kind name start_ns end_ns\n1 gc gc 30000 50000\n1 gc gc 60000 90000\n1 gc gc 160000 170000"
    first, second = rows_of("gc", calls)
    assert (first["calls"], first["longest_us"], first["host_us"]) == (2.0, 30.0, 50.0)
    assert (second["calls"], second["longest_us"], second["host_us"]) == (1.0, 10.0, 10.0)


def test_the_longest_pause_of_a_late_host_is_one_of_them_and_not_their_sum():
    none = "thread kind name start_ns end_ns\n1 operator aten::mul 41000 42000"
    assert [(row["longest_us"], row["idle_us"]) for row in rows_of("host", none)] == [(60.0, 60.0), (80.0, 140.0)]


def test_the_part_of_a_pause_that_a_loader_fills_is_no_pause_of_the_late_host():
    calls = (
        "thread kind name start_ns end_ns\n1 data_loader next 40000 90000\n1 operator aten::mul 90000 99000\n"
        "1 operator aten::add 130000 190000"
    )
    (first,) = [row for row in rows_of("host", calls) if row["step"] == 1]
    assert (first["call"], first["longest_us"], first["idle_us"], first["lost_us"]) == ("aten::mul", 10.0, 10.0, 10.0)


def test_pauses_too_short_to_be_waits_are_lost_all_the_same_but_blamed_on_no_call():
    kernels = "step start_ns duration_us\n1 0 40\n1 44000 20\n2 164000 40\n2 300000 20"
    links = "start_ns latency_us idle_before_us vertical\n0 0 - -\n44000 0 4 true\n164000 0 100 true\n300000 0 96 true"
    calls = "thread kind name start_ns end_ns\n1 operator aten::mul 40000 44000"
    first, second = sorted(rows_of("host", calls, kernels, links), key=lambda row: row["step"])
    assert (first["call"], first["calls"], first["lost_us"]) == (None, 0.0, 4.0)
    assert (second["calls"], second["lost_us"]) == (2.0, 196.0)


@pytest.mark.parametrize("end", [820_000, 5_000_000])
def test_what_a_late_host_does_after_the_last_task_is_no_part_of_any_step(end: int) -> None:
    windows = f"step start_ns end_ns\n1 0 650000\n2 650000 {end}"
    found = launch_delays(
        read_table(Kernel, LATE_KERNELS), host_calls("thread kind name start_ns end_ns\n1 operator aten::mul 0 1000"),
        links=read_table(Dispatch, LATE_LINKS), collectives=None, tasks=None, windows=read_table(StepWindow, windows),
    )  # fmt: skip
    assert [row["lost_us"] for row in found.rows() if row["cause"] == "host"] == [60.0, 140.0]


def test_without_launches_a_kind_loses_the_idle_time_beside_it():
    calls = "thread kind name start_ns end_ns\n1 gc gc 30000 90000"
    assert lost(calls, links=None) == [(1, "gc", 50.0)]


def test_a_host_that_is_late_without_any_of_the_kinds_is_late_by_itself():
    calls = "thread kind name start_ns end_ns\n1 operator aten::mul 41000 99000"
    assert [us for _, cause, us in lost(calls) if cause == "host"] == [60.0, 140.0]


CALLS = st.lists(
    st.tuples(
        st.integers(0, 300), st.integers(0, 80),
        st.sampled_from([("gc", "gc"), ("api", "aclrtSynchronizeStream"), ("api", "aclrtMemcpy"),
                         ("data_loader", "next"), ("operator", "aten::item")]),
    ),
    max_size=8,
)  # fmt: skip


@settings(max_examples=40)
@given(CALLS)
def test_no_kind_wins_more_than_the_idle_time_of_the_rank(calls):
    table = Table.build(
        HostCall,
        rank=[0] * len(calls),
        thread=1,
        kind=[kind for *_, (kind, _) in calls],
        name=[name for *_, (_, name) in calls],
        start_ns=[start * 1000 for start, *_ in calls],
        end_ns=[(start + length) * 1000 for start, length, _ in calls],
    )
    found = launch_delays(
        read_table(Kernel, KERNELS), meant(table), links=read_table(Dispatch, LINKS),
        collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
    )  # fmt: skip
    causes = found.texts("cause")
    for name in causes.names:
        assert np.nansum(found["lost_us"][causes.isin([name])]) <= 200.0


CAUSES = {
    "data-loader": "data_loader",
    "garbage-collection": "gc",
    "synchronise-per-layer": "read",
    "blocking-copies": "blocking_copy",
    "memory-churn": "allocate",
    "online-compilation": "compile",
    "launch-blocking": "drain",
    "python-busy": "host",
}


@pytest.mark.parametrize("fault", CAUSES)
def test_a_replay_without_a_fault_wins_what_the_job_without_it_wins(fault: str, tmp_path: Path) -> None:
    """Most of it is no idle time beside the calls: the queue hides them, and the device runs dry later."""
    job = corpus.job(fault, 1003)
    table = advisor.load_profile(corpus.write(job, tmp_path, "database")).table(LaunchDelay)
    own = table.texts("cause").isin([CAUSES[fault]])
    steps = len(np.unique(table["step"]))
    found = [table["lost_us"][own & (table["rank"] == rank)].sum() / steps for rank in np.unique(table["rank"])]
    assert max(found) == pytest.approx(job.step_us - job.causes[0].step_us_without, rel=0.2)


def test_python_after_a_wait_is_held_against_the_host():
    """A copy and a read each leave the queue empty; what Python then does before it launches is idle time."""
    kernels = "\n".join(["start_ns duration_us", *(f"{at} 90" for at in (0, 100000, 200000, 800000, 900000, 1500000))])
    links = (
        "start_ns latency_us idle_before_us vertical\n0 20 - -\n100000 20 10 true\n200000 20 10 true\n"
        "800000 20 510 true\n900000 20 10 true\n1500000 20 510 true"
    )
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::item 190000 300000\n"
        "1 operator aten::to 890000 1000000\n1 api aclrtSynchronizeStream 200000 300000\n"
        "1 api aclrtSynchronizeStream 900000 1000000\n1 python train.py(7):_log 301000 775000\n"
        "1 python train.py(9):_log 1001000 1475000"
    )
    found = launch_delays(
        read_table(Kernel, kernels), host_calls(calls), links=read_table(Dispatch, links),
        collectives=None, tasks=None, windows=read_table(StepWindow, "start_ns end_ns\n-50000 1700000"),
    ).rows()  # fmt: skip
    host = [row for row in found if row["cause"] == "host"]
    assert 700 < sum(row["lost_us"] for row in host) <= 1040
    assert {row["call"] for row in host if row["longest_us"] >= 490} == {"train.py(7):_log", "train.py(9):_log"}


def test_the_longest_pause_stands_beside_that_of_the_other_steps():
    found = launch_delays(
        read_table(Kernel, KERNELS),
        host_calls("thread kind name start_ns end_ns\n1 gc gc 30000 90000\n1 gc gc 210000 220000"),
        links=read_table(Dispatch, LINKS),
        collectives=None,
        tasks=None,
        windows=read_table(StepWindow, WINDOWS),
    )
    rows = [row for row in found.rows() if row["cause"] == "gc"]
    assert [(row["longest_us"], row["usual_longest_us"]) for row in rows] == [(60, 10), (10, 60)]


@settings(max_examples=20)
@given(CALLS)
def test_what_a_call_leaves_idle_in_two_steps_is_the_sum_of_its_rows(calls):
    text = "thread kind name start_ns end_ns\n" + "\n".join(
        f"1 {kind} {name} {start * 1000} {(start + length) * 1000}" for start, length, (kind, name) in calls
    )
    rows = launch_delays(
        read_table(Kernel, KERNELS), host_calls(text), links=read_table(Dispatch, LINKS), collectives=None,
        tasks=None, windows=read_table(StepWindow, WINDOWS),
    ).rows()  # fmt: skip
    for row in rows:
        same = [one["idle_us"] or 0.0 for one in rows if (one["cause"], one["call"]) == (row["cause"], row["call"])]
        assert row["call_idle_us"] == pytest.approx(sum(same))


@pytest.mark.parametrize(("steps", "busiest"), [(2, 50 + 10), (3, 0 + 10 + 10)])
def test_one_long_pause_of_one_of_several_steps_makes_no_call_the_busiest(steps: int, busiest: float) -> None:
    kernels = KERNELS + ("\n3 330000 20\n3 400000 20" if steps > 2 else "")
    windows = WINDOWS + ("\n3 320000 480000" if steps > 2 else "")
    collections = ["30000 90000", "250000 260000", "360000 370000"]
    found = launch_delays(
        read_table(Kernel, kernels),
        host_calls("thread kind name start_ns end_ns\n" + "\n".join(f"1 gc gc {one}" for one in collections[:steps])),
        links=None,
        collectives=None,
        tasks=None,
        windows=read_table(StepWindow, windows),
    )
    assert {row["call_idle_us"] for row in found.rows() if row["cause"] == "gc"} == {busiest}


@pytest.mark.parametrize(
    ("collections", "lossy"),
    [
        (["360000 370000"], 1),
        (["90000 95000", "250000 252000", "330000 380000"], 1),
        (["90000 95000", "250000 252000", "330000 335000"], None),
    ],
    ids=["in one of three steps", "little in the others", "in each"],
)
def test_steps_with_nearly_all_of_a_loss_are_counted_where_few_stand_out(
    collections: list[str], lossy: int | None
) -> None:
    found = launch_delays(
        read_table(Kernel, KERNELS + "\n3 330000 20\n3 400000 20"),
        host_calls("thread kind name start_ns end_ns\n" + "\n".join(f"1 gc gc {one}" for one in collections)),
        links=read_table(Dispatch, LINKS + "\n330000 0 - -\n400000 0 60 true"),
        collectives=None,
        tasks=None,
        windows=read_table(StepWindow, WINDOWS + "\n3 320000 480000"),
    ).rows()
    assert {row["lossy_steps"] for row in found if row["cause"] == "gc"} == {lossy}


def losses_of_pauses(*steps: Sequence[int]) -> list[dict[str, Any]]:
    """What a late host loses, by the pauses of each step, µs."""
    rows, at = [], 0
    for step, lengths in enumerate(steps):
        for one in lengths:
            at += one * 1000 + 20_000
            rows.append((step, at, one))
        at += 20_000
    found = launch_delays(
        read_table(Kernel, "step start_ns duration_us\n" + "\n".join(f"{s} {at} 20" for s, at, _ in rows)),
        host_calls("thread kind name start_ns end_ns\n1 launch launch 0 1"),
        links=read_table(
            Dispatch,
            "start_ns latency_us idle_before_us vertical\n" + "\n".join(f"{at} 0 {us} true" for _, at, us in rows),
        ),
        collectives=None, tasks=None, windows=None,
    )  # fmt: skip
    return [row for row in found.rows() if row["cause"] == "host"]


def test_work_of_the_host_in_few_steps_is_counted_but_for_a_single_pause() -> None:
    def lossy(pauses: Sequence[int], others: Sequence[int] = (10, 10)) -> set[float | None]:
        return {row["lossy_steps"] for row in losses_of_pauses(others, pauses, others)}

    assert lossy([300, 300, 300]) == {1}
    assert lossy([900, 10]) == {None}
    assert lossy([400, 40], others=[400, 2]) == {None}  # each has a long one


@pytest.mark.parametrize(("late", "since"), [("0011", 2), ("0110", None), ("1100", None), ("0001", None)])
def test_steps_that_lose_nearly_all_have_a_first_one_where_they_are_the_last(late: str, since: float | None) -> None:
    found = losses_of_pauses(*([300, 300, 300] if one == "1" else [10, 10] for one in late))
    assert {row["lossy_steps"] for row in found} == {late.count("1")}
    assert {row["lossy_since"] for row in found} == {since}


def test_memory_that_a_later_step_of_the_job_takes_is_no_start_up():
    """Whoever takes memory in step 6 does so in each, though only one step was recorded; the first may be start-up."""
    calls = "1 api aclrtMallocHost 1000000 9000000\n1 launch launch 10000000 10010000"
    assert "start_up" in causes_of(calls)
    found = causes_of(calls, steps=MS_STEPS.replace("First", '"ProfilerStep#6"'))
    assert "start_up" not in found
    assert found["pin"] == pytest.approx(8000)
    assert "start_up" in causes_of(calls, steps=MS_STEPS.replace("First", '"ProfilerStep#1"'))
    late_code = "1 launch launch 1000000 9000000\n1 launch launch 10000000 10010000"
    assert "start_up" in causes_of(late_code, steps=MS_STEPS.replace("First", '"ProfilerStep#6"'))


def test_memory_that_a_helper_thread_pins_holds_nothing_up():
    calls = (
        "{} api aclrtMallocHost 1000000 4000000\n{} api aclrtMallocHost 15500000 18000000\n1 launch launch 10000 20000"
    )
    assert causes_of(calls.format(1, 1))["pin"] > 2000
    assert "pin" not in causes_of(calls.format(2, 2))


def test_what_compiles_the_program_is_a_cause_of_its_own_and_no_operator_that_is_built():
    frame = "torch/_dynamo/convert_frame.py(543):_compile"
    calls = host_calls(MS_STEPS + f"1 python {frame} 1000000 9000000")
    calls = calls.having(activity=["compile" if name == frame else None for name in calls.texts("name").values()])
    rows = launch_delays(
        read_table(Kernel, MS_KERNELS), calls, links=read_table(Dispatch, MS_LINKS), collectives=None, tasks=None,
        windows=read_table(StepWindow, MS_WINDOWS),
    ).rows()  # fmt: skip
    assert sum(row["lost_us"] for row in rows if row["cause"] == "graph_compile") == pytest.approx(8000)
    assert not [row for row in rows if row["cause"] == "compile"]


def test_memory_given_back_costs_the_restart_after_it_too():
    """The call waits until the device is done; what Python then does before it launches was hidden without it."""
    kernels = "start_ns duration_us\n0 400\n400000 400\n1220000 400\n1620000 400"
    links = (
        "start_ns latency_us idle_before_us vertical\n0 10 - -\n400000 380 0 false\n1220000 10 420 true\n"
        "1620000 380 0 false"
    )
    calls = (
        "thread kind name start_ns end_ns\n1 api cudaFree 30000 805000\n1 python train.py(7):_prepare 806000 1200000\n"
        "1 launch launch 1210000 1215000"
    )
    table = host_calls(calls)
    table = table.having(activity=["free" if name == "cudaFree" else None for name in table.texts("name").values()])
    rows = launch_delays(
        read_table(Kernel, kernels), table, links=read_table(Dispatch, links), collectives=None, tasks=None,
        windows=None,
    ).rows()  # fmt: skip
    assert sum(row["lost_us"] for row in rows if row["cause"] == "allocate") == pytest.approx(420, abs=30)
    assert sum(row["lost_us"] for row in rows if row["cause"] == "host") == pytest.approx(0, abs=30)


def test_what_the_host_does_after_many_reads_is_told_apart_and_after_two_it_is_not():
    """Each read empties the queue; what Python then does is lost, and would be hidden if nothing were read."""
    begins = [0, 100000, 210000, 320000, 430000, 900000, 1000000]
    kernels = "\n".join(["start_ns duration_us", *(f"{at} 90" for at in begins)])
    links = (
        "start_ns latency_us idle_before_us vertical\n0 10 - -\n100000 10 10 true\n210000 10 20 true\n"
        "320000 10 20 true\n430000 10 20 true\n900000 10 380 true\n1000000 100 10 false"
    )
    reads = [(100000, 195000), (205000, 305000), (312000, 415000), (422000, 525000)]

    def rows_of(reads: list[tuple[int, int]]) -> list[dict[str, object]]:
        calls = "thread kind name start_ns end_ns\n1 python train.py(7):_log 526000 880000\n" + "\n".join(
            f"1 operator aten::item {start} {end}\n1 api aclrtSynchronizeStream {start + 1000} {end - 1000}"
            for start, end in reads
        )
        found = launch_delays(
            read_table(Kernel, kernels), host_calls(calls), links=read_table(Dispatch, links), collectives=None,
            tasks=None, windows=read_table(StepWindow, "start_ns end_ns\n-50000 1200000"),
        )  # fmt: skip
        return [row for row in found.rows() if row["cause"] == "host"]

    many = rows_of(reads)
    lost, restart = (sum(row[name] or 0.0 for row in many) for name in ("lost_us", "restart_us"))  # type: ignore[misc]
    assert lost > 250
    assert 0 < restart <= lost
    few = rows_of(reads[:2])
    assert {row["restart_us"] for row in few} == {None}


def rows_of_lines(
    kernels: list[str], calls: list[str], links: list[str], copies: Sequence[str] = (), *, end_ns: int
) -> list[dict[str, Any]]:
    """The hold-ups of one step that ends then, of the lines of the tables."""
    return launch_delays(
        read_table(Kernel, "start_ns duration_us\n" + "\n".join(kernels)),
        host_calls("thread kind name start_ns end_ns\n" + "\n".join(calls)),
        links=read_table(Dispatch, "start_ns latency_us idle_before_us vertical\n" + "\n".join(links)),
        tasks=read_table(DeviceTask, "kind start_ns end_ns connection\n" + "\n".join(copies)) if copies else None,
        collectives=None,
        windows=read_table(StepWindow, f"start_ns end_ns\n0 {end_ns}"),
    ).rows()


def reading(pauses: list[int], operator: str = "aten::item", call: str = "aclrtSynchronizeStream") -> dict[str, Any]:
    """Kernels of 10 ms, each read by its host, which after that does nothing recorded for so long, µs; by cause."""
    at, kernels, links, calls = 0, [], [], []
    for number, pause in enumerate([0, *pauses]):
        at += 1_000 * pause
        calls.append(f"1 operator aten::op{number} {at} {at + 5_000}")
        calls.append(f"1 launch launch {at + 1_000} {at + 4_000}")
        kernels.append(f"{at + 11_000} 10000")
        links.append(f"{at + 11_000} 10 {pause + 16 if number else '-'} {'true' if number else '-'}")
        end = at + 10_011_000
        calls.append(f"1 operator {operator} {at + 6_000} {end + 5_000}")
        calls.append(f"1 api {call} {at + 7_000} {end + 4_000}")
        at = end + 5_000
    found = rows_of_lines(kernels, calls, links, end_ns=at)
    longest = [row for row in found if row["cause"] == "host" and row["longest_after"] is not None]
    return {**{str(row["cause"]): row for row in found}, "longest": (longest or [{}])[0]}


def test_a_long_pause_after_one_of_many_reads_is_no_loss_of_the_reads() -> None:
    """Without its read the host would run ahead through it, as long as the device had work for so long."""
    alike = reading([100] * 9)
    assert alike["read"]["lost_us"] == pytest.approx(8 * 116, rel=0.2)
    one = reading([*[100] * 5, 20_000, *[100] * 4])
    assert one["read"]["lost_us"] == pytest.approx(9 * 116, rel=0.2)
    assert one["host"]["lost_us"] > 19_000
    assert (one["longest"]["longest_after"], one["longest"]["longest_before"]) == ("aten::item", "aten::op6")


def test_a_long_pause_after_one_of_many_blocking_copies_is_no_loss_of_the_copies() -> None:
    copies = {"operator": "aten::copy_", "call": "aclrtMemcpy"}
    alike = reading([100] * 9, **copies)
    assert alike["blocking_copy"]["lost_us"] == pytest.approx(8 * 116, rel=0.2)
    one = reading([*[100] * 5, 20_000, *[100] * 4], **copies)
    assert one["blocking_copy"]["lost_us"] == pytest.approx(9 * 116, rel=0.2)
    assert one["host"]["lost_us"] > 19_000


@given(st.integers(1_000, 50_000), st.integers(2, 8))
@settings(deadline=None, max_examples=20)
def test_a_host_that_does_not_wait_for_copies_wins_the_pauses_after_them_and_not_their_own_time(
    copy_us: int, rounds: int
) -> None:
    """Each round: a kernel of 10 ms, a copy that the host waits for, and 1 ms until the next kernel is launched.

    A copy of a GPU from pageable memory is a call that copies and one that waits.
    """
    calls, kernels, links, copies, at = [], [], [], [], 0
    for number in range(rounds):
        calls += [f"1 operator aten::op {at} {at + 500_000}", f"1 launch launch {at + 100_000} {at + 400_000}"]
        begin = at + 500_000
        kernels.append(f"{begin} 10000")
        links.append(f"{begin} 400 {1_500 if number else '-'} true")
        done = begin + 10_000_000
        end = done + copy_us * 1_000
        copies.append(f"copy {done} {end} {number + 1}")
        links.append(f"{done} 9890 0 -")
        calls += [
            f"1 operator aten::copy_ {at + 600_000} {end}",
            f"1 api aclrtMemcpy {at + 610_000} {at + 620_000}",
        ]
        calls.append(f"1 api aclrtSynchronizeStream {at + 630_000} {end}")
        at = end + 1_000_000
    lost_us = {row["cause"]: row["lost_us"] for row in rows_of_lines(kernels, calls, links, copies, end_ns=at)}
    assert 0 <= lost_us["synchronise"] <= 1_500 * (rounds - 1) + 1


@pytest.mark.parametrize("pauses", [[5_000], [2_000] * 9, [100, 900] * 5, [100, 100, 5_000] * 3])
def test_pauses_after_few_reads_or_after_many_of_them_stay_with_them(pauses: list[int]) -> None:
    found = reading(pauses)
    assert found["read"]["lost_us"] == pytest.approx(sum(pauses) + 16 * len(pauses), rel=0.2)


def test_a_pause_that_several_operators_fill_together_is_blamed_on_the_longest() -> None:
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::mul 41000 62000\n1 operator aten::add 62500 99000\n"
        "1 operator aten::mm 70000 75000\n1 operator aten::mul 130000 170000\n1 operator aten::add 171000 199000"
    )
    assert [row["call"] for row in rows_of("host", calls) if row["step"] == 1] == ["aten::add"]


def test_a_build_on_the_second_thread_costs_what_it_holds_up_while_the_first_waits_for_earlier_work() -> None:
    """The device is done at 200; what was handed over at 10 is launched when the build is over, at 295."""
    calls = """thread kind name start_ns end_ns connection
        1 enqueue Enqueue@a 5000 10000 1
        1 api aclrtSynchronizeEvent 20000 200000 -
        1 enqueue Enqueue@b 205000 210000 2
        2 dequeue Dequeue@a 11000 300000 1
        2 api aclopCompileAndExecute 15000 295000 -
        2 api opCompile 20000 290000 -
        2 dequeue Dequeue@b 301000 306000 2"""
    found = launch_delays(
        read_table(Kernel, "start_ns duration_us\n2000 198\n300000 10\n310000 10"), host_calls(calls),
        links=read_table(
            Dispatch, "start_ns latency_us idle_before_us vertical\n2000 1 - true\n300000 5 100 true\n310000 6 0 false"
        ),
        collectives=None, tasks=None, windows=read_table(StepWindow, "step start_ns end_ns\n1 0 330000"),
    )  # fmt: skip
    lost = {row["cause"]: row["lost_us"] for row in found.rows()}
    assert lost["compile"] == pytest.approx(100, abs=2)
    assert lost["drain"] == 0


def test_what_was_handed_over_before_a_pause_waits_for_the_second_thread_alone() -> None:
    """The first thread is done at 12 and reads a value; the second takes 90 for each launch, and the device 10."""
    calls = """thread kind name start_ns end_ns connection
        1 enqueue Enqueue@a 1000 2000 1
        1 enqueue Enqueue@b 5000 6000 2
        1 enqueue Enqueue@c 10000 12000 3
        1 operator aten::item 13000 330000 -
        2 dequeue Dequeue@a 3000 93000 1
        2 launch launch 8000 90000 -
        2 dequeue Dequeue@b 94000 184000 2
        2 launch launch 99000 180000 -
        2 dequeue Dequeue@c 185000 275000 3
        2 launch launch 190000 270000 -"""
    found = launch_delays(
        read_table(Kernel, "start_ns duration_us\n20000 10\n115000 10\n210000 10"), host_calls(calls),
        links=read_table(
            Dispatch,
            "start_ns latency_us idle_before_us vertical\n20000 12 - true\n115000 16 85 true\n210000 20 85 true",
        ),
        collectives=None, tasks=None, windows=read_table(StepWindow, "step start_ns end_ns\n1 0 330000"),
    )  # fmt: skip
    assert {row["call"] for row in found.rows() if row["cause"] == "host"} == {"launch"}


def test_of_operators_in_pauses_those_are_counted_that_launch_themselves() -> None:
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::cumsum 41000 98000\n1 operator aten::mul 98500 101000\n"
        "1 operator aten::mul 241000 301000"
    )
    found = {row["call"]: row["launching_calls"] for row in rows_of("host", calls) if row["call"]}
    assert found == {"aten::cumsum": 0, "aten::mul": 1}


def test_what_a_task_waits_for_once_it_is_launched_is_no_pause_of_the_host() -> None:
    """20 kernels that the host launches 10 before they run, and one for which it thinks 120 long, and which begins only
    900 after its launch."""
    begun = range(20_000, 420_000, 20_000)
    launches = "\n".join(f"1 launch launch {at - 10_000} {at - 8_000}" for at in begun)
    found = launch_delays(
        read_table(Kernel, "start_ns duration_us\n" + "\n".join(f"{at} 10" for at in begun) + "\n1420000 10"),
        host_calls(
            f"thread kind name start_ns end_ns\n{launches}\n"
            "1 python think.py 411000 515000\n1 launch launch 520000 530000"
        ),
        links=read_table(
            Dispatch,
            "start_ns latency_us idle_before_us vertical\n" + "\n".join(f"{at} 10 10 true" for at in begun)
            + "\n1420000 900 1000 false",
        ),
        collectives=None, tasks=None, windows=read_table(StepWindow, "step start_ns end_ns\n1 0 1440000"),
    )  # fmt: skip
    (row,) = (row for row in found.rows() if row["call"] == "think.py")
    assert (row["longest_us"], row["idle_us"], row["lost_us"]) == (120, 120, 120)


def test_a_fetch_before_the_first_work_of_a_single_step_is_none_of_its_time() -> None:
    """The step begins with its first kernel, at 100: that it could begin 80 earlier is said beside it."""
    calls = """thread kind name start_ns end_ns
        1 data_loader DataLoader.__next__ 5000 85000
        1 launch launch 90000 95000
        1 data_loader DataLoader.__next__ 130000 170000
        1 launch launch 175000 180000"""

    def fetches(second: int, windows: str) -> list[tuple[float, float]]:
        found = launch_delays(
            read_table(Kernel, f"step start_ns duration_us\n1 100000 20\n{second} 185000 20"), host_calls(calls),
            links=read_table(
                Dispatch, "start_ns latency_us idle_before_us vertical\n100000 10 - true\n185000 10 65 true"
            ),
            collectives=None, tasks=None, windows=read_table(StepWindow, "step start_ns end_ns\n" + windows),
        )  # fmt: skip
        return [(row["lost_us"], row["before_us"]) for row in found.rows() if row["cause"] == "data_loader"]

    assert fetches(1, "1 0 210000") == [(40, 80)]
    assert [before for _, before in fetches(2, "1 0 125000\n2 125000 210000")] == [0, 0]
