# SPDX-License-Identifier: Apache-2.0
"""How many kernels of a rank are short, and how many shapes they meet: what needs every kernel, told in few rows."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.derived import KernelLength, ShapeCount
from advisor.facts.derived.operators import LONGEST_COUNTED_US
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table


def kernel_lengths(kernels: Table[Kernel]) -> Table[KernelLength]:
    """One row per rank and whole µs that any of its kernels lasts."""
    us = kernels["duration_us"]
    ranks = group_by(kernels["rank"])
    length = np.where(np.isnan(us), -1.0, np.minimum(np.floor(us), LONGEST_COUNTED_US))
    groups = group_by(ranks.of, length.astype(np.int64))
    from_us = length[groups.first]
    return Table.build(
        KernelLength,
        rank=kernels["rank"][groups.first],
        from_us=np.where(from_us < 0, np.nan, from_us),
        kernels=groups.sizes,
        total_us=groups.sums(us),
        middle_us=ranks.medians(us)[ranks.of[groups.first]],
    )


def shape_counts(kernels: Table[Kernel]) -> Table[ShapeCount]:
    """One row per rank and step; kernels outside of steps come last."""
    shapes = kernels.texts("input_shapes")
    order = np.lexsort((kernels["step"], kernels["step"] == MISSING, kernels["rank"]))
    kernels, code = kernels.take(order), shapes.codes[order]
    ranks, steps = group_by(kernels["rank"]), group_by(kernels["rank"], kernels["step"])
    told = code >= 0
    recorded = np.bincount(ranks.of, told, len(ranks)) > 0

    def counted(each: Array) -> Array:
        """The shapes that are the first of their group of rows, by step; missing where a rank has none at all."""
        many = np.bincount(steps.of[each], told[each], len(steps))
        return np.where(recorded[ranks.of[steps.first]], many, np.nan)

    return Table.build(
        ShapeCount,
        rank=kernels["rank"][steps.first],
        step=kernels["step"][steps.first],
        distinct_shapes=counted(group_by(steps.of, code).first),
        new_shapes=counted(group_by(ranks.of, code).first),
    )
