# SPDX-License-Identifier: Apache-2.0
"""Collectives that a rank lacks are those that other members of its group have, counted by a plain walk."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.capture.attendance import coverage
from advisor.facts.derived import CollectiveCall, RankCoverage
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Capture, Run
from advisor.model.run_of_ranks import RunOfRanks, run_of_ranks

Call = tuple[int, int, str, str]


def run_of(source: str = "text") -> RunOfRanks:
    return run_of_ranks(Run(captures=tuple(Capture(rank=rank, path="", source=source) for rank in (0, 1, 2))))


def lacking(calls: list[Call], source: str = "text", *, p2p: bool = False) -> dict[int, tuple[float, float]]:
    rank, step, group, op = zip(*calls, strict=True)
    table = Table.build(CollectiveCall, rank=rank, step=step, group=group, op=op, p2p=[int(p2p)] * len(calls))
    try:
        rows = coverage(run_of(source), None, table).rows()
    except FactMissing:
        return {}
    return {row["rank"]: (row["needed"], row["matched"]) for row in rows if row["step"] is None}  # type: ignore[misc]


def plain_count(calls: list[Call]) -> dict[int, tuple[float, float]]:
    ranks = {rank for rank, *_ in calls}
    steps = sorted({step for _, step, *_ in calls if ranks == {rank for rank, other, *_ in calls if other == step}})
    kept = [call for call in calls if call[1] in (steps[1:-1] if len(steps) > 2 else steps)]
    whole = held_against_the_most([(rank, (group,), op) for rank, _, group, op in kept])
    each = held_against_the_most([(rank, (group,), f"{op} {step}") for rank, step, group, op in kept])
    return {rank: each[rank] if each[rank][1] < each[rank][0] else count for rank, count in whole.items()}


def held_against_the_most(kept: list[tuple[int, tuple[str], str]]) -> dict[int, tuple[float, float]]:
    made = Counter((group, op, rank) for rank, group, op in kept)
    totals: dict[int, tuple[float, float]] = {}
    shared = set()
    for group, op in {(group, op) for group, op, _ in made}:
        members = {rank for rank, other, _ in kept if other == group}
        most = max(made[group, op, rank] for rank in members)
        shared |= members if len(members) > 1 else set()
        for rank in members:
            own = made[group, op, rank] if most - made[group, op, rank] > 2 else most
            needed, found = totals.get(rank, (0, 0))
            totals[rank] = (needed + most, found + own)
    return {rank: count for rank, count in totals.items() if rank in shared}


CALLS = st.tuples(
    st.integers(0, 2), st.integers(1, 4), st.sampled_from(["a", "b"]), st.sampled_from(["allReduce", "x"])
)


@given(st.lists(CALLS, min_size=1, max_size=60))
def test_each_member_is_held_against_the_one_that_called_most(calls):
    assert lacking(calls) == plain_count(calls)


def test_a_rank_whose_calls_are_gone_in_part_lacks_them():
    calls = [(rank, 1, "dp", "allReduce") for rank in (0, 1) for _ in range(10 if rank else 5)]
    assert lacking(calls) == {0: (10, 5), 1: (10, 10)}


def test_calls_that_one_rank_lacks_in_one_step_and_another_in_the_next_are_told_with_their_steps():
    calls = [
        (rank, step, "dp", "allReduce")
        for rank in (0, 1)
        for step in range(1, 5)
        for _ in range(5 if step == rank + 2 else 10)
    ]
    rank, step, group, op = zip(*calls, strict=True)
    table = Table.build(CollectiveCall, rank=rank, step=step, group=group, op=op, p2p=0)
    rows = coverage(run_of(), None, table).rows()
    told = [(row["rank"], row["step"], row["needed"], row["matched"]) for row in rows if row["step"]]
    assert told == [(0, 2, 10, 5), (1, 3, 10, 5)]


def test_what_lies_at_the_border_of_a_step_is_not_missed():
    assert lacking([(0, 1, "dp", "allReduce")] * 10 + [(1, 1, "dp", "allReduce")] * 8) == {0: (10, 10), 1: (10, 10)}


def test_sends_and_receives_and_summaries_of_a_cluster_tell_nothing():
    calls = [(0, 1, "pp", "send")] * 9 + [(1, 1, "pp", "send")]
    assert lacking(calls, p2p=True) == {}
    assert lacking(calls, "cluster") == {}


def test_what_a_rank_tells_of_itself_stays():
    own = Table.build(
        RankCoverage,
        rank=[4],
        step=[2],
        of=["launches"],
        by=["kernels"],
        needed=[5],
        matched=[2],
        file=["trace_view.json"],
    )
    assert coverage(run_of(), own, None).rows() == own.rows()


def test_where_nothing_is_known_nothing_is_said():
    with pytest.raises(FactMissing):
        coverage(run_of(), None, None)
