# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections import defaultdict
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.kernel_counts import kernel_lengths, shape_counts
from advisor.facts.derived import PhaseLaunch
from advisor.facts.observed import ApiTotal, Kernel
from advisor.facts.table import Table, read_table

RAN = st.tuples(
    st.integers(0, 2),
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from(["1,8", "2,8", "3,8", None]),
    st.sampled_from([0.0, 0.4, 3.0, 3.999, 9.75, 10.0, 99.5, 100.0, 5000.0, math.nan]),
)


def ran(rows: list[tuple[int, int | None, str | None, float]]) -> Table[Kernel]:
    return Table.build(
        Kernel,
        rank=[rank for rank, *_ in rows],
        step=[step for _, step, *_ in rows],
        input_shapes=[shapes for _, _, shapes, _ in rows],
        duration_us=[us for *_, us in rows],
    )


@given(st.lists(RAN, max_size=40), st.integers(0, 100))
def test_lengths_tell_how_many_kernels_are_shorter_than_any_whole_number_of_microseconds(rows, limit):
    found = kernel_lengths(ran(rows)).rows()
    for rank in {rank for rank, *_ in rows}:
        numbered = any(step is not None for one, step, *_ in rows if one == rank)
        us = [us for one, step, _, us in rows if one == rank and (step is not None or not numbered)]
        mine = [row for row in found if row["rank"] == rank]
        known = [one for one in us if not math.isnan(one)]
        assert sum(row["kernels"] for row in mine) == len(us)
        shorter = [row["kernels"] for row in mine if row["from_us"] is not None and row["from_us"] < limit]
        assert sum(shorter) == sum(one < limit for one in known)
        assert sum(row["total_us"] for row in mine) == pytest.approx(sum(known))
        (middle,) = {row["middle_us"] for row in mine}
        assert middle == (pytest.approx(median(known)) if known else None)


def test_kernels_of_a_step_before_the_first_marked_one_are_none_of_those_per_step():
    """A device that begins the steps late still runs what was launched before them."""
    (row,) = kernel_lengths(ran([(0, None, None, 1.5)] * 3 + [(0, 1, None, 1.5), (0, 2, None, 1.5)])).rows()
    assert (row["kernels"], row["total_us"]) == (2, 3.0)


def test_calls_are_told_of_ranks_whose_launches_were_recorded_and_phases_do_not_count_again() -> None:
    launched = read_table(PhaseLaunch, "rank engine_phase kernels calls\n0 - 400 10\n0 decode 300 3\n1 - 2 4")
    found = kernel_lengths(ran([(rank, 1, None, 3.0) for rank in (0, 1, 2)]), launched).rows()
    assert [row["calls_per_kernel"] for row in found] == [0.025, 1.0, None]


def test_where_no_launch_was_recorded_totals_of_calls_tell_how_many_replay_a_graph() -> None:
    """Of ranks without a replay it stays unknown, for operators may be launched below what was counted."""
    totals = read_table(
        ApiTotal,
        "rank kind name activity calls\n0 api aclmdlRIExecuteAsync replay 2\n0 launch launch - 3\n"
        "0 api aclrtMemcpyAsync copy 9\n1 launch launch - 3\n2 api aclmdlRIExecuteAsync replay 50",
    )
    kernels = ran([(rank, 1, None, 3.0) for rank in (0, 1, 2) for _ in range(20)])
    found = kernel_lengths(kernels, totals=totals).rows()
    assert [row["calls_per_kernel"] for row in found] == [0.25, None, 1.0]


@given(st.lists(RAN, max_size=40))
def test_new_shapes_are_those_that_no_earlier_step_had(rows):
    found = {(row["rank"], row["step"]): row for row in shape_counts(ran(rows)).rows()}
    assert set(found) == {(rank, step) for rank, step, *_ in rows}
    seen: dict[int, set[str]] = defaultdict(set)
    told = {rank for rank, _, shapes, _ in rows if shapes is not None}
    for rank, step in sorted(found, key=lambda cell: (cell[0], cell[1] is None, cell[1] or 0)):
        here = {shapes for one, at, shapes, _ in rows if (one, at) == (rank, step) and shapes is not None}
        row = found[rank, step]
        if rank not in told:
            assert (row["distinct_shapes"], row["new_shapes"]) == (None, None)
        else:
            assert (row["distinct_shapes"], row["new_shapes"]) == (len(here), len(here - seen[rank]))
        seen[rank] |= here


@pytest.mark.parametrize(
    ("graph", "each"), [([2, 2, 2, None], 0.25), ([2, 2, 2, 2], 0), ([None, None, None, None], math.nan)]
)
def test_only_kernels_that_no_graph_ran_count_as_launched(graph: list[int | None], each: float):
    kernels = Table.build(Kernel, rank=[0] * 4, step=[1] * 4, graph=graph, duration_us=[3.0] * 4)
    (length,) = kernel_lengths(kernels).rows()
    assert length["calls_per_kernel"] == (None if math.isnan(each) else each)
    linked = Table.build(PhaseLaunch, rank=[0], calls=[3.0], kernels=[3.0])
    (length,) = kernel_lengths(kernels, linked).rows()
    assert length["calls_per_kernel"] == (1 if math.isnan(each) else each)
