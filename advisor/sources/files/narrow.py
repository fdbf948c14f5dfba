# SPDX-License-Identifier: Apache-2.0
"""Whole numbers kept in as few bytes as they span."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.table import Array


class NarrowColumn(Struct, frozen=True):
    """A column of whole numbers, from the least of them on: ids, types and threads span a half of 64 bits or less."""

    cells: Array
    """int64, or unsigned: 0 where missing, else how far above `below`."""
    below: int

    @classmethod
    def of(cls, values: Array) -> NarrowColumn:
        """From int64, of which nothing is lost."""
        given = values if len(values) and values.min() != MISSING else values[values != MISSING]
        below = int(given.min(initial=np.iinfo(np.int64).max)) - 1
        span = int(given.max(initial=below)) - below
        kind = next((kind for kind in (np.uint8, np.uint16, np.uint32) if span <= np.iinfo(kind).max), None)
        if kind is None:
            return cls(values, 0)
        cells = np.zeros(len(values), kind)
        np.subtract(values, below, out=cells, where=values != MISSING, casting="unsafe")
        return cls(cells, below)

    def at(self, rows: Array | slice) -> Array:
        """The numbers of these rows, as int64."""
        cells: Array = self.cells[rows]
        if cells.dtype == np.int64:
            return cells
        found = cells.astype(np.int64)
        found += self.below
        found[cells == 0] = MISSING
        return found
