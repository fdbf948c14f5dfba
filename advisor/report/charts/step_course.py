# SPDX-License-Identifier: Apache-2.0
"""A step from beginning to end: what the device of each rank did in each slice of it, and how far ahead the host was.

One lane for each rank, one under the other on one axis of time, so that ranks that wait for each other are seen to.
Lanes are areas and not bars: a page stays small however many slices there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from advisor.report.charts.drawing import (
    PARTS,
    TIME_LABEL,
    WIDE,
    ChartSpec,
    Drawing,
    Row,
    coloured_by,
    complete_rows,
    finite_number,
    number_or_zero,
    quantity,
    slices_in_turn,
    stepped_areas,
    stepped_points,
    time_axis,
    tooltip_text,
)
from advisor.report.charts.words import ChartWords
from advisor.report.grouping import values_by_key
from advisor.units import show_value

LANE, LEAD = 46, 64
"""Height of the lane of a rank, and of the line of launches."""
LETTER, SHORTEST = 8, 8
"""Room for a letter of what stands left of lanes, and so many letters at least: the line of launches has an axis."""
MOST_LANES = 8
MOST_TICKS = 3
"""So many decades are named above the first on the axis of launches."""


class _Course(Struct, frozen=True):
    """One step of one rank."""

    rank: int
    step: int | None
    slices: Sequence[Row]
    """In the order of time."""

    @property
    def us(self) -> float:
        """How long it takes."""
        return number_or_zero(self.slices[-1], "to_us")

    def spent_us(self, part: str) -> float:
        """How long it spends on a part."""
        return sum(number_or_zero(row, PARTS[part]) for row in self.slices)


def step_course(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Lanes of areas over the time of a step; below them how long what began had been launched, on one of the ranks."""
    courses = _read_courses(rows)
    if not courses:
        return None
    lanes = _lane_names(courses, words)
    leader = min(range(len(courses)), key=lambda place: courses[place].spent_us("comm"))
    leads = _lead_points(courses[leader])
    width = WIDE - LETTER * max(SHORTEST, *map(len, lanes))
    parts = [_lanes_spec(courses, lanes, width, words)]
    notes = [*_which_steps(courses, total > len(rows), words)]
    if leads:
        parts.append(_leads_spec(leads, width, words.say("lead_of", lane=lanes[leader])))
        notes.append(words.say("lead_note"))
    scales = {"scale": {"x": "shared", "color": "independent"}}
    spec: ChartSpec = {"vconcat": parts, "spacing": 12, "resolve": scales}
    numbers = [
        (lane, show_value(course.us, "us"), *(show_value(course.spent_us(part), "us") for part in PARTS))
        for lane, course in zip(lanes, courses, strict=True)
    ]
    heads = ("", *map(words.say, ("step", *PARTS)))
    return Drawing(spec, words.semicolon.join(notes), heads, numbers, wide=True)


def _read_courses(rows: Sequence[Row]) -> list[_Course]:
    """The lanes in the order in which they come; what has no rank, or no time, is in none."""
    found = values_by_key(
        ((int(rank), None if step is None else int(step)), row)
        for row, (rank,) in complete_rows(rows, "rank")
        for step in [finite_number(row.get("step"))]
    )
    courses = (_Course(*key, slices) for key, lane in found.items() if (slices := slices_in_turn(lane)))
    return list(islice(courses, MOST_LANES))


def _lane_names(courses: Sequence[_Course], words: ChartWords) -> list[str]:
    """What stands left of each lane: the rank; its step too where lanes are of several."""
    several = len({course.step for course in courses}) > 1
    names, met = [], set[int]()
    for course in courses:
        name = "lane_longest" if course.rank in met else "lane_step"
        name = name if several and course.step is not None else "lane"
        names.append(words.say(name, rank=course.rank, step=course.step))
        met.add(course.rank)
    return names


def _which_steps(courses: Sequence[_Course], chosen: bool, words: ChartWords) -> Iterator[str]:
    """Of which steps and ranks the lanes are."""
    ranks = {course.rank: course.step for course in reversed(courses)}  # the first lane of each
    steps = {*ranks.values()}
    if steps != {None}:
        yield words.say("middle_step" if len(steps) == 1 else "middle_steps", step=steps.pop())
    if chosen and len(ranks) > 2:  # noqa: PLR2004 - a choice
        yield words.say("courses_chosen")


def _lanes_spec(courses: Sequence[_Course], lanes: Sequence[str], width: int, words: ChartWords) -> ChartSpec:
    names = {part: words.say(part) for part in PARTS if any(course.spent_us(part) > 0 for course in courses)}
    values = [
        {"lane": lane, "part": names[part], "ms": at, "low": low, "high": high, "said": said}
        for lane, course in zip(lanes, courses, strict=True)
        for part, points in _stacked_areas(course).items()
        if part in names
        for said in [tooltip_text(lane, f"{names[part]} {show_value(course.spent_us(part) / course.us, 'share')}")]
        for at, (low, high) in points
    ]
    header = {"labelAngle": 0, "labelAlign": "left", "labelPadding": 8, "labelLimit": WIDE - width}
    height = quantity("low", scale={"domain": [0, 1]}, axis=None)
    tones = coloured_by("part", {name: part for part, name in names.items()})
    areas = stepped_areas(words.say("ms_in_step"), height, "high", tones)
    return {
        "data": {"values": values},
        "facet": {"row": {"field": "lane", "type": "nominal", "sort": list(lanes), "header": header}},
        "spacing": 6,
        "spec": {"width": width, "height": LANE, **areas},
    }


def _stacked_areas(course: _Course) -> Mapping[str, Sequence[tuple[float, tuple[float, float]]]]:
    """Per part: from which moment on, ms, it lies from where to where in its slices.

    Stacked here, for the library would add every moment of one lane to all the others.
    """
    lengths = [number_or_zero(row, "to_us") - number_or_zero(row, "from_us") for row in course.slices]
    low, areas = [0.0] * len(lengths), {}
    for part, column in PARTS.items():
        shares = [number_or_zero(row, column) / us for row, us in zip(course.slices, lengths, strict=True)]
        high = [min(max(below + share, below), 1.0) for below, share in zip(low, shares, strict=True)]
        edges = [(round(down, 4), round(up, 4)) for down, up in zip(low, high, strict=True)]
        areas[part] = stepped_points(course.slices, edges)
        low = high
    return areas


def _lead_points(course: _Course) -> list[Mapping[str, float]]:
    """Where slices begin, ms, and the median lead of what began in them, µs: at least 1, as the axis counts decades."""
    return [
        {"ms": round(number_or_zero(row, "from_us") / 1e3, 4), "us": round(max(lead, 1.0), 2)}
        for row, (lead,) in complete_rows(course.slices, "lead_us")
    ]


def _leads_spec(points: Sequence[Mapping[str, float]], width: int, said: str) -> ChartSpec:
    decades = math.floor(math.log10(max(point["us"] for point in points)))
    ticks = [10**power for power in range(0, decades + 1, max(1, math.ceil(decades / MOST_TICKS)))]
    look = {"values": ticks, "labelExpr": TIME_LABEL}
    return {
        "data": {"values": list(points)},
        "title": {"text": said, "anchor": "start", "color": "var(--muted)", "fontSize": 12, "fontWeight": "normal"},
        "width": width,
        "height": LEAD,
        "mark": {"type": "point", "aria": False, "filled": True, "size": 14, "color": "var(--accent)"},
        "encoding": {
            "x": time_axis(None),
            "y": quantity("us", title=None, scale={"type": "log", "domainMin": 1}, axis=look),
        },
    }
