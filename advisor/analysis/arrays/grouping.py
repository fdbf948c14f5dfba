# SPDX-License-Identifier: Apache-2.0
"""Rows that share keys: numbering of groups, and sums, extremes and medians over them, without a loop over rows."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts, ascending, order_by_group, sortable, write_first_rows

_SPARE = 8
"""So many unused keys for each row are still cheaper to pass over than rows are to sort."""
_LARGEST = 2**62


class Groups(Struct, frozen=True):
    """Rows by group: `of` is each row's group, `first` one row of each group; groups in order of their keys."""

    of: Array
    first: Array

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sizes(self) -> Array:
        """Rows per group."""
        return np.bincount(self.of, minlength=len(self))

    def sums(self, values: Array) -> Array:
        """Sum per group as float64; missing (NaN) values do not count."""
        found = np.bincount(self.of, weights=values, minlength=len(self))
        if not np.isnan(found).any():  # as mostly: that some are missing shows in the sums, which are fewer
            return found
        return np.bincount(self.of, weights=np.where(np.isnan(values), 0.0, values), minlength=len(self))

    @property
    def _code(self) -> Array:
        """The group of each row, for a sort."""
        return sortable(self.of, len(self))

    @property
    def _begins(self) -> Array:
        """Where each group begins among the rows by group."""
        sizes = self.sizes
        begins: Array = np.cumsum(sizes) - sizes
        return begins

    def in_order(self, *keys: Array) -> Array:
        """The rows by group, and within one by these keys, of which the last one leads."""
        return np.lexsort((*keys, self._code))

    def first_rows(self, *keys: Array) -> Array:
        """Per group the row that comes first by these keys, of which the last one leads; no group may be empty."""
        rows: Array = self.in_order(*keys)[self._begins]
        return rows

    def last_rows(self, *keys: Array) -> Array:
        """Per group the row that comes last by these keys, of which the last one leads; no group may be empty."""
        rows: Array = self.in_order(*keys)[np.cumsum(self.sizes) - 1]
        return rows

    def turns(self, start: Array) -> Array:
        """Per row: how many rows of its group begin before it; of those that begin at once the first in order."""
        order = self.in_order(start)
        turn = np.empty(len(order), np.int64)
        turn[order] = np.arange(len(order)) - self._begins[self.of[order]]
        return turn

    def means(self, values: Array, weights: Array | None = None) -> Array:
        """Mean per group over the values that are not missing, by weight; NaN where there are none."""
        known = np.flatnonzero(~np.isnan(values))
        weight = None if weights is None else weights[known]
        total = np.bincount(self.of[known], weight, len(self))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, self.sums(values if weights is None else values * weights) / total, np.nan)

    def largest(self, values: Array) -> Array:
        """Largest value per group; NaN where all are missing."""
        found = np.full(len(self), -np.inf)
        np.fmax.at(found, self.of, values)
        return np.where(np.isneginf(found), np.nan, found)

    def smallest(self, values: Array) -> Array:
        """Smallest value per group; NaN where all are missing."""
        return -self.largest(-values)

    def medians(self, values: Array) -> Array:
        """Median per group over the values that are not missing; NaN where there are none."""
        return self.quantiles(values, 0.5)

    def lower_medians(self, values: Array) -> Array:
        """The value in the middle of each group, of two the smaller one; missing values count as the largest."""
        order = order_by_group(self.of, len(self), values)
        return np.asarray(values[order[self._begins + (self.sizes - 1) // 2]])

    def quantiles(self, values: Array, part: float) -> Array:
        """Per group: the value below which this part of its values lies, linear between two; NaN where it has none."""
        order, sizes, begin = self._known_in_order(values)
        held = values[order]
        if not len(held):
            return np.full(len(self), np.nan)
        at = np.maximum(sizes - 1, 0) * part
        low, high = (np.minimum(begin + place.astype(np.intp), len(held) - 1) for place in (np.floor(at), np.ceil(at)))
        beyond = at - np.floor(at)
        return np.where(sizes > 0, held[low] * (1 - beyond) + held[high] * beyond, np.nan)

    def leading(self, texts: Texts, values: Array) -> Texts:
        """Per group: the text whose rows hold the largest sum; missing only where all are."""
        pairs = group_by(self.of, texts)
        group, code = self.of[pairs.first], texts.codes[pairs.first]
        order = np.lexsort((-pairs.sums(values), code < 0, group))
        best = order[np.searchsorted(group[order], np.arange(len(self)))]
        return Texts(code[best], texts.names)

    def means_of_others(self, values: Array) -> Array:
        """Per row: the mean over the other rows of its group, missing ones as 0; NaN where it is missing or alone."""
        return ratio(self.sums(values)[self.of] - values, self.sizes[self.of] - 1.0)

    def medians_of_others(self, values: Array) -> Array:
        """Per row: the median over the other rows of its group; NaN where no other has a value."""
        order, sizes, begin = self._known_in_order(values)
        held = values[order]
        out = np.full(len(values), np.nan)
        if not len(held):
            return out
        place = np.full(len(values), _LARGEST)
        place[order] = np.arange(len(order)) - begin[self.of[order]]
        others = sizes[self.of] - (place < _LARGEST)
        pick = []
        for rank in (np.maximum(others - 1, 0) // 2, others // 2):
            at = begin[self.of] + rank + (rank >= place)
            pick.append(held[np.minimum(at, len(held) - 1)])
        out[:] = np.where(others > 0, (pick[0] + pick[1]) / 2, np.nan)
        return out

    def _known_in_order(self, values: Array) -> tuple[Array, Array, Array]:
        """The rows whose value is not missing by group and value; how many per group; where each group begins."""
        known = np.flatnonzero(~np.isnan(values))
        order = known[order_by_group(self.of[known], len(self), values[known])]
        sizes = np.bincount(self.of[known], minlength=len(self))
        return order, sizes, np.cumsum(sizes) - sizes


def group_by(*keys: Array | Texts) -> Groups:
    """Rows with equal keys, the first key leading the order. Missing is a key like any other."""
    codes = (key.codes if isinstance(key, Texts) else key for key in keys)
    key, size = _dense_codes(next(codes))
    for code in codes:
        inner, count = _dense_codes(code)
        if count == 1:  # as the rank where there is one
            continue
        if size == 1:
            key, size = inner, count
            continue
        if size * count > _LARGEST:
            key, size = _dense_codes(key)
        key *= count  # an array of its own, so that no more than two of them are held
        key += inner
        size *= count
    return _number_groups(key, size)


def _number_groups(key: Array, size: int) -> Groups:
    """Equal keys as groups, in ascending order of the keys, which lie below `size`: counted where few are unused."""
    if size > _SPARE * len(key) + 1024:
        _, first, of = np.unique(key, return_index=True, return_inverse=True)
        return Groups(of.reshape(-1), first)
    first = np.full(size, -1, np.intp)
    write_first_rows(first, key)
    used = first >= 0
    return Groups((np.cumsum(used) - 1).take(key), first[used])


def _dense_codes(code: Array) -> tuple[Array, int]:
    """The same keys as small whole numbers in the same order, in an array of its own, and how many there may be."""
    if not len(code):
        return code.astype(np.int64), 1
    if code.dtype.kind != "f":
        low, high = int(code.min()), int(code.max())
        if low == high:
            return np.zeros(len(code), np.int64), 1
        lacking = code == MISSING if low == MISSING < high else None
        if lacking is not None:  # as it lies far below all others, it takes the number below them
            low = int(code.min(where=~lacking, initial=high)) - 1
        if high - low < max(len(code) * 4, 1024):
            dense = np.subtract(code, low, dtype=np.int64, casting="unsafe")
            if lacking is not None:
                dense[lacking] = 0
            return dense, high - low + 1
    values, dense = np.unique(code, return_inverse=True)
    return dense.reshape(-1).astype(np.int64), len(values)


class Parts(Struct, frozen=True):
    """Parts of what has one name on one rank, the largest first."""

    first: Array
    """A row of each."""
    total: Array
    share: Array
    """Of all that has this name on this rank."""


def parts_of_names(rank: Array, names: Texts, values: Array, *parts: Texts) -> Parts:
    """Values summed by rank, name and parts; those without a name are left out, those of no part have one row."""
    groups, whole = group_by(rank, names, *parts), group_by(rank, names)
    total = groups.sums(values)
    rows = np.flatnonzero(names.codes[groups.first] >= 0)
    rows = rows[np.argsort(-total[rows], kind="stable")]
    first, total = groups.first[rows], total[rows]
    return Parts(first, total, ratio(total, whole.sums(values)[whole.of[first]]))


def row_of_key(keys: Array, wanted: Array) -> Array:
    """Per wanted value: a row of `keys` that holds it (the first), or -1."""
    if not len(keys):
        return np.full(len(wanted), -1, np.intp)
    if (keys[1:] >= keys[:-1]).all():
        row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    else:
        order = np.argsort(keys, kind="stable")
        row = order.take(np.minimum(np.searchsorted(keys.take(order), wanted), len(keys) - 1))
    return np.where(keys.take(row) == wanted, row, -1)


def row_at(rank: Array, moment: Array, wanted_rank: Array, wanted: Array) -> Array:
    """Per wanted rank and moment (or step): a row that has both (the first), or -1."""
    if len(wanted_rank) and (wanted_rank == wanted_rank[0]).all():
        mine = rank == wanted_rank[0]
        if mine.all():
            return row_of_key(moment, wanted)
        own = np.flatnonzero(mine)
        at = row_of_key(moment[own], wanted)
        return np.where(at >= 0, own[at], -1) if len(own) else at
    keys = group_by(np.concatenate([rank, wanted_rank]), np.concatenate([moment, wanted])).of
    return row_of_key(keys[: len(rank)], keys[len(rank) :])


LaneMoments = tuple[Array, Array, Array]
"""Rank, moment and lane of some rows."""


def row_at_or_near(there: LaneMoments, asked: LaneMoments) -> Array:
    """Per wanted rank, moment and lane: a row that has all three, else one that has rank and moment, or -1.

    Of several rows the first counts. Two things seldom begin at once on one rank: lanes are compared for these alone.
    """
    (rank, moment, lane), (wanted_rank, wanted, wanted_lane) = there, asked
    near = row_at(rank, moment, wanted_rank, wanted)
    ordered = ascending(moment)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    other = np.flatnonzero((near >= 0) & (lane[near] != wanted_lane)) if len(twice) else twice
    other = other[np.isin(wanted[other], twice)]
    if len(other):
        both = group_by(*(np.append(have, want[other]) for have, want in zip(there, asked, strict=True))).of
        exact = row_of_key(both[: len(rank)], both[len(rank) :])
        near[other] = np.where(exact >= 0, exact, near[other])
    return near


def ratio(part: Array, whole: Array) -> Array:
    """Part over whole; missing where the whole is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
