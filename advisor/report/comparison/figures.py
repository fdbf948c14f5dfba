# SPDX-License-Identifier: Apache-2.0
"""The charts of a comparison: what each entry adds to the step, and the steps of both captures beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.model.findings import StepSplit
from advisor.report.charts.drawing import WIDTH, Drawing, Json, pointed
from advisor.report.charts.specs import AMOUNT, LABEL, LONGEST_SAID, Chart, chart_of, short
from advisor.report.comparison.amounts import signed
from advisor.report.comparison.view import Entry, View
from advisor.report.comparison.words import AXES, CHARTS, say
from advisor.report.prose import clean, flat
from advisor.report.words import axis
from advisor.units import show

_PLOT = WIDTH - LABEL - AMOUNT
_FEW = 2
_COLOURS = {"slower": "var(--critical)", "faster": "var(--compute)", "sum": "var(--idle)"}


def charts(comparison: Comparison, shown: View) -> tuple[Chart, ...]:
    """The charts that have something to show."""
    language = shown.language
    drawings = {"moved": _waterfall(shown.entries), "steps": _steps(comparison, len(shown.entries), language)}
    return tuple(chart_of(kind, CHARTS[kind].say(language), one) for kind, one in drawings.items() if one is not None)


def _waterfall(entries: Sequence[Entry]) -> Drawing | None:
    """Each bar begins where the one above ends; the last is their sum."""
    if not any(one.us for one in entries):
        return None
    values, reached = [], 0.0
    for place, one in enumerate(entries):
        begin, end = (0.0, one.us) if one.key == "step" else (reached, reached + one.us)
        reached = end
        values.append(_bar(place, one, begin, end))
    ends = [value for row in values for value in (row["from"], row["to"]) if isinstance(value, float)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    x: Json = {"type": "quantitative", "axis": None, "scale": {"domain": [low, high], "nice": False, "zero": False}}
    y: Json = {"field": "place", "type": "ordinal", "title": None, "axis": None}
    label: Json = {"type": "text", "align": "right", "dx": -8, "baseline": "middle", "limit": 0}
    amount: Json = {"type": "text", "align": "left", "dx": 6, "baseline": "middle", "fill": "var(--muted)", "limit": 0}
    paint: Json = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
        "legend": None,
    }
    pale: Json = {"condition": {"test": "datum.pale", "value": 0.4}, "value": 1}
    spec: Json = {
        "width": _PLOT,
        "height": {"step": 24},
        "padding": {"left": LABEL, "right": AMOUNT, "top": 2, "bottom": 2},
        "autosize": "none",
        "data": {"values": values},
        "layer": [
            {"mark": {"type": "rule", "stroke": "var(--line)"}, "encoding": {"x": {"datum": 0, **x}}},
            {
                "mark": {"type": "bar", "aria": True, "height": {"band": 0.66}, "cornerRadius": 1.5, "minBandSize": 1},
                "encoding": {
                    "y": y,
                    "x": {"field": "from", **x},
                    "x2": {"field": "to"},
                    "color": paint,
                    "fillOpacity": pale,
                    "description": {"field": "whole"},
                },
            },
            {"mark": label, "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "name"}}},
            {"mark": amount, "encoding": {"y": y, "x": {"value": _PLOT}, "text": {"field": "said"}}},
        ],
    }
    return Drawing(spec, "", ("", ""), [(short(flat(one.name)), one.delta) for one in entries])


def _bar(place: int, one: Entry, begin: float, end: float) -> Json:
    kind = "sum" if one.key == "step" else "slower" if one.us > 0 else "faster"
    return {
        "place": place,
        "name": short(flat(one.name)),
        "said": signed(round(one.us, 6)),
        "whole": pointed(clean(flat(one.name), LONGEST_SAID), signed(round(one.us, 6))),
        "from": begin / 1e3,
        "to": end / 1e3,
        "kind": kind,
        "pale": one.noisy and one.key != "step",
    }


def _steps(comparison: Comparison, rows: int, language: Language) -> Drawing | None:
    """One mark per step, before above after: whether the two differ by more than the steps do among themselves.

    As tall as the chart beside it, which has so many rows.
    """
    accounts = (comparison.before.account, comparison.after.account)
    sides = [account.steps if account is not None else () for account in accounts]
    if min(map(len, sides)) < _FEW or not rows:
        return None
    names = [say("Before", language), say("After", language)]
    values: list[Json] = [
        {"side": name, "ms": step.step_us / 1e3, "said": pointed(name, show(step.step_us, "us"))}
        for name, steps in zip(names, sides, strict=True)
        for step in steps
    ]
    means: list[Json] = [{"side": name, "ms": _mean(steps) / 1e3} for name, steps in zip(names, sides, strict=True)]
    spec = _strips(values, means, names, min(max(24 * rows - 60, 130), 260), language)
    heads = ("", axis("step", language), *(say(name, language) for name in ("shortest", "mean", "longest")))
    numbers = [(name, *_numbers(steps)) for name, steps in zip(names, sides, strict=True)]
    return Drawing(spec, AXES["steps"].say(language), heads, numbers)


def _strips(values: list[Json], means: list[Json], names: list[str], height: int, language: Language) -> Json:
    """Dots and means of both sides on one axis that need not begin at zero."""
    x: Json = {
        "field": "ms",
        "type": "quantitative",
        "title": axis("ms_step", language),
        "scale": {"zero": False, "nice": False, "padding": 14},
        "axis": {"tickCount": 5},
    }
    look: Json = {"ticks": False, "domain": False}
    mean: Json = {"type": "tick", "thickness": 2.5, "height": 34, "fill": "var(--text)", "stroke": "var(--text)"}
    return {
        "width": WIDTH - 60,
        "height": height,
        "encoding": {"x": x, "y": {"field": "side", "type": "nominal", "title": None, "sort": names, "axis": look}},
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "circle", "aria": True, "size": 90, "fill": "var(--accent)", "fillOpacity": 0.45},
                "encoding": {"description": {"field": "said"}},
            },
            {"data": {"values": means}, "mark": mean},
        ],
    }


def _mean(steps: Sequence[StepSplit]) -> float:
    return sum(step.step_us for step in steps) / len(steps)


def _numbers(steps: Sequence[StepSplit]) -> tuple[str, ...]:
    times = [step.step_us for step in steps]
    return (str(len(steps)), *(show(us, "us") for us in (min(times), _mean(steps), max(times))))
