# SPDX-License-Identifier: Apache-2.0
"""Exhibits over two axes as heat maps: step time by rank and step, bandwidth by pair of ranks.

Up to sixteen columns a map stands beside another chart, beyond that it takes the width of the page. Each cell says its
values where one points at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from advisor.report.charts.drawing import (
    HALF,
    MOST_COLUMNS,
    WIDE,
    WIDTH,
    ChartSpec,
    Drawing,
    Row,
    coloured_by,
    complete_rows,
    finite_number,
    marks_of,
    ordinal_axis,
    quantity,
    tooltip_text,
)
from advisor.report.charts.words import ChartWords
from advisor.report.grouping import values_by_key
from advisor.report.prose import clean_line
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


def rank_steps(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Heat map: how long each rank took for each step. The longer side of the two lies across."""
    cells = [(int(rank), int(step), us) for _, (rank, step, us) in complete_rows(rows, "rank", "step", "span_us")]
    in_blocks = total > len(rows)
    ranks = (_block_names if in_blocks else _class_names)(cell[0] for cell in cells)
    steps = _class_names(cell[1] for cell in cells)
    if len(steps) < 2:  # noqa: PLR2004 — of one step, the time per rank says more
        return None
    in_cells = values_by_key(((ranks[rank], steps[step]), us) for rank, step, us in cells)
    longest = {cell: max(0.0, *inside) for cell, inside in in_cells.items()}
    rank_word, step_word = map(words.say, ("rank", "step"))
    values: list[ChartSpec] = [
        {"rank": rank, "step": step, "opacity": opacity, "said": said}
        for ((rank, step), us), opacity in zip(longest.items(), opacities_of_times(longest.values()), strict=True)
        for said in [tooltip_text(f"{rank_word} {rank}", f"{step_word} {step}", show_value(us, "us"))]
    ]
    sides = [("rank", rank_word, _distinct_names(ranks)), ("step", step_word, _distinct_names(steps))]
    across, down = sorted(sides, key=lambda side: -len(side[2]))
    between = _range_words(min(longest.values()), max(longest.values()), "us", words)
    note = words.say("stronger_longer") + words.colon + between
    if in_blocks or len(ranks) > MOST_COLUMNS or len(steps) > MOST_COLUMNS:
        grouped = words.say("steps_grouped" if in_blocks else "cells_grouped", ranks=len(ranks), steps=len(steps))
        note = f"{grouped}{words.semicolon}{note}"
    ordered = sorted(longest.items(), key=lambda item: -item[1])
    numbers = [(rank, step, show_value(us, "us")) for (rank, step), us in ordered]
    spec = draw_heat_map(values, across, down, {"value": "var(--accent)"})
    return Drawing(spec, note, (rank_word, step_word, words.say("lasts")), numbers, wide=_is_wide(across[2]))


class LinkSpeed(Struct, frozen=True):
    """What the map knows of one kind of link between two ranks; no speed where too little was moved to tell."""

    source: int
    target: int
    kind: str
    speed: float
    size_bytes: float | None

    def tooltip(self, words: ChartWords) -> str:
        """Its values in words."""
        size = "" if self.size_bytes is None else words.say("size_step", size=show_value(self.size_bytes, "B"))
        told = show_value(self.speed, "GB/s") if math.isfinite(self.speed) else words.say("too_little")
        return tooltip_text(f"{words.say('rank')} {self.source} → {self.target}", f"{self.kind} {told}", size)


def link_speeds(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Heat map: how fast each pair of ranks exchanges data, in a colour per kind of link, the slower the stronger.

    What moved too little to tell a bandwidth is there in a colour of its own, however slow it looks.
    """
    read = [*_read_links(rows)]
    kinds = sorted({link.kind for link in read})[:MOST_KINDS]
    found = [link for link in read if link.kind in kinds]
    told = [link for link in found if math.isfinite(link.speed)]
    if len(told) < 2:  # noqa: PLR2004 - one link has nothing to be compared with
        return None
    speeds = values_by_key((one.kind, one.speed) for one in told)
    bounds = {kind: (min(of_kind), max(of_kind)) for kind, of_kind in sorted(speeds.items())}
    ranks = _block_names(rank for link in found for rank in (link.source, link.target))
    cells = values_by_key(
        ((ranks[link.source], ranks[link.target]), (slowness, link))
        for link in found
        for slowness in [_slowness_within(link.speed, bounds[link.kind]) if math.isfinite(link.speed) else -1.0]
    )
    values = [_link_cell(pair, inside, words) for pair, inside in cells.items()]
    side = [(name, words.say(name), _distinct_names(ranks)) for name in ("target", "source")]
    spec = draw_heat_map(values, side[0], side[1], _tone_legend(values, words))
    ranges = [f"{kind} {_range_words(low, high, 'GB/s', words)}" for kind, (low, high) in bounds.items()]
    grouped = [words.say("links_grouped", count=len(ranks))] if len(ranks) > MOST_COLUMNS else []
    note = words.semicolon.join([*grouped, words.say("stronger_slower"), *ranges])
    slowest = sorted(told, key=lambda one: -_slowness_within(one.speed, bounds[one.kind]))
    heads = tuple(map(words.say, ("source", "target", "link", "bandwidth", "moved")))
    numbers = [
        (str(one.source), str(one.target), one.kind, show_value(one.speed, "GB/s"), show_value(one.size_bytes, "B"))
        for one in slowest
    ]
    return Drawing(spec, note, heads, numbers, wide=_is_wide(side[0][2]))


def _read_links(rows: Iterable[Row]) -> Iterator[LinkSpeed]:
    for row, (source, target) in complete_rows(rows, "source", "target"):
        size, speed = finite_number(row.get("size_bytes")), finite_number(row.get("bandwidth_gbps"))
        if speed is not None or size:
            told = speed if speed is not None and speed > 0 else math.nan
            yield LinkSpeed(int(source), int(target), clean_line(row.get("link") or "–", 20), told, size)


def _link_cell(pair: tuple[str, str], inside: Sequence[tuple[float, LinkSpeed]], words: ChartWords) -> ChartSpec:
    """One cell of the map: as strong as the slowest link in it; it says that of each kind."""
    worst: dict[str, tuple[float, LinkSpeed]] = {}
    for one in sorted(inside, key=lambda one: -one[0]):
        worst.setdefault(one[1].kind, one)
    slowness, slowest = next(iter(worst.values()))
    unknown = slowness < 0
    ends = dict(zip(("source", "target"), pair, strict=True))
    block = "" if len(inside) == len(worst) else words.say("slowest_of", **ends) + " "
    return {
        **ends,
        "kind": words.say("too_little") if unknown else slowest.kind,
        "tone": UNKNOWN_TONE if unknown else TONES.get(slowest.kind, OTHER_TONE),
        "opacity": 0.3 if unknown else round(PALEST + (STRONGEST - PALEST) * slowness, 2),
        "said": block + words.semicolon.join(link.tooltip(words) for _, link in worst.values()),
    }


def _tone_legend(values: Iterable[ChartSpec], words: ChartWords) -> ChartSpec:
    """A colour for each kind of cell that is there; one alone needs no words."""
    tones = {str(value["kind"]): str(value.pop("tone")) for value in values}
    few = words.say("too_little")
    names = [*sorted(name for name in tones if name != few), *([few] if few in tones else [])]
    return coloured_by("kind", {name: tones[name] for name in names}, alone=False)


def _slowness_within(speed: float, bounds: tuple[float, float]) -> float:
    """From 0 for the fastest of a kind to 1 for the slowest, if that is slow at all."""
    low, high = bounds
    return (high - speed) / (high - min(low, high * FLAT_SPEED))


def opacities_of_times(values: Iterable[float]) -> list[float]:
    """How strong each time is drawn: the shortest palest, the longest strongest where it is long at all."""
    listed = list(values)
    low = min(listed)
    reach = max(*listed, low * FLAT_TIME) - low
    return [round(PALEST + (STRONGEST - PALEST) * (one - low) / (reach or 1), 2) for one in listed]


def _range_words(low: float, high: float, unit: str, words: ChartWords) -> str:
    ends = show_value(low, unit), show_value(high, unit)
    return ends[0] if ends[0] == ends[1] else words.say("between", low=ends[0], high=ends[1])


MapSide = tuple[str, str, list[str]]


def _is_wide(columns: Sequence[str]) -> bool:
    return len(columns) > HALF


def draw_heat_map(values: list[ChartSpec], across: MapSide, down: MapSide, fill: ChartSpec) -> ChartSpec:
    """Cells of whole pixels, so that no two look different in size."""
    width = max((WIDE if _is_wide(across[2]) else WIDTH - 40) // max(len(across[2]), 1), 6)
    wide, tall = min(width, 40), max(min(width, 24, TALLEST // max(len(down[2]), 1)), 8)
    cells = marks_of(
        "rect",
        {"stroke": "var(--card)", "strokeWidth": 1},
        x=ordinal_axis(*across, wide),
        y=ordinal_axis(*down, tall, upright=True),
        fill=fill,
        fillOpacity=quantity("opacity", scale=None, legend=None),
    )
    view = {"fill": "var(--soft)", "stroke": None}
    return {"width": {"step": wide}, "height": {"step": tall}, "view": view, "data": {"values": values}, **cells}


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
