# SPDX-License-Identifier: Apache-2.0
"""What the charts share: the shape of a drawing, its bounds, and numbers out of rows that may hold anything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from advisor.model.findings import Scalar

ChartSpec = dict[str, object]
Row = Mapping[str, Scalar]

WIDTH = 460
WIDE = 960
"""Of a chart beside another, and of one that has the width of the page to itself."""
HALF = 16
"""So many columns of a map fit beside another chart."""
MOST_COLUMNS = 64
"""So many ranks or steps are drawn one by one; more are drawn in groups, and the chart says so."""


class Drawing(Struct, frozen=True):
    """A Vega-Lite spec without its look, a note for its caption, and its numbers as a table."""

    spec: ChartSpec
    note: str
    heads: tuple[str, ...]
    numbers: Sequence[tuple[str, ...]]
    wide: bool = False
    """Whether it wants the width of the page."""


def marks_of(kind: str, look: ChartSpec, **channels: object) -> ChartSpec:
    """Marks of one kind, each of which tells who points at it what its value has as `said`."""
    told: ChartSpec = {"description": {"field": "said"}}
    return {"mark": {"type": kind, "aria": True, **look}, "encoding": {**told, **channels}}


def quantity(field: str, **how: object) -> ChartSpec:
    """A column of numbers, and how it is drawn."""
    return {"field": field, "type": "quantitative", **how}


def ordinal_axis(field: str, title: str, order: Sequence[str], step: float, upright: bool = False) -> ChartSpec:
    """An axis of names in the given order, `step` pixels apart; as many are labelled as fit."""
    room = _LINE if upright else _LETTER * max(map(len, order), default=1) + _LETTER
    every = max(math.ceil(room / step), 1)
    every = next((nice for nice in _EVERY if nice >= every), every)
    look: ChartSpec = {"labelAngle": 0, "values": list(order[::every]), "ticks": False}
    return {"field": field, "type": "ordinal", "title": title, "sort": list(order), "axis": look}


_LETTER, _LINE = 8, 15
"""Pixels of a letter and of a line of labels."""
_EVERY = (1, 2, 4, 8, 16, 32)


TIME_LABEL = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : "
    "datum.value + ' µs'"
)
"""How an axis of µs over many decades is labelled."""
PARTS: Mapping[str, str] = {"compute": "compute_us", "comm": "exposed_comm_us", "idle": "free_us"}
"""What time on the device is made of, from below: the words and colours of each part, and its column."""
MOST_SLICES = 512
T = TypeVar("T")


def slices_in_turn(rows: Iterable[Row]) -> list[Row]:
    """The rows that are slices of time, from their `from_us` to their `to_us`, in order; those without a length are
    none."""
    slices = [row for row in rows if 0 <= number_or_zero(row, "from_us") < number_or_zero(row, "to_us")]
    return sorted(slices, key=lambda row: number_or_zero(row, "from_us"))[:MOST_SLICES]


def stepped_points(slices: Sequence[Row], values: Sequence[T]) -> list[tuple[float, T]]:
    """From which moment on, ms, each value holds; slices alike are one, and the end of the last closes the area."""
    turns = [at for at in range(len(values)) if at == 0 or values[at] != values[at - 1]]
    begins = [(round(number_or_zero(slices[at], "from_us") / 1e3, 4), values[at]) for at in turns]
    return [*begins, (round(number_or_zero(slices[-1], "to_us") / 1e3, 4), values[-1])]


def time_axis(title: str | None) -> ChartSpec:
    """An axis of ms from a beginning."""
    axis = {"grid": False, "tickCount": 8}
    return quantity("ms", title=title, axis=axis, scale={"nice": False, "zero": True})


def stepped_areas(since: str, y: ChartSpec, y2: str, tones: ChartSpec) -> ChartSpec:
    """Areas over the time since a beginning, each of which keeps its height until its next point."""
    x, upper = time_axis(since), {"field": y2}
    return marks_of("area", {"interpolate": "step-after"}, x=x, y=y, y2=upper, color=tones)


def complete_rows(rows: Iterable[Row], *names: str) -> Iterator[tuple[Row, list[float]]]:
    """The rows that have a number in all of these columns, with these numbers."""
    for row in rows:
        numbers = [number for name in names if (number := finite_number(row.get(name))) is not None]
        if len(numbers) == len(names):
            yield row, numbers


def amount_axis(field: str, title: str, ticks: int = 5) -> ChartSpec:
    """An axis of amounts from zero, with about so many ticks."""
    return quantity(field, title=title, axis={"tickCount": ticks})


def coloured_by(field: str, tones: Mapping[str, str], *, alone: bool = True) -> ChartSpec:
    """A colour for each word of a column, with a legend (of one that is `alone` where it is asked for): the variable of
    the page by the word."""
    scale = {"domain": list(tones), "range": [f"var(--{tone})" for tone in tones.values()]}
    legend = {"title": None} if alone or len(tones) > 1 else None
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def tooltip_text(*parts: str) -> str:
    """What a mark says to who points at it: all of these that say something."""
    return " · ".join(filter(None, parts))


def finite_number(value: Scalar) -> float | None:
    """A finite number, or None."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good and value is not None else None


def number_or_zero(row: Row, name: str) -> float:
    """The number in a column; 0 where there is none."""
    return finite_number(row.get(name)) or 0.0
