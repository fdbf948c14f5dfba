# SPDX-License-Identifier: Apache-2.0
"""What the charts share: the shape of a drawing, its bounds, and numbers out of rows that may hold anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from advisor.findings import Scalar

Json = dict[str, object]
Row = Mapping[str, Scalar]

WIDTH = 460
MOST_COLUMNS = 64
"""So many ranks or steps are drawn one by one; more are drawn in groups, and the chart says so."""


class Drawing(Struct, frozen=True):
    """A Vega-Lite spec without its look, a note for its caption, and its numbers as a table."""

    spec: Json
    note: str
    heads: tuple[str, ...]
    numbers: Sequence[tuple[str, ...]]


def ordinal(field: str, title: str, order: Sequence[str]) -> Json:
    """An axis of names in the given order, at most sixteen of them labelled."""
    every = math.ceil(len(order) / 16)
    look: Json = {"labelAngle": 0, "labelOverlap": "greedy", "values": list(order[::every]), "ticks": False}
    return {"field": field, "type": "ordinal", "title": title, "sort": list(order), "axis": look}


def number(value: Scalar) -> float | None:
    """A finite number, or None."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good and value is not None else None


def at(row: Row, name: str) -> float:
    """The number in a column; 0 where there is none."""
    return number(row.get(name)) or 0.0
