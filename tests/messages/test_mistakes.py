# SPDX-License-Identifier: Apache-2.0
"""Every mistake in a file people write is told in the language of its reader, with what they wrote as they wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.expr.compile import Scope, compile_expr
from advisor.expr.mismatches import say_mismatch
from advisor.facts.derived import Overlap
from advisor.facts.table import read_table, split_cells
from advisor.messages.errors import ExprError, FilePlace, Mistake, RuleError, Unclear
from advisor.messages.message import Message
from advisor.policy.settings import Settings
from advisor.rules.cases import run_of
from advisor.rules.catalog import read_rule
from advisor.units import Type
from advisor.yaml_files.amounts import SHARE, TIME, parse_amount

BAD = Path(__file__).parents[1] / "rules" / "bad"
HOSTILE = ("`", "a`b", "{name}", "{{name}}", "{0}", '"', "'", "\n", "\\1", "%s", "：", "{each_step}")


def has_chinese(text: str) -> bool:
    return any("\u4e00" <= sign <= "\u9fff" for sign in text)


def told(mistake: Mistake) -> list[str]:
    """What is said in Chinese, the quoted source left out."""
    lines = mistake.say("zh").removeprefix(str(mistake.place)).splitlines()
    return [lines[0], *(line for line in lines[1:] if line.startswith("    提示："))]


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_mistakes_of_bad_rules_are_told_in_chinese(path: Path) -> None:
    found = read_rule(path, tests=True)
    assert isinstance(found, list)
    assert [line for mistake in found for line in told(mistake) if not has_chinese(line)] == []


@pytest.mark.parametrize("words", ["7 parsecs", "1e9%", "-3", "5", "2.5", "90 mib", "", "1_000ms"])
def test_every_amount_that_is_not_understood_has_chinese_words(words: str) -> None:
    with pytest.raises(Unclear) as unclear:
        parse_amount(words, SHARE if "%" in words else TIME)
    assert all(map(has_chinese, unclear.value.say("zh").splitlines()))


def test_what_was_written_stays_in_its_place() -> None:
    unlike = say_mismatch("cannot_compare", Type("number", "us"), Type("number", "B"))
    meant = Message("did_you_mean", name="`c`")
    one = Mistake(FilePlace("a.yaml", 3, 5), Message("part", part="when", what=unlike), "a > b", 0, meant)
    assert one.say("zh") == "a.yaml:3:5: when：数值[us]与数值[B]不能比较\n    a > b\n    ^\n    提示：是不是 `c`？"
    assert one.say("en") == str(one)
    assert RuleError([one, one]).say("zh") == f"{one.say('zh')}\n{one.say('zh')}"


@pytest.mark.parametrize("command", [["rules", "lint"], ["rules", "list", "--rules"]])
def test_a_command_tells_mistakes_in_the_language_asked_for(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for language, words in (("zh", "未知的函数 `maen`"), ("en", "unknown function `maen`")):
        assert main([*command, str(BAD / "folded-expression.yaml"), "--lang", language]) == 2
        said = capsys.readouterr()
        assert words in said.out + said.err


@pytest.mark.parametrize("line", ['a "b', "a 'b", "a b\\"])
def test_cells_whose_quotes_do_not_match_are_told_in_one_language(line: str) -> None:
    with pytest.raises(Unclear) as wrong:
        split_cells(line)
    assert wrong.value.what.zh == f"引号没有闭合，或反斜杠之后没有字符：{line}"
    assert wrong.value.what.en == f"a quote is not closed, or nothing follows a backslash: {line}"


def test_what_begins_the_mistake_of_an_expression_is_said_in_one_language() -> None:
    with pytest.raises(ExprError) as wrong:
        compile_expr("x == 'a'", Scope({"x": Type("number")}))
    assert wrong.value.say("zh").startswith("表达式：数值与文本不能比较\n    x == 'a'\n    ^")
    assert wrong.value.say("en").startswith("expression: cannot compare number with text\n    x == 'a'\n    ^")


names = st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=20)


@given(names)
@example("a`b")
@example("{given}")
def test_a_name_comes_through_literally_in_both_languages(name: str) -> None:
    one = Message("part", part=name, what=Message("is_one_of", name=name, allowed=name, given=name))
    assert one.en == f"{name}: `{name}` is one of {name}, not `{name}`"
    assert one.zh == f"{name}：`{name}` 只能是 {name} 之一，不能是 `{name}`"


@given(st.sampled_from(HOSTILE[:-5]) | st.text("`{}'\"ab\n", min_size=1, max_size=9))
def test_keys_of_settings_come_through_literally(name: str) -> None:
    from json import dumps
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder, "advisor.yaml")
        path.write_text(f"{dumps(name)}: 1\n", encoding="utf-8")
        with pytest.raises(RuleError) as wrong:
            Settings.read(path)
    (mistake,) = wrong.value.mistakes
    assert (mistake.what.en, mistake.what.zh) == (f"unknown key `{name}`", f"未知的键 `{name}`")


@given(st.text("`{}ab", min_size=1, max_size=9))
def test_texts_of_cases_come_through_literally(cell: str) -> None:
    with pytest.raises(Unclear) as wrong:
        read_table(Overlap, f"rank free_us\n0 {cell}")
    assert f"`{cell}`" in wrong.value.what.en
    assert f"不能是 `{cell}`" in wrong.value.what.zh
    with pytest.raises(Unclear) as wrong:
        run_of(cell)
    assert f"`{cell}` 不是" in wrong.value.what.zh


@given(st.text("`{}", max_size=5))
def test_what_is_wrong_with_an_expression_is_told_in_chinese(text: str) -> None:
    with pytest.raises(ExprError) as wrong:
        compile_expr(f"x == {text!r}", Scope({"x": Type("number")}))
    assert has_chinese(wrong.value.say("zh"))
    assert wrong.value.what.zh == "数值与文本不能比较"
