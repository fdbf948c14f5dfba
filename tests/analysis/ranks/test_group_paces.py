# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import defaultdict
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.group_paces import group_paces
from advisor.analysis.ranks.meetings import meetings
from advisor.facts.derived import CollectiveCall, Meeting, Overlap
from advisor.facts.observed import Group
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing

CALLS = """
rank step name op        group group_kind p2p   start_ns elapse_us exposed_us size_bytes
0    1    a    allReduce t0    tp         false 1000     15        15         1e6
1    1    a    allReduce t0    tp         false 5000     11        11         1e6
2    1    a    allReduce t1    tp         false 1000     31        31         1e6
3    1    a    allReduce t1    tp         false 2000     30        20         1e6
4    1    a    allReduce t2    tp         false 1000     13        13         1e6
5    1    a    allReduce t2    tp         false 3000     11        11         1e6
0    1    e    alltoallv e0    ep         false 90000    9         9          1e6
2    1    e    alltoallv e0    ep         false 90000    8         8          1e6
1    1    w    allReduce -     tp         false 90000    9         9          1e6
3    1    w    allReduce -     tp         false 90000    8         8          1e6
"""
SPLIT = "rank step compute_us\n0 1 100\n1 1 100\n2 1 140\n3 1 160\n4 1 100\n5 1 100"


def test_a_communicator_is_set_against_others_by_the_shortest_elapse_of_each_meeting():
    calls = read_table(CollectiveCall, CALLS)
    found = {row["member_ranks"]: row for row in group_paces(calls, meetings(calls), read_table(Overlap, SPLIT)).rows()}
    assert found.keys() == {"0-1", "2-3", "4-5"}
    slow = found["2-3"]
    assert (slow["needed_us"], slow["like_us"], slow["others"], slow["calls"]) == (30, 11, 2, 1)
    assert slow["deviation"] > 3 and slow["bare_us"] == pytest.approx(25.0)
    assert (slow["size_ratio"], slow["work_ratio"]) == (1, 1.5)
    assert found["0-1"]["deviation"] == pytest.approx(0, abs=3)


_UNTOLD = """
step name op        group group_kind p2p   shortest_us exposed_us
1    a    allReduce t0    -          false 10          10
1    b    allReduce {}    -          false 30          30
"""


def test_communicators_of_which_nobody_tells_the_kind_ask_for_it_and_are_not_called_fine():
    with pytest.raises(FactMissing) as missing:
        group_paces(Table.empty(CollectiveCall), read_table(Meeting, _UNTOLD.format("t1")))
    assert list(missing.value.tables) == [Group.table]


def test_what_two_ranks_send_each_other_is_compared_with_no_communicator():
    met = "step name op group group_kind p2p shortest_us exposed_us\n1 a allReduce t0 tp false 10 10\n"
    found = group_paces(
        Table.empty(CollectiveCall), read_table(Meeting, met + "1 b batchSendRecv p0 pp true 30 30")
    ).rows()
    assert [row["group"] for row in found] == ["t0"]


def test_the_only_communicator_has_none_beside_it_whatever_its_kind_is():
    assert not len(group_paces(Table.empty(CollectiveCall), read_table(Meeting, _UNTOLD.format("t0"))))


def test_what_a_single_call_takes_beyond_the_next_longest_is_told_apart():
    met = read_table(
        Meeting,
        """
        step name op        group group_kind p2p   shortest_us exposed_us
        1    a    allReduce t0    tp         false 10          10
        1    b    allReduce t0    tp         false 210         210
        2    c    allReduce t0    tp         false 12          12
        2    d    allGather t0    tp         false 900         900
        1    e    allReduce t1    tp         false 10          10
        2    f    allReduce t1    tp         false 10          10
        """,
    )
    found = {row["group"]: row for row in group_paces(Table.empty(CollectiveCall), met).rows()}
    assert (found["t0"]["single_us"], found["t1"]["single_us"]) == ((210 - 12) / 2, 0)


def test_without_sums_of_the_steps_nothing_is_known_of_the_work_and_without_calls_there_is_nothing():
    calls = read_table(CollectiveCall, CALLS)
    assert {row["work_ratio"] for row in group_paces(calls, meetings(calls)).rows()} == {None}
    assert not len(group_paces(Table.empty(CollectiveCall), Table.empty(Meeting)))
    (row,) = group_paces(Table.empty(CollectiveCall), meetings(calls).take(np.arange(5))).rows()[:1]
    assert (row["member_ranks"], row["ranks"], row["needed_us"]) == (None, 0, 11)


RANKS = {"a": (0, 1), "b": (2, 4), "c": (3, 5, 6), "d": (7, 8)}
MEETINGS = st.lists(
    st.tuples(
        st.integers(1, 2), st.sampled_from("abcd"), st.sampled_from(["allReduce", "all_to_all"]), st.integers(1, 40)
    ),
    max_size=9,
)


@given(MEETINGS)
def test_only_communicators_with_as_many_ranks_and_calls_are_alike(drawn):
    met = Table.build(
        Meeting, step=[one[0] for one in drawn], name=["n"] * len(drawn), op=[one[2] for one in drawn],
        group=[one[1] for one in drawn], group_kind=["dp"] * len(drawn), p2p=False,
        shortest_us=[float(one[3]) for one in drawn], exposed_us=[float(one[3]) for one in drawn],
    )  # fmt: skip
    calls = Table.build(
        CollectiveCall, rank=[rank for one in drawn for rank in RANKS[one[1]]],
        step=[one[0] for one in drawn for _ in RANKS[one[1]]], op=[one[2] for one in drawn for _ in RANKS[one[1]]],
        group=[one[1] for one in drawn for _ in RANKS[one[1]]],
    )  # fmt: skip
    even = defaultdict(list)
    for step, group, op, us in drawn:
        if op == "allReduce":
            even[group].append((step, us))
    told = {
        group: (
            len(RANKS[group]),
            len(own) / len({step for step, _ in own}),
            sum(us for _, us in own) / len({s for s, _ in own}),
        )
        for group, own in even.items()
    }
    found = {row["group"]: row for row in group_paces(calls, met).rows()}
    assert found.keys() == told.keys()
    for group, (ranks, count, needed) in told.items():
        like = [one[2] for other, one in told.items() if other != group and one[:2] == (ranks, count)]
        row = found[group]
        assert (row["ranks"], row["calls"], row["others"]) == (ranks, pytest.approx(count), len(like))
        assert row["needed_us"] == pytest.approx(needed)
        assert row["like_us"] == (pytest.approx(median(like)) if like else None)
        assert row["bare_us"] == pytest.approx(count * mean(us for _, us in even[group]))
