# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.launching_operators import innermost_begun_at, lanes_of
from tests.analysis.timelines import host_calls

CALLS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([1, 2, 5_000_000]), st.integers(0, 4), st.integers(1, 4)))
"""Rank, thread, begin and length."""


def calls_from(rows: list[tuple[int, int, int, int]]) -> str:
    lines = (f"\n{rank} {thread} operator name {start} {start + length}" for rank, thread, start, length in rows)
    return "rank thread kind name start_ns end_ns" + "".join(lines)


@given(CALLS, st.integers(0, 1), st.integers(0, 4))
def test_of_operators_that_begin_at_once_the_one_that_ends_first_is_meant(
    rows: list[tuple[int, int, int, int]], rank: int, moment: int
) -> None:
    [found] = innermost_begun_at(host_calls(calls_from(rows)), np.array([rank]), np.array([moment])).tolist()
    begun = [(length, -row) for row, (of, _, start, length) in enumerate(rows) if (of, start) == (rank, moment)]
    assert found == (-min(begun)[1] if begun else -1)


@given(CALLS, CALLS)
def test_calls_have_one_lane_where_rank_and_thread_are_the_same(
    rows: list[tuple[int, int, int, int]], others: list[tuple[int, int, int, int]]
) -> None:
    parts = lanes_of(host_calls(calls_from(rows)), host_calls(calls_from(others)))
    lanes = np.concatenate(parts).tolist()
    told = [row[:2] for row in (*rows, *others)]
    assert [one == other for one in lanes for other in lanes] == [one == other for one in told for other in told]
