# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.facts.derived import Dispatch
from advisor.facts.observed import Kernel
from advisor.facts.table import read_table
from tests.analysis.timelines import host_calls

KERNELS = "step start_ns duration_us\n1 0 40\n1 300000 20\n2 400000 40\n2 600000 20"
FETCH = "thread kind name start_ns end_ns\n1 python train 0 700000\n1 data_loader __next__ 50000 250000\n"


def own_work(*inside: str) -> float | None:
    """Of a fetch of 200 in the first step, with these calls inside of it."""
    links = read_table(Dispatch, "start_ns latency_us\n0 0\n300000 5")
    calls = host_calls(FETCH + "\n".join(inside))
    kernels = read_table(Kernel, KERNELS)
    found = launch_delays(kernels, calls, links=links, collectives=None, tasks=None, windows=None)
    return next(row["own_work_us"] for row in found.rows() if row["cause"] == "data_loader")


def test_without_python_the_operators_in_a_fetch_are_its_own_work() -> None:
    assert own_work("1 operator aten::set_ 100000 110000", "1 operator aten::empty 120000 150000") == 40.0


def test_with_python_a_fetch_works_as_long_as_it_waits_for_nobody() -> None:
    get = '1 python "torch/utils/data/dataloader.py(1119): _try_get_data" 51000 249000'
    waits = '1 python "<built-in method poll of select.poll object>" 60000 180000'
    assert own_work(get, waits, "1 operator aten::set_ 200000 210000") == 80.0
    assert own_work(get) == 200.0


def test_what_runs_around_a_fetch_or_on_another_thread_tells_nothing_of_it() -> None:
    assert own_work("2 operator aten::set_ 100000 110000", "1 operator aten::mul 260000 270000") is None


@pytest.mark.parametrize(
    "name",
    [
        "<method 'acquire' of '_thread.lock' objects>",
        "<built-in method acquire of _multiprocessing.SemLock object>",
        "multiprocessing/connection.py(916): wait",
        "/usr/lib/python3.11/threading.py(288): wait",
    ],
)
def test_a_lock_and_the_end_of_a_pipe_are_waited_for(name: str) -> None:
    assert own_work(f'1 python "{name}" 60000 220000') == 40.0
