# SPDX-License-Identifier: Apache-2.0
"""Which kernels are compared with what the chip can do, and why the others are not."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.rooflines.held_against import held_against, held_kernels
from advisor.facts.derived import OperatorRoofline
from advisor.facts.table import read_table

PRODUCT = {"family": "matmul", "input_shapes": "1,1", "dtype": "BF16", "cube_work": "product", "dense": "true"}
SIDED = {**PRODUCT, "dense": "false", "cube_work": "batched", "least_side": "128"}
ATTENTION = {**PRODUCT, "family": "attention", "cube_work": "attention", "dense": "false", "least_side": "2048"}
ATTENTION |= {"head_width": "128"}
PASS = {"family": "elementwise", "input_shapes": "1,1", "most_memory_us": "90"}
LONG = {"mean_us": "100", "steady_mean_us": "100"}


def word_of(**columns: str) -> object:
    given = {**LONG, **columns}
    if given["family"] in ("matmul", "convolution", "attention"):
        given = {"expected_us": "60", **given}
    values = " ".join(f'"{value}"' if " " in value else value for value in given.values())
    return held_against(read_table(OperatorRoofline, f"{' '.join(given)}\n{values}")).values()[0]


@pytest.mark.parametrize(("columns", "word"), [
    (PRODUCT, "roofline"),
    ({**PRODUCT, "dtype": "FLOAT16"}, "roofline"),
    ({**PRODUCT, "mean_us": "50"}, "short"),
    ({**PRODUCT, "dtype": "FLOAT"}, "data type"),  # its peak depends on what it may be rounded to
    ({**SIDED, "cube_work": "quantised", "dtype": "FP8"}, "roofline"),
    ({**SIDED, "cube_work": "quantised", "dtype": "FP8", "expected_us": "-"}, "unknown work"),
    ({**PRODUCT, "expected_us": "-"}, "unknown work"),
    ({**PRODUCT, "dtype": "-", "expected_us": "-", "input_shapes": "-"}, None),
    (SIDED, "roofline"),
    ({**SIDED, "least_side": "127"}, "small side"),
    ({**SIDED, "cube_work": "quantised", "dtype": "INT8"}, "roofline"),
    ({**SIDED, "dtype": "INT8"}, "data type"),
    ({**SIDED, "cube_work": "-"}, "fused"),  # weights that are widened first
    ({**SIDED, "cube_work": "-", "expected_us": "-", "communicates": "true"}, "waits"),
    ({**SIDED, "family": "convolution", "cube_work": "convolution"}, "roofline"),
    ({**SIDED, "family": "convolution", "cube_work": "convolution", "least_side": "64"}, "small side"),
    (ATTENTION, "roofline"),
    ({**ATTENTION, "cube_work": "attention backward"}, "roofline"),
    ({**ATTENTION, "least_side": "2047"}, "few keys"),
    ({**ATTENTION, "head_width": "-"}, "unknown attention"),
    ({**ATTENTION, "expected_us": "-"}, "unknown attention"),
    (PASS, "bandwidth"),
    ({**PASS, "family": "optimizer"}, "bandwidth"),
    ({**PASS, "steady_mean_us": "50"}, "short"),  # only some calls take longer: another rule tells of those
    ({**PASS, "most_memory_us": "-"}, "unknown work"),
    ({**PASS, "core": "AI_CPU"}, "ai_cpu"),
    ({**PASS, "communicates": "true"}, "waits"),
    ({**PASS, "family": "movement"}, "movement"),
    ({**PASS, "family": "movement", "goes_by_index": "true"}, "bandwidth"),
    ({**PASS, "family": "movement", "goes_by_index": "true", "picks_last": "true"}, "movement"),
    ({**PASS, "family": "custom"}, "custom"),
    ({**PASS, "family": "custom", "most_memory_us": "-", "input_shapes": "-"}, "custom"),
    ({**PASS, "family": "other"}, "other"),
])  # fmt: skip
def test_a_kernel_is_held_against_what_is_known_of_its_like_and_of_others_it_is_said_why_not(
    columns: dict[str, str], word: str | None
) -> None:
    assert word_of(**columns) == word


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["roofline", "short", "-"]), st.integers(1, 9)), min_size=1)
)
def test_what_is_held_and_what_is_not_are_all_kernels_of_a_rank(rows: list[tuple[int, str, int]]) -> None:
    text = "\n".join(["rank held_against total_us", *(f"{rank} {word} {us}" for rank, word, us in rows)])
    found = held_kernels(read_table(OperatorRoofline, text)).rows()
    summed, of_rank = Counter[tuple[int, str | None]](), Counter[int]()
    for rank, word, us in rows:
        summed[rank, None if word == "-" else word] += us
        of_rank[rank] += us
    assert {(row["rank"], row["held_against"]): row["total_us"] for row in found} == summed
    for row in found:
        assert row["kernel_share"] == pytest.approx(row["total_us"] / of_rank[row["rank"]])
    assert [(row["rank"], -row["total_us"]) for row in found] == sorted(
        (row["rank"], -row["total_us"]) for row in found
    )
