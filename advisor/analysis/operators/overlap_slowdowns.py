# SPDX-License-Identifier: Apache-2.0
"""What communication beside it costs computation: equal kernels with a collective beside them against those without.

Kernels of one rank with equal inputs do the same work, so that the difference of their medians is what happens beside
them, as far as it is more than their own spread: that of quarters that do not touch. What waits for other ranks inside
is left out, and so are kernels that a collective covers in part.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import ratio
from advisor.analysis.arrays.intervals import covered_ns
from advisor.analysis.operators.like_kernels import group_like_kernels
from advisor.analysis.operators.operators import in_steps
from advisor.analysis.rooflines.families import communicate_inside, families_of
from advisor.analysis.steps.device import build_timeline
from advisor.facts.derived import Overlap, OverlapSlowdown
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Table

_MOSTLY = 0.9
"""A kernel is beside communication where so much of it is."""
_ENOUGH = 3
"""Fewer kernels have no median to speak of."""
_QUARTER = 0.25


def overlap_slowdowns(
    kernels: Table[Kernel],
    collectives: Table[Collective],
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[OverlapSlowdown]:
    """One row per rank and inputs, where at least three such kernels ran beside communication and three without."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    types = every.table.texts("op_type")
    chosen = every.take(
        np.flatnonzero((types.codes >= 0) & ~communicate_inside(types) & (every.table.texts("input_shapes").codes >= 0))
    )
    work = device.work
    shift = device.axis.shift[work.cell[chosen.row]]
    start, end = work.start[chosen.row] + shift, work.end[chosen.row] + shift
    part = ratio(covered_ns(device.comm, start, end).astype(float), (end - start).astype(float))
    clear = (part >= _MOSTLY) | (part == 0)
    whole, is_beside = chosen.take(np.flatnonzero(clear)), part[clear] > 0
    groups = group_like_kernels(whole.table)
    beside, bare = (groups.sums(where.astype(float)) for where in (is_beside, ~is_beside))
    compared = np.flatnonzero((beside >= _ENOUGH) & (bare >= _ENOUGH))
    us, steps = whole.duration_us, whole.steps[groups.first]
    with_it, without = np.where(is_beside, us, np.nan), np.where(is_beside, np.nan, us)
    usual, slower = groups.medians(without), groups.medians(with_it)
    took = groups.sums(np.where(is_beside, us, 0.0))
    table = whole.table.take(groups.first)
    every_row = Table.build(
        OverlapSlowdown,
        rank=table["rank"],
        **{name: table.texts(name) for name in ("op_type", "function", "input_shapes", "input_dtypes")},
        family=families_of(table.texts("op_type"), table.texts("core")),
        beside_calls=beside / steps,
        bare_calls=bare / steps,
        beside_median_us=slower,
        bare_median_us=usual,
        slowdown=ratio(slower, usual),
        beside_us=took / steps,
        at_bare_us=beside * usual / steps,
        extra_us=np.maximum(took - beside * usual, 0.0) / steps,
        apart=(groups.quantiles(with_it, _QUARTER) > groups.quantiles(without, 1 - _QUARTER)).astype(np.int8),
    )
    return every_row.take(compared)
