# SPDX-License-Identifier: Apache-2.0
"""Bars below each other, each between its name on the left and its amount."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from advisor.model.findings import Scalar
from advisor.report.charts.drawing import WIDE, WIDTH, ChartSpec
from advisor.report.prose import clean_line, letter_columns

AMOUNT = 64
LONGEST_SAID = 120
"""Characters of a name that a mark says."""
BY_PLACE: ChartSpec = {"field": "place", "type": "ordinal", "title": None, "axis": None}
"""Where a bar and its words stand: by the place of its value, from above."""


class BarRoom(Struct, frozen=True):
    """How wide a chart of bars is, the names beside them, and how many letters these have.

    The page's font may be wider than the one the drawing measures with.
    """

    width: int
    label: int
    letters: int

    @property
    def plot(self) -> int:
        """What is left for the bars."""
        return self.width - self.label - AMOUNT


BESIDE = BarRoom(WIDTH, 180, 22)
"""Of a chart beside another."""
ALONE = BarRoom(WIDE, 400, 50)
"""Of one with long names, which takes the width of the page."""


def named_bars(values: Sequence[ChartSpec], room: BarRoom, bars: Sequence[ChartSpec], amount: ChartSpec) -> ChartSpec:
    """Layers of bars, then the `name` of each value and, at `amount`, what is `said` of it."""
    text: ChartSpec = {"type": "text", "baseline": "middle", "limit": 0}
    name: ChartSpec = {**text, "align": "right", "dx": -8}
    said: ChartSpec = {**text, "align": "left", "dx": 6, "fill": "var(--muted)"}
    return {
        "width": room.plot,
        "height": {"step": 24},
        "padding": {"left": room.label, "right": AMOUNT, "top": 2, "bottom": 2},
        "autosize": "none",
        "data": {"values": values},
        "layer": [
            *bars,
            {"mark": name, "encoding": {"y": BY_PLACE, "x": {"value": 0}, "text": {"field": "name"}}},
            {"mark": said, "encoding": {"y": BY_PLACE, "x": amount, "text": {"field": "said"}}},
        ],
    }


def short_label(name: Scalar, letters: int = BESIDE.letters) -> str:
    """A name that fits beside its bar: wide characters count twice, and a cut is in the middle."""
    text = clean_line(name, letters)
    return text if letter_columns(text) <= letters + 2 else clean_line(name, letters // 2)
