# SPDX-License-Identifier: Apache-2.0
"""Operators under the roof of their chip: operations per byte against operations per second, both logarithmic.

A point below the slope is bound by the memory at best, one below the flat part by the arithmetic; how far below it
stands is what shape, layout or company cost. Points stand above the slope where data stays in the cache: of the bytes
it is known how many are read and written, not how many of them go to the memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from advisor.report.charts.drawing import (
    WIDTH,
    ChartSpec,
    Drawing,
    Row,
    coloured_by,
    finite_number,
    marks_of,
    number_or_zero,
    quantity,
    tooltip_text,
)
from advisor.report.charts.words import ChartWords
from advisor.report.prose import clean_line
from advisor.units import show_value

HEIGHT = 240
MOST_POINTS = 40
MOST_ROOFS = 4
"""Data types that have a roof of their own; there are hardly more in one job."""
TONES = ("compute", "comm", "accent", "medium")
SMALLEST, LARGEST = 30.0, 400.0
"""Areas of circles, square pixels."""
MOST_TICKS, FEW_DECADES = 8, 3
_ROOM = 1.6
_NAME, _SHAPES = 40, 60


def rooflines(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Points for the operators with most time, and a line for what the chip can in each of their data types."""
    known = [row for row in rows[:MOST_POINTS] if _is_whole(row)]
    if not known:
        return None
    roofs = _roofs(known)
    across, up = _domains(known, roofs)
    names = list(dict.fromkeys(dtype for dtype, *_ in roofs))
    colour = coloured_by("dtype", dict(zip(names, TONES, strict=False)), alone=False)
    lines: ChartSpec = {
        "data": {"values": _roof_points(roofs, across)},
        "mark": {"type": "line", "strokeWidth": 1.5, "clip": True},
        "encoding": {
            "x": _axis("intensity", across, words.say("intensity")),
            "y": _axis("tflops", up, words.say("tflops")),
            "detail": {"field": "roof"},
            "color": colour,
        },
    }
    points = marks_of(
        "point",
        {"filled": True, "opacity": 0.65, "clip": True},
        x=quantity("intensity"),
        y=quantity("tflops"),
        size=quantity("us", scale={"domainMin": 0, "range": [SMALLEST, LARGEST]}, legend=None),
        color=colour,
    )
    values = {"values": [_point(row, names, words) for row in known]}
    spec: ChartSpec = {"width": WIDTH, "height": HEIGHT, "data": values, "layer": [lines, points]}
    heads = tuple(map(words.say, ("operator", "intensity", "tflops", "roof_share", "time_step")))
    numbers = [
        (
            _name(row),
            f"{number_or_zero(row, 'intensity'):.3g}",
            f"{number_or_zero(row, 'tflops'):.3g}",
            _said_share(row),
            show_value(row.get("us"), "us"),
        )
        for row in known
    ]
    return Drawing(spec, _note(known, total, words), heads, numbers)


_NUMBERS = ("intensity", "tflops", "peak_tflops", "us")


def _is_whole(row: Row) -> bool:
    """Whether it can be drawn: everything is above nothing, but for a bandwidth that may be unknown."""
    numbers = [finite_number(row.get(name)) for name in _NUMBERS]
    return all(number is not None and 1e-9 < number < 1e12 for number in numbers) and bool(row.get("op_type"))  # noqa: PLR2004


def _roofs(rows: Sequence[Row]) -> list[tuple[str, float, float]]:
    """What the chip can, by data type: its name, 10^12 operations and 10^12 bytes per second (0 where unknown)."""
    found: dict[str, tuple[str, float, float]] = {}
    for row in rows:
        key = clean_line(row.get("dtype") or "", 12)
        found.setdefault(key, (key, number_or_zero(row, "peak_tflops"), number_or_zero(row, "memory_gbps") / 1e3))
    return list(found.values())[:MOST_ROOFS]


def _domains(rows: Sequence[Row], roofs: Sequence[tuple[str, float, float]]) -> tuple[list[float], list[float]]:
    """What the axes reach from and to: all points, and where each roof bends."""
    bends = [peak / rate for _, peak, rate in roofs if rate > 0]
    intensities = [*(number_or_zero(row, "intensity") for row in rows), *bends]
    speeds = [*(number_or_zero(row, "tflops") for row in rows), *(peak for _, peak, _ in roofs)]
    return tuple([min(values) / _ROOM, max(values) * _ROOM] for values in (intensities, speeds))  # type: ignore[return-value]


def _axis(field: str, domain: Sequence[float], title: str) -> ChartSpec:
    first, last = (math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])))
    every = max(1, math.ceil((last - first) / MOST_TICKS))
    steps = (1, 2, 5) if last - first <= FEW_DECADES else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1, every) for step in steps]
    look: ChartSpec = {"values": [tick for tick in ticks if domain[0] <= tick <= domain[1]], "format": "~g"}
    return quantity(field, title=title, scale={"type": "log", "domain": list(domain), "nice": False}, axis=look)


def _roof_points(roofs: Sequence[tuple[str, float, float]], across: Sequence[float]) -> list[ChartSpec]:
    values: list[ChartSpec] = []
    for number, (dtype, peak, rate) in enumerate(roofs):
        bend = peak / rate if rate > 0 else across[0]
        for intensity in (across[0], min(max(bend, across[0]), across[1]), across[1]):
            speed = _roof_above(intensity, peak, rate)
            values.append({"roof": number, "dtype": dtype, "intensity": intensity, "tflops": speed})
    return values


def _roof_above(intensity: float, peak: float, rate: float) -> float:
    """The most that the chip can do at so many operations per byte; its peak where the bandwidth is unknown."""
    return min(peak, intensity * rate) if rate > 0 else peak


def _point(row: Row, names: Sequence[str], words: ChartWords) -> ChartSpec:
    dtype = clean_line(row.get("dtype") or "", 12)
    said = tooltip_text(
        _name(row),
        clean_line(row.get("input_shapes") or "", _SHAPES),
        dtype,
        f"{number_or_zero(row, 'tflops'):.3g} TFLOP/s",
        words.say("of_roof", share=_said_share(row)),
        show_value(row.get("us"), "us"),
    )
    numbers = {name: number_or_zero(row, name) for name in ("intensity", "tflops", "us")}
    return {**numbers, "dtype": dtype if dtype in names else None, "said": said}


def _said_share(row: Row) -> str:
    """Part of the roof that it reaches; what it reads may lie in the cache, and then it is more than all of it."""
    roof = _attainable_tflops(row)
    share = number_or_zero(row, "tflops") / roof if roof > 0 else 0.0
    return show_value(share, "share") if share <= 1 else f"> {show_value(1.0, 'share')}"


def _attainable_tflops(row: Row) -> float:
    """The most that the chip can do of it, 10^12 operations per second."""
    peak, rate = number_or_zero(row, "peak_tflops"), number_or_zero(row, "memory_gbps") / 1e3
    return _roof_above(number_or_zero(row, "intensity"), peak, rate)


def _above_roof(rows: Sequence[Row], words: ChartWords) -> Iterator[str]:
    """Why points may stand above: bytes count as if all went to the memory, and some need not leave the cache."""
    above = [row for row in rows if number_or_zero(row, "tflops") > _attainable_tflops(row)]
    beyond_peak = [row for row in above if number_or_zero(row, "tflops") > number_or_zero(row, "peak_tflops")]
    for name, count in (("above_slope", len(above) - len(beyond_peak)), ("above_peak", len(beyond_peak))):
        if count:
            yield words.say(name, count=count)


def _name(row: Row) -> str:
    return clean_line(row.get("op_type"), _NAME)


def _note(rows: Sequence[Row], total: int, words: ChartWords) -> str:
    chip = clean_line(rows[0].get("chip") or "", _NAME)
    said = words.say("roof_note", rank=int(number_or_zero(rows[0], "rank")))
    more = words.say("shapes_of", shown=len(rows), total=total) if total > len(rows) else ""
    return tooltip_text(chip, said, *_above_roof(rows, words), more)
