# SPDX-License-Identifier: Apache-2.0
"""Lines on the terminal end where the language lets them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.report.line_breaks import BELOW, Flow, break_lines

SENTENCE = "先排除等待：慢卡或空闲的通信算子也计入通信时间，但并没有数据在传输（19 %），这时并行策略不是原因。"


@pytest.mark.parametrize("width", range(12, 60))
def test_chinese_fills_its_lines_and_marks_stay_with_their_words(width: int) -> None:
    lines = break_lines(Text(SENTENCE), width).plain.split("\n")
    assert "".join(lines) == SENTENCE
    assert all(cell_len(line) <= width for line in lines)
    assert all(width - cell_len(line) < 12 for line in lines[:-1])
    assert not any(line[0] in "，。：；）" for line in lines)
    assert not any(line.endswith(("（", "19")) for line in lines)


@pytest.mark.parametrize("width", range(10, 40))
def test_a_number_stays_with_its_sign_and_its_unit(width: int) -> None:
    lines = break_lines(Text("主要来自：数据加载 −43.9 ms（−16 %），Python 执行 +1.2 ms"), width).plain.split("\n")
    assert sum(amount in line for line in lines for amount in ("−43.9 ms", "−16 %", "+1.2 ms")) == 3


@pytest.mark.parametrize("width", range(12, 60))
def test_a_full_stop_stays_with_the_unit_before_it(width: int) -> None:
    said = "From one step mark to the next it is 13.3 s. Of that 20 %, or 2.7 s, is idle (0.1 s); the rest is 5 ms."
    lines = break_lines(Text(said), width).plain.split("\n")
    assert not any(line[0] in ".,;)" for line in lines)


@settings(max_examples=60)
@given(st.text("ab 中文，（）。1%\u0301", max_size=60), st.integers(1, 30))
def test_breaking_loses_nothing_but_blanks(words: str, width: int) -> None:
    assert break_lines(Text(words), width).plain.replace("\n", "").replace(" ", "") == words.replace(" ", "")


def test_a_name_in_a_tree_goes_on_below_its_own_beginning() -> None:
    out = io.StringIO()
    Console(file=out, width=18).print(Flow(Text.assemble((f"{BELOW * 2}", "dim"), "AdaptiveAvgPool2d_0")))
    assert out.getvalue() == f"{BELOW * 2}AdaptiveAvg\n    Pool2d_0\n"


@settings(max_examples=60)
@given(st.integers(0, 12), st.text("abAB_/.2", min_size=1, max_size=40), st.integers(1, 40))
def test_a_name_in_a_tree_is_whole_at_every_width(depth: int, name: str, width: int) -> None:
    out = io.StringIO()
    Console(file=out, width=width).print(Flow(Text(BELOW * depth + name)))
    lines = out.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()).replace("·", "") == name


def test_styles_survive_the_break() -> None:
    text = Text.assemble("先看 ", ("算子耗时与下发", "bold"), " 再说")
    out = break_lines(text, 10)
    bold = "".join(out.plain[span.start : span.end] for span in out.spans if span.style == "bold")
    assert bold.replace("\n", "") == "算子耗时与下发"


def test_a_word_wider_than_the_line_is_still_shown() -> None:
    out = io.StringIO()
    Console(file=out, width=20).print(Flow(Text("见 /a/very/long/path/that/never/ends 目录")))
    assert out.getvalue().replace("\n", "").replace(" ", "") == "见/a/very/long/path/that/never/ends目录"


def test_a_name_wider_than_its_column_goes_on_below_and_leaves_no_blank_line() -> None:
    table, out = Table(box=None, padding=(0, 1, 0, 0), show_header=False), io.StringIO()
    table.add_column(width=8)
    table.add_column(width=8)
    table.add_row(Flow(Text("ForeachAddList")), Flow(Text("1")))
    table.add_row(Flow(Text("Cast")), Flow(Text("2")))
    Console(file=out, width=24).print(table)
    assert [line.split() for line in out.getvalue().splitlines()] == [["Foreach", "1"], ["AddList"], ["Cast", "2"]]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("AI_VECTOR_CORE", ["AI_VECTOR_", "CORE"]),
        ("aten::add", ["aten::add"]),
        ("Net/layers.*/mlp/down", ["Net/", "layers.*/", "mlp/down"]),
        ("DataParallelWrapper_0", ["DataParallel", "Wrapper_0"]),
        ("Conv2DBackpropFilter", ["Conv2D", "Backprop", "Filter"]),
    ],
)
def test_a_name_wider_than_its_column_breaks_where_its_parts_end(name: str, lines: list[str]) -> None:
    assert break_lines(Text(name), 12, inside=True).plain.split("\n") == lines
    assert break_lines(Text(name), 12).plain == name
