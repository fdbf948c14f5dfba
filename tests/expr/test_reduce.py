# SPDX-License-Identifier: Apache-2.0
"""One value per group, at the corners where a faster way ends."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.expr import reduce


@pytest.mark.parametrize("groups", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, (1 << 17) + 1])
def test_medians_are_those_of_their_own_group_however_many_there_are(groups: int) -> None:
    codes = np.repeat(np.arange(groups)[::-1], 3)
    values = np.tile([30.0, 10.0, 20.0], groups) + 1000.0 * codes
    assert np.array_equal(reduce.quantile(codes, values, groups, 0.5), 20.0 + 1000.0 * np.arange(groups))


@pytest.mark.parametrize(("part", "value"), [(0.0, 1.0), (0.25, 2.5), (0.5, 4.0), (0.75, 7.0), (1.0, 10.0)])
def test_a_quantile_lies_linear_between_its_neighbours(part: float, value: float) -> None:
    codes, values = np.array([1, 0, 1, 1]), np.array([10.0, 5.0, 1.0, 4.0])
    assert reduce.quantile(codes, values, 3, part).tolist() == pytest.approx([5.0, value, np.nan], nan_ok=True)


def test_a_quantile_of_endless_values_is_one_of_them() -> None:
    codes, values = np.zeros(3, np.intp), np.array([1.0, np.inf, np.inf])
    assert reduce.quantile(codes, values, 1, 0.75).tolist() == [np.inf]


@pytest.mark.parametrize("part", [-0.1, 1.1, np.nan])
def test_a_quantile_of_no_part_is_missing(part: float) -> None:
    assert np.isnan(reduce.quantile(np.zeros(2, np.intp), np.array([1.0, 2.0]), 1, part)).all()
