# SPDX-License-Identifier: Apache-2.0
"""Equal work that takes longer from step to step: how much, how surely, and what the clock did meanwhile."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.operator_trends import operator_trends
from advisor.facts.observed import Frequency, Kernel
from advisor.facts.table import read_table
from tests.analysis.operators.test_operator_paces import STEP_NS, USUAL, job, times


def trends(steps: Sequence[dict[str, float]], **more: Any) -> dict[str, dict[str, Any]]:
    """By type, with a first step in front, which is left out."""
    found = operator_trends(job([USUAL, *steps]), None, None, **more)
    return {str(row["op_type"]): row for row in found.rows()}


def test_what_grows_by_as_much_in_every_step_is_told_of_each_type() -> None:
    found = trends([times(1 + 0.02 * place) for place in range(6)])
    for name, us in USUAL.items():
        row = found[name]
        assert row["first_us"] == pytest.approx(us) and row["last_us"] == pytest.approx(1.1 * us)
        assert row["growth"] == pytest.approx(1.1) and row["rank_growth"] == pytest.approx(1.1)
        assert row["correlation"] == 1 and row["compared_steps"] == 6
        assert row["noise_share"] == pytest.approx(0, abs=1e-9)
        assert row["steepest_share"] == pytest.approx(0.2)
        assert row["over_first_us"] == pytest.approx(0.05 * sum(USUAL.values()))
        assert row["compared_share"] == 1 and row["first_mhz"] is None


def test_a_type_that_grows_alone_is_told_from_the_others() -> None:
    found = trends([{**USUAL, "Mul": 50.0 + 10 * place} for place in range(5)])
    assert found["Mul"]["growth"] == pytest.approx(1.8) and found["MatMulV3"]["growth"] == pytest.approx(1)


def test_a_single_jump_has_most_of_the_growth_in_one_step() -> None:
    found = trends([*[times(1)] * 3, *[times(1.4)] * 3])["Mul"]
    assert found["steepest_share"] > 0.7


def test_the_clock_is_that_of_the_steps_compared_first_and_last() -> None:
    samples = f"rank time_ns mhz\n0 0 1800\n0 {3 * STEP_NS} 1700\n0 {5 * STEP_NS} 1650\n0 {9 * STEP_NS} 800\n1 0 900"
    found = trends([times(1)] * 5, frequencies=read_table(Frequency, samples))["Mul"]
    assert (found["first_mhz"], found["last_mhz"]) == (1800, 1650)
    late = trends([times(1)] * 5, frequencies=read_table(Frequency, f"rank time_ns mhz\n0 {3 * STEP_NS} 1700"))["Mul"]
    assert (late["first_mhz"], late["last_mhz"]) == (None, 1700)


def test_kernels_of_other_shapes_are_no_equal_work() -> None:
    shapes = ["4,4", *(f"{place},4" for place in range(1, 7))]
    found = operator_trends(job([USUAL, *[times(1 + place / 10) for place in range(6)]], shapes), None, None)
    assert not len(found)


def test_without_kernels_there_is_nothing() -> None:
    assert not len(operator_trends(read_table(Kernel, "rank step start_ns duration_us op_type"), None, None))


@given(factors=st.lists(st.floats(1, 3).map(lambda one: round(one, 2)), min_size=4, max_size=9, unique=True))
def test_the_line_is_that_of_least_squares_and_turns_round_with_the_steps(factors: list[float]) -> None:
    found, back = (trends([times(one) for one in order])["Mul"] for order in (factors, factors[::-1]))
    slope, start = statistics.linear_regression(range(len(factors)), [50 * one for one in factors])
    assert found["first_us"] == pytest.approx(start)
    assert found["last_us"] == pytest.approx(start + slope * (len(factors) - 1))
    assert back["correlation"] == pytest.approx(-found["correlation"])
    assert (back["first_us"], back["last_us"]) == pytest.approx((found["last_us"], found["first_us"]))
    ranks = [sorted(factors).index(one) for one in factors]
    assert found["correlation"] == pytest.approx(statistics.correlation(range(len(factors)), ranks))
