# SPDX-License-Identifier: Apache-2.0
"""All units of a memory or cache together, moment by moment."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.chip.traffic import traffic_uses
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import TrafficSample
from advisor.facts.table import Table


def test_units_add_up_and_moments_are_averaged() -> None:
    samples = Table.build(
        TrafficSample, rank=[0] * 4, place="HBM", way="read", unit=[0, 1, 0, 1], time_ns=[5, 5, 6, 6],
        speed_gbps=[10.0, 30.0, 100.0, 20.0],
    )  # fmt: skip
    chips = Table.build(ChipLimit, rank=[0], chip="910B1", memory_gbps=[1600.0])
    (row,) = traffic_uses(samples, chips).rows()
    assert (row["samples"], row["mean_gbps"], row["peak_gbps"]) == (2.0, 80.0, 120.0)
    assert row["used_share"] == pytest.approx(0.05)
    assert traffic_uses(samples, None).rows()[0]["used_share"] is None


def test_what_was_summed_up_has_a_mean_alone() -> None:
    samples = Table.build(TrafficSample, rank=[0, 0], place="HBM", way="read", unit=[0, 1], speed_gbps=[1.0, 2.0])
    (row,) = traffic_uses(samples, None).rows()
    assert (row["samples"], row["mean_gbps"], row["peak_gbps"]) == (None, 3.0, None)


def test_a_cache_that_nobody_asked_weighs_nothing() -> None:
    samples = Table.build(
        TrafficSample, rank=[0] * 3, place="LLC", way="read", unit=[0, 1, 0], time_ns=[1, 1, 2],
        speed_gbps=[9.0, 0.0, 3.0], hit_share=[0.8, 0.0, 0.4],
    )  # fmt: skip
    (row,) = traffic_uses(samples, None).rows()
    assert row["hit_share"] == pytest.approx((9 * 0.8 + 3 * 0.4) / 12)


SAMPLES = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(0, 1), st.integers(0, 2), st.integers(1, 4), st.none() | st.floats(0, 1e3)
    ),
    min_size=1,
    max_size=30,
)


@given(SAMPLES)
def test_means_and_peaks_are_those_of_a_loop(looks: list[tuple[int, int, int, int, float | None]]) -> None:
    rank, way, unit, moment, speed = zip(*looks, strict=True)
    samples = Table.build(
        TrafficSample, rank=list(rank), place="LLC", way=["read" if one else "write" for one in way], unit=list(unit),
        time_ns=list(moment), speed_gbps=np.array([math.nan if one is None else one for one in speed]),
    )  # fmt: skip
    together: dict[tuple[int, str], dict[int, float]] = {}
    for one, two, _, at, fast in looks:
        moments = together.setdefault((one, "read" if two else "write"), {})
        moments[at] = moments.get(at, 0.0) + (fast or 0.0)
    for row in traffic_uses(samples, None).rows():
        expected = together.pop((row["rank"], row["way"]))
        assert row["mean_gbps"] == pytest.approx(sum(expected.values()) / len(expected))
        assert row["peak_gbps"] == pytest.approx(max(expected.values()))
    assert not together
