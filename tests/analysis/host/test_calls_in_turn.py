# SPDX-License-Identifier: Apache-2.0
"""Calls of ranks that are laid one after another are beside the same intervals as each rank's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.host import calls_in_turn as laid
from advisor.analysis.host.calls_in_turn import CallsInTurn, calls_in_turn
from advisor.facts.observed import HostCall
from advisor.facts.table import Table

SPAN = st.tuples(st.integers(-40, 60), st.integers(1, 30))  # start and length, ns
RANKS = st.lists(st.tuples(st.lists(SPAN, max_size=4), st.lists(SPAN, max_size=4)), min_size=1, max_size=4)


def _table(ranks: list[list[tuple[int, int]]]) -> Table[HostCall]:
    rows = [(rank, start, start + length) for rank, spans in enumerate(ranks) for start, length in spans]
    rank, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return Table.build(HostCall, rank=rank, thread=1, kind="api", name="call", start_ns=start, end_ns=end)


def _beside(turn: CallsInTurn, start: np.ndarray, end: np.ndarray) -> set[tuple[int, int]]:
    """Each interval with each call that shares time with it, as the number of the one and the row of the other."""
    return {
        (number, row)
        for number, by in zip(turn.asked.tolist(), turn.shift.tolist(), strict=True)
        for row, begun, ended in zip(turn.calls.row.tolist(), turn.calls.start, turn.calls.end, strict=True)
        if begun < end[number] + by and ended > start[number] + by
    }


@settings(max_examples=60)
@given(ranks=RANKS, most=st.sampled_from([1, 3, 1 << 18]))
def test_each_interval_lies_beside_the_calls_of_its_rank_and_no_others(ranks, most):
    table = _table([calls for calls, _ in ranks])
    asked = [(rank, start, start + length) for rank, (_, spans) in enumerate(ranks) for start, length in spans]
    rank, start, end = np.array(asked, np.int64).reshape(-1, 3).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laid, "_MOST_CALLS", most)
        turns = list(calls_in_turn(table, rank, start, end))
    found = [pair for turn in turns for pair in _beside(turn, start, end)]
    rows = list(zip(table["rank"].tolist(), table["start_ns"].tolist(), table["end_ns"].tolist(), strict=True))
    wanted = {
        (number, row)
        for number, (one, since, until) in enumerate(asked)
        for row, (own, begun, ended) in enumerate(rows)
        if own == one and begun < until and ended > since
    }
    assert sorted(found) == sorted(wanted)
    numbers = [number for turn in turns for number in turn.asked.tolist()]
    assert sorted(numbers) == [number for number, (one, *_) in enumerate(asked) if ranks[one][0]]


def test_ranks_of_damaged_clocks_are_not_laid_one_after_another():
    far = 1 << 61
    table = _table([[(0, 5), (far, 5)], [(0, 5)]])
    turns = list(calls_in_turn(table, np.array([0, 1]), np.array([0, 0]), np.array([1, 1])))
    assert [turn.asked.tolist() for turn in turns] == [[0], [1]]
    assert all(turn.shift.tolist() == [0] for turn in turns)
