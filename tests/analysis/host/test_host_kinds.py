# SPDX-License-Identifier: Apache-2.0
"""Calls by kind are those of `host_costs`, without their names."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given, settings

from advisor.analysis.host.host_costs import host_costs
from advisor.analysis.host.host_kinds import host_kinds
from advisor.facts.observed import Kernel, StepWindow
from advisor.facts.table import Table, read_table
from tests.analysis import timelines as tl


@settings(max_examples=60)
@given(tl.KERNELS, tl.CALLS)
def test_calls_by_name_add_up_to_calls_by_kind(kernels, calls):
    table, device = tl.calls(calls), tl.kernels(kernels)
    windows = Table.build(StepWindow, rank=[0, 0, 1], step=[1, 2, 1], start_ns=[0, 30, 0], end_ns=[20, 60, 60])
    named = Counter[tuple[object, ...]]()
    for row in host_costs(table, device, None, windows).rows():
        named[row["rank"], row["step"], row["kind"]] += row["calls"]
    found = host_kinds(table, device, windows).rows()
    assert {(row["rank"], row["step"], row["kind"]): row["calls"] for row in found} == named


def test_durations_are_added_up():
    calls = "kind name start_ns end_ns\ngc gc 0 1000\ngc gc 2000 5000\napi a 100 300\nstep s 0 9000"
    found = host_kinds(tl.host_calls(calls), read_table(Kernel, "start_ns duration_us\n0 1"), None)
    assert {row["kind"]: (row["calls"], row["total_us"]) for row in found.rows()} == {"gc": (2, 4), "api": (1, 0.2)}


def test_calls_without_a_kind_or_a_time_end_nothing():
    calls = "kind name start_ns end_ns\n- x 10 20\napi a - 20\napi a 30 20"
    (row,) = host_kinds(tl.host_calls(calls), read_table(Kernel, "start_ns duration_us\n0 1"), None).rows()
    assert row["kind"] is None and row["calls"] == 1 and math.isclose(row["total_us"], 0.01)
