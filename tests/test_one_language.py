# SPDX-License-Identifier: Apache-2.0
"""One language throughout: whatever can be said to a user is said in theirs."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import advisor
from advisor.cli.main import main
from advisor.messages import damage
from advisor.messages.errors import InputError, UsageError, WorkerLost
from advisor.messages.text import Text

PACKAGE = Path(advisor.__file__).parent
CHINESE = re.compile("[\u4e00-\u9fff]")

SPOKEN = {"add": 2, "refuse_file": 2, "_unreadable_file": 2, "Odd": 0, "NoEvents": 0, "damaged": 0, "Unreadable": 1}
"""Calls that say what is wrong with a file, and which argument says it."""


def literal(node: ast.AST) -> str:
    """What a string says, with `7` where a value would stand; empty for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "7" for part in node.values)
    return ""


def damage_said() -> Iterator[tuple[str, str]]:
    """Every sentence about damage that stands in the sources, and its module."""
    for path in sorted((PACKAGE / "sources").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = _said(node)
            if said and not said.startswith("7"):
                yield path.name, said


def _said(node: ast.AST) -> str:
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "what" for t in node.targets):
        return literal(node.value)
    if not isinstance(node, ast.Call):
        return ""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    place = SPOKEN.get(name, 99)
    return literal(node.args[place]) if place < len(node.args) else ""


def test_every_damage_that_is_noted_has_its_chinese() -> None:
    said = list(damage_said())
    assert len(said) > 20
    assert [one for one in said if damage.translate_sentence(one[1]) is None] == []


@pytest.mark.parametrize(
    "known", [*damage.SENTENCES, *damage.PLACES, *damage.KINDS.values()], ids=lambda known: known.en
)
def test_what_is_known_of_damage_keeps_its_holes(known: Text) -> None:
    holes = re.compile(r"\{\w+\}")
    assert sorted(holes.findall(known.en)) == sorted(holes.findall(known.zh))
    assert CHINESE.search(known.zh)


def test_a_reason_within_damage_is_said_too() -> None:
    assert damage.translate_damage("cannot be read (bytes that are no UTF-8)").zh == "无法读取（含有非 UTF-8 字节）"
    assert damage.translate_damage("`Start Time(us)` holds no usable number").zh == "`Start Time(us)` 不是可用的数值"
    place = damage.translate_place("TASK, row 12")
    assert place is not None
    assert place.zh == "TASK 第 12 行"


def test_what_nobody_foresaw_is_quoted_as_words_of_another() -> None:
    assert damage.translate_damage("odd <b>") == Text("other damage: `odd <b>`", "其他问题：`odd <b>`")
    assert damage.translate_damage("cannot be read (odd `b`)").zh == "无法读取（`odd 'b'`）"
    assert damage.translate_error(OSError("odd")) == Text("odd", "`odd`")
    assert damage.translate_place("step 1 p2p") is None


@pytest.mark.parametrize(
    "said", ["permission denied", "Expecting value: line 1 column 1 (char 0)", 'near "FOO": syntax error', "{why} \\1"]
)
def test_what_the_system_and_parsers_say_is_quoted_and_not_translated(said: str) -> None:
    for sentence in ("cannot be read ({why})", "is no complete JSON ({why})", "cannot be opened ({why})"):
        assert damage.translate_damage(sentence.replace("{why}", said)).zh.endswith(f"（`{said}`）")
    assert damage.translate_error(ValueError(said)) == Text(said, f"`{said}`")


def test_every_message_for_users_has_chinese_that_is_chinese() -> None:
    wrong = []
    for path in sorted(set(PACKAGE.rglob("*.py")) - set(PACKAGE.glob("messages/catalogue/*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Text" and len(node.args) > 1:
                english, chinese = map(literal, node.args[:2])
                if CHINESE.search(english) or (chinese and re.search("[a-z]", english) and not CHINESE.search(chinese)):
                    wrong.append(f"{path.name}:{node.lineno}")
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["diagnose", "{missing}"], 3),
        (["diagnose", "{missing}", "-o", "report.pdf"], 2),
        (["diagnose", "{missing}", "--config", "{missing}"], 2),
        (["render", "{missing}"], 3),
        (["rules", "show", "host/nothing-like-this"], 2),
    ],
)
def test_a_refusal_speaks_the_language_asked_for(
    words: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.format(missing=tmp_path / "missing") for word in words]
    assert main([*given, "--lang", "zh"]) == code
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("advisor: ")
    assert said[1].startswith("    提示：")
    assert all(CHINESE.search(line) for line in said)
    assert main([*given, "--lang", "en"]) == code
    said = capsys.readouterr().err.splitlines()
    assert said[1].startswith("    hint: ")
    assert not any(CHINESE.search(line) for line in said)


def test_the_locale_decides_where_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert main(["diagnose", "missing"]) == 3
    assert "不存在" in capsys.readouterr().err
    Path("advisor.yaml").write_text("language: en\n")
    assert main(["diagnose", "missing"]) == 3
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [InputError(Text("a", "甲"), Text("b", "乙")), UsageError(Text("a", "甲")), WorkerLost()]
)
def test_an_error_crosses_processes_unchanged(error: InputError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.say("zh") == error.say("zh")
