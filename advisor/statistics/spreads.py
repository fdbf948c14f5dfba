# SPDX-License-Identifier: Apache-2.0
"""From histograms to rows: how often, together, mean, extremes and quartiles of each name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Table
from advisor.statistics.merging import largest_first

QUARTILES = {"q1_us": 0.25, "median_us": 0.5, "q3_us": 0.75}
SPREAD = ("calls", "total_us", "total_share", "mean_us", "min_us", *QUARTILES, "max_us")
"""The columns of a spread, in their order."""


def spread_of_bins(bins: Table[Any], keys: Sequence[str]) -> pd.DataFrame:
    """One row per value of the keys, largest total first, with the columns of `SPREAD`.

    Times are in µs. `total_share` is the part of all rows together; where `rank` is a key, of all rows of the rank.
    """
    counted = bins.take(bins["bin"] != MISSING)
    texts = {name for name, column in bins.fact.columns().items() if column.store == "text"}
    columns: dict[str, Any] = {
        key: np.array(list(counted.texts(key).values()), object) if key in texts else counted[key] for key in keys
    }
    frame = pd.DataFrame({**columns, **{name: counted[name] for name in ("bin", *_SUMMED)}})
    return spread_of_frame(frame, keys)


def spread_of_durations(frame: pd.DataFrame, keys: Sequence[str], lasted: str) -> pd.DataFrame:
    """The same from single events, whose durations are the column `lasted`: each is a bin of its own."""
    us = frame[lasted]
    events = frame[us >= 0]
    us = events[lasted]
    each = events[list(keys)].assign(bin=us, calls=1.0, total_us=us, min_us=us, max_us=us)
    return spread_of_frame(each, keys)


_SUMMED = {"calls": "sum", "total_us": "sum", "min_us": "min", "max_us": "max"}


def spread_of_frame(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Bins with the columns `bin`, `calls`, `total_us`, `min_us` and `max_us`, put together by keys."""
    by = [*keys]
    ordered = frame.groupby([*by, "bin"], dropna=False, sort=True).agg(_SUMMED).reset_index()  # one row for each bin
    groups = ordered.groupby(by, dropna=False, sort=False)
    found = groups.agg(_SUMMED).reset_index()
    for name, part in QUARTILES.items():
        found[name] = _quantiles(ordered, found["calls"].to_numpy(), part)
    return _with_means(found, by)


def spread_of_totals(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Rows that the profiler added up, put together by keys: their quartiles are not known."""
    by = [*keys]
    found = frame.groupby(by, dropna=False, sort=True).agg(_SUMMED)
    return _with_means(found.reset_index().assign(**dict.fromkeys(QUARTILES, np.nan)), by)


def _with_means(found: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The rows with means and shares, largest first; of several ranks rank by rank."""
    whole = found.groupby("rank")["total_us"].transform("sum") if "rank" in by else found["total_us"].sum()
    found = found.assign(mean_us=found["total_us"] / found["calls"], total_share=found["total_us"] / whole)
    return largest_first(found, "total_us")[[*by, *SPREAD]]


def _quantiles(ordered: pd.DataFrame, sizes: Array, part: float) -> Array:
    """Per group the value below which this part of its events lies, linear between two events.

    Events of one bin are taken to lie evenly from its shortest to its longest.
    """
    if not len(sizes):
        return np.zeros(0)
    calls = ordered["calls"].to_numpy()
    through = np.cumsum(calls)
    begins = np.append(0, np.cumsum(sizes)[:-1])  # groups follow each other
    at = (sizes - 1) * part
    low, high = (_values_at(ordered, calls, through, begins + place) for place in (np.floor(at), np.ceil(at)))
    found: Array = low + (high - low) * (at - np.floor(at))
    return found


def _values_at(ordered: pd.DataFrame, calls: Array, through: Array, place: Array) -> Array:
    """The duration of the events at these places of all, counted from 0 in ascending order within their groups."""
    row = np.minimum(np.searchsorted(through, place, "right"), len(through) - 1)
    shortest, longest = (ordered[name].to_numpy()[row] for name in ("min_us", "max_us"))
    within = place - (through[row] - calls[row])
    part = np.where(calls[row] > 1, within / np.maximum(calls[row] - 1, 1), 0.0)
    found: Array = shortest + (longest - shortest) * part
    return found
