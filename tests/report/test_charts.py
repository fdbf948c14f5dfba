# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
import os
import re
import signal
import time
from pathlib import Path

import pytest
from report_samples import COURSE, HOSTILE, MEMORY, ROOFLINES, exhibit, exhibits, rich, table, write_report

from advisor.messages.text import LANGUAGES, Language
from advisor.report.charts.bars import ALONE
from advisor.report.charts.draw import Renderer
from advisor.report.charts.drawing import MOST_COLUMNS
from advisor.report.charts.process import sanitize_svg
from advisor.report.charts.specs import MOST_BARS, MOST_NUMBERS, MOST_RANKS, Chart, exhibit_charts
from advisor.report.charts.step_course import MOST_LANES
from advisor.report.pages import LARGEST_BYTES
from advisor.report.words import say


def chart(kind: str, rows: object, language: Language = "en") -> Chart:
    one, *_ = exhibit_charts([exhibit(kind, rows)], language)  # type: ignore[arg-type]
    return one


def values(one: Chart) -> list[dict[str, object]]:
    spec = json.loads(json.dumps(one.spec))
    return [value for part in spec.get("vconcat", [spec]) for value in part["data"]["values"]]


def test_where_no_step_is_marked_no_chart_speaks_of_one(language: Language) -> None:
    """But for those of steps, which are not drawn then."""
    for one in exhibit_charts(exhibits(), language, times_of="window"):
        if one.kind not in ("rank_steps", "step_course"):
            said = f"{json.dumps(one.spec, ensure_ascii=False)} {one.heads} {one.note} {one.numbers}"
            assert not re.search("per step|of the step|每步|单步", said), one.kind


def test_every_exhibit_is_drawn(language: Language, renderer: Renderer) -> None:
    asked = exhibit_charts(exhibits(), language)
    drawn = renderer.render({one.kind: one.spec for one in asked})
    assert sorted(drawn) == [
        "idle_causes",
        "launch_latency",
        "links",
        "memory_course",
        "operators",
        "rank_steps",
        "rooflines",
        "step_course",
        "time_split",
    ]
    for one in asked:
        assert one.title
        assert one.numbers


def test_colours_are_variables_of_the_page_so_that_dark_mode_reaches_them(renderer: Renderer) -> None:
    drawn = renderer.render({one.kind: one.spec for one in exhibit_charts(exhibits(), "en")})
    for name, svg in drawn.items():
        assert "var(--" in svg, name
        assert not re.findall(r'(?:fill|stroke)="(?!var\(|none|transparent)[^"]*"', svg), name


def test_a_name_in_a_chart_is_text_and_never_markup(renderer: Renderer) -> None:
    (svg,) = renderer.render({one.kind: one.spec for one in exhibit_charts(exhibits()[3:4], "en")}).values()
    assert "&lt;img src=x" in svg
    assert "<img" not in svg
    assert "<script" not in svg


@pytest.mark.parametrize("ranks", [2, 32, 33, 64, 255, 256, 257, 1000, 1024])
def test_ranks_are_drawn_one_by_one_up_to_a_bound_and_then_in_groups(ranks: int) -> None:
    one = chart("time_split", exhibits(ranks=ranks, steps=1)[0].rows)
    columns = {value["rank"] for value in values(one)}
    assert len(columns) <= MOST_RANKS
    assert (len(columns) == ranks) == (ranks <= MOST_RANKS)
    assert (str(ranks) in one.note) == (ranks > MOST_RANKS)
    assert one.wide == (ranks > 32)


@pytest.mark.parametrize(("ranks", "wide"), [(2, False), (16, False), (17, True), (64, True), (256, True)])
def test_maps_of_many_ranks_take_the_width_of_the_page_and_keep_cells_one_can_point_at(ranks: int, wide: bool) -> None:
    for one in exhibit_charts(exhibits(ranks=ranks, steps=5)[5:7], "en"):
        size = json.loads(json.dumps(one.spec))
        columns = {value.get("target", value.get("rank", "")) for value in values(one)}
        assert one.wide == wide
        assert len(columns) <= MOST_COLUMNS
        assert size["width"]["step"] >= 12 and size["height"]["step"] >= 8
        assert size["width"]["step"] * len(columns) <= (960 if wide else 460)


def test_a_mark_says_its_values_where_one_points_at_it(language: Language, renderer: Renderer) -> None:
    drawn = renderer.render({one.kind: one.spec for one in exhibit_charts(exhibits(), language)})
    said = {kind: re.findall("<title>([^<]*)</title>", svg) for kind, svg in drawn.items()}
    english = {
        "time_split": "rank 0 · compute 9 ms · 7.9 %",
        "idle_causes": "host late · 17 ms",
        "launch_latency": "launches: 730",
        "operators": "MatMulV2 · 4 ms · 10 calls per step",
        "rooflines": "MatMulV2 · 4096,4096;4096,4096 · BF16 · 60 TFLOP/s · &gt; 100 % of its roof · 900 µs",
        "rank_steps": "rank 3 · step 50 · 114 ms",
        "step_course": "rank 0 · compute 70 %",
        "memory_course": "allocated · 7 GiB",
        "links": "rank 1 → 0 · HCCS 23 GB/s · 95.4 MiB per step",
    }
    assert sorted(said) == sorted(english)
    for kind, words in english.items():
        found = [re.sub(r"\.0+(?= )|(?<=\.\d)0+(?= )", "", one) for one in said[kind]]
        assert found, kind
        assert language == "zh" or any(words in one for one in found), (kind, found[:5])


def layers(one: Chart) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """The points of the roofs, and those of operators."""
    spec = json.loads(json.dumps(one.spec))
    return spec["layer"][0]["data"]["values"], spec["data"]["values"]


def test_a_roof_bends_where_the_memory_is_as_slow_as_the_arithmetic() -> None:
    row = (0, "Ascend910B3", "MatMulV3", "1,2", "BF16", 300.0, 20.0, 8.0, 1500.0, 10.0)
    roofs, (point,) = layers(chart("rooflines", table(ROOFLINES, row)))
    assert [one["tflops"] for one in roofs] == pytest.approx([20 / 1.6 * 1.5, 300, 300])
    assert roofs[1]["intensity"] == pytest.approx(200)
    assert (point["intensity"], point["tflops"]) == (20, 8)
    (numbers,) = chart("rooflines", table(ROOFLINES, row)).numbers
    assert numbers == ("MatMulV3", "20", "8", "27 %", "10.0 µs")


@pytest.mark.parametrize(
    ("tflops", "slope", "level"),
    [(8.0, 0, 0), (30.0, 0, 0), (31.0, 1, 0), (299.0, 1, 0), (301.0, 0, 1)],
)
def test_it_is_said_why_circles_stand_above_the_roof(tflops: float, slope: int, level: int) -> None:
    row = (0, "Ascend910B3", "MatMulV3", "1,2", "BF16", 300.0, 20.0, tflops, 1500.0, 10.0)
    note, zh = (chart("rooflines", table(ROOFLINES, row), language).note for language in LANGUAGES)
    assert ("1 circle stands above the slope: part of the data stayed in the L2 cache" in note) == bool(slope)
    assert ("1 circle stands above the level line: the chip can do more than is known of it" in note) == bool(level)
    assert ("1 个圆点高于斜线：部分数据留在 L2 缓存中" in zh, "1 个圆点高于水平线" in zh) == (bool(slope), bool(level))


def test_a_chip_of_unknown_bandwidth_has_a_flat_roof() -> None:
    row = (0, None, "aten::mm", None, "BF16", 300.0, 20.0, 30.0, None, 10.0)
    one = chart("rooflines", table(ROOFLINES, row))
    assert {point["tflops"] for point in layers(one)[0]} == {300}
    assert one.numbers[0][3] == "10 %"


@pytest.mark.parametrize("bad", [None, 0.0, -5.0, float("nan"), float("inf"), 1e300, "x", True])
@pytest.mark.parametrize("column", [5, 6, 7, 9])
def test_what_cannot_stand_on_a_logarithmic_axis_is_left_out(column: int, bad: object) -> None:
    good = [0, "Ascend910B3", "MatMulV3", "1,2", "BF16", 300.0, 20.0, 8.0, 1500.0, 10.0]
    row = [*good[:column], bad, *good[column + 1 :]]
    drawn = exhibit_charts([exhibit("rooflines", table(ROOFLINES, tuple(row)))], "en")
    assert drawn == () or (bad is True and column == 0)
    both = chart("rooflines", table(ROOFLINES, tuple(good), tuple(row)))
    assert len(layers(both)[1]) == 1


def test_a_few_bytes_are_no_slow_link() -> None:
    rows = ((0, 1, "HCCS", 20.0, 1e8), (1, 0, "HCCS", 19.0, 1e8), (2, 0, "HCCS", None, 96.0))
    one = chart("links", table("source target link bandwidth_gbps:GB/s size_bytes:B", *rows))
    few = next(value for value in values(one) if value["source"] == "2")
    assert few["kind"] == "too few bytes to tell the bandwidth"
    assert few["said"] == "rank 2 → 0 · HCCS too few bytes to tell the bandwidth · 96.0 B per step"
    assert all(row[0] != "2" for row in one.numbers)
    scale = json.loads(json.dumps(one.spec))["encoding"]["fill"]["scale"]
    assert scale == {"domain": ["HCCS", "too few bytes to tell the bandwidth"], "range": ["var(--comm)", "var(--idle)"]}


def test_links_that_moved_next_to_nothing_make_no_map() -> None:
    rows = ((0, 1, "HCCS", None, 96.0), (1, 0, "HCCS", None, 40.0))
    assert exhibit_charts([exhibit("links", table("source target link bandwidth_gbps size_bytes", *rows))], "en") == ()


def test_a_cell_of_many_ranks_says_which_of_its_links_is_slowest() -> None:
    rows = [
        (a, b, "HCCS", 5.0 if (a, b) == (100, 7) else 20.0, 1e8) for a in range(128) for b in range(0, 128, 7) if a != b
    ]
    one = chart("links", table("source target link bandwidth_gbps size_bytes", *rows))
    slow = max(values(one), key=lambda value: float(str(value["opacity"])))
    assert (slow["source"], slow["target"]) == ("100–101", "6–7")
    assert str(slow["said"]).startswith("slowest of 100–101 → 6–7: rank 100 → 7 · HCCS 5.00 GB/s")


def test_a_pair_with_two_kinds_of_links_is_as_strong_as_the_slower_and_says_both() -> None:
    rows = [(0, 1, "HCCS", 20.0, 1e8), (1, 0, "HCCS", 20.0, 1e8), (0, 1, "SIO", 50.0, 1e8), (1, 0, "SIO", 200.0, 1e8)]
    first, second = values(chart("links", table("source target link bandwidth_gbps size_bytes", *rows)))
    assert (first["kind"], second["kind"]) == ("SIO", "HCCS")
    assert "HCCS 20.0 GB/s" in str(first["said"]) and "SIO 50.0 GB/s" in str(first["said"])
    assert first["opacity"] > second["opacity"]  # type: ignore[operator]


def test_the_report_of_64_ranks_stays_small_with_every_pair_and_step_in_it(renderer: Renderer, tmp_path: Path) -> None:
    full = rich().model_copy(update={"exhibits": exhibits(ranks=64, steps=64)})
    write_report(full, tmp_path / "report.html", "en", renderer)
    text = (tmp_path / "report.html").read_bytes()
    assert text.count(b"<title>rank ") == 64 * 63 + 64 * 64 + 64 * 3 + MOST_LANES * 3
    assert len(text) < LARGEST_BYTES


def test_a_single_rank_is_left_to_the_bar_under_the_verdict() -> None:
    assert exhibit_charts([exhibits(ranks=1, steps=1)[0]], "en") == ()


def test_every_chart_is_bounded(language: Language) -> None:
    many = exhibits(ranks=300, steps=300)
    for one in exhibit_charts(many, language):
        assert len(values(one)) <= MOST_COLUMNS**2
        assert len(one.numbers) <= MOST_NUMBERS
    bars = chart("operators", table("op_type core us:us calls", *((f"op{i}", "x", 1.0 * i, 1.0) for i in range(500))))
    assert len(values(bars)) == MOST_BARS
    assert f"{MOST_BARS} of 500" in bars.note


def test_a_group_of_ranks_shows_its_mean() -> None:
    rows = [(rank, None, 10_000.0 if rank % 2 else 20_000.0, None, 0.0) for rank in range(512)]
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
    assert exhibit_charts([exhibit(kind, broken)], language) == ()
    json.dumps([one.spec for one in exhibit_charts([exhibit(kind, rows.model_copy(update={"columns": ()}))], language)])


def test_a_foreign_element_or_handler_in_a_drawing_is_refused() -> None:
    for svg in (
        "<svg><script/></svg>",
        '<svg onload="x"/>',
        '<svg><g xlink:href="x"/></svg>',
        "<svg>",
        "<svg><foreignObject/></svg>",
    ):
        with pytest.raises(ValueError, match=r"unexpected|well-formed"):
            sanitize_svg(svg, "a")


def test_what_the_library_says_of_marks_becomes_their_title_and_the_rest_of_it_goes() -> None:
    mark = '<path aria-label="a &lt;b&gt; &quot;c&quot;" role="graphics-symbol" d="M0,0.123456h9"/>'
    drawn = f'<svg role="x">{mark}<g aria-label="d"/></svg>'
    assert sanitize_svg(drawn, "a") == '<svg><path d="M0,0.12h9"><title>a &lt;b&gt; "c"</title></path><g/></svg>'


def test_what_marks_say_alike_is_said_once_of_their_group() -> None:
    drawn = '<svg><g fill="none"><path fill="red" stroke="a" d="M0,0"/><path fill="red" stroke="b" d="M1,0"/></g></svg>'
    assert (
        sanitize_svg(drawn, "a")
        == '<svg><g fill="red"><path stroke="a" d="M0,0"/><path stroke="b" d="M1,0"/></g></svg>'
    )


def test_ids_of_several_drawings_do_not_meet() -> None:
    assert sanitize_svg('<svg><g id="clip0" clip-path="url(#clip0)">url(#x)</g></svg>', "links") == (
        '<svg><g id="links-clip0" clip-path="url(#links-clip0)">url(#x)</g></svg>'
    )


def test_without_its_drawing_process_a_report_names_the_charts_it_lacks(tmp_path: Path, language: Language) -> None:
    with Renderer() as renderer:
        process = renderer._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        write_report(rich(), tmp_path / "report.html", language, renderer)
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
    good = exhibit_charts(exhibits()[1:2], "en")[0].spec
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
    assert max(len(str(value["name"])) for value in values(one) if "\\u" not in str(value["name"])) <= ALONE.letters + 2


def test_steps_of_ranks_that_were_left_out_are_drawn_in_blocks_and_that_is_said() -> None:
    cells = table("rank step span_us", *((rank, step, 1000.0 + rank) for rank in range(3, 1024, 4) for step in (1, 2)))
    one = chart("rank_steps", cells.model_copy(update={"total": 2048}))
    assert "neighbouring ranks are drawn as one cell" in one.note
    assert {str(value["rank"]) for value in values(one)} == {f"{low}–{low + 15}" for low in range(0, 1024, 16)}


def course_of(*rows: tuple[object, ...], total: int = 0) -> dict[str, object]:
    one = chart("step_course", table(COURSE, *rows, total=total or len(rows)))
    return {"chart": one, "parts": json.loads(json.dumps(one.spec))["vconcat"]}


def test_a_step_is_drawn_from_beginning_to_end_each_slice_filled_by_what_the_device_did() -> None:
    found = course_of((3, 50, 0.0, 1000.0, 700.0, 200.0, 100.0, None), (3, 50, 1000.0, 2000.0, 0.0, 0.0, 1000.0, None))
    (lanes,) = found["parts"]  # nothing was launched by known calls, so no line of launches
    areas: dict[str, list[tuple[float, ...]]] = {}
    for point in lanes["data"]["values"]:
        areas.setdefault(point["part"], []).append((point["ms"], point["low"], point["high"]))
    assert areas["compute"] == [(0.0, 0.0, 0.7), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    assert areas["exposed communication"] == [(0.0, 0.7, 0.9), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    assert areas["idle"] == [(0.0, 0.9, 1.0), (1.0, 0.0, 1.0), (2.0, 0.0, 1.0)]
    assert found["chart"].numbers == (("rank 3", "2.00 ms", "700 µs", "200 µs", "1.10 ms"),)
    assert found["chart"].note == "step 50, from the middle of the recording"


def test_slices_alike_are_drawn_as_one_so_that_pages_stay_small() -> None:
    rows = [(0, 1, 10.0 * at, 10.0 * at + 10, 10.0, 0.0, 0.0, None) for at in range(100)]
    (lanes,) = course_of(*rows)["parts"]
    assert len(lanes["data"]["values"]) == 2


def test_the_line_of_launches_is_that_of_the_rank_that_waits_least() -> None:
    rows = [(rank, 1, 0.0, 10.0, 1.0, 9.0 - rank, float(rank), 0.2) for rank in range(4)]
    lanes, leads = course_of(*rows)["parts"]
    assert leads["title"]["text"] == "rank 3: launch to start"
    assert leads["data"]["values"] == [{"ms": 0.0, "us": 1.0}]  # on an axis of decades there is no 0
    assert lanes["facet"]["row"]["sort"] == ["rank 0", "rank 1", "rank 2", "rank 3"]


def test_ranks_that_were_left_out_and_a_longest_step_are_told() -> None:
    rows = [(rank, 7, 0.0, 10.0, 10.0, 0.0, 0.0, None) for rank in range(3)]
    longest = (1, 9, 0.0, 50.0, 10.0, 0.0, 40.0, None)
    found = course_of(*rows, longest, total=900)
    assert "from the one that waits least" in found["chart"].note
    assert [lane for lane, *_ in found["chart"].numbers] == [
        "rank 0, step 7",
        "rank 1, step 7",
        "rank 2, step 7",
        "rank 1, step 9, the longest",
    ]


def test_slices_that_cannot_be_are_left_out() -> None:
    broken = [(0, 1, 5.0, 5.0, 1.0, 0.0, 0.0, None), (None, 1, 0.0, 1.0, 1.0, 0.0, 0.0, None)]
    assert exhibit_charts([exhibit("step_course", table(COURSE, *broken))], "en") == ()
    (lanes,) = course_of((0, None, 0.0, 1.0, 9.0, 5.0, -3.0, None))["parts"]
    assert all(0 <= point["low"] <= point["high"] <= 1 for point in lanes["data"]["values"])


def test_memory_is_drawn_over_time_what_is_allocated_inside_of_what_is_reserved() -> None:
    gib = 2.0**30
    rows = [(1, "PTA", 1e3 * at, 1e3 * (at + 1), held * gib, 4 * gib, None) for at, held in enumerate((1, 1, 3))]
    one = chart("memory_course", table(MEMORY, *rows))
    drawn = [(value["held"], value["ms"], value["gib"]) for value in values(one)]
    assert drawn == [
        ("reserved", 0.0, 4.0), ("reserved", 3.0, 4.0),
        ("allocated", 0.0, 1.0), ("allocated", 2.0, 3.0), ("allocated", 3.0, 3.0),
    ]  # fmt: skip
    assert one.note == "rank 1 (PTA): at most 4.00 GiB reserved"
    assert len(one.spec["layer"]) == 1  # type: ignore[arg-type]


def test_what_the_device_holds_is_a_line_where_it_is_known() -> None:
    one = chart("memory_course", table(MEMORY, (1, "APP", 0.0, 5.0, None, 2.0**33, 2.0**36)))
    _areas, limit = one.spec["layer"]  # type: ignore[misc]
    assert limit["encoding"]["y"]["datum"] == 64
    assert {value["held"] for value in values(one)} == {"reserved"}
    assert "of 64.0 GiB" in one.note


def test_memory_that_nobody_held_is_not_drawn() -> None:
    assert exhibit_charts([exhibit("memory_course", table(MEMORY, (1, "APP", 0.0, 5.0, None, 0.0, None)))], "en") == ()


def test_the_legend_of_a_step_names_only_what_occurs_in_it() -> None:
    one = chart("time_split", table("rank compute_us exposed_comm_us free_us", (0, 5.0, 0.0, 2.0), (1, 4.0, 0.0, 3.0)))
    legend = one.spec["encoding"]["color"]["scale"]["domain"]
    assert legend == [say("compute", "en"), say("idle", "en")]


def test_long_names_of_operators_take_the_width_of_the_page_and_stand_whole_in_the_numbers() -> None:
    name = "aten::cudnn_convolution_backward_weight"
    one = chart("operators", table("op_type core us:us calls", (name, "x", 4000.0, 10.0)))
    assert one.wide
    assert one.numbers[0][0] == name
    assert name in json.dumps(one.spec)
    assert one.note == "time per step, mean of the ranks"
    assert not chart("operators", table("op_type core us:us calls", ("MatMulV2", "x", 4000.0, 10.0))).wide


def test_a_type_that_runs_on_several_cores_is_told_apart_by_them() -> None:
    rows = table(
        "op_type core us:us calls",
        ("Cast", "AI_CPU", 328.0, 2.0),
        ("Cast", None, 162.0, 47.0),
        ("Add", "AI_CORE", 9, 1.0),
    )
    assert [name for name, _ in chart("operators", rows).numbers] == ["Cast (AI_CPU)", "Cast", "Add"]


@pytest.mark.parametrize("longest", [3.0, 90.0, 999.0, 40_000.0, 3e7])
def test_the_line_of_launches_counts_decades_and_nothing_between(longest: float) -> None:
    rows = [(0, 1, 10.0 * at, 10.0 * at + 10, 5.0, 0.0, 5.0, lead) for at, lead in enumerate((1.0, longest))]
    axis = course_of(*rows)["parts"][1]["encoding"]["y"]["axis"]
    assert axis["values"][0] == 1
    assert axis["values"][-1] <= longest
    assert all(math.log10(tick).is_integer() for tick in axis["values"])
    assert len(axis["values"]) <= 4


def test_every_column_of_a_map_has_a_heading(language: Language) -> None:
    for kind in ("rank_steps", "links"):
        (one,) = (one for one in exhibit_charts(exhibits(), language) if one.kind == kind)
        assert all(one.heads), kind
