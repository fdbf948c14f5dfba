# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.expr import units


@pytest.mark.parametrize(
    ("left", "right", "unit"),
    [
        ("us", "us", "us"),
        ("us", "", "us"),
        ("", "B", "B"),
        ("share", "times", "times"),
        ("us", "B", None),
        ("us", "ns", None),
        ("count", "share", None),
        ("moment", "", None),
        ("moment", "moment", "moment"),
    ],
)
def test_only_equal_units_and_bare_numbers_meet(left: str, right: str, unit: str | None) -> None:
    assert units.common_unit(left, right) == unit


@pytest.mark.parametrize(
    ("left", "right", "unit"),
    [
        ("share", "us", "us"),
        ("us", "share", "us"),
        ("count", "us", "us"),
        ("share", "share", "share"),
        ("", "times", "times"),
        ("count", "share", "count"),
        ("us", "us", "us*us"),
        ("B/us", "us", "B"),
        ("GB/s", "us", "GB/s*us"),
    ],
)
def test_ratios_and_counts_keep_the_unit_of_the_other_factor(left: str, right: str, unit: str) -> None:
    assert units.unit_of_product(left, right) == unit


@pytest.mark.parametrize(
    ("left", "right", "unit"),
    [
        ("us", "us", "share"),
        ("count", "count", "share"),
        ("us", "", "us"),
        ("us", "count", "us"),
        ("us", "share", "us"),
        ("", "", ""),
        ("times", "times", "times"),
        ("B", "us", "B/us"),
        ("us*us", "us", "us"),
        ("B/us", "B/us", "share"),
        ("", "us", "1/us"),
        ("GB/s", "GB/s", "share"),
    ],
)
def test_equal_units_cancel_to_a_share(left: str, right: str, unit: str) -> None:
    assert units.unit_of_quotient(left, right) == unit


def test_bytes_over_microseconds_are_not_a_bandwidth() -> None:
    assert units.common_unit(units.unit_of_quotient("B", "us"), "GB/s") is None
