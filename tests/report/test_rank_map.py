# SPDX-License-Identifier: Apache-2.0
"""The map of many ranks: none is lost in a mean, and those that stand out are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.messages.text import Language
from advisor.model.findings import Exhibit, Head, Rows
from advisor.report.charts.drawing import Drawing, Row
from advisor.report.charts.rank_map import MOST_HOSTS, rank_map
from advisor.report.charts.specs import exhibit_charts
from advisor.report.charts.words import ChartWords
from advisor.report.places import Hosts


def _rows(ranks: int, slow: Mapping[int, float], stages: int = 1) -> list[Row]:
    return [
        {
            "rank": rank,
            "stage": rank * stages // ranks,
            "compute_us": (900.0 + 500 * (rank * stages // ranks)) * slow.get(rank, 1.0),
            "exposed_comm_us": 50.0,
            "free_us": 100.0 * slow.get(rank, 1.0),
        }
        for rank in range(ranks)
    ]


def _hosts(ranks: int) -> Hosts:
    return {f"node{i}": tuple(range(8 * i, 8 * i + 8)) for i in range(ranks // 8)}


def _map(ranks: int, slow: Mapping[int, float], hosts: Hosts, language: Language = "en", stages: int = 1) -> Drawing:
    drawing = rank_map(_rows(ranks, slow, stages), hosts, ChartWords(language))
    assert drawing is not None
    return drawing


def _cells(drawing: Drawing) -> list[dict[str, Any]]:
    return cast("dict[str, Any]", drawing.spec["data"])["values"]  # type: ignore[no-any-return]


def test_a_slow_host_is_named_and_its_ranks_are_drawn_strongest() -> None:
    slow = dict.fromkeys(range(136, 144), 1.25)
    drawing = _map(1024, slow, _hosts(1024))
    assert "host node17: ranks 136–143 (up to 25 %)" in drawing.note
    strongest = sorted(_cells(drawing), key=lambda cell: -cell["opacity"])[:8]
    assert {(cell["host"], cell["place"]) for cell in strongest} == {("node17", str(place)) for place in range(8)}
    assert drawing.numbers[0] == ("node17", "136–143", "1.25 ms", "1.25 ms")
    assert "主机 node17：rank 136–143" in _map(1024, slow, _hosts(1024), "zh").note


def test_where_hosts_are_not_known_neighbours_stand_together() -> None:
    drawing = _map(128, {77: 1.5}, {})
    (worst,) = [cell for cell in _cells(drawing) if cell["opacity"] > 0.9]
    assert (worst["host"], worst["place"]) == ("72–79", "5")
    assert "rank 77 (up to 50 %)" in drawing.note


def test_ranks_of_which_the_host_is_not_known_stand_beside_those_of_hosts() -> None:
    cells = _cells(_map(128, {100: 1.5}, _hosts(80)))
    worst = max(cells, key=lambda cell: cell["opacity"])
    assert worst["host"] == "96–103"
    assert {cell["place"] for cell in cells} == set("01234567")


def test_a_stage_that_has_more_to_do_does_not_stand_out() -> None:
    assert "no rank is" in _map(128, {}, _hosts(128), stages=4).note
    assert "rank 3 (host node0)" in _map(128, {3: 1.2}, _hosts(128), stages=4).note


@pytest.mark.parametrize("ranks", [2, 64])
def test_few_ranks_have_bars_and_no_map(ranks: int) -> None:
    assert rank_map(_rows(ranks, {0: 2.0}), _hosts(ranks), ChartWords("en")) is None


@given(st.integers(65, 6000), st.data())
@settings(max_examples=20)
def test_the_slowest_rank_of_any_job_is_the_strongest_cell(ranks: int, data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, ranks - 1))
    hosts = _hosts(ranks) if ranks % 8 == 0 else {}
    cells = _cells(_map(ranks, {rank: 1.5}, hosts))
    strongest = max(cells, key=lambda cell: cell["opacity"])
    assert f"rank {rank} " in strongest["said"]
    assert len({cell["host"] for cell in cells}) <= MOST_HOSTS


def test_rows_that_hold_anything_make_no_map_or_a_map() -> None:
    odd: list[Row] = [{"rank": rank, "stage": None, "compute_us": None, "free_us": 1.0} for rank in range(99)]
    assert rank_map(odd, {}, ChartWords("en")) is None
    odd += [{"rank": rank, "compute_us": float(rank % 7), "free_us": float("nan")} for rank in range(99)]
    assert rank_map(odd, {}, ChartWords("en")) is None


def test_the_map_stands_behind_the_bars() -> None:
    rows = _rows(128, {})
    heads = tuple(Head(name=name) for name in rows[0])
    exhibit = Exhibit(kind="time_split", rows=Rows(columns=heads, rows=tuple(tuple(row.values()) for row in rows)))
    assert [chart.kind for chart in exhibit_charts([exhibit], "en")] == ["time_split", "rank_map"]
