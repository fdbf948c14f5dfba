# SPDX-License-Identifier: Apache-2.0
"""How many kernels of a rank are short, and how many shapes they meet: what needs every kernel, told in few rows."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.host.host import REPLAYING
from advisor.analysis.steps.cells import lie_outside_steps
from advisor.facts.base import MISSING
from advisor.facts.derived import KernelLength, PhaseLaunch, ShapeCount
from advisor.facts.derived.operators import LONGEST_COUNTED_US
from advisor.facts.observed import ApiTotal, Kernel
from advisor.facts.table import Array, Table, values_at


def kernel_lengths(
    kernels: Table[Kernel], launched: Table[PhaseLaunch] | None = None, totals: Table[ApiTotal] | None = None
) -> Table[KernelLength]:
    """One row per rank and whole µs that any of its kernels lasts, those outside of its steps left out."""
    every = kernels["rank"]
    kernels = kernels.take(~lie_outside_steps(every, kernels["step"]))
    us = kernels["duration_us"]
    ranks = group_by(kernels["rank"])
    length = np.where(np.isnan(us), -1.0, np.minimum(np.floor(us), LONGEST_COUNTED_US))
    each = _calls_per_kernel(kernels["rank"][ranks.first], every, launched, totals)
    each = np.fmin(each, _launched_alone(ranks, kernels["graph"]))
    groups = group_by(ranks.of, length.astype(np.int64))
    from_us = length[groups.first]
    return Table.build(
        KernelLength,
        rank=kernels["rank"][groups.first],
        from_us=np.where(from_us < 0, np.nan, from_us),
        kernels=groups.sizes,
        total_us=groups.sums(us),
        middle_us=ranks.medians(us)[ranks.of[groups.first]],
        calls_per_kernel=each[ranks.of[groups.first]],
    )


def _calls_per_kernel(
    own: Array, rank: Array, launched: Table[PhaseLaunch] | None, totals: Table[ApiTotal] | None
) -> Array:
    """Per rank: calls that launch over what they launch; where that was not recorded, and graphs were replayed, by the
    totals of calls over all its kernels."""
    found = np.full(len(own), np.nan)
    if launched is not None:
        whole = launched.take(launched.texts("engine_phase").codes < 0)
        each = np.minimum(ratio(whole["calls"], whole["kernels"]), 1)
        found = values_at(each, row_of_key(whole["rank"], own), np.nan)
    if totals is None:
        return found
    replays = totals.texts("activity").isin(REPLAYING)
    launches = replays | (totals.texts("kind").isin(["launch"]) & totals.texts("name").isin(["launch"]))
    called = np.array([np.nansum(totals["calls"][launches & (totals["rank"] == one)]) for one in own.tolist()])
    counted = np.isnan(found) & np.isin(own, totals["rank"][replays])
    kernels = np.array([np.count_nonzero(rank == one) for one in own.tolist()])
    return np.where(counted, np.minimum(ratio(called, kernels), 1), found)


def _launched_alone(ranks: Groups, graph: Array) -> Array:
    """Per rank: kernels that no compiled graph ran, as a share; missing where none was run by one."""
    alone = ranks.sums((graph == MISSING).astype(np.float64))
    return np.where(alone < ranks.sizes, alone / np.maximum(ranks.sizes, 1), np.nan)


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
