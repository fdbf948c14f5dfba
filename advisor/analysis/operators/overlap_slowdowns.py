# SPDX-License-Identifier: Apache-2.0
"""What communication beside it costs computation: equal kernels with a collective beside them against those without.

Kernels of one rank with equal inputs do the same work, so that the difference of their medians is what happens beside
them, as far as it is more than their own spread: that of quarters that do not touch. What waits for other ranks inside
is left out. Kernels that a collective covers in part say nothing of how much slower it makes them, but they lose by it
too: as much as they take longer than the others, and never more than the time in which they are covered.
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
    """One row per rank and inputs, where at least three such kernels ran without communication, and three beside it or
    three that it covers in part."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    types = every.table.texts("op_type")
    chosen = every.take(
        np.flatnonzero((types.codes >= 0) & ~communicate_inside(types) & (every.table.texts("input_shapes").codes >= 0))
    )
    work = device.work
    shift = device.axis.shift[work.cell[chosen.row]]
    start, end = work.start[chosen.row] + shift, work.end[chosen.row] + shift
    covered = covered_ns(device.comm, start, end).astype(float)
    part = ratio(covered, (end - start).astype(float))
    is_beside, is_bare = part >= _MOSTLY, part == 0
    in_part = ~is_beside & ~is_bare
    groups = group_like_kernels(chosen.table)
    bare, partly, met = (groups.sums(where.astype(float)) for where in (is_bare, in_part, is_beside))
    beside = np.where(met >= _ENOUGH, met, 0.0)
    compared = np.flatnonzero((bare >= _ENOUGH) & ((beside > 0) | (partly >= _ENOUGH)))
    us, steps = chosen.duration_us, chosen.steps[groups.first]
    with_it, without, covered_in_part = (np.where(where, us, np.nan) for where in (is_beside, is_bare, in_part))
    usual, slower = groups.medians(without), np.where(beside > 0, groups.medians(with_it), np.nan)
    took = np.where(beside > 0, groups.sums(with_it), 0.0)
    longest_of_bare = groups.quantiles(without, 1 - _QUARTER)
    lost_in_part = groups.sums(np.minimum(covered_in_part - usual[groups.of], covered / 1e3))
    told_in_part = (partly >= _ENOUGH) & (groups.quantiles(covered_in_part, _QUARTER) > longest_of_bare)
    table = chosen.table.take(groups.first)
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
        apart=((beside > 0) & (groups.quantiles(with_it, _QUARTER) > longest_of_bare)).astype(np.int8),
        partly_calls=partly / steps,
        partly_extra_us=np.where(told_in_part, np.maximum(lost_in_part, 0.0), 0.0) / steps,
    )
    return every_row.take(compared)
