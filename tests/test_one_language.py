# SPDX-License-Identifier: Apache-2.0
"""One language throughout: whatever can be said to a user is said in theirs."""

from __future__ import annotations

import ast
import errno
import os
import pickle
import re
from pathlib import Path

import pytest

import advisor
from advisor.cli.main import main
from advisor.messages.errors import InputError, UsageError, WorkerLost, reason_of_error
from advisor.messages.message import Message
from advisor.messages.text import Text

PACKAGE = Path(advisor.__file__).parent
CHINESE = re.compile("[\u4e00-\u9fff]")


def literal(node: ast.AST) -> str:
    """What a string says, with `7` where a value would stand; empty for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "7" for part in node.values)
    return ""


def in_either_language(node: ast.AST) -> bool:
    """Whether this is, or is put together from, the words of a text or of a message in one language."""
    return any(isinstance(part, ast.Attribute) and part.attr in ("en", "zh") for part in ast.walk(node))


TAKEN_APART = ("removeprefix", "removesuffix", "startswith", "endswith", "partition", "rpartition", "split", "replace")


def test_no_sentence_is_recognised_by_a_pattern_over_another() -> None:
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
                looks = of_re and any(map(in_either_language, node.args))
                cuts = node.func.attr in TAKEN_APART and in_either_language(node.func.value)
                if looks or cuts:
                    wrong.append(f"{path.name}:{node.lineno}")
    assert wrong == []


@pytest.mark.parametrize(
    "said", ["Permission denied", "Expecting value: line 1 column 1 (char 0)", 'near "FOO": syntax error', "{why} \\1"]
)
def test_what_the_system_and_parsers_say_is_quoted_and_not_translated(said: str) -> None:
    for code in ("file_unreadable", "no_complete_json", "cannot_be_opened"):
        message = Message(code, why=reason_of_error(ValueError(said)))
        assert message.zh.endswith(f"（`{said}`）")
        assert message.en.endswith(f"({said})")
    assert reason_of_error(PermissionError(13, said)).zh == "没有读写权限"
    assert reason_of_error(OSError(said)).zh == f"`{said.lower()}`"


@pytest.mark.parametrize(
    ("number", "en", "zh"),
    [
        (errno.ENOSPC, "no space left on device", "磁盘空间不足"),
        (errno.EDQUOT, "disk quota exceeded", "超出磁盘配额"),
        (errno.EROFS, "read-only file system", "文件系统为只读"),
        (errno.ENOENT, "no such file or directory", "文件或目录不存在"),
        (errno.EIO, "input/output error", "读写出错"),
        (errno.ENAMETOOLONG, "file name too long", "文件名过长"),
        (errno.EISDIR, "is a directory", "是目录"),
        (errno.EBADF, "bad file descriptor", "未打开"),
    ],
)
def test_what_the_system_often_says_is_said_in_the_language_of_the_reader(number: int, en: str, zh: str) -> None:
    for said in (os.strerror(number), f"Error writing bytes to file. Detail: [errno {number}] {os.strerror(number)}"):
        reason = reason_of_error(OSError(number, said))
        assert (reason.en, reason.zh) == (en, zh)


def test_a_reason_is_one_short_line_that_ends_no_quotation() -> None:
    assert reason_of_error(ValueError("odd `b`\nand more")).zh == "`odd 'b'`"
    assert len(reason_of_error(ValueError("x" * 9999)).en) == 120
    assert reason_of_error(ValueError("")) == Message("unknown_reason")
    assert reason_of_error(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd")) == Message("no_utf8")


def test_every_message_for_users_has_chinese_that_is_chinese() -> None:
    wrong = []
    for path in sorted(set(PACKAGE.rglob("*.py")) - set(PACKAGE.glob("messages/catalogue/*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Text" and len(node.args) > 1:
                english, chinese = map(literal, node.args[:2])
                if CHINESE.search(english) or (chinese and re.search("[a-z]", english) and not CHINESE.search(chinese)):
                    wrong.append(f"{path.name}:{node.lineno}")
    assert wrong == []


TOP = PACKAGE.parent
ONE_WORD = {"门限": "阈值", "门槛": "阈值", "临界值": "阈值", "最多可省": "至多可省", "最多能省": "至多可省"}
"""What practitioners may call it as well, and the word that is used throughout."""


def test_chinese_calls_one_thing_by_one_word() -> None:
    written = [TOP / "README.md", TOP / "CONTRIBUTING.md"]
    for folder, endings in (("advisor", "*.py *.yaml"), ("rules", "*.yaml"), ("guides", "*.yaml"), ("docs", "*.md")):
        written += [path for ending in endings.split() for path in (TOP / folder).rglob(ending)]
    found = [
        (path.relative_to(TOP).as_posix(), other, word)
        for path in written
        for other, word in ONE_WORD.items()
        if other in path.read_text(encoding="utf-8")
    ]
    assert found == []


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
