# SPDX-License-Identifier: Apache-2.0
"""What other tables tell of kernels by their shapes: marks of the program, and communication beside them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.analysis.rooflines.marked_attention import ALIKE
from advisor.facts.derived import AttentionShape, OperatorShape, OverlapSlowdown
from advisor.facts.table import Array, Table, Texts, values_at


def marked_flops(shapes: Table[OperatorShape], attention: Table[AttentionShape] | None) -> Array:
    """Per row: the operations that marks of the program tell; NaN of all others."""
    if attention is None or not len(attention):
        return np.full(len(shapes), np.nan)
    return values_at(attention["mega_flops"], _row_of_like(attention, shapes, ALIKE), np.nan) * 1e6


def beside_communication(shapes: Table[OperatorShape], beside: Table[OverlapSlowdown] | None) -> dict[str, Array]:
    """Per row: how much slower communication clearly makes those beside it, and what that costs, by column."""
    columns = {"beside_slowdown": "slowdown", "beside_extra_us": "extra_us"}
    if beside is None or not len(beside):
        return {name: np.full(len(shapes), np.nan) for name in columns}
    beside = beside.take(beside["apart"] == 1)
    at = _row_of_like(beside, shapes, ("op_type", "function", "input_shapes", "input_dtypes"))
    return {name: values_at(beside[source], at, np.nan) for name, source in columns.items()}


def _row_of_like(
    told: Table[AttentionShape] | Table[OverlapSlowdown], shapes: Table[OperatorShape], alike: Iterable[str]
) -> Array:
    """Per row: that of the other table of the same rank with equal texts; -1 where it has none."""
    texts = (Texts.concat([told.texts(name), shapes.texts(name)]) for name in alike)
    keys = group_by(np.append(told["rank"], shapes["rank"]), *texts).of
    return row_of_key(keys[: len(told)], keys[len(told) :])
