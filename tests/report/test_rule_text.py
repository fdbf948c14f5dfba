# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import EXPOSED, HOSTILE, rich
from rich.console import Console

from advisor.bot.comment import render_comment
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import LANGUAGES, Text
from advisor.model.findings import Diagnosis, RemedyStep
from advisor.report.blocks import Blocks, Code, Grid, ListBlock, Paragraph, Quote, paragraph_of, plain_text
from advisor.report.diagnosis.document import diagnosis_document, diagnosis_summary
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.explanation.rule_document import rule_document
from advisor.report.notebook import finding_html
from advisor.report.prose import TextPiece, flat_text, parse_prose, toned
from advisor.report.renderers.html import HtmlBlocks
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.rule_text import rule_sentence, rule_text
from advisor.rules.catalog import Catalog

TEXT = """\
Rows are *not* aligned, **all** of them. See [the guide](https://example.org/guide).

- first of {op}
- second
  1. inner

| rows | cost |
|---|---:|
| `few` | 1 |

```python
x = {op}
```

> Mind the *gap*."""
hostile = st.one_of(
    st.sampled_from([*HOSTILE[:9], "*x*", "](javascript:alert(1))", "<b>", "- a", "| a | b |", "\n\n# x", "`"]),
    st.text(st.sampled_from("*_`<>[]()|#-+ \n\\!&;x1."), max_size=12),
)
words = st.text(st.sampled_from("ab *_`[]()-|\n1."), max_size=20)


def with_markdown() -> Diagnosis:
    """A report whose first rule says what can be said."""
    text = Text(TEXT, TEXT)
    rule = EXPOSED.model_copy(update={"why": text, "fix": (RemedyStep(do=text, care=text),)})
    made = rich()
    return made.model_copy(update={"rules": tuple(rule if one.id == rule.id else one for one in made.rules)})


def pieces(blocks: Blocks) -> Iterator[TextPiece]:
    for block in blocks:
        match block:
            case Paragraph():
                yield from block.said
            case ListBlock():
                for item in block.items:
                    yield from pieces(item)
            case Grid():
                yield from (piece for row in (block.heads, *block.rows) for cell in row for piece in cell)
            case Quote():
                yield from pieces(block.blocks)
            case Code():
                pass


def test_a_text_becomes_the_blocks_its_author_wrote() -> None:
    said, listing, grid, code, quote = rule_text(TEXT, {"op": TextPiece("Cast", code=True)})
    assert isinstance(said, Paragraph)
    assert [piece.text for piece in said.said if piece.strong or piece.emphasis] == ["not", "all"]
    assert [piece.url for piece in said.said if piece.url] == ["https://example.org/guide"]
    assert isinstance(listing, ListBlock)
    assert listing.items[0] == paragraph_of(TextPiece("first of "), TextPiece("Cast", code=True))
    assert listing.items[1][1] == ListBlock((paragraph_of(TextPiece("inner")),), 1)
    assert isinstance(grid, Grid)
    assert grid.right == (False, True)
    assert code == Code("x = {op}", "python")
    assert isinstance(quote, Quote)


@given(words, words, hostile)
def test_a_value_is_never_markup_and_never_changes_what_is_around_it(before: str, after: str, value: str) -> None:
    text = f"{before}{{op}}{after}"
    with_value, with_name = (rule_text(text, {"op": TextPiece(said)}) for said in (value or "x", "KERNEL"))
    shown = "".join(piece.text for piece in pieces(with_value))
    assert shown == "".join(piece.text for piece in pieces(with_name)).replace("KERNEL", value or "x")
    assert [type(block) for block in with_value] == [type(block) for block in with_name]
    assert not any(piece.url for piece in pieces(with_value))


@given(hostile)
def test_a_value_in_a_text_is_escaped_in_html(value: str) -> None:
    text = "see {op} and [x](https://a.example)\n\n- {op}"
    tags = HtmlBlocks().blocks(rule_text(text, {"op": TextPiece("k")})).count("<")
    assert HtmlBlocks().blocks(rule_text(text, {"op": TextPiece(value)})).count("<") == tags


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.example", "#x", "//evil", "/x"])
def test_only_addresses_of_the_web_become_links(url: str) -> None:
    assert not any(piece.url for piece in pieces(rule_text(f"[x]({url}) <{url}> [y][z]\n\n[z]: {url}")))
    assert "<a " not in HtmlBlocks().blocks(rule_text(f"[x]({url})"))


def test_a_note_with_a_link_and_emphasis_is_one_sentence() -> None:
    said = HtmlBlocks().words(toned(rule_sentence("*Our* target, see [wiki](https://wiki.example/x)."), "note"))
    assert said.startswith("<small><em>Our</em> target, see <a ")
    assert said.endswith(">wiki</a>.</small>")
    assert said.count("<small>") == 1
    beside = HtmlBlocks().words((TextPiece("x"), *toned(rule_sentence("a [b](https://b.example) c"), "note")))
    assert beside.startswith("x<small>a <a ")


def test_raw_html_is_shown_as_it_stands() -> None:
    text = "<b>x</b> <script>alert(1)</script>\n\n<div>\ny\n</div>"
    assert "<b>x</b>" in plain_text(rule_text(text))
    assert "<script" not in HtmlBlocks().blocks(rule_text(text))


def test_a_line_of_chinese_goes_on_without_a_blank() -> None:
    assert flat_text(rule_sentence("一行\n又一行 and\nmore")) == "一行又一行 and more"


def test_every_shipped_text_reads_as_it_is_written() -> None:
    for rule in Catalog.load([shipped_folder("rules")]).rules:
        info = rule.info()
        said = [info.why, *(step.do for step in info.fix), *(step.care for step in info.fix if step.care)]
        for text in (text.say(language) for text in said for language in LANGUAGES):
            if "\n" not in text and "](" not in text:  # what links has a form of its own
                assert rule_text(text) == paragraph_of(*parse_prose(text)), rule.id


def test_every_format_shows_lists_tables_links_and_code() -> None:
    made = with_markdown()
    html, markdown = diagnosis_page(made, "en"), document_text(diagnosis_document(made, "en"))
    notebook = finding_html(made.findings[0], "en", made.rules[0])
    console = Console(file=io.StringIO(), width=100)
    print_document(diagnosis_summary(made, "en"), console)
    print_document(rule_document(made.rules[0], "en"), console)
    terminal = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(tag in html for tag in ("<li>second", '<td class="n">1</td>', '<a href="https://example.org/guide"'))
    assert all(said in markdown for said in ("- second\n", "| `few` | 1 |", "[the guide](<https://example.org/guide>)"))
    assert "<li>second" in notebook
    assert "style=" in notebook.split("<li>second")[0].rsplit("<p", 1)[-1]
    for said in ("· second", "1. inner", "the guide (https://example.org/guide)", "x = {op}"):
        assert said in terminal


def test_a_comment_shows_what_to_do_and_links_nothing() -> None:
    comment = render_comment(with_markdown(), language="en")
    assert "- second" in comment
    assert "`https://example.org/guide`" in comment
    assert "](<" not in comment
