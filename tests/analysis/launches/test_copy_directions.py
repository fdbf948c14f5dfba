# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.facts.derived import Dispatch
from advisor.facts.observed import DeviceTask, Kernel
from advisor.facts.table import read_table
from tests.analysis.timelines import host_calls

KERNELS = "step start_ns duration_us\n1 0 40\n1 300000 20\n2 400000 40\n2 600000 20"
CALLS = "thread kind name start_ns end_ns\n1 api aclrtMemcpy 50000 290000\n1 api aclrtMemcpy 450000 590000"


def shares(directions: list[str]) -> list[float | None]:
    """By the directions of three copies: of 150 and 50 in the first step, of 100 in the second."""
    times = ("60000 210000", "220000 270000", "460000 560000")
    tasks = "kind start_ns end_ns direction\n" + "\n".join(
        f"copy {time} {way}" for time, way in zip(times, directions, strict=True)
    )
    links = read_table(Dispatch, "start_ns latency_us\n0 0\n300000 5")
    found = launch_delays(
        read_table(Kernel, KERNELS), host_calls(CALLS), links=links,
        collectives=None, tasks=read_table(DeviceTask, tasks), windows=None,
    )  # fmt: skip
    return [row["to_host_share"] for row in found.rows() if row["cause"] == "blocking_copy"]


def copied(*times: str) -> list[float | None]:
    """How long copies at these times run during the blocking calls of two steps."""
    tasks = read_table(DeviceTask, "kind start_ns end_ns" + "".join(f"\ncopy {at}" for at in times))
    links = read_table(Dispatch, "start_ns latency_us\n0 0\n300000 5")
    found = launch_delays(
        read_table(Kernel, KERNELS), host_calls(CALLS), links=links, collectives=None, tasks=tasks, windows=None
    )
    return [row["copied_us"] for row in found.rows() if row["cause"] == "blocking_copy"]


def test_the_part_of_blocking_copies_that_goes_to_the_host_is_told_by_step():
    assert shares(["d2h", "h2d", "h2d"]) == [pytest.approx(0.75), 0.0]


def test_without_directions_it_is_missing():
    assert shares(["-", "-", "-"]) == [None, None]


def test_how_long_copies_run_in_the_calls_is_told_by_step() -> None:
    assert copied("60000 210000", "220000 270000", "460000 560000") == [200.0, 100.0]
    assert copied("300000 310000") == [None, None]
