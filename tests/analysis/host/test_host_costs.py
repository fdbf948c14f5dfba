# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given, settings

from advisor.analysis.host.host_costs import MOST_PYTHON_NAMES, host_costs
from advisor.facts.observed import HostCall, Kernel, StepWindow
from advisor.facts.table import Table, read_table
from tests.analysis import timelines as tl


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES, tl.CALLS)
def test_costs_agree_with_sets_of_moments(kernels, collectives, calls):
    kernels = [(rank, 1, *rest) for rank, _, *rest in kernels]
    collectives = [(rank, 1, *rest) for rank, _, *rest in collectives]
    table = tl.calls(calls)
    windows = Table.build(StepWindow, rank=[0, 1], step=1, start_ns=-1000, end_ns=1000)
    found = host_costs(table, tl.kernels(kernels), tl.collectives(collectives), windows).rows()
    twin = tl.Moments(kernels, collectives)
    expected = {}
    for rank, start, length, (kind, name) in calls:
        if (rank, 1) in twin.cells and length > 0 and kind != "step":
            spent = expected.setdefault((rank, kind, name), [0, set(), 0])
            spent[0] += 1
            spent[1] |= set(range(start, start + length))
            spent[2] = max(spent[2], length)
    assert {(r["rank"], r["kind"], r["name"]) for r in found} == expected.keys()
    for row in found:
        count, times, longest = expected[row["rank"], row["kind"], row["name"]]
        assert row["calls"] == count
        assert round(row["total_us"] * 1e3) == len(times)
        assert round(row["longest_us"] * 1e3) == longest
        assert round(row["idle_us"] * 1e3) == len(times & twin.free((row["rank"], 1)))


KERNELS = "start_ns duration_us\n0 1\n9000 1"


def test_nested_calls_of_one_name_count_once():
    calls = tl.host_calls("thread kind name start_ns end_ns\n1 python f 1000 9000\n1 python f 2000 5000")
    (row,) = host_costs(calls, read_table(Kernel, KERNELS), None, None).rows()
    assert row["calls"] == 2.0 and row["total_us"] == 8.0 and row["idle_us"] == 8.0


def test_calls_belong_to_the_step_of_the_host_in_which_they_begin():
    kernels = read_table(Kernel, "step start_ns duration_us\n1 5000 1\n2 15000 1")
    windows = read_table(StepWindow, "step start_ns end_ns\n1 0 4000\n2 4500 9000")
    calls = "thread kind name start_ns end_ns\n1 gc gc 100 200\n1 gc gc 4600 4700\n1 gc gc 4100 4200\n1 gc gc 9900 9950"
    found = host_costs(tl.host_calls(calls), kernels, None, windows).rows()
    assert [(r["step"], r["calls"]) for r in found] == [(1, 1.0), (2, 1.0)]


def test_python_functions_are_kept_by_the_idle_time_beside_them():
    count = MOST_PYTHON_NAMES + 5
    start = [1000 + at for at in range(count)]
    calls = Table.build(
        HostCall,
        rank=0,
        thread=1,
        kind="python",
        name=[f"f{at}" for at in range(count)],
        start_ns=start,
        end_ns=[9000] * count,
    )
    found = host_costs(calls, read_table(Kernel, KERNELS), None, None)
    assert sorted(found.texts("name").values()) == sorted(f"f{at}" for at in range(MOST_PYTHON_NAMES))


def test_a_call_without_a_name_or_time_ends_nothing():
    calls = tl.host_calls("thread kind name start_ns end_ns\n1 python - 1000 2000\n1 api x - 5\n1 api y 9 3")
    (row,) = host_costs(calls, read_table(Kernel, KERNELS), None, None).rows()
    assert row["name"] is None and row["calls"] == 1.0
