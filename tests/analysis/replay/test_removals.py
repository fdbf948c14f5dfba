# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import advisor
import corpus
from advisor.analysis.arrays.intervals import Spans
from advisor.analysis.replay.removals import removals, spared_time
from advisor.analysis.replay.replay import (
    Queue,
    RanksInTime,
    Relief,
    ReplayedWork,
    ReplayInput,
    SparedTime,
    gains_by_task,
)
from advisor.facts.derived import Dispatch, RankTime, Removal
from advisor.facts.observed import Collective, HostCall, Kernel, StepWindow
from advisor.facts.table import Table, read_table
from advisor.rules.patterns import shipped_patterns
from benchmarks.fuzz.captures import read_files, write_files
from corpus.msprof import all_ranks_as_msprof
from tests.analysis.timelines import host_calls

TASKS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 30), st.integers(0, 40), st.integers(0, 30)), min_size=1, max_size=15
)
"""Idle time before a task, its length, for how long it was queued, and how much of its length is taken away."""


def in_turn(rows: list[tuple[int, int, int, int]]) -> tuple[ReplayInput, np.ndarray]:
    idle, length, queued, less = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    end = np.cumsum(idle + length)
    start, nothing, empty = end - length, np.full(len(end), -1), np.empty(0, np.int64)
    work = ReplayedWork(start, end, start - queued, entry=nothing, queued=queued, awaits=nothing)
    beside = ReplayedWork(*[empty] * 6)
    return ReplayInput(RanksInTime.of_one(0), work, beside, Queue(empty, empty, empty), Spans.none()), np.minimum(
        less, length
    )


def sooner_one_by_one(rank: ReplayInput, spared: np.ndarray) -> list[int]:
    """Task after task: when both its launch and the one before it allow, and later by what else held it up."""
    work, ended, recorded, found = rank.work, 0, 0, []
    rows = zip(*(column.tolist() for column in (work.start, work.end, work.queued, spared)), strict=True)
    for start, end, queued, less in rows:
        held = min(queued, start - recorded)
        begun = max(start - queued, ended) + held
        ended, recorded = begun + (end - start) - less, end
        found.append(end - ended)
    return found


@settings(max_examples=100)
@given(TASKS)
def test_taking_device_time_away_agrees_with_one_task_after_another(rows):
    rank, spared = in_turn(rows)
    gain = gains_by_task(rank, Relief.of_device(SparedTime.in_turn(spared)), waits=rank.waits)
    assert gain.tolist() == sooner_one_by_one(rank, spared)


@settings(max_examples=100)
@given(TASKS)
def test_what_is_won_lies_between_nothing_and_the_time_taken_away(rows):
    rank, spared = in_turn(rows)
    gain = gains_by_task(rank, Relief.of_device(SparedTime.in_turn(spared)), waits=rank.waits)
    assert (gain >= 0).all()
    assert (gain <= np.cumsum(spared)).all()


@settings(max_examples=50)
@given(TASKS)
def test_a_rank_whose_host_is_far_ahead_wins_all_of_it(rows):
    rank, spared = in_turn([(idle, length, 10_000, less) for idle, length, _, less in rows])
    gain = gains_by_task(rank, Relief.of_device(SparedTime.in_turn(spared)), waits=rank.waits)
    assert gain.tolist() == np.cumsum(spared).tolist()


@given(TASKS)
def test_a_replay_that_takes_nothing_away_is_what_was_recorded(rows):
    rank, _ = in_turn(rows)
    assert not gains_by_task(rank, Relief.none(), waits=rank.waits).any()


KERNELS = "op_type start_ns duration_us\nCast 0 40\nMul 40000 20\nCast 60000 40\nMul {mul} 20"
WINDOWS = "start_ns end_ns\n-30000 150000"


def found(links: str, calls: str | None = None, mul: int = 100_000) -> dict[str, tuple[float, float]]:
    table = removals(
        read_table(Kernel, KERNELS.format(mul=mul)), read_table(Dispatch, links),
        calls=None if calls is None else host_calls(calls),
        collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
        patterns=shipped_patterns().chains,
    )  # fmt: skip
    return {row["name"]: (row["instant_us"], row["removed_us"]) for row in table.rows()}


def test_kernels_of_a_rank_whose_queue_is_full_win_their_time():
    ahead = (
        "start_ns latency_us idle_before_us vertical\n0 0 - -\n40000 200 0 false\n60000 200 0 false\n100000 200 0 false"
    )
    assert found(ahead)["Cast"] == (80.0, 80.0)


def pausing(*pauses: int) -> tuple[float, float]:
    """What Casts of 10 µs win that take turns with other work, after these pauses in µs; the host is far ahead."""
    start = np.cumsum(pauses) + 10 * np.arange(len(pauses))
    names = [("Cast", "Mul")[place % 2] for place in range(len(pauses))]
    kernels = "\n".join(f"{name} {at * 1000} 10" for name, at in zip(names, start.tolist(), strict=True))
    ahead = "\n".join(f"{at * 1000} {900 * (at > 0)} 0 false" for at in start.tolist())
    table = removals(
        read_table(Kernel, "op_type start_ns duration_us\n" + kernels),
        read_table(Dispatch, "start_ns latency_us idle_before_us vertical\n" + ahead),
        calls=None, collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
        patterns=shipped_patterns().chains,
    )  # fmt: skip
    (row,) = (row for row in table.rows() if row["name"] == "Cast")
    return row["instant_us"], row["removed_us"]


def test_with_kernels_goes_the_pause_before_each_however_long_it_usually_is():
    assert pausing(0, 4, 4, 4, 4, 4) == (30, 38)
    assert pausing(0, 9, 9, 9, 9, 9) == (30, 48)


def test_a_pause_that_is_longer_than_usual_has_a_cause_that_stays():
    assert pausing(0, 9, 70, 9, 9, 9) == (30, 48)
    assert pausing(0, 2, 70, 2, 2, 2) == (30, 34)


def test_kernels_win_nothing_where_what_follows_waits_for_its_launch():
    """The last multiplication is launched 60 after the Cast before it, which the host had launched late too."""
    late = (
        "start_ns latency_us idle_before_us vertical\n0 20 - -\n40000 20 0 false\n60000 20 0 false\n120000 20 20 true"
    )
    assert found(late, mul=120_000)["Cast"][0] == 0.0


def test_without_their_launches_what_follows_is_launched_earlier():
    late = (
        "start_ns latency_us idle_before_us vertical\n0 20 - -\n40000 20 0 false\n60000 20 0 false\n120000 20 20 true"
    )
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::to 25000 70000\n1 operator aten::mul 70000 110000\n"
        "1 operator aten::mul 0 24000"
    )
    instant, removed = found(late, calls, mul=120_000)["Cast"]
    assert instant == 0.0
    assert removed == 45.0  # that of the operator, which bounds it


CHAIN = "op_type start_ns duration_us\nSoftmaxV2 0 40\nLog 40000 20\nMul 60000 20\nMatMulV3 {product} 50"


def fused(links: str, product: int, calls: str | None = None) -> float:
    """What one kernel in place of Softmax, Log and Mul wins: the pass of the longest of them remains."""
    table = removals(
        read_table(Kernel, CHAIN.format(product=product)), read_table(Dispatch, links),
        calls=None if calls is None else host_calls(calls),
        collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
        patterns=shipped_patterns().chains,
    )  # fmt: skip
    (row,) = (row for row in table.rows() if row["kind"] == "chain")
    assert 0 <= row["fused_us"] <= row["removed_us"]
    return float(row["fused_us"])


def test_one_kernel_in_place_of_a_chain_wins_all_but_its_own_time_where_the_host_is_far_ahead():
    ahead = (
        "start_ns latency_us idle_before_us vertical\n0 0 - -\n40000 200 0 false\n60000 200 0 false\n80000 200 0 false"
    )
    assert fused(ahead, 80_000) == 40.0


def test_one_kernel_in_place_of_a_chain_wins_the_time_of_the_calls_that_go_where_the_host_is_the_limit():
    """The product waits for its launch; of the three launches before it one stays."""
    late = "start_ns latency_us idle_before_us vertical\n0 20 - -\n40000 20 0 false\n60000 20 0 false\n90000 20 10 true"
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::softmax -30000 -10000\n1 operator aten::log 15000 25000\n"
        "1 operator aten::mul 35000 45000\n1 operator aten::mm 65000 75000"
    )
    assert fused(late, 90_000, calls) == 20.0


def test_a_rank_with_one_kernel_wins_no_more_than_it_takes():
    table = removals(
        read_table(Kernel, "op_type start_ns duration_us\nCast 0 40"),
        read_table(Dispatch, "start_ns latency_us idle_before_us vertical\n0 0 - -"),
        calls=None, collectives=None, tasks=None, windows=read_table(StepWindow, WINDOWS),
        patterns=shipped_patterns().chains,
    )  # fmt: skip
    assert [0 <= row["instant_us"] <= 40 for row in table.rows()] == [True]


def test_a_rank_without_launches_has_no_row():
    assert found("start_ns latency_us idle_before_us vertical") == {}


def test_kernels_and_chains_of_a_step_of_no_length_are_not_asked_for() -> None:
    chain = ["Pow", "ReduceMean", "Add", "Rsqrt", "Mul", "Mul"]
    kernels = "\n".join(f"{name} 0 0" for name in chain)
    with np.errstate(all="raise"):
        table = removals(
            read_table(Kernel, "op_type start_ns duration_us\n" + kernels),
            read_table(Dispatch, "start_ns latency_us idle_before_us vertical\n0 0 - -"),
            calls=None, collectives=None, tasks=None, windows=None, patterns=shipped_patterns().chains,
        )  # fmt: skip
    assert not len(table)


@pytest.mark.parametrize("host", [0.0, 0.5, 1.5])
def test_kernels_that_take_no_time_win_what_the_job_wins_in_which_they_take_none(host: float, tmp_path: Path) -> None:
    """From a host that is just ahead to one that is far behind, which wins hardly anything."""
    more = {"host_bound": host} if host else {}
    job = corpus.job("aicpu-exposed", 7, workload="light", strength=0.3, **more)
    quick = corpus.job("aicpu-exposed", 7, workload="light", strength=1e-4, **more)
    table = advisor.load_profile(corpus.write(job, tmp_path / "capture", "database")).table(Removal)
    own = table.take(table.texts("name").isin(["IndexPut"]))
    assert own["instant_us"].max() == pytest.approx(job.step_us - quick.step_us, rel=0.1, abs=0.005 * job.step_us)


COLLECTIVES = "start_ns elapse_us\n41000 99\n140000 30"
"""The first runs beside a kernel and the one after it waits for its end; the second runs while nothing else does."""
BESIDE = "op_type start_ns duration_us\nMul 0 40\nMul 40000 20\nMul 170000 20"


def won_without_communication(launched_us: int, calls: Table[HostCall] | None = None) -> float:
    """What the step wins without collectives when the last kernel was launched then."""
    table = removals(
        read_table(Kernel, BESIDE),
        read_table(
            Dispatch,
            "start_ns latency_us idle_before_us vertical\n0 20 - -\n40000 50 0 false\n41000 45 0 false\n"
            f"140000 140 0 false\n170000 {170 - launched_us} 0 false",
        ),
        calls=calls, collectives=read_table(Collective, COLLECTIVES), tasks=None,
        windows=read_table(StepWindow, "start_ns end_ns\n-20000 200000"), patterns=shipped_patterns().chains,
    )  # fmt: skip
    (row,) = (row for row in table.rows() if row["kind"] == "communication")
    assert row["removed_us"] == row["instant_us"]
    return float(row["instant_us"])


def test_without_communication_a_rank_whose_host_is_far_ahead_wins_what_was_exposed():
    assert won_without_communication(20) == 80 + 30


def test_without_communication_a_rank_ends_no_sooner_than_its_host_launches():
    assert won_without_communication(130) == pytest.approx(20, abs=1)  # the usual latency is that of the first kernel


def test_without_communication_a_wait_for_an_earlier_batch_gets_as_much_shorter_as_the_device_gets_faster():
    """The host waits for the first collective, while the device goes on, and launches the last kernel then."""
    wait = host_calls("thread kind name start_ns end_ns\n1 api aclrtSynchronizeEvent 60000 141000")
    other = host_calls("thread kind name start_ns end_ns\n1 api aclnnMul 60000 141000")
    beside = wait.having(thread=2)
    launches = host_calls("thread kind name start_ns end_ns\n1 launch launch 1000 1010")
    waited, worked, aside = (
        won_without_communication(145, Table.concat(HostCall, [launches, one])) for one in (wait, other, beside)
    )
    assert waited > 80 and worked < 10 and aside < 10


@pytest.mark.parametrize("lasted_us", [400, 390], ids=["beyond the first", "within the first"])
def test_without_communication_two_collectives_outstanding_at_once_are_both_gone(lasted_us: int):
    """The host launches each just before it begins, on streams of their own, and the last kernel with them."""
    collectives = read_table(Collective, f"group start_ns elapse_us\na 41000 399\nb 44000 {lasted_us}")
    table = removals(
        read_table(Kernel, "op_type start_ns duration_us\nMul 0 40\nMul 450000 20"),
        read_table(
            Dispatch,
            "start_ns latency_us idle_before_us vertical\n0 20 - -\n41000 25 0 false\n44000 25 0 false\n"
            "450000 430 0 false",
        ),
        calls=None, collectives=collectives, tasks=None,
        windows=read_table(StepWindow, "start_ns end_ns\n-20000 480000"), patterns=shipped_patterns().chains,
    )  # fmt: skip
    (won,) = table.take(table.texts("kind").isin(["communication"]))["instant_us"].tolist()
    assert won == pytest.approx(max(440, 44 + lasted_us) - 44, abs=5)


@given(TASKS)
def test_what_two_tasks_at_once_are_spared_is_what_one_in_their_place_is(rows):
    """Each task once more beside itself, on another stream."""
    rank, _ = in_turn(rows)
    twice = ReplayInput(
        rank.ranks, rank.work.take(np.repeat(np.arange(len(rows)), 2)), rank.beside, rank.queue, rank.waits
    )
    once, both = (
        gains_by_task(
            one, Relief.of_device(spared_time(one, one.work, np.ones(len(one.work.start), bool))), waits=one.waits
        )
        for one in (rank, twice)
    )
    assert both[1::2].tolist() == once.tolist()


def test_a_rank_without_collectives_has_no_row_for_them():
    table = removals(
        read_table(Kernel, BESIDE), read_table(Dispatch, "start_ns latency_us idle_before_us vertical\n0 0 - -"),
        calls=None, collectives=None, tasks=None, windows=None, patterns=shipped_patterns().chains,
    )  # fmt: skip
    assert "communication" not in {row["kind"] for row in table.rows()}


@pytest.mark.parametrize("case", ["slow-rank-host", "slowest-of-slow-hosts"])
def test_peers_win_without_communication_what_the_late_rank_costs_and_no_more_than_they_communicate_without_it(
    case: str, tmp_path: Path
) -> None:
    """Also where every host is slow: then most of what they wait is no loss."""
    job, alike = corpus.job(case, 7), corpus.job(case, 7, without=["slow-rank-host"])
    times, usual = (
        advisor.load_profile(corpus.write(one, tmp_path / name, "database")).table(RankTime)
        for name, one in (("late", job), ("alike", alike))
    )
    lost = job.step_us - alike.step_us
    won = times["peer_gain_without_comm_us"][times["free_us"].argmax()]
    assert lost > 0.03 * job.step_us
    assert lost - 0.01 * job.step_us <= won <= lost + usual["exposed_comm_us"].max()


@pytest.mark.parametrize("case", ["slow-rank-host", "slowest-of-slow-hosts", "aicpu-exposed"])
def test_a_program_without_steps_wins_without_work_what_its_steps_win(case: str, tmp_path: Path) -> None:
    """What hosts that are late themselves did not need by then is no loss, whoever recorded it."""
    framework, msprof = tmp_path / "framework", tmp_path / "msprof"
    corpus.write(corpus.job(case, 7), framework, "text")
    write_files(all_ranks_as_msprof(read_files(framework)), msprof)
    of_steps, of_program = (advisor.load_profile(folder) for folder in (framework, msprof))
    assert of_program.run.times_of == "work"
    gains, same = (won_by_rank_and_name(profile.table(Removal)) for profile in (of_steps, of_program))
    span_us = of_steps.table(RankTime)["span_us"].mean()
    large = {key: us for key, us in gains.items() if us > 0.01 * span_us}
    assert large
    assert {key: same[key] / of_steps.run.step_count for key in large} == pytest.approx(large, rel=0.1)


def won_by_rank_and_name(table: Table[Removal]) -> dict[tuple[int, str, str | None], float]:
    kept = (row for row in table.rows() if row["kind"] in ("operator", "communication"))
    return {(row["rank"], row["kind"], row["name"]): row["instant_us"] for row in kept}


UNEVEN = """
op_type start_ns duration_us input_shapes
Scatter 0        10          8
Scatter 10000    10          8
Scatter 20000    40          8
Scatter 60000    40          16
Scatter 100000   10          8
"""
"""Of four with equal inputs one takes 30 µs more than the quickest; a fifth has other inputs."""


def steady(queued_us: float) -> float:
    """What the step wins when equal kernels are equally quick, with kernels launched so long ahead."""
    launches = "start_ns latency_us idle_before_us vertical\n" + "\n".join(
        f"{start} {queued_us if start else 20} 0 false" for start in (0, 10_000, 20_000, 60_000, 100_000)
    )
    table = removals(
        read_table(Kernel, UNEVEN), read_table(Dispatch, launches), calls=None, collectives=None, tasks=None,
        windows=read_table(StepWindow, "start_ns end_ns\n0 110000"), patterns=shipped_patterns().chains,
    )  # fmt: skip
    (row,) = table.rows()
    assert row["steady_us"] <= row["instant_us"]
    return float(row["steady_us"])


def test_kernels_that_are_all_as_quick_as_the_quickest_win_what_the_others_took_more():
    assert steady(200) == 30.0


def test_kernels_that_are_quicker_win_nothing_where_the_host_launches_no_earlier():
    assert steady(20) == 0.0


def test_a_wait_that_leaves_the_device_busy_takes_nothing_away_from_what_was_won():
    """The host looks at an empty side stream while two tasks are queued; the device does not start afresh."""
    ahead = (
        "start_ns latency_us idle_before_us vertical\n0 0 - -\n40000 38 0 false\n60000 56 0 false\n100000 90 0 false"
    )
    calls = "thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream 5000 6000"
    assert found(ahead, calls)["Cast"][0] == 78.0  # the first multiplication was launched at 2
