# SPDX-License-Identifier: Apache-2.0
"""How much device memory a rank held while it was recorded: what was allocated, inside of what was reserved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from advisor.messages.text import Language, TimesOf
from advisor.report.charts.drawing import (
    WIDTH,
    ChartSpec,
    Drawing,
    Row,
    amount_axis,
    coloured_by,
    finite_number,
    number_or_zero,
    slices_in_turn,
    stepped_points,
    time_axis,
    tooltip_text,
)
from advisor.report.charts.words import say_axis
from advisor.report.prose import clean_line
from advisor.units import show_value

HELD: Mapping[str, tuple[str, str]] = {
    "reserved": ("reserved_bytes", "idle"),
    "allocated": ("allocated_bytes", "accent"),
}
"""What is drawn, the larger behind the smaller: its column and its colour."""
LONGEST_SAID = 40
_GIB = 2**30


def memory_course(rows: Sequence[Row], total: int, language: Language, times_of: TimesOf = "step") -> Drawing | None:
    """Two areas over time, and a line at what the device holds where that is known."""
    slices = slices_in_turn(rows)
    most = {
        name: max((held for row in slices if (held := finite_number(row.get(column))) is not None), default=0.0)
        for name, (column, _) in HELD.items()
    }
    if max(most.values()) <= 0:
        return None
    shown = [name for name, held in most.items() if held > 0]
    values = [
        {"held": say_axis(name, language), "ms": at, "gib": gib, "low": 0, "said": said}
        for name in shown
        for said in [tooltip_text(say_axis(name, language), show_value(most[name], "B"))]
        for at, gib in stepped_points(slices, [round(number_or_zero(row, HELD[name][0]) / _GIB, 4) for row in slices])
    ]
    capacity = finite_number(slices[0].get("capacity_bytes"))
    words = [say_axis(name, language) for name in shown]
    areas: ChartSpec = {
        "mark": {"type": "area", "aria": True, "interpolate": "step-after"},
        "encoding": {
            "x": time_axis(say_axis("ms_in_recording", language)),
            "y": amount_axis("gib", say_axis("gib", language)),
            "y2": {"field": "low"},
            "color": coloured_by("held", {word: HELD[name][1] for word, name in zip(words, shown, strict=True)}),
            "description": {"field": "said"},
        },
    }
    limit: ChartSpec = {
        "mark": {"type": "rule", "aria": False, "color": "var(--critical)", "strokeDash": [4, 3]},
        "encoding": {"y": {"datum": (capacity or 0.0) / _GIB, "type": "quantitative"}},
    }
    spec: ChartSpec = {
        "width": WIDTH,
        "height": 190,
        "data": {"values": values},
        "layer": [areas, *([limit] if capacity else [])],
    }
    said = {
        "lane": say_axis("lane", language, rank=int(number_or_zero(slices[0], "rank"))),
        "component": clean_line(slices[0].get("component"), LONGEST_SAID),
        "reserved": show_value(most["reserved"] or most["allocated"], "B"),
        "capacity": show_value(capacity, "B"),
    }
    note = say_axis("memory_note_of" if capacity else "memory_note", language, **said)
    numbers = [
        (
            show_value(number_or_zero(row, "from_us"), "us"),
            *(show_value(finite_number(row.get(HELD[name][0])), "B") for name in shown),
        )
        for row in slices
    ]
    return Drawing(spec, note, (say_axis("ms_in_recording", language), *words), numbers)
