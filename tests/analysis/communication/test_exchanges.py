# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.communication.exchanges import exchanges
from advisor.analysis.communication.exchanging_kernels import exchanging_kernels
from advisor.analysis.ranks.rank_splits import rank_splits
from advisor.analysis.ranks.ranks import rank_times
from advisor.facts.derived import CollectiveCall, Exchange, ExchangingKernel, Overlap, Removal
from advisor.facts.observed import Group, Kernel
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from tests.analysis import timelines as tl

US = 1000
RUN = Run()


def kernels_of(
    times: Mapping[int, Sequence[tuple[float, float]]], op_type: str = "MatmulAllReduce"
) -> Table[ExchangingKernel]:
    """Kernels by rank, each from its start to its end in µs by the clock of the rank."""
    rows = [(rank, start, end) for rank, of_rank in times.items() for start, end in of_rank]
    return Table.build(
        ExchangingKernel,
        rank=[row[0] for row in rows],
        step=1,
        op_type=op_type,
        start_ns=[round(row[1] * US) for row in rows],
        elapse_us=[row[2] - row[1] for row in rows],
        bare_us=[row[2] - row[1] for row in rows],
    )


def meet(paces: Sequence[Sequence[int]], clock: Sequence[int], work: int = 50) -> dict[int, list[tuple[float, float]]]:
    """Kernels of one group: each rank computes so long before each, and all are through when the last one is."""
    now = [0.0] * len(paces)
    found: dict[int, list[tuple[float, float]]] = {rank: [] for rank in range(len(paces))}
    for turn in range(len(paces[0])):
        begun = [at + pace[turn] for at, pace in zip(now, paces, strict=True)]
        end = max(begun) + work
        for rank, start in enumerate(begun):
            found[rank].append((start + clock[rank], end + clock[rank]))
        now = [end] * len(paces)
    return found


def of_ranks(found: Mapping[int, list[tuple[float, float]]], ranks: Sequence[int]) -> dict[int, list]:
    return dict(zip(ranks, found.values(), strict=True))


PACES = st.lists(st.lists(st.integers(1, 5000), min_size=12, max_size=12), min_size=2, max_size=4)
CLOCKS = st.lists(st.integers(0, 10**7), min_size=4, max_size=4)


@given(PACES, CLOCKS)
def test_what_is_beyond_the_shortest_of_a_group_is_waiting_whatever_the_clocks_count_from(paces, clocks):
    found = exchanges(kernels_of(meet(paces, clocks)), None, None)
    begun = np.array(paces)
    latest = begun.max(axis=0)
    for rank in range(len(paces)):
        own = found.take(found["rank"] == rank)
        assert own["inside_wait_us"] == pytest.approx(latest - begun[rank])
        assert (own["ranks"] == len(paces)).all()
        assert (begun[own["last_rank"], np.arange(12)] == latest).all()


TWO_GROUPS = read_table(
    Group,
    """
    group group_kind rank position
    a     tp         0    0
    a     tp         1    1
    b     tp         2    0
    b     tp         3    1
    """,
)


@given(st.lists(PACES.filter(lambda paces: len(paces) == 2), min_size=2, max_size=2), CLOCKS)
def test_groups_that_go_at_their_own_pace_are_told_apart(paces, clocks):
    first, second = (meet(one, clocks[2 * number :]) for number, one in enumerate(paces))
    rows = exchanges(kernels_of(of_ranks(first, (0, 1)) | of_ranks(second, (2, 3))), TWO_GROUPS, None)
    for number, one in enumerate(paces):
        begun = np.array(one)
        for place in range(2):
            own = rows.take(rows["rank"] == 2 * number + place)
            waits, truth = own["inside_wait_us"], begun.max(axis=0) - begun[place]
            assert waits == pytest.approx(truth) or (own["ranks"] == 4).all()  # by chance all may end together


def uneven(ranks: int, *, seed: int, work: int = 50) -> dict[int, list[tuple[float, float]]]:
    generator = np.random.default_rng(seed)
    return meet(generator.integers(1, 3000, (ranks, 30)).tolist(), [7_000_000 * rank for rank in range(ranks)], work)


def test_of_two_groups_no_rank_waits_for_one_of_the_other():
    both = of_ranks(uneven(2, seed=1), (0, 1)) | of_ranks(uneven(2, seed=2), (2, 3))
    found = exchanges(kernels_of(both), TWO_GROUPS, None)
    assert set(found["ranks"]) == {2}
    for ranks in ((0, 1), (2, 3)):
        assert set(found.take(np.isin(found["rank"], ranks))["last_rank"]) == set(ranks)


def test_communicators_in_use_tell_groups_that_nobody_described():
    both = of_ranks(uneven(2, seed=1), (0, 2)) | of_ranks(uneven(2, seed=2), (1, 3))
    calls = read_table(CollectiveCall, "rank group p2p\n0 x false\n2 x false\n1 y false\n3 y false")
    found = exchanges(kernels_of(both), None, calls)
    assert set(found["ranks"]) == {2}
    assert set(found.take(np.isin(found["rank"], (0, 2)))["last_rank"]) == {0, 2}


def test_stages_are_groups_of_their_own():
    both = of_ranks(uneven(2, seed=1), (0, 1)) | of_ranks(uneven(2, seed=2), (2, 3))
    kernels = kernels_of(both)
    assert set(exchanges(kernels.having(stage=kernels["rank"] // 2), None, None)["ranks"]) == {2}


def test_nothing_is_told_where_no_known_set_of_ranks_ends_together():
    both = of_ranks(uneven(2, seed=1), (0, 2)) | of_ranks(uneven(2, seed=2), (1, 3))
    found = exchanges(kernels_of(both), TWO_GROUPS, None)
    assert np.isnan(found["ranks"]).all() and np.isnan(found["inside_wait_us"]).all()


def test_kernels_that_begin_together_and_end_apart_wait_for_nobody():
    """Uneven work: ranks go on at once, and what takes longer is not waiting."""
    work = np.random.default_rng(3).integers(100, 3000, (2, 30))
    times = {rank: [(5000.0 * k, 5000.0 * k + work[rank][k]) for k in range(30)] for rank in range(2)}
    assert np.isnan(exchanges(kernels_of(times), None, None)["inside_wait_us"]).all()


def test_a_rank_that_was_captured_alone_is_told_nothing():
    found = exchanges(kernels_of({3: [(0, 100), (200, 500)]}), TWO_GROUPS, None)
    assert len(found) == 2 and np.isnan(found["bare_wait_us"]).all() and np.isnan(found["ranks"]).all()


def test_a_single_exchange_that_no_other_rank_has_says_nothing_of_the_others():
    times = uneven(2, seed=4)
    times[1] = times[1][:-1]
    found = exchanges(kernels_of(times), None, None)
    assert np.isnan(found["ranks"]).sum() == 1


def test_the_last_rank_of_a_slower_group_is_told_by_how_much_its_work_is_longer():
    even = meet([[100, 20]] * 2, [0, 0], work=50)
    slow = meet([[100, 20], [130, 50]], [0, 0], work=80)
    groups, both = TWO_GROUPS, of_ranks(even, (0, 1)) | of_ranks(slow, (2, 3))
    kernels = kernels_of(both)
    rows = exchanges(kernels.having(stage=kernels["rank"]), groups, None).rows()
    assert {row["rank"]: row["beyond_us"] for row in rows if row["beyond_us"] is not None} == {0: -30, 3: 30}


SPANS = st.lists(st.tuples(tl.MOMENTS, st.integers(0, 60)), max_size=6)


@given(SPANS, SPANS, SPANS)
def test_bare_is_the_part_in_which_nothing_else_runs(inside, others, talk):
    """Of kernels that exchange at once it is charged to the one that began first, so that it adds up."""
    rows = [(0, 1, *span, "MoeDistributeDispatchV2") for span in inside] + [(0, 1, *span, "Add") for span in others]
    talking = tl.collectives([(0, 1, *span, False) for span in talk])
    found = exchanging_kernels(run_of_ranks(RUN), tl.kernels(rows), talking)
    hidden = (
        tl.moments(*zip(*((at, at + length) for at, length in others + talk), strict=True)) if others + talk else set()
    )
    alone = tl.moments(*zip(*((at, at + length) for at, length in inside), strict=True)) if inside else set()
    assert found["bare_us"].sum() * US == pytest.approx(len(alone - hidden))
    assert (found["bare_us"] <= found["elapse_us"]).all()


def test_a_kernel_that_exchanges_is_found_by_its_type():
    table = read_table(
        Kernel,
        "rank step op_type start_ns duration_us\n0 1 MatMulV3 1000 5\n0 1 MatmulReduceScatter 3000 9\n0 1 Add 20000 1",
    )
    [row] = exchanging_kernels(run_of_ranks(RUN), table, None).rows()
    assert (row["op_type"], row["elapse_us"], row["bare_us"]) == ("MatmulReduceScatter", 9, 6)


SPLIT = """
rank step span_us compute_us comm_us exposed_comm_us overlapped_us free_us
0    1    1000    800        150     100             50            100
1    1    1000    900        60      50              10            50
2    1    1000    1000       0       0               0             0
"""
EXCHANGED = """
rank step op_type         elapse_us bare_us ranks inside_wait_us bare_wait_us last_rank
0    1    MatmulAllReduce 300       300     2     200            200          1
0    1    MatmulAllReduce 200       100     2     120            100          1
1    1    MatmulAllReduce 180       180     2     0              0            1
1    1    MatmulAllReduce 80        80      2     0              0            1
2    1    MatmulAllReduce 70        60      -     -              -            -
"""


def test_what_kernels_wait_inside_is_communication_of_the_rank_and_the_parts_still_add_up():
    split = read_table(Overlap, SPLIT)
    found = rank_splits(split, read_table(Exchange, EXCHANGED))
    assert found["compute_us"].tolist() == [500, 900, 1000]
    assert found["exposed_comm_us"].tolist() == [400, 50, 0]
    assert found["comm_us"].tolist() == [450, 60, 0]
    assert found["inside_wait_us"].tolist() == [300, 0, 0]
    assert found["untold_us"].tolist() == [0, 0, 60]
    assert (found["compute_us"] + found["exposed_comm_us"] + found["free_us"]).tolist() == found["span_us"].tolist()


def test_what_a_rank_gains_without_communication_includes_what_it_waits_in_such_kernels():
    without = read_table(
        Removal,
        """
        rank kind          name      instant_us
        0    communication -         40
        1    communication -         7
        2    operator      MatmulAdd 50
        """,
    )
    found = rank_splits(read_table(Overlap, SPLIT), read_table(Exchange, EXCHANGED), without)
    gains = dict(zip(found["rank"].tolist(), found["gain_without_comm_us"].tolist(), strict=True))
    assert math.isnan(gains.pop(2)) and gains == {0: 340, 1: 7}


def test_without_a_list_of_kernels_the_split_is_as_it_was_recorded():
    [first, *_] = rank_splits(read_table(Overlap, SPLIT), None).rows()
    assert (first["compute_us"], first["inside_wait_us"], first["untold_us"]) == (800, None, None)


def test_more_waiting_than_computation_is_never_moved():
    exchanged = read_table(Exchange, EXCHANGED)
    longer = exchanged.having(bare_wait_us=exchanged["bare_wait_us"] * 10)
    assert rank_splits(read_table(Overlap, SPLIT), longer)["compute_us"].min() == 0


def test_a_rank_that_others_wait_for_in_such_kernels_comes_last_as_in_collectives():
    rows = rank_times(read_table(Overlap, SPLIT), None, None, exchanged=read_table(Exchange, EXCHANGED)).rows()
    assert [row["meetings"] for row in rows] == [2, 2, 0]
    assert [row["last_share"] for row in rows] == [0, 1, None]
    assert [row["made_wait_us"] for row in rows] == [0, 300, None]
    assert [row["made_wait_again_us"] for row in rows] == [0, 100, None]
    assert [row["made_wait_once_us"] for row in rows] == [0, 200, None]
    assert rows[1]["blamed_share"] == 1


def test_work_beyond_that_of_other_groups_counts_as_computation_of_the_last_rank():
    exchanged = read_table(Exchange, "rank step beyond_us last_rank\n1 1 40 1\n1 1 -10 1\n0 1 -25 0")
    rows = rank_times(read_table(Overlap, SPLIT), None, None, exchanged=exchanged).rows()
    assert [row["compute_us"] for row in rows] == [800, 930, 1000]
