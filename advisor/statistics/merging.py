# SPDX-License-Identifier: Apache-2.0
"""Rows that have the same keys as one row, and the order in which rows stand."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def merge_rows(
    frame: pd.DataFrame,
    keys: Sequence[str],
    *,
    summed: Sequence[str] = (),
    mean: Sequence[str] = (),
    most: Sequence[str] = (),
) -> pd.DataFrame:
    """One row per value of the keys, in their order; a column that was recorded nowhere stays missing."""
    by = frame.groupby([*keys], dropna=False, sort=True)
    parts = (by[[*summed]].sum(min_count=1), by[[*mean]].mean(), by[[*most]].max())
    return pd.concat([part for part in parts if len(part.columns)], axis=1).reset_index()


def largest_first(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows by a column, largest first; of several ranks rank by rank."""
    order = [*(["rank"] if "rank" in frame.columns else []), column]
    sorted_ = frame.sort_values(order, ascending=[name == "rank" for name in order], kind="stable")
    return sorted_.reset_index(drop=True)
