# SPDX-License-Identifier: Apache-2.0
"""The work of a rank in a step is held against that of the ranks of its stage in the same step."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.step_loads import step_loads, step_work
from advisor.facts import read_table
from advisor.facts.derived import Overlap, StepWork
from advisor.facts.observed import Kernel


def work_of(kernels: str, split: str) -> list[dict[str, object]]:
    head = "rank step op_type input_shapes duration_us\n"
    return step_work(
        read_table(Kernel, head + kernels), read_table(Overlap, "rank step source listed_us\n" + split)
    ).rows()


def loads_of(work: str, split: str) -> list[dict[str, object]]:
    return step_loads(
        read_table(StepWork, "rank step kernel_us mega_elements\n" + work),
        read_table(Overlap, "rank step stage exposed_comm_us span_us\n" + split),
    ).rows()


def test_the_work_of_a_step_is_the_time_and_the_inputs_of_its_kernels() -> None:
    kernels = """0 1 MatMulV2 1000,1000;1000,500 7
                 0 1 Add "1000,1000;" 3
                 0 1 AllGatherMatmul 9000,9000;9,9 50
                 0 2 Add - 4
                 0 9 Add 5,5 1"""
    first, second = work_of(kernels, "0 1 timeline -\n0 2 timeline -")
    assert (first["kernel_us"], first["mega_elements"]) == (10, 2.5)
    assert second["kernel_us"] == 4
    assert second["mega_elements"] is None


def test_experts_are_told_apart_by_the_tokens_of_each_step() -> None:
    kernels = """0 1 GroupedMatmul 300,64;4,64,8 7
                 0 1 GroupedMatmul 200,8;4,8,64 5
                 0 1 Add 5,5 3
                 0 2 Add 5,5 3
                 0 3 GroupedMatmul - 3"""
    rows = work_of(kernels, "0 1 timeline -\n0 2 timeline -\n0 3 timeline -")
    assert [(row["expert_us"], row["tokens"]) for row in rows] == [(12, 500), (0, 0), (3, None)]
    work = read_table(StepWork, "rank step kernel_us expert_us tokens\n0 1 20 9 300\n1 1 10 5 100")
    split = read_table(Overlap, "rank step stage exposed_comm_us span_us\n0 1 0 2 50\n1 1 0 22 50")
    found = step_loads(work, split).rows()
    assert [(row["expert_us"], row["mean_expert_us"]) for row in found] == [(9, 7), (5, 7)]
    assert [(row["tokens"], row["mean_tokens"]) for row in found] == [(300, 200), (100, 200)]


def test_attention_is_told_apart_from_what_else_a_step_computes() -> None:
    kernels = """0 1 FlashAttentionScore 9,9 7
                 0 1 FlashAttentionScoreGrad - 5
                 0 1 Add 5,5 3
                 0 2 Add 5,5 3"""
    rows = work_of(kernels, "0 1 timeline -\n0 2 timeline -")
    assert [(row["attention_us"], row["kernel_us"]) for row in rows] == [(12, 15), (0, 3)]
    work = read_table(StepWork, "rank step kernel_us attention_us\n0 1 20 9\n1 1 10 5")
    split = read_table(Overlap, "rank step stage exposed_comm_us span_us\n0 1 0 2 50\n1 1 0 22 50")
    found = step_loads(work, split).rows()
    assert [(row["attention_us"], row["mean_attention_us"]) for row in found] == [(9, 7), (5, 7)]


@pytest.mark.parametrize("shapes", ["nan", "-5,5", "1" * 40 + ",2", ";", "a,b;c"])
def test_shapes_that_say_nothing_count_as_not_recorded(shapes: str) -> None:
    (row,) = work_of(f"0 1 Add {shapes} 4", "0 1 timeline -")
    assert row["mega_elements"] is None


def test_a_step_whose_list_of_kernels_lacks_rows_tells_nothing() -> None:
    assert work_of("0 1 Add 5,5 4", "0 1 incomplete 4") == []


def test_a_step_is_held_against_the_same_step_of_the_stage() -> None:
    work = "0 1 30 3\n1 1 10 1\n0 2 10 1\n1 2 30 3\n2 1 99 9\n3 1 1 1\n3 2 1 1"
    split = "0 1 0 2 50\n1 1 0 22 50\n0 2 0 22 50\n1 2 0 2 50\n2 1 1 0 50\n3 1 2 0 50\n3 2 2 0 50"
    found = loads_of(work, split)
    assert [(row["rank"], row["step"]) for row in found] == [(0, 1), (1, 1), (0, 2), (1, 2)]
    assert [row["heaviest"] for row in found] == [True, False, False, True]
    assert {(row["mean_kernel_us"], row["ranks"]) for row in found} == {(20, 2)}
    assert [row["other_steps_us"] for row in found] == [-10, 10, 10, -10]
    assert [row["elements_ratio"] for row in found] == [1.5, 0.5, 0.5, 1.5]
    assert [row["others_comm_us"] for row in found] == [22, 2, 2, 22]


def test_a_step_that_a_rank_did_not_record_is_left_out() -> None:
    found = loads_of("0 1 30 3\n1 1 10 1\n0 2 10 1", "0 1 - 2 50\n1 1 - 22 50\n0 2 - 22 50")
    assert {row["step"] for row in found} == {1}
    assert [row["other_steps_us"] for row in found] == [None, None]


@given(st.lists(st.lists(st.integers(1, 99), min_size=2, max_size=4), min_size=1, max_size=4).map(
    lambda steps: [step[: min(map(len, steps))] for step in steps]
))  # fmt: skip
def test_loads_are_those_of_a_plain_mean(steps: list[list[int]]) -> None:
    cells = [(rank, at, us) for at, step in enumerate(steps) for rank, us in enumerate(step)]
    work = "\n".join(f"{rank} {at} {us} -" for rank, at, us in cells)
    found = loads_of(work, "\n".join(f"{rank} {at} - 1 1" for rank, at, _ in cells))
    beyond = {(rank, at): us - sum(steps[at]) / len(steps[at]) for rank, at, us in cells}
    assert len(found) == len(cells)
    for row in found:
        rank, at = row["rank"], row["step"]
        assert isinstance(rank, int) and isinstance(at, int)
        assert row["heaviest"] == (rank == max(range(len(steps[at])), key=lambda one: (steps[at][one], -one)))
        extra = [beyond[rank, other] for other in range(len(steps))]
        assert row["mean_extra_us"] == pytest.approx(sum(extra) / len(extra), abs=1e-9)
        others = [beyond[rank, other] for other in range(len(steps)) if other != at]
        if others:
            assert row["other_steps_us"] == pytest.approx(sum(others) / len(others), abs=1e-9)
        else:
            assert row["other_steps_us"] is None
        assert row["elements_ratio"] is None or isnan(float(str(row["elements_ratio"])))


def test_what_a_rank_ran_and_how_long_it_stood_idle_is_held_against_the_others() -> None:
    """Kernels against the mean of all, idle time beside that of the others."""
    work = read_table(StepWork, "rank step kernel_us kernels\n0 1 20 90\n1 1 10 60\n2 1 12 30")
    split = read_table(
        Overlap, "rank step stage exposed_comm_us free_us span_us\n0 1 0 2 1 50\n1 1 0 2 30 50\n2 1 0 2 10 50"
    )
    rows = step_loads(work, split).rows()
    assert [row["kernels_ratio"] for row in rows] == [1.5, 1.0, 0.5]
    assert [(row["free_us"], row["others_free_us"]) for row in rows] == [(1, 20), (30, 5.5), (10, 15.5)]


def test_the_kernels_of_a_step_are_counted() -> None:
    rows = work_of("0 1 Add 5,5 3\n0 1 Add - 4\n0 2 Add 5,5 1", "0 1 timeline -\n0 2 timeline -")
    assert [row["kernels"] for row in rows] == [2, 1]
