# SPDX-License-Identifier: Apache-2.0
"""The simulation of more workers than there are cores hands ranks out as the command does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.workers import SecondsAlone, simulated_seconds


def test_each_rank_goes_to_the_worker_that_is_free_first() -> None:
    assert simulated_seconds([3.0, 1.0, 1.0, 2.0], 2, 0.5) == 4.5


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=30), st.integers(1, 8))
@settings(max_examples=200)
def test_it_takes_as_long_as_handing_out_in_order_can(times: list[float], workers: int) -> None:
    """No shorter than an even share or the longest rank, and no longer than both together (Graham 1969)."""
    took = simulated_seconds(times, workers, 0.0)
    even, longest = sum(times) / workers, max(times)
    assert max(even, longest) - 1e-9 <= took <= even + longest + 1e-9
    assert simulated_seconds(times, 1, 1.0) == pytest.approx(sum(times) + 1.0)


def test_what_is_done_alone_for_many_large_ranks_grows_by_what_a_large_one_takes_beyond_a_small_one() -> None:
    alone = SecondsAlone(large=0.5, small=0.3, many=2.0, ranks=20)
    assert alone.simulated(0) == 2.0
    assert alone.simulated(1000) == pytest.approx(2.0 + 1000 * 0.01)
    assert SecondsAlone(large=0.2, small=0.3, many=2.0, ranks=20).simulated(1000) == 2.0  # noise, and no gain
