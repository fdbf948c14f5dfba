# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from advisor.analysis.steps.overlap import overlaps
from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepTime, StepWindow
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Parallel, Run
from advisor.model.run_of_ranks import run_of_ranks
from tests.analysis import timelines as tl


def split(run=None, **tables):
    nothing = dict.fromkeys(("kernels", "collectives", "tasks", "windows", "recorded"))
    return overlaps(run_of_ranks(run or Run()), **{**nothing, **tables})


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES, tl.TASKS)
def test_the_split_agrees_with_sets_of_moments(kernels, collectives, tasks):
    twin = tl.Moments(kernels, collectives, tasks)
    if not kernels:
        return
    found = split(kernels=tl.kernels(kernels), collectives=tl.collectives(collectives), tasks=tl.tasks(tasks)).rows()
    assert [(r["rank"], r["step"]) for r in found] == sorted(twin.cells, key=lambda k: (k[0], tl.number(k[1])))
    for row in found:
        key = (row["rank"], row["step"])
        sets, free = twin.cells[key], twin.free(key)
        ns = {name: round(value * 1e3) for name, value in row.items() if name.endswith("_us") and value is not None}
        assert ns["span_us"] == len(twin.window(key))
        assert ns["compute_us"] == len(sets["compute"])
        assert ns["comm_us"] == len(sets["comm"])
        assert ns["exposed_comm_us"] == len(sets["comm"] - sets["compute"])
        assert ns["overlapped_us"] == len(sets["comm"] & sets["compute"])
        assert ns["free_us"] == len(free)
        assert ns["copy_us"] == len(free & sets["copy"])
        assert ns["event_wait_us"] == len(free & sets["wait"] - sets["copy"])
        assert ns["bubble_us"] == len(sets["p2p"] - sets["compute"])
        assert ns["span_us"] == ns["compute_us"] + ns["exposed_comm_us"] + ns["free_us"]


def test_copies_to_the_host_are_told_where_directions_are():
    kernels = read_table(Kernel, "start_ns duration_us\n0 10\n60000 10")
    tasks = "kind direction start_ns end_ns\ncopy d2h 20000 30000\ncopy h2d 25000 40000\ncopy d2h 65000 80000"
    (row,) = split(kernels=kernels, tasks=read_table(DeviceTask, tasks)).rows()
    assert (row["copy_us"], row["to_host_us"]) == (20, 10)
    both = "rank " + tasks.replace("\n", "\n0 ") + "\n1 copy - 20000 30000"
    two = read_table(Kernel, "rank start_ns duration_us\n0 0 10\n0 60000 10\n1 0 10\n1 60000 10")
    rows = split(kernels=two, tasks=read_table(DeviceTask, both)).rows()
    assert [(row["copy_us"], row["to_host_us"]) for row in rows] == [(20, 10), (10, None)]
    unknown = tasks.replace("d2h", "-").replace("h2d", "-")
    (row,) = split(kernels=kernels, tasks=read_table(DeviceTask, unknown)).rows()
    assert (row["copy_us"], row["to_host_us"]) == (20, None)


def test_copies_within_the_device_are_told_apart_from_those_beside_one_to_the_host() -> None:
    kernels = read_table(Kernel, "start_ns duration_us\n0 10\n60000 10")
    tasks = "kind direction start_ns end_ns\ncopy d2d 20000 30000\ncopy h2d 25000 40000"
    (row,) = split(kernels=kernels, tasks=read_table(DeviceTask, tasks)).rows()
    assert (row["copy_us"], row["to_host_us"], row["device_copy_us"]) == (20, 0, 5)


def test_a_copy_that_runs_on_when_the_next_step_has_begun_is_told_in_both() -> None:
    kernels = read_table(Kernel, "step start_ns duration_us\n1 0 10\n2 40000 2\n2 60000 10")
    tasks = read_table(DeviceTask, "kind direction start_ns end_ns\ncopy h2d 20000 55000")
    rows = split(kernels=kernels, tasks=tasks).rows()
    assert [(row["copy_us"], row["free_us"]) for row in rows] == [(20, 30), (13, 18)]


def test_the_pause_between_two_steps_belongs_to_the_first():
    kernels = read_table(
        Kernel,
        """
        step start_ns duration_us
        7    1000     1
        8    5000     1
        """,
    )
    assert [r["free_us"] for r in split(kernels=kernels).rows()] == [3.0, 0.0]


def test_a_pause_before_a_step_that_was_not_recorded_belongs_to_none():
    kernels = read_table(
        Kernel,
        """
        step start_ns duration_us
        7    1000     1
        9    5000     1
        """,
    )
    assert [r["free_us"] for r in split(kernels=kernels).rows()] == [0.0, 0.0]


def test_a_capture_without_steps_is_one_step_without_a_number():
    kernels = read_table(
        Kernel,
        """
        step start_ns duration_us
        -    1000     1
        -    5000     1
        """,
    )
    (row,) = split(kernels=kernels).rows()
    assert row["step"] is None and row["span_us"] == 5.0 and row["free_us"] == 3.0


def test_warm_up_kernels_outside_of_every_step_do_not_count():
    kernels = read_table(
        Kernel,
        """
        step start_ns duration_us
        -    0        9
        3    10000    1
        """,
    )
    (row,) = split(kernels=kernels).rows()
    assert row["step"] == 3 and row["compute_us"] == 1.0


def test_a_collective_without_a_step_goes_by_time_when_none_has_one():
    kernels = read_table(Kernel, "step start_ns duration_us\n3 10000 1\n3 20000 1")
    collectives = read_table(Collective, "step start_ns elapse_us p2p\n- 12000 4 false")
    (row,) = split(kernels=kernels, collectives=collectives).rows()
    assert row["exposed_comm_us"] == 4.0


@pytest.mark.parametrize("bad", [float("nan"), -5.0, float("inf"), 1e18])
def test_impossible_durations_are_left_out(bad):
    kernels = Table.build(Kernel, rank=0, step=[1, 1], start_ns=[1000, 3000], duration_us=[1.0, bad])
    (row,) = split(kernels=kernels).rows()
    assert row["compute_us"] == 1.0 and row["span_us"] == 1.0


def test_a_timestamp_far_from_all_others_does_not_stretch_the_step():
    start = np.array([1_700_000_000_000_000_000, 1_700_000_000_000_001_000, 5, MISSING, 2**62])
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=start, duration_us=1.0)
    (row,) = split(kernels=kernels).rows()
    assert row["span_us"] == 2.0


def test_without_device_tasks_copies_are_unknown_not_zero():
    (row,) = split(kernels=read_table(Kernel, "start_ns duration_us\n0 1\n5000 1")).rows()
    assert row["copy_us"] is None and row["event_wait_us"] is None and row["free_us"] == 4.0


def test_a_zero_length_kernel_still_bounds_the_step():
    (row,) = split(kernels=read_table(Kernel, "start_ns duration_us\n0 1\n5000 0")).rows()
    assert row["span_us"] == 5.0 and row["compute_us"] == 1.0


RECORDED = """
rank step compute_us comm_us exposed_comm_us overlapped_us free_us bubble_us
0    2    10         7       5               2             3       1
"""


def test_without_kernels_the_recorded_sums_are_taken():
    (row,) = split(recorded=read_table(StepTime, RECORDED)).rows()
    assert row["source"] == "recorded"
    assert row["span_us"] == 18.0 and row["bubble_us"] == 1.0 and row["copy_us"] is None


def test_recorded_sums_stand_in_only_for_ranks_without_kernels():
    kernels = read_table(Kernel, "rank start_ns duration_us\n1 0 4")
    found = split(kernels=kernels, recorded=read_table(StepTime, RECORDED)).rows()
    assert [(r["rank"], r["source"]) for r in found] == [(0, "recorded"), (1, "intervals")]


@pytest.mark.parametrize(("kind", "bubble"), [("cp", 0), ("pp", 60), ("-", 60)])
def test_what_rings_of_attention_send_is_no_bubble(kind: str, bubble: float):
    sends = read_table(
        Collective, f"rank step op group_kind p2p start_ns elapse_us\n0 2 batchSendRecv {kind} true 100000 60"
    )
    kernels = read_table(Kernel, "rank step start_ns duration_us\n0 2 0 100\n0 2 160000 10")
    assert [row["bubble_us"] for row in split(kernels=kernels, collectives=sends).rows()] == [bubble]
    sums = read_table(
        StepTime, "rank step compute_us comm_us exposed_comm_us overlapped_us free_us bubble_us\n0 2 110 60 60 0 0 0"
    )
    assert [row["bubble_us"] for row in split(recorded=sums, collectives=sends).rows()] == [bubble]


def test_stages_come_from_the_parallel_layout():
    run = Run(parallel=Parallel(pp=2, stages=((0,), (1,))))
    found = split(run, kernels=read_table(Kernel, "rank start_ns duration_us\n0 0 4\n1 0 4\n5 0 4")).rows()
    assert [r["stage"] for r in found] == [0, 1, None]


def test_neither_kernels_nor_sums_is_a_missing_fact():
    with pytest.raises(FactMissing) as caught:
        split(tasks=Table.empty(DeviceTask))
    assert caught.value.tables == ("kernels", "step_times")


def test_empty_kernels_without_sums_are_a_missing_fact_too():
    with pytest.raises(FactMissing):
        split(kernels=Table.empty(Kernel))


def two_steps_and_their_windows(second_opens: int) -> list[object]:
    kernels = read_table(Kernel, "step start_ns duration_us\n7 1000 1\n8 500000 1")
    windows = read_table(StepWindow, f"step start_ns end_ns\n7 0 5000\n8 {second_opens} 600000")
    return [row["free_us"] for row in split(kernels=kernels, windows=windows).rows()]


def test_a_pause_during_which_the_host_was_in_no_step_belongs_to_none():
    assert two_steps_and_their_windows(second_opens=400_000) == [0.0, 0.0]


def test_a_pause_within_the_steps_of_the_host_counts():
    assert two_steps_and_their_windows(second_opens=6_000) == [498.0, 0.0]


def marked_steps(windows: str, kernels: str = "step start_ns duration_us\n7 40000 20\n8 140000 20") -> list[object]:
    """Start, length and idle time of steps whose marks say from when on they count."""
    rows = split(
        kernels=read_table(Kernel, kernels),
        windows=read_table(StepWindow, "step start_ns end_ns counts_from_ns\n" + windows),
    ).rows()
    return [(row["start_ns"], row["span_us"], row["free_us"]) for row in rows]


def test_where_marks_tell_it_the_pause_before_the_first_work_of_a_step_is_its_own():
    assert marked_steps("7 0 100000 0\n8 100000 200000 100000") == [(0, 100.0, 80.0), (100_000, 60.0, 40.0)]


def test_no_step_counts_what_the_device_still_does_of_the_one_before():
    kernels = "step start_ns duration_us\n7 40000 70\n8 140000 20"
    assert marked_steps("7 0 100000 0\n8 100000 200000 100000", kernels) == [
        (10_000, 100.0, 30.0),
        (110_000, 50.0, 30.0),
    ]


def test_a_first_step_may_have_begun_while_the_device_was_as_far_behind_as_in_the_others():
    kernels = "step start_ns duration_us\n7 40000 20\n8 140000 90"
    assert marked_steps("7 0 100000 0\n8 100000 200000 100000", kernels)[0] == (30_000, 70.0, 50.0)


def test_where_nothing_tells_what_the_host_did_before_the_first_step_it_counts_as_much_as_in_the_others():
    kernels = "step start_ns duration_us\n7 90000 5\n8 140000 20\n9 240000 20"
    windows = "7 0 100000 -\n8 100000 200000 100000\n9 200000 300000 200000"
    assert marked_steps(windows, kernels)[0] == (50_000, 50.0, 45.0)


def test_of_a_lone_step_of_which_nothing_tells_what_the_host_did_before_its_work_that_does_not_count():
    assert marked_steps("7 0 100000 -", "step start_ns duration_us\n7 40000 20") == [(40_000, 20.0, 0.0)]


def test_a_kernel_that_drives_a_collective_is_no_computation():
    kernels = read_table(
        Kernel, "op_name start_ns duration_us\nMatMul_1 0 10\nhcom_allreduceAicpuKernel 20000 30\nMatMul_2 60000 10"
    )
    comm = read_table(Collective, "start_ns elapse_us p2p\n20000 30 false")
    (row,) = split(kernels=kernels, collectives=comm).rows()
    assert row["compute_us"] == 20.0 and row["exposed_comm_us"] == 30.0


def test_idle_time_between_tasks_of_one_launch_is_told_apart_from_the_rest():
    starts = np.array([0, 1_000_000, 1_005_000, 1_012_000])
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=starts, duration_us=3.0, op_type="A")
    tasks = Table.build(
        DeviceTask, rank=0, kind="kernel", start_ns=starts, end_ns=starts + 3_000, connection=[1, 2, 2, 3]
    )
    (row,) = split(kernels=kernels, tasks=tasks).rows()
    assert (row["free_us"], row["graph_idle_us"]) == (997 + 2 + 4, 2)


def test_tasks_of_one_launch_in_two_steps_or_with_others_between_them_are_no_graph():
    starts = np.array([0, 10_000, 20_000, 30_000])
    kernels = Table.build(Kernel, rank=0, step=[1, 1, 1, 2], start_ns=starts, duration_us=3.0, op_type="A")
    tasks = Table.build(
        DeviceTask, rank=0, kind="kernel", start_ns=starts, end_ns=starts + 3_000, connection=[1, 2, 1, 1]
    )
    assert split(kernels=kernels, tasks=tasks)["graph_idle_us"].tolist() == [0, 0]


def test_tasks_that_one_call_launched_behind_the_last_work_of_a_rank_leave_other_ranks_as_they_are() -> None:
    begun = np.array([0, 5_000, 200_000])
    kernels = Table.build(Kernel, rank=np.repeat([0, 1], 3), step=1, start_ns=np.tile(begun, 2), duration_us=3.0)
    behind = np.array([204_000, 300_000])
    tasks = Table.build(
        DeviceTask,
        rank=np.repeat([0, 1], [5, 3]),
        kind="kernel",
        start_ns=np.concatenate([begun, behind, begun]),
        end_ns=np.concatenate([begun, behind, begun]) + 3_000,
        connection=[1, 1, 2, 3, 3, 1, 1, 2],
    )
    assert split(kernels=kernels, tasks=tasks)["graph_idle_us"].tolist() == [2, 2]


def test_tasks_that_one_call_launched_outside_of_steps_leave_the_next_step_as_it_is() -> None:
    begun = np.array([0, 5_000, 400_000, 405_000])
    kernels = Table.build(Kernel, rank=0, step=[1, 1, 2, 2], start_ns=begun, duration_us=3.0)
    windows = Table.build(StepWindow, rank=0, step=[1, 2], start_ns=[0, 395_000], end_ns=[9_000, 420_000])
    between = np.array([8_000, 300_000])
    tasks = Table.build(
        DeviceTask,
        rank=0,
        kind="kernel",
        start_ns=np.concatenate([begun, between]),
        end_ns=np.concatenate([begun, between]) + 3_000,
        connection=[1, 2, 4, 5, 3, 3],
    )
    found = split(kernels=kernels, tasks=tasks, windows=windows)
    assert (found["free_us"].tolist(), found["graph_idle_us"].tolist()) == ([2, 2], [0, 0])


@pytest.mark.parametrize(
    ("framework", "until_ns", "source"),
    [("MindSpore", 20_000, "intervals"), ("MindSpore", 400_000, "recorded"), ("PyTorch", 20_000, "recorded")],
)
def test_what_begins_in_a_window_of_a_host_that_is_ahead_is_no_sum_of_its_step(framework, until_ns, source):
    """MindSpore adds up what begins on the device while the host is in the step; torch_npu what the step launched."""
    kernels = read_table(Kernel, "step start_ns duration_us\n1 0 100\n1 100000 100\n2 200000 100\n2 300000 100")
    windows = Table.build(
        StepWindow, rank=[0, 0], step=[1, 2], start_ns=[0, until_ns // 2], end_ns=[until_ns // 2, until_ns]
    )
    sums = read_table(StepTime, "step compute_us exposed_comm_us free_us\n1 100 0 100\n2 100 0 100")
    found = split(Run(framework=framework), kernels=kernels, windows=windows, recorded=sums)
    assert found.texts("source").values() == [source] * 2
