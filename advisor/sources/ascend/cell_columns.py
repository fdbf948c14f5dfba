# SPDX-License-Identifier: Apache-2.0
"""CellColumns: columns of communication files, and of the databases that say the same, as numbers and words.

What cannot be used is missing and noted, as in other tables. Not damage is what says that nothing was collected: a key
that is not there, `null`, an empty text, `N/A`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType

import numpy as np
from msgspec import Struct

from advisor.facts.base import LARGEST, MISSING
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.jsonfile import as_mapping, value_at
from advisor.sources.files.table_blocks import decimal_numbers
from advisor.units import LONGEST_US

BYTES_PER_MB = 1e6
"""The communication files count in decimal megabytes (8.388608 MB is 8 MiB)."""

UNUSABLE = b""
"""Stands for a value of a file that is neither text nor number, as a BLOB does among the cells of a database."""
_PLAIN = frozenset({NoneType, str, int, float, bool})
"""What JSON values decode to that are no lists and no objects."""
_LATEST_NS = 1 << 63


def plain_cells(values: Iterable[object]) -> list[object]:
    """Values of a file as cells of a table hold them."""
    return [value if type(value) in _PLAIN else UNUSABLE for value in values]


def plain_cells_at(key: str, objects: Iterable[object]) -> list[object]:
    """What lies under a key of each object of a file, as cells of a table."""
    return plain_cells(value_at(one, key) for one in objects)


class CellColumns(Struct, frozen=True):
    """Where columns are read: the file, what to say of the place of a row, and the table where it is a database."""

    notes: Notes
    file: str
    place_of: Callable[[int], Message | str]
    table: str = ""

    @classmethod
    def of_table(cls, notes: Notes, file: str, table: str) -> CellColumns:
        """Columns of a table of a database."""
        return cls(notes, file, lambda row: Message("at_table_row", table=table, n=row + 1), table)

    def us(self, column: str, milliseconds: Sequence[object], *, difference: bool = False) -> Array:
        """Times in ms as µs; NaN where there is none that can be.

        What the profiler takes as the difference of other times may be below zero where these overlap: missing, and no
        damage.
        """
        found, bad = decimal_numbers(tuple(milliseconds))
        us = found * 1e3
        good = (us >= 0) & (us < LONGEST_US)
        self.note(column, bad | ~(np.isnan(us) | good | (difference & (us < 0))))
        return np.where(good, us, math.nan)

    def bytes(self, column: str, megabytes: Sequence[object]) -> Array:
        """Sizes in MB of 1e6 bytes as whole bytes; NaN where there is none that can be."""
        return np.rint(self.amounts(column, megabytes) * BYTES_PER_MB)

    def amounts(self, column: str, cells: Sequence[object]) -> Array:
        """Numbers from zero on; NaN where there is none."""
        found, bad = numbers_of_cells(cells)
        self.note(column, bad)
        return found

    def decimals(self, column: str, cells: Sequence[object]) -> Array:
        """Numbers of any size; NaN where there is none."""
        found, bad = decimal_numbers(tuple(cells))
        self.note(column, bad)
        return found

    def moments_ns(self, column: str, microseconds: Sequence[object]) -> Array:
        """Moments in µs as whole ns, as exact as the floats of the file; missing where none is told, or it is 0."""
        found, bad = numbers_of_cells(microseconds)
        ns = found * 1000
        late = ns >= _LATEST_NS
        self.note(column, bad | late)
        told = (ns > 0) & ~late
        return np.where(told, np.rint(np.where(told, ns, 0)).astype(np.int64), MISSING)

    def together(self, column: str, parts: Sequence[tuple[Sequence[object], float]]) -> list[Array]:
        """Numbers out of cells that say several things at once, from zero on and below what each can be.

        A cell of which a part cannot be used counts once.
        """
        found = [numbers_of_cells(cells, largest) for cells, largest in parts]
        self.note(column, np.logical_or.reduce([bad for _, bad in found]))
        return [numbers for numbers, _ in found]

    def words(self, column: str, cells: Sequence[object]) -> Sequence[object]:
        """The same cells, which are due to be text."""
        self.note(column, np.array([cell is not None and not isinstance(cell, str) for cell in cells], bool))
        return cells

    def objects_at(self, key: str, objects: Sequence[object]) -> list[Mapping[str, object]]:
        """The object under a key of each; an empty one where there is none."""
        found = [value_at(one, key) for one in objects]
        self.note(key, np.array([one is not None and not isinstance(one, dict) for one in found], bool))
        return [as_mapping(one) for one in found]

    def note(self, column: str, bad: Array) -> None:
        """Note the cells of a column that cannot be used: how many, and where the first one stands."""
        if self.table:
            self.note_rows(Message("no_usable_value", table=self.table, column=column), bad)
        else:
            self.note_rows(Message("no_usable_value_at", key=column), bad)

    def note_rows(self, what: Message, bad: Array) -> None:
        """The same of rows, with what is wrong with them."""
        if rows := int(np.count_nonzero(bad)):
            self.notes.add(self.file, self.place_of(int(np.argmax(bad))), what, rows=rows, share=rows / len(bad))


def numbers_of_cells(cells: Sequence[object], largest: float = LARGEST) -> tuple[Array, Array]:
    """Numbers from zero on, NaN where there is none, and which cells hold something else."""
    found, bad = decimal_numbers(tuple(cells))
    outside = (found < 0) | (found >= largest)
    return np.where(outside, math.nan, found), bad | outside
