# SPDX-License-Identifier: Apache-2.0
"""Values are parted where two neighbours are furthest apart, and only equal work is held against other steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.steps.step_levels import StepLevels, two_levels


def levels(*values: float) -> StepLevels:
    of = group_by(np.zeros(len(values), int))
    return two_levels(of, np.array(values), np.arange(len(values)))


def test_values_are_parted_at_the_largest_ratio() -> None:
    found = levels(10, 10, 20, 10, 20)
    assert found.is_slow.tolist() == [False, False, True, False, True]
    assert found.slowdown.tolist() == [2]
    assert found.contrast.tolist() == [1]
    assert found.are_told.tolist() == [True]


def test_a_gap_no_larger_than_the_spread_is_half_a_contrast() -> None:
    assert levels(8, 16, 32, 64).contrast[0] == pytest.approx(0.5, abs=0.2)
    assert levels(100, 101, 200, 202).contrast[0] > 0.95


@pytest.mark.parametrize("changing", [101, 130, 170, 199])
def test_a_step_within_which_the_pace_changes_makes_no_level_less_clear(changing: float) -> None:
    """A device lowers its clock when it gets hot, not when a step ends: that step runs at both paces."""
    assert levels(100, 101, 100, changing, 200, 201, 200).contrast[0] > 0.8


def test_values_that_grow_from_one_to_the_next_have_no_clear_levels() -> None:
    for count in range(4, 12):
        for cut in range(1, count):
            grown = [2**place * (1.05 if place >= cut else 1) for place in range(count)]
            assert levels(*grown).contrast[0] < 0.6 or not levels(*grown).are_told[0]


def test_a_level_of_two_steps_keeps_both() -> None:
    assert levels(100, 100, 151, 225).contrast[0] == pytest.approx(0.5, abs=0.02)


def test_equal_values_have_no_levels() -> None:
    assert levels(10, 10, 10, 10).slowdown.tolist() == [1]


@pytest.mark.parametrize("values", [(10, 10, 10, 20), (10, 20, 20, 20), (10, 20), (10,), ()])
def test_a_level_of_one_step_is_chance(values: tuple[float, ...]) -> None:
    assert not levels(*values).are_told.any()


def test_slow_ones_that_came_first_are_warm_up() -> None:
    assert not levels(20, 20, 10, 10, 10).are_told.any()
    assert levels(20, 10, 20, 10, 10).are_told.all()


@given(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=6), min_size=1, max_size=4))
def test_groups_are_parted_each_by_itself(groups: list[list[int]]) -> None:
    of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    values = np.concatenate([np.array(group, float) for group in groups])
    found = two_levels(group_by(of), values, np.arange(len(values)))
    for number, group in enumerate(groups):
        ordered = sorted(group)
        ratios = [high / low for low, high in pairwise(ordered)]
        if not ratios or max(ratios) == 1:
            continue
        cut = ordered[next(at for at, one in enumerate(ratios) if one == pytest.approx(max(ratios))) + 1]
        assert (values[of == number][found.is_slow[of == number]] >= min(cut, max(ordered))).all()
        slow = found.is_slow[of == number]
        assert 0 < slow.sum() < len(group)
        assert values[of == number][slow].min() / values[of == number][~slow].max() == pytest.approx(max(ratios))
