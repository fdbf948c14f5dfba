# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from advisor.analysis.idle.bare_copies import bare_copies
from advisor.analysis.steps.overlap import overlaps
from advisor.facts.observed import DeviceTask, HostCall, Kernel, StepWindow
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from tests.analysis import timelines as tl
from tests.analysis.host.test_cpu_operators import CALLS, CUMSUM, KERNELS, LINKS, TASKS
from tests.analysis.timelines import host_calls


def found(
    kernels: Table[Kernel], tasks: Table[DeviceTask] | None, calls: Table[HostCall] | None = None, **more: Any
) -> list[dict[str, Any]]:
    split = overlaps(run_of_ranks(Run()), kernels=kernels, collectives=None, tasks=tasks, windows=None, recorded=None)
    links = None if calls is None else LINKS
    return bare_copies(
        split, kernels, collectives=None, tasks=tasks, windows=None, links=links, calls=calls, **more
    ).rows()


@settings(max_examples=60)
@given(tl.KERNELS, tl.TASKS)
def test_stretches_agree_with_sets_of_moments(kernels, tasks):
    if not kernels:
        return
    twin = tl.Moments(kernels, [], tasks)
    for row in found(tl.kernels(kernels), tl.tasks(tasks)):
        key = (row["rank"], row["step"])
        bare = twin.free(key) & twin.cells[key]["copy"]
        assert round(row["copy_us"] * 1e3) == len(bare)
        assert row["stretches"] == len({moment for moment in bare if moment - 1 not in bare})


def test_copies_that_run_on_without_a_pause_count_once_and_those_beside_a_kernel_not_at_all():
    kernels = read_table(Kernel, "start_ns duration_us\n0 10\n60000 10")
    times = ("5000 9000", "8000 12000", "20000 22000", "21000 23000", "23000 24000", "50000 70000")
    tasks = read_table(DeviceTask, "kind start_ns end_ns\n" + "\n".join(f"copy {time}" for time in times))
    (row,) = found(kernels, tasks)
    assert (row["copy_us"], row["stretches"], row["for_cpu_us"]) == (16, 3, None)
    (row,) = found(kernels, None)
    assert (row["copy_us"], row["stretches"], row["for_cpu_us"]) == (None, None, None)


def test_copies_to_an_operator_on_the_cpu_and_back_are_told_apart():
    tasks = read_table(DeviceTask, TASKS + "\ncopy h2d 2500000 2600000")
    (row,) = found(KERNELS, tasks, host_calls(CALLS.format(operator=CUMSUM)))
    assert (row["copy_us"], row["stretches"], row["for_cpu_us"]) == (120, 3, 20)
    (row,) = found(KERNELS, tasks, host_calls(CALLS.format(operator="")))
    assert (row["copy_us"], row["for_cpu_us"]) == (120, 0)


def ahead_of(
    tasks: str, windows: str = "step start_ns end_ns\n1 0 90000\n2 90000 190000\n3 190000 300000"
) -> list[Any]:
    """What three steps with a kernel each, of which the first begins at 50 µs, copy ahead of it, by step."""
    kernels = read_table(Kernel, "step start_ns duration_us\n1 50000 10\n2 150000 10\n3 250000 10")
    device = read_table(DeviceTask, "kind start_ns end_ns\n" + tasks)
    marks = read_table(StepWindow, windows)
    split = overlaps(run_of_ranks(Run()), kernels=kernels, collectives=None, tasks=device, windows=marks, recorded=None)
    rows = bare_copies(split, kernels, collectives=None, tasks=device, windows=marks, links=None, calls=None).rows()
    return [row["ahead_us"] for row in rows]


def test_the_copy_with_which_the_first_step_begins_counts_like_those_of_the_others():
    assert ahead_of("copy 20000 40000\ncopy 120000 140000\ncopy 220000 240000") == [20, 0, 0]


def test_no_more_counts_ahead_than_the_middle_one_of_the_other_steps_begins_with():
    assert ahead_of("copy 5000 45000\ncopy 120000 130000\ncopy 220000 230000") == [10, 0, 0]
    assert ahead_of("copy 5000 45000") == [0, 0, 0]
    assert ahead_of("copy 5000 45000\ncopy 152000 158000") == [0, 0, 0]


def test_what_was_copied_before_the_first_step_began_does_not_count_ahead():
    copies = "copy 10000 30000\ncopy 120000 140000\ncopy 220000 240000"
    late = "step start_ns end_ns\n1 25000 90000\n2 90000 190000\n3 190000 300000"
    assert ahead_of(copies, late) == [0, 0, 0]
    assert ahead_of(copies, "step start_ns end_ns\n2 90000 190000") == [0, 0, 0]


def test_copies_beside_kernels_without_a_usable_time_are_of_no_step():
    kernels = read_table(Kernel, "step start_ns duration_us\n1 - 10")
    device = read_table(DeviceTask, "kind start_ns end_ns\ncopy 20000 40000")
    split = overlaps(run_of_ranks(Run()), kernels=kernels, collectives=None, tasks=device, windows=None, recorded=None)
    parts = {"collectives": None, "tasks": device, "windows": None, "links": None, "calls": None}
    assert bare_copies(split, kernels, **parts).rows() == []
