# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.units import FACTORS, UNITS, show_value


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (81515.6, "us", "81.5 ms"),
        (999.7, "us", "1.00 ms"),
        (0.25, "us", "250 ns"),
        (0, "us", "0 µs"),
        (4.5e-13, "us", "0 µs"),
        (-4.5e-13, "us", "0 µs"),
        (0.001, "us", "1.00 ns"),
        (2_500_000, "us", "2.50 s"),
        (0.7312, "share", "73 %"),
        (0.0312, "share", "3.1 %"),
        (0.0001, "share", "< 0.1 %"),
        (0, "share", "0 %"),
        (0.994, "share", "99 %"),
        (0.9974, "share", "99.7 %"),
        (0.9996, "share", "> 99.9 %"),
        (1 - 1e-12, "share", "100 %"),
        (1, "share", "100 %"),
        (1.003, "share", "100 %"),
        (1536, "B", "1.50 KiB"),
        (12, "count", "12"),
        (12.5, "count", "12"),
        (7.5, "count", "7.5"),
        (9.96, "count", "10"),
        (3.02, "count", "3"),
        (0, "count", "0"),
        (0.04, "count", "< 0.1"),
        (20480.0, "count", "20,480"),
        (3.25, "times", "3.25×"),
        (18.2, "GB/s", "18.2 GB/s"),
        (None, "us", "–"),
        (math.nan, "share", "–"),
        ("Cast", "", "Cast"),
        (True, "", "True"),
        (1764246877146674500, "ns", "1,764,246,877,146,674,500 ns"),
    ],
)
def test_a_quantity_reads_as_people_write_it(value: object, unit: str, words: str) -> None:
    assert show_value(value, unit) == words


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(2**62), 2**62), st.sampled_from(UNITS))
def test_any_number_can_be_shown_in_any_unit(value: float, unit: str) -> None:
    assert show_value(value, unit)


@given(st.floats(1e-3, 1e12))
def test_what_is_shown_is_within_half_a_per_cent_of_the_value(us: float) -> None:
    number, name = re.fullmatch(r"([\d.,e+-]+) (\S+)", show_value(us, "us")).groups()  # type: ignore[union-attr]
    factor = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}[name]
    assert float(number.replace(",", "")) * factor == pytest.approx(us, rel=5.1e-3)


@given(st.floats(0.05, 1e12) | st.integers(0, 2**53))
def test_a_count_is_whole_from_ten_on_and_has_at_most_one_decimal_below(count: float) -> None:
    shown = show_value(count, "count")
    whole, _, decimals = shown.replace(",", "").partition(".")
    assert abs(float(f"{whole}.{decimals}0") - count) <= (0.5 if float(whole) >= 10 else 0.05) * (1 + 1e-9)
    assert decimals == "" or (float(whole) < 10 and decimals in "123456789")


def test_a_whole_number_that_no_float_can_hold_is_shown_without_end() -> None:
    assert {show_value(10**400, unit) for unit in UNITS} == {"∞"}
    assert show_value(-(10**400), "us") == "-∞"


def test_every_unit_of_an_expression_is_worth_what_its_name_says() -> None:
    assert FACTORS == {
        "us": (1, "us"),
        "ms": (1_000, "us"),
        "s": (1_000_000, "us"),
        "KiB": (1_024, "B"),
        "MiB": (1_048_576, "B"),
        "GiB": (1_073_741_824, "B"),
        "KB": (1_000, "B"),
        "MB": (1_000_000, "B"),
        "GB": (1_000_000_000, "B"),
    }
