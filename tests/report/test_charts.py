# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from report_samples import HOSTILE, exhibit, exhibits, rich, table

from advisor.report import write
from advisor.report.chart_process import safe
from advisor.report.charts import Renderer
from advisor.report.drawing import MOST_COLUMNS
from advisor.report.specs import MOST_BARS, MOST_NUMBERS, Chart, charts
from advisor.text import Language


def chart(kind: str, rows: object, language: Language = "en") -> Chart:
    (one,) = charts([exhibit(kind, rows)], language)  # type: ignore[arg-type]
    return one


def values(one: Chart) -> list[dict[str, object]]:
    return json.loads(json.dumps(one.spec))["data"]["values"]  # type: ignore[no-any-return]


def test_every_exhibit_is_drawn(language: Language, renderer: Renderer) -> None:
    asked = charts(exhibits(), language)
    drawn = renderer.render({one.kind: one.spec for one in asked})
    assert sorted(drawn) == ["idle_causes", "launch_latency", "links", "operators", "rank_steps", "time_split"]
    for one in asked:
        assert one.title
        assert one.numbers


def test_colours_are_variables_of_the_page_so_that_dark_mode_reaches_them(renderer: Renderer) -> None:
    drawn = renderer.render({one.kind: one.spec for one in charts(exhibits(), "en")})
    for name, svg in drawn.items():
        assert "var(--" in svg, name
        assert not re.findall(r'(?:fill|stroke)="(?!var\(|none|transparent)[^"]*"', svg), name


def test_a_name_in_a_chart_is_text_and_never_markup(renderer: Renderer) -> None:
    (svg,) = renderer.render({one.kind: one.spec for one in charts(exhibits()[3:4], "en")}).values()
    assert "&lt;img src=x" in svg
    assert "<img" not in svg
    assert "<script" not in svg


@pytest.mark.parametrize("ranks", [2, 63, 64, 65, 1000, 1024])
def test_ranks_are_drawn_one_by_one_up_to_a_bound_and_then_in_groups(ranks: int) -> None:
    one = chart("time_split", exhibits(ranks=ranks, steps=1)[0].rows)
    columns = {value["rank"] for value in values(one)}
    assert len(columns) <= MOST_COLUMNS
    assert (len(columns) == ranks) == (ranks <= MOST_COLUMNS)
    assert (str(ranks) in one.note) == (ranks > MOST_COLUMNS)


def test_a_single_rank_is_left_to_the_bar_under_the_verdict() -> None:
    assert charts([exhibits(ranks=1, steps=1)[0]], "en") == ()


def test_every_chart_is_bounded(language: Language) -> None:
    many = exhibits(ranks=300, steps=300)
    for one in charts(many, language):
        assert len(values(one)) <= MOST_COLUMNS**2 * 2
        assert len(one.numbers) <= MOST_NUMBERS
    bars = chart("operators", table("op_type core us:us calls", *((f"op{i}", "x", 1.0 * i, 1.0) for i in range(500))))
    assert len(values(bars)) == MOST_BARS
    assert f"{MOST_BARS} of 500" in bars.note


def test_a_group_of_ranks_shows_its_mean() -> None:
    rows = [(rank, None, 10_000.0 if rank % 2 else 20_000.0, None, 0.0) for rank in range(128)]
    one = chart("time_split", table("rank stage compute_us exposed_comm_us free_us", *rows))
    assert {value["ms"] for value in values(one) if value["part"] == "compute"} == {15.0}


def test_what_was_not_recorded_is_not_drawn_as_zero() -> None:
    one = chart(
        "time_split",
        table("rank stage compute_us exposed_comm_us free_us", (0, None, 5.0, None, 1.0), (1, None, 5.0, None, 1.0)),
    )
    assert {value["part"] for value in values(one)} == {"compute", "idle"}
    assert one.numbers[0][2] == "–"


def test_small_differences_between_steps_look_small() -> None:
    one = chart("rank_steps", table("rank step span_us", (0, 1, 1000.0), (0, 2, 1001.0)))
    opacities = [value["opacity"] for value in values(one)]
    assert max(opacities) - min(opacities) < 0.02  # type: ignore[type-var,operator]


def test_a_slow_link_is_drawn_stronger_than_a_fast_one() -> None:
    rows = ((0, 1, "HCCS", 20.0, 1.0), (1, 0, "HCCS", 10.0, 1.0))
    fast, slow = (
        value["opacity"] for value in values(chart("links", table("source target link bandwidth_gbps x", *rows)))
    )
    assert slow > fast  # type: ignore[operator]


@pytest.mark.parametrize("odd", [None, "text", True, float("inf"), float("nan")])
@pytest.mark.parametrize("position", range(6))
def test_odd_values_in_an_exhibit_do_not_end_the_report(odd: object, position: int, language: Language) -> None:
    kind, rows = exhibits()[position].kind, exhibits()[position].rows
    broken = rows.model_copy(update={"rows": tuple((odd,) * len(row) for row in rows.rows)})
    assert charts([exhibit(kind, broken)], language) == ()
    json.dumps([one.spec for one in charts([exhibit(kind, rows.model_copy(update={"columns": ()}))], language)])


def test_a_foreign_element_or_handler_in_a_drawing_is_refused() -> None:
    for svg in (
        "<svg><script/></svg>",
        '<svg onload="x"/>',
        '<svg><g xlink:href="x"/></svg>',
        "<svg>",
        "<svg><foreignObject/></svg>",
    ):
        with pytest.raises(ValueError, match=r"unexpected|well-formed"):
            safe(svg, "a")


def test_ids_of_several_drawings_do_not_meet() -> None:
    assert safe('<svg><g id="clip0" clip-path="url(#clip0)">url(#x)</g></svg>', "links") == (
        '<svg><g id="links-clip0" clip-path="url(#links-clip0)">url(#x)</g></svg>'
    )


def test_without_its_drawing_process_a_report_names_the_charts_it_lacks(tmp_path: Path, language: Language) -> None:
    with Renderer() as renderer:
        process = renderer._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        write(rich(), tmp_path / "report.html", language, renderer)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert ("Charts missing from this report" if language == "en" else "以下图表绘制失败") in text
    assert "<figure" not in text


def test_no_process_stays_behind(tmp_path: Path) -> None:
    with Renderer() as renderer:
        process = renderer._process
        assert process is not None
        renderer.begin({"one": {"mark": "bar"}})
    assert process.poll() is not None
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, 0)


def test_one_chart_that_cannot_be_drawn_leaves_the_others() -> None:
    good = charts(exhibits()[1:2], "en")[0].spec
    with Renderer() as renderer:
        drawn = renderer.render({"bad": {"mark": "no such mark", "encoding": 3}, "good": good})
    assert list(drawn) == ["good"]


def test_a_module_in_the_working_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("json", "vl_convert", "re"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with Renderer() as renderer:
        renderer.begin({})
        time.sleep(0.3)
    assert not (tmp_path / "ran").exists()


def test_hostile_names_are_cut_to_fit_beside_their_bars() -> None:
    one = chart("operators", table("op_type core us calls", *((name, "x", 5.0, 1.0) for name in (*HOSTILE, "反" * 99))))
    assert max(len(str(value["name"])) for value in values(one) if "\\u" not in str(value["name"])) <= 24
