# SPDX-License-Identifier: Apache-2.0
"""Ranks that meet in every step lose in each what the host loses that is furthest behind in it."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.host_turns import host_turns
from advisor.facts import read_table
from advisor.facts.derived import LaunchDelay, Overlap

SPLIT = "\n".join(
    f"{rank} {step} {rank // 3} {0 if rank % 3 == step % 3 else 40} 100" for rank in range(6) for step in range(3)
)
"""Two stages of three ranks; in each step another one waits for nobody."""


def turns_of(held: str, split: str = SPLIT) -> list[dict[str, Any]]:
    return host_turns(
        read_table(LaunchDelay, "rank step cause lost_us longest_us\n" + held),
        read_table(Overlap, "rank step stage exposed_comm_us span_us\n" + split),
    ).rows()


def test_each_step_loses_what_the_host_loses_that_is_last_in_it() -> None:
    rows = turns_of("0 0 host 30 20\n0 0 host 5 9\n1 0 host 6 6\n1 1 host 33 33\n2 2 read 24 2\n0 2 gc 99 99")
    mine = [row for row in rows if row["stage"] == 0]
    assert [(row["rank"], row["step"]) for row in mine] == [(0, 0), (1, 1), (2, 2)]
    assert [row["held_up_us"] for row in mine] == [35, 33, 24]
    assert [row["imposed_us"] for row in mine] == [32, 33, 24]  # beyond the middle of the others, of which one lost 6
    assert [row["pause_us"] for row in mine] == [20, 33, None]
    assert [row["rank_lost_us"] for row in mine] == pytest.approx([35 / 3, 39 / 3, 24 / 3])
    assert {row["most_lost_us"] for row in mine} == {13}
    assert {row["least_lost_us"] for row in mine} == {0}


def test_what_follows_a_wait_counts_and_once_where_the_wait_is_for_a_value_that_is_read() -> None:
    rows = turns_of("0 0 host 3 2\n0 0 read 20 9\n0 0 synchronise 24 9\n1 1 synchronise 33 33")
    assert [row["lost_us"] for row in rows if row["stage"] == 0] == [27, 33, 0]


def test_a_step_at_the_edge_that_lost_its_pause_is_not_taken_for_the_best_one() -> None:
    """The last step ends with its last task, without the pause before a next one: it loses less than any whole step."""
    losses = [(0, 0, 30), (1, 0, 20), (0, 1, 20), (1, 1, 30), (0, 2, 30), (1, 2, 20), (0, 3, 5), (1, 3, 15)]
    split = "\n".join(f"{rank} {step} 0 0 100" for rank, step, _ in losses)
    rows = turns_of("\n".join(f"{rank} {step} host {us} {us}" for rank, step, us in losses), split)
    assert {row["least_lost_us"] for row in rows} == {20}


def test_of_two_steps_both_count_for_there_is_none_between() -> None:
    held = "0 0 host 30 30\n1 0 host 9 9\n0 1 host 8 8\n1 1 host 7 7"
    rows = turns_of(held, "0 0 0 0 9\n1 0 0 0 9\n0 1 0 0 9\n1 1 0 0 9")
    assert {row["least_lost_us"] for row in rows} == {7}


def test_a_rank_for_which_nobody_waits_holds_nobody_up() -> None:
    (row,) = (row for row in turns_of("2 0 host 30 30\n0 0 host 4 4") if (row["stage"], row["step"]) == (0, 0))
    assert (row["rank"], row["imposed_us"], row["held_up_us"]) == (2, 0, 2)


@pytest.mark.parametrize(
    ("held", "split"),
    [("0 0 host 30 30", "0 0 0 0 100"), ("0 9 host 30 30", "0 0 0 0 100\n1 0 1 0 100")],
    ids=["a lone rank", "ranks of stages of their own"],
)
def test_there_are_no_turns_without_peers(held: str, split: str) -> None:
    assert turns_of(held, split) == []


LOSSES = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 2)), st.integers(0, 99), min_size=1)


@given(LOSSES)
def test_turns_agree_with_plain_comparison(losses: dict[tuple[int, int], int]) -> None:
    rows = turns_of("\n".join(f"{rank} {step} host {us} {us}" for (rank, step), us in losses.items()))
    assert [(row["stage"], row["step"]) for row in rows] == [(stage, step) for stage in (0, 1) for step in range(3)]
    for row in rows:
        ranks = range(3 * row["stage"], 3 * row["stage"] + 3)
        lost = {rank: losses.get((rank, row["step"]), 0) for rank in ranks}
        usual = statistics.median(us for rank, us in lost.items() if rank != row["rank"])
        means = [sum(losses.get((rank, step), 0) for step in range(3)) / 3 for rank in ranks]
        assert row["lost_us"] == lost[row["rank"]] == max(lost.values())
        assert row["usual_lost_us"] == usual
        assert usual <= row["held_up_us"] == usual + row["imposed_us"] <= row["lost_us"]
        assert row["most_lost_us"] == pytest.approx(max(means))
        assert row["least_lost_us"] == min(losses.get((rank, 1), 0) for rank in ranks)  # the one between the edges
