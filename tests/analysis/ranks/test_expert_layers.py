# SPDX-License-Identifier: Apache-2.0
"""The experts of each layer are held against those of the same layer on other ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.expert_layers import expert_calls, expert_steps
from advisor.facts import read_table
from advisor.facts.derived import ExpertCall, Overlap
from advisor.facts.observed import Kernel
from advisor.facts.table import Table

Layers = list[list[tuple[int, int]]]
"""Tokens and µs by turn and rank."""


def steps_of(layers: Layers, split: str = "") -> list[dict[str, object]]:
    cells = [(rank, turn, *one) for turn, ranks in enumerate(layers) for rank, one in enumerate(ranks)]
    rows = "\n".join(f"{rank} 1 {turn} {tokens} {us}" for rank, turn, tokens, us in cells)
    spans = split or "\n".join(f"{rank} 1 - 10" for rank in range(len(layers[0])))
    return expert_steps(
        read_table(ExpertCall, f"rank step turn tokens duration_us\n{rows}"),
        read_table(Overlap, f"rank step stage exposed_comm_us\n{spans}"),
    ).rows()


def test_a_call_says_its_tokens_and_its_turn() -> None:
    kernels = """rank step op_type input_shapes start_ns duration_us
                 0 1 GroupedMatmul 300,64;4,64,8 50 7
                 0 1 GroupedMatmul 200,8;4,8,64 20 5
                 0 1 Add 5,5 30 3
                 0 9 GroupedMatmul 200,8;4,8,64 20 5
                 1 1 GroupedMatmul - 20 5
                 2 1 GroupedMatmul 9,9;1,9,9 20 5"""
    split = "rank step source listed_us\n0 1 timeline -\n1 1 timeline -\n2 1 incomplete 4"
    found = expert_calls(read_table(Kernel, kernels), read_table(Overlap, split)).rows()
    assert [(row["rank"], row["turn"], row["tokens"]) for row in found] == [(0, 1, 300), (0, 0, 200), (1, 0, None)]


def test_what_each_layer_waits_for_another_rank_adds_up_though_the_sums_are_alike() -> None:
    (row,) = steps_of([[(300, 30), (100, 10)], [(100, 10), (300, 30)]])
    assert (row["most_tokens"], row["mean_tokens"], row["in_turn"]) == (600, 400, 2)
    assert (row["beyond_mean_us"], row["standing_us"], row["expert_us"], row["ranks"], row["calls"]) == (
        20,
        0,
        40,
        2,
        2,
    )
    assert row["exposed_comm_us"] == 10


def test_of_one_rank_that_has_most_in_every_layer_all_stands() -> None:
    (row,) = steps_of([[(300, 30), (100, 10)], [(300, 30), (100, 10)]])
    assert (row["beyond_mean_us"], row["standing_us"], row["in_turn"]) == (20, 20, 1)


def test_a_multiplication_with_rows_alike_goes_by_the_one_before() -> None:
    (row,) = steps_of([[(64, 90), (64, 10)], [(100, 10), (300, 30)], [(64, 10), (64, 20)]])
    assert (row["most_tokens"], row["mean_tokens"]) == (300, 200)
    assert row["beyond_mean_us"] == 10 + 5, "nothing tells whose the first one is"


def test_where_no_tokens_were_recorded_nobody_is_said_to_have_most() -> None:
    untold: Layers = [[("-", 30), ("-", 10)], [("-", 10), ("-", 30)]]  # type: ignore[list-item]
    (row,) = steps_of(untold)
    assert {row[column] for column in ("most_tokens", "mean_tokens", "in_turn", "beyond_mean_us")} == {None}
    assert (row["expert_us"], row["standing_us"]) == (40, 0)


@pytest.mark.parametrize(
    "split", ["0 1 - 10", "0 1 - 10\n1 2 - 10", "0 1 0 10\n1 1 1 10"], ids=["one rank", "other steps", "other stages"]
)
def test_nothing_is_held_against_nobody(split: str) -> None:
    assert steps_of([[(300, 30), (100, 10)]], split) == []


def test_ranks_that_called_unequally_often_are_not_held_against_each_other() -> None:
    calls = read_table(ExpertCall, "rank step turn tokens duration_us\n0 1 0 5 5\n1 1 0 9 9\n1 1 1 9 9")
    split = read_table(Overlap, "rank step stage exposed_comm_us\n0 1 - 1\n1 1 - 1")
    assert len(expert_steps(calls, split)) == 0
    assert len(expert_steps(Table.empty(ExpertCall), split)) == 0


cell = st.tuples(st.integers(1, 4), st.integers(1, 99))


@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_layers_are_those_of_a_plain_loop(layers: Layers) -> None:
    excess, most, mean, heavy, in_turn = 0.0, 0, 0.0, None, set()
    standing = [0.0] * len(layers[0])
    for layer in layers:
        tokens, mean_us = [one[0] for one in layer], float(np.mean([one[1] for one in layer]))
        if max(tokens) > min(tokens):
            heavy = tokens.index(max(tokens))
            in_turn.add(heavy)
            most, mean = most + max(tokens), mean + float(np.mean(tokens))
        if heavy is not None:
            excess += layer[heavy][1] - mean_us
        standing = [now + one[1] - mean_us for now, one in zip(standing, layer, strict=True)]
    (row,) = steps_of(layers)
    assert (row["most_tokens"], row["in_turn"]) == (most, len(in_turn))
    values = (row["mean_tokens"], row["beyond_mean_us"], row["standing_us"])
    assert values == pytest.approx((mean, max(excess, 0), max(*standing, 0)), abs=1e-6)
