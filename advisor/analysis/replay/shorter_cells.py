# SPDX-License-Identifier: Apache-2.0
"""By how much cells are shorter where the tasks in them end earlier: of one rank, or of several one after another."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, values_at


class RankEdges(Struct, frozen=True):
    """Where what belongs to each rank begins among tasks and cells of ranks that follow each other; the last number of
    both is how many there are. The last task of each rank ends its steps."""

    tasks: Array
    cells: Array
    lead: Array
    """Per rank: for how long its first cell lasts before its very first task, ns."""

    @classmethod
    def of_one(cls, tasks: int, cells: int, lead: int) -> RankEdges:
        """Those of a single rank, to which all tasks and cells belong."""
        return cls(np.array([0, tasks]), np.array([0, cells]), np.array([lead]))


class ShorterCells(Struct, frozen=True):
    """What a replay makes of cells, ns."""

    by: Array
    """Per cell: how much shorter it is."""
    ahead: Array
    """Per rank: how much of it lies before its very first task, and so in none of its cells; 0 of one with a single
    cell."""
    uncounted: Array
    """Per rank with a single cell: how much of it lies before that cell, and is not in `by`; 0 of others."""


def until_last_task(gain: Array, edges: RankEdges) -> Array:
    """The gains of a replay in which each rank ends with its last task, as the time of the last step does.

    The host may end that step long after: it writes the profile, or waits for others.
    """
    end = edges.tasks[1:] - 1
    found = gain.copy()
    found[end] = np.where(end > edges.tasks[:-1], values_at(gain, end - 1, 0), 0)
    return found


def shorter_cells(gain: Array, last: Array, edges: RankEdges, spared: Array | None = None) -> ShorterCells:
    """By how much each cell is shorter, from how much earlier each task ends, and what each is spared itself; `last` is
    per cell the last task until its end, or -1.

    What the host does before the very first task is counted as the pause before that step would be, and as no more than
    is lost in the step itself or the longest of the others: the host may have waited for work that was not recorded. Of
    a single step nobody can tell: there it counts as far as the time of the step reaches, which may begin with it.
    """
    begin, count = edges.cells[:-1], np.diff(edges.cells)
    until = values_at(gain, last, 0)
    found = np.diff(until, prepend=0)
    first = begin[count > 0]
    found[first] = until[first]
    later = np.ones(len(found), bool)
    later[first] = False
    longest = np.full(len(count), np.iinfo(np.int64).min)
    np.maximum.at(longest, np.repeat(np.arange(len(count)), count)[later], found[later])
    ahead = gain[edges.tasks[:-1]] - (0 if spared is None else spared[edges.tasks[:-1]])
    counted = np.minimum(ahead, np.maximum(np.maximum(longest, values_at(found, begin, 0) - ahead), 0))
    counted[count == 1] = np.minimum(ahead, edges.lead)[count == 1]
    found[first] -= (ahead - counted)[count > 0]
    return ShorterCells(found, np.where(count > 1, counted, 0), np.where(count == 1, ahead - counted, 0))
