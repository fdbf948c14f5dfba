# SPDX-License-Identifier: Apache-2.0
"""Whole numbers kept in as few bytes as they span."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from advisor.facts.base import MISSING

_Array = NDArray[Any]

_ROWS = 1 << 18
"""So many rows are widened at a time."""
_SPARSE = 0.8
"""Own: a column is kept sparse where that saves a fifth of it and more."""
_FEW = 8
"""So many numbers are compared one by one, which takes a byte a row and not the eight of a search."""
_BITS = 64
"""Of a word."""


def take_by_blocks(values: _Array, rows: _Array) -> _Array:
    """The values of these rows, some at a time: NumPy widens the numbers of all rows it is given at once."""
    found = np.empty(len(rows), values.dtype)
    for begin in range(0, len(rows), _ROWS):
        part = slice(begin, begin + _ROWS)
        found[part] = values.take(rows[part])
    return found


class NarrowColumn(Struct, frozen=True):
    """A column of whole numbers, from the least of them on: ids, types and threads span a half of 64 bits or less."""

    cells: _Array
    """int64, or unsigned: 0 where missing, else how far above `below`."""
    below: int

    def __len__(self) -> int:
        return len(self.cells)

    @classmethod
    def spread(cls, values: _Array, rows: _Array, length: int) -> NarrowColumn:
        """Of so many rows, these numbers, int64, in these; missing in all others."""
        found = cls.of(values)
        cells: _Array = np.full(length, MISSING if found.cells.dtype == np.int64 else 0, found.cells.dtype)
        cells[rows] = found.cells
        return cls(cells, found.below)

    @classmethod
    def concat(cls, parts: list[NarrowColumn]) -> NarrowColumn:
        """One after another; the list is emptied, each part let go as it is taken over."""
        growing = GrowingNarrowColumn(parts)
        parts.clear()
        return growing.whole()

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The least and the largest of the numbers; None where there is none."""
        none = MISSING if self.cells.dtype == np.int64 else 0
        known = self.cells if len(self.cells) and self.cells.min() != none else self.cells[self.cells != none]
        return (int(known.min()) + self.below, int(known.max()) + self.below) if len(known) else None

    @classmethod
    def of(cls, values: _Array) -> NarrowColumn:
        """From int64, of which nothing is lost."""
        below, kind = _fitting(cls(values, 0).bounds)
        if kind == np.int64:
            return cls(values, 0)
        return cls(_narrowed(values, below, np.zeros(len(values), kind)), below)

    def at(self, rows: _Array | slice) -> _Array:
        """The numbers of these rows, as int64."""
        cells: _Array = self.cells[rows]
        if cells.dtype == np.int64:
            return cells
        found = cells.astype(np.int64)
        found += self.below
        found[cells == 0] = MISSING
        return found

    def isin(self, values: Collection[int]) -> _Array:
        """Which rows hold one of these numbers."""
        above, limits = [value - self.below for value in values], np.iinfo(self.cells.dtype)
        least = limits.min if self.cells.dtype == np.int64 else 1
        held = np.array([one for one in above if least <= one <= limits.max], self.cells.dtype)
        if len(held) > _FEW:
            return np.isin(self.cells, held)
        found = np.zeros(len(self.cells), bool)
        for one in held:
            found |= self.cells == one
        return found

    def take(self, rows: _Array | slice) -> NarrowColumn:
        """These rows alone, as narrow."""
        return NarrowColumn(self.cells[rows], self.below)


class CodedColumn(Struct, frozen=True):
    """A column of which few cells differ, as of threads, and of shares that are written with some decimals: a number of
    8 or 16 bits per row, and what each stands for."""

    cells: _Array
    values: _Array
    """int64 or float64."""

    def __len__(self) -> int:
        return len(self.cells)

    @classmethod
    def of(cls, values: _Array) -> CodedColumn | None:
        """From float64, of which no bit is lost; None where too many differ."""
        bits, most = values.view(np.int64), np.iinfo(np.uint16).max
        distinct = np.unique(bits[: 2 * most])  # a column of which many differ shows it at its begin
        if len(distinct) > most:
            return None
        cells = np.searchsorted(distinct, bits)
        further = distinct[np.minimum(cells, len(distinct) - 1)] != bits
        if further.any():
            distinct = np.union1d(distinct, bits[further])
            if len(distinct) > most:
                return None
            cells = np.searchsorted(distinct, bits)
        return cls(cells.astype(np.uint16), distinct.view(np.float64))

    def at(self, rows: _Array | slice) -> _Array:
        """The numbers of these rows."""
        return take_by_blocks(self.values, self.cells[rows])

    @classmethod
    def of_narrow(cls, column: NarrowColumn) -> CodedColumn | None:
        """From whole numbers in 16 bits; None where they are in others, or more of them differ than 8 bits tell."""
        if column.cells.dtype != np.uint16:
            return None
        there = np.zeros(1 << 16, bool)
        there[column.cells] = True
        distinct = np.flatnonzero(there)
        if len(distinct) > 1 << 8:
            return None
        code = np.zeros(1 << 16, np.uint8)
        code[distinct] = np.arange(len(distinct))
        return cls(take_by_blocks(code, column.cells), np.where(distinct == 0, MISSING, distinct + column.below))

    def isin(self, values: Collection[int]) -> _Array:
        """Which rows hold one of these numbers."""
        return take_by_blocks(np.isin(self.values, [*values]), self.cells)

    def take(self, rows: _Array | slice) -> CodedColumn:
        """These rows alone, in as few bytes."""
        return CodedColumn(self.cells[rows], self.values)


class SparseColumn(Struct, frozen=True):
    """A column of whole numbers that most rows lack: a bit of each row that tells whether it has one, and the numbers
    of those that do, in order."""

    has_number: _Array
    """uint64, the bits of 64 rows each, the lowest of the first."""
    before: _Array
    """int32: how many rows before each of these words have one."""
    numbers: NarrowColumn
    length: int

    def __len__(self) -> int:
        return self.length

    @classmethod
    def of_narrow(cls, column: NarrowColumn) -> SparseColumn | None:
        """The same column; None where that takes no less."""
        if column.cells.dtype == np.int64 or len(column) > np.iinfo(np.int32).max:
            return None
        known = column.cells != 0
        words = len(column) // _BITS + 1
        if words * (8 + 4) + int(np.count_nonzero(known)) * column.cells.itemsize > _SPARSE * column.cells.nbytes:
            return None
        packed = np.packbits(known, bitorder="little")
        has_number = np.append(packed, np.zeros(8 * words - len(packed), np.uint8)).view("<u8")
        before = np.zeros(words, np.int32)
        np.cumsum(np.bitwise_count(has_number[:-1]), out=before[1:])
        return cls(has_number, before, column.take(known), len(column))

    def at(self, rows: _Array | slice) -> _Array:
        """The numbers of these rows, as int64."""
        return self.take(rows).at(slice(None))

    def take(self, rows: _Array | slice) -> NarrowColumn:
        """These rows alone, as narrow: no number is widened on the way."""
        if isinstance(rows, slice):
            begin, end, step = rows.indices(self.length)
            if step != 1:
                return self.take(np.arange(begin, end, step))
            known = self._have_number(begin, max(begin, end))
            first = int(self._find_places(np.array([begin]))[1][0])
            return self._spread(known, slice(first, first + int(np.count_nonzero(known))))
        if rows.dtype == bool:
            known = self._have_number(0, self.length)
            return self._spread(known[rows], rows[known])
        cells: _Array = np.zeros(len(rows), self.numbers.cells.dtype)
        for begin in range(0, len(rows), _ROWS):
            known, place = self._find_places(rows[begin : begin + _ROWS])
            cells[begin : begin + _ROWS][known] = self.numbers.cells[place[known]]
        return NarrowColumn(cells, self.numbers.below)

    def isin(self, values: Collection[int]) -> _Array:
        """Which rows hold one of these numbers."""
        found = np.full(self.length, MISSING in values)
        _fill_marked(found, self._have_number(0, self.length), self.numbers.isin(values))
        return found

    def _find_places(self, rows: _Array) -> tuple[_Array, _Array]:
        """Per row: whether it has a number, and how many before it do."""
        number, bit = rows // _BITS, (rows % _BITS).astype(np.uint64)
        word, one = self.has_number.take(number), np.uint64(1)
        return (word >> bit) & one == one, self.before.take(number) + np.bitwise_count(word & ((one << bit) - one))

    def _have_number(self, begin: int, end: int) -> _Array:
        """Per row from one to another: whether it has a number."""
        first = begin // 8
        bits = np.unpackbits(self.has_number.view(np.uint8)[first:], count=end - first * 8, bitorder="little")
        return bits[begin - first * 8 :].view(bool)

    def _spread(self, known: _Array, which: _Array | slice) -> NarrowColumn:
        """Rows of which the known ones have these numbers."""
        found = self.numbers.take(which)
        cells: _Array = np.zeros(len(known), found.cells.dtype)
        _fill_marked(cells, known, found.cells)
        return NarrowColumn(cells, found.below)


def _fill_marked(cells: _Array, marked: _Array, values: _Array) -> None:
    """Writes one value after the other into the marked cells, some at a time: their places take eight bytes each."""
    done = 0
    for begin in range(0, len(cells), _ROWS):
        places = np.flatnonzero(marked[begin : begin + _ROWS])
        cells[begin : begin + _ROWS][places] = values[done : done + len(places)]
        done += len(places)


def in_fewest_bytes(column: NarrowColumn) -> NarrowColumn | CodedColumn | SparseColumn:
    """A column of whole numbers in the form that takes least."""
    return CodedColumn.of_narrow(column) or SparseColumn.of_narrow(column) or column


class EndColumn(Struct, frozen=True):
    """A column of moments at which what began in another column ended: how long it took spans a half of 64 bits."""

    start: _Array
    """int64, of which none is missing."""
    lasts: _Array
    """uint32."""

    def __len__(self) -> int:
        return len(self.lasts)

    @classmethod
    def of(cls, start: _Array, end: _Array) -> EndColumn | None:
        """From int64, of which nothing is lost; None where a moment is missing, an end comes before its start, or one
        comes more than 4 seconds after it."""
        lasts = np.empty(len(end), np.uint32)
        for begin in range(0, len(end), _ROWS):
            part = slice(begin, begin + _ROWS)
            took = end[part] - start[part]
            fits = (took >= 0) & (took <= np.iinfo(np.uint32).max) & (start[part] != MISSING)
            if not fits.all():
                return None
            lasts[part] = took
        return cls(start, lasts)

    def at(self, rows: _Array | slice) -> _Array:
        """The moments of these rows, as int64."""
        if isinstance(rows, slice) or rows.dtype == bool:
            found: _Array = self.start[rows] + self.lasts[rows]
            return found
        moments = self.start.take(rows)
        moments += self.lasts.take(rows)
        return moments

    __getitem__ = take = at

    def isin(self, values: Collection[int]) -> _Array:
        """Which rows hold one of these moments."""
        return np.isin(self[:], [*values])

    def part(self, rows: slice) -> EndColumn:
        """The same of some rows, without a copy."""
        return EndColumn(self.start[rows], self.lasts[rows])


KeptColumn = NarrowColumn | CodedColumn | SparseColumn | EndColumn
"""A column of numbers in fewer bytes than an array of them."""


class GrowingNarrowColumn:
    """A column that is filled block by block, and kept narrow from the start."""

    def __init__(self, parts: Iterable[NarrowColumn] = ()) -> None:
        self._parts = deque(parts)

    def add(self, values: _Array) -> None:
        """More numbers, int64."""
        self._parts.append(NarrowColumn.of(values))

    def whole(self) -> NarrowColumn:
        """The column, to which nothing can be added any more. Each block is let go as it is taken over."""
        bounds = [bounds for part in self._parts if (bounds := part.bounds) is not None]
        least, largest = (least for least, _ in bounds), (largest for _, largest in bounds)
        below, kind = _fitting((min(least), max(largest)) if bounds else None)
        cells: _Array = np.zeros(sum(map(len, self._parts)), kind)
        begin = 0
        while self._parts:
            values = self._parts.popleft().at(slice(None))
            part = cells[begin : begin + len(values)]
            begin += len(values)
            if kind == np.int64:
                part[:] = values
            else:
                _narrowed(values, below, part)
        return NarrowColumn(cells, below)


def _fitting(bounds: tuple[int, int] | None) -> tuple[int, np.dtype[Any]]:
    """What lies just below these numbers, and the type that holds how far each is above it; 0 and int64 where none is
    smaller than that."""
    least, largest = bounds or (1, 0)
    fitting = (kind for kind in (np.uint8, np.uint16, np.uint32) if largest - least + 1 <= np.iinfo(kind).max)
    kind = next(fitting, None)
    return (0, np.dtype(np.int64)) if kind is None else (least - 1, np.dtype(kind))


def _narrowed(values: _Array, below: int, cells: _Array) -> _Array:
    """Fills cells, all 0, with how far the numbers lie above; those that are missing stay 0."""
    np.subtract(values, below, out=cells, where=values != MISSING, casting="unsafe")
    return cells
