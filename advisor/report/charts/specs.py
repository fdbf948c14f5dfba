# SPDX-License-Identifier: Apache-2.0
"""Exhibits as Vega-Lite specs: one function per kind, bounded in size, colours as CSS variables of the page."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Language, Text, TimesOf
from advisor.model.findings import Exhibit
from advisor.report.charts.bars import ALONE, BESIDE, BY_PLACE, LONGEST_SAID, named_bars, short_label
from advisor.report.charts.drawing import (
    PARTS,
    TIME_LABEL,
    WIDE,
    WIDTH,
    ChartSpec,
    Drawing,
    Row,
    amount_axis,
    coloured_by,
    complete_rows,
    marks_of,
    number_or_zero,
    ordinal_axis,
    quantity,
    tooltip_text,
)
from advisor.report.charts.heatmaps import link_speeds, rank_steps
from advisor.report.charts.memory_course import memory_course
from advisor.report.charts.rank_map import rank_map
from advisor.report.charts.rooflines import rooflines
from advisor.report.charts.step_course import step_course
from advisor.report.charts.words import CHARTS, ChartWords
from advisor.report.column_values import CAUSES
from advisor.report.places import Hosts
from advisor.report.prose import clean_line, letter_columns
from advisor.report.words import say_aside, word_for
from advisor.units import show_value

MOST_BARS = 10
MOST_RANKS = 256
"""So many ranks have a bar each; more are drawn in groups, and the chart says so."""
NARROW_RANKS = 32
"""With more than these, bars take the width of the page."""
MOST_NUMBERS = 64


class Chart(Drawing, frozen=True):
    """One chart to be drawn, and the first of its numbers for those who do not see it."""

    kind: str = ""
    title: str = ""
    total: int = 0
    """How many numbers there are."""


def exhibit_charts(
    exhibits: Iterable[Exhibit], language: Language, hosts: Hosts | None = None, times_of: TimesOf = "step"
) -> tuple[Chart, ...]:
    """A chart for each exhibit that has something to show; of many ranks a map of them, by their hosts, beside it."""
    words = ChartWords(language, times_of)
    return charts_of(_exhibit_drawings(exhibits, hosts or {}, words), CHARTS, words)


def _exhibit_drawings(exhibits: Iterable[Exhibit], hosts: Hosts, words: ChartWords) -> Iterator[KindOfDrawing]:
    for exhibit in exhibits:
        names = [column.name for column in exhibit.rows.columns]
        rows = [dict(zip(names, row, strict=False)) for row in exhibit.rows.rows]
        yield exhibit.kind, _DRAW[exhibit.kind](rows, max(exhibit.rows.total, len(rows)), words)
        if exhibit.kind == "time_split":
            yield "rank_map", rank_map(rows, hosts, words)


KindOfDrawing = tuple[str, Drawing | None]
"""What it shows, by a name, and None where there is nothing to show."""


def charts_of(drawings: Iterable[KindOfDrawing], titles: Mapping[str, Text], words: ChartWords) -> tuple[Chart, ...]:
    """Those drawings that show something, with their titles and their look."""
    return tuple(
        Chart(
            {**_look(), **one.spec},
            one.note,
            one.heads,
            tuple(one.numbers[:MOST_NUMBERS]),
            one.wide,
            kind,
            titles[kind].say(words.language, of=words.times_of),
            len(one.numbers),
        )
        for kind, one in drawings
        if one is not None
    )


@cache
def _look() -> ChartSpec:
    """The look of every chart, in the colours of the page.

    `aria` is off: the library would describe marks in English; the page gives the title and the numbers in words.
    """
    look: ChartSpec = json.loads(shipped_folder("templates").joinpath("charts.json").read_bytes())
    return look


def _time_split(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Stacked columns: where the time of each rank goes. The bar under the verdict says it of a single one."""
    ordered = sorted((row for row, _ in complete_rows(rows, "rank")), key=lambda row: number_or_zero(row, "rank"))
    if len(ordered) < 2:  # noqa: PLR2004 - one is the bar under the verdict
        return None
    size = math.ceil(len(ordered) / MOST_RANKS)
    groups = [ordered[i : i + size] for i in range(0, len(ordered), size)]
    means = [
        (_group_range(group, "rank"), [_group_mean(group, column) for column in PARTS.values()]) for group in groups
    ]
    names, wide = {part: words.say(part) for part in PARTS}, len(means) > NARROW_RANKS
    values = [
        {"rank": name, "part": names[part], "order": order, "ms": round(us / 1e3, 4), "said": said}
        for name, amounts in means
        for order, (part, us) in enumerate(zip(PARTS, amounts, strict=True))
        if us is not None
        for said in [_part_of_rank(name, names[part], us, amounts, words)]
    ]
    occurring = {value["part"] for value in values if value["ms"]}
    width = WIDE if wide else WIDTH
    bars = marks_of(
        "bar",
        {"width": {"band": 0.82}},
        x=ordinal_axis("rank", words.say("rank"), [name for name, _ in means], width / len(means)),
        y=amount_axis("ms", words.say("ms_step")),
        order={"field": "order"},
        color=coloured_by("part", {name: part for part, name in names.items() if name in occurring}),
    )
    note = "" if size == 1 else words.say("ranks_grouped", count=total, size=size)
    numbers = [(name, *(show_value(us, "us") for us in amounts)) for name, amounts in means]
    spec = {"width": width, "height": 200, "data": {"values": values}, **bars}
    return Drawing(spec, note, (words.say("rank"), *names.values()), numbers, wide)


def _part_of_rank(rank: str, part: str, us: float, amounts: Sequence[float | None], words: ChartWords) -> str:
    """What a piece of a bar says: the part of its rank, its time, its share of the step of that rank."""
    whole = sum(amount or 0.0 for amount in amounts)
    who = words.say("mean_of", ranks=rank) if "–" in rank else f"{words.say('rank')} {rank}"
    share = show_value(us / whole, "share") if whole > 0 else ""
    return tooltip_text(who, f"{part} {show_value(us, 'us')}", share)


def _idle_causes(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Bars: what the device waits for."""
    bars = [
        (word_for(CAUSES, str(row["cause"]), words.language) or clean_line(row["cause"], LONGEST_SAID), us, "")
        for row, us in _with_time(rows, "cause")
    ]
    note = words.say("total_idle", time=show_value(sum(us for _, us, _ in bars), "us"))
    return _bars_drawing(bars, "idle", note, words.say("time_step"))


def _top_operators(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Bars: the operator types with most device time; one that runs on several kinds of cores by each of them."""
    met = Counter(row.get("op_type") for row in rows)
    bars = [
        (_type_name(row, words.language, apart=met[row.get("op_type")] > 1), us, words.say("calls_step", count=calls))
        for row, us in _with_time(rows, "op_type")
        for calls in [show_value(row.get("calls"), "count")]
    ]
    shown = min(len(bars), MOST_BARS)
    of_all = [words.say("top_of", shown=shown, total=total)] if total > shown else []
    note = words.comma.join([words.say("mean_time"), *of_all])
    return _bars_drawing(bars, "compute", note, words.say("time_step"))


def _with_time(rows: Iterable[Row], name: str) -> Iterator[tuple[Row, float]]:
    """The rows that have this name and took any time, with that, µs."""
    timed = ((row, number_or_zero(row, "us")) for row in rows if row.get(name) is not None)
    return ((row, us) for row, us in timed if us > 0)


def _type_name(row: Row, language: Language, *, apart: bool) -> str:
    """An operator type, with the kind of core where that tells it from another bar."""
    core = clean_line(row["core"], LONGEST_SAID) if apart and row.get("core") is not None else ""
    return clean_line(row["op_type"], LONGEST_SAID) + (say_aside(core, language) if core else "")


Bar = tuple[str, float, str]
"""A name, its time in µs, and what else is to be said of it."""


def _bars_drawing(bars: Sequence[Bar], colour: str, note: str, head: str) -> Drawing | None:
    if not bars:
        return None
    ordered = sorted(bars, key=lambda bar: (-bar[1], bar[0]))[:MOST_BARS]
    wide = any(letter_columns(name) > BESIDE.letters + 2 for name, _, _ in ordered)
    room = ALONE if wide else BESIDE
    values: list[ChartSpec] = [
        {
            "place": place,
            "name": short_label(name, room.letters),
            "ms": us / 1e3,
            "said": show_value(us, "us"),
            "whole": tooltip_text(name, show_value(us, "us"), more),
        }
        for place, (name, us, more) in enumerate(ordered)
    ]
    x = quantity("ms", axis=None, scale={"domainMax": ordered[0][1] / 1e3})
    look: ChartSpec = {"fill": f"var(--{colour})", "height": {"band": 0.66}, "cornerRadiusEnd": 2}
    bar = marks_of("bar", look, y=BY_PLACE, x=x, description={"field": "whole"})
    numbers = [(name, show_value(us, "us")) for name, us, _ in ordered]
    return Drawing(named_bars(values, room, [bar], x), note, ("", head), numbers, wide)


def _launch_latency(rows: Sequence[Row], total: int, words: ChartWords) -> Drawing | None:
    """Histogram on a logarithmic axis: how long launches queue before the device begins them."""
    bins = [
        (max(number_or_zero(row, "from_us"), 0.46), to_us, launches)
        for row, (to_us, launches) in complete_rows(rows[: 3 * MOST_BARS], "to_us", "launches")
        if to_us > 0
    ]
    if not bins:
        return None
    values = [
        {"from": low, "to": high, "launches": count, "said": _bin_tooltip(low, high, count, words)}
        for low, high, count in bins
        if low < high
    ]
    decades = [10**power for power in range(11) if 10**power <= bins[-1][1] * 1.01]
    latency, launches = heads = words.say("latency"), words.say("launches")
    look = {"values": decades, "labelExpr": TIME_LABEL, "grid": False}
    bars = marks_of(
        "rect",
        {"fill": "var(--accent)", "stroke": "var(--card)", "strokeWidth": 1},
        x=quantity("from", scale={"type": "log", "nice": False}, title=latency, axis=look),
        x2={"field": "to"},
        y=amount_axis("launches", launches, 4),
        y2={"datum": 0},
    )
    note = words.say("total_launches", count=f"{sum(count for *_, count in bins):,.0f}")
    numbers = [(f"≤ {show_value(high, 'us')}", f"{count:,.0f}") for _, high, count in bins if count]
    return Drawing({"width": WIDTH, "height": 190, "data": {"values": values}, **bars}, note, heads, numbers)


def _bin_tooltip(low: float, high: float, count: float, words: ChartWords) -> str:
    between = words.say("between", low=show_value(low, "us"), high=show_value(high, "us"))
    return tooltip_text(between, words.say("total_launches", count=f"{count:,.0f}"))


def _group_range(group: Sequence[Row], name: str) -> str:
    low, high = int(number_or_zero(group[0], name)), int(number_or_zero(group[-1], name))
    return str(low) if low == high else f"{low}–{high}"


def _group_mean(group: Sequence[Row], name: str) -> float | None:
    values = [value for _, (value,) in complete_rows(group, name)]
    return sum(values) / len(values) if values else None


DrawChart = Callable[[Sequence[Row], int, ChartWords], Drawing | None]

_DRAW: Mapping[str, DrawChart] = {
    "time_split": _time_split,
    "step_course": step_course,
    "idle_causes": _idle_causes,
    "launch_latency": _launch_latency,
    "memory_course": memory_course,
    "operators": _top_operators,
    "rooflines": rooflines,
    "rank_steps": rank_steps,
    "links": link_speeds,
}
