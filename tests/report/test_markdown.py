# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_samples import EXPOSED, HOSTILE, finding, rich, table

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Finding, Occurrence, Saving, Severity
from advisor.model.run import Capture, Run
from advisor.report.blocks import Code, Document, Paragraph
from advisor.report.diagnosis.cards import MOST_COLUMNS, make_cards
from advisor.report.diagnosis.document import diagnosis_document
from advisor.report.prose import TextPiece, clean_block, clean_line
from advisor.report.renderers.markdown import code_span, document_text, markdown_prose
from advisor.report.rule_text import rule_text
from advisor.report.words import say

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = re.compile(r"<details><summary>[^<>]*</summary>|</details>")
hostile = st.one_of(
    st.sampled_from(
        [*HOSTILE[:8], "a\\|b`<img>", "\\", "\\`", "```\n", "|", "- x", "1. x", "# x", "> x", "===", "---"]
    ),
    st.text(st.sampled_from("`|\\<>[]()!*_~#@:/.-=+ 1ax&;\n$"), max_size=12),
)


def tokens(text: str) -> list[Token]:
    flat = []
    for token in PARSER.parse(text):
        flat += [token, *(token.children or [])]
    return flat


@given(st.tuples(*[hostile] * 3))
@settings(max_examples=60)
def test_nothing_from_a_profile_becomes_markup(names: tuple[str, ...]) -> None:
    parsed = tokens(document_text(diagnosis_document(rich(names), "en")))
    links = {token.attrs["href"] for token in parsed if token.type == "link_open"}
    assert links == {EXPOSED.references[0].url}
    assert not [
        token
        for token in parsed
        if token.type in ("image", "s_open", "em_open", "heading_open") and token.tag in ("img", "s", "em", "h3")
    ]
    html = "".join(token.content for token in parsed if token.type in ("html_inline", "html_block"))
    assert OURS.sub("", html).strip() == ""


@given(st.tuples(*[hostile] * 3))
@settings(max_examples=40)
def test_names_do_not_change_the_shape_of_the_tables(names: tuple[str, ...]) -> None:
    def shape(text: str) -> list[str]:
        return [token.type for token in PARSER.parse(text)]

    assert shape(document_text(diagnosis_document(rich(names), "zh"))) == shape(
        document_text(diagnosis_document(rich(("a", "b", "c")), "zh"))
    )


@pytest.mark.parametrize(
    "said", ["![pic](https://e.com/x.png)", "Look![x](https://e.com)", "*Look!*[x](https://e.com)"]
)
def test_a_link_behind_an_exclamation_mark_is_no_image(said: str) -> None:
    blocks = rule_text(said)
    parsed = tokens(document_text(Document("en", blocks)))
    assert [token.type for token in parsed if token.type in ("image", "link_open")] == ["link_open"]
    (paragraph,) = blocks
    assert isinstance(paragraph, Paragraph)
    read = "".join(token.content for token in parsed if token.type == "text")
    assert read == "".join(piece.text for piece in paragraph.said)


@given(hostile)
@settings(max_examples=60)
def test_a_code_span_shows_the_text_it_was_given(text: str) -> None:
    line = clean_line(" ".join(text.split()))
    codes = [token.content for token in tokens(f"x {code_span(line)} y") if token.type == "code_inline"]
    assert codes == ([line] if line else [])


@given(hostile)
@settings(max_examples=60)
def test_a_code_block_cannot_be_left(text: str) -> None:
    text = clean_block(text)
    (token,) = PARSER.parse(document_text(Document("en", (Code(text),))))
    assert token.type == "fence"
    assert token.content.rstrip("\n") == "\n".join(text.splitlines()).rstrip("\n")


@given(hostile)
@settings(max_examples=60)
def test_plain_text_is_one_paragraph_of_text(text: str) -> None:
    line = " ".join(text.split()) or "x"
    kinds = {token.type for token in tokens(markdown_prose((TextPiece(line),)))}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


@pytest.mark.parametrize(
    "text", ["@all", "see @team/devs", "a@b.example", "http://evil.example", "www.evil.example", "#12"]
)
def test_forges_find_no_mention_link_or_number_in_plain_text(text: str) -> None:
    assert not re.search(r"@\w|#\d|://|www\.", markdown_prose((TextPiece(text),)))


def test_the_verdict_comes_first() -> None:
    lines = [line for line in document_text(diagnosis_document(rich(), "en")).splitlines() if line]
    assert lines[2].startswith("**A step takes 117 ms: 70 % exposed communication, 22 % idle, 7.7 % compute.**")
    assert lines[3].startswith(
        "**Fix first**: Communication is exposed for 70 % of each step (rank 0, worst of 8 ranks)"
    )
    assert lines[3].endswith("ranks) — saving about 57.0 ms per step (49 %)")


def test_a_quiet_rule_says_what_it_measured_beside_the_threshold() -> None:
    text = document_text(diagnosis_document(rich(), "en"))
    line = next(line for line in text.splitlines() if "`memory/near-capacity`" in line and "nothing wrong" in line)
    assert "4.3 %" in line
    assert "(threshold 10 %)" in line


def test_where_nobody_recorded_the_start_times_count_from_the_first_event() -> None:
    first = 1_778_463_157_324_000_000
    worst = Occurrence(table="gaps", rank=0, start_ns=first + 686_000, duration_us=367, since_start_us=686)
    rows = table("start_ns:ns duration_us:us", (first + 686_000, 367.0))
    found = finding(EXPOSED, 1_000, Severity.medium, excerpt=rows).model_copy(update={"occurrences": (worst,)})
    text = document_text(diagnosis_document(Diagnosis(run=Run(name="x"), findings=(found,), rules=(EXPOSED,)), "en"))
    assert "| +0.686 ms | 367 µs |" in text
    assert f"{first + 686_000:,}" not in text


def test_a_column_that_says_nothing_of_any_row_makes_room_for_the_next() -> None:
    columns = "op_name cube_share:share a b c d e f g h"
    assert len(columns.split()) > MOST_COLUMNS
    rows = table(columns, ("MatMul", None, 1, 2, 3, 4, 5, 6, 7, 8), ("Conv", None, None, 2, 3, 4, 5, 6, 7, 8))
    found = finding(EXPOSED, 1_000, Severity.medium, excerpt=rows)
    text = document_text(diagnosis_document(Diagnosis(run=Run(name="x"), findings=(found,), rules=(EXPOSED,)), "en"))
    (head,) = [line for line in text.splitlines() if line.startswith("| Kernel")]
    assert "Cube" not in head
    assert head.count("|") == MOST_COLUMNS + 1
    assert re.search(r"Conv[^|]*\| – \|", text)


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "would finish 5.00 ms sooner; another rank then decides when the step ends."), ("zh", "可提前 5.00 ms")],
)
def test_a_rank_that_wins_more_by_itself_than_the_step_does_is_told(language: Language, said: str) -> None:
    made = rich(("a", "b", "c"))
    first, *others = made.findings
    alone = first.model_copy(update={"saving": Saving(us=3_000.0, share=0.1), "alone": Saving(us=5_000.0, share=0.2)})

    def written(one: Finding) -> str:
        shown = made.model_copy(update={"findings": (one, *others)})
        return document_text(diagnosis_document(shown, language))

    assert said in written(alone)
    assert said not in written(alone.model_copy(update={"alone": None}))


def test_the_ranking_says_what_is_an_estimate_and_what_the_most_there_is(language: Language) -> None:
    one = rich()
    bound = one.findings[0].model_copy(update={"at_most": True})
    one = one.model_copy(update={"findings": (bound, *one.findings[1:])})
    said = document_text(diagnosis_document(one, language))
    rows = [line for line in said.splitlines() if line.startswith("| ")]
    cards = [card for card in make_cards(one, language) if card.saving_time]
    assert {card.bound for card in cards} == {say("about", language), say("at_most", language)}
    for card in cards:
        assert any(f"| {card.number} |" in row and f"| {card.bound} {card.saving_time} (" in row for row in rows)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (Run(), "prof.step() was not called"),
        (
            Run(captures=(Capture(rank=0, path="a", source="text", recorder="msprof"),)),
            "msprof marks those of whole graphs",
        ),
        (
            Run(framework="MindSpore", captures=(Capture(rank=0, path="a", source="database"),)),
            "MindSpore writes no marks",
        ),
        (
            Run(framework="MindSpore", captures=(Capture(rank=0, path="a", source="text"),)),
            "prof.step() was not called",
        ),
    ],
    ids=["a framework", "msprof", "a database of MindSpore", "text of MindSpore"],
)
def test_why_no_steps_are_known_is_said_of_what_recorded(run: Run, said: str) -> None:
    assert said in document_text(diagnosis_document(Diagnosis(run=run), "en"))
