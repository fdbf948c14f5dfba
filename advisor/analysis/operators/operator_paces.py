# SPDX-License-Identifier: Apache-2.0
"""How the kernels of a rank ran in the steps in which they were slow: whether all of them, or those of some type.

A lowered clock, a power limit or another job on the device slows all kernels alike, from some moment on or at times;
a single operator that is slow in some steps has a reason of its own.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.analysis.arrays.intervals import covered_ns
from advisor.analysis.operators.like_kernels import group_like_kernels
from advisor.analysis.operators.operators import StepKernels, equal_work_in_steps, typed_in_steps
from advisor.analysis.rooflines.families import communicate_inside, families_of
from advisor.analysis.steps.cells import Cells
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.analysis.steps.step_levels import EqualWork, StepLevels, levels_of_ranks, two_levels
from advisor.facts.derived import OperatorPace, Overlap, Removal
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table


class SlowSteps(Struct, frozen=True):
    """Kernels of ranks that have slow steps, with what each takes beyond a quick one."""

    row: Array
    """Of the kernels that were given."""
    cell: Array
    us: Array
    is_slow: Array
    """Whether it lies in a slow step."""
    excess_us: Array
    """In slow steps: how much longer it took than its like do in a quick one, on average; else 0."""
    ranks: Groups
    """The compared steps of the ranks: `rank_cell` says which cells they are."""
    rank_cell: Array
    levels: StepLevels
    compared_us: Array
    """Per cell: the time of the kernels that were compared."""
    every_us: Array
    """Per cell: the time of all its kernels."""


def operator_paces(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    without: Table[Removal] | None = None,
) -> Table[OperatorPace]:
    """One row per operator type of each rank that has slow steps and quick ones."""
    device = build_timeline(kernels, collectives, None, windows)
    every = typed_in_steps(device, kernels, split)
    found = slow_steps(device, kernels, split)
    table = every.table.take(found.row)
    groups = group_by(table["rank"], table.texts("op_type"))
    slow, quick, us = found.is_slow, ~found.is_slow, found.us
    slow_us, quick_us = (
        ratio(groups.sums(us * level), _steps_of_groups(groups, found.cell, level)) for level in (slow, quick)
    )
    beside = _beside_us(device, every, found)
    more = ratio(groups.sums(beside * slow), groups.sums(us * slow)) - ratio(
        groups.sums(beside * quick), groups.sums(us * quick)
    )
    known = (table.texts("input_shapes").codes >= 0) | ~np.isnan(table["blocks"])
    types, rank = table.texts("op_type").take(groups.first), table["rank"][groups.first]
    extra = groups.sums(found.excess_us) / every.steps[found.row[groups.first]]
    return Table.build(
        OperatorPace,
        rank=rank,
        op_type=types,
        family=families_of(types, groups.leading(table.texts("core"), us)),
        quick_us=quick_us,
        slow_us=slow_us,
        slowdown=ratio(slow_us, quick_us),
        extra_us=extra,
        more_beside=more,
        input_known=(groups.sums(us * known) > groups.sums(us) / 2).astype(np.int8),
        **_of_ranks(found, device.cells, rank),
        sooner_us=_sooner_us(without, rank, extra),
    )


def slow_steps(device: DeviceTimeline, kernels: Table[Kernel], split: Table[Overlap] | None) -> SlowSteps:
    """The kernels of a known type that may be compared, of the ranks that have slow steps. Worked out once for all."""
    return kernels.once_for_now(_find_slow_steps, device, split)


def _find_slow_steps(kernels: Table[Kernel], device: DeviceTimeline, split: Table[Overlap] | None) -> SlowSteps:
    work, cells = equal_work_in_steps(device, kernels, split), device.cells
    every = typed_in_steps(device, kernels, split)
    like = group_like_kernels(every.table)
    counts = ~communicate_inside(every.table.texts("op_type").take(like.first))[work.group]
    compared = np.bincount(work.cell, np.where(counts, work.us, 0.0), len(cells))
    rank_cell = np.flatnonzero(compared > 0)
    ranks = group_by(cells.rank[rank_cell])
    levels = two_levels(ranks, compared[rank_cell], cells.begin[rank_cell])
    is_told, is_slow = np.zeros(len(cells), bool), np.zeros(len(cells), bool)
    is_told[rank_cell], is_slow[rank_cell] = levels.are_told[ranks.of], levels.is_slow
    part = _excess_shares(work, is_slow[work.cell], len(like))
    kept = np.flatnonzero((counts & is_told[work.cell])[work.of])
    row, of = work.kernels[kept], work.of[kept]
    us = every.duration_us[row]
    return SlowSteps(
        row, work.cell[of], us, is_slow[work.cell[of]], us * part[of], ranks, rank_cell, levels, compared, work.every_us
    )


def _excess_shares(work: EqualWork, is_slow: Array, groups: int) -> Array:
    """Per group and step: the part of its time that a quick step does not need."""
    of = Groups(work.group, np.zeros(groups, np.intp))
    usual = of.means(np.where(is_slow, np.nan, work.us))[work.group]
    return np.where(is_slow, np.maximum(1 - usual / work.us, 0.0), 0.0)


def _steps_of_groups(groups: Groups, cell: Array, where: Array) -> Array:
    """Per group: how many steps there are among these kernels."""
    pairs = group_by(groups.of[where], cell[where])
    return np.bincount(groups.of[where][pairs.first], minlength=len(groups)).astype(float)


def _beside_us(device: DeviceTimeline, every: StepKernels, found: SlowSteps) -> Array:
    work = device.work
    of = every.row[found.row]
    shift = device.axis.shift[found.cell]
    return np.asarray(covered_ns(device.comm, work.start[of] + shift, work.end[of] + shift) / 1e3)


def _of_ranks(found: SlowSteps, cells: Cells, rank: Array) -> dict[str, Array]:
    """What is the same for all types of a rank, by column."""
    ranks, at = found.ranks, found.rank_cell
    values = {
        **levels_of_ranks(ranks, found.levels, cells.begin[at], cells.step[at]),
        "compared_share": ratio(ranks.sums(found.compared_us[at]), ranks.sums(found.every_us[at])),
    }
    place = np.searchsorted(cells.rank[at[ranks.first]], rank)
    return {name: value[place] for name, value in values.items()}


def _sooner_us(without: Table[Removal] | None, rank: Array, extra: Array) -> Array:
    """Per row: how much sooner a step of its rank ends with all kernels quick."""
    ranks = group_by(rank)
    every = ranks.sums(extra)
    if without is None:
        return np.asarray(every[ranks.of])
    without = without.take(without.texts("kind").isin(["pace"]))
    told = dict(zip(without["rank"].tolist(), without["steady_us"].tolist(), strict=True))
    sooner = np.array([told.get(one, np.inf) for one in rank[ranks.first].tolist()])
    return np.asarray(np.minimum(every, sooner)[ranks.of])
