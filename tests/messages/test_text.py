# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from advisor.messages.text import LANGUAGES, Language, Text, fill_holes, holes_with_more, open_hole_names


def test_a_folded_line_leaves_no_blank_between_chinese_characters() -> None:
    assert Text(en="a b", zh="设备 空闲， 等待 host 下发").unfolded().zh == "设备空闲，等待 host 下发"


def test_half_a_text_is_refused() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Text).validate_python({"en": "only one"})
    with pytest.raises(ValidationError):
        TypeAdapter(Text).validate_python({"en": "both", "zh": ""})


def test_holes_of_both_languages_are_named_once() -> None:
    assert Text(en="{a} of {b}", zh="{b} 中的 {c}").holes() == ("a", "b", "c")


def test_filling_takes_values_literally_and_leaves_unknown_holes_to_be_seen() -> None:
    assert fill_holes("{a} and {b} and {missing}", {"a": "{b}", "b": r"\1"}) == r"{b} and \1 and {missing}"


@pytest.mark.parametrize(
    ("calls", "said"), [(1, "1 call waits"), ("1", "1 call waits"), (0, "0 calls wait"), ("1.5", "1.5 calls wait")]
)
def test_a_word_goes_with_the_number_it_stands_beside(calls: object, said: str) -> None:
    assert fill_holes("{calls} {calls|call|calls} {calls|waits|wait}", {"calls": calls}) == said


def test_words_for_one_and_for_many_are_no_holes_and_many_where_nothing_is_counted() -> None:
    text = Text(en="{calls} {calls|call|calls} of {op}", zh="{op} 的 {calls} 次调用")
    assert text.holes() == ("calls", "op")
    assert text.unfilled("en") == "{calls} calls of {op}"
    assert open_hole_names(text.en) == () and holes_with_more(text.en) == {}


def test_a_run_without_steps_is_never_said_to_have_one() -> None:
    text = Text(en="{per_step} lost, {share} of {each_step}", zh="{each_step}损失 {share}，占{the_step}")
    assert text.say("en") == "Per step lost, {share} of each step"
    assert text.say("en", of="window") == "In the captured window lost, {share} of the captured window"
    assert text.say("zh") == "每步损失 {share}，占单步"
    assert text.say("zh", of="window") == "整个窗口损失 {share}，占采集窗口"
    assert text.holes() == ("share",)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_that_stand_in_for_the_other_language_keep_to_their_own(language: Language) -> None:
    for words, said in (
        ("{op} takes half of {each_step}", "{op} takes half of each step"),
        ("{op} 占{each_step}的一半", "{op} 占每步的一半"),
    ):
        assert Text(words, words).say(language) == said


def test_a_word_for_the_step_alone_is_said_in_the_language_asked_for() -> None:
    assert [Text("{per_step}", "{per_step}").say(language) for language in LANGUAGES] == ["Per step", "每步"]
