# SPDX-License-Identifier: Apache-2.0
"""Time covered by intervals, against counting every nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.ascend.plane_tasks import _covered_ns

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=8)


@given(SPANS, SPANS)
def test_what_is_covered_is_what_counting_gives(spans: list[tuple[int, int]], windows: list[tuple[int, int]]):
    begun, ended, start, end = (
        np.array([at + length * last for at, length in found], np.int64)
        for found in (spans, windows)
        for last in (False, True)
    )
    inside = {moment for at, length in spans for moment in range(at, at + length)}
    counted = [len(inside & {*range(at, at + length)}) for at, length in windows]
    assert _covered_ns(begun, ended, start, end).tolist() == counted
