# SPDX-License-Identifier: Apache-2.0
"""What links and meetings cost is bounded by what computation does not hide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.links import link_uses
from advisor.analysis.ranks.meetings import meetings
from advisor.analysis.ranks.ranks import rank_times
from advisor.facts.derived import CollectiveCall, Overlap, Removal
from advisor.facts.observed import Link
from advisor.facts.table import Table, read_table


def _links() -> Table[Link]:
    return Table.build(
        Link, rank=[0, 0], step=[1, 1], op=["a", "a"], source=[0, 0], target=[1, 7], link=["HCCS"] * 2,
        size_bytes=[1e6, 1e6], transit_us=[100.0, 100.0],
    )  # fmt: skip


def test_a_link_is_as_exposed_as_the_more_exposed_of_its_ranks() -> None:
    split = Table.build(Overlap, rank=[0, 1], step=[1, 1], comm_us=[100.0, 100.0], exposed_comm_us=[10.0, 40.0])
    uses = link_uses(_links(), split)
    assert dict(zip(uses["target"].tolist(), uses["exposed_share"].tolist(), strict=True)) == pytest.approx(
        {1: 0.4, 7: 0.1}
    )


def test_a_link_wins_as_much_as_the_rank_that_gains_more_without_communication() -> None:
    without = read_table(
        Removal,
        """
        rank kind          name instant_us
        0    communication -    30
        1    communication -    5
        0    operator      Add  99
        """,
    )
    links = Table.concat(Link, [_links(), _links().having(rank=[8, 8], source=[8, 8], target=[9, 1])])
    uses = link_uses(links, None, without=without)
    ways = zip(uses["source"].tolist(), uses["target"].tolist(), strict=True)
    gains = dict(zip(ways, uses["gain_without_comm_us"].tolist(), strict=True))
    assert np.isnan(gains.pop((8, 9)))
    assert gains == {(0, 1): 30, (0, 7): 30, (8, 1): 5}
    assert np.isnan(link_uses(links, None)["gain_without_comm_us"]).all()


def test_without_a_split_of_the_step_exposure_is_missing() -> None:
    assert np.isnan(link_uses(_links(), None)["exposed_share"]).all()


def test_a_meeting_is_exposed_by_the_mean_of_its_ranks() -> None:
    calls = Table.build(
        CollectiveCall, rank=[0, 1], step=[1, 1], name=["x", "x"], op=["a", "a"], group=["g", "g"], p2p=[False, False],
        start_ns=[0, 0], elapse_us=[30.0, 10.0], exposed_us=[20.0, 0.0],
    )  # fmt: skip
    assert meetings(calls)["exposed_us"].tolist() == [10.0]


def test_a_rank_that_waits_in_two_calls_at_once_loses_that_time_once() -> None:
    """Rank 1 comes to both when it is through; its peer waits in them side by side, and in a third one later."""
    calls = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us exposed_us
        0    1    x    allGather a     false 0        100       100
        0    1    y    gather    b     false 10000    98        98
        0    1    z    allGather a     false 200000   30        20
        0    1    s    send      c     true  0        50        50
        1    1    x    allGather a     false 0        20        20
        1    1    y    gather    b     false 10000    3         3
        1    1    z    allGather a     false 200000   5         5
        1    1    s    receive   c     true  0        10        10
        """,
    )
    found = {row["name"]: (row["waited_us"], row["bare_wait_us"]) for row in meetings(calls).rows()}
    assert found == {"x": (40.0, 40.0), "y": (47.5, 12.5), "z": (12.5, 10.0), "s": (20.0, 20.0)}
    split = read_table(Overlap, "rank step span_us\n0 1 1000\n1 1 1000")
    times = rank_times(split, calls, None)
    assert times["made_wait_us"].tolist() == [0.0, 80.0 + 25.0 + 20.0]
    assert times["made_wait_again_us"].tolist() == [0.0, 25.0 + 20.0]
    assert times["made_wait_once_us"].tolist() == [0.0, 80.0]


WAITS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=6)
"""When one rank comes to a call, how long it waits there, and how long the call then takes."""
BUSY = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 20)), max_size=4)


@given(WAITS, BUSY)
def test_waits_cost_no_more_than_the_time_of_all_of_them_and_no_less_than_what_computation_leaves_of_it(
    waits: list[tuple[int, int, int]], busy: list[tuple[int, int]]
) -> None:
    computed = {moment for start, lasts in busy for moment in range(start, start + lasts)}
    waited, columns = set(), []
    for number, (start, waits_us, takes_us) in enumerate(waits):
        waited |= set(range(start, start + waits_us))
        own = range(start, start + waits_us + takes_us)
        columns.append((0, f"g{number}", start * 1000, float(len(own)), float(len(set(own) - computed))))
        columns.append((1, f"g{number}", (start + waits_us) * 1000, float(takes_us), 0.0))
    rank, group, start_ns, elapse_us, exposed_us = zip(*columns, strict=True)
    calls = Table.build(
        CollectiveCall, rank=rank, step=1, name="x", op="a", group=group, p2p=0, start_ns=start_ns,
        elapse_us=elapse_us, exposed_us=exposed_us,
    )  # fmt: skip
    met = meetings(calls)
    lost = float((met["bare_wait_us"] * met["ranks"]).sum())
    assert len(waited - computed) <= round(lost) <= len(waited)
