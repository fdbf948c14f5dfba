# SPDX-License-Identifier: Apache-2.0
"""Exhibits as Vega-Lite specs: one function per kind, bounded in size, colours as CSS variables of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from advisor.findings import Exhibit, Scalar
from advisor.report.prose import clean
from advisor.report.words import CAUSES, CHARTS, axis, known, say
from advisor.text import Language
from advisor.units import show

Json = dict[str, object]

WIDTH = 460
LABEL, AMOUNT = 180, 64
LABEL_COLUMNS = 24
"""Room beside bars for names and amounts: the page's font may be wider than the one the drawing measures with."""
MOST_COLUMNS = 64
MOST_BARS = 14
MOST_NUMBERS = 30
FLAT_TIME, FLAT_SPEED = 0.8, 0.5
"""A heat map spans at least from this part of its highest value, so that noise does not look like structure."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart to be drawn, and its numbers for those who do not see it."""

    kind: str
    title: str
    note: str
    spec: Json
    heads: tuple[str, ...]
    numbers: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Drawing:
    spec: Json
    note: str
    heads: tuple[str, ...]
    numbers: Sequence[tuple[str, ...]]


Row = Mapping[str, Scalar]


def charts(exhibits: Iterable[Exhibit], language: Language) -> tuple[Chart, ...]:
    """A chart for each exhibit that has something to show."""
    made = []
    for exhibit in exhibits:
        names = [column.name for column in exhibit.rows.columns]
        rows = [dict(zip(names, row, strict=False)) for row in exhibit.rows.rows]
        drawing = _DRAW[exhibit.kind](rows, max(exhibit.rows.total, len(rows)), language)
        if drawing is not None:
            made.append(_chart(exhibit.kind, drawing, language))
    return tuple(made)


def _chart(kind: str, drawing: _Drawing, language: Language) -> Chart:
    title = CHARTS[kind].say(language)
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


def _time_split(rows: Sequence[Row], total: int, language: Language) -> _Drawing | None:
    """Stacked columns: where the time of each rank goes."""
    parts = (("compute", "compute_us"), ("comm", "exposed_comm_us"), ("idle", "free_us"))
    ordered = sorted((row for row in rows if _number(row.get("rank")) is not None), key=lambda row: _at(row, "rank"))
    if not ordered:
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
            "x": _ordinal("rank", axis("rank", language), [name for name, _ in means]),
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
    return _Drawing(spec, note, (axis("rank", language), *names), numbers)


def _idle_causes(rows: Sequence[Row], total: int, language: Language) -> _Drawing | None:
    """Bars: what the device waits for."""
    bars = [
        (known(CAUSES, str(row["cause"]), language) or _short(row["cause"]), us)
        for row in rows
        if (us := _number(row.get("us"))) is not None and us > 0 and row.get("cause") is not None
    ]
    note = axis("total_idle", language, time=show(sum(us for _, us in bars), "us"))
    return _bars(bars, "idle", note, language)


def _operators(rows: Sequence[Row], total: int, language: Language) -> _Drawing | None:
    """Bars: the operator types with most device time."""
    bars = [
        (_short(row["op_type"]), us)
        for row in rows
        if (us := _number(row.get("us"))) is not None and us > 0 and row.get("op_type") is not None
    ]
    shown = min(len(bars), MOST_BARS)
    return _bars(bars, "compute", axis("top_of", language, shown=shown, total=total) if total > shown else "", language)


def _short(name: Scalar) -> str:
    """A name that fits beside its bar: wide characters count twice, and a cut is in the middle."""
    text = clean(name, 22)
    wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return text if len(text) + wide <= LABEL_COLUMNS else clean(name, 11)


def _bars(bars: Sequence[tuple[str, float]], colour: str, note: str, language: Language) -> _Drawing | None:
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
    return _Drawing(spec, note, heads, [(name, show(us, "us")) for name, us in ordered])


_TIME_LABEL = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : datum.value >= 1e3 ? datum.value / 1e3 + ' ms' : "
    "datum.value + ' µs'"
)


def _launch_latency(rows: Sequence[Row], total: int, language: Language) -> _Drawing | None:
    """Histogram on a logarithmic axis: how long launches queue before the device begins them."""
    bins = [
        (max(_at(row, "from_us"), 0.46), _at(row, "to_us"), _at(row, "launches"))
        for row in rows[: 3 * MOST_BARS]
        if _number(row.get("to_us")) is not None and _at(row, "to_us") > 0 and _number(row.get("launches")) is not None
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
    return _Drawing(spec, note, (axis("latency", language), axis("launches", language)), numbers)


def _rank_steps(rows: Sequence[Row], total: int, language: Language) -> _Drawing | None:
    """Heat map: how long each rank took for each step."""
    cells = [
        (int(rank), int(step), us)
        for row in rows
        if (rank := _number(row.get("rank"))) is not None
        and (step := _number(row.get("step"))) is not None
        and (us := _number(row.get("span_us"))) is not None
    ]
    ranks, steps = _classes(cell[0] for cell in cells), _classes(cell[1] for cell in cells)
    if len(steps) < 2:  # noqa: PLR2004 — of one step, the time per rank says more
        return None
    longest: dict[tuple[str, str], float] = {}
    for rank, step, us in cells:
        key = (ranks[rank], steps[step])
        longest[key] = max(longest.get(key, 0.0), us)
    low, high = min(longest.values()), max(longest.values())
    floor = min(low, high * FLAT_TIME)
    values = [
        {"rank": rank, "step": step, "opacity": round(0.1 + 0.85 * (us - floor) / ((high - floor) or 1), 4)}
        for (rank, step), us in longest.items()
    ]
    spec = _heat(values, ("step", axis("step", language), steps), ("rank", axis("rank", language), ranks), "accent")
    note = (
        axis("stronger_longer", language)
        + say("colon", language)
        + _between(show(low, "us"), show(high, "us"), language)
    )
    if len(ranks) > MOST_COLUMNS or len(steps) > MOST_COLUMNS:
        grouped = axis("cells_grouped", language, ranks=len(ranks), steps=len(steps))
        note = f"{grouped}{'；' if language == 'zh' else '; '}{note}"
    ordered = sorted(longest.items(), key=lambda item: -item[1])
    numbers = [(rank, step, show(us, "us")) for (rank, step), us in ordered]
    return _Drawing(spec, note, (axis("rank", language), axis("step", language), ""), numbers)


def _links(rows: Sequence[Row], total: int, language: Language) -> _Drawing | None:
    """Heat maps, one per kind of link: how fast each pair of ranks exchanges data."""
    cells = [
        (int(source), int(target), clean(row.get("link") or "–", 20), speed)
        for row in rows
        if (source := _number(row.get("source"))) is not None
        and (target := _number(row.get("target"))) is not None
        and (speed := _number(row.get("bandwidth_gbps"))) is not None
        and speed > 0
    ]
    if not cells:
        return None
    ranks = _classes(rank for cell in cells for rank in cell[:2])
    kinds = sorted({kind for _, _, kind, _ in cells})[:4]
    slowest: dict[tuple[str, str, str], float] = {}
    for source, target, kind, speed in cells:
        key = (kind, ranks[source], ranks[target])
        slowest[key] = min(slowest.get(key, math.inf), speed)
    bounds = {kind: _bounds(speed for (k, *_), speed in slowest.items() if k == kind) for kind in kinds}
    values = [
        {"link": kind, "source": source, "target": target, "opacity": _opacity(speed, bounds[kind])}
        for (kind, source, target), speed in slowest.items()
        if kind in bounds
    ]
    across = ("target", axis("target", language), ranks)
    inner = _heat(values, across, ("source", axis("source", language), ranks), "comm", max(len(kinds), 1))
    spec = inner if len(kinds) == 1 else _faceted(inner, "link")
    said = [
        axis("stronger_slower", language),
        *(
            f"{kind} {_between(show(low, 'GB/s'), show(high, 'GB/s'), language)}"
            for kind, (low, high) in bounds.items()
        ),
    ]
    if len(ranks) > MOST_COLUMNS:
        said.insert(0, axis("links_grouped", language, count=len(ranks)))
    ordered = sorted(slowest.items(), key=lambda item: item[1])
    numbers = [(source, target, kind, show(speed, "GB/s")) for (kind, source, target), speed in ordered]
    heads = (axis("source", language), axis("target", language), "", "")
    return _Drawing(spec, ("；" if language == "zh" else "; ").join(said), heads, numbers)


def _between(low: str, high: str, language: Language) -> str:
    return low if low == high else axis("between", language, low=low, high=high)


def _opacity(speed: float, bounds: tuple[float, float]) -> float:
    """The slower, the stronger."""
    low, high = bounds
    return round(0.95 - 0.8 * (speed - min(low, high * FLAT_SPEED)) / (high - min(low, high * FLAT_SPEED)), 4)


Classes = dict[int, str]
Side = tuple[str, str, Classes]


def _heat(values: list[Json], across: Side, down: Side, colour: str, beside: int = 1) -> Json:
    columns, lines = _names(across[2]), _names(down[2])
    width = WIDTH / beside - (30 if beside > 1 else 0)
    return {
        "width": round(min(width, max(40 * len(columns), 80))),
        "height": round(min(360, max(16, 240 / max(len(lines), 1)) * len(lines), 34 * len(lines))),
        "data": {"values": values},
        "mark": {"type": "rect", "fill": f"var(--{colour})", "stroke": "var(--card)", "strokeWidth": 1},
        "encoding": {
            "x": _ordinal(across[0], across[1], columns),
            "y": _ordinal(down[0], down[1], lines),
            "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
        },
    }


def _faceted(inner: Json, field: str) -> Json:
    data = inner.pop("data")
    return {"data": data, "facet": {"column": {"field": field, "type": "nominal", "title": None}}, "spec": inner}


def _ordinal(field: str, title: str, order: Sequence[str]) -> Json:
    every = math.ceil(len(order) / 16)
    look: Json = {"labelAngle": 0, "labelOverlap": "greedy", "values": list(order[::every]), "ticks": False}
    return {"field": field, "type": "ordinal", "title": title, "sort": list(order), "axis": look}


def _classes(numbers: Iterable[int]) -> Classes:
    """Each number to the name of its class: itself, or a range of neighbours where there are too many."""
    ordered = sorted(set(numbers))
    size = max(math.ceil(len(ordered) / MOST_COLUMNS), 1)
    named = {}
    for i in range(0, len(ordered), size):
        group = ordered[i : i + size]
        name = str(group[0]) if len(group) == 1 else f"{group[0]}–{group[-1]}"
        named.update(dict.fromkeys(group, name))
    return named


def _names(classes: Classes) -> list[str]:
    return list(dict.fromkeys(classes.values()))


def _span(group: Sequence[Row], name: str) -> str:
    low, high = int(_at(group[0], name)), int(_at(group[-1], name))
    return str(low) if low == high else f"{low}–{high}"


def _mean(group: Sequence[Row], name: str) -> float | None:
    values = [value for row in group if (value := _number(row.get(name))) is not None]
    return sum(values) / len(values) if values else None


def _bounds(values: Iterable[float]) -> tuple[float, float]:
    listed = list(values)
    return min(listed), max(listed)


def _number(value: Scalar) -> float | None:
    """A finite number, or None."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good and value is not None else None


def _at(row: Row, name: str) -> float:
    return _number(row.get(name)) or 0.0


Draw = Callable[[Sequence[Row], int, Language], _Drawing | None]

_DRAW: Mapping[str, Draw] = {
    "time_split": _time_split,
    "idle_causes": _idle_causes,
    "launch_latency": _launch_latency,
    "operators": _operators,
    "rank_steps": _rank_steps,
    "links": _links,
}
