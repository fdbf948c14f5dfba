# SPDX-License-Identifier: Apache-2.0
"""The charts of a comparison: what each entry adds to the step, and the steps of both captures beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.charts.bars import BESIDE, BY_PLACE, LONGEST_SAID, BarRoom, named_bars, short_label
from advisor.report.charts.drawing import WIDE, WIDTH, ChartSpec, Drawing, amount_axis, marks_of, quantity, tooltip_text
from advisor.report.charts.specs import Chart, charts_of
from advisor.report.charts.words import ChartWords
from advisor.report.comparison.account import AccountEntry
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.sides import compared_times
from advisor.report.comparison.words import CHARTS, say
from advisor.report.prose import clean_line, flat_text, letter_columns
from advisor.units import show_value

_FEW = 2
_COLOURS = {"slower": "var(--critical)", "faster": "var(--compute)", "sum": "var(--idle)"}


def comparison_charts(comparison: Comparison, entries: Sequence[AccountEntry], language: Language) -> tuple[Chart, ...]:
    """The charts that have something to show."""
    steps = _steps_drawing(comparison, len(entries), language)
    room = _room_alone(entries) if steps is None else BESIDE
    moved = _waterfall_drawing(entries, language, judged=not comparison.apart, room=room)
    drawings = (("moved", moved), ("steps", steps))
    return charts_of(drawings, CHARTS, ChartWords(language, compared_times(comparison)))


_MOST_LETTERS, _LETTER = 42, 8
"""Of a name beside a chart that has the width of the page to itself, and the most pixels of each."""


def _room_alone(entries: Sequence[AccountEntry]) -> BarRoom:
    """The width of the page, with names as wide as the longest of them needs."""
    names = (short_label(flat_text(one.name), _MOST_LETTERS) for one in entries)
    return BarRoom(WIDE, max(BESIDE.label, (max(map(letter_columns, names), default=0) + 2) * _LETTER), _MOST_LETTERS)


def _waterfall_drawing(
    entries: Sequence[AccountEntry], language: Language, *, judged: bool, room: BarRoom
) -> Drawing | None:
    """Each bar begins where the one above ends; the last is their sum. `judged`, slower and faster have colours.

    Where bars are pale, the note says why.
    """
    if not any(one.us for one in entries):
        return None
    values, reached = [], 0.0
    for place, one in enumerate(entries):
        begin, end = (0.0, one.us) if one.key == "step" else (reached, reached + one.us)
        reached = end
        values.append(_waterfall_bar(place, one, begin, end, judged=judged, letters=room.letters))
    ends = [value for row in values for value in (row["from"], row["to"]) if isinstance(value, float)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    scale = {"domain": [low, high], "nice": False, "zero": False}
    begin_at = {"datum": 0, "type": "quantitative", "axis": None, "scale": scale}
    zero: ChartSpec = {"mark": {"type": "rule", "stroke": "var(--line)"}, "encoding": {"x": begin_at}}
    tones = {"domain": list(_COLOURS), "range": list(_COLOURS.values())}
    bar = marks_of(
        "bar",
        {"height": {"band": 0.66}, "cornerRadius": 1.5, "minBandSize": 1},
        y=BY_PLACE,
        x=quantity("from", axis=None, scale=scale),
        x2={"field": "to"},
        color={"field": "kind", "type": "nominal", "scale": tones, "legend": None},
        fillOpacity={"condition": {"test": "datum.pale", "value": 0.4}, "value": 1},
        description={"field": "whole"},
    )
    spec = named_bars(values, room, [zero, bar], {"value": room.plot})
    note = say("pale", language) if any(value["pale"] for value in values) else ""
    numbers = [(clean_line(flat_text(one.name), LONGEST_SAID), one.delta) for one in entries]
    return Drawing(spec, note, ("", ""), numbers, room.width == WIDE)


def _waterfall_bar(place: int, one: AccountEntry, begin: float, end: float, *, judged: bool, letters: int) -> ChartSpec:
    kind = "sum" if one.key == "step" or not judged else "slower" if one.us > 0 else "faster"
    return {
        "place": place,
        "name": short_label(flat_text(one.name), letters),
        "said": signed_amount(round(one.us, 6)),
        "whole": tooltip_text(clean_line(flat_text(one.name), LONGEST_SAID), signed_amount(round(one.us, 6))),
        "from": begin / 1e3,
        "to": end / 1e3,
        "kind": kind,
        "pale": one.noisy and one.key != "step",
    }


def _steps_drawing(comparison: Comparison, rows: int, language: Language) -> Drawing | None:
    """One mark per step, before above after: whether the two differ by more than the steps do among themselves.

    As tall as the chart beside it, which has so many rows.
    """
    accounts = (comparison.before.account, comparison.after.account)
    sides = [account.steps if account is not None else () for account in accounts]
    if min(map(len, sides)) < _FEW or not rows:
        return None
    names, words = [say("Before", language), say("After", language)], ChartWords(language)
    values: list[ChartSpec] = [
        {"side": name, "ms": step.step_us / 1e3, "said": tooltip_text(name, show_value(step.step_us, "us"))}
        for name, steps in zip(names, sides, strict=True)
        for step in steps
    ]
    times = [[step.step_us for step in steps] for steps in sides]
    told = [(name, min(us), sum(us) / len(us), max(us)) for name, us in zip(names, times, strict=True)]
    means: list[ChartSpec] = [{"side": name, "ms": mean / 1e3} for name, _, mean, _ in told]
    spec = _strips_spec(values, means, names, min(max(24 * rows - 60, 130), 260), words)
    heads = ("", words.say("step"), *(say(name, language) for name in ("shortest", "mean", "longest")))
    numbers = [
        (name, str(len(steps)), *(show_value(us, "us") for us in amounts))
        for steps, (name, *amounts) in zip(sides, told, strict=True)
    ]
    return Drawing(spec, say("dots", language), heads, numbers)


def _strips_spec(
    values: list[ChartSpec], means: list[ChartSpec], names: list[str], height: int, words: ChartWords
) -> ChartSpec:
    """Dots and means of both sides on one axis that need not begin at zero."""
    x = {**amount_axis("ms", words.say("ms_step")), "scale": {"zero": False, "nice": False, "padding": 14}}
    look: ChartSpec = {"ticks": False, "domain": False}
    dots = marks_of("circle", {"size": 90, "fill": "var(--accent)", "fillOpacity": 0.45})
    mean: ChartSpec = {"type": "tick", "thickness": 2.5, "height": 34, "fill": "var(--text)", "stroke": "var(--text)"}
    return {
        "width": WIDTH - 60,
        "height": height,
        "encoding": {"x": x, "y": {"field": "side", "type": "nominal", "title": None, "sort": names, "axis": look}},
        "layer": [{"data": {"values": values}, **dots}, {"data": {"values": means}, "mark": mean}],
    }
