# SPDX-License-Identifier: Apache-2.0
"""Equal work that takes longer from step to step: by how much, and how surely.

A device that heats up, or whatever fills up as the job goes on, slows kernels little by little, where a clock that
drops at some moment parts the steps into two levels (`step_levels`). Kernels are compared as there: those of which
every step has as many with the same inputs. The growth is that of the straight line of least squares through the times
of all compared steps, and how sure it is says the rank correlation of Spearman between them and their order.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.analysis.operators.like_kernels import group_like_kernels
from advisor.analysis.operators.operators import equal_work_in_steps, typed_in_steps
from advisor.analysis.rooflines.families import communicate_inside, families_of
from advisor.analysis.steps.cells import Cells
from advisor.analysis.steps.device import build_timeline
from advisor.analysis.steps.recorded_clocks import usable_clocks
from advisor.facts.derived import OperatorTrend, Overlap
from advisor.facts.observed import Collective, Frequency, Kernel, StepWindow
from advisor.facts.table import Array, Table


def operator_trends(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    frequencies: Table[Frequency] | None = None,
) -> Table[OperatorTrend]:
    """One row per operator type of each rank whose steps may be compared."""
    device = build_timeline(kernels, collectives, None, windows)
    every, cells = typed_in_steps(device, kernels, split), device.cells
    work = equal_work_in_steps(device, kernels, split)
    like = group_like_kernels(every.table).first
    types = every.table.texts("op_type").take(like)
    counts = ~communicate_inside(types)[work.group]
    group, cell, us = work.group[counts], work.cell[counts], work.us[counts]
    if not len(us):
        return Table.empty(OperatorTrend)
    points = group_by(cell)
    at, whole = cell[points.first], points.sums(us)
    ranks = group_by(cells.rank[at])
    turn = ranks.turns(cells.begin[at])
    turn_of_cell = np.zeros(len(cells), np.int64)
    turn_of_cell[at] = turn
    each = group_by(cells.rank[cell], types.take(group), cell)
    own = cell[each.first]
    named = types.take(group[each.first])
    series = group_by(cells.rank[own], named)
    first, last = _ends_of_line(series, turn_of_cell[own], each.sums(us))
    row = group[each.first][series.first]
    table = every.table.take(like[row])
    rank = cells.rank[own[series.first]]
    place = np.searchsorted(cells.rank[at[ranks.first]], rank)
    of_rank = {
        **_trend_of_ranks(ranks, turn, whole),
        "compared_share": ratio(ranks.sums(whole), ranks.sums(work.every_us[at])),
        **_clocks(frequencies, cells, ranks, at, turn),
    }
    return Table.build(
        OperatorTrend,
        rank=rank,
        op_type=table.texts("op_type"),
        family=families_of(table.texts("op_type"), table.texts("core")),
        first_us=first,
        last_us=last,
        growth=ratio(last, first),
        input_known=((table.texts("input_shapes").codes >= 0) | ~np.isnan(table["blocks"])).astype(np.int8),
        **{name: value[place] for name, value in of_rank.items()},
    )


def _ends_of_line(groups: Groups, turn: Array, values: Array) -> tuple[Array, Array]:
    """Per group: the first and the last point of the line of least squares through its values, in turn."""
    away = turn - ((groups.sizes - 1) / 2)[groups.of]
    slope = ratio(groups.sums(away * values), groups.sums(away * away))
    half, mean = slope * (groups.sizes - 1) / 2, groups.means(values)
    return mean - half, mean + half


def _trend_of_ranks(ranks: Groups, turn: Array, values: Array) -> dict[str, Array]:
    """Per rank, by column: how its compared kernels grow together."""
    first, last = _ends_of_line(ranks, turn, values)
    middle = ((ranks.sizes - 1) / 2)[ranks.of]
    place = ranks.turns(values)  # of equal values the first in order
    order = ranks.in_order(turn)
    of, steps = ranks.of[order], np.maximum(ranks.sizes - 1, 1)
    same = of[1:] == of[:-1]
    rise = np.diff(values[order])[same]
    following = Groups(of[1:][same], ranks.first)
    grown = last - first
    beside = np.abs(rise - (grown / steps)[following.of])
    return {
        "compared_steps": ranks.sizes.astype(float),
        "rank_growth": ratio(last, first),
        "correlation": ratio(
            ranks.sums((turn - middle) * (place - middle)), ranks.sums((turn - middle) * (turn - middle))
        ),
        "noise_share": ratio(np.bincount(following.of, beside, len(ranks)) / steps, first),
        "steepest_share": ratio(following.largest(rise), grown),
        "over_first_us": np.maximum(ranks.means(values) - first, 0.0),
    }


def _clocks(samples: Table[Frequency] | None, cells: Cells, ranks: Groups, at: Array, turn: Array) -> dict[str, Array]:
    """Per rank: the clock as its first and its last compared step begin; NaN where none was recorded before."""
    found = {name: np.full(len(ranks), np.nan) for name in ("first_mhz", "last_mhz")}
    if samples is None:
        return found
    good = usable_clocks(samples)
    bounds = [np.searchsorted(good["rank"], cells.rank[at[ranks.first]], side=side) for side in ("left", "right")]
    for name, wanted in (("first_mhz", np.zeros(len(ranks))), ("last_mhz", ranks.sizes - 1.0)):
        rows = np.flatnonzero(turn == wanted[ranks.of])
        for place, cell in zip(ranks.of[rows].tolist(), at[rows].tolist(), strict=True):
            begin, end = int(bounds[0][place]), int(bounds[1][place])
            held = begin + int(np.searchsorted(good["time_ns"][begin:end], cells.begin[cell], side="right")) - 1
            found[name][place] = good["mhz"][held] if held >= begin else np.nan
    return found
