# SPDX-License-Identifier: Apache-2.0
"""How much device memory a rank held while it was recorded: what was allocated, inside of what was reserved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    stepped_areas,
    stepped_points,
    tooltip_text,
)
from advisor.report.charts.words import ChartWords
from advisor.report.prose import clean_line
from advisor.units import show_value

HELD: Mapping[str, tuple[str, str]] = {
    "reserved": ("reserved_bytes", "idle"),
    "allocated": ("allocated_bytes", "accent"),
}
"""What is drawn, the larger behind the smaller: its column and its colour."""
LONGEST_SAID = 40
_GIB = 2**30


def memory_course(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Two areas over time, and a line at what the device holds where that is known."""
    slices = slices_in_turn(rows)
    most = {name: max((number_or_zero(row, HELD[name][0]) for row in slices), default=0.0) for name in HELD}
    if max(most.values()) <= 0:
        return None
    shown = {name: words.say(name) for name, held in most.items() if held > 0}
    values = [
        {"held": word, "ms": at, "gib": gib, "low": 0, "said": tooltip_text(word, show_value(most[name], "B"))}
        for name, word in shown.items()
        for at, gib in stepped_points(slices, [round(number_or_zero(row, HELD[name][0]) / _GIB, 4) for row in slices])
    ]
    capacity, since = finite_number(slices[0].get("capacity_bytes")), words.say("ms_in_recording")
    tones = coloured_by("held", {word: HELD[name][1] for name, word in shown.items()})
    areas = stepped_areas(since, amount_axis("gib", words.say("gib")), "low", tones)
    limit: ChartSpec = {
        "mark": {"type": "rule", "aria": False, "color": "var(--critical)", "strokeDash": [4, 3]},
        "encoding": {"y": {"datum": (capacity or 0.0) / _GIB, "type": "quantitative"}},
    }
    layers = [areas, *([limit] if capacity else [])]
    spec: ChartSpec = {"width": WIDTH, "height": 190, "data": {"values": values}, "layer": layers}
    note = words.say(
        "memory_note_of" if capacity else "memory_note",
        lane=words.say("lane", rank=int(number_or_zero(slices[0], "rank"))),
        component=clean_line(slices[0].get("component"), LONGEST_SAID),
        reserved=show_value(most["reserved"] or most["allocated"], "B"),
        capacity=show_value(capacity, "B"),
    )
    numbers = [
        (
            show_value(number_or_zero(row, "from_us"), "us"),
            *(show_value(finite_number(row.get(HELD[name][0])), "B") for name in shown),
        )
        for row in slices
    ]
    return Drawing(spec, note, (since, *shown.values()), numbers)
