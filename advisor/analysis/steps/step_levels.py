# SPDX-License-Identifier: Apache-2.0
"""Equal work that takes longer in some steps than in others: in which ones, by how much, and how clearly.

Kernels that are alike, and as many in every step, do the same work in each and should take the same time. Where they do
not, their steps are parted into a quick and a slow level: where two neighbours, in order of their time, have the
largest ratio. How far the levels lie apart, beside the spread on either, tells a change from noise.

The first step of a rank is left out, in which devices warm up, and so is a last one that lacks kernels.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.analysis.steps.cells import Cells
from advisor.facts.base import MISSING
from advisor.facts.table import Array

FEW = 2
"""A level of fewer steps may be chance: there is no spread to hold it against."""


class StepLevels(Struct, frozen=True):
    """Values of some groups, those of each parted into two levels."""

    is_slow: Array
    """Per value: whether it lies on the upper level."""
    slowdown: Array
    """Per group: the mean of the upper level over that of the lower one; missing for fewer than two values."""
    contrast: Array
    """Per group: the gap between both levels, as a part of it and the larger spread on one of them: 1 without any
    spread, a half where the gap is no larger than the spread. A value within which the level changed, for good, is
    no part of the spread."""
    are_told: Array
    """Per group: whether both levels have enough values, and the upper ones are not just those that came first."""


def two_levels(groups: Groups, values: Array, moment: Array) -> StepLevels:
    """Positive values, each group parted at the largest ratio of two neighbours in order of size."""
    order = groups.in_order(values)
    of, held = groups.of[order], np.log(values[order])
    gaps = np.where(of[1:] == of[:-1], np.diff(held), -1.0)
    widest = np.full(len(groups), -1.0)
    np.maximum.at(widest, of[1:], gaps)
    place = np.full(len(groups), len(held))
    cuts = np.flatnonzero((gaps == widest[of[1:]]) & (gaps >= 0))[::-1]
    place[of[cuts]] = cuts + 1  # of equal ones the first
    is_slow = np.empty(len(held), bool)
    is_slow[order] = np.arange(len(held)) >= place[of]
    slow, quick = np.where(is_slow, values, np.nan), np.where(is_slow, np.nan, values)
    settled = np.where(_change_within(groups, values, moment, is_slow), np.nan, values)
    settled_levels = (np.where(level, settled, np.nan) for level in (is_slow, ~is_slow))
    spread = np.fmax(*(np.log(ratio(groups.largest(level), groups.smallest(level))) for level in settled_levels))
    count = groups.sums(is_slow.astype(float))
    came_first = groups.largest(np.where(is_slow, moment, -np.inf)) < groups.smallest(np.where(is_slow, np.inf, moment))
    return StepLevels(
        is_slow,
        ratio(groups.means(slow), groups.means(quick)),
        ratio(widest, widest + spread),
        (count >= FEW) & (groups.sizes - count >= FEW) & ~came_first,
    )


def _change_within(groups: Groups, values: Array, moment: Array, is_slow: Array) -> Array:
    """Per value: whether its group rises to the upper level once, for good, and does so within this one.

    Of the two between which it rises that is the one further from its own level, if it lies towards the other; a level
    of no more than the fewest values keeps them all.
    """
    order = groups.in_order(moment)
    of, slow, held = groups.of[order], is_slow[order], np.log(values[order])
    turns = np.flatnonzero((of[1:] == of[:-1]) & (slow[1:] != slow[:-1])) + 1
    rises = turns[(np.bincount(of[turns], minlength=len(groups)) == 1)[of[turns]] & slow[turns]]
    slow_ones = groups.sums(is_slow.astype(float))[of[rises]]
    quick_ones = groups.sizes[of[rises]] - slow_ones
    from_quick = np.where(quick_ones > FEW, held[rises - 1] - held[np.maximum(rises - 2, 0)], 0.0)
    to_slow = np.where(slow_ones > FEW, held[np.minimum(rises + 1, len(held) - 1)] - held[rises], 0.0)
    within = np.where(from_quick >= to_slow, rises - 1, rises)[np.fmax(from_quick, to_slow) > 0]
    found = np.zeros(len(values), bool)
    found[order[within]] = True
    return found


def levels_of_ranks(ranks: Groups, levels: StepLevels, begin: Array, step: Array) -> dict[str, Array]:
    """Per rank, by column: how many of its compared steps are slow, from which one on, and how clearly.

    `begin` and `step` are those of the values that were parted.
    """
    since = ranks.smallest(np.where(levels.is_slow, begin, np.nan))
    first = np.flatnonzero(begin == since[ranks.of])
    number = np.full(len(ranks), np.nan)
    number[ranks.of[first]] = np.where(step[first] == MISSING, np.nan, step[first])
    return {
        "compared_steps": ranks.sizes.astype(float),
        "slow_steps": ranks.sums(levels.is_slow.astype(float)),
        "first_slow_step": number,
        "lasting": ranks.largest(np.where(levels.is_slow, np.nan, begin)) < since,
        "contrast": levels.contrast,
    }


class EqualWork(Struct, frozen=True):
    """Groups of like kernels of which every compared step of their rank has as many, by group and step."""

    kernels: Array
    """Positions of the kernels they consist of, and per such kernel its group and step, as a place in what follows."""
    of: Array
    group: Array
    """Per group and step: the group, the cell, and the time of its kernels."""
    cell: Array
    us: Array
    every_us: Array
    """Per cell: the time of all kernels where it is compared, else 0."""


def equal_work(cells: Cells, groups: Groups, cell: Array, us: Array, blocks: Array) -> EqualWork:
    """What of some kernels may be held against other steps; `blocks`, where recorded, have to be the same too."""
    compared = _compared_cells(cells, np.bincount(cell, minlength=len(cells)))
    every = np.bincount(cell, weights=us, minlength=len(cells)) * compared
    kernels = np.flatnonzero(compared[cell])
    both = group_by(groups.of[kernels], cell[kernels])
    group, at = groups.of[kernels[both.first]], cell[kernels[both.first]]
    total, work = both.sums(us[kernels]), both.sums(blocks[kernels])
    of_group = Groups(group, groups.first)
    ranks = group_by(cells.rank)
    steps = ranks.sums(compared.astype(float))[ranks.of]
    calls = both.sizes.astype(float)
    even = of_group.sizes[group] == steps[at]
    for values in (calls, work):
        even &= (of_group.smallest(values) == of_group.largest(values))[group]
    even &= (of_group.smallest(total) > 0)[group]
    number = np.cumsum(even) - 1
    kept = even[both.of]
    return EqualWork(kernels[kept], number[both.of[kept]], group[even], at[even], total[even], every)


def _compared_cells(cells: Cells, calls: Array) -> Array:
    """Per cell: whether it is compared; none of a rank with too few of them for two levels."""
    ranks = group_by(cells.rank)
    turn = ranks.turns(cells.begin)
    inner = (turn > 0) & (turn < ranks.sizes[ranks.of] - 1)
    least = ranks.smallest(np.where(inner, calls, np.nan))
    found = inner | ((turn > 0) & (calls >= least[ranks.of]))
    enough = np.bincount(ranks.of, weights=found, minlength=len(ranks)) >= 2 * FEW
    return np.asarray(found & enough[ranks.of])
