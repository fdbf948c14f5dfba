# SPDX-License-Identifier: Apache-2.0
"""The values an expression sees: the rows of a table, the group of each row, and named values.

Numbers are float64 with NaN for missing, absolute times int64 with `MISSING`, texts `Texts`, and truths uint8 in an
order that makes three-valued logic arithmetic: false 0, missing 1, true 2, so that `and` is the minimum, `or` the
maximum and `not` two minus the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from advisor.expr.language import MOMENT
from advisor.facts.base import MISSING, Fact
from advisor.facts.table import Array, Table, Texts
from advisor.units import Type

FALSE, UNKNOWN, TRUE = 0, 1, 2

Value = Any
"""An array with one value per row or per group, `Texts`, or one number, text or None for all of them."""

_FROM_FLAG = np.array([FALSE, TRUE, UNKNOWN], np.uint8)  # -1, missing, reads the last
_IS_MISSING, _IS_KNOWN = np.asarray(True), np.asarray(False)
_SINGLE = {truth: np.asarray(truth, np.uint8) for truth in (FALSE, UNKNOWN, TRUE)}
_DIRECT = 1 << 22


def three_valued_truths(found: Array, missing: Array | bool = False) -> Array:
    """Three-valued truths from plain ones and a mask of what is missing."""
    values = np.multiply(found, TRUE, dtype=np.uint8)
    if missing is False or missing is _IS_KNOWN or not np.asarray(missing).any():
        return values
    return np.where(missing, np.uint8(UNKNOWN), values)


def single_truth(found: bool | None) -> Array:
    """The truth that stands for all rows or groups; None is missing."""
    return _SINGLE[UNKNOWN if found is None else TRUE if found else FALSE]


def either_missing(left: Value, right: Value) -> Array:
    """Where one of two values is missing."""
    of_left, of_right = is_missing(left), is_missing(right)
    if of_left is _IS_KNOWN:
        return of_right
    return of_left if of_right is _IS_KNOWN else np.asarray(of_left | of_right)


def repeated(value: Value, length: int) -> Array:
    """A number or truth that stands for all, once for each of them; what has one for each is as it is.

    As `np.broadcast_to`, which takes longer than most of what is done with it.
    """
    array = np.asarray(value)
    return array if array.shape == (length,) else np.broadcast_to(array, length)


_SCOPES: dict[type[Fact], Mapping[str, Type]] = {}


def column_scope(fact: type[Fact]) -> Mapping[str, Type]:
    """The columns of a table as names of an expression; absolute times are moments."""
    if fact not in _SCOPES:
        _SCOPES[fact] = {
            name: Type("number", MOMENT, per_row=True) if found.unit == "ns" else found
            for name, found in fact.scope().items()
        }
    return _SCOPES[fact]


class Frame:
    """Rows of a table that were kept, in groups. Columns are taken only when asked for, and once."""

    __slots__ = ("_columns", "codes", "groups", "index", "length", "named", "table")

    def __init__(
        self, table: Table[Any] | None, index: Array | None = None, codes: Array | None = None, groups: int = 1
    ) -> None:
        """`index` holds the positions of the kept rows (None: all), `codes` the group of each (None: one group)."""
        self.table, self.index = table, index
        self.length = len(index) if index is not None else len(table) if table is not None else 0
        self.codes = np.zeros(self.length, np.intp) if codes is None else codes
        self.groups = groups
        self.named: dict[str, Value] = {}
        self._columns: dict[str, Value] = {}

    def has(self, name: str) -> bool:
        """Whether the table has this column."""
        return self.table is not None and name in self.table.fact.columns()

    def column(self, name: str) -> Value:
        """A column of the kept rows, as expressions see it."""
        if name not in self._columns:
            self._columns[name] = self._read_column(name)
        return self._columns[name]

    def _read_column(self, name: str) -> Value:
        if self.table is None:
            raise KeyError(name)
        declared = self.table.fact.columns()[name]
        if declared.store == "text":
            texts = self.table.texts(name)
            return texts if self.index is None else texts.take(self.index)
        if declared.store == "flag":
            return _FROM_FLAG[self._take_kept(self.table[name])]
        if declared.unit == "ns":
            return self._take_kept(self.table[name])
        return self._take_kept(self.table.floats(name))

    def _take_kept(self, values: Array) -> Array:
        return values if self.index is None else values[self.index]

    def keep(self, mask: Array) -> Frame:
        """The rows where a mask is true, with the same names known."""
        positions = np.flatnonzero(mask)
        smaller = Frame(self.table, positions if self.index is None else self.index[positions])
        smaller.named.update(self.named)
        return smaller

    def spread(self, value: Value) -> Value:
        """One value per group as one value per row."""
        if isinstance(value, Texts):
            return value.take(self.codes)
        return value[self.codes] if isinstance(value, np.ndarray) and value.ndim else value


def is_missing(value: Value) -> Array:
    """Where a value is missing."""
    if isinstance(value, Texts):
        return np.asarray(value.codes < 0)
    if value is None or isinstance(value, str | float):
        return _IS_MISSING if value is None or value != value else _IS_KNOWN  # noqa: PLR0124 - NaN is not itself
    array = np.asarray(value)
    if array.dtype == np.uint8:
        return np.asarray(array == UNKNOWN)
    return np.asarray(array == MISSING) if array.dtype == np.int64 else np.isnan(array)


def group_rows(frame: Frame, keys: tuple[str, ...]) -> tuple[Array, dict[str, list[object]]]:
    """The group of each row and, per key, the value of each group. A missing key is a value like any other.

    Without keys there is one group, even over no rows.
    """
    if not keys or frame.table is None:
        return np.zeros(frame.length, np.intp), {}
    codes, present = number_rows(frame, keys)
    first = np.zeros(present, np.intp)
    first[codes[::-1]] = np.arange(frame.length)[::-1]
    rows = frame.table.take(first if frame.index is None else frame.index[first])
    return codes, {key: _plain_column(rows, key) for key in keys}


def number_rows(frame: Frame, keys: tuple[str, ...]) -> tuple[Array, int]:
    """The group of each row, rows with equal keys being one, and how many groups there are."""
    codes, present = np.zeros(frame.length, np.int64), 1
    if not frame.length and keys:
        return codes, 0
    for key in keys:
        inner, size = _key_codes(frame, key)
        if present * size > 1:  # one value all over, as the rank where there is one, tells nothing apart
            codes, present = _dense_codes(inner if present == 1 else codes * size + inner, present * size)
    return codes, present


def _key_codes(frame: Frame, key: str) -> tuple[Array, int]:
    """Small whole numbers that stand for the values of one key, and how many there may be."""
    assert frame.table is not None  # noqa: S101 - group() has seen to it
    if frame.table.fact.columns()[key].store == "text":
        texts = frame.column(key)
        return texts.codes.astype(np.int64) + 1, len(texts.names) + 1
    stored = frame.table[key] if frame.index is None else frame.table[key][frame.index]
    absent = frame.table.fact.columns()[key].missing
    if stored.dtype == np.float64 or not len(stored):
        return _number_distinct(stored)
    low, high = int(stored.min()), int(stored.max())
    if low == high:
        return np.zeros(len(stored), np.int64), 1
    if low == absent:
        low = int(stored[stored != absent].min())
    if high - low >= _DIRECT:
        return _number_distinct(stored)
    return np.maximum(stored.astype(np.int64), low - 1) - (low - 1), high - low + 2


def _number_distinct(stored: Array) -> tuple[Array, int]:
    distinct, inverse = np.unique(stored, return_inverse=True)
    return inverse.astype(np.int64), len(distinct)


def _dense_codes(codes: Array, size: int) -> tuple[Array, int]:
    """The same groups numbered 0, 1, 2 … in the same order, without numbers nobody has."""
    if size > max(_DIRECT, 4 * len(codes)):
        distinct, inverse = np.unique(codes, return_inverse=True)
        return inverse.astype(np.int64), len(distinct)
    present = np.bincount(codes, minlength=size) > 0
    return (np.cumsum(present) - 1).take(codes), int(present.sum())


def _plain_column(rows: Table[Any], name: str) -> list[object]:
    return list(rows._plain_values(name))
