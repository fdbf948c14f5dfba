# SPDX-License-Identifier: Apache-2.0
"""Tokens of experts are the rows of grouped multiplications, held against the ranks of the same stage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.expert_loads import expert_loads
from advisor.facts import read_table
from advisor.facts.derived import OperatorShape, RankTime


def loads_of(shapes: str, times: str) -> list[dict[str, object]]:
    head = "rank op_type input_shapes calls total_us\n"
    return expert_loads(
        read_table(OperatorShape, head + shapes), read_table(RankTime, "rank stage comm_us peer_comm_us\n" + times)
    ).rows()


def test_rows_count_for_each_call_beside_the_mean_of_the_stage() -> None:
    shapes = """0 GroupedMatmul 100,64;8,64,32 2 10
                0 GroupedMatmul 50,64;8,64,32 1 5
                0 MatMulV2 9000,64;64,32 1 99
                1 aclnnGroupedMatmulV4 - 1 7
                1 GroupedMatmul 350,64;8,64,32 1 21"""
    first, second = loads_of(shapes, "0 - 7 3\n1 - 3 7")
    assert (first["tokens"], first["mean_tokens"], first["expert_us"], first["mean_expert_us"]) == (250, 300, 15, 18)
    assert first["peer_expert_us"] == 21
    assert (second["tokens"], second["comm_us"], second["peer_comm_us"], second["ranks"]) == (350, 3, 7, 2)


@pytest.mark.parametrize("op_type", ["GroupedMatmul", "aten::_grouped_mm", "aten::_scaled_grouped_mm"])
def test_experts_of_every_framework_are_known(op_type: str) -> None:
    first, second = loads_of(f"0 {op_type} 9,4;1,4,4;1 1 1\n1 {op_type} 3,4;1,4,4;1 1 1", "0 - 1 1\n1 - 1 1")
    assert (first["tokens"], second["tokens"]) == (9, 3)


@pytest.mark.parametrize("times", ["0 0 1 1\n1 1 1 1", "0 - 1 1"])
def test_a_rank_without_another_in_its_stage_is_held_against_none(times: str) -> None:
    assert loads_of("0 GroupedMatmul 9,4;1 1 1\n1 GroupedMatmul 9,4;1 1 1", times) == []


def test_without_experts_there_is_nothing() -> None:
    assert loads_of("0 MatMulV2 9,4;4,4 1 1", "0 - 1 1\n1 - 1 1") == []


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 9), st.integers(1, 4), st.integers(1, 9)), min_size=1, max_size=12
    ),
    st.lists(st.integers(0, 1), min_size=4, max_size=4),
)
def test_loads_are_those_of_a_plain_sum(calls: list[tuple[int, int, int, int]], stages: list[int]) -> None:
    shapes = "\n".join(
        f"{rank} GroupedMatmul {rows},{at};8 {many} {us}" for at, (rank, rows, many, us) in enumerate(calls)
    )
    found = {row["rank"]: row for row in loads_of(shapes, "\n".join(f"{rank} {stages[rank]} 1 1" for rank in range(4)))}
    tokens = dict[int, int]()
    for rank, rows, many, _ in calls:
        tokens[rank] = tokens.get(rank, 0) + rows * many
    for rank, own in tokens.items():
        peers = [tokens[other] for other in tokens if stages[other] == stages[rank]]
        assert (rank in found) == (len(peers) > 1)
        if rank in found:
            assert found[rank]["tokens"] == own
            assert found[rank]["mean_tokens"] == pytest.approx(sum(peers) / len(peers))
