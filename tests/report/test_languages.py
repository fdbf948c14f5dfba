# SPDX-License-Identifier: Apache-2.0
"""One language throughout: what is not code is in the language asked for."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping

import pytest
from report_samples import FREE, finding, rich, table
from rich.console import Console

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Text
from advisor.model.findings import Diagnosis, Evidence, RuleInfo, Severity
from advisor.model.run import Run
from advisor.model.unread import SavedMessage, Unread
from advisor.report.charts.draw import Renderer
from advisor.report.charts.words import AXES, CHARTS
from advisor.report.column_values import CAUSES, DAMAGE_KINDS, RECORDED, SIGNS
from advisor.report.columns import COLUMNS
from advisor.report.diagnosis.document import diagnosis_document, diagnosis_summary
from advisor.report.diagnosis.workbook import diagnosis_sheets
from advisor.report.output_formats import WRITERS, Reported
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.words import CATEGORIES, CONFIDENCES, NOTES, OUTCOMES, RESOURCES, SEVERITIES, WORDS
from advisor.rules.catalog import Catalog

TABLES = (
    WORDS,
    NOTES,
    SEVERITIES,
    CONFIDENCES,
    CATEGORIES,
    OUTCOMES,
    CAUSES,
    DAMAGE_KINDS,
    CHARTS,
    AXES,
    COLUMNS,
    SIGNS,
    RESOURCES,
    RECORDED,
)
CJK = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
NAMES = {
    *(
        "rank",
        "step",
        "stage",
        "Rank",
        "Step",
        "Stage",
        "host",
        "Host",
        "advisor",
        "Python",
        "Cube",
        "roofline",
        "L2",
        "TFLOP",
        "Ascend910B3",
        "BF16",
        "FLOAT",
        "Vector",
        "Scalar",
    ),
    *(
        "CANN",
        "torch_npu",
        "Ascend910B",
        "Level1",
        "prof",
        "JSON",
        "HCCL",
        "HCCS",
        "RDMA",
        "GB",
        "GiB",
        "MiB",
        "KiB",
        "ms",
    ),
    *("MatMulV2", "TransData", "oddity", "odd"),
}
"""Names of the field, of products and units, and of what the sample diagnosis holds outside of code."""


def sample() -> tuple[str, ...]:
    return ("opname",)


def shown(suffix: str, language: str, renderer: Renderer) -> str:
    """The visible words of a report: no code, tags, styles, addresses."""
    diagnosis = rich(sample())
    writer = next(writer for writer in WRITERS if writer.suffix == suffix)
    text = writer.text(Reported(diagnosis, "zh" if language == "zh" else "en", renderer=renderer))
    text = re.sub(r"<(style|script|code|title)\b.*?</\1>", " ", text, flags=re.S).replace("\\", "")
    said = re.compile(r'(?:aria-label|aria-roledescription|placeholder|title)="([^"]*)"')
    text = re.sub(r"<[^>]*>", lambda tag: f" {' '.join(said.findall(tag[0]))} ", text)
    text = re.sub(r"(`{3,}).*?\1", " ", text, flags=re.S)
    return re.sub(r"(`+).*?\1|<?https?://\S+|&\w+;", " ", text)


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_no_chinese_in_an_english_report(suffix: str, renderer: Renderer) -> None:
    assert not CJK.findall(shown(suffix, "en", renderer))


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_no_english_in_a_chinese_report(suffix: str, renderer: Renderer) -> None:
    words = set(re.findall(r"[A-Za-z_]\w+", shown(suffix, "zh", renderer)))
    assert words - NAMES - {"op_type", "opname"} == set()


def test_the_terminal_keeps_to_one_language() -> None:
    for language, foreign in (("en", CJK), ("zh", re.compile(r"\b(the|of|step takes|up to|ranks|steps|not|rules)\b"))):
        console = Console(width=80, file=io.StringIO())
        print_document(diagnosis_summary(rich(sample()), "zh" if language == "zh" else "en"), console)
        assert isinstance(console.file, io.StringIO)
        assert not foreign.findall(console.file.getvalue())


@pytest.mark.parametrize("table", TABLES)
def test_every_word_has_both_languages_and_the_same_holes(table: Mapping[str, Text]) -> None:
    for name, text in table.items():
        assert text.en.strip(), name
        assert text.zh.strip(), name
        assert set(re.findall(r"\{(\w+)\}", text.en)) == set(re.findall(r"\{(\w+)\}", text.zh)), name
        assert not CJK.search(text.en), name


def test_every_column_that_a_rule_shows_has_a_word() -> None:
    shown = {
        column: rule.id
        for rule in Catalog.load([shipped_folder("rules")]).rules
        for column, _ in (rule.excerpt.columns if rule.excerpt else ())
        if column not in {item.name for item in rule.evidence}
    }
    unnamed = {column: shown[column] for column in sorted(shown.keys() - COLUMNS.keys())}
    assert unnamed == {}, "name these columns in advisor/report/columns.py"


def with_damage(what_message: SavedMessage | None, place_message: SavedMessage | None = None) -> Diagnosis:
    """Of a capture in which one thing could not be read, that a finding shows in its table."""
    trouble = Unread(
        file="a.csv", place="row 3", what="has no column `x`", what_message=what_message, place_message=place_message
    )
    messages = [said.to_json() if said else None for said in (place_message, what_message)]
    rows = table("kind place what place_message what_message", ("row", trouble.place, trouble.what, *messages))
    found = finding(FREE, 0, Severity.low, excerpt=rows)
    return Diagnosis(run=Run(name="prof"), findings=(found,), rules=(FREE,), unread=(trouble,))


def damaged(what_message: SavedMessage | None, place_message: SavedMessage | None = None) -> str:
    """A report in Chinese of such a capture."""
    return document_text(diagnosis_document(with_damage(what_message, place_message), "zh"))


def test_what_told_something_is_said_in_words_and_not_in_those_of_the_tables() -> None:
    by = Evidence(name="told_by", value="repetition", unit="")
    shown = finding(
        FREE, 5.0, Severity.low, evidence=(by,), excerpt=table("by steps", ("marks", 4), ("kernels", 2), ("made_up", 1))
    )
    diagnosis = Diagnosis(run=Run(ranks=(0,), step_us=117_000), findings=(shown,), rules=(FREE,))
    text = document_text(diagnosis_document(diagnosis, "zh"))
    assert all(said in text for said in ("设备上的重复规律（估计）", "引擎的打点", "算子明细", "`made_up`"))
    assert "repetition" not in text


def test_values_out_of_a_fixed_set_are_said_in_the_language_of_a_finding() -> None:
    rows = table(
        "op_type bound kind way", ("MatMulV2", "memory", "kernel", "read"), ("Add", "compute", "copy", "write")
    )
    shown = finding(FREE, 5.0, Severity.low, excerpt=rows)
    diagnosis = Diagnosis(run=Run(ranks=(0,), step_us=117_000), findings=(shown,), rules=(FREE,))
    text = document_text(diagnosis_document(diagnosis, "zh"))
    assert "| `MatMulV2` | 访存 | 算子 | 读 |" in text
    assert "| `Add` | 计算 | 拷贝 | 写 |" in text


def test_damage_is_said_in_the_language_of_the_report_wherever_it_is_shown() -> None:
    said = damaged(
        SavedMessage(code="lacks_column", values={"column": "x"}), SavedMessage(code="at_row", values={"n": 3})
    )
    assert "| 部分行或事件 | 第 3 行 | 缺少列 `x` |" in said
    assert "| `a.csv` | 第 3 行 | 缺少列 `x` |" in said


def test_messages_of_a_table_are_no_columns_of_what_people_are_shown() -> None:
    said = SavedMessage(code="lacks_column", values={"column": "x"})
    diagnosis = with_damage(said)
    assert "lacks_column" not in damaged(said)
    (rows,) = (sheet.rows for sheet in diagnosis_sheets(diagnosis, "zh") if sheet.name == "相关数据")
    assert rows[1:3] == ((None, "类别", "位置", "问题"), (None, "部分行或事件", "row 3", "缺少列 `x`"))


@pytest.mark.parametrize("cell", ["{", "[" * 100_000, '{"code": 3}', '{"code": "lacks_column", "values": {}}', "[]"])
def test_what_is_no_message_in_the_place_of_one_leaves_the_words_as_they_are(cell: str) -> None:
    found = finding(FREE, 0, Severity.low, excerpt=table("what what_message", ("has no column `x`", cell)))
    text = document_text(diagnosis_document(Diagnosis(run=Run(), findings=(found,), rules=(FREE,)), "zh"))
    assert "| `` has no column `x` `` |" in text


@pytest.mark.parametrize("message", [None, SavedMessage(code="of a version to come")])
def test_words_that_came_without_a_message_are_quoted_as_they_are(message: SavedMessage | None) -> None:
    said = damaged(message)
    assert "| 部分行或事件 | `row 3` | `` has no column `x` `` |" in said
    assert "| `a.csv` | `row 3` | `` has no column `x` `` |" in said


def test_what_a_rule_reads_is_named_in_chinese_too() -> None:
    """The explanation of a rule says what each column of its table holds."""
    read = {rule.fact for rule in Catalog.load([shipped_folder("rules")]).rules}
    unnamed = {f"{fact.table}.{name}" for fact in read for name in fact.columns() if name not in COLUMNS}
    assert unnamed == set(), "name these columns in advisor/report/columns.py"


def test_a_threshold_has_one_name_in_chinese() -> None:
    told = [words.zh for words in _texts_of_tables()]
    told += [words for rule in Catalog.load([shipped_folder("rules")]).rules for words in _chinese_of_rule(rule.info())]
    assert [words for words in told if "\u95e8\u9650" in words] == [], "reports call it \u9608\u503c"


COUNTED_RANK = re.compile(
    r"(?:个|各|该|其他|所有|全部|哪个|每个|这些|同一) ?rank(?! ?(?:[{\d]|table|编号))|rank (?:数|之间|间)"
)
"""Ranks as what a job has so many of: practitioners count 卡 there, and say rank with the number of one."""


def test_chinese_texts_count_cards_and_number_ranks() -> None:
    told = [words.zh for words in _texts_of_tables()]
    told += [words for rule in Catalog.load([shipped_folder("rules")]).rules for words in _chinese_of_rule(rule.info())]
    assert [words for words in told if COUNTED_RANK.search(words)] == []


def _texts_of_tables() -> Iterator[Text]:
    for words in TABLES:
        yield from (one for one in words.values() if isinstance(one, Text))


def _chinese_of_rule(info: RuleInfo) -> Iterator[str]:
    texts = (info.title, info.why, info.assumes, *(one.title for one in info.titles))
    texts += (*(one.basis for one in info.params), *(one.label for one in info.labels))
    texts += tuple(words for step in info.fix for words in (step.do, step.care))
    yield from (words.zh for words in texts if words is not None)
