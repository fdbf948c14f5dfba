# SPDX-License-Identifier: Apache-2.0
"""In which steps the data of equal collectives move more slowly than in others: links that are disturbed at times.

How long a collective lasts tells that only where nobody is waited for; how long its data move tells it always.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.analysis.steps.cells import Cells, cells_of, lie_outside_steps
from advisor.analysis.steps.device import end_after
from advisor.analysis.steps.step_levels import StepLevels, equal_work, levels_of_ranks, two_levels
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, TransferPace
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table


class SlowTransfers(Struct, frozen=True):
    """Compared steps of ranks, one value each; `ranks` holds those of one rank together."""

    cells: Cells
    ranks: Groups
    cell: Array
    moved_us: Array
    """For how long data of the compared collectives move."""
    bare_us: Array
    """The part of it with no kernel beside them."""
    levels: StepLevels
    every_us: Array
    """For how long data of all collectives move."""

    @property
    def bare_excess_us(self) -> Array:
        """In slow steps of ranks that have such: how much longer data move bare than in a quick one; else 0."""
        usual = self.ranks.means(np.where(self.levels.is_slow, np.nan, self.bare_us))[self.ranks.of]
        is_slow = self.levels.is_slow & self.levels.are_told[self.ranks.of]
        return np.where(is_slow, np.maximum(self.bare_us - usual, 0.0), 0.0)


def transfer_paces(calls: Table[CollectiveCall], windows: Table[StepWindow] | None) -> Table[TransferPace]:
    """One row per rank that has slow steps and quick ones."""
    found = slow_transfers(calls, windows)
    ranks, levels, moved = found.ranks, found.levels, found.moved_us
    slow, quick = (np.where(levels.is_slow == level, moved, np.nan) for level in (True, False))
    rank, recorded = found.cells.rank[found.cell[ranks.first]], group_by(found.cells.rank)
    steps = recorded.sizes[np.searchsorted(found.cells.rank[recorded.first], rank)]
    table = Table.build(
        TransferPace,
        rank=rank,
        quick_us=ranks.means(quick),
        slow_us=ranks.means(slow),
        slowdown=levels.slowdown,
        bare_extra_us=ranks.sums(found.bare_excess_us) / steps,
        **levels_of_ranks(ranks, levels, found.cells.begin[found.cell], found.cells.step[found.cell]),
        compared_share=ratio(ranks.sums(moved), ranks.sums(found.every_us)),
    )
    return table.take(levels.are_told)


def slow_transfers(calls: Table[CollectiveCall], windows: Table[StepWindow] | None) -> SlowTransfers:
    """The steps of each rank by how long data of equal collectives move. Worked out once for all."""
    return calls.once(_find_slow_transfers, windows)


def _find_slow_transfers(calls: Table[CollectiveCall], windows: Table[StepWindow] | None) -> SlowTransfers:
    known = (calls["transit_us"] > 0) & (calls["size_bytes"] > 0) & (calls["p2p"] != 1) & (calls["start_ns"] != MISSING)
    calls = calls.take(known & ~lie_outside_steps(calls["rank"], calls["step"]))
    start, end = calls["start_ns"], end_after(calls["start_ns"], calls["elapse_us"])
    cells = cells_of(calls["rank"], calls["step"], start, end, windows)
    cell = cells.of(calls["rank"], calls["step"], start)
    like = group_by(calls["rank"], calls.texts("op"), calls.texts("group"), calls["size_bytes"])
    work = equal_work(cells, like, cell, calls["transit_us"], np.zeros(len(calls)))
    moved = np.bincount(work.cell, work.us, len(cells))
    bare = np.bincount(cell[work.kernels], np.nan_to_num(calls["bare_transit_us"][work.kernels]), len(cells))
    at = np.flatnonzero(moved > 0)
    ranks = group_by(cells.rank[at])
    levels = two_levels(ranks, moved[at], cells.begin[at])
    return SlowTransfers(cells, ranks, at, moved[at], bare[at], levels, work.every_us[at])
