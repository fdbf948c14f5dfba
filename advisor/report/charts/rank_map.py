# SPDX-License-Identifier: Apache-2.0
"""A heat map of many ranks, host by host: how long each takes by itself, beside the ranks that do the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, quantiles

from msgspec import Struct

from advisor.model.run import UNEVEN
from advisor.report.charts.drawing import HALF, MOST_COLUMNS, ChartSpec, Drawing, Row, complete_rows, tooltip_text
from advisor.report.charts.heatmaps import draw_heat_map, opacities_of_times
from advisor.report.charts.words import ChartWords
from advisor.report.grouping import values_by_key
from advisor.report.places import Hosts, number_ranges, say_ranks
from advisor.report.prose import clean_line
from advisor.units import show_value

BLOCK = 8
"""So many neighbouring ranks stand in a column where hosts are not known: most servers have as many devices."""
MOST_HOSTS = 128
"""So many hosts have a column each; of more, neighbours share one, with the longest of each place."""
_LONGEST_HOST = 16


class OwnTime(Struct, frozen=True):
    """What a rank takes of a step by itself, computing or idle, µs; and over the median of its stage."""

    rank: int
    us: float
    ratio: float

    def tooltip(self, host: str, words: ChartWords) -> str:
        """Its values in words, behind the name of its host."""
        beside = words.say("beside_median", ratio=show_value(self.ratio, "times"))
        return tooltip_text(host, f"{words.say('rank')} {self.rank}", show_value(self.us, "us"), beside)


def rank_map(rows: Sequence[Row], hosts: Hosts, words: ChartWords) -> Drawing | None:
    """Heat map: how long each rank takes by itself, hosts side by side and their ranks below each other.

    What a rank does not spend in exposed communication is its own: the others wait for the one where that is longest.
    None where there are so few that each has a bar of its own.
    """
    own = _own_times(rows)
    if len(own) <= MOST_COLUMNS:
        return None
    columns, down, cells = _arrange(own, hosts)
    opacities = opacities_of_times(cell.ratio for cell in cells.values())
    values: list[ChartSpec] = [
        {"host": column, "place": place, "opacity": opacity, "said": cell.tooltip(column if hosts else "", words)}
        for ((column, place), cell), opacity in zip(cells.items(), opacities, strict=True)
    ]
    heads = tuple(map(words.say, ("host" if hosts else "rank", "ranks", "median", "longest")))
    across, below = ("host", heads[0], columns), ("place", words.say("place"), down)
    spec = draw_heat_map(values, across, below, {"value": "var(--accent)"})
    return Drawing(spec, _note(own, hosts, words), heads, _numbers(own, hosts, words), len(columns) > HALF)


def _own_times(rows: Sequence[Row]) -> list[OwnTime]:
    """Of each rank, ascending; without those of which it is not known."""
    found: dict[int, tuple[object, float]] = {}
    for row, (rank, compute, idle) in complete_rows(rows, "rank", "compute_us", "free_us"):
        if compute + idle > 0:
            found[int(rank)] = (row.get("stage"), compute + idle)
    usual = {stage: median(times) for stage, times in values_by_key(found.values()).items()}
    return [OwnTime(rank, us, us / usual[stage]) for rank, (stage, us) in sorted(found.items())]


def _blocks(own: Sequence[OwnTime], hosts: Hosts) -> dict[str, list[OwnTime]]:
    """The ranks of each host, by its name; of each block of neighbours where their host is not known."""
    host_of = {rank: clean_line(host, _LONGEST_HOST) for host, ranks in hosts.items() for rank in ranks}
    firsts = ((one.rank // BLOCK * BLOCK, one) for one in own)
    return values_by_key((host_of.get(one.rank) or f"{first}–{first + BLOCK - 1}", one) for first, one in firsts)


def _arrange(own: Sequence[OwnTime], hosts: Hosts) -> tuple[list[str], list[str], Mapping[tuple[str, str], OwnTime]]:
    """The columns, the places in them, and of each cell the rank that stands longest beside its stage."""
    blocks = _blocks(own, hosts)
    names = list(blocks)
    size = math.ceil(len(names) / MOST_HOSTS)
    columns = [_joined_name(names[i : i + size], hosts) for i in range(0, len(names), size)]
    in_cells = values_by_key(
        ((columns[number // size], str(place if hosts else one.rank % BLOCK)), one)
        for number, inside in enumerate(blocks.values())
        for place, one in enumerate(inside)
    )
    cells = {cell: max(inside, key=lambda one: one.ratio) for cell, inside in in_cells.items()}
    down = sorted({place for _, place in cells}, key=int)
    return columns, down, cells


def _joined_name(names: Sequence[str], hosts: Hosts) -> str:
    if len(names) == 1:
        return names[0]
    return f"{names[0]}–{names[-1]}" if hosts else f"{names[0].split('–')[0]}–{names[-1].split('–')[-1]}"


def _note(own: Sequence[OwnTime], hosts: Hosts, words: ChartWords) -> str:
    """How long ranks take, and which stand out."""
    times = [one.us for one in own]
    low, *_, high = quantiles(times, n=20, method="inclusive")
    told = {"median": median(times), "low": low, "high": high}
    spread = words.say("spread", count=len(own), **{name: show_value(us, "us") for name, us in told.items()})
    out = {one.rank: one.ratio for one in own if one.ratio > 1 + UNEVEN}
    who = say_ranks(tuple(out), hosts, words.language) if out else ""
    shares = {"share": show_value(UNEVEN, "share"), "most": show_value(max(out.values(), default=1.0) - 1, "share")}
    said = words.say("stand_out" if out else "none_stands_out", ranks=who, **shares)
    return words.semicolon.join([said, spread, words.say("stronger_longer")])


def _numbers(own: Sequence[OwnTime], hosts: Hosts, words: ChartWords) -> list[tuple[str, ...]]:
    """Host by host, the one first on which a rank stands out most."""
    blocks = sorted(_blocks(own, hosts).items(), key=lambda block: -max(one.ratio for one in block[1]))
    return [
        (
            name,
            number_ranges((one.rank for one in inside), words.language),
            show_value(median(one.us for one in inside), "us"),
            show_value(max(one.us for one in inside), "us"),
        )
        for name, inside in blocks
    ]
