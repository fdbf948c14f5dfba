# SPDX-License-Identifier: Apache-2.0
"""The last axis is padded for a product or attention, and cut again, where shapes say so."""

from __future__ import annotations

import pytest

from advisor.analysis.operators.run_time_paddings import run_time_paddings
from advisor.facts import read_table
from advisor.facts.derived import OperatorShape

HEAD = "rank op_type core input_shapes output_shapes calls total_us instant_us step_share\n"
PAD = "0 PadV3 AI_VECTOR_CORE 4,16,512,72;8; 4,16,512,80 81 450 400 0.05"
ATTENTION = "0 PromptFlashAttention MIX_AIC 4,16,512,80;4,16,512,80;4,16,512,80 4,16,512,80 27 900 900 0.1"
CUT = "0 StridedSliceD AI_VECTOR_CORE 4,16,512,80 4,16,512,72 27 280 250 0.03"


def padded(*rows: str) -> list[dict[str, object]]:
    return list(run_time_paddings(read_table(OperatorShape, HEAD + "\n".join(rows))).rows())


def test_what_attention_reads_padded_and_is_cut_behind_it_is_told_with_both() -> None:
    (row,) = padded(PAD, ATTENTION, CUT)
    told = {name: row[name] for name in ("used_by", "family", "narrow_side", "wide_side", "calls", "pad_us", "cut_us")}
    assert told == {
        "used_by": "PromptFlashAttention",
        "family": "attention",
        "narrow_side": 72,
        "wide_side": 80,
        "calls": 81,
        "pad_us": 450,
        "cut_us": 280,
    }
    assert (row["instant_us"], row["step_share"]) == (650, pytest.approx(0.08))


@pytest.mark.parametrize(
    "user",
    [
        "0 FlashAttentionScore MIX_AIC 4,512,1280;4,512,1280;4,512,1280 4,512,1280 27 900 900 0.1",  # heads in one axis
        "0 FusedInferAttentionScore MIX_AIC 4,512,16,80;4,512,16,80;4,512,16,80 4,512,16,80 27 900 900 0.1",  # turned
        "0 MatMulV3 AI_CORE 32768,80;80,256 32768,256 27 900 900 0.1",
    ],
)
def test_whatever_lays_the_same_axis_out_otherwise_reads_it_too(user: str) -> None:
    (row,) = padded(PAD, user)
    assert (row["used_by"], row["cut_us"]) == (user.split()[1], 0)


def test_a_cut_of_what_attention_turned_counts_once_for_all_that_pads() -> None:
    turned = CUT.replace("4,16,512,80 4,16,512,72", "4,512,16,80 4,512,16,72")
    other = PAD.replace("PadV3", "Pad").replace("450 400", "150 100")
    assert [row["cut_us"] for row in padded(PAD, other, ATTENTION, turned)] == [280, 0]


def test_attention_is_told_before_a_product_that_reads_as_much() -> None:
    (row,) = padded(PAD, "0 MatMulV3 AI_CORE 32768,80;80,256 32768,256 27 9000 9000 0.5", ATTENTION)
    assert row["used_by"] == "PromptFlashAttention"


def test_the_forward_pass_is_told_before_the_backward_one_that_reads_the_same() -> None:
    both = [
        ATTENTION.replace("PromptFlashAttention", name) for name in ("FlashAttentionScore", "FlashAttentionScoreGrad")
    ]
    (row,) = padded(PAD, *both[:1], both[1].replace("900 900", "2000 2000"))
    assert row["used_by"] == "FlashAttentionScore"


@pytest.mark.parametrize(
    "pad",
    [
        "0 PadV3 AI_VECTOR_CORE 4,16,500,80;8; 4,16,512,80 81 450 400 0.05",  # tokens
        "0 PadV3 AI_VECTOR_CORE 4,16,510,78;8; 4,16,512,80 81 450 400 0.05",  # both sides of an image
        "0 PadV3 AI_VECTOR_CORE 8,16,512,72;8; 8,16,512,80 81 450 400 0.05",  # that nobody of these reads
        "0 MirrorPad AI_VECTOR_CORE 4,16,512,72;8; 4,16,512,80 81 450 400 0.05",
        "1 PadV3 AI_VECTOR_CORE 4,16,512,72;8; 4,16,512,80 81 450 400 0.05",  # of another rank
        "0 StridedSliceD AI_VECTOR_CORE 4,16,512,72 4,16,512,80 81 450 400 0.05",
    ],
)
def test_all_else_is_none(pad: str) -> None:
    assert padded(pad, ATTENTION, CUT) == []


def test_of_what_pads_without_shapes_nothing_is_known_but_that_it_does() -> None:
    (row,) = padded("0 PadV3 AI_VECTOR_CORE - - 81 450 400 0.05", ATTENTION, CUT)
    assert (row["pad_us"], row["cut_us"], row["used_by"], row["narrow_side"]) == (450, 0, None, None)


def test_what_a_convolution_reads_is_padded_as_that_wants() -> None:
    assert (
        padded(
            "0 PadV3 AI_VECTOR_CORE 4,80,3000 4,80,3002 2 90 90 0.05",
            "0 Conv2D AI_CORE 4,80,3002;8,80,3 4,8,3000 2 90 90 0.1",
        )
        == []
    )
