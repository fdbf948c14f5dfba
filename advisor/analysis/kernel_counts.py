# SPDX-License-Identifier: Apache-2.0
"""How many kernels of a rank are short, and how many shapes they meet: what needs every kernel, told in few rows."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by, ratio, row_of_key
from advisor.facts.base import MISSING
from advisor.facts.derived import KernelLength, PhaseLaunch, ShapeCount
from advisor.facts.derived.operators import LONGEST_COUNTED_US
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, values_at


def kernel_lengths(kernels: Table[Kernel], launched: Table[PhaseLaunch] | None = None) -> Table[KernelLength]:
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
        calls_per_kernel=_calls_per_kernel(kernels["rank"][groups.first], launched),
    )


def _calls_per_kernel(rank: Array, launched: Table[PhaseLaunch] | None) -> Array:
    """Per rank asked for: calls that launch over what they launch."""
    if launched is None:
        return np.full(len(rank), np.nan)
    whole = launched.take(launched.texts("engine_phase").codes < 0)
    each = np.minimum(ratio(whole["calls"], whole["kernels"]), 1)
    return values_at(each, row_of_key(whole["rank"], rank), np.nan)


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
