# SPDX-License-Identifier: Apache-2.0
"""Attention that is given a full mask, and how much of its pairs marks say are computed."""

from __future__ import annotations

import pytest

from advisor.analysis.rooflines.full_masks import full_masks
from advisor.facts.derived import AttentionShape, OperatorShape
from advisor.facts.table import Table

SHAPES = "1,8,4096,128;1,8,4096,128;1,8,4096,128;1,1,4096,4096"
TYPES = "FLOAT16;FLOAT16;FLOAT16;BOOL"


def of_shapes(**more: object) -> Table[OperatorShape]:
    return Table.build(
        OperatorShape,
        rank=[0, 1, 1],
        op_type=["FlashAttentionScore", "FlashAttentionScore", "MatMulV3"],
        core="MIX_AIC",
        input_shapes=[SHAPES, SHAPES.rpartition(";")[0], "16,16;16,16"],
        input_dtypes=[TYPES, TYPES.rpartition(";")[0], "FLOAT16;FLOAT16"],
        output_shapes="1,8,4096,128",
        output_dtypes="FLOAT16",
        calls=2.0,
        mean_us=300.0,
        total_us=600.0,
        instant_us=500.0,
        **more,
    )


def test_only_attention_with_a_mask_of_all_pairs_has_a_row() -> None:
    (row,) = full_masks(of_shapes()).rows()
    assert (row["rank"], row["queries"], row["keys"], row["total_us"], row["instant_us"]) == (0, 4096, 4096, 600, 500)
    assert row["counted_share"] is None


@pytest.mark.parametrize("part", [0.5, 1.0])
def test_marks_tell_which_part_of_the_pairs_is_computed(part: float) -> None:
    pairs = 4 * 8 * 4096 * 4096 * 128
    marked = Table.build(
        AttentionShape,
        rank=0,
        op_type="FlashAttentionScore",
        core="MIX_AIC",
        input_shapes=[SHAPES],
        input_dtypes=TYPES,
        output_shapes="1,8,4096,128",
        kernels=2.0,
        marked=2.0,
        mega_flops=part * pairs / 1e6,
    )
    (row,) = full_masks(of_shapes(), marked).rows()
    assert row["counted_share"] == pytest.approx(part)
