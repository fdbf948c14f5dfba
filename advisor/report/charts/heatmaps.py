# SPDX-License-Identifier: Apache-2.0
"""Exhibits over two axes as heat maps: step time by rank and step, bandwidth by pair of ranks.

Up to sixteen columns a map stands beside another chart, beyond that it takes the width of the page. Each cell says its
values where one points at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from advisor.messages.text import Language, TimesOf
from advisor.report.charts.drawing import (
    HALF,
    MOST_COLUMNS,
    WIDE,
    WIDTH,
    ChartSpec,
    Drawing,
    Row,
    coloured_by,
    finite_number,
    ordinal_axis,
    tooltip_text,
)
from advisor.report.charts.words import say_axis
from advisor.report.prose import clean_line
from advisor.report.words import say
from advisor.units import show_value

FLAT_TIME, FLAT_SPEED = 1.25, 0.5
"""A map of times reaches at least so many times its shortest, one of speeds down to this part of its fastest: noise is
not to look like structure, and what is as usual is pale."""
PALEST, STRONGEST = 0.18, 0.95
"""How opaque cells are: the palest still stands out from the ground of the map."""
TALLEST = 576
MOST_KINDS = 4
"""Kinds of links in one map; there are not more, but a file may say anything."""

TONES = {"HCCS": "comm", "RDMA": "accent", "SIO": "compute", "PCIE": "medium"}
"""The colour of each kind of link."""
OTHER_TONE, UNKNOWN_TONE = "critical", "idle"


def rank_steps(rows: Sequence[Row], total: int, language: Language, times_of: TimesOf = "step") -> Drawing | None:
    """Heat map: how long each rank took for each step. The longer side of the two lies across."""
    cells = [
        (int(rank), int(step), us)
        for row in rows
        if (rank := finite_number(row.get("rank"))) is not None
        and (step := finite_number(row.get("step"))) is not None
        and (us := finite_number(row.get("span_us"))) is not None
    ]
    in_blocks = total > len(rows)
    ranks = (_block_names if in_blocks else _class_names)(cell[0] for cell in cells)
    steps = _class_names(cell[1] for cell in cells)
    if len(steps) < 2:  # noqa: PLR2004 — of one step, the time per rank says more
        return None
    longest: dict[tuple[str, str], float] = {}
    for rank, step, us in cells:
        key = (ranks[rank], steps[step])
        longest[key] = max(longest.get(key, 0.0), us)
    rank_word, step_word = say_axis("rank", language), say_axis("step", language)
    values: list[ChartSpec] = [
        {
            "rank": rank,
            "step": step,
            "opacity": opacity,
            "said": tooltip_text(f"{rank_word} {rank}", f"{step_word} {step}", show_value(us, "us")),
        }
        for ((rank, step), us), opacity in zip(longest.items(), opacities_of_times(longest.values()), strict=True)
    ]
    sides = [("rank", rank_word, _distinct_names(ranks)), ("step", step_word, _distinct_names(steps))]
    across, down = sorted(sides, key=lambda side: -len(side[2]))
    between = _range_words(min(longest.values()), max(longest.values()), "us", language)
    note = say_axis("stronger_longer", language) + say("colon", language) + between
    if in_blocks or len(ranks) > MOST_COLUMNS or len(steps) > MOST_COLUMNS:
        count = {} if in_blocks else {"ranks": len(ranks), "steps": len(steps)}
        grouped = say_axis("steps_grouped" if in_blocks else "cells_grouped", language, **count)
        note = f"{grouped}{say('semicolon', language)}{note}"
    ordered = sorted(longest.items(), key=lambda item: -item[1])
    numbers = [(rank, step, show_value(us, "us")) for (rank, step), us in ordered]
    spec = draw_heat_map(values, across, down, {"value": "var(--accent)"})
    heads = (rank_word, step_word, say_axis("lasts", language))
    return Drawing(spec, note, heads, numbers, wide=_is_wide(across[2]))


class LinkSpeed(Struct, frozen=True):
    """What the map knows of one kind of link between two ranks; no speed where too little was moved to tell."""

    source: int
    target: int
    kind: str
    speed: float
    size_bytes: float | None

    def said(self, language: Language, times_of: TimesOf) -> str:
        """Its values in words."""
        known = self.size_bytes is not None
        size = say_axis("size_step", language, times_of, size=show_value(self.size_bytes, "B")) if known else ""
        told = show_value(self.speed, "GB/s") if math.isfinite(self.speed) else say_axis("too_little", language)
        return tooltip_text(f"{say_axis('rank', language)} {self.source} → {self.target}", f"{self.kind} {told}", size)


def link_speeds(rows: Sequence[Row], total: int, language: Language, times_of: TimesOf = "step") -> Drawing | None:
    """Heat map: how fast each pair of ranks exchanges data, in a colour per kind of link, the slower the stronger.

    What moved too little to tell a bandwidth is there in a colour of its own, however slow it looks.
    """
    found = _of_few_kinds([link for row in rows if (link := _read_link(row)) is not None])
    told = [link for link in found if math.isfinite(link.speed)]
    if len(told) < 2:  # noqa: PLR2004 - one link has nothing to be compared with
        return None
    bounds = {
        kind: _lowest_highest(one.speed for one in told if one.kind == kind) for kind in sorted({o.kind for o in told})
    }
    ranks = _block_names(rank for link in found for rank in (link.source, link.target))
    cells: dict[tuple[str, str], list[tuple[float, LinkSpeed]]] = {}
    for link in found:
        slowness = _slowness_within(link.speed, bounds[link.kind]) if math.isfinite(link.speed) else -1.0
        cells.setdefault((ranks[link.source], ranks[link.target]), []).append((slowness, link))
    values = [_link_cell(pair, inside, language, times_of) for pair, inside in cells.items()]
    side = [(name, say_axis(name, language), _distinct_names(ranks)) for name in ("target", "source")]
    spec = draw_heat_map(values, side[0], side[1], _tone_legend(values, language))
    said = [f"{kind} {_range_words(low, high, 'GB/s', language)}" for kind, (low, high) in bounds.items()]
    said = [say_axis("stronger_slower", language), *said]
    if len(set(ranks)) > MOST_COLUMNS:
        said.insert(0, say_axis("links_grouped", language, count=len(set(ranks))))
    slowest = sorted(told, key=lambda one: -_slowness_within(one.speed, bounds[one.kind]))
    moved = say_axis("moved", language, times_of)
    heads = tuple(say_axis(name, language) for name in ("source", "target", "link", "bandwidth"))
    numbers = [
        (str(one.source), str(one.target), one.kind, show_value(one.speed, "GB/s"), show_value(one.size_bytes, "B"))
        for one in slowest
    ]
    return Drawing(spec, say("semicolon", language).join(said), (*heads, moved), numbers, wide=_is_wide(side[0][2]))


def _read_link(row: Row) -> LinkSpeed | None:
    source, target = finite_number(row.get("source")), finite_number(row.get("target"))
    if source is None or target is None:
        return None
    size, speed = finite_number(row.get("size_bytes")), finite_number(row.get("bandwidth_gbps"))
    if speed is None and not size:
        return None
    told = speed if speed is not None and speed > 0 else math.nan
    return LinkSpeed(int(source), int(target), clean_line(row.get("link") or "–", 20), told, size)


def _of_few_kinds(found: Sequence[LinkSpeed]) -> list[LinkSpeed]:
    kinds = sorted({link.kind for link in found})[:MOST_KINDS]
    return [link for link in found if link.kind in kinds]


def _link_cell(
    pair: tuple[str, str], inside: Sequence[tuple[float, LinkSpeed]], language: Language, times_of: TimesOf
) -> ChartSpec:
    """One cell of the map: as strong as the slowest link in it; it says that of each kind."""
    worst: dict[str, tuple[float, LinkSpeed]] = {}
    for one in sorted(inside, key=lambda one: -one[0]):
        worst.setdefault(one[1].kind, one)
    slowness, slowest = next(iter(worst.values()))
    unknown = slowness < 0
    block = "" if len(inside) == len(worst) else say_axis("slowest_of", language, source=pair[0], target=pair[1]) + " "
    return {
        "source": pair[0],
        "target": pair[1],
        "kind": say_axis("too_little", language) if unknown else slowest.kind,
        "tone": UNKNOWN_TONE if unknown else TONES.get(slowest.kind, OTHER_TONE),
        "opacity": 0.3 if unknown else round(PALEST + (STRONGEST - PALEST) * slowness, 2),
        "said": block + say("semicolon", language).join(link.said(language, times_of) for _, link in worst.values()),
    }


def _tone_legend(values: Iterable[ChartSpec], language: Language) -> ChartSpec:
    """A colour for each kind of cell that is there; one alone needs no words."""
    tones = {str(value["kind"]): str(value.pop("tone")) for value in values}
    few = say_axis("too_little", language)
    names = [*sorted(name for name in tones if name != few), *([few] if few in tones else [])]
    return coloured_by("kind", {name: tones[name] for name in names}, alone=False)


def _slowness_within(speed: float, bounds: tuple[float, float]) -> float:
    """From 0 for the fastest of a kind to 1 for the slowest, if that is slow at all."""
    low, high = bounds
    return (high - speed) / (high - min(low, high * FLAT_SPEED))


def _lowest_highest(values: Iterable[float]) -> tuple[float, float]:
    listed = list(values)
    return min(listed), max(listed)


def opacities_of_times(values: Iterable[float]) -> list[float]:
    """How strong each time is drawn: the shortest palest, the longest strongest where it is long at all."""
    listed = list(values)
    low = min(listed)
    reach = max(*listed, low * FLAT_TIME) - low
    return [round(PALEST + (STRONGEST - PALEST) * (one - low) / (reach or 1), 2) for one in listed]


def _range_words(low: float, high: float, unit: str, language: Language) -> str:
    ends = show_value(low, unit), show_value(high, unit)
    return ends[0] if ends[0] == ends[1] else say_axis("between", language, low=ends[0], high=ends[1])


MapSide = tuple[str, str, list[str]]


def _is_wide(columns: Sequence[str]) -> bool:
    return len(columns) > HALF


def draw_heat_map(values: list[ChartSpec], across: MapSide, down: MapSide, fill: ChartSpec) -> ChartSpec:
    """Cells of whole pixels, so that no two look different in size."""
    width = max((WIDE if _is_wide(across[2]) else WIDTH - 40) // max(len(across[2]), 1), 6)
    wide, tall = min(width, 40), max(min(width, 24, TALLEST // max(len(down[2]), 1)), 8)
    return {
        "width": {"step": wide},
        "height": {"step": tall},
        "view": {"fill": "var(--soft)", "stroke": None},
        "data": {"values": values},
        "mark": {"type": "rect", "aria": True, "stroke": "var(--card)", "strokeWidth": 1},
        "encoding": {
            "x": ordinal_axis(across[0], across[1], across[2], wide),
            "y": ordinal_axis(down[0], down[1], down[2], tall, upright=True),
            "fill": fill,
            "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None, "legend": None},
            "description": {"field": "said"},
        },
    }


def _class_names(numbers: Iterable[int]) -> Mapping[int, str]:
    """Each number to the name of its class: itself, or a range of neighbours where there are too many."""
    ordered = sorted(set(numbers))
    size = max(math.ceil(len(ordered) / MOST_COLUMNS), 1)
    named = {}
    for i in range(0, len(ordered), size):
        group = ordered[i : i + size]
        name = str(group[0]) if len(group) == 1 else f"{group[0]}–{group[-1]}"
        named.update(dict.fromkeys(group, name))
    return named


def _block_names(ranks: Iterable[int]) -> Mapping[int, str]:
    """Each rank to the name of its block: itself, or 2, 4, 8 … neighbours where there are too many, as nodes hold."""
    ordered, size = sorted(set(ranks)), 1
    while len({rank // size for rank in ordered}) > MOST_COLUMNS:
        size *= 2
    firsts = {rank: rank // size * size for rank in ordered}
    return {rank: str(rank) if size == 1 else f"{first}–{first + size - 1}" for rank, first in firsts.items()}


def _distinct_names(classes: Mapping[int, str]) -> list[str]:
    return list(dict.fromkeys(classes.values()))
