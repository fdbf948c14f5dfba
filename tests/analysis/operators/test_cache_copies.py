# SPDX-License-Identifier: Apache-2.0
"""A kernel moves the whole cache where a tensor of it has exactly the shape that attention reads."""

from __future__ import annotations

import pytest

from advisor.analysis.operators.cache_copies import cache_copies
from advisor.facts import read_table
from advisor.facts.derived import OperatorShape

ATTENTION = "0 FusedInferAttentionScore 32,40,128;384,128,1024;384,128,1024 32,40,128 24 700"
STORE = "0 ReshapeAndCacheNdKernel 32,8,128;32,8,128;384,128,1024;384,128,1024;32 384,128,1024 24 70"


def copied(*rows: str) -> list[object]:
    head = "rank op_type input_shapes output_shapes calls total_us\n"
    return [row["op_type"] for row in cache_copies(read_table(OperatorShape, head + "\n".join(rows))).rows()]


@pytest.mark.parametrize("cache", [ATTENTION, STORE])
@pytest.mark.parametrize(
    "copy",
    [
        "0 Transpose 384,128,1024 128,384,1024 24 90",
        "0 Cast 384,128,1024 384,128,1024 24 90",
        "0 TensorMove 1024,128,384 384,128,1024 24 90",
        "0 aten::copy_ 384,128,1024;384,128,1024 - 24 90",
    ],
)
def test_a_copy_of_the_shape_of_the_cache_is_one_of_the_cache(cache: str, copy: str) -> None:
    assert copied(cache, copy) == [copy.split()[1]]


ALONE = "0 IncreFlashAttention 1,16,1,128;1,8,2048,128;1,8,2048,128 1,16,1,128 24 700"
BLOCKS = "0 ReshapeAndCache 1,8,128;1,8,128;384,128,8,128;384,128,8,128;1 384,128,8,128;384,128,8,128 24 70"


@pytest.mark.parametrize(
    "copy",
    [
        "0 Transpose 2048,8,128;3 8,2048,128 24 90",
        "0 AsStrided 1,2048,8,128 8,2048,128 24 90",
        "0 Cast 1,8,2048,128 1,8,2048,128 24 90",
    ],
)
def test_a_cache_of_one_request_is_the_same_with_and_without_its_leading_one(copy: str) -> None:
    assert copied(ALONE, copy) == [copy.split()[1]]


@pytest.mark.parametrize(
    "gather",
    [
        "0 Index 384,128,8,128;1,16 1,16,128,8,128 24 900",
        "0 GatherV2 384,128,8,128;16;1 16,128,8,128 24 900",
        "0 IndexSelect 384,128,8,128;16 16,128,8,128 24 900",
        "0 aten::index_select 384,128,8,128;16 16,128,8,128 24 900",
    ],
)
def test_what_takes_more_than_the_new_rows_out_of_a_cache_gathers_it(gather: str) -> None:
    head = "rank op_type input_shapes output_shapes calls total_us\n"
    (row,) = cache_copies(read_table(OperatorShape, "\n".join([head + BLOCKS, ALONE, gather]))).rows()
    assert (row["op_type"], row["gathers"]) == (gather.split()[1], True)


@pytest.mark.parametrize(
    "row",
    [
        "0 Index 384,128,8,128;4 4,8,128 24 90",  # a few rows of it
        "0 Index 59392,1536;2048 2048,1536 24 90",  # an embedding
        "0 GatherPaKvCache 384,128,8,128;1,16 1,16,128,8,128 24 90",  # the operator for it
        "0 IndexPutV2 384,128,8,128;1,8,128;1 384,128,8,128 24 90",  # writes new rows
    ],
)
def test_what_takes_little_or_of_another_tensor_gathers_no_cache(row: str) -> None:
    assert copied(BLOCKS, ALONE, row) == []


@pytest.mark.parametrize(
    "row",
    [
        "0 Transpose 32,8,128 8,32,128 24 90",  # the new keys
        "0 Add 384,128,1024;384,128,1024 384,128,1024 24 90",  # computes
        "1 Transpose 384,128,1024 128,384,1024 24 90",  # of a rank whose cache nobody knows
        "0 Transpose 49152,1024 1024,49152 24 90",  # as large, of another shape
        STORE,  # writes new rows in their places
    ],
)
def test_all_else_is_none(row: str) -> None:
    assert copied(ATTENTION, row) == []


def test_without_attention_on_a_cache_nothing_is_known() -> None:
    assert copied("0 Transpose 384,128,1024 128,384,1024 24 90") == []


def test_a_tensor_like_a_cache_that_another_operator_reads_makes_none_of_it() -> None:
    assert copied("0 Gather 32,8,128;384,128,1024 32,8,128 24 40", "0 Transpose 384,128,1024 128,384,1024 24 90") == []


def test_a_cache_that_is_no_larger_than_the_prompt_is_told_from_nothing() -> None:
    prompt = "0 FusedInferAttentionScore 8192,8,128;8192,8,128;8192,8,128 8192,8,128 24 700"
    assert copied(prompt, "0 Transpose 8192,8,128 8,8192,128 24 90") == []
