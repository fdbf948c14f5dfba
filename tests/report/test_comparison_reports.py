# SPDX-License-Identifier: Apache-2.0
"""Every report of a comparison: what it says, that it adds up, and that nothing from a profile comes alive."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from compared_samples import COMPARED, before, compared, large
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from report_samples import HOSTILE
from rich.console import Console
from test_html import FETCHING, Reader

from advisor.comparison import compare
from advisor.messages.text import Language, Text
from advisor.model.comparison import Comparison, Metric
from advisor.report.charts.draw import Renderer
from advisor.report.comparison import words
from advisor.report.comparison.account import account_entries
from advisor.report.comparison.document import ComparisonBlocks, comparison_document, comparison_summary
from advisor.report.comparison.figures import comparison_charts
from advisor.report.comparison.items import change_groups
from advisor.report.comparison.page import comparison_page
from advisor.report.comparison.plain_tables import comparison_csv_files
from advisor.report.comparison.workbook import comparison_workbook
from advisor.report.output_formats import COMPARED_WRITERS, FOR_PROGRAMS, Reported
from advisor.report.pages import LARGEST_BYTES
from advisor.report.prose import flat_text, plain_prose
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.time_split import PARTS
from tests.shared_captures import SharedCaptures

openpyxl: Any = pytest.importorskip("openpyxl")
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = re.compile(r"<details><summary>[^<>]*</summary>|</details>")
CJK = re.compile("[\u4e00-\u9fff]")
hostile = st.sampled_from(HOSTILE[:8]) | st.text(st.sampled_from("<>\"'&;/=! abon`{}%#|\\-[]()"), max_size=16)


@pytest.fixture(params=sorted(COMPARED))
def comparison(request: pytest.FixtureRequest) -> Comparison:
    """Each shape in turn."""
    return COMPARED[request.param]


def printed(comparison: Comparison, language: Language, top: int = 5, written: Sequence[Path] = ()) -> str:
    out = io.StringIO()
    print_document(comparison_summary(comparison, language, top), Console(file=out, width=100), written)
    return out.getvalue()


def comparison_markdown(comparison: Comparison, language: Language) -> str:
    return document_text(comparison_document(comparison, language))


def tokens(text: str) -> list[Token]:
    return [token for top in PARSER.parse(text) for token in (top, *(top.children or []))]


# --- what is said ---


def test_the_verdict_says_how_much_slower_through_what_and_how_many_findings() -> None:
    verdict = ComparisonBlocks(compared(), "en", 0).verdict
    assert verdict.says == "A step takes 131 ms, 14.0 ms longer than before (117 ms, +12 %)."
    assert "".join(piece.text for piece in verdict.mainly).startswith("Mainly <img src=x onerror=alert(1)> +7.00 ms")
    assert verdict.findings == "Findings: 10 new, 1 worse, 1 the same, 1 better."
    assert verdict.sure == "Confidence: high"


@pytest.mark.parametrize(
    ("shape", "en", "zh"),
    [
        ("faster", "A step takes 117 ms, 14.0 ms less than before (131 ms, −11 %).", "快 14.0 ms"),
        ("the same", "A step takes as long as before, within noise: 117 ms before, 117 ms after.", "没有超出正常波动"),
        (
            "one step",
            "A step took 117 ms before and takes 131 ms after; steps differ by so much, or so few were recorded, "
            "that this may be noise.",
            "这一变化可能只是波动",
        ),
        ("no time", "The step time is not known on both sides: only the findings are compared.", "只能比较问题"),
        (
            "window beside step",
            "The two cannot be compared: one is a captured window, the other a step. "
            "Before: a captured window of 117 ms; "
            "after: a step of 131 ms.",
            "两份采集不可比：一侧是采集窗口，另一侧是单步。之前：采集窗口 117 ms；之后：单步 131 ms。",
        ),
        ("windows", "The captured window takes 131 ms, 14.0 ms longer than before", "采集窗口为 131 ms"),
    ],
)
def test_every_kind_of_outcome_has_its_sentence(shape: str, en: str, zh: str) -> None:
    assert en in ComparisonBlocks(COMPARED[shape], "en", 0).verdict.says
    assert zh in ComparisonBlocks(COMPARED[shape], "zh", 0).verdict.says


def test_a_window_and_a_step_are_not_subtracted() -> None:
    shown = ComparisonBlocks(COMPARED["window beside step"], "en", 0)
    (times,) = shown.times()
    assert {flat_text(row[-1]) for row in times.rows} == {"cannot be told"}
    assert shown.entries == ()
    assert comparison_charts(COMPARED["window beside step"], shown.entries, "en") == ()


def test_a_single_step_is_named_as_the_reason_of_low_confidence() -> None:
    assert "both hold a single step" in ComparisonBlocks(COMPARED["one step"], "en", 0).verdict.sure
    assert "两份采集都只有一个 step" in ComparisonBlocks(COMPARED["one step"], "zh", 0).verdict.sure
    one = compare(COMPARED["one step"].before, COMPARED["slower"].after)
    assert "one of the two holds a single step" in ComparisonBlocks(one, "en", 0).verdict.sure


def test_entries_add_up_to_the_difference_of_the_step(comparison: Comparison) -> None:
    entries = ComparisonBlocks(comparison, "en", 0).entries
    if entries:
        *parts, total = entries
        assert sum(one.us for one in parts) == pytest.approx(total.us, abs=1e-6)
        assert total.us == pytest.approx(sum(one.delta_us for one in comparison.moved), abs=1e-6)


def test_many_entries_end_in_one_line_for_all_others() -> None:
    made = large()
    alike = tuple(one.model_copy(update={"after_us": one.before_us + 1000.0 - at}) for at, one in enumerate(made.moved))
    entries = ComparisonBlocks(made.model_copy(update={"moved": alike}), "en", 0).entries
    assert len(entries) == 14
    assert "592 other entries" in entries[-2].name[0].text
    sizes = [abs(one.us) for one in entries[:-2]]
    assert sizes == sorted(sizes, reverse=True)


def test_what_moved_the_step_by_less_than_a_digit_that_is_shown_is_one_of_the_others() -> None:
    made = compared()
    small = made.moved[0].model_copy(update={"name": "small", "before_us": 5.0, "after_us": 5.0 - 3e-5})
    shown = ComparisonBlocks(made.model_copy(update={"moved": (*made.moved[:2], small)}), "en", 0).entries
    assert [one.key for one in shown[2:]] == ["rest", "step"]


def test_every_change_is_in_exactly_one_group(comparison: Comparison) -> None:
    groups = ComparisonBlocks(comparison, "en", 0).groups
    assert sum(group.count for group in groups) == len(comparison.changes)
    assert sum(len(group.items) + group.left_out for group in groups) == len(comparison.changes)


def test_what_got_worse_says_what_to_do_and_what_stayed_is_folded() -> None:
    text = comparison_markdown(compared(), "en")
    worse = text[text.index("### worse") : text.index("<details><summary>the same")]
    assert "could save 21.0 ms → 60.0 ms" in worse
    assert "How to fix it: Turn on the second level of the task queue" in worse


# --- every writer, every shape, both languages ---


@pytest.mark.parametrize("name", [writer.name for writer in COMPARED_WRITERS if writer not in FOR_PROGRAMS])
def test_every_writer_copes_with_every_shape(
    name: str, comparison: Comparison, language: Language, renderer: Renderer
) -> None:
    (writer,) = [writer for writer in COMPARED_WRITERS if writer.name == name]
    reported = Reported(comparison.after, language, comparison, renderer=renderer)
    said = writer.text(reported)
    assert len(said) > 80
    assert name == "html" or writer.text(reported) == said


def test_the_terminal_copes_with_every_shape(comparison: Comparison, language: Language) -> None:
    out = printed(comparison, language, top=2, written=(Path("a.html"), Path("b.csv"), Path("b.moved.csv")))
    assert "a.html" in out
    assert "b.csv" in out and "b.moved.csv" in out
    assert "\x1b" not in out and "\u202e" not in out


def test_an_english_report_holds_no_chinese(comparison: Comparison, renderer: Renderer) -> None:
    for text in (
        comparison_markdown(comparison, "en"),
        comparison_page(comparison, "en", renderer),
        printed(comparison, "en"),
    ):
        assert not CJK.findall(re.sub(r"<style>.*?</style>", "", text, flags=re.S))


TABLES: tuple[Mapping[str, Text], ...] = (
    words.WORDS,
    words.STATUSES,
    words.JUDGEMENTS,
    PARTS,
    words.TABLES,
    words.OWN_COLUMNS,
    words.CHARTS,
)


def test_words_have_the_same_holes_in_both_languages_and_chinese_is_chinese() -> None:
    for table in TABLES:
        for name, text in table.items():
            assert sorted(re.findall(r"{\w+}", text.en)) == sorted(re.findall(r"{\w+}", text.zh)), name
            assert not CJK.search(text.en), name
            plain = re.sub(r"{\w+}", "", text.en)
            assert not re.search("[a-z]{4}", plain) or CJK.search(text.zh), name


# --- Markdown ---


@settings(max_examples=30)
@given(st.tuples(*[hostile] * 3))
def test_nothing_from_a_profile_becomes_markdown(names: tuple[str, ...]) -> None:
    parsed = tokens(comparison_markdown(compared(names), "en"))
    assert not [token for token in parsed if token.type in ("link_open", "image", "s_open", "em_open")]
    html = "".join(token.content for token in parsed if token.type in ("html_inline", "html_block"))
    assert OURS.sub("", html).strip() == ""
    assert not [token.content for token in parsed if token.type == "text" and re.search(r"@\w", token.content)]


@settings(max_examples=20)
@given(st.tuples(*[hostile] * 2))
def test_names_do_not_change_the_shape_of_the_markdown(names: tuple[str, ...]) -> None:
    def shape(made: Comparison) -> list[str]:
        return [token.type for token in PARSER.parse(comparison_markdown(made, "zh"))]

    if len(set(names)) == len(names) and all(name.strip() for name in names):
        assert shape(compared(names)) == shape(compared(("a", "b")))


# --- HTML ---


def test_elements_nest_ids_are_unique_and_anchors_lead_somewhere(
    comparison: Comparison, language: Language, renderer: Renderer
) -> None:
    reader = Reader(comparison_page(comparison, language, renderer))
    assert reader.open == []
    ids = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {str(attrs["href"])[1:] for tag, attrs in reader.elements if tag == "a"}
    labels = {attrs["aria-labelledby"] for _, attrs in reader.elements if "aria-labelledby" in attrs}
    assert targets | labels <= set(ids)


@settings(max_examples=15)
@given(st.tuples(*[hostile] * 2))
def test_nothing_from_a_profile_becomes_an_element(names: tuple[str, ...]) -> None:
    def shape(made: Comparison) -> list[tuple[str, list[str]]]:
        return [
            (tag, sorted(attrs)) for tag, attrs in Reader(_drawn_nothing(made)).elements if tag not in ("code", "wbr")
        ]

    if len(set(names)) == len(names) and all(name.strip() for name in names):
        assert shape(compared(names)) == shape(compared(("a", "b")))


def _drawn_nothing(made: Comparison) -> str:
    class Still(Renderer):
        def render(self, specs: Mapping[str, object]) -> dict[str, str]:
            return {}

    return comparison_page(made, "en", Still(start=False))


def test_the_page_asks_for_nothing_and_runs_one_script(renderer: Renderer) -> None:
    text = comparison_page(compared(), "en", renderer)
    reader = Reader(text)
    assert not {tag for tag, _ in reader.elements} & FETCHING
    assert text.count("<script") == 1
    assert "default-src 'none'" in text
    assert not [name for _, attrs in reader.elements for name in attrs if name.startswith("on")]


def test_the_page_says_in_words_what_it_draws(renderer: Renderer) -> None:
    text = comparison_page(compared(), "en", renderer)
    assert text.count("<svg") == 2 + 2  # logo, theme, and two charts
    assert text.count("<summary>Numbers</summary>") == 2
    for said in ("+14.0 ms", "117\u00a0ms", "131\u00a0ms", "within noise", "step in all"):
        assert said in text


def test_charts_that_cannot_be_drawn_are_named() -> None:
    text = _drawn_nothing(compared())
    assert "What each entry adds to the step" in text
    assert "could not be drawn" in text


def test_the_largest_comparison_still_opens_at_once(renderer: Renderer) -> None:
    assert len(comparison_page(large(), "zh", renderer).encode("utf-8", "backslashreplace")) < LARGEST_BYTES


def test_a_chart_without_another_beside_it_takes_the_width_of_the_page_and_says_what_pale_bars_are() -> None:
    made = compared()
    entries = account_entries(made, "en")
    single = made.model_copy(update={"before": made.before.model_copy(update={"account": None})})
    long = replace(entries[0], name=plain_prose("a_kernel_with_a_name_of_forty_letters_"))
    (beside, _), (alone,) = (comparison_charts(one, [long, *entries[1:]], "en") for one in (made, single))
    assert (beside.wide, alone.wide) == (False, True)
    names = [spec["data"]["values"][0]["name"] for spec in (beside.spec, alone.spec)]  # type: ignore[index]
    assert names[1] == "a_kernel_with_a_name_of_forty_letters_" != names[0]
    assert alone.numbers[0][0] == names[1]
    pale = any(one.noisy and one.key != "step" for one in entries)
    assert ("pale bar" in alone.note) is pale
    noisy = comparison_charts(single, [replace(one, noisy=True) for one in entries], "zh")[0]
    assert "浅色" in noisy.note
    assert comparison_charts(single, [replace(one, noisy=False) for one in entries], "en")[0].note == ""


def test_bars_of_the_chart_hang_together() -> None:
    shown = ComparisonBlocks(compared(), "en", 0)
    spec = comparison_charts(compared(), shown.entries, "en")[0].spec
    values: Any = spec["data"]
    bars = values["values"]
    for one, other in pairwise(bars[:-1]):
        assert one["to"] == other["from"]
    assert (bars[-1]["from"], bars[-1]["to"]) == (0.0, pytest.approx(14.0))
    assert bars[-2]["to"] == pytest.approx(14.0)


def test_marks_of_a_comparison_say_their_values_where_one_points_at_them(renderer: Renderer) -> None:
    made = comparison_charts(compared(), account_entries(compared(), "en"), "en")
    drawn = renderer.render({one.kind: one.spec for one in made})
    for kind, svg in drawn.items():
        said = re.findall("<title>([^<]*)</title>", svg)
        assert said and all(" · " in words for words in said), kind


# --- JSON ---


def test_json_is_json_whatever_the_names(comparison: Comparison) -> None:
    assert json.loads(comparison.to_json())["format"] == "advisor.comparison/1"


def test_json_comes_back_as_it_was() -> None:
    made = compared(("a", "<b>", "=c"))
    assert Comparison.model_validate_json(made.to_json()) == made


# --- spreadsheets ---


def opened(made: Comparison, language: Language = "en") -> Any:
    return openpyxl.load_workbook(io.BytesIO(comparison_workbook(made, language)))


def test_a_spreadsheet_has_a_sheet_for_each_table_with_its_header_frozen() -> None:
    book = opened(compared())
    assert book.sheetnames == ["Summary", "Findings", "Why it changed", "Kernels", "Collectives", "Memory peaks"]
    for sheet in book.worksheets[1:]:
        assert sheet.freeze_panes is not None
        assert sheet.auto_filter.ref
    heads = [cell.value for cell in book["Kernels"][1]]
    assert heads[:5] == [
        "Operator type",
        "Core",
        "Input shapes",
        "Time per step, before (µs)",
        "Time per step, after (µs)",
    ]
    assert book["Kernels"]["D2"].value == 1
    assert book["Kernels"]["D2"].number_format.startswith("#,##0")
    assert opened(compared(), "zh").sheetnames[3] == "算子（kernel）"


def test_whole_numbers_of_a_spreadsheet_end_in_no_point() -> None:
    """A form with nothing but optional digits behind its point shows 75 as `75.`"""
    cells = [cell for sheet in opened(compared()).worksheets for row in sheet.iter_rows() for cell in row]
    assert not [cell.coordinate for cell in cells if ".#" in cell.number_format]
    assert {cell.number_format for cell in cells} >= {"General", "[Red]+General;[Blue]-General;0"}


def test_a_spreadsheet_is_for_people_and_speaks_their_language() -> None:
    book = opened(compared(), "zh")
    assert {cell.value for cell in book["问题"]["A"][1:]} == {"新增", "变差", "不变", "好转"}
    causes = [row[1].value for row in book["变化来源"].iter_rows(min_row=2) if row[0].value == "空闲"]
    assert "下发偏晚" in causes


def test_nothing_in_a_spreadsheet_is_a_formula_or_a_link() -> None:
    names = ("=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "https://evil.example/", "\ud800", "a\x00b")
    book = opened(compared(names))
    cells = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    assert not [cell.coordinate for cell in cells if cell.data_type == "f" or cell.hyperlink]
    assert "=1+1" in {cell.value for cell in cells}


def test_what_is_missing_is_an_empty_cell_and_zero_is_zero() -> None:
    sheet = opened(compared())["Memory peaks"]
    assert [cell.value for cell in sheet[3]] == ["PTA", 1, None, 2**30, None]
    moved = opened(compared())["Why it changed"]
    assert {row[2].value for row in moved.iter_rows(min_row=2) if row[1].value == "k" * 106 + "…" + "k" * 53} <= {0}


def test_two_spreadsheets_of_one_comparison_have_the_same_bytes() -> None:
    assert comparison_workbook(compared(), "zh") == comparison_workbook(compared(), "zh")


def test_rows_that_are_left_out_are_said_in_the_sheet() -> None:
    values = [cell.value for row in opened(compared())["Kernels"].iter_rows() for cell in row]
    assert "7,989 rows with smaller differences left out" in values


# --- CSV ---


def test_csv_is_one_file_per_table_and_says_which() -> None:
    made = comparison_csv_files(compared(), Path("dir/out.csv"), "en")
    assert [path.as_posix() for path, _ in made] == [
        "dir/out.csv",
        *(f"dir/out.{name}.csv" for name in ("moved", "kernels", "collectives", "memory")),
    ]
    changes, moved, kernels = (list(csv.DictReader(io.StringIO(text[1:]))) for _, text in made[:3])
    assert {row["status"] for row in changes} == {"new", "worse", "same", "better"}
    assert all(row["title"] for row in changes)
    assert sum(float(row["us_delta"]) for row in moved) == pytest.approx(14_000)
    assert kernels[-1]["total_delta_us"] == "-10.0"


def test_no_cell_of_a_csv_is_a_formula() -> None:
    for _, text in comparison_csv_files(compared(("=1+1", "-2", "+3", "@x")), Path("o.csv"), "en"):
        for row in csv.reader(io.StringIO(text[1:])):
            for cell in row:
                assert not cell.startswith(("=", "@", "+")), row
                assert not cell.startswith("-") or re.fullmatch(r"-[\d.e+-]+", cell), row


def test_how_often_something_ran_before_and_after_has_a_name_on_the_terminal() -> None:
    """Two numbers alone beside a name may be anything."""
    for language, named in (("en", r"\(\S+ → \S+ times per step[,)]"), ("zh", r"（每步 \S+ → \S+ 次[，）]")):
        told = [line for line in printed(COMPARED["slower"], language).splitlines() if re.search(r"\d → \d", line)]
        counted = [line for line in told if line.lstrip().startswith(("+", "−"))]
        assert counted
        assert [line for line in counted if not re.search(named, line)] == []


def test_a_saved_comparison_of_the_same_has_nothing_that_moved() -> None:
    made = COMPARED["the same"]
    assert {one.us for one in ComparisonBlocks(made, "en", 0).entries} == {0}
    assert "Why it changed" not in printed(made, "en")
    assert before().run.name in printed(made, "en")


@pytest.mark.parametrize("shape", COMPARED)
def test_chinese_stands_in_the_brackets_of_chinese(shape: str) -> None:
    assert not re.findall(
        "[\u4e00-\u9fff] ?\\([^)]*[\u4e00-\u9fff][^)]*\\)", comparison_markdown(COMPARED[shape], "zh")
    )


# --- causes and what they bring about ---


@pytest.fixture(scope="module")
def slowed(shared: SharedCaptures) -> Comparison:
    """A job before and after a link of it became slow."""
    return compare(shared.diagnosed("healthy"), shared.diagnosed("slow-link"))


def test_findings_that_came_stand_in_the_order_of_the_later_diagnosis(slowed: Comparison) -> None:
    """By what each could win a symptom would stand above its cause."""
    came = [one.fingerprint for one in slowed.having("new")]
    assert came == [one.fingerprint for one in slowed.after.findings if one.fingerprint in came]
    savings = [one.saving_after.us for one in slowed.having("new") if one.saving_after]
    assert savings != sorted(savings, reverse=True)


@pytest.mark.parametrize(("language", "said"), [("en", "Caused by: "), ("zh", "根因：")])
def test_what_is_the_same_time_as_a_cause_names_it_and_not_a_remedy(
    slowed: Comparison, language: Language, said: str
) -> None:
    (came, *_) = change_groups(slowed, language)
    explained = [item for item in came.items if item.card and item.card.is_folded]
    assert explained
    assert not any(item.actions for item in explained)
    for text in (comparison_markdown(slowed, language), comparison_page(slowed, language), printed(slowed, language)):
        assert said in text


@pytest.mark.parametrize(("language", "said"), [("en", "Fix first: "), ("zh", "首要问题：")])
def test_a_step_that_got_longer_is_answered_with_what_to_fix(slowed: Comparison, language: Language, said: str) -> None:
    shown = ComparisonBlocks(slowed, language, 0)
    first = slowed.after.findings[0]
    assert flat_text(shown.fix_first).startswith(said)
    assert first.rule == "ranks/slow-link"
    assert flat_text(shown.groups[0].items[0].title) in flat_text(shown.fix_first)
    turned = compare(slowed.after, slowed.before)
    assert ComparisonBlocks(turned, language, 0).fix_first == ()


def test_a_rank_is_no_amount_that_grows(slowed: Comparison) -> None:
    values = change_groups(slowed, "en")[0].items[0].values
    changes = {flat_text(value.label): value.change for value in values}
    assert changes["Bandwidth"] == "−74 %"
    assert changes["To rank"] == ""


def test_what_crossed_its_threshold_is_shown_before_what_stayed_beyond_it(slowed: Comparison) -> None:
    metrics = (
        Metric(name="stayed", unit="share", before=0.1, after=0.1, threshold=0.6),
        Metric(name="crossed", unit="share", before=0.05, after=0.15, threshold=0.1),
    )
    changes = tuple(one.model_copy(update={"metrics": metrics}) for one in slowed.changes)
    shown = change_groups(slowed.model_copy(update={"changes": changes}), "en")[0].items[0].values
    assert [flat_text(value.before) for value in shown] == ["5.0 %", "10 %"]
