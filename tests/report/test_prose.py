# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.messages.markup import web_address
from advisor.report.prose import LONGEST, TextPiece, clean_block, clean_line, flat_text, parse_long_prose, parse_prose

anything = st.text(st.characters(codec=None, categories=None), max_size=400)


@given(anything)
@settings(max_examples=60)
def test_no_invisible_or_reversing_character_is_left(text: str) -> None:
    shown = clean_line(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066\u200b\ufeff\u2028"]
    shown.encode("utf-8")


@given(anything)
@settings(max_examples=60)
def test_a_shown_name_is_bounded_however_long_it_is(text: str) -> None:
    assert len(clean_line(text * 50)) <= 6 * LONGEST


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    shown = clean_line("begin" + "x" * 10_000 + "end")
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert len(shown) == LONGEST


@pytest.mark.parametrize(
    "name",
    [
        "##[error]x",
        "##[add-mask]x",
        "::error::x",
        "a ::warning file=b::x",
        "x::stop-commands::y",
        "::Group::",
        "::SET-OUTPUT name=a::b",
    ],
)
def test_no_name_is_a_command_to_the_log_of_a_pipeline(name: str) -> None:
    shown = clean_line(name)
    assert "##[" not in shown
    assert not re.search(r"::[A-Za-z-]+[ :]", shown)
    assert clean_line(shown) == shown


@pytest.mark.parametrize(
    "name", ["aten::group_norm", "aten::set_", "c10d::allreduce_", "torch_npu::add", "a::b::c", "#[x]"]
)
def test_operators_are_no_commands(name: str) -> None:
    assert clean_line(name) == name


def test_an_ordinary_name_is_shown_as_it_is() -> None:
    assert clean_line("hcom_allReduce__271_0_1 反向") == "hcom_allReduce__271_0_1 反向"


def test_commands_keep_their_lines_and_lose_their_escapes() -> None:
    assert clean_block("\nif x:\n\tgo()\x1b[31m\n") == "if x:\n    go()\\u001b[31m"


@given(st.dictionaries(st.sampled_from(["a", "b"]), anything.map(clean_line)))
@settings(max_examples=60)
def test_a_value_never_changes_how_the_words_around_it_are_read(values: dict[str, str]) -> None:
    pieces = parse_prose("first {a} then `code {b}` last", {name: TextPiece(text) for name, text in values.items()})
    assert flat_text(pieces) == f"first {values.get('a', '{a}')} then code {values.get('b', '{b}')} last"
    assert all(" last" not in piece.text for piece in pieces if piece.code)


def test_an_odd_backtick_is_no_code() -> None:
    assert parse_prose("a ` b") == (TextPiece("a  b"),) or not any(piece.code for piece in parse_prose("a ` b"))


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//evil", "http://a b", 'http://a"b', "http://[", "file:///etc"]
)
def test_only_web_addresses_become_links(url: str) -> None:
    assert web_address(url) == ""


def test_a_web_address_stays_as_it_is() -> None:
    assert web_address("https://example.org/a?b=c#d") == "https://example.org/a?b=c#d"


@pytest.mark.parametrize("longest", range(40, 160, 7))
def test_a_reason_that_is_cut_shows_as_code_what_is_code_and_nothing_else(longest: int) -> None:
    reason = "record with `first_switch=True`, `second_switch=True` and `third_switch=True` among the options; " * 3
    shown = parse_long_prose(reason, longest)
    assert {piece.text.removesuffix("=True") for piece in shown if piece.code} <= {
        "first_switch", "second_switch", "third_switch",
    }  # fmt: skip
    assert len(flat_text(shown)) <= longest
    assert "`" not in flat_text(shown)


@pytest.mark.parametrize(("shown", "said"), [("1", "The host waits 1 time"), ("3", "The host waits 3 times")])
def test_a_title_says_one_of_something_in_the_singular(shown: str, said: str) -> None:
    assert flat_text(parse_prose("The host waits {n} {n|time|times}", {"n": TextPiece(shown)})) == said
    assert flat_text(parse_prose("`{op}` waits {n} {n|time|times}", {"n": TextPiece(shown)})).endswith(said[9:])
