# SPDX-License-Identifier: Apache-2.0
"""Blocks read the same in every format: what is code can be copied, what is folded is there, what is set off is."""

from __future__ import annotations

import io
import re
from html import unescape
from typing import get_args

import pytest
from jinja2 import UndefinedError
from msgspec import Struct
from rich.console import Console

from advisor.report.blocks import (
    BarPair,
    Block,
    Blocks,
    Code,
    Document,
    FactLine,
    Figure,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Meter,
    PageBlock,
    Paragraph,
    Quote,
    SearchForm,
    Section,
    SplitBlock,
    TextBlock,
    TimeBar,
    first_paragraph,
    grid_of,
    plain_lines,
)
from advisor.report.prose import TextPiece, flat_text, plain_prose
from advisor.report.renderers.html import HtmlBlocks, unbroken_code
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.rule_text import rule_text
from advisor.report.time_split import TimePart

ADDRESS = "https://example.org/a/very/long/path/that/no/terminal/of/this/width/shows/on/one/line"
PARTS = (TimePart("idle", "idle", "60 ms", "60 %", 60.0), TimePart("compute", "compute", "40 ms", "40 %", 40.0))
EVERY: tuple[tuple[Block, str], ...] = (
    (Heading(plain_prose("a title")), "a title"),
    (Paragraph(plain_prose("a sentence")), "a sentence"),
    (ListBlock(((Paragraph(plain_prose("an item")), Code("some code")),)), "some code"),
    (Code("more code"), "more code"),
    (Grid((plain_prose("head"),), ((plain_prose("cell"),),)), "cell"),
    (Quote((Paragraph(plain_prose("set apart")),)), "set apart"),
    (Fold(plain_prose("in short"), (Paragraph(plain_prose("at length")),)), "at length"),
    (SplitBlock("where the time goes", PARTS), "60 %"),
)
ON_A_PAGE: tuple[Block, ...] = (
    FactLine((plain_prose("a fact"),)),
    Section((Paragraph(plain_prose("a part")),)),
    Figure("drawn", "a chart", "a note", Fold(plain_prose("numbers"), ())),
    Meter(12.5),
    BarPair((TimeBar("before", "1 ms", 100.0, (("compute", 100.0),)),)),
    SearchForm((("high", "high"),), (("host", "host"),)),
)


def markdown(*blocks: Block) -> str:
    return document_text(Document("en", blocks))


def terminal(*blocks: Block, width: int = 40) -> str:
    out = io.StringIO()
    print_document(Document("en", blocks), Console(file=out, width=width))
    return out.getvalue()


def html(*blocks: Block) -> str:
    return re.sub("<[^>]*>", "", str(HtmlBlocks().blocks(blocks)).replace("\u00a0", " "))


@pytest.mark.parametrize(("block", "said"), EVERY, ids=lambda one: type(one).__name__)
def test_every_block_is_said_in_every_format(block: Block, said: str) -> None:
    for text in (markdown(block), terminal(block), html(block), "\n".join(plain_lines((block,)))):
        assert said in " ".join(text.split())


def nested(*inner: Block, depth: int = 2) -> Blocks:
    made: Blocks = (Paragraph(plain_prose("first")), *inner)
    for _ in range(depth):
        made = (ListBlock((made,), start=9),)
    return made


def test_code_deep_in_lists_is_never_cut() -> None:
    line = "export " + "A_LONG_NAME=" * 9
    assert line in terminal(*nested(Code(line)))


def test_an_address_stays_whole_on_a_narrow_terminal() -> None:
    linked = (TextPiece("read this", url=ADDRESS),)
    assert ADDRESS in terminal(*nested(Paragraph(linked)))
    assert ADDRESS in terminal(ListBlock(((Paragraph(linked),),)))


def test_lines_of_an_item_begin_below_its_words() -> None:
    said = plain_prose("one two three four five six seven eight nine ten eleven")
    first, *others = terminal(ListBlock(((Paragraph(said),),), mark=TextPiece("→")), width=24).splitlines()
    assert first.startswith("→ one")
    assert others and all(line.startswith("  ") and line[2] != " " for line in others)


def test_neighbours_that_are_strong_share_their_marks() -> None:
    pieces = (TextPiece("a ", strong=True), TextPiece("`b`", code=True, strong=True), TextPiece(" c", strong=True))
    assert markdown(Paragraph(pieces)) == "**a `` `b` `` c**\n"


def test_only_where_a_line_begins_is_a_mark_of_lists_escaped() -> None:
    assert markdown(Paragraph((TextPiece("- a"), TextPiece("- b")))) == "\\- a- b\n"
    assert markdown(Paragraph((TextPiece("x", code=True), TextPiece(") y")))) == "`x`) y\n"
    assert markdown(Paragraph((TextPiece(" "), TextPiece("# a")))) == "\\# a\n"
    assert "| +5 ms |" in markdown(Grid((plain_prose("h"),), ((plain_prose("+5 ms"),),)))


def test_a_list_right_below_the_sentence_of_an_item_belongs_to_it() -> None:
    inner = ListBlock(((Paragraph(plain_prose("b")),),))
    assert markdown(ListBlock(((Paragraph(plain_prose("a")), inner),))) == "- a\n  - b\n"


def test_what_stands_in_a_fold_cannot_leave_it() -> None:
    text = markdown(Fold(plain_prose("</summary><script>@team"), (Paragraph(plain_prose("inside")),)))
    assert text.count("<") == text.count("</details>") * 4
    assert "@team" not in text


def test_a_grid_without_heads_has_no_empty_line_above_it() -> None:
    assert terminal(Grid(((), ()), ((plain_prose("a"), plain_prose("b")),))).split() == ["a", "b"]
    assert not terminal(Grid(((), ()), ((plain_prose("a"), plain_prose("b")),))).startswith("\n")


def test_a_word_of_code_that_fits_on_no_line_breaks_where_its_parts_end_and_nowhere_else() -> None:
    code = "profiler_level=torch_npu.profiler.ProfilerLevel.Level1,  # <b>"
    shown = str(unbroken_code(code))
    assert "profiler_level=<wbr>torch_npu.<wbr>profiler.<wbr>ProfilerLevel.<wbr>Level1," in shown
    assert unescape(re.sub(r"<[^>]*>", "", shown)) == code


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Net/layers.*/mlp", "Net/<wbr>layers.*/<wbr>mlp"),
        ("8,64;64,8", "8,64;<wbr>64,8"),
        ("https://a/", "https://<wbr>a/"),
        ("aten::mul", "aten::mul"),
    ],
)
def test_a_name_on_a_page_may_break_where_its_parts_end(name: str, shown: str) -> None:
    assert f">{shown}</code>" in str(HtmlBlocks().blocks((Paragraph((TextPiece(name, code=True),)),)))


def test_a_table_takes_the_room_of_a_wide_terminal_and_sentences_stay_as_wide_as_people_read() -> None:
    heads = tuple(plain_prose(f"a number {at}") for at in range(14))
    row = tuple(plain_prose(f"{at}.12 ms") for at in range(14))
    grid, said = Grid(heads, (row, row), (True,) * 14), Paragraph(plain_prose("a word " * 40))
    lines = terminal(grid, said, width=240).splitlines()
    assert any(all(f" {at}.12 ms" in f" {line}" for at in range(14)) for line in lines)
    assert max(map(len, lines)) > 100
    assert max(len(line) for line in lines if "word" in line) <= 100
    narrow = terminal(grid, width=110).splitlines()
    assert max(map(len, narrow)) <= 100


@pytest.mark.parametrize(("width", "together"), [(160, True), (100, False)])
def test_numbers_stand_beside_what_their_row_is_about_where_a_line_has_room_for_both(
    width: int, together: bool
) -> None:
    shapes = "64,3,11,11;64;192,64,5,5;192;384,192,3,3;384;256,384,3,3;256;256,256,3,3"
    heads = tuple(map(plain_prose, ("Operator", "Shapes", "Calls", "Total")))
    grid = Grid(
        heads, (tuple(map(plain_prose, ("ForeachAddList", shapes, "3", "1.95 ms"))),), (False, False, True, True), 1
    )
    lines = terminal(grid, width=width).splitlines()
    assert any(shapes in line and "1.95 ms" in line for line in lines) is together
    assert any("1.95 ms" in line for line in lines)


def test_what_a_row_is_about_is_never_squeezed_where_nothing_of_it_is_a_number() -> None:
    said = "a sentence about one row that is longer than the terminal has room for beside other columns"
    grid = Grid(
        tuple(map(plain_prose, ("became", "finding", "won"))), (tuple(map(plain_prose, ("gone", said, "6 ms"))),), (), 1
    )
    first, *_ = terminal(grid, width=80).splitlines()
    assert first.split() == ["gone", *said.split()[: len(first.split()) - 1]] and len(first) > 60


def test_every_kind_of_block_is_an_element_of_a_page() -> None:
    shown = (*(block for block, _ in EVERY), *ON_A_PAGE)
    assert {type(block) for block in shown} == {*get_args(TextBlock), *get_args(PageBlock)}
    for block in shown:
        assert HtmlBlocks(drawings={"drawn": "<svg/>"}).blocks((block,)).startswith("<")


def test_a_chart_that_was_not_drawn_leaves_nothing() -> None:
    assert HtmlBlocks().blocks(ON_A_PAGE[2:3]) == ""


def test_a_block_of_an_unknown_kind_is_an_error_and_not_silence() -> None:
    class Unheard(Struct):
        said: str = "of something"

    with pytest.raises(UndefinedError, match="Unheard"):
        HtmlBlocks().blocks((Unheard(),))  # type: ignore[arg-type]


def test_words_in_a_table_are_stretches_of_text() -> None:
    strong = (TextPiece("b", strong=True),)
    made = grid_of(("a", strong), [("c", strong), iter(("d", ()))], (False, True))
    assert made == Grid((plain_prose("a"), strong), ((plain_prose("c"), strong), (plain_prose("d"), ())), (False, True))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Set `X`.\n\nThen restart.", "Set X."),
        ("Do this:\n\n- set `X`\n- restart", "Do this: set X …"),
        ("请依次：\n\n1. 设置 `X`\n2. 重启", "请依次：设置 X …"),
        ("Do this:\n\n- first:\n  - inner", "Do this: first: inner"),
        ("- set `X`", "set X"),
        ("Run:\n\n```sh\nexport X=1\n./train\n```", "Run: export X=1 …"),
        ("Either of these.\n\n- one", "Either of these."),
        ("Do this:", "Do this:"),
    ],
)
def test_a_line_on_what_to_do_says_something_to_do(text: str, line: str) -> None:
    assert flat_text(first_paragraph(rule_text(text))) == line
