# SPDX-License-Identifier: Apache-2.0
"""Times that went through floats are known as such, and become exact by others that did not."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.sources.files.exact_time import exact_ns, ns_of
from advisor.sources.files.float_times import are_float_ns, are_quarters, restore_moments

TODAY_NS = 1736414119678217234
MOMENTS = st.integers(0, 10**12).map(lambda ns: TODAY_NS + ns)
APART = st.lists(st.integers(1000, 10**7), min_size=12, max_size=60).map(lambda gaps: TODAY_NS + np.cumsum(gaps))


def written(ns: int) -> str:
    """A moment in µs as it is written exactly."""
    return str(Decimal(ns) / 1000)


def through_float(ns: int) -> int:
    """The moment that is read once it was written as a float of µs."""
    return ns_of(repr(float(written(ns))))


@given(APART)
def test_moments_that_went_through_floats_are_restored_by_exact_ones(moments: np.ndarray) -> None:
    rounded = np.array([through_float(ns) for ns in moments.tolist()])
    assert restore_moments(rounded, moments).tolist() == moments.tolist()
    assert not rounded.tolist() or not (rounded % 1000).any() or are_quarters(rounded)


@given(MOMENTS, st.sampled_from(["{:.2f}", "{:.3f}", "{!r}"]))
def test_however_a_float_is_written_it_is_restored(ns: int, form: str) -> None:
    rounded = exact_ns([form.format(float(written(ns)))])
    assert restore_moments(rounded, np.array([ns])).tolist() == [ns]


@given(st.lists(MOMENTS | st.just(MISSING), max_size=30), st.lists(MOMENTS | st.just(MISSING), max_size=30))
def test_equal_moments_stay_equal_and_move_no_farther_than_floats(rounded: list[int], exact: list[int]) -> None:
    found = restore_moments(np.array(rounded, np.int64), np.array(exact, np.int64)).tolist()
    assert len(set(found)) <= len(set(rounded))
    for before, after in zip(rounded, found, strict=True):
        assert after == before or (after in exact and through_float(after) == through_float(before))


def test_times_as_profilers_write_them_are_not_taken_for_floats() -> None:
    steps = np.arange(40) * 1_234_567
    assert not are_quarters(TODAY_NS + steps)
    assert not are_quarters((TODAY_NS // 1000 + np.arange(40)) * 1000)  # whole µs, as in 2023
    assert not are_quarters((TODAY_NS // 10 + np.arange(40)) * 10)
    assert not are_quarters(np.arange(40) * 250)  # small numbers are floats without loss
    assert not are_quarters(np.array([through_float(TODAY_NS)] * 40))  # one moment alone
    assert not are_float_ns(TODAY_NS + steps)
    assert not are_float_ns((TODAY_NS // 1000 + np.arange(40)) * 1000)
    assert not are_float_ns(np.arange(40))


def test_times_that_went_through_floats_of_ns_are_told() -> None:
    steps = np.arange(40) * 1_234_567
    assert are_float_ns((TODAY_NS + steps).astype(np.float64).astype(np.int64))
    assert are_float_ns(np.append((TODAY_NS + steps).astype(np.float64).astype(np.int64), MISSING))
