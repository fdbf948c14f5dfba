# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.idle.gaps import CAUSES, HOST_CAUSES, gaps
from advisor.analysis.launches.dispatch import dispatches
from advisor.facts.observed import Collective, DeviceTask, Kernel, Launch, StepWindow
from advisor.facts.table import Table, read_table
from tests.analysis import timelines as tl

MS = 1_000_000


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES, tl.TASKS, tl.CALLS, st.sampled_from([None, -4, 0, 7, 10**6]))
def test_every_free_moment_is_charged_to_exactly_one_cause(kernels, collectives, tasks, calls, lead):
    tables = tl.kernels(kernels), tl.collectives(collectives), tl.tasks(tasks)
    links = None
    if lead is not None:
        launched = Table.concat(Launch, [tl.launches(kernels, lead), tl.launches(collectives, lead)])
        links = dispatches(tables[0], launched, tables[1], tables[2], None)
    found = gaps(tables[0], links=links, collectives=tables[1], tasks=tables[2], calls=tl.calls(calls), windows=None)
    twin = tl.Moments(kernels, collectives, tasks)
    charged: dict[tuple[int, int | None], list[int]] = {key: [] for key in twin.cells}
    for row in found.rows():
        start, length = row["start_ns"], round(row["duration_us"] * 1e3)
        charged[row["rank"], row["step"]] += range(start, start + length)
        assert row["cause"] in (CAUSES if lead is not None else {*CAUSES, None} - {"unknown"}) and length > 0
        assert row["host"] == (None if row["cause"] is None else row["cause"] in HOST_CAUSES)
    for key, times in charged.items():
        assert sorted(times) == sorted(twin.free(key))


def one_gap(calls: str = "", *, lead_ns: int = 10_000, tasks: str = "", comm: str = "") -> dict[str, object]:
    """The longest piece of a gap from 1 to 3 ms between two kernels."""
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[0, 3 * MS], duration_us=1000.0, op_type=["A", "B"])
    launches = Table.build(
        Launch, rank=0, device_start_ns=[0, 3 * MS], host_start_ns=[-5 * MS, 3 * MS - lead_ns], thread=1
    )
    collectives = read_table(Collective, comm) if comm else None
    device = read_table(DeviceTask, tasks) if tasks else None
    found = gaps(
        kernels,
        links=dispatches(kernels, launches, collectives, device, None),
        collectives=collectives,
        tasks=device,
        calls=tl.host_calls(calls) if calls else None,
        windows=None,
    )
    return max(found.rows(), key=lambda row: row["duration_us"])


HEAD = "thread kind name start_ns end_ns connection\n"


def test_host_late_is_the_cause_when_nothing_closer_is_seen():
    found = one_gap()
    assert found["cause"] == "host_late" and found["host"] and found["next_op"] == "B"


def test_framework_operators_over_most_of_the_gap_mean_python():
    found = one_gap(HEAD + "1 operator aten::linear 1100000 2900000 -\n1 operator aten::t 1500000 1600000 -")
    assert found["cause"] == "python" and found["call"] == "aten::linear"


def test_operators_over_little_of_the_gap_do_not():
    assert one_gap(HEAD + "1 operator aten::mul 1100000 1200000 -")["cause"] == "host_late"


def test_garbage_collection_is_blamed_before_the_python_around_it():
    calls = HEAD + "1 python train 0 9000000 -\n2 gc gc 1200000 2900000 -"
    assert one_gap(calls)["cause"] == "gc"


def test_a_loader_that_fills_the_gap_is_blamed():
    found = one_gap(HEAD + "1 data_loader __next__ 900000 2900000 -\n1 python train 0 9000000 -")
    assert found["cause"] == "data_loader" and found["call"] == "__next__"


def test_online_compilation_is_blamed_where_the_compiler_fills_the_call():
    call = HEAD + "1 api aclopCompileAndExecute 1000000 2990000 7\n"
    assert one_gap(call + "1 api opCompile 1200000 2900000 -")["cause"] == "compile"
    assert one_gap(call + "1 api opCompile 1200000 2000000 -")["cause"] == "host_late"
    assert one_gap(call + "2 api opCompile 1200000 2900000 -")["cause"] == "host_late"  # another thread's


def test_an_operator_that_is_found_built_is_dispatched_not_compiled():
    call = HEAD + "1 api aclopCompileAndExecute 1000000 2990000 7"
    found = one_gap(call)
    assert found["cause"] == "host_late" and found["call"] == "aclopCompileAndExecute"
    assert one_gap(call + "\n2 python train 0 9000000 -")["cause"] == "python"


@pytest.mark.parametrize("name", ["aclopCompileAndExecute", "aclopCompileAndExecuteV2", "opCompile"])
def test_a_long_call_compiled_whatever_was_recorded_inside_it(name):
    assert one_gap(HEAD + f"1 api {name} -7010000 2990000 7")["cause"] == "compile"
    assert one_gap(HEAD + f"1 api {name} -7000000 2990000 7")["cause"] == "host_late"


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES, tl.TASKS, tl.CALLS, st.data())
def test_launches_that_a_cut_file_lost_never_make_the_host_late(kernels, collectives, tasks, calls, data):
    tables = tl.kernels(kernels), tl.collectives(collectives), tl.tasks(tasks)
    started = [(row[0], row[2]) for row in kernels + collectives]
    leads = data.draw(st.lists(st.integers(-5, 40), min_size=20, max_size=20))
    every = Table.build(
        Launch,
        rank=[rank for rank, _ in started],
        host_start_ns=[start - lead for (_, start), lead in zip(started, leads, strict=False)],
        device_start_ns=[start for _, start in started],
    )
    lost = data.draw(st.sets(st.integers(0, len(started))))

    def late(launches: Table[Launch]) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
        links = dispatches(tables[0], launches, tables[1], tables[2], None)
        found = gaps(
            tables[0], links=links, collectives=tables[1], tasks=tables[2], calls=tl.calls(calls), windows=None
        )
        vertical = {(r["rank"], r["kind"], r["start_ns"]) for r in links.rows() if r["vertical"]}
        return vertical, {(r["rank"], r["start_ns"], r["duration_us"]) for r in found.rows() if r["host"]}

    some = late(every.take(np.array([i not in lost for i in range(len(started))], bool)))
    for part, whole in zip(some, late(every), strict=True):
        assert part <= whole


def test_without_any_launch_recorded_the_cause_is_missing_not_unknown():
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[0, 3 * MS], duration_us=1000.0)
    calls = tl.host_calls(HEAD + "1 python train 0 9000000 -")
    (found,) = gaps(kernels, links=None, collectives=None, tasks=None, calls=calls, windows=None).rows()
    assert found["cause"] is found["host"] is None


def test_a_collective_whose_launch_is_not_recorded_may_have_been_late():
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=[0], duration_us=1000.0)
    comm = Table.build(Collective, rank=0, step=1, start_ns=[3 * MS], elapse_us=1000.0, op="allReduce")

    def cause(launches: Table[Launch]) -> list[str | None]:
        links = dispatches(kernels, launches, comm, None, None)
        found = gaps(kernels, links=links, collectives=comm, tasks=None, calls=None, windows=None)
        return found.texts("cause").values()

    early = Table.build(Launch, rank=0, device_start_ns=[3 * MS], host_start_ns=[-1 * MS])
    assert cause(early) == ["comm_setup"]
    assert cause(Table.empty(Launch)) == ["unknown"]


def test_a_synchronising_call_that_was_waiting_when_the_device_ran_dry_is_blamed():
    found = one_gap(HEAD + "1 api aclrtSynchronizeStreamWithTimeout 200000 1010000 7\n1 python train 0 9000000 -")
    assert found["cause"] == "synchronise" and found["call"] == "aclrtSynchronizeStreamWithTimeout"


def test_a_wait_that_ended_before_the_device_ran_dry_is_blamed_within_the_error_of_the_clocks():
    def ended(at: int) -> str:
        return HEAD + f"1 api aclrtSynchronizeStream 200000 {at} 7\n1 python train 0 9000000 -"

    assert one_gap(ended(1_000_000 - AT_ONCE_NS))["cause"] == "synchronise"
    assert one_gap(ended(1_000_000 - AT_ONCE_NS - 1))["cause"] == "python"


def test_a_synchronising_call_made_after_the_device_ran_dry_waits_for_nothing():
    calls = HEAD + "1 api aclrtSynchronizeStream 1200000 1210000 7\n1 python train 0 9000000 -"
    assert one_gap(calls)["cause"] == "python"


def test_a_blocking_copy_is_told_from_an_asynchronous_one():
    assert one_gap(HEAD + "1 api aclrtMemcpy 900000 2900000 7")["cause"] == "blocking_copy"
    assert one_gap(HEAD + "1 api aclrtMemcpyAsync 900000 2900000 7")["cause"] == "host_late"


def test_work_that_stood_in_the_queue_is_charged_to_the_thread_that_takes_it():
    calls = HEAD + "1 enqueue Enqueue 100000 110000 5\n2 dequeue Dequeue@B 2900000 3100000 5"
    found = one_gap(calls)
    assert found["cause"] == "dequeue" and found["call"] == "Dequeue@B"


def test_work_put_in_the_queue_late_is_not():
    calls = HEAD + "1 enqueue Enqueue 2800000 2810000 5\n2 dequeue Dequeue@B 2900000 3100000 5"
    assert one_gap(calls)["cause"] == "host_late"


def test_work_put_in_the_queue_in_the_second_half_of_the_gap_is_not_either_within_the_error_of_the_clocks():
    def put(at: int) -> str:
        return HEAD + f"1 enqueue Enqueue 100000 {at} 5\n2 dequeue Dequeue@B 2900000 3100000 5"

    assert one_gap(put(2_000_000 - AT_ONCE_NS))["cause"] == "dequeue"
    assert one_gap(put(2_000_000 - AT_ONCE_NS + 1))["cause"] == "host_late"


def test_the_call_is_named_that_launches_while_work_stands_in_the_queue_and_not_what_python_does():
    """The operator behind it is prepared meanwhile: it holds nothing up."""
    calls = "1 python forward 0 9000000 -\n1 enqueue Enqueue 1100000 1110000 5\n"
    calls += "2 dequeue Dequeue@B 1150000 3100000 5\n2 api aclopCompileAndExecute 1200000 3050000 7"
    found = one_gap(HEAD + calls)
    assert (found["cause"], found["call"]) == ("dequeue", "aclopCompileAndExecute")


def test_a_step_annotation_explains_nothing():
    assert one_gap(HEAD + "1 step 'ProfilerStep#1' 0 9000000 -")["cause"] == "host_late"


def test_a_queued_kernel_behind_an_event_wait_is_a_wait():
    found = one_gap(lead_ns=4 * MS, tasks="kind start_ns end_ns stream\nwait 1000000 2900000 3")
    assert found["cause"] == "wait" and not found["host"]


def test_a_wait_for_a_host_that_is_late_is_the_hosts():
    assert one_gap(tasks="kind start_ns end_ns stream\nwait 1000000 2900000 3")["cause"] == "host_late"


def test_a_queued_kernel_with_nothing_before_it_is_unknown():
    assert one_gap(lead_ns=4 * MS)["cause"] == "unknown"


def test_a_copy_in_the_gap_is_a_copy():
    assert one_gap(tasks="kind start_ns end_ns stream\ncopy 1010000 2900000 3")["cause"] == "copy"


def test_a_copy_the_host_waits_for_is_blocking():
    tasks = "kind start_ns end_ns stream connection\ncopy 1010000 2900000 3 42"
    sync = "1 api aclrtMemcpyAsync 900000 910000 42\n1 api aclrtSynchronizeStream 920000 2950000 43"
    assert one_gap(HEAD + sync, tasks=tasks)["cause"] == "blocking_copy"
    other_thread = sync.replace("1 api aclrtSync", "2 api aclrtSync")
    assert one_gap(HEAD + other_thread, tasks=tasks)["cause"] == "copy"


def test_a_copy_that_carries_no_connection_is_charged_to_no_call():
    tasks = "kind start_ns end_ns stream connection\ncopy 1010000 2900000 3 -"
    assert one_gap(HEAD + "1 api aclrtMemcpy 900000 2950000 -", tasks=tasks)["cause"] == "copy"


def test_a_queued_collective_that_starts_slowly_is_being_set_up():
    kernels = read_table(Kernel, "start_ns duration_us op_type\n0 1000 A")
    comm = read_table(Collective, "start_ns elapse_us op p2p\n3000000 1000 allReduce false")
    launches = Table.build(Launch, rank=0, device_start_ns=[3 * MS], host_start_ns=[0])
    links = dispatches(kernels, launches, comm, None, None)
    (row,) = gaps(kernels, links=links, collectives=comm, tasks=None, calls=None, windows=None).rows()
    assert row["cause"] == "comm_setup" and row["next_op"] == "allReduce"


def test_an_unexplained_pause_between_steps_is_a_step_boundary():
    kernels = read_table(Kernel, "step start_ns duration_us\n1 0 1\n2 5000 1")
    (row,) = gaps(kernels, links=None, collectives=None, tasks=None, calls=None, windows=None).rows()
    assert row["cause"] == "step_boundary" and row["step"] == 1


def test_a_host_of_another_rank_is_never_blamed():
    calls = "rank " + HEAD + "1 1 gc gc 900000 3100000 -"
    assert one_gap(calls)["cause"] == "host_late"


def test_no_kernels_have_no_gaps():
    nothing = dict.fromkeys(("links", "collectives", "tasks", "calls", "windows"))
    assert not len(gaps(Table.empty(Kernel), **nothing))
    assert not len(gaps(read_table(Kernel, "start_ns duration_us\n0 1"), **nothing))


def test_a_loader_between_two_steps_is_blamed_for_the_pause():
    kernels = read_table(Kernel, "step start_ns duration_us op_type\n1 0 1000 A\n2 9000000 1000 B")
    launches = Table.build(Launch, rank=0, device_start_ns=[0, 9 * MS], host_start_ns=[-MS, 9 * MS - 9000])
    windows = read_table(StepWindow, "step start_ns end_ns\n1 -1000000 900000\n2 900500 9900000")
    calls = tl.host_calls(HEAD + "1 data_loader __next__ 950000 8800000 -")
    links = dispatches(kernels, launches, None, None, windows)
    (row,) = gaps(kernels, links=links, collectives=None, tasks=None, calls=calls, windows=windows).rows()
    assert row["cause"] == "data_loader" and row["step"] == 1 and row["duration_us"] == 8000.0


def test_a_pause_that_goes_on_in_the_next_step_is_charged_in_both_by_what_the_host_does_in_each():
    kernels = Table.build(Kernel, rank=0, step=[1, 2], start_ns=[0, 9 * MS], duration_us=1000.0, op_type=["A", "B"])
    launches = Table.build(Launch, rank=0, device_start_ns=[0, 9 * MS], host_start_ns=[-5 * MS, 9 * MS - 10_000])
    windows = read_table(StepWindow, "step start_ns end_ns counts_from_ns\n1 0 5000000 -\n2 5000000 10000000 5000000")
    calls = tl.host_calls(
        HEAD + "1 api cudaStreamSynchronize 500000 1100000 -\n1 operator aten::save 1200000 4990000 -\n"
        "1 data_loader __next__ 5010000 8900000 -"
    )
    found = gaps(
        kernels, links=dispatches(kernels, launches, None, None, windows), collectives=None, tasks=None, calls=calls,
        windows=windows,
    ).rows()  # fmt: skip
    told = [(row["step"], row["start_ns"], row["duration_us"], row["host"], row["next_op"]) for row in found]
    assert told == [(1, 1 * MS, 4000.0, True, "B"), (2, 5 * MS, 4000.0, True, "B")]
    assert [row["cause"] for row in found][1] == "data_loader"


def test_between_the_tasks_of_one_launch_nothing_waits_for_the_host():
    """A graph is launched by one call: what lies between its kernels is its own, whatever the host does meanwhile."""
    start = np.array([0, 1 * MS, 1 * MS + 5_000, 1 * MS + 12_000])
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=start, duration_us=3.0, op_type=["A", "B", "C", "D"])
    tasks = Table.build(
        DeviceTask, rank=0, kind="kernel", start_ns=start, end_ns=start + 3_000, connection=[1, 2, 2, 3], stream=7
    )
    host = np.array([-5_000, 990_000, 990_000, 1_011_000])
    links = dispatches(
        kernels, Table.build(Launch, rank=0, host_start_ns=host, device_start_ns=start), None, tasks, None
    )
    calls = tl.host_calls(HEAD + "1 python train 0 9000000 -")
    found = gaps(kernels, links=links, collectives=None, tasks=tasks, calls=calls, windows=None)
    assert [row["cause"] for row in found.rows()] == ["python", "graph", "python"]
    assert found["host"].tolist() == [1, 0, 1]


@pytest.mark.parametrize("waits", [True, False], ids=["the wait was recorded", "it was not"])
def test_a_graph_that_waits_for_an_update_of_its_tasks_waits_for_the_host(waits: bool):
    """The host puts the operator of each layer into the graph anew, which has been launched long before."""
    start = np.array([0, 10_000, 60_000, 110_000])
    kernels = Table.build(Kernel, rank=0, step=1, start_ns=start, duration_us=3.0, op_type=["A", "B", "C", "D"])
    ran = Table.build(DeviceTask, rank=0, kind="kernel", start_ns=start, end_ns=start + 3_000, connection=2, stream=7)
    held = Table.build(
        DeviceTask, rank=0, kind="wait", start_ns=start[1:-1] + 3_100, end_ns=start[2:], connection=3, stream=7
    )
    tasks = Table.concat(DeviceTask, [ran, held] if waits else [ran])
    launches = Table.build(Launch, rank=0, host_start_ns=np.full(4, -5_000), device_start_ns=start)
    calls = tl.host_calls(
        HEAD + "1 operator npu::attention 15000 55000 -\n1 api aclmdlRICaptureTaskUpdateEnd 50000 54000 -\n"
        "1 python prepare 62000 9000000 -"
    )
    links = dispatches(kernels, launches, None, tasks, None)
    found = gaps(kernels, links=links, collectives=None, tasks=tasks, calls=calls, windows=None).rows()
    longest = [row for row in found if row["duration_us"] > 40]
    assert [(row["cause"], row["call"]) for row in longest] == [
        ("python", "npu::attention"), ("wait" if waits else "graph", None)
    ]  # fmt: skip
