# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts.derived import Gap
from advisor.facts.observed import HostCall, Kernel
from advisor.facts.table import Table, read_table
from advisor.statistics.duration_bins import call_bins, gap_bins, kernel_bins
from advisor.statistics.spreads import QUARTILES, SPREAD, spread_of_bins, spread_of_durations, spread_of_totals

DURATIONS = st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=60)
TYPES = ("MatMulV2", "Add", "Cast")


def kernels(rows: list[tuple[int, int, float]]) -> Table[Kernel]:
    return Table.build(
        Kernel,
        rank=np.array([row[0] for row in rows], np.int64),
        op_type=[TYPES[row[1]] for row in rows],
        duration_us=np.array([row[2] for row in rows], np.float64),
        start_ns=np.arange(len(rows), dtype=np.int64),
    )


@given(DURATIONS)
def test_counts_sums_and_extremes_are_exact_and_quartiles_within_one_per_cent(durations: list[float]) -> None:
    (row,) = spread_of_bins(kernel_bins(kernels([(0, 0, us) for us in durations])), ["op_type"]).to_dict("records")
    assert row["calls"] == len(durations)
    assert row["total_us"] == pytest.approx(math.fsum(durations))
    assert (row["min_us"], row["max_us"]) == (min(durations), max(durations))
    for name, part in QUARTILES.items():
        assert row[name] == pytest.approx(np.quantile(durations, part), rel=0.0101, abs=1e-4)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0.001, 1e6)), min_size=1, max_size=60))
def test_names_and_ranks_are_counted_as_a_plain_loop_counts_them(rows: list[tuple[int, int, float]]) -> None:
    bins = kernel_bins(kernels(rows))
    for keys in (["op_type"], ["rank", "op_type"]):
        found = spread_of_bins(bins, keys)
        expected: dict[tuple[object, ...], list[float]] = {}
        for rank, kind, us in rows:
            expected.setdefault((rank, TYPES[kind])[2 - len(keys) :], []).append(us)
        got = {tuple(row[key] for key in keys): row for row in found.to_dict("records")}
        assert got.keys() == expected.keys()
        for key, durations in expected.items():
            assert got[key]["calls"] == len(durations)
            assert got[key]["total_us"] == pytest.approx(math.fsum(durations))
            assert got[key]["median_us"] == pytest.approx(np.median(durations), rel=0.0101)
        if len(keys) == 1:
            assert found["total_share"].sum() == pytest.approx(1)
            assert found["total_us"].is_monotonic_decreasing


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(1, 1.05)), min_size=1, max_size=60))
def test_quartiles_stay_in_order_where_ranks_and_names_share_bins(rows: list[tuple[int, int, float]]) -> None:
    found = spread_of_bins(kernel_bins(kernels(rows)), ["core"]).iloc[0]
    assert found["min_us"] <= found["q1_us"] <= found["median_us"] <= found["q3_us"] <= found["max_us"]


@given(DURATIONS)
def test_single_events_and_their_bins_give_the_same_spread(durations: list[float]) -> None:
    frame = pd.DataFrame({"op_type": "Add", "lasted_us": durations})
    alone = spread_of_durations(frame, ["op_type"], "lasted_us").iloc[0]
    binned = spread_of_bins(kernel_bins(kernels([(0, 1, us) for us in durations])), ["op_type"]).iloc[0]
    for name in SPREAD:
        if name != "total_share":
            assert alone[name] == pytest.approx(binned[name], rel=0.0101, abs=1e-4)
    for name, part in QUARTILES.items():
        assert alone[name] == pytest.approx(np.quantile(durations, part))


@pytest.mark.filterwarnings("error")
def test_what_has_no_duration_is_not_counted() -> None:
    rows = read_table(Kernel, "op_type duration_us\nAdd 1\nAdd -\nAdd -3\nAdd 1e300\nAdd 0\nCast -")
    found = spread_of_bins(kernel_bins(rows), ["op_type"])
    assert found[["op_type", "calls", "total_us", "min_us"]].values.tolist() == [["Add", 2, 1, 0]]


def test_names_that_were_not_recorded_are_a_row_of_their_own() -> None:
    rows = read_table(Kernel, "op_type duration_us\n- 1\nAdd 2")
    found = spread_of_bins(kernel_bins(rows), ["op_type"])
    assert found["calls"].tolist() == [1, 1]
    assert found["op_type"].isna().tolist() == [False, True]


def test_calls_are_counted_by_kind_and_functions_of_python_are_left_out() -> None:
    calls = read_table(
        HostCall,
        "kind name start_ns end_ns\noperator aten::add 0 2000\napi aclrtMalloc 0 1000\npython f 0 9000\napi x - 5",
    )
    found = spread_of_bins(call_bins(calls), ["kind", "name"])
    assert found[["kind", "name", "total_us"]].values.tolist() == [
        ["operator", "aten::add", 2],
        ["api", "aclrtMalloc", 1],
    ]


def test_gaps_are_counted_by_cause() -> None:
    gaps = read_table(Gap, "cause start_ns duration_us\npython 0 3\ngc 5 1\npython 9 1")
    found = spread_of_bins(gap_bins(gaps), ["cause"])
    assert found[["cause", "calls", "total_us"]].values.tolist() == [["python", 2, 4], ["gc", 1, 1]]


def test_of_sums_that_the_profiler_wrote_the_quartiles_are_missing() -> None:
    frame = pd.DataFrame(
        {"rank": [0, 1], "name": "x", "calls": [2.0, 3.0], "total_us": [4.0, 5.0], "min_us": [1.0, 0.5], "max_us": 3.0}
    )
    (row,) = spread_of_totals(frame, ["name"]).to_dict("records")
    assert (row["calls"], row["total_us"], row["mean_us"], row["min_us"]) == (5, 9, 1.8, 0.5)
    assert math.isnan(row["median_us"])


def test_nothing_gives_no_rows() -> None:
    assert spread_of_bins(kernel_bins(Table.empty(Kernel)), ["op_type"]).empty
