# SPDX-License-Identifier: Apache-2.0
"""What all captured ranks of an operation wait is for one that was not captured."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.communication.absent_waits import absent_waits
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Group, Link
from advisor.facts.table import read_table
from advisor.model.run import Run

CALLS = """
rank step name  op        group p2p   start_ns elapse_us wait_us absent_us
0    1    one   allReduce a     false 1000     100       90      -
0    1    root  broadcast a     false 200000   80        70      -
0    1    pair  send      a     true  400000   80        70      -
1    1    one   allReduce a     false 51000    50        40      -
1    1    root  broadcast a     false 200000   80        70      -
0    1    two   allReduce b     false 300000   60        50      -
"""
GROUPS = """
group rank position
a     0    0
a     1    1
a     5    2
"""


def absent(
    calls: str = CALLS, groups: str | None = GROUPS, links: str | None = None
) -> dict[tuple[object, object], object]:
    members = None if groups is None else read_table(Group, groups)
    moved = None if links is None else read_table(Link, links)
    found = absent_waits(Run(ranks=(0, 1)), read_table(CollectiveCall, calls), members, moved)
    return {(row["rank"], row["name"]): row["absent_us"] for row in found.rows()}


def test_as_long_as_the_last_captured_rank_waits_all_wait_for_another_one() -> None:
    found = absent()
    assert (found[0, "one"], found[1, "one"]) == (40, 40), "beyond it, rank 0 waits for rank 1"
    assert (found[0, "root"], found[1, "root"]) == (None, None), "it may come and have nothing yet to hand on"
    assert found[0, "two"] == 50, "no other captured rank takes part: somebody else does"
    assert (0, "pair") not in found


def test_what_a_rank_waits_for_absent_ones_stands_beside_what_the_others_wait() -> None:
    calls = read_table(
        CollectiveCall,
        "rank step name op group p2p start_ns elapse_us wait_us\n0 1 a one g0 false 0 90 80\n"
        "0 1 b one g0 false 900000 9 5\n1 1 a one g1 false 0 9 4\n2 1 a one g2 false 0 9 8",
    )
    found = absent_waits(Run(ranks=(0, 1, 2)), calls)
    assert [(row["rank"], row["absent_us"], row["others_absent_us"]) for row in found.rows()] == [
        (0, 80, 6),
        (0, 5, 6),
        (1, 4, 46.5),
        (2, 8, 44.5),
    ]
    two = calls.take(np.flatnonzero(calls["rank"] < 2))
    assert {row["others_absent_us"] for row in absent_waits(Run(ranks=(0, 1)), two).rows()} == {None}


def test_what_no_captured_rank_hides_is_that_of_the_one_that_hides_most() -> None:
    calls = read_table(
        CollectiveCall,
        "rank step name op group p2p start_ns elapse_us exposed_us\n0 1 one a g false 0 9 8\n1 1 one a g false 0 9 5\n"
        "1 1 two a g false 900 9 7",
    )
    assert [row["common_exposed_us"] for row in absent_waits(Run(ranks=(0, 1)), calls).rows()] == [5, 5, 7]


def test_nobody_is_blamed_where_all_members_were_captured_or_are_unknown() -> None:
    assert absent(groups=GROUPS.replace("a     5    2", ""))[1, "one"] is None
    assert absent(groups=None)[1, "one"] is None
    assert absent(groups=None)[0, "two"] == 50


def test_who_took_part_is_told_by_what_was_moved_between_whom_where_no_members_are_listed() -> None:
    """Two captured ranks, and three places in the communicator that send or receive."""
    moved = "rank op group source target\n0 allreduce a 0 1\n1 allreduce a 1 {}\n1 allreduce b 7 9"
    assert absent(groups=None, links=moved.format(2))[1, "one"] == 40
    assert absent(groups=None, links=moved.format(0))[1, "one"] is None
    assert absent(groups=GROUPS.replace("a     5    2", ""), links=moved.format(2))[1, "one"] is None


def test_nobody_is_blamed_where_the_last_of_the_captured_ranks_is_not_known() -> None:
    assert absent(CALLS.replace("50        40      -", "50        -       -"))[0, "one"] is None
    assert absent(CALLS.replace("1    1    one", "1    2    one"))[0, "one"] is None


def test_of_waits_with_a_name_the_least_counts_too() -> None:
    named = CALLS.replace("90      -", "90      85").replace("40      -", "40      35")
    assert (absent(named)[0, "one"], absent(named)[1, "one"]) == (35, 35)
    captured = CALLS.replace("90      -", "90      85").replace("40      -", "40      0")
    assert (absent(captured)[0, "one"], absent(captured)[1, "one"]) == (0, 0)
    one = CALLS.replace("90      -", "90      85")
    assert (absent(one)[0, "one"], absent(one)[1, "one"]) == (40, 40)


@given(st.lists(st.lists(st.integers(0, 99), min_size=2, max_size=2), min_size=1, max_size=5))
def test_nothing_is_waited_for_others_beyond_what_a_captured_rank_waits(waits: list[list[int]]) -> None:
    head = "rank step name op group p2p start_ns elapse_us wait_us absent_us"
    rows = [
        f"{rank} 1 c{at} allReduce a false {at * 200000} 100 {us[rank]} -"
        for at, us in enumerate(waits)
        for rank in (0, 1)
    ]
    found = absent("\n".join([head, *rows]))
    assert all(found[rank, f"c{at}"] == min(us) for at, us in enumerate(waits) for rank in (0, 1))
