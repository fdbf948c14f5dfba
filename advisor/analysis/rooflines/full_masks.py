# SPDX-License-Identifier: Apache-2.0
"""Which fused attention is given a mask of all queries by all keys: what such a mask hides is computed all the same,
unless the numbers of tokens beside it say otherwise, which only marks of the program tell."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import ratio
from advisor.analysis.arrays.tensors import parse_tensors
from advisor.analysis.rooflines.attention_work import flops_per_key_of_attention, full_mask_of_attention
from advisor.analysis.rooflines.like_shapes import marked_flops
from advisor.facts.derived import AttentionShape, FullMask, OperatorShape
from advisor.facts.table import Array, Table


def full_masks(shapes: Table[OperatorShape], attention: Table[AttentionShape] | None = None) -> Table[FullMask]:
    """One row for each of `operator_shapes` that is attention with such a mask."""
    texts = (shapes.texts(name).values() for name in ("op_type", "input_shapes", "input_dtypes"))
    masks = [
        None if shape is None else full_mask_of_attention(op or "", parse_tensors(shape, dtypes))
        for op, shape, dtypes in zip(*texts, strict=True)
    ]
    rows = np.array([row for row, mask in enumerate(masks) if mask is not None], np.intp)
    mine = shapes.take(rows)
    sides = np.array([mask for mask in masks if mask is not None], float).reshape(-1, 2)
    return Table.build(
        FullMask,
        **{name: mine.texts(name) for name in ("op_type", "input_shapes")},
        **{name: mine[name] for name in ("rank", "calls", "mean_us", "total_us", "instant_us")},
        queries=sides[:, 0],
        keys=sides[:, 1],
        counted_share=ratio(marked_flops(mine, attention), _flops_of_all_pairs(mine, sides[:, 1])),
    )


def _flops_of_all_pairs(shapes: Table[OperatorShape], keys: Array) -> Array:
    """Per row: the operations of attention in which every query meets every key; NaN where shapes do not tell."""
    names = ("op_type", "input_shapes", "input_dtypes", "output_shapes", "output_dtypes")
    rows = zip(*(shapes.texts(name).values() for name in names), strict=True)
    per_key = (
        flops_per_key_of_attention(op or "", parse_tensors(inputs, types), parse_tensors(outputs, made))
        for op, inputs, types, outputs, made in rows
    )
    return np.fromiter(per_key, float, len(shapes)) * keys
