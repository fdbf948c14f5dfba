# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from advisor.analysis.idle.preparations import preparations
from advisor.facts.derived import Overlap
from advisor.facts.observed import Kernel, StepTime, StepWindow
from advisor.facts.table import read_table
from advisor.messages.errors import FactMissing

RECORDED = "step preparing_us compute_us free_us\n1 100 200 0\n2 300 200 0\n3 100 200 100"
KERNELS = "step start_ns duration_us\n1 100000 200\n2 300000 200\n3 600000 200"


def idle(windows: str) -> list[float]:
    found = preparations(
        read_table(StepTime, RECORDED), read_table(Kernel, KERNELS), collectives=None, tasks=None,
        windows=read_table(StepWindow, "step start_ns end_ns\n" + windows),
    )  # fmt: skip
    return found["idle_us"].tolist()


def test_what_the_device_still_computes_of_the_step_before_is_no_idle_time_of_a_preparation():
    first, second, third = idle("1 0 250000\n2 250000 450000\n3 450000 700000")
    assert math.isnan(first) and (second, third) == (0, 100)


def test_time_before_the_first_recorded_task_counts_for_no_step_though_the_host_began_several_in_it():
    """The host is two steps ahead as the recording of the device begins: what that did before is not known."""
    first, second, third = idle("1 0 20000\n2 20000 40000\n3 40000 700000")
    assert math.isnan(first) and (second, third) == (0, 100)


def test_what_the_device_waits_before_one_step_counts_for_no_later_one_that_the_host_has_begun_by_then():
    kernels = read_table(Kernel, "step start_ns duration_us\n1 0 100\n2 150000 100\n3 270000 100")
    windows = read_table(StepWindow, "step start_ns end_ns\n1 0 5000\n2 5000 9000\n3 9000 400000")
    found = preparations(read_table(StepTime, RECORDED), kernels, collectives=None, tasks=None, windows=windows)
    assert found["idle_us"].tolist()[1:] == [50, 20]


def test_beside_rows_that_are_gone_nobody_knows_how_long_the_device_was_idle():
    """The second step lacks kernels: neither what it waited before its first one is known, nor what the third did."""
    split = read_table(Overlap, "step source listed_us\n1 intervals 200\n2 recorded 100\n3 intervals 200")
    windows = "1 0 250000\n2 250000 450000\n3 450000 700000"
    found = preparations(
        read_table(StepTime, RECORDED), read_table(Kernel, KERNELS), collectives=None, tasks=None,
        windows=read_table(StepWindow, "step start_ns end_ns\n" + windows), split=split,
    )  # fmt: skip
    assert all(map(math.isnan, found["idle_us"].tolist()))


def test_of_a_single_marked_step_the_timeline_says_how_long_its_first_work_takes_to_come():
    """Nothing else was recorded of it: as in a trace without its sums, or one of a GPU."""
    windows = read_table(StepWindow, "rank step start_ns end_ns\n0 7 1000 500000\n1 7 1000 250000\n1 8 250000 500000")
    kernels = read_table(Kernel, "rank step start_ns duration_us\n0 7 101000 200\n1 7 51000 100\n1 8 300000 100")
    (row,) = preparations(None, kernels, collectives=None, tasks=None, windows=windows).rows()
    assert (row["rank"], row["step"], row["preparing_us"], row["compute_us"]) == (0, 7, 100, 200)
    assert row["counted_us"] == row["compute_us"] + row["free_us"]
    recorded = read_table(StepTime, "rank step preparing_us compute_us exposed_comm_us free_us\n0 7 90 200 10 30")
    first, *others = preparations(recorded, kernels, collectives=None, tasks=None, windows=windows).rows()
    assert (first["preparing_us"], first["counted_us"], others) == (90, 240, [])


def test_without_sums_and_kernels_nothing_is_known_of_a_preparation():
    with pytest.raises(FactMissing):
        preparations(None, None, collectives=None, tasks=None, windows=read_table(StepWindow, "step start_ns\n1 0"))
