# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.launches.dispatch import MOST_TOLERANCE_NS, clock_tolerances, dispatches
from advisor.facts.observed import Collective, DeviceTask, Kernel, Launch, StepWindow
from advisor.facts.table import Table, read_table
from tests.analysis import timelines as tl


def one_after_another(idle_ns: int, lead_ns: int, call_ns: int = 0) -> list[dict[str, object]]:
    """Two kernels with idle time between them, the second launched so long before by a call of this length."""
    second = 100_000 + idle_ns
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[0, second], duration_us=100.0, op_type=["A", "B"])
    begun = np.array([-1_000_000, second - lead_ns])
    launches = Table.build(
        Launch, rank=0, host_start_ns=begun, host_end_ns=begun + np.array([0, call_ns]), device_start_ns=[0, second]
    )
    return dispatches(kernels, launches, None, None, None).rows()


def test_a_call_made_after_the_device_ran_dry_is_vertical():
    _, second = one_after_another(idle_ns=300_000, lead_ns=15_000)
    assert second["vertical"] is True and second["idle_before_us"] == 300.0 and second["latency_us"] == 15.0


def test_a_call_made_long_before_is_not_vertical():
    _, second = one_after_another(idle_ns=300_000, lead_ns=900_000)
    assert second["vertical"] is False


def test_a_call_made_before_the_device_ran_dry_is_vertical_within_the_error_of_the_clocks():
    _, within = one_after_another(idle_ns=100_000, lead_ns=100_000 + AT_ONCE_NS)
    _, beyond = one_after_another(idle_ns=100_000, lead_ns=100_000 + AT_ONCE_NS + 1)
    assert (within["vertical"], beyond["vertical"]) == (True, False)


def test_a_task_that_the_device_held_up_itself_is_not_vertical():
    _, second = one_after_another(idle_ns=5_000_000, lead_ns=4_900_000)
    assert second["vertical"] is False


def test_a_call_that_first_did_something_else_for_long_launched_as_it_returned():
    _, second = one_after_another(idle_ns=5_000_000, lead_ns=4_900_000, call_ns=4_890_000)
    assert second["vertical"] is True and second["latency_us"] == 10.0
    _, within = one_after_another(idle_ns=5_000_000, lead_ns=4_900_000, call_ns=4_900_000 + AT_ONCE_NS)
    assert within["vertical"] is True and within["latency_us"] == 0.0


def test_a_task_that_begins_in_the_middle_of_its_launching_call_was_launched_as_that_began():
    _, second = one_after_another(idle_ns=5_000_000, lead_ns=100_000, call_ns=2_000_000)
    assert second["latency_us"] == 100.0


def test_a_call_that_runs_a_whole_graph_launched_all_of_it_as_it_began():
    """It returns some µs after the last kernel began: it waited for that, and did nothing before the first."""
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[0, 30_000, 950_000], duration_us=20.0, op_type="A")
    launches = Table.build(Launch, rank=0, host_start_ns=10_000, host_end_ns=960_000, device_start_ns=[30_000, 950_000])
    found = dispatches(kernels, launches, None, None, None)
    assert found["latency_us"].tolist() == [20.0, 940.0]


def test_a_link_that_seems_to_go_back_in_time_is_clock_error_and_vertical():
    _, second = one_after_another(idle_ns=300_000, lead_ns=-50_000)
    assert second["vertical"] is True and second["latency_us"] == -50.0
    assert second["queued_us"] == 0.0  # nothing starts before it was launched


def test_a_task_that_begins_while_others_run_never_waited_for_the_host():
    _, second = one_after_another(idle_ns=-10_000, lead_ns=5_000)
    assert second["idle_before_us"] == 0.0 and second["vertical"] is False


def test_of_the_first_task_nothing_is_known():
    first, _ = one_after_another(idle_ns=10_000, lead_ns=5_000)
    assert first["idle_before_us"] is None and first["vertical"] is None


def test_before_the_first_task_the_device_was_idle_as_long_as_is_known_to_be_of_its_step():
    kernels = read_table(Kernel, "step start_ns duration_us\n1 300000 100")
    launches = read_table(Launch, "host_start_ns host_end_ns device_start_ns\n290000 295000 300000")
    windows = read_table(StepWindow, "step start_ns end_ns counts_from_ns\n1 0 500000 50000")
    (first,) = dispatches(kernels, launches, None, None, windows).rows()
    assert (first["idle_before_us"], first["vertical"]) == (250.0, True)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9))
def test_tolerance_follows_the_most_negative_latency_within_bounds(latency):
    (found,) = clock_tolerances(np.zeros(len(latency), np.int64), np.array(latency), np.array([0])).tolist()
    assert found == min(max(-min(latency), AT_ONCE_NS), MOST_TOLERANCE_NS)


def test_a_rank_without_links_has_the_least_tolerance():
    assert clock_tolerances(np.array([0]), np.array([-60_000]), np.array([3])).tolist() == [AT_ONCE_NS]


def test_streams_tell_tasks_of_one_moment_apart():
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[500, 500], duration_us=1.0, stream=[1, 2])
    launches = Table.build(Launch, rank=0, device_start_ns=[500, 500], host_start_ns=[100, 300], stream=[2, 1])
    assert dispatches(kernels, launches, None, None, None)["latency_us"].tolist() == [0.2, 0.4]


def test_a_kernel_whose_stream_is_unknown_is_joined_by_its_start():
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[500], duration_us=1.0)
    launches = Table.build(Launch, rank=0, device_start_ns=[500], host_start_ns=[100], stream=[2])
    assert len(dispatches(kernels, launches, None, None, None)) == 1


def test_collectives_and_copies_are_launched_too():
    kernels = read_table(Kernel, "start_ns duration_us op_type\n1000 1 MatMul\n9000 1 Mul")
    comm = read_table(Collective, "start_ns elapse_us op p2p\n3000 1 allReduce false")
    tasks = read_table(DeviceTask, "kind start_ns end_ns stream\ncopy 5000 6000 3\nwait 7000 8000 3")
    launches = Table.build(Launch, rank=0, device_start_ns=[1000, 3000, 5000, 7000], host_start_ns=900)
    found = dispatches(kernels, launches, comm, tasks, None).rows()
    assert [(r["kind"], r["op_type"]) for r in found] == [("kernel", "MatMul"), ("comm", "allReduce"), ("copy", "copy")]


def test_unlinked_tasks_and_other_ranks_have_no_row():
    kernels = read_table(Kernel, "rank start_ns duration_us\n0 1000 1\n1 2000 1")
    launches = Table.build(Launch, rank=0, device_start_ns=[2000], host_start_ns=[1])
    assert not len(dispatches(kernels, launches, None, None, None))


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES, tl.TASKS)
def test_idle_time_before_tasks_agrees_with_sets_of_moments(kernels, collectives, tasks):
    launched = Table.concat(Launch, [tl.launches(kernels, 3), tl.launches(collectives, 3)])
    found = dispatches(tl.kernels(kernels), launched, tl.collectives(collectives), tl.tasks(tasks), None).rows()
    twin = tl.Moments(kernels, collectives, tasks)
    for rank in twin.ranks:
        busy = set().union(*(s["compute"] | s["comm"] | s["copy"] for key, s in twin.cells.items() if key[0] == rank))
        for row in (r for r in found if r["rank"] == rank and r["idle_before_us"]):
            start, idle = row["start_ns"], round(row["idle_before_us"] * 1e3)
            assert not busy & set(range(start - idle, start))
            assert start - idle - 1 in busy and start in busy


def test_a_pause_outside_of_every_step_makes_no_link_vertical():
    kernels = read_table(Kernel, "step start_ns duration_us\n1 0 1000\n2 9000000 1000\n2 12000000 1000")
    windows = read_table(StepWindow, "step start_ns end_ns\n1 -1000000 900000\n2 8900000 13000000")
    launches = Table.build(
        Launch, rank=0, device_start_ns=[0, 9_000_000, 12_000_000], host_start_ns=[-1, 8_990_000, 11_990_000]
    )
    found = dispatches(kernels, launches, None, None, windows).rows()
    assert [r["vertical"] for r in found] == [None, None, True]
    assert [r["idle_before_us"] for r in found] == [None, None, 2000.0]


def test_within_a_graph_no_task_waits_for_the_host_however_early_it_runs():
    """The first kernels of a graph run within microseconds of the call: the host was late for the first alone."""
    start = np.array([0, 1_000_000, 1_005_000, 1_010_000])
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=start, duration_us=3.0, op_type="A")
    tasks = Table.build(
        DeviceTask, rank=0, kind="kernel", start_ns=start, end_ns=start + 3_000, connection=[1, 2, 2, 2], stream=7
    )
    launches = Table.build(Launch, rank=0, host_start_ns=np.array([-5_000, *[990_000] * 3]), device_start_ns=start)
    found = dispatches(kernels, launches, None, tasks, None)
    assert found["vertical"].tolist() == [-1, 1, 0, 0]
