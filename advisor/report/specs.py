# SPDX-License-Identifier: Apache-2.0
"""Exhibits as Vega-Lite specs: one function per kind, bounded in size, colours as CSS variables of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from unicodedata import east_asian_width

from msgspec import Struct

from advisor.findings import Exhibit, Scalar
from advisor.report.drawing import MOST_COLUMNS, WIDTH, Drawing, Json, Row, at, number, ordinal
from advisor.report.heatmaps import links, rank_steps
from advisor.report.prose import clean
from advisor.report.words import CAUSES, CHARTS, axis, known, say
from advisor.text import Language
from advisor.units import show

LABEL, AMOUNT = 180, 64
LABEL_COLUMNS = 24
"""Room beside bars for names and amounts: the page's font may be wider than the one the drawing measures with."""
MOST_BARS = 10
MOST_NUMBERS = 30


class Chart(Struct, frozen=True):
    """One chart to be drawn, and its numbers for those who do not see it."""

    kind: str
    title: str
    note: str
    spec: Json
    heads: tuple[str, ...]
    numbers: tuple[tuple[str, ...], ...]


def charts(exhibits: Iterable[Exhibit], language: Language) -> tuple[Chart, ...]:
    """A chart for each exhibit that has something to show."""
    made = []
    for exhibit in exhibits:
        names = [column.name for column in exhibit.rows.columns]
        rows = [dict(zip(names, row, strict=False)) for row in exhibit.rows.rows]
        drawing = _DRAW[exhibit.kind](rows, max(exhibit.rows.total, len(rows)), language)
        if drawing is not None:
            made.append(chart_of(exhibit.kind, CHARTS[exhibit.kind].say(language), drawing))
    return tuple(made)


def chart_of(kind: str, title: str, drawing: Drawing) -> Chart:
    """A drawing with its look."""
    spec: Json = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "config": _CONFIG,
        **drawing.spec,
    }
    return Chart(kind, title, drawing.note, spec, drawing.heads, tuple(drawing.numbers[:MOST_NUMBERS]))


_CONFIG: Json = {
    "aria": False,  # the library would describe marks in English; the page gives the title and the numbers in words
    "background": None,
    "padding": 2,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": "var(--text)",
        "labelFontSize": 12,
        "symbolType": "square",
        "orient": "top",
        "columnPadding": 36,
    },
    "header": {"labelColor": "var(--muted)", "labelFontSize": 12, "title": None},
    "text": {"fill": "var(--text)", "fontSize": 12},
}


def _time_split(rows: Sequence[Row], total: int, language: Language) -> Drawing | None:
    """Stacked columns: where the time of each rank goes. The bar under the verdict says it of a single one."""
    parts = (("compute", "compute_us"), ("comm", "exposed_comm_us"), ("idle", "free_us"))
    ordered = sorted((row for row in rows if number(row.get("rank")) is not None), key=lambda row: at(row, "rank"))
    if len(ordered) < 2:  # noqa: PLR2004 - one is the bar under the verdict
        return None
    size = math.ceil(len(ordered) / MOST_COLUMNS)
    groups = [ordered[i : i + size] for i in range(0, len(ordered), size)]
    means = [(_span(group, "rank"), [_mean(group, column) for _, column in parts]) for group in groups]
    values = [
        {"rank": name, "part": say(key, language), "order": order, "ms": round(us / 1e3, 4)}
        for name, amounts in means
        for order, ((key, _), us) in enumerate(zip(parts, amounts, strict=True))
        if us is not None
    ]
    names = [say(key, language) for key, _ in parts]
    spec: Json = {
        "width": WIDTH,
        "height": 200,
        "data": {"values": values},
        "mark": {"type": "bar", "width": {"band": 0.82}},
        "encoding": {
            "x": ordinal("rank", axis("rank", language), [name for name, _ in means]),
            "y": {"field": "ms", "type": "quantitative", "title": axis("ms_step", language), "axis": {"tickCount": 5}},
            "order": {"field": "order"},
            "color": {
                "field": "part",
                "type": "nominal",
                "scale": {"domain": names, "range": [f"var(--{key})" for key, _ in parts]},
                "legend": {"title": None},
            },
        },
    }
    note = "" if size == 1 else axis("ranks_grouped", language, count=total, size=size)
    numbers = [(name, *(show(us, "us") for us in amounts)) for name, amounts in means]
    return Drawing(spec, note, (axis("rank", language), *names), numbers)


def _idle_causes(rows: Sequence[Row], total: int, language: Language) -> Drawing | None:
    """Bars: what the device waits for."""
    bars = [
        (known(CAUSES, str(row["cause"]), language) or short(row["cause"]), us)
        for row in rows
        if (us := number(row.get("us"))) is not None and us > 0 and row.get("cause") is not None
    ]
    note = axis("total_idle", language, time=show(sum(us for _, us in bars), "us"))
    return _bars(bars, "idle", note, language)


def _operators(rows: Sequence[Row], total: int, language: Language) -> Drawing | None:
    """Bars: the operator types with most device time."""
    bars = [
        (short(row["op_type"]), us)
        for row in rows
        if (us := number(row.get("us"))) is not None and us > 0 and row.get("op_type") is not None
    ]
    shown = min(len(bars), MOST_BARS)
    return _bars(bars, "compute", axis("top_of", language, shown=shown, total=total) if total > shown else "", language)


def short(name: Scalar) -> str:
    """A name that fits beside its bar: wide characters count twice, and a cut is in the middle."""
    text = clean(name, 22)
    wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return text if len(text) + wide <= LABEL_COLUMNS else clean(name, 11)


def _bars(bars: Sequence[tuple[str, float]], colour: str, note: str, language: Language) -> Drawing | None:
    if not bars:
        return None
    ordered = sorted(bars, key=lambda bar: (-bar[1], bar[0]))[:MOST_BARS]
    values = [
        {"place": i, "name": name, "ms": us / 1e3, "said": show(us, "us")} for i, (name, us) in enumerate(ordered)
    ]
    y = {"field": "place", "type": "ordinal", "title": None, "axis": None}
    x = {"field": "ms", "type": "quantitative", "axis": None, "scale": {"domainMax": ordered[0][1] / 1e3}}
    label: Json = {"type": "text", "align": "right", "dx": -8, "baseline": "middle", "limit": 0}
    spec: Json = {
        "width": WIDTH - LABEL - AMOUNT,
        "height": {"step": 24},
        "padding": {"left": LABEL, "right": AMOUNT, "top": 2, "bottom": 2},
        "autosize": "none",
        "data": {"values": values},
        "encoding": {"y": y},
        "layer": [
            {
                "mark": {"type": "bar", "fill": f"var(--{colour})", "height": {"band": 0.66}, "cornerRadiusEnd": 2},
                "encoding": {"x": x},
            },
            {"mark": label, "encoding": {"x": {"value": 0}, "text": {"field": "name"}}},
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "baseline": "middle", "fill": "var(--muted)"},
                "encoding": {"x": x, "text": {"field": "said"}},
            },
        ],
    }
    heads = ("", axis("ms_step", language).replace("ms", "").strip() or "")
    return Drawing(spec, note, heads, [(name, show(us, "us")) for name, us in ordered])


_TIME_LABEL = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : "
    "datum.value + ' µs'"
)


def _launch_latency(rows: Sequence[Row], total: int, language: Language) -> Drawing | None:
    """Histogram on a logarithmic axis: how long launches queue before the device begins them."""
    bins = [
        (max(at(row, "from_us"), 0.46), at(row, "to_us"), at(row, "launches"))
        for row in rows[: 3 * MOST_BARS]
        if number(row.get("to_us")) is not None and at(row, "to_us") > 0 and number(row.get("launches")) is not None
    ]
    if not bins:
        return None
    values = [{"from": low, "to": high, "launches": count} for low, high, count in bins if low < high]
    decades = [10**power for power in range(11) if 10**power <= bins[-1][1] * 1.01]
    spec: Json = {
        "width": WIDTH,
        "height": 190,
        "data": {"values": values},
        "mark": {"type": "rect", "fill": "var(--accent)", "stroke": "var(--card)", "strokeWidth": 1},
        "encoding": {
            "x": {
                "field": "from",
                "type": "quantitative",
                "scale": {"type": "log", "nice": False},
                "title": axis("latency", language),
                "axis": {"values": decades, "labelExpr": _TIME_LABEL, "grid": False},
            },
            "x2": {"field": "to"},
            "y": {
                "field": "launches",
                "type": "quantitative",
                "title": axis("launches", language),
                "axis": {"tickCount": 4},
            },
            "y2": {"datum": 0},
        },
    }
    note = axis("total_launches", language, count=f"{sum(count for *_, count in bins):,.0f}")
    numbers = [(f"≤ {show(high, 'us')}", f"{count:,.0f}") for _, high, count in bins if count]
    return Drawing(spec, note, (axis("latency", language), axis("launches", language)), numbers)


def _span(group: Sequence[Row], name: str) -> str:
    low, high = int(at(group[0], name)), int(at(group[-1], name))
    return str(low) if low == high else f"{low}–{high}"


def _mean(group: Sequence[Row], name: str) -> float | None:
    values = [value for row in group if (value := number(row.get(name))) is not None]
    return sum(values) / len(values) if values else None


Draw = Callable[[Sequence[Row], int, Language], Drawing | None]

_DRAW: Mapping[str, Draw] = {
    "time_split": _time_split,
    "idle_causes": _idle_causes,
    "launch_latency": _launch_latency,
    "operators": _operators,
    "rank_steps": rank_steps,
    "links": links,
}
