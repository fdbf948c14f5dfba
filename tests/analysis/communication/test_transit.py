# SPDX-License-Identifier: Apache-2.0
"""How long data was on its way where the profiler's split of a collective says nothing."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.communication.collective_calls import collective_calls
from advisor.analysis.communication.transit import link_times, split_times
from advisor.facts.observed import Collective, Link, Transfer
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())

CALLS = """
rank step name group op            p2p   start_ns elapse_us transit_us wait_us idle_us
0    1    a    dp    allReduce     false 0        50        0          4       46
0    1    b    dp    allReduce     false 100000   50        12         4       34
0    1    c    dp    allReduce     false 200000   50        0          0       50
0    1    d    dp    allReduce     false 300000   50        0          0       50
0    1    e    dp    allReduce     false 400000   50        0          4       46
0    1    f    dp    allReduce     false 500000   50        -          -       -
"""
PACKETS = """
rank step name group op        link packet_bytes packets transit_us
0    1    a    dp    allReduce HCCS 100000       4       80
0    1    b    dp    allReduce HCCS 100000       4       80
0    1    c    dp    allReduce HCCS 100000       4       80
"""
LINKS = """
rank step group link source target
0    1    dp    HCCS 0      1
0    1    dp    HCCS 0      2
"""


def rows(transfers: bool = True) -> list[dict[str, object]]:
    calls = read_table(Collective, CALLS)
    moved = read_table(Transfer, PACKETS) if transfers else None
    return collective_calls(RUN, calls, None, transfers=moved, links=read_table(Link, LINKS)).rows()


def test_links_tell_what_moved_where_transit_is_written_as_nothing():
    found = rows()
    assert [row["transit_us"] for row in found] == [40, 12, 40, None, None, None]
    assert found[0]["idle_us"] == 6 and found[1]["idle_us"] == 34


def test_idle_is_not_known_where_neither_transit_nor_wait_was_measured():
    assert [(row["wait_us"], row["idle_us"]) for row in rows()[2:4]] == [(None, None)] * 2


def test_idle_is_not_known_where_nothing_tells_what_moved():
    assert [row["idle_us"] for row in rows(transfers=False)] == [None, 34, None, None, None, None]


def test_a_split_with_a_part_that_outlasts_its_call_says_nothing():
    calls = """
    rank step name group op        p2p   start_ns elapse_us transit_us wait_us idle_us
    0    1    a    dp    allReduce false 0        50        2          4       7300
    0    1    b    dp    allReduce false 100000   50        2          51      0
    0    1    c    dp    allReduce false 200000   50        12         4       34
    """
    found = collective_calls(RUN, read_table(Collective, calls), None).rows()
    parts = [tuple(row[name] for name in ("transit_us", "wait_us", "idle_us")) for row in found]
    assert parts == [(None, None, None), (None, None, None), (12, 4, 34)]


TIME = st.sampled_from([0.0, 1.0, 12.0, 40.0, math.nan])


@settings(max_examples=80)
@given(st.lists(st.tuples(TIME, TIME, TIME), min_size=1, max_size=6))
def test_a_split_agrees_with_plain_python(rows):
    """No links known: each packet time counts in full, at most what the call leaves beside its wait."""
    names = [f"call{number}" for number in range(len(rows))]
    transit, wait, took = (np.array([row[place] for row in rows]) for place in range(3))
    idle = 50 - transit - wait
    same = {"rank": 0, "step": 1, "op": ["allReduce"] * len(rows), "group": ["g"] * len(rows)}
    calls = Table.build(
        Collective, **same, name=names, elapse_us=50.0, transit_us=transit, wait_us=wait, idle_us=idle, start_ns=0
    )
    packets = Table.build(Transfer, **same, name=names, link=["HCCS"] * len(rows), transit_us=took)
    for row, *found in zip(rows, *split_times(calls, packets, None), strict=True):
        np.testing.assert_equal([float(value) for value in found], plainly(*row))


def plainly(transit: float, wait: float, took: float) -> list[float]:
    """The same for one call of 50 µs, the packets of which took so long."""
    if transit != 0:
        return [transit, wait, 50 - transit - wait]
    moved = min(took, 50 - (0 if math.isnan(wait) else wait)) if took > 0 else math.nan
    if wait == 0:
        return [moved, math.nan, math.nan]
    return [moved, wait, max(50 - transit - wait - moved, 0) if not math.isnan(moved) else math.nan]


LINK_NAMES = st.sampled_from(["HCCS", "RDMA"])
CALL_NAMES = st.sampled_from(["a", "b", "unseen"])


@settings(max_examples=80)
@given(st.lists(st.tuples(CALL_NAMES, LINK_NAMES, TIME), max_size=6), st.integers(0, 3))
def test_packets_take_their_time_over_the_links_that_work_side_by_side(rows, peers):
    """A card serves its peers in turn; a time of zero is a time, a missing one is none, an unseen call has no row."""
    calls = Table.build(Collective, rank=0, step=1, name=["a", "b"], op="allReduce", group="g", start_ns=[0, 9])
    packets = Table.build(
        Transfer,
        rank=[0] * len(rows), step=[1] * len(rows), group=["g"] * len(rows),
        name=[name for name, _, _ in rows], link=[link for _, link, _ in rows], transit_us=[us for _, _, us in rows],
    )  # fmt: skip
    ways = [(link, 1 + peer) for link in ("HCCS", "RDMA") for peer in range(peers)]
    links = Table.build(
        Link,
        rank=[0] * len(ways), step=[1] * len(ways), group=["g"] * len(ways),
        link=[link for link, _ in ways], source=[0] * len(ways), target=[target for _, target in ways],
    )  # fmt: skip
    for name, found in zip(("a", "b"), link_times(packets, links, calls).tolist(), strict=True):
        parts = [us / (max(peers, 1) if link == "HCCS" else 1) for call, link, us in rows if call == name and us >= 0]
        assert math.isnan(found) if not parts else math.isclose(found, sum(parts), abs_tol=1e-9)
