# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Odd
from advisor.sources.files.exact_time import exact_ns

LATEST_US = 2**62 // 1000 - 1


def written(digits: int) -> st.SearchStrategy[str]:
    """Times in µs with up to this many digits behind the point."""
    whole = st.integers(0, LATEST_US)
    fraction = st.text("0123456789", max_size=digits)
    return st.builds(lambda w, f: f"{w}.{f}" if f else str(w), whole, fraction)


@settings(max_examples=60)
@given(st.lists(written(6), max_size=30))
def test_times_are_what_decimal_says(texts: list[str]) -> None:
    expected = [int((Decimal(text) * 1000).to_integral_value()) for text in texts]
    assert exact_ns(texts).tolist() == expected


@settings(max_examples=60)
@given(st.lists(st.integers(10**18, 2**62 - 1), min_size=1, max_size=30))
def test_times_of_today_keep_every_nanosecond(ns: list[int]) -> None:
    assert exact_ns([f"{n // 1000}.{n % 1000:03}" for n in ns]).tolist() == ns


@settings(max_examples=60)
@given(st.lists(written(3), min_size=1, max_size=8), st.integers(0, 7))
def test_one_odd_spelling_does_not_change_the_others(texts: list[str], place: int) -> None:
    odd = list(texts)
    odd[place % len(odd)] = "5e2"
    expected = exact_ns(texts).tolist()
    expected[place % len(odd)] = 500_000
    assert exact_ns(odd).tolist() == expected


@pytest.mark.parametrize(
    "text", ["", "now", "-1.0", "nan", "inf", "1_000", "１７", "9" * 16, ".5", "1.2.3", "1e99", " 1", "1" * 40, "0x10"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time"):
        exact_ns([text])


@pytest.mark.parametrize("text", ["1606910596297023000", "1606910596297023000.0", "16069105962970230"])
def test_of_times_with_more_digits_than_us_have_it_is_said_that_they_may_be_ns(text: str) -> None:
    with pytest.raises(Odd) as refused:
        exact_ns(["1606910596297023.1", text])
    assert refused.value.what == Message("time_not_in_us")


def test_two_times_in_one_text_are_none_of_two() -> None:
    with pytest.raises(ValueError, match="time"):
        exact_ns(["", "0000000000000001.1230000000000000002.456"])


@given(st.lists(st.text(max_size=24), min_size=1, max_size=4))
def test_any_text_gives_a_time_or_is_refused(texts: list[str]) -> None:
    try:
        found = exact_ns(texts)
    except ValueError:
        return
    assert found.tolist() == [int((Decimal(text) * 1000).to_integral_value()) for text in texts]
