# SPDX-License-Identifier: Apache-2.0
"""An explanation on the terminal and as Markdown, in both languages."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_samples import HOSTILE, LEVEL, RUN, finding, outcomes, rich
from rich.console import Console

import advisor
from advisor.cli.main import main
from advisor.explanation import explain
from advisor.messages.text import LANGUAGES, Language
from advisor.model.explanation import Case, Check, Explanation, Linked, Term, Worth
from advisor.model.findings import Outcome, Rows, Saving, Severity
from advisor.report.explanation.document import MOST_CASES
from advisor.report.explanation.document import explanation_document as blocks
from advisor.report.explanation.words import WORDS
from advisor.report.notebook import document_html
from advisor.report.pages import document_page
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document

CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
CHINESE = re.compile("[\u4e00-\u9fff]")


def tokens(text: str) -> list[Token]:
    return [inner for token in PARSER.parse(text) for inner in (token, *(token.children or []))]


def printed(explanation: Explanation, language: Language) -> str:
    out = io.StringIO()
    print_document(blocks(explanation, language, MOST_CASES), Console(file=out, width=100, highlight=False), inset=2)
    return out.getvalue()


def document(explanation: Explanation, language: Language) -> str:
    return document_text(blocks(explanation, language))


def explained(names: tuple[str, ...]) -> Explanation:
    """One finding of one rule whose names try to break out."""
    diagnosis = rich(names)
    info = diagnosis.rules[0]
    explanation = explain(info, None, diagnosis)
    case = Case(
        fingerprint="0123456789abcdef",
        number="1",
        finding=explanation.cases[0].finding if explanation.cases else None,
        terms=(Term(name=names[0], value=names[1], expression=names[2]),),
        checks=(Check(decides="when", text=names[0], left=names[1], sign="==", right=names[2], holds=None),),
        worth=Worth(expression=names[1], across="worst", saving=Saving(us=5.0), assumes=LEVEL),
        rows=Rows(columns=(), rows=()),
        causes=(Linked(rule=names[0], fingerprint=names[1], title=LEVEL, subject={names[0]: names[2]}),),
    )
    return explanation.model_copy(update={"cases": (case,)})


hostile = st.sampled_from([*HOSTILE[:8], "`|` <b>", "```\n# x", "- x", "\\", "![x](y)", "@all #12 www.evil.example"])


@given(st.tuples(*[hostile] * 3), st.sampled_from(LANGUAGES))
@settings(max_examples=40)
def test_nothing_of_a_profile_becomes_markup(names: tuple[str, ...], language: Language) -> None:
    parsed = tokens(document(explained(names), language))
    assert not [token.type for token in parsed if token.type in ("link_open", "image", "html_inline", "html_block")]
    assert sum(token.type == "heading_open" and token.tag == "h1" for token in parsed) == 1


@given(st.tuples(*[hostile] * 3))
@settings(max_examples=20)
def test_nothing_of_a_profile_becomes_an_element_of_a_page(names: tuple[str, ...]) -> None:
    def elements(shown: str) -> list[str]:
        return re.findall(r"<(?!span|/span|wbr)[^>]+>", re.sub(r' class="(?:long|unbroken)"', "", shown))

    for write in (document_page, document_html):
        shown, plain = (write(blocks(explained(some), "en")) for some in (names, ("a", "b", "c")))
        assert elements(shown.split("<main")[-1]) == elements(plain.split("<main")[-1])


@given(st.tuples(*[hostile] * 3))
@settings(max_examples=20)
def test_nothing_of_a_profile_moves_the_cursor(names: tuple[str, ...]) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", printed(explained(names), "en"))


def test_a_page_of_plain_blocks_is_set_as_a_document() -> None:
    page = document_page(blocks(explained(("a", "b", "c")), "en"))
    assert '<main class="document">' in page


def test_every_rule_is_explained_in_each_language_and_in_that_alone() -> None:
    for rule in advisor.load_rules().rules:
        text = document(explain(rule.info(), rule), "en")
        assert not CHINESE.search(text), rule.id
        assert "{" not in re.sub(r"`[^`]*`", "", text), rule.id
        assert CHINESE.search(document(explain(rule.info(), rule), "zh")), rule.id


@pytest.mark.parametrize("name", WORDS)
def test_both_languages_leave_the_same_holes(name: str) -> None:
    holes = [set(re.findall(r"\{(\w+)\}", WORDS[name].say(language))) for language in LANGUAGES]
    assert holes[0] == holes[1]


@pytest.mark.parametrize("outcome", ["quiet", "not applicable", "skipped", "failed"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rule_that_found_nothing_says_why(outcome: str, language: Language) -> None:
    info = rich().rules[0]
    one = Outcome.model_validate({"rule": info.id, "outcome": outcome, "reason": LEVEL})
    said = printed(Explanation(rule=info, run=RUN, outcome=one), language)
    wanted = WORDS["quiet_nothing"] if outcome == "quiet" else LEVEL
    assert "".join(wanted.say(language).replace("`", "").split()) in "".join(said.split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_the_rule_itself_the_evidence_is_shown_as_it_was_saved(language: Language) -> None:
    diagnosis = rich()
    info = diagnosis.rules[0]
    label = info.labels[0].label.say(language)
    for said in (printed(explain(info, None, diagnosis), language), document(explain(info, None, diagnosis), language)):
        assert label in said and "70 %" in said


def test_many_subjects_are_named_and_the_first_shown() -> None:
    info = rich().rules[0]
    made = [finding(info, 1000.0 - number, Severity.low, subject={"op": f"op{number}"}) for number in range(9)]
    diagnosis = rich().model_copy(update={"findings": tuple(made), "outcomes": outcomes(info)})
    explanation = explain(info, None, diagnosis)
    said = printed(explanation, "en")
    assert "More subjects: 6" in said
    assert all(one.fingerprint in said for one in made)
    assert document(explanation, "en").count("## ") >= 9


def test_the_command_explains_a_capture_and_its_saved_report_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, words = tmp_path / "report.json", "host/free-time"
    assert main(["diagnose", str(CASE), "-q", "-o", str(report)]) == 0
    assert main(["explain", words, str(CASE), "--lang", "en"]) == 0
    whole = capsys.readouterr().out
    assert main(["explain", words, "--in", str(report), "--lang", "en"]) == 0
    kept = capsys.readouterr().out
    for said in ("waiting_share > normal", "28 % > 10 %", "host/late-launches", "uncopied_us - reachable * total_us"):
        assert said in whole and said in kept


def test_the_command_takes_a_finding_without_its_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "why.json"
    assert main(["explain", str(CASE), "--finding", "1c36e9", "-q", "-o", str(output)]) == 0
    explanation = Explanation.model_validate_json(output.read_text("utf-8"))
    assert explanation.rule.id == "host/free-time" and len(explanation.cases) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "words",
    [
        ["explain"],
        ["explain", "host/fre-time"],
        ["explain", "--finding", "1c36e9"],
        ["explain", "host/free-time", str(CASE), "--in", "x.json"],
        ["explain", "host/free-time", str(CASE), "-o", "why.pdf"],
    ],
)
def test_wrong_use_ends_with_two_and_says_what_to_do(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "hint:" in capsys.readouterr().err


def test_a_rule_that_is_switched_off_is_still_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings_file = tmp_path / "advisor.yaml"
    settings_file.write_text("rules:\n  host/free-time: off\n", "utf-8")
    assert main(["explain", "host/free-time", str(CASE), "--config", str(settings_file), "--lang", "en"]) == 0
    assert "switch the rule off" in capsys.readouterr().out
