# SPDX-License-Identifier: Apache-2.0
"""Operations of fused attention: counted pair by pair, in every layout, and only where shapes tell all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.attention_work import (
    FULL,
    LEFT_UP,
    RIGHT_DOWN,
    attention_flops,
    counted_pairs,
    flops_of_attention,
    layout_by_sums,
)
from advisor.analysis.tensors import Tensor, parse_tensors


def pairs_one_by_one(queries: int, keys: int, mode: int) -> float:
    """The plain twin: a pair on the border counts half, as areas do."""
    shift = {FULL: keys, LEFT_UP: 0, RIGHT_DOWN: keys - queries}[mode]
    found = 0.0
    for query in range(queries):
        for key in range(keys):
            beyond = key - query - shift
            found += 1.0 if beyond < 0 or mode == FULL else 0.5 if beyond == 0 else 0.0
    return found


@given(queries=st.integers(1, 24), keys=st.integers(1, 24), mode=st.sampled_from([FULL, LEFT_UP, RIGHT_DOWN]))
def test_masked_pairs_are_left_out_one_by_one(queries: int, keys: int, mode: int) -> None:
    assert counted_pairs(queries, keys, mode) == pairs_one_by_one(queries, keys, mode)


def test_bands_and_blocks_are_not_guessed() -> None:
    assert counted_pairs(16, 16, 1) is None and counted_pairs(16, 16, 4) is None


@pytest.mark.parametrize(
    ("layout", "query", "key"),
    [
        ("BNSD", (2, 16, 4096, 128), (2, 16, 4096, 128)),
        ("BSND", (2, 4096, 16, 128), (2, 4096, 16, 128)),
        ("BSH", (2, 4096, 2048), (2, 4096, 2048)),
        ("SBH", (4096, 2, 2048), (4096, 2, 2048)),
        ("BNSD", (2, 16, 4096, 128), (2, 2, 4096, 128)),  # fewer heads of keys than of queries
        ("BSH", (2, 4096, 2048), (2, 4096, 256)),
    ],
)
def test_all_layouts_of_one_attention_count_the_same(layout: str, query: tuple[int, ...], key: tuple[int, ...]) -> None:
    """4 x length² x width x heads per sequence, and half of it where causal: Dao, FlashAttention-2, section 4.1."""
    assert attention_flops(query, key, layout, FULL) == 4 * 2 * 16 * 4096**2 * 128
    assert attention_flops(query, key, layout, LEFT_UP) == 4 * 2 * 16 * 4096**2 * 128 / 2


def test_packed_sequences_count_each_by_its_own_length() -> None:
    found = attention_flops((300, 8, 64), (300, 2, 64), "TND", FULL, query_ends=(100, 300), key_ends=(100, 300))
    assert found == 4 * 8 * 64 * (100**2 + 200**2)
    assert attention_flops((300, 8, 64), (300, 2, 64), "TND", FULL) is None


@pytest.mark.parametrize(
    ("query", "layout"),
    [
        ((4096, 2, 512), "SBH"),
        ((2, 4096, 512), "BSH"),
        ((2, 4, 4096, 128), "BNSD"),
        ((2, 4096, 4, 128), "BSND"),
        ((8192, 4, 128), ""),
    ],
)
def test_the_softmax_sums_tell_the_layout(query: tuple[int, ...], layout: str) -> None:
    assert layout_by_sums(query, (2, 4, 4096, 8)) == layout


QKV = "4096,2,512;4096,2,512;4096,2,512"
SUMS = "2,4,4096,8"


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "times"),
    [
        ("FlashAttentionScore", f"{QKV};;;;;;;;;", f"{SUMS};{SUMS};;4096,2,512", 1.0),
        ("FlashAttentionScore", f"{QKV};;;;4096,4096;;;;;", f"{SUMS};{SUMS};;4096,2,512", None),
        ("FlashAttentionScore", QKV, "4096,2,512", None),
        ("FlashAttentionScoreGrad", f"{QKV};4096,2,512;{SUMS};{SUMS};;4096,2,512;", QKV, 2.5),
        ("FlashAttentionScoreGrad", f"{QKV};4096,2,512;4096,4096;{SUMS};{SUMS};;4096,2,512;", QKV, None),
    ],
)
def test_where_a_mask_was_given_shapes_do_not_tell_what_it_leaves_out(
    op_type: str, inputs: str, outputs: str, times: float | None
) -> None:
    found = flops_of_attention(op_type, parse_tensors(inputs), parse_tensors(outputs))
    assert found == (None if times is None else times * 4 * 2 * 4 * 4096**2 * 128)


def test_a_tensor_in_blocks_is_the_matrix_they_make() -> None:
    assert Tensor((3, 256, 64, 16, 16), "BF16", "FRACTAL_NZ").matrix == (3, 1024, 4096)
    assert Tensor((64, 16, 16, 32), "INT8", "FRACTAL_NZ").matrix == (256, 2048)
    assert Tensor((4096, 1024), "BF16", "FRACTAL_NZ").matrix == (4096, 1024)
