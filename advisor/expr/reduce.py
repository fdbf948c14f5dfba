# SPDX-License-Identifier: Apache-2.0
"""One value per group from one value per row: the aggregates, vectorised. Missing values are left out.

Every function takes the group of each row, the values of the same rows and the number of groups; rows that do not
count (where= is not true, or the value is missing) are gone already. A group without values is missing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts, order_by_group

Reduce = Callable[[Array, Array, int], Array]


def count(codes: Array, groups: int) -> Array:
    """How many rows each group has."""
    return np.bincount(codes, minlength=groups).astype(np.float64)


def total(codes: Array, values: Array, groups: int) -> Array:
    """The sum of each group; 0 where there is nothing."""
    return np.bincount(codes, values, minlength=groups).astype(np.float64)


def mean(codes: Array, values: Array, groups: int) -> Array:
    """The mean of each group."""
    many = count(codes, groups)
    return np.where(many > 0, total(codes, values, groups) / np.where(many > 0, many, 1), np.nan)


def std(codes: Array, values: Array, groups: int) -> Array:
    """The population standard deviation of each group, from deviations so that large values lose nothing."""
    centre = mean(codes, values, groups)
    return np.sqrt(mean(codes, (values - centre[codes]) ** 2, groups))


def smallest(codes: Array, values: Array, groups: int) -> Array:
    """The smallest value of each group; whole numbers stay whole."""
    return _extreme_by_group(np.minimum, codes, values, groups)


def largest(codes: Array, values: Array, groups: int) -> Array:
    """The largest value of each group; whole numbers stay whole."""
    return _extreme_by_group(np.maximum, codes, values, groups)


def _extreme_by_group(pick: np.ufunc, codes: Array, values: Array, groups: int) -> Array:
    out, at = _missing_by_group(values, groups), _first_rows(codes, groups)
    seen = at >= 0
    out[seen] = values[at[seen]]
    pick.at(out, codes, values)
    return out


def first(codes: Array, values: Array, groups: int) -> Array:
    """The value of the first row of each group."""
    out, at = _missing_by_group(values, groups), _first_rows(codes, groups)
    out[at >= 0] = values[at[at >= 0]]
    return out


def first_text(codes: Array, values: Texts, groups: int) -> Texts:
    """The text of the first row of each group."""
    return values.at(_first_rows(codes, groups))


def quantile(codes: Array, values: Array, groups: int, part: float) -> Array:
    """The quantile of each group, linear between neighbours."""
    ordered = values[order_by_group(codes, groups, values)]
    many = np.bincount(codes, minlength=groups)
    begin = np.cumsum(many) - many
    out = np.full(groups, np.nan)
    seen = many > 0
    if not 0 <= part <= 1:
        return out
    place = begin[seen] + part * (many[seen] - 1)
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, (begin + many - 1)[seen])
    below, above, rest = ordered[low], ordered[high], place - low
    out[seen] = np.where(below == above, below, below * (1 - rest) + above * rest)
    return out


def distinct(codes: Array, values: Array, groups: int) -> Array:
    """How many different values each group has."""
    if not len(values):
        return np.zeros(groups)
    _, ids = np.unique(values, return_inverse=True)
    size = int(ids.max()) + 1
    pairs = np.unique(codes.astype(np.int64) * size + ids)
    return count(pairs // size, groups)


def mode(codes: Array, values: Texts, groups: int) -> Texts:
    """The most frequent text of each group; of equally frequent ones the first in the alphabet."""
    values = values.in_use() if len(values) < len(values.names) else values
    names = tuple(sorted(set(values.names)))
    rank = {name: place for place, name in enumerate(names)}
    alphabetical = np.array([rank[name] for name in values.names], np.int64)
    size = max(len(names), 1)
    pairs, many = np.unique(codes.astype(np.int64) * size + alphabetical[values.codes], return_counts=True)
    order = np.lexsort((pairs % size, -many, pairs // size))
    at = _first_rows(pairs[order] // size, groups)
    chosen = np.append(pairs[order] % size, -1)
    return Texts(chosen[at].astype(np.int32), names)


def _missing_by_group(values: Array, groups: int) -> Array:
    return np.full(groups, MISSING if values.dtype == np.int64 else np.nan, values.dtype)


def _first_rows(codes: Array, groups: int) -> Array:
    """The position of the first row of each group; -1 for a group without rows."""
    at = np.full(groups, -1, np.intp)
    at[codes[::-1]] = np.arange(len(codes))[::-1]
    return at


BY_NAME: dict[str, Reduce] = {
    "mean": mean,
    "std": std,
    "min": smallest,
    "max": largest,
    "first": first,
}
