# SPDX-License-Identifier: Apache-2.0
"""The clock of a device at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.steps.recorded_clocks import clocks_at
from advisor.facts.observed import Frequency
from advisor.facts.table import Table

SAMPLES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.sampled_from([0, 800, 1800])))
TIMES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20)))


@given(SAMPLES, TIMES)
def test_a_clock_holds_until_the_next_sample_of_its_rank(
    samples: list[tuple[int, int, int]], times: list[tuple[int, int]]
) -> None:
    ordered = sorted(samples, key=lambda sample: sample[:2])
    table = Table.build(
        Frequency,
        rank=[rank for rank, _, _ in ordered],
        time_ns=[time for _, time, _ in ordered],
        mhz=[float(mhz) for *_, mhz in ordered],
    )
    found = clocks_at(table, np.array([rank for rank, _ in times], int), np.array([time for _, time in times], int))
    for (rank, time), mhz in zip(times, found.tolist(), strict=True):
        before = [clock for of, when, clock in ordered if of == rank and when <= time and clock > 0]
        assert mhz == before[-1] if before else np.isnan(mhz)
