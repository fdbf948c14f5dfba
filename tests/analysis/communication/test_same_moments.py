# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.communication.collective_calls import call_matches
from advisor.analysis.communication.same_moments import lie_apart
from advisor.analysis.ranks.meetings import meetings
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall
from advisor.facts.table import Table

MS = 1_000_000


def calls(ends_ms: dict[int, list[float]], lasts_ms: float = 20.0) -> Table[CollectiveCall]:
    """Calls of ranks that end so, each 20 ms long on rank 0 and half as long on the others."""
    rows = [(rank, end, lasts_ms / (1 if rank == 0 else 2)) for rank, ends in ends_ms.items() for end in ends]
    return Table.build(
        CollectiveCall,
        rank=[row[0] for row in rows],
        step=1,
        name="a",
        op="allReduce",
        p2p=0,
        start_ns=[round((end - lasts) * MS) for _, end, lasts in rows],
        elapse_us=[lasts * 1e3 for *_, lasts in rows],
    )


def apart(table: Table[CollectiveCall]) -> list[bool]:
    numbered = group_by(group_by(table["rank"]).turns(table["start_ns"]))
    found: list[bool] = lie_apart(table["rank"], table["start_ns"], table["elapse_us"], numbered).tolist()
    return found


@given(
    st.lists(st.integers(30, 400), min_size=1, max_size=12),
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5),
    st.floats(-0.001, 0.001),
)
def test_what_ranks_end_together_is_never_apart_whatever_their_clocks_count_from(pauses, offsets, drift):
    ends = np.cumsum(pauses).astype(float)
    ranks = {0: ends.tolist()} | {n: (ends * (1 + drift) + offset).tolist() for n, offset in enumerate(offsets, 1)}
    assert not any(apart(calls(ranks)))


@given(st.lists(st.integers(30, 400), min_size=4, max_size=12), st.data())
def test_calls_after_one_that_a_recording_lacks_are_apart_where_most_others_agree(pauses, data):
    ends = np.cumsum(pauses).astype(float).tolist()
    lost = data.draw(st.integers(len(ends) // 2 + 2, len(ends)))
    moved = [end + 1000.0 for end in ends[lost:]]
    found = apart(calls({0: ends, 1: ends[:lost] + moved}))
    assert found == [False] * len(ends) + [False] * lost + [True] * len(moved)


def test_where_most_numbers_belong_to_different_operations_those_that_end_together_remain():
    ends = [100.0, 300.0, 500.0, 700.0, 900.0, 1100.0]
    other = [100.2, 300.1, 500.1, 760.0, 990.0, 1350.0]
    table = calls({0: ends, 1: other})
    assert apart(table) == [False] * 9 + [True] * 3
    assert len(meetings(table)) == 3
    assert [(row["rank"], row["calls"], row["apart"]) for row in call_matches(table).rows()] == [(0, 6, 3), (1, 6, 3)]


def test_where_the_lowest_rank_lacks_a_call_the_others_have_met_all_the_same():
    ends = [100.0, 300.0, 500.0, 700.0, 900.0, 1100.0, 1300.0]
    table = calls({0: [*ends[:4], *ends[5:]], 1: ends, 2: [end + 0.1 for end in ends]})
    found = meetings(table).rows()
    assert [row["ranks"] for row in found] == [3.0] * 4, "the others take equally long in what they do without it"
    assert [(row["rank"], row["calls"], row["apart"]) for row in call_matches(table).rows()] == [
        (0, 6, 2),
        (1, 7, 0),
        (2, 7, 0),
    ]


def test_of_two_that_contradict_each_other_none_is_compared():
    assert len(meetings(calls({0: [100.0, 300.0], 1: [100.0, 450.0]}))) == 0


def test_ends_that_differ_by_a_little_of_the_shorter_call_are_together():
    assert len(meetings(calls({0: [100.0, 300.0, 500.0], 1: [100.0, 300.0, 501.5]}))) == 3


def test_a_call_without_a_time_is_met_by_its_number():
    table = calls({0: [100.0, 300.0], 1: [100.0, 450.0]}).having(start_ns=np.full(4, MISSING))
    assert len(meetings(table)) == 2


@pytest.mark.parametrize("op", ["send", "receive"])
def test_a_send_may_be_over_before_its_receive(op):
    table = calls({0: [100.0, 300.0], 1: [100.0, 450.0]}).having(p2p=np.ones(4, np.int8), op=op)
    assert len(meetings(table)) == 2
