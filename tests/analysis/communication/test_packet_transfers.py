# SPDX-License-Identifier: Apache-2.0
"""What moving data costs: links side by side, and transfers that follow each other without a pause."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.communication.collective_calls import collective_calls
from advisor.analysis.communication.packet_transfers import packet_transfers
from advisor.chips.chip_files import shipped_chips
from advisor.facts.observed import Collective, Kernel, Link, Transfer
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from tests.analysis import timelines as tl

RUN = run_of_ranks(Run())

CALLS = """
rank step name group op        p2p   start_ns elapse_us transit_us
0    1    a    dp    allReduce false 0        100       100
0    1    b    dp    allReduce false 100000   100       60
0    1    d    dp    allReduce false 200000   30        30
0    1    c    dp    allReduce false 900000   100       100
"""
PACKETS = """
rank step name group op        link packet_bytes packets transit_us
0    1    a    dp    allReduce HCCS 100000       4       200
0    1    a    dp    allReduce RDMA 100000       2       100
0    1    b    dp    allReduce HCCS 100000       4       60
0    1    d    dp    allReduce HCCS 100000       4       30
0    1    c    dp    allReduce HCCS 100000       4       100
0    1    x    dp    allReduce HCCS 100000       4       100
"""
LINKS = """
rank step group link source target
0    1    dp    HCCS 0      1
0    1    dp    HCCS 0      2
0    1    dp    HCCS 1      0
0    1    dp    RDMA 0      8
0    1    dp    RDMA 0      16
"""


def found(kernels: Table[Kernel] | None, links: Table[Link] | None = None) -> list[dict[str, object]]:
    collectives = read_table(Collective, CALLS)
    calls = collective_calls(RUN, collectives, kernels)
    return packet_transfers(RUN, shipped_chips(), read_table(Transfer, PACKETS), calls, links).rows()


def test_links_of_a_mesh_work_side_by_side_and_those_of_a_card_in_turn():
    rows = found(None, read_table(Link, LINKS))
    assert [row["wall_us"] for row in rows] == [50, 50, 60, 30, 100, None]
    assert rows[0]["rate_gbps"] == 2


def test_without_the_matrix_the_time_of_a_call_is_shared_by_the_sums():
    walls = [row["wall_us"] for row in found(None)]
    assert walls[:2] == [pytest.approx(200 / 3), pytest.approx(100 / 3)]


@pytest.mark.parametrize(
    ("chip", "links", "shared"),
    [
        ("", ("HCCS", "RDMA"), [False, False]),
        ("Ascend910B3", ("HCCS", "RDMA"), [False, False]),
        ("Ascend910_9392", ("HCCS", "RDMA"), [True, False]),
        ("Ascend910B", ("HCCS", "SIO"), [True, False]),
        ("", ("SIO", "HCCS"), [False, True]),
    ],
)
def test_all_peers_share_the_hccs_port_of_chips_whose_dies_are_joined_by_sio(chip, links, shared):
    """Some captures name another family for them: then traffic over SIO tells."""
    rows = "\n".join(f"0 1 a dp allReduce {link} 1000000 4 200" for link in links)
    packets = read_table(Transfer, f"rank step name group op link packet_bytes packets transit_us\n{rows}")
    run = run_of_ranks(Run(chip=chip))
    calls = collective_calls(run, read_table(Collective, CALLS), None)
    assert [row["shared_port"] for row in packet_transfers(run, shipped_chips(), packets, calls, None).rows()] == shared


def test_the_last_of_a_train_is_bare_by_itself():
    """Nothing hides what is given out last, however soon the others are done."""
    rows = found(read_table(Kernel, "rank step start_ns duration_us\n0 1 0 200"))
    assert [row["bare_us"] for row in rows if row["name"] == "d"] == [30]
    assert sum(row["bare_us"] for row in rows if row["name"] in ("a", "b")) == 0


def test_a_transfer_behind_computation_is_bare_as_far_as_the_one_that_waits_for_it():
    hides_the_first = read_table(Kernel, "rank step start_ns duration_us\n0 1 0 100")
    rows = found(hides_the_first, read_table(Link, LINKS))
    assert rows[0]["bare_us"] + rows[2]["bare_us"] == pytest.approx(100)
    assert rows[0]["bare_us"] == pytest.approx(50 * 100 / 110)
    assert rows[1]["bare_us"] == 50
    assert rows[3]["bare_us"] == 30
    assert rows[4]["bare_us"] == 100


def test_what_is_bare_is_unknown_without_kernels():
    assert {row["bare_us"] for row in found(None)} == {None}


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES, st.lists(st.integers(0, 30), max_size=6))
def test_no_more_is_bare_than_computation_leaves(kernels, collectives, transit):
    named = tl.collectives(collectives)
    names = [f"call{number}" for number in range(len(named))]
    named = named.having(name=names, transit_us=[(transit + [0] * 6)[number] / 1e3 for number in range(len(named))])
    calls = collective_calls(RUN, named, tl.kernels(kernels))
    packets = Table.build(
        Transfer,
        rank=named["rank"],
        step=named["step"],
        name=names,
        link=["HCCS"] * len(named),
        packet_bytes=1.0,
        packets=1.0,
        transit_us=named["transit_us"],
    )
    rows = packet_transfers(RUN, shipped_chips(), packets, calls, None).rows()
    bare = [row["bare_us"] for row in rows if row["bare_us"] is not None]
    left = [row["exposed_us"] for row in calls.rows() if row["exposed_us"] is not None]
    assert all(row["bare_us"] is None or row["bare_us"] <= row["wall_us"] + 1e-9 for row in rows)
    assert sum(bare) <= sum(left) + 1e-9


TIMES = st.sampled_from([0.0, 10.0, 30.0, math.nan])
PAUSES_NS = st.sampled_from([0, 1_000, 50_000, 50_001, 200_000])
"""On both sides of the pause that ends a train, and on it."""


@settings(max_examples=100)
@given(
    st.lists(st.tuples(PAUSES_NS, TIMES), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["HCCS", "RDMA"]), TIMES), max_size=8),
    st.lists(st.tuples(st.integers(0, 500_000), st.integers(0, 60_000)), max_size=4),
)
def test_what_moving_costs_agrees_with_plain_python(calls, packets, kernels):
    """Calls of 40 µs in a row; packets of calls that were not seen, and times of zero, are among them."""
    start = list(accumulate([40_000 + pause for pause, _ in calls], initial=0))[:-1]
    names = [f"call{number}" for number in range(len(calls))]
    named = Table.build(
        Collective, rank=0, step=1, name=names, op="allReduce", group="g", p2p=0, start_ns=start, elapse_us=40.0,
        transit_us=[took for _, took in calls], wait_us=[1.0] * len(calls), idle_us=[0.0] * len(calls),
    )  # fmt: skip
    work = Table.build(
        Kernel, rank=0, step=1, start_ns=[at for at, _ in kernels], duration_us=[ns / 1e3 for _, ns in kernels]
    )
    found = collective_calls(RUN, named, work)
    moved = Table.build(
        Transfer,
        rank=[0] * len(packets), step=[1] * len(packets), group=["g"] * len(packets),
        name=[f"call{call}" for call, _, _ in packets], link=[link for _, link, _ in packets],
        packet_bytes=[100.0] * len(packets), packets=[3.0] * len(packets), transit_us=[us for _, _, us in packets],
    )  # fmt: skip
    rows, bare = packet_transfers(RUN, shipped_chips(), moved, found, None).rows(), found["exposed_us"].tolist()
    walls = plain_walls(packets, [row["transit_us"] for row in found.rows()])
    trains = plain_trains([pause for pause, _ in calls])
    for row, wall, (call, link, us) in zip(rows, walls, packets, strict=True):
        assert row["rate_gbps"] == (pytest.approx(300 / (us * 1e3)) if us > 0 else None)
        assert row["wall_us"] == (None if wall is None else pytest.approx(wall))
        if wall is None:
            assert row["bare_us"] is None
            continue
        own = next(train for train in trains if call in train)
        beside = sum(
            other or 0.0 for other, (of, over, _) in zip(walls, packets, strict=True) if of in own and over == link
        )
        part = min(sum(bare[of] for of in own) / beside, 1) if beside else math.nan
        assert row["bare_us"] == (None if math.isnan(part) else pytest.approx(wall * part))


def plain_walls(packets, transit):
    """The transit of each call, shared among its packets by the time they took; none where that is not known."""
    found = []
    for call, _, us in packets:
        if call >= len(transit) or math.isnan(us):
            found.append(None)
            continue
        total = sum(other for of, _, other in packets if of == call and not math.isnan(other))
        took = transit[call] if transit[call] else min(total, 40.0)
        found.append(us / total * took if us > 0 else 0.0)
    return found


def plain_trains(pauses):
    """The calls of each train, by the pauses after them; the last of it is a train of its own."""
    trains = [[0]]
    for call, pause in enumerate(pauses[:-1], 1):
        if pause > 50_000:
            trains.append([])
        trains[-1].append(call)
    return [part for train in trains for part in (train[:-1], train[-1:]) if part]


def test_packets_of_whole_lines_are_told_from_others():
    packets = PACKETS.replace("100000       4       60", "102400       4       60")
    calls = collective_calls(RUN, read_table(Collective, CALLS), None)
    rows = packet_transfers(RUN, shipped_chips(), read_table(Transfer, packets), calls, None).rows()
    assert [row["whole_lines"] for row in rows] == [False, False, True, False, False, False]


def test_what_other_kinds_of_collectives_reach_on_the_same_links_stands_beside_each() -> None:
    packets = """
    rank step name group op        link packet_bytes packets transit_us
    0    1    a    dp    allReduce HCCS 2000000      1       100
    0    1    b    dp    allReduce HCCS 2000000      1       200
    0    1    c    ep    allToAllV HCCS 2000000      1       1000
    0    1    d    ep    allToAllV HCCS 100000       1       5
    0    1    e    dp    allReduce RDMA 2000000      1       400
    1    1    c    ep    allToAllV HCCS 2000000      1       1000
    """
    calls = collective_calls(RUN, read_table(Collective, CALLS), None)
    rows = packet_transfers(RUN, shipped_chips(), read_table(Transfer, packets), calls, None).rows()
    assert [row["others_gbps"] for row in rows] == [2, 2, 15, None, None, None]
