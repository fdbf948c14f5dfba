# SPDX-License-Identifier: Apache-2.0
"""What a table tells of the steps of each rank, averaged over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, Table


class RankMeans(Struct, frozen=True):
    """Of the ranks of which a column is known, ascending, its mean over their steps."""

    ranks: Array
    means: Array
    counts: Array
    """Over how many steps."""

    def of_groups(self, rank: Array, values: Array, otherwise: float) -> Array:
        """Per group: the value of its rank, one of these per rank, or what stands for ranks that are not among them."""
        if not len(self.ranks):
            return np.full(len(rank), otherwise)
        at = np.minimum(np.searchsorted(self.ranks, rank), len(self.ranks) - 1)
        found: Array = np.where(self.ranks[at] == rank, values[at], otherwise)
        return found


def means_by_rank(table: Table[Any], column: str) -> RankMeans:
    """The means of a column of a table with ranks; rows in which it is missing count for nothing."""
    values = table.floats(column)
    known = np.flatnonzero(~np.isnan(values))
    ranks, of = np.unique(table["rank"][known], return_inverse=True)
    counts = np.bincount(of)
    return RankMeans(ranks, np.bincount(of, weights=values[known]) / counts, counts)
