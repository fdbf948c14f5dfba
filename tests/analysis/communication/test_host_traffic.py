# SPDX-License-Identifier: Apache-2.0
"""What moves between ranks of one host, and whether links of its board join them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.communication.host_traffic import host_traffic
from advisor.facts.derived import PacketTransfer
from advisor.facts.observed import Group, Link
from advisor.facts.table import Table, read_table
from advisor.model.run import MOST_ON_HOST, Capture, Run

GROUPS = """
group group_kind rank
a     tp         0
a     tp         1
b     dp         0
b     dp         2
c     world      0
c     world      1
c     world      2
"""
MOVES = """
rank step group group_kind link packet_bytes packets wall_us bare_us rate_gbps
0    1    a     tp         RDMA 2000000      10      1000    600     20
0    2    a     tp         RDMA 2000000      10      1000    200     20
0    1    b     dp         HCCS 2000000      30      1000    0       60
0    1    b     dp         HCCS 2000000      50      1000    0       50
0    1    b     dp         HCCS 100          1       1       1       0.1
0    1    c     world      RDMA 1000000      1       50      50      20
0    1    c     world      HCCS 1000000      3       50      0       60
"""


def _run(*hosts: str) -> Run:
    return Run(captures=tuple(Capture(rank=rank, path="", source="text", host=host) for rank, host in enumerate(hosts)))


def _found(run: Run, links: str = "", groups: str = GROUPS) -> dict[tuple[object, object], dict[str, object]]:
    pairs = read_table(Link, f"rank group link source target\n{links}") if links else None
    rows = host_traffic(run, read_table(PacketTransfer, MOVES), read_table(Group, groups), pairs).rows()
    return {(row["group"], row["link"]): row for row in rows}


def test_transfers_of_a_communicator_inside_one_host_are_added_up_by_kind_of_link() -> None:
    found = _found(_run("x", "x", "y"))
    assert found.keys() == {("a", "RDMA")}
    row = found["a", "RDMA"]
    assert (row["host"], row["members"], row["neighbours"], row["group_kind"]) == ("x", 2, 2, "tp")
    assert (row["wall_us"], row["bare_us"], row["rate_gbps"], row["near_share"]) == (2000, 800, 20, 0)


def test_a_communicator_that_uses_two_kinds_of_links_says_how_much_stays_on_the_board() -> None:
    found = _found(_run("x", "x", "x"))
    assert found["c", "RDMA"]["near_share"] == found["c", "HCCS"]["near_share"] == 0.75


def test_the_bandwidth_of_one_link_of_the_board_is_that_of_large_packets() -> None:
    assert _found(_run("x", "x", "x"))["a", "RDMA"]["near_gbps"] == 60
    assert _found(_run("x", "x", "y"))["a", "RDMA"]["near_gbps"] == 60


@pytest.mark.parametrize(
    ("links", "joined"),
    [
        ("", None),
        ("0 a RDMA 0 1", None),
        ("0 a HCCS 0 1", True),
        ("0 b HCCS 0 2\n1 c SIO 2 1", True),
        ("0 b HCCS 0 2", False),
        ("0 unknown HCCS 0 1", None),
        ("0 a HCCS - 1", None),
    ],
    ids=["not recorded", "network", "pair", "by way of another", "apart", "numbers of an unknown group", "no rank"],
)
def test_ranks_are_joined_where_traffic_over_links_of_the_board_leads_from_one_to_the_other(links, joined) -> None:
    assert _found(_run("x", "x", "x"), links)["a", "RDMA"]["joined"] is joined


@pytest.mark.parametrize(
    "hosts",
    [("x", "y", "y"), ("", "", ""), ("x", "", "y"), ("x",)],
    ids=["two", "no names", "one without", "not captured"],
)
def test_nothing_is_said_of_communicators_whose_members_are_not_known_to_share_a_host(hosts: tuple[str, ...]) -> None:
    assert not any(group == "a" for group, _ in _found(_run(*hosts)))


def test_a_name_that_more_ranks_share_than_a_server_has_devices_is_none() -> None:
    assert _found(_run(*["x"] * MOST_ON_HOST))
    assert not _found(_run(*["x"] * (MOST_ON_HOST + 1)))


def test_nothing_follows_from_nothing() -> None:
    assert not len(host_traffic(_run("x"), Table.empty(PacketTransfer), Table.empty(Group)))
    assert not len(host_traffic(Run(), read_table(PacketTransfer, MOVES), read_table(Group, GROUPS)))


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), max_size=6)


@settings(max_examples=80)
@given(PAIRS, st.sets(st.integers(0, 5), min_size=2))
def test_who_is_joined_agrees_with_plain_python(pairs: list[tuple[int, int]], members: set[int]) -> None:
    groups = "group group_kind rank\n" + "\n".join(f"a tp {rank}" for rank in sorted(members))
    links = read_table(
        Link, "rank group link source target\n" + "\n".join(f"{one} a HCCS {one} {other}" for one, other in pairs)
    )
    moved = read_table(PacketTransfer, "rank group link packet_bytes packets wall_us\n0 a RDMA 10 1 5")
    (row,) = host_traffic(_run(*"xxxxxx"), moved, read_table(Group, groups), links if pairs else None).rows()
    reached = {min(members)}
    for _ in range(6):
        reached |= {rank for pair in pairs for rank in pair if reached & set(pair)}
    assert row["joined"] is (members <= reached if pairs else None)
