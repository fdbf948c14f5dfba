# SPDX-License-Identifier: Apache-2.0
"""Two sides of one table beside each other: a full outer join on names, with what is missing kept apart from zero."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts
from advisor.model.findings import Head, Rows, Scalar

MOST_ROWS = 5000
"""So many rows of a table are kept, those that differ most: a spreadsheet still opens, and the rest is small change."""

_DECIMALS = 3
"""Times were recorded in ns; what lies below that came from averaging."""

_SIDES = ("before", "after", "delta")

Key = Texts | Array


class Amount(Struct, frozen=True):
    """One thing that is counted: its column, its unit, and whether it is divided by the calls for a mean."""

    name: str
    unit: str
    mean: str = ""
    """Column of the mean per call; empty where there is none."""
    whole: bool = False
    """Whether it is not averaged: a whole number as it was recorded."""


class TableLayout(Struct, frozen=True):
    """The shape of one table of differences."""

    name: str
    keys: Mapping[str, str]
    """Columns that name a row, each with its unit."""
    amounts: tuple[Amount, ...]
    leads: tuple[str, ...]
    """The amount whose difference orders the rows: the first of these that both sides know."""
    absent_is_zero: bool = True
    """Whether a name that one side does not have was called there no times; memory of an unseen rank is unknown."""
    least: int = 1
    """With fewer rows it says nothing that is not said elsewhere."""
    within: str = ""
    """A key of which the above is said apart: what a layer did that was not recorded at all is unknown, not zero."""


class TablePart(Struct, frozen=True):
    """What one capture has of a table: any number of rows per name, summed up and averaged over `over`."""

    keys: Mapping[str, Key]
    amounts: Mapping[str, Array]
    over: float


def join_sides(layout: TableLayout, before: TablePart, after: TablePart) -> tuple[Rows, tuple[str, ...]]:
    """The rows of both by name, largest difference first; and the keys left out because one side never has them.

    A name that only one side has counts as zero on the other, where that side recorded the column at all.
    """
    dropped = tuple(name for name in layout.keys if _one_sided(before.keys[name], after.keys[name]))
    kept = [name for name in layout.keys if name not in dropped]
    keys = {name: _concat_keys(before.keys[name], after.keys[name]) for name in kept}
    sizes = [len(next(iter(part.keys.values()))) for part in (before, after)]
    groups = group_by(*keys.values()) if kept else Groups(np.zeros(sum(sizes), np.intp), np.zeros(1, np.intp))
    rows = (groups.of[: sizes[0]], groups.of[sizes[0] :])
    layers = group_by(keys[layout.within]).of[groups.first] if layout.within in keys else np.zeros(len(groups), np.intp)
    sides = {
        amount.name: [
            _per_name(part.amounts[amount.name] / part.over, of, layers, layout.absent_is_zero)
            for part, of in zip((before, after), rows, strict=True)
        ]
        for amount in layout.amounts
    }
    order = _order_by_difference([sides[lead] for lead in layout.leads])
    return _build_rows(layout, keys, groups, _amount_columns(layout, sides), order), dropped


def column_of_side(name: str, when: str) -> str:
    """The column of an amount on one side; the unit stays at the end: `total_us` before is `total_before_us`."""
    stem, _, unit = name.rpartition("_")
    return f"{stem}_{when}_{unit}" if stem and unit in ("us", "bytes") else f"{name}_{when}"


def _amount_columns(layout: TableLayout, sides: Mapping[str, list[Array]]) -> dict[str, tuple[str, Array]]:
    """Before, after and difference of each amount and of each mean."""
    columns: dict[str, tuple[str, Array]] = {}
    for amount in layout.amounts:
        columns |= _before_after_delta(amount.name, amount.unit, *sides[amount.name])
        if amount.mean:
            means = [
                _mean_per_call(total, calls) for total, calls in zip(sides[amount.name], sides["calls"], strict=True)
            ]
            columns |= _before_after_delta(amount.mean, amount.unit, *means)
    return columns


def _before_after_delta(name: str, unit: str, before: Array, after: Array) -> dict[str, tuple[str, Array]]:
    return {
        column_of_side(name, when): (unit, values)
        for when, values in zip(_SIDES, (before, after, after - before), strict=True)
    }


def _one_sided(before: Key, after: Key) -> bool:
    """Whether only one of the two ever says something; a side without rows contradicts nothing."""
    return bool(len(before) and len(after)) and _has_any_value(before) != _has_any_value(after)


def _has_any_value(key: Key) -> bool:
    values = key.codes if isinstance(key, Texts) else key
    return bool((values != (-1 if isinstance(key, Texts) else MISSING)).any())


def _concat_keys(before: Key, after: Key) -> Key:
    if isinstance(before, Texts) and isinstance(after, Texts):
        return Texts.concat([before, after])
    return np.concatenate([_require_numbers(before), _require_numbers(after)])


def _require_numbers(key: Key) -> Array:
    if isinstance(key, Texts):
        raise TypeError("a key is text on one side and a number on the other")
    return key


def _per_name(values: Array, of: Array, layers: Array, absent_is_zero: bool) -> Array:
    """Sum per name; missing where nothing was recorded, zero where the name does not occur but others of its layer do.

    A side without any row recorded that there was nothing.
    """
    count, there = len(layers), np.isfinite(values)
    total = np.bincount(of, weights=np.where(there, values, 0.0), minlength=count)
    seen, measured = np.bincount(of, minlength=count) > 0, np.bincount(of[there], minlength=count) > 0
    recorded = np.bincount(layers[measured], minlength=int(layers.max(initial=0)) + 1) > 0
    zero = ~seen & (recorded[layers] | (not len(values))) & absent_is_zero
    return np.where(measured | zero, total, np.nan)


def _mean_per_call(total: Array, calls: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(calls > 0, total / calls, np.nan)


def _order_by_difference(leads: list[list[Array]]) -> Array:
    """Largest difference first, then largest amount; what cannot be subtracted stands last."""
    before, after = next((sides for sides in leads if np.isfinite(sides[1] - sides[0]).any()), leads[0])
    larger = np.fmax(np.nan_to_num(before, nan=-1.0), np.nan_to_num(after, nan=-1.0))
    delta = np.abs(after - before)
    return np.lexsort((-larger, np.where(np.isnan(delta), 1.0, -delta)))


def _build_rows(
    layout: TableLayout,
    keys: Mapping[str, Key],
    groups: Groups,
    columns: Mapping[str, tuple[str, Array]],
    order: Array,
) -> Rows:
    shown = order[:MOST_ROWS]
    first = groups.first[shown]
    named = [_plain_cells(key.take(first) if isinstance(key, Texts) else key[first]) for key in keys.values()]
    whole = {column_of_side(one.name, when) for one in layout.amounts if one.whole for when in _SIDES}
    cells = [
        *named,
        *(_plain_cells(values[shown], whole=name in whole) for name, (_, values) in columns.items()),
    ]
    heads = [(name, layout.keys[name]) for name in keys] + [(name, unit) for name, (unit, _) in columns.items()]
    return Rows(
        columns=tuple(Head(name=name, unit=unit) for name, unit in heads),
        rows=tuple(zip(*cells, strict=True)),
        total=len(groups),
    )


def _plain_cells(values: Key, *, whole: bool = False) -> list[Scalar]:
    if isinstance(values, Texts):
        return list(values.values())
    if values.dtype == np.float64:
        exact = np.round(values, 0 if whole else _DECIMALS) + 0.0  # no minus before a zero
        cells = (value if math.isfinite(value) else None for value in exact.tolist())
        return [int(value) if whole and value is not None else value for value in cells]
    return [None if value == MISSING else value for value in values.tolist()]
