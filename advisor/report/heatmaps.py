# SPDX-License-Identifier: Apache-2.0
"""Exhibits over two axes as heat maps: step time by rank and step, bandwidth by pair of ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from advisor.report.drawing import MOST_COLUMNS, WIDTH, Drawing, Json, Row, number, ordinal
from advisor.report.prose import clean
from advisor.report.words import axis, say
from advisor.text import Language
from advisor.units import show

FLAT_TIME, FLAT_SPEED = 0.8, 0.5
"""A heat map spans at least from this part of its highest value, so that noise does not look like structure."""


def rank_steps(rows: Sequence[Row], total: int, language: Language) -> Drawing | None:
    """Heat map: how long each rank took for each step."""
    cells = [
        (int(rank), int(step), us)
        for row in rows
        if (rank := number(row.get("rank"))) is not None
        and (step := number(row.get("step"))) is not None
        and (us := number(row.get("span_us"))) is not None
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
    return Drawing(spec, note, (axis("rank", language), axis("step", language), ""), numbers)


def links(rows: Sequence[Row], total: int, language: Language) -> Drawing | None:
    """Heat maps, one per kind of link: how fast each pair of ranks exchanges data."""
    cells = [
        (int(source), int(target), clean(row.get("link") or "–", 20), speed)
        for row in rows
        if (source := number(row.get("source"))) is not None
        and (target := number(row.get("target"))) is not None
        and (speed := number(row.get("bandwidth_gbps"))) is not None
        and speed > 0
    ]
    if len(cells) < 2:  # noqa: PLR2004 - one link has nothing to be compared with
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
    return Drawing(spec, ("；" if language == "zh" else "; ").join(said), heads, numbers)


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
            "x": ordinal(across[0], across[1], columns),
            "y": ordinal(down[0], down[1], lines),
            "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
        },
    }


def _faceted(inner: Json, field: str) -> Json:
    data = inner.pop("data")
    return {"data": data, "facet": {"column": {"field": field, "type": "nominal", "title": None}}, "spec": inner}


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


def _bounds(values: Iterable[float]) -> tuple[float, float]:
    listed = list(values)
    return min(listed), max(listed)
