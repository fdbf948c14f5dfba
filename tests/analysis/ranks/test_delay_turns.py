# SPDX-License-Identifier: Apache-2.0
"""Ranks that meet in every step lose what the rank loses that its host holds up most in that step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.delay_turns import delay_turns
from advisor.facts import read_table
from advisor.facts.derived import LaunchDelay, Overlap

SPLIT = "\n".join(
    f"{rank} {step} {rank // 3} {0 if rank % 3 == step % 3 else 40} 100" for rank in range(6) for step in range(3)
)
"""Two stages of three ranks; in each step another one waits for nobody."""


def turns_of(held: str, split: str = SPLIT) -> list[dict[str, Any]]:
    return delay_turns(
        read_table(LaunchDelay, "rank step cause lost_us\n" + held),
        read_table(Overlap, "rank step stage exposed_comm_us span_us\n" + split),
    ).rows()


def test_the_rank_that_loses_most_in_a_step_is_held_against_the_others_of_its_stage() -> None:
    rows = turns_of("0 0 data_loader 30\n1 1 data_loader 60\n1 0 data_loader 4\n2 0 data_loader 6\n3 0 gc 10")
    loader = [row for row in rows if row["cause"] == "data_loader"]
    assert [(row["rank"], row["step"], row["usual_lost_us"], row["imposed_us"]) for row in loader] == [
        (0, 0, 5, 25),
        (1, 1, 0, 40),
    ]
    assert [row["rank_imposed_us"] for row in loader] == pytest.approx([25 / 3, 40 / 3])
    assert [(row["rank"], row["stage"], row["ranks"]) for row in rows if row["cause"] == "gc"] == [(3, 1, 3)]


@pytest.mark.parametrize(
    ("held", "split"),
    [
        ("0 1 gc 30\n1 1 gc 30\n2 1 gc 30", SPLIT),
        ("2 0 gc 30", SPLIT),
        ("0 9 gc 30", SPLIT),
        ("0 0 gc 30", "0 0 0 0 100"),
        ("0 0 gc -", SPLIT),
        ("0 0 - 30", SPLIT),
    ],
    ids=[
        "what all lose alike",
        "nobody waits for it",
        "a step that nobody compares",
        "a lone rank",
        "not known",
        "no cause",
    ],
)
def test_it_has_no_row(held: str, split: str) -> None:
    assert turns_of(held, split) == []


def test_what_is_lost_between_two_steps_is_waited_for_in_the_later_one() -> None:
    (row,) = turns_of("1 0 gc 30")
    assert (row["rank"], row["step"], row["imposed_us"]) == (1, 0, 30)


def test_what_a_rank_loses_in_every_step_is_no_turn_of_its() -> None:
    """Two of three loaders are always as slow: that now the one and now the other loses a trifle more is no change."""
    held = [(0, 0, 31), (2, 0, 30), (0, 1, 30), (2, 1, 31), (1, 0, 10), (1, 1, 10)]
    rows = turns_of("\n".join(f"{rank} {step} data_loader {us}" for rank, step, us in held))
    assert sum(row["imposed_us"] for row in rows) <= 2


def test_what_a_rank_loses_beyond_its_usual_is_a_turn_of_its() -> None:
    held = [(0, 0, 60), (1, 0, 10), (2, 0, 10), (0, 1, 20), (1, 1, 70), (2, 1, 10)]
    rows = turns_of("\n".join(f"{rank} {step} data_loader {us}" for rank, step, us in held))
    assert [(row["rank"], row["step"], row["imposed_us"]) for row in rows] == [(0, 0, 40), (1, 1, 40)]


LOSSES = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from(("gc", "host"))), st.integers(0, 99), min_size=1
)


@given(LOSSES)
def test_no_more_is_imposed_than_lost_and_waited_and_the_ranks_have_all_of_it(losses: Any) -> None:
    rows = turns_of("\n".join(f"{rank} {step} {cause} {us}" for (rank, step, cause), us in losses.items()))
    for row in rows:
        assert 0 < row["imposed_us"] <= min(row["lost_us"], 40)
        assert row["lost_us"] == losses[row["rank"], row["step"], row["cause"]]
    each = {(row["rank"], row["cause"]): row["rank_imposed_us"] for row in rows}
    assert sum(each.values()) == pytest.approx(sum(row["imposed_us"] for row in rows) / 3)
