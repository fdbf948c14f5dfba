# SPDX-License-Identifier: Apache-2.0
"""How many operations kernels of attention have of which marks of the program speak, by kernel and by shape."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.rooflines.attention_work import BACKWARD, FORWARD
from advisor.facts.derived import AttentionCall, AttentionShape
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, values_at

ALIKE = ("op_type", "core", "input_shapes", "input_dtypes", "input_formats", "output_shapes")
"""What tells kernels of attention apart in `attention_shapes`."""


def marked_flops(kernels: Table[Kernel], attention: Table[AttentionCall] | None) -> Array:
    """Per kernel: its operations where a mark of the program tells them; NaN of all others."""
    found = np.full(len(kernels), np.nan)
    if attention is None or not len(attention):
        return found
    rows = np.flatnonzero(kernels.texts("op_type").isin([FORWARD, BACKWARD]))
    mine = kernels.take(rows)
    place = row_at(attention["rank"], attention["start_ns"], mine["rank"], mine["start_ns"])
    found[rows] = values_at(attention["mega_flops"], place, np.nan) * 1e6
    return found


def attention_shapes(kernels: Table[Kernel], attention: Table[AttentionCall]) -> Table[AttentionShape]:
    """One row per rank, type and tensors of fused attention that marks speak of."""
    mine = kernels.take(np.flatnonzero(kernels.texts("op_type").isin([FORWARD, BACKWARD])))
    groups = group_by(mine["rank"], *(mine.texts(name) for name in ALIKE))
    flops = marked_flops(mine, attention)
    marked = groups.sums((~np.isnan(flops)).astype(np.float64))
    first = groups.first
    table = Table.build(
        AttentionShape,
        rank=mine["rank"][first],
        **{name: mine.texts(name).take(first) for name in ALIKE},
        kernels=groups.sizes,
        marked=marked,
        mega_flops=np.where(marked == groups.sizes, groups.means(flops), np.nan) / 1e6,
    )
    return table.take(np.flatnonzero(marked > 0))
