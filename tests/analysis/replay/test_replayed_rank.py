# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.host.host import Calls
from advisor.analysis.replay.replayed_rank import LaunchingOperators

CALLS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=6).map(sorted)
"""Begin and length of operators."""
LAUNCHES = st.lists(st.tuples(st.integers(0, 14), st.booleans(), st.booleans()), min_size=1, max_size=8).map(sorted)
"""When each was handed over, whether it is a task of the work in turn, and whether that is taken out."""


@given(CALLS, LAUNCHES)
def test_operators_go_with_what_they_launched_where_that_is_all_of_it(
    calls: list[tuple[int, int]], launches: list[tuple[int, bool, bool]]
) -> None:
    start, length = np.array(calls, np.int64).reshape(-1, 2).T
    moment, in_turn, gone = (np.array(column) for column in zip(*launches, strict=True))
    every = Calls(None, start, start + length)
    places, first, several = every.places_holding(moment, np.ones(len(calls), bool))
    order = np.where(in_turn, np.cumsum(in_turn) - 1, -1)
    found = LaunchingOperators(every, places, first, several, order).launched_none_but(gone[in_turn])
    held = [[own and taken for at, own, taken in launches if begin <= at <= begin + n] for begin, n in calls]
    assert found.row.tolist() == [row for row, taken in enumerate(held) if taken and all(taken)]
