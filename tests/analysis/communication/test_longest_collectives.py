# SPDX-License-Identifier: Apache-2.0
"""The longest collective of each kind, beside its like and beside other ranks."""

from __future__ import annotations

import statistics

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.communication.longest_collectives import longest_calls
from advisor.facts.derived import CollectiveCall
from advisor.facts.table import Table, read_table
from advisor.model.run import Run

RUN = Run(ranks=(0, 1, 2))
CALLS = """
rank step name                  op        group p2p   start_ns elapse_us exposed_us size_bytes
0    1    hcom_allReduce__1_0_1 allReduce a     false 1000     80        60         100
0    1    hcom_allReduce__1_1_1 allReduce a     false 900000   2         2          300
0    1    hcom_allReduce__1_2_1 allReduce a     false 950000   4         4          500
0    1    hcom_send__2_0_1      send      b     true  300      34        34         100
1    1    hcom_allReduce__1_0_1 allReduce a     false 7000     75        75         100
"""


def test_a_call_stands_beside_the_others_of_its_kind_and_beside_itself_on_other_ranks():
    found = longest_calls(RUN, read_table(CollectiveCall, CALLS)).rows()
    first, alone = found
    assert (first["name"], first["others"], first["others_us"], first["others_bytes"]) == (
        "hcom_allReduce__1_0_1", 2, 3, 400,
    )  # fmt: skip
    assert (first["seen_on"], first["shortest_us"], first["exposed_part"]) == (2, 75, 0.6)
    assert (alone["rank"], alone["others"], alone["others_us"], alone["shortest_us"]) == (1, 0, None, 75)


def test_only_the_first_of_a_communicator_opens_it():
    later = CALLS.replace("1_0_1 allReduce a     false 1000 ", "1_0_1 allReduce a     false 990000")
    found = [longest_calls(RUN, read_table(CollectiveCall, text)).rows()[0]["opening"] for text in (CALLS, later)]
    assert found == [True, False]


def in_turn(*steps: list[int]) -> list[float | None]:
    """Per step, with calls of so many µs, of its longest: the median of the calls in its place in other steps."""
    rows = [(step, us) for step, calls in enumerate(steps, 1) for us in calls]
    calls = Table.build(
        CollectiveCall,
        rank=0,
        step=[step for step, _ in rows],
        op="allReduce",
        group="g",
        p2p=0,
        start_ns=[1_000_000 * number for number in range(len(rows))],
        elapse_us=[float(us) for _, us in rows],
    )
    return [row["in_turn_us"] for row in longest_calls(RUN, calls).rows()]


def test_the_longest_of_a_step_stands_beside_the_calls_in_its_place_in_other_steps():
    assert in_turn([50, 6, 7], [50, 60, 7], [52, 6, 7], [53, 8, 7]) == [52, 6, 50, 50]


def test_with_a_single_other_step_or_other_numbers_of_calls_none_is_in_its_place():
    assert in_turn([50, 6], [50, 60]) == [None, None]
    assert in_turn([50, 6], [50, 60], [50, 60, 7]) == [None, None, None]


@settings(max_examples=60)
@given(st.integers(1, 5).flatmap(lambda size: st.lists(st.lists(st.integers(1, 90), min_size=size, max_size=size))))
def test_calls_in_the_same_place_agree_with_plain_python(steps):
    expected = []
    for number, own in enumerate(steps):
        place = own.index(max(own))
        others = [calls[place] for other, calls in enumerate(steps) if other != number]
        expected.append(statistics.median(others) if len(others) > 1 else None)
    assert (in_turn(*steps) if steps else []) == expected


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 50)), unique_by=lambda r: (r[0], r[1], r[2])
    )
)
def test_longest_calls_agree_with_plain_python(rows):
    """Each call by its rank, kind and length; the k-th of a kind on one rank meets the k-th on another."""
    kinds = ("allReduce", "allGather")
    calls = Table.build(
        CollectiveCall,
        rank=[rank for rank, _, _ in rows],
        step=1,
        name=[kinds[kind] for _, kind, _ in rows],
        op=[kinds[kind] for _, kind, _ in rows],
        group=["g"] * len(rows),
        p2p=0,
        start_ns=list(range(len(rows))),
        elapse_us=[float(length) for _, _, length in rows],
        transit_us=[length / 2 for _, _, length in rows],
    )
    found = {
        (row["rank"], row["op"]): row
        for row in longest_calls(RUN, calls if rows else Table.empty(CollectiveCall)).rows()
    }
    lengths = {key: [n for r, k, n in rows if (r, kinds[k]) == key] for key in {(r, kinds[k]) for r, k, _ in rows}}
    assert found.keys() == lengths.keys()
    for (rank, op), own in lengths.items():
        row, turn = found[rank, op], own.index(max(own))
        same = [other[turn] for (_, kind), other in lengths.items() if kind == op and len(other) > turn]
        rest = [length for place, length in enumerate(own) if place != turn]
        assert (row["elapse_us"], row["seen_on"], row["shortest_us"]) == (max(own), len(same), min(same))
        assert row["others_us"] == (statistics.median(rest) if rest else None)
        assert row["others_transit_us"] == (statistics.median(rest) / 2 if rest else None)
