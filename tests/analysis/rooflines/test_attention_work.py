# SPDX-License-Identifier: Apache-2.0
"""Operations of fused attention: counted pair by pair, in every layout, and only where shapes tell all."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays.tensors import Tensor, parse_tensors
from advisor.analysis.rooflines.attention_work import (
    BAND,
    BAND_FIRST,
    COMPRESSED_PREFIX,
    FULL,
    LEFT_UP,
    PREFIX,
    RIGHT_DOWN,
    THEN_BAND,
    AttentionArguments,
    attention_flops,
    counted_pairs,
    flops_of_attention,
    flops_of_marked_attention,
    full_mask_of_attention,
    layout_by_sums,
)


def pairs_one_by_one(  # noqa: PLR0917 - what a call is given
    queries: list[int], keys: list[int], mode: int, previous: float, following: float, prefixes: list[int]
) -> float:
    """The plain twin: a pair on the border of what is masked counts half, as areas do."""
    with_queries = [at for at, own in enumerate(queries) if own]
    found = 0.0
    for at, (own, other) in enumerate(zip(queries, keys, strict=True)):
        band = mode in {FULL, BAND} or (mode == THEN_BAND and at == with_queries[-1])
        band = band or (mode == BAND_FIRST and at == with_queries[0])
        from_the_last = mode in {RIGHT_DOWN, BAND, PREFIX, COMPRESSED_PREFIX, THEN_BAND} or (band and mode != FULL)
        before, behind = (previous, following) if band else (math.inf, 0)
        for query in range(own):
            for key in range(other):
                place = key - query - (other - own if from_the_last else 0)
                if prefixes and key < prefixes[at]:
                    found += 1.0
                else:
                    found += (
                        1.0 if -before < place < behind else 0.5 if (place == -before) != (place == behind) else 0.0
                    )
    return found


LENGTHS = st.lists(st.tuples(st.integers(0, 10), st.integers(1, 10)), min_size=1, max_size=4)


@given(
    lengths=LENGTHS,
    mode=st.sampled_from([FULL, LEFT_UP, RIGHT_DOWN, BAND, PREFIX, COMPRESSED_PREFIX, THEN_BAND, BAND_FIRST]),
    previous=st.integers(-8, 24) | st.just(math.inf),
    following=st.integers(-8, 24) | st.just(math.inf),
    data=st.data(),
)
def test_each_mode_keeps_its_pairs_one_by_one(
    lengths: list[tuple[int, int]], mode: int, previous: float, following: float, data: st.DataObject
) -> None:
    queries, keys = ([one[side] for one in lengths] for side in (0, 1))
    prefixes = []
    if mode in {PREFIX, COMPRESSED_PREFIX}:
        prefixes = [data.draw(st.integers(max(other - own, 0), other)) for own, other in lengths]
    found = counted_pairs(queries, keys, mode, previous, following, prefixes)
    is_banded = mode in {FULL, BAND} or (mode in {THEN_BAND, BAND_FIRST} and any(queries))
    if is_banded and previous + following < 0:
        assert found is None
    else:
        assert found == pytest.approx(pairs_one_by_one(queries, keys, mode, previous, following, prefixes))
        # as many as there are, but for half of those on a border: at most two of them for each query
        whole = pairs_one_by_one(queries, keys, mode, previous + 0.5, following + 0.5, prefixes)
        assert abs(whole - found) <= sum(queries)


def test_sequences_cut_between_devices_keep_together_what_they_kept_whole() -> None:
    """The two examples of the documentation: the second sequence is cut, half of its queries on each device."""
    whole = counted_pairs([3, 4, 5], [3, 6, 5], RIGHT_DOWN)
    first = counted_pairs([3, 2], [3, 6], THEN_BAND, 6, -2)
    second = counted_pairs([2, 5], [6, 5], RIGHT_DOWN)
    assert first is not None
    assert second is not None
    assert first + second == whole
    whole = counted_pairs([3, 5, 4], [3, 4, 4], LEFT_UP)
    first = counted_pairs([3, 2], [3, 4], LEFT_UP)
    second = counted_pairs([3, 4], [4, 4], BAND_FIRST, 4, 1)
    assert first is not None
    assert second is not None
    assert first + second == whole


def test_masks_of_ones_own_bands_without_a_width_and_prefixes_without_a_length_are_not_guessed() -> None:
    assert counted_pairs([16], [16], 1) is None
    assert counted_pairs([16], [16], 9) is None
    assert counted_pairs([16], [16], BAND, math.nan, 0) is None
    assert counted_pairs([16], [16], FULL, 8, math.nan) is None
    assert counted_pairs([16, 8], [16, 8], THEN_BAND, math.nan, 0) is None
    assert counted_pairs([16, 8], [16, 8], BAND_FIRST, 16, math.nan) is None
    assert counted_pairs([16, 8], [16, 8], PREFIX) is None
    assert counted_pairs([16, 8], [16, 8], COMPRESSED_PREFIX, prefixes=[4]) is None
    assert counted_pairs([16], [16], PREFIX, prefixes=[17]) is None
    assert counted_pairs([8], [16], PREFIX, prefixes=[7]) is None  # fewer than all queries meet anyway: no such call


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
        # the lower half, and above the diagonal a triangle whose sides are a quarter: the first 1024 keys
        ({"layout": "SBH", "sparse_mode": COMPRESSED_PREFIX, "prefixes": (1024, 1024)}, 1 / 2 + 1 / 32),
        ({"layout": "SBH", "sparse_mode": PREFIX, "prefixes": (0, 4096)}, 3 / 4),
        ({"layout": "SBH", "sparse_mode": COMPRESSED_PREFIX}, None),
        ({"layout": "SBH", "sparse_mode": COMPRESSED_PREFIX, "prefixes": (1024,)}, None),
        ({"layout": "SBH", "sparse_mode": COMPRESSED_PREFIX, "prefixes": (1024, 1024, 1024)}, None),
        ({"layout": "SBH", "sparse_mode": COMPRESSED_PREFIX, "prefixes": (1024, 5000)}, None),
        # only packed sequences are cut between devices
        ({"layout": "SBH", "sparse_mode": THEN_BAND, "previous_tokens": 4096, "next_tokens": 0}, None),
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
        (
            {"query_ends": (100, 300), "key_ends": (100, 300), "sparse_mode": COMPRESSED_PREFIX, "prefixes": (0, 200)},
            4 * 8 * 64 * (100**2 / 2 + 200**2),
        ),
        (
            {
                "query_ends": (100, 200),
                "key_ends": (100, 300),
                "sparse_mode": THEN_BAND,
                "previous_tokens": 200,
                "next_tokens": -100,
            },
            4 * 8 * 64 * (100**2 / 2 + 100**2 / 2),
        ),
        (
            {
                "query_ends": (100, 200),
                "key_ends": (200, 300),
                "sparse_mode": BAND_FIRST,
                "previous_tokens": 200,
                "next_tokens": 0,
            },
            4 * 8 * 64 * (100**2 * 3 / 2 + 100**2 / 2),
        ),
        ({"query_ends": (100, 300), "key_ends": (100, 300), "sparse_mode": THEN_BAND}, None),
        ({"query_ends": (100, 300), "key_ends": (100, 300), "sparse_mode": COMPRESSED_PREFIX}, None),
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


@pytest.mark.parametrize(
    ("op_type", "shapes", "dtypes", "mask"),
    [
        ("PromptFlashAttention", "1,32,1274,128;1,8,1274,128;1,8,1274,128;1,1,1274,1274", "", (1274, 1274)),
        ("PromptFlashAttention", "1,1274,32,128;1,1274,8,128;1,1274,8,128;1,1,1274,1274", "", (1274, 1274)),
        ("FlashAttentionScore", "4096,1,2048;4096,1,1024;4096,1,1024;;;4096,4096", "", (4096, 4096)),
        ("FlashAttentionScoreGrad", "1,4096,2048;1,4096,2048;1,4096,2048;1,4096,2048;4096,4096", "", (4096, 4096)),
        ("FusedInferAttentionScoreV2", "300,8,128;700,8,128;700,8,128;300,700", "", (300, 700)),
        # compressed, or perhaps so; of one query; no mask at all; scores that are added; another operator
        ("FlashAttentionScore", "4096,1,2048;4096,1,1024;4096,1,1024;;;2048,2048", "", None),
        ("FlashAttentionScore", "1,8,2048,128;1,8,2048,128;1,8,2048,128;2048,2048", "", None),
        ("FusedInferAttentionScore", "1,16,1,128;1,2,4096,128;1,2,4096,128;1,1,1,4096", "", None),
        ("PromptFlashAttention", "1,16,5040,64;1,16,5040,64;1,16,5040,64", "", None),
        ("PromptFlashAttention", "1,8,640,80;1,8,640,80;1,8,640,80;1,1,640,640", "FLOAT16", None),
        ("IncreFlashAttention", "1,8,640,80;1,8,640,80;1,8,640,80;1,1,640,640", "", None),
        ("FlashAttentionScore", "640,80;640,80;640,80;640,640", "", None),
    ],
)
def test_a_mask_with_an_element_for_each_pair_is_told_from_a_compressed_one(
    op_type: str, shapes: str, dtypes: str, mask: tuple[int, int] | None
) -> None:
    of_mask = dtypes or "BOOL"
    types = ";".join(["FLOAT16"] * 3 + [of_mask] * (shapes.count(";") - 2))
    assert full_mask_of_attention(op_type, parse_tensors(shapes, types)) == mask
