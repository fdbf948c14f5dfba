# SPDX-License-Identifier: Apache-2.0
"""A step that is longer because another rank is held up is no jitter of the rank that waits."""

from __future__ import annotations

from advisor.analysis.jitter.step_jitters import step_jitters
from advisor.facts.derived import CollectiveCall, Overlap, StepVariation
from advisor.facts.table import Table, read_table

STEPS = "rank step edge span_us slowed_us paused_us left_us"


def left(spans: dict[int, list[float]], exposed: dict[int, list[float]] | None) -> dict[int, list[float]]:
    """What is left of the steps of each rank."""
    rows = [f"{rank} {step} false {us} 0 0 {us}" for rank, of_rank in spans.items() for step, us in enumerate(of_rank)]
    variations = read_table(StepVariation, "\n".join([STEPS, *rows]))
    split = None
    if exposed is not None:
        cells = [f"{rank} {step} {us}" for rank, of_rank in exposed.items() for step, us in enumerate(of_rank)]
        split = read_table(Overlap, "\n".join(["rank step exposed_comm_us", *cells]))
    found = step_jitters(variations, split).rows()
    return {rank: [row["left_us"] for row in found if row["rank"] == rank] for rank in spans}


def test_a_rank_that_waits_for_another_one_has_the_usual_steps() -> None:
    spans = {0: [100.0, 100, 160, 100], 1: [100.0, 100, 160, 100]}
    assert left(spans, {0: [10, 10, 10, 10], 1: [10, 10, 70, 10]}) == {0: spans[0], 1: [100, 100, 100, 100]}


def test_what_all_ranks_communicate_longer_is_no_wait() -> None:
    spans = {0: [100.0, 100, 160, 100], 1: [100.0, 100, 160, 100]}
    assert left(spans, {0: [10, 10, 70, 10], 1: [10, 10, 70, 10]}) == spans


def test_of_a_rank_alone_and_without_the_split_nothing_is_taken_out() -> None:
    alone = {0: [100.0, 100, 160, 100]}
    assert left(alone, {0: [10, 10, 70, 10]}) == alone
    assert left({**alone, 1: [100.0] * 4}, None)[0] == alone[0]


def test_no_more_is_taken_out_than_makes_the_step_longer() -> None:
    spans = {0: [100.0, 100, 100, 100], 1: [100.0, 100, 110, 100]}
    assert left(spans, {0: [10, 10, 10, 10], 1: [10, 10, 70, 10]})[1] == [100, 100, 100, 100]


def test_data_that_move_slowly_in_some_steps_have_a_finding_of_their_own() -> None:
    spans = [100.0, 100, 160, 100, 165, 100]
    rows = [f"0 {step} false {us} 0 0 {us}" for step, us in enumerate(spans)]
    moved = [10.0, 10, 70, 10, 70, 10]
    calls = Table.build(
        CollectiveCall, rank=0, step=range(6), op="allReduce", group="a", p2p=False, elapse_us=moved, transit_us=moved,
        start_ns=[1_000_000 * step for step in range(6)], bare_transit_us=moved, size_bytes=1e8,
    )  # fmt: skip
    found = step_jitters(read_table(StepVariation, "\n".join([STEPS, *rows])), None, calls)
    assert found["moved_us"].tolist() == [0, 0, 60, 0, 60, 0]
    assert found["left_us"].tolist() == [100, 100, 100, 100, 105, 100]
