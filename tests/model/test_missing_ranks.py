# SPDX-License-Identifier: Apache-2.0
"""The ranks that were not captured, held against a count one by one; and told at once, however many there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.model.run import Parallel, Run


@given(st.sets(st.integers(-2, 12)), st.integers(0, 10))
def test_missing_ranks_are_those_of_the_job_that_are_not_there(ranks: set[int], world: int) -> None:
    run = Run(name="x", ranks=tuple(sorted(ranks)), world_size=world)
    told = set[int]()
    for part in filter(None, run.missing_ranks.split(", ")):
        first, _, last = part.partition("-")
        told |= set(range(int(first), int(last or first) + 1))
    assert told == {*range(world)} - ranks


def test_ranks_of_the_largest_jobs_are_told_without_counting_them() -> None:
    assert Run(name="x", ranks=(0, 7), world_size=1 << 60).missing_ranks == f"1-6, 8-{(1 << 60) - 1}"


def test_missing_stages_are_those_of_which_no_rank_is_there() -> None:
    parallel = Parallel(pp=4, stages=((0, 1), (2, 3), (4, 5), (6, 7)))
    assert Run(ranks=(3,), parallel=parallel).missing_stages == "0, 2-3"
    assert Run(ranks=(0, 3, 4, 7), parallel=parallel).missing_stages == ""
    assert Run(ranks=(0, 1)).missing_stages == ""
