# SPDX-License-Identifier: Apache-2.0
"""Every mistake in a file people write can be told in Chinese, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import advisor
from advisor.cli.main import main
from advisor.messages.errors import Mistake, Place, RuleError
from advisor.messages.mistakes import HINTS, SENTENCES, chinese, say, tell
from advisor.policy.amounts import SHARE, TIME, Unclear, amount
from advisor.rules.schema import _NEEDS

ROOT = Path(advisor.__file__).parent
TELLING = {"wrong", "fail", "mistake", "_mistake", "ExprError", "Mistake", "at_file"}
BAD = Path(__file__).parents[1] / "rules" / "bad"


def template(node: ast.expr) -> str | None:
    """A text as it would be told, with `x` for what is not known before."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None


def told(path: Path) -> Iterator[str]:
    """What a module tells: the first text among the arguments of a call, or what `what` was set to."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "what":
            yield from filter(None, [template(node.value)])
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = [text for text in map(template, node.args) if text]
        if name in TELLING and texts and " " in texts[0]:
            yield texts[0]


COMPOSED = {"x: x", "`x` is x", "`x` x"}
"""What is put together from parts that are looked at below, or in the files of bad rules."""
FILES = [*sorted((ROOT / "rules").glob("*.py")), *sorted((ROOT / "expr").glob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_mistake_that_is_told_has_chinese_words(path: Path) -> None:
    assert [text for text in told(path) if text not in COMPOSED and not has_chinese(in_chinese(text))] == []


def in_chinese(text: str) -> str:
    """The words of a sentence or a hint."""
    return chinese(text) or tell(Mistake(Place("f"), "x", hint=text), "zh").replace("提示", "")


@pytest.mark.parametrize("need", sorted(set(_NEEDS.values())))
def test_every_shape_a_value_must_have_has_chinese_words(need: str) -> None:
    assert has_chinese(chinese(f"`since` {need}"))


@pytest.mark.parametrize("words", ["7 parsecs", "1e9%", "-3", "5", "2.5", "90 mib", ""])
def test_every_amount_that_is_not_understood_has_chinese_words(words: str) -> None:
    with pytest.raises(Unclear) as unclear:
        amount(words, SHARE if "%" in words else TIME)
    assert has_chinese(chinese(str(unclear.value))) and has_chinese(in_chinese(unclear.value.hint))


def has_chinese(text: str | None) -> bool:
    return any("\u4e00" <= sign <= "\u9fff" for sign in text or "")


@pytest.mark.parametrize("path", sorted(BAD.glob("*.txt")), ids=lambda path: path.stem)
def test_the_mistakes_of_bad_rules_are_told_in_chinese(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(path.stem):
            assert has_chinese(chinese(line.split(": ", 1)[1])), line
        if line.strip().startswith("hint: "):
            hint = Mistake(Place("f"), "x", hint=line.strip().removeprefix("hint: "))
            assert has_chinese(tell(hint, "zh")), line


def test_what_was_written_stays_in_its_place() -> None:
    one = Mistake(
        Place("a.yaml", 3, 5), "when: cannot compare number[us] with number[B]", "a > b", 0, "did you mean `c`?"
    )
    assert (
        tell(one, "zh")
        == "a.yaml:3:5: when：number[us] 与 number[B] 不能比较\n    a > b\n    ^\n    提示：是不是 `c`？"
    )
    assert tell(one, "en") == str(one)
    assert say(RuleError([one, one]), "en") == str(RuleError([one, one]))


@pytest.mark.parametrize("command", [["rules", "lint"], ["rules", "list", "--rules"]])
def test_a_command_tells_mistakes_in_the_language_asked_for(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for language, words in (("zh", "未知的函数 `maen`"), ("en", "unknown function `maen`")):
        assert main([*command, str(BAD / "folded-expression.yaml"), "--lang", language]) == 2
        said = capsys.readouterr()
        assert words in said.out + said.err


def test_a_mistake_nobody_foresaw_is_told_as_it_is() -> None:
    assert tell(Mistake(Place("a"), "something odd"), "zh") == "a: something odd"


@pytest.mark.parametrize("known", [SENTENCES, HINTS])
def test_no_sentence_is_hidden_by_one_before_it(known: tuple[object, ...]) -> None:
    english = [one.en for one in known]  # type: ignore[attr-defined]
    assert len(english) == len(set(english))
