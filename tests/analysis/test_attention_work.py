# SPDX-License-Identifier: Apache-2.0
"""Operations of fused attention: counted pair by pair, in every layout, and only where shapes tell all."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.attention_work import (
    BAND,
    FULL,
    LEFT_UP,
    RIGHT_DOWN,
    AttentionArguments,
    attention_flops,
    counted_pairs,
    flops_of_attention,
    flops_of_marked_attention,
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


def band_one_by_one(queries: int, keys: int, mode: int, previous: int, following: int) -> float:
    """The plain twin: a pair on a border counts half, and one on both of a band without width not at all."""
    shift = keys - queries if mode == BAND else 0
    found = 0.0
    for query in range(queries):
        for key in range(keys):
            place = key - query - shift
            found += (
                1.0 if -previous < place < following else 0.5 if (place == -previous) != (place == following) else 0.0
            )
    return found


@given(
    queries=st.integers(1, 16),
    keys=st.integers(1, 16),
    mode=st.sampled_from([FULL, BAND]),
    previous=st.integers(-8, 24),
    following=st.integers(-8, 24),
)
def test_a_band_keeps_the_pairs_within_it(queries: int, keys: int, mode: int, previous: int, following: int) -> None:
    found = counted_pairs(queries, keys, mode, previous, following)
    expected = band_one_by_one(queries, keys, mode, previous, following) if previous + following >= 0 else None
    assert found == (None if expected is None else pytest.approx(expected))


def test_blocks_and_bands_without_a_width_are_not_guessed() -> None:
    assert counted_pairs(16, 16, 1) is None
    assert counted_pairs(16, 16, BAND, math.nan, 0) is None
    assert counted_pairs(16, 16, FULL, 8, math.nan) is None


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


MASKED = "4096,2,512;4096,2,512;4096,2,512;;;;2048,2048;;;"
OF_MASKED = "DT_BF16;DT_BF16;DT_BF16;;;;BOOL;;;"
WHOLE = 4 * 2 * 4 * 4096**2 * 128
"""Two sequences of 4096, four heads of 128."""


def marked(
    inputs: str, outputs: str = f"{SUMS};{SUMS};;4096,2,512", op: str = "FlashAttentionScore", **said: object
) -> float | None:
    given = AttentionArguments(**said)  # type: ignore[arg-type]
    dtypes = OF_MASKED if inputs == MASKED else ""
    return flops_of_marked_attention(op, parse_tensors(inputs, dtypes), parse_tensors(outputs), given)


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ({"layout": "SBH", "sparse_mode": LEFT_UP}, 1 / 2),
        ({"layout": "SBH", "sparse_mode": RIGHT_DOWN}, 1 / 2),
        ({"sparse_mode": LEFT_UP}, 1 / 2),  # the softmax sums tell the layout
        ({"layout": "SBH", "previous_tokens": 65536, "next_tokens": 0}, 1 / 2),
        ({"layout": "SBH", "previous_tokens": 2**31 - 1, "next_tokens": 2**31 - 1}, 1.0),
        # the last 1024 keys: the lower half without a triangle whose sides are three quarters
        ({"layout": "SBH", "sparse_mode": BAND, "previous_tokens": 1024, "next_tokens": 0}, 1 / 2 - 9 / 32),
        ({"layout": "SBH"}, None),  # of a mask alone nobody knows what it leaves out
        ({"layout": "SBH", "sparse_mode": BAND}, None),
        ({"layout": "SBH", "sparse_mode": 1}, None),
        ({"layout": "SBH", "sparse_mode": 6}, None),
        ({"layout": "BSH", "sparse_mode": LEFT_UP}, None),  # the sums say SBH
        ({"layout": "BNSD", "sparse_mode": LEFT_UP}, None),
        ({"layout": "TND", "sparse_mode": LEFT_UP, "query_ends": (9,), "key_ends": (9,)}, None),
    ],
)
def test_a_mark_tells_what_a_mask_leaves_out_and_counts_only_where_the_shapes_agree(
    said: dict[str, object], share: float | None
) -> None:
    assert marked(MASKED, **said) == (None if share is None else pytest.approx(share * WHOLE))


def test_a_mark_of_a_causal_call_counts_nothing_where_no_mask_was_given() -> None:
    assert marked(f"{QKV};;;;;;;", layout="SBH", sparse_mode=LEFT_UP) is None
    assert marked(f"{QKV};;;;;;;", layout="SBH", next_tokens=0.0) == WHOLE


PACKED = "300,8,64;300,2,64;300,2,64;;;;2048,2048;;2;2"


@pytest.mark.parametrize(
    ("said", "flops"),
    [
        (
            {"query_ends": (100, 300), "key_ends": (100, 300), "sparse_mode": LEFT_UP},
            4 * 8 * 64 * (100**2 + 200**2) / 2,
        ),
        (
            {"query_ends": (100, 280), "key_ends": (100, 280), "sparse_mode": RIGHT_DOWN},
            4 * 8 * 64 * (100**2 + 180**2) / 2,
        ),
        ({"query_ends": (100, 400), "key_ends": (100, 300), "sparse_mode": LEFT_UP}, None),
        ({"query_ends": (100, 300), "key_ends": (300,), "sparse_mode": LEFT_UP}, None),
        ({"query_ends": (200, 100), "key_ends": (200, 100), "sparse_mode": LEFT_UP}, None),
        ({"sparse_mode": LEFT_UP}, None),
        ({"query_ends": (100, 300), "key_ends": (100, 300)}, None),
    ],
)
def test_packed_sequences_count_by_the_lengths_that_the_mark_names(
    said: dict[str, object], flops: float | None
) -> None:
    found = marked(PACKED, "300,8,8;300,8,8;;300,8,64", layout="TND", **said)
    assert found == (None if flops is None else flops)


def test_packed_sequences_without_a_mask_meet_all_keys_of_their_own() -> None:
    found = marked(
        "300,8,64;300,2,64;300,2,64;;;;;;2;2", "300,8,8;300,8,8;;300,8,64",
        layout="TND", query_ends=(100, 300), key_ends=(100, 300),
    )  # fmt: skip
    assert found == 4 * 8 * 64 * (100**2 + 200**2)


def test_the_backward_pass_does_five_products_for_two() -> None:
    inputs = f"{QKV};4096,2,512;;;;2048,2048;{SUMS};{SUMS};;4096,2,512"
    found = marked(inputs, QKV, "FlashAttentionScoreGrad", layout="SBH", sparse_mode=LEFT_UP)
    assert found == 2.5 * WHOLE / 2


def test_heads_of_values_that_are_narrower_count_by_their_own_width() -> None:
    """192 for queries and keys, 128 for values: 320 in place of 384, as one tensor of all heads and as heads."""
    flops = 2 * 2 * 16 * (192 + 128) * 4096**2 / 2
    causal = {"sparse_mode": LEFT_UP}
    by_heads = "2,16,4096,192;2,16,4096,192;2,16,4096,128;;;;2048,2048"
    together = "2,4096,3072;2,4096,3072;2,4096,2048;;;;2048,2048"
    assert marked(by_heads, "2,16,4096,128", layout="BNSD", **causal) == flops
    assert marked(together, "2,4096,2048", layout="BSH", **causal) == flops


def test_a_second_part_of_the_queries_that_was_not_added_is_not_counted_as_nothing() -> None:
    inputs = "2,16,4096,128;2,16,4096,128;2,16,4096,128;;;;2048,2048;;;;;;;;;2,16,4096,64;2,16,4096,64"
    assert marked(inputs, "2,16,4096,128", layout="BNSD", sparse_mode=LEFT_UP) is None


def test_a_mask_as_wide_as_a_head_is_a_mask() -> None:
    shapes, dtypes = "2,1,128,128;" * 3 + ";;;2,1,128,128", "DT_BF16;DT_BF16;DT_BF16;;;;BOOL"
    assert flops_of_attention("FlashAttentionScore", parse_tensors(shapes, dtypes), parse_tensors("2,1,128,8")) is None
