# SPDX-License-Identifier: Apache-2.0
"""Moments are those of each rank in order, however the rows of ranks lie in a table."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays.counted import distinct_ranks, moments_by_rank
from advisor.facts.base import MISSING

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9) | st.just(MISSING), st.booleans()), max_size=12)


@given(ROWS, st.booleans(), st.booleans())
def test_moments_of_each_rank_ascend_whatever_order_they_come_in(rows, by_rank, in_order):
    if by_rank:
        rows = sorted(rows, key=lambda row: row[: 1 + in_order])
    rank, moment = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
    expected = {one: sorted(at for of, at, _ in rows if of == one and at != MISSING) for one in range(4)}
    found = moments_by_rank(rank, moment)
    assert [*found] == sorted(found)
    assert {one: at.tolist() for one, at in found.items()} == {one: at for one, at in expected.items() if at}


@given(ROWS, st.booleans())
def test_ranks_are_told_once_each_and_ascend(rows, by_rank):
    rows = sorted(rows) if by_rank else rows
    rank, marked = np.array([row[0] for row in rows], np.int64), np.array([row[2] for row in rows], bool)
    assert distinct_ranks(rank).tolist() == sorted({of for of, *_ in rows})
    assert distinct_ranks(rank, marked).tolist() == sorted({of for of, _, is_marked in rows if is_marked})
