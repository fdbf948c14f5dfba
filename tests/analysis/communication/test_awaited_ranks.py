# SPDX-License-Identifier: Apache-2.0
"""Whom collectives waited for: told by one rank, and followed from rank to rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.communication.collective_calls import collective_calls, complete_by_other_ranks
from advisor.analysis.communication.longest_collectives import longest_calls
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Collective, PeerWait
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

COLLECTIVES = """
rank step name  op        group p2p   start_ns elapse_us
0    1    one   allReduce a     false 1000     100
0    1    two   allReduce a     false 200000   10
1    1    one   allReduce a     false 51000    50
"""
WAITS = """
rank name group call_ns peer place start_ns wait_us opening
0    one  a     1000    1    1     2000     40      true
0    one  a     1000    5    5     3000     90      true
0    two  a     200000  1    1     200500   8       false
1    one  a     51000   5    5     52000    41      true
"""


def told(waits: str = WAITS, collectives: str = COLLECTIVES) -> list[dict[str, object]]:
    calls = read_table(Collective, collectives)
    run = Run(ranks=(0, 1))
    found = collective_calls(run_of_ranks(run), calls, None, waits=read_table(PeerWait, waits))
    return complete_by_other_ranks(run, found).rows()


def followed(calls: str, ranks: tuple[int, ...]) -> dict[int, tuple[object, ...]]:
    columns = "step name op group p2p start_ns elapse_us awaited_ns"
    heading, *rows = calls.strip().splitlines()
    text = "\n".join([f"{heading} {columns}", *(f"{row} 1 one allReduce a false 0 100 10000" for row in rows)])
    found = longest_calls(Run(ranks=ranks), read_table(CollectiveCall, text)).rows()
    return {row["rank"]: (row["awaited_rank"], row["awaited_absent"], row["awaited_late"]) for row in found}


def test_a_call_says_whom_it_waited_for_longest():
    first, second, third = told()
    assert (first["awaited_rank"], first["awaited_us"], first["awaited_late"]) == (5, 90, True)
    assert (second["awaited_rank"], second["awaited_us"], second["awaited_late"]) == (1, 8, False)
    assert (third["awaited_rank"], third["awaited_ns"]) == (5, 52000)
    assert [row["awaited_alike"] for row in (first, second, third)] == [1, 1, 1]


def test_ranks_that_kept_it_waiting_nearly_as_long_are_counted():
    assert told(WAITS.replace("2000     40 ", "2000     85 "))[0]["awaited_alike"] == 2


def test_waits_for_one_rank_are_added_up_over_the_calls_of_a_rank():
    again = WAITS.replace("0    two  a     200000  1    1 ", "0    two  a     200000  5    5 ")
    assert [row["awaited_all_us"] for row in told(again)] == [98, 98, 41]


def test_only_a_wait_for_a_rank_that_had_yet_to_come_and_was_not_captured_is_one_for_an_absent_rank():
    assert [row["absent_us"] for row in told()] == [90, 0, 41]
    captured = told(WAITS.replace(" 5    5 ", " 1    1 "))
    assert [row["absent_us"] for row in captured][:2] == [0, 0]
    alike = told(WAITS.replace(" 1    1     2000     40 ", " 1    1     2000     91 "))
    assert [row["absent_us"] for row in alike] == [None, 0, 41], "for rank 1, or for rank 5"
    unknown = told(WAITS.replace(" 5    5 ", " -    5 "))
    assert [row["absent_us"] for row in unknown] == [None, 0, None]


def test_who_waits_for_data_of_a_root_does_not_know_whether_it_is_late():
    rooted = told(collectives=COLLECTIVES.replace("one   allReduce", "one   broadcast"))[0]
    assert (rooted["awaited_rank"], rooted["awaited_late"]) == (5, None)


def test_where_no_wait_was_recorded_nobody_is_named():
    without = collective_calls(run_of_ranks(Run(ranks=(0, 1))), read_table(Collective, COLLECTIVES), None).rows()
    assert {row["awaited_rank"] for row in without} == {None}
    assert {row["awaited_us"] for row in without} == {None}


def test_a_wait_leads_to_the_rank_that_is_waited_for_in_the_end():
    ring = """
    rank awaited_rank awaited_place awaited_us awaited_late
    0    1            1             80         false
    1    2            2             80         false
    2    6            6             82         true
    """
    assert followed(ring, (0, 1, 2)) == dict.fromkeys((0, 1, 2), (6, True, True))


def test_a_rank_that_came_late_and_waited_only_before_is_the_last_of_the_chain():
    ring = """
    rank awaited_rank awaited_place awaited_us awaited_late
    0    1            1             80         true
    1    2            2             5          true
    """
    assert followed(ring, (0, 1))[0] == (1, False, True)


def test_ranks_that_wait_for_each_other_in_a_circle_name_nobody():
    circle = """
    rank awaited_rank awaited_place awaited_us awaited_late
    0    1            1             80         false
    1    2            2             80         false
    2    0            0             80         false
    """
    assert followed(circle, (0, 1, 2)) == dict.fromkeys((0, 1, 2), (None, None, None))


def test_a_wait_that_is_a_small_part_of_a_call_explains_nothing():
    short = """
    rank awaited_rank awaited_place awaited_us awaited_late
    0    5            5             49         true
    """
    assert followed(short, (0,)) == {0: (None, None, None)}


def test_a_place_that_nobody_can_name_is_told_as_a_place():
    unnamed = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us awaited_ns awaited_place awaited_us awaited_late
        0    1    one  allReduce a     false 0        100       10000      3             90         true
        """,
    )
    row = longest_calls(Run(ranks=(0,)), unnamed).rows()[0]
    assert (row["awaited_rank"], row["awaited_place"], row["awaited_absent"]) == (None, 3, None)


def test_other_calls_that_wait_for_the_same_late_rank_are_counted_with_the_longest():
    """Not those that wait for another rank, for a part of their time, or for one that was held up itself."""
    calls = read_table(
        CollectiveCall,
        """
rank step name  op        group p2p   start_ns elapse_us exposed_us awaited_rank awaited_ns awaited_us awaited_late
0    1    one   allReduce a     false 0        100       100        5            1000       95         true
0    1    two   allReduce a     false 200000   40        30         5            201000     38         true
0    1    three allReduce a     false 300000   40        40         5            301000     10         true
0    1    four  allReduce a     false 400000   40        40         6            401000     38         true
0    1    five  allReduce a     false 500000   40        40         5            501000     38         false
0    2    six   allReduce a     false 600000   40        40         5            601000     38         true
        """,
    )
    first, second = longest_calls(Run(ranks=(0,)), calls).rows()
    assert (first["name"], first["also_awaiting"], first["also_awaiting_us"]) == ("one", 1, 30)
    assert (second["name"], second["also_awaiting"], second["also_awaiting_us"]) == ("six", 0, 0)
    assert (
        longest_calls(Run(ranks=(0, 5)), calls).rows()[0]["also_awaiting"] == 0
    )  # captured: told by the findings on it


RANKS = 6


@given(st.lists(st.tuples(st.integers(-1, RANKS - 1), st.integers(0, 100)), min_size=1, max_size=RANKS - 1))
def test_chains_are_those_that_walking_finds(told: list[tuple[int, int]]):
    """Each rank waits for one other (-1: unknown) from the begin of the call to some moment."""
    count = len(told)
    calls = Table.build(
        CollectiveCall,
        rank=np.arange(count),
        step=1,
        name=["one"] * count,
        op=["allReduce"] * count,
        group=["a"] * count,
        p2p=0,
        start_ns=0,
        elapse_us=100.0,
        awaited_rank=np.array([MISSING if peer < 0 else peer for peer, _ in told]),
        awaited_place=[max(peer, 0) for peer, _ in told],
        awaited_ns=0,
        awaited_us=[float(us) for _, us in told],
    )
    found = {row["rank"]: row["awaited_rank"] for row in longest_calls(Run(ranks=tuple(range(count))), calls).rows()}
    for rank, (_, us) in enumerate(told):
        assert found[rank] == (walk(told, rank) if us >= 50 else None)


def walk(told: list[tuple[int, int]], rank: int) -> int | None:
    at, seen = rank, set[int]()
    while at not in seen:
        seen.add(at)
        peer, us = told[at]
        if not 0 <= peer < len(told) or min(us, told[peer][1]) <= us / 2:
            return None if peer in (-1, rank) else peer
        at = peer
    return None


@pytest.mark.parametrize("lost", range(4))
def test_waits_that_are_lost_take_no_call_with_them(lost: int):
    lines = WAITS.strip().splitlines()
    del lines[1 + lost]
    assert [row["name"] for row in told("\n".join(lines))] == ["one", "two", "one"]
