# SPDX-License-Identifier: Apache-2.0
"""One language throughout: whatever can be said to a user is said in theirs."""

from __future__ import annotations

import ast
import contextlib
import ctypes.util
import errno
import os
import pickle
import re
import sqlite3
import sys
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

SPOKEN = {"add": 2, "refuse": 2, "_refused": 2, "Odd": 0, "NoEvents": 0, "damaged": 0, "Unreadable": 1}
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
    assert [one for one in said if damage.sentence(one[1]) is None] == []


@pytest.mark.parametrize(
    "known", [*damage.SENTENCES, *damage.PLACES, *damage.KINDS.values()], ids=lambda known: known.en
)
def test_what_is_known_of_damage_keeps_its_holes(known: Text) -> None:
    holes = re.compile(r"\{\w+\}")
    assert sorted(holes.findall(known.en)) == sorted(holes.findall(known.zh))
    assert CHINESE.search(known.zh)


def test_a_reason_within_damage_is_said_too() -> None:
    assert damage.told("cannot be read (permission denied)").zh == "无法读取（没有权限）"
    assert damage.told("`Start Time(us)` holds no usable number").zh == "`Start Time(us)` 不是可用的数值"
    place = damage.place("TASK, row 12")
    assert place is not None
    assert place.zh == "TASK 第 12 行"


def test_what_nobody_foresaw_is_quoted_as_words_of_another() -> None:
    assert damage.told("odd <b>") == Text("other damage: `odd <b>`", "其他问题：`odd <b>`")
    assert damage.told("cannot be read (odd `b`)").zh == "无法读取（其他原因：`odd 'b'`）"
    assert damage.because(OSError("odd")) == Text("odd", "其他原因：`odd`")
    assert damage.place("step 1 p2p") is None


@pytest.mark.parametrize("known", damage.REASONS, ids=lambda known: known.en)
def test_every_reason_is_chinese_and_says_nothing_that_is_not_in_the_english(known: Text) -> None:
    holes = re.compile(r"\{(\w+)\}")
    assert set(holes.findall(known.zh)) <= set(holes.findall(known.en))
    assert CHINESE.search(known.zh)


READING = (
    "EPERM ENOENT EINTR EIO ENXIO EBADF EAGAIN ENOMEM EACCES EBUSY ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ETXTBSY "
    "EFBIG ENOSPC ESPIPE EROFS ENAMETOOLONG ENOLCK ENOSYS ELOOP ENODATA ENOLINK EPROTO EBADMSG EOVERFLOW EOPNOTSUPP "
    "ENETDOWN ENETUNREACH ECONNRESET ENOBUFS ENOTCONN ESHUTDOWN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH ESTALE "
    "EUCLEAN EREMOTEIO EDQUOT ENOMEDIUM ECANCELED ENOKEY EKEYEXPIRED"
)
"""What looking at, opening, copying and reading a file can give, on discs and over networks."""


@pytest.mark.skipif(sys.platform != "linux", reason="the words differ by system")
@pytest.mark.parametrize("name", READING.split())
def test_what_the_system_says_when_reading_fails_is_chinese(name: str) -> None:
    number = getattr(errno, name)
    assert "其他" not in damage.because(OSError(number, os.strerror(number))).zh


BROKEN_JSON = (
    *("", "{", "[1", '{"a"', '{"a":', '{"a":1', "{a}", "[1,]", '{"a":1,}', '"abc', r'"\x"', r'"\u12"', '"\n"', "nul"),
    *("{}x", "{1:2}", "[-", "[1 2]", "1" * 5000, "[" * 100_000),
)


@pytest.mark.parametrize("text", BROKEN_JSON, ids=lambda text: text[:8])
def test_what_is_said_of_broken_json_is_chinese(text: str) -> None:
    from advisor.sources.files import jsonfile

    with pytest.raises(ValueError) as wrong:
        jsonfile.parsed(text)
    said = damage.told(f"is no complete JSON ({damage.reason(wrong.value)})").zh
    assert "其他" not in said
    assert not re.search("[A-Za-z]{4,}", said.replace("JSON", "").replace("Unicode", ""))


def sqlite_texts() -> list[str]:
    """What SQLite calls its error codes; none where its library is not to be found."""
    name = ctypes.util.find_library("sqlite3")
    if name is None:
        return []
    text = ctypes.CDLL(name).sqlite3_errstr
    text.restype = ctypes.c_char_p
    return sorted({text(code).decode() for code in (*range(27), 516)})


@pytest.mark.parametrize("said", sqlite_texts())
def test_what_sqlite_calls_its_errors_is_chinese(said: str) -> None:
    assert "其他" not in damage.told(f"cannot be read ({said})").zh


SCHEMAS = (
    "CREATE TABLE t(a INTEGER, b AS (no_such_function(a)))",
    "CREATE TABLE t(a INTEGER, b AS (b + 1))",
    "CREATE TABLE t(a INTEGER, a INTEGER)",
    "CREATE TABLE t(a INTEGER, b AS (abs(-9223372036854775808)))",
    "CREATE TABLE t(a INTEGER, b AS (json_extract('{', '$')))",
    "CREATE TABLE t(a INTEGER, b AS (zeroblob(1000000000)))",
    "CREATE TABLE t(a INTEGER COLLATE odd, b INTEGER)",
    "CREATE TABLE t(a INTEGER, b INTEGER",
    "CREATE TABLE",
    "CREATE FOO t",
    "CREATE VIRTUAL TABLE t USING odd(a)",
    "CREATE VIEW t AS SELECT * FROM t",
    "CREATE VIEW t AS SELECT a, b FROM missing",
    "CREATE TABLE t(a INTEGER) #",
    "\x00",
)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_sqlite_says_of_an_odd_schema_is_chinese(schema: str, tmp_path: Path) -> None:
    from advisor.messages.errors import FactMissing
    from advisor.sources.files.damage_notes import Notes, Unreadable
    from advisor.sources.files.database import Database, open_readonly

    path, notes = tmp_path / "a.db", Notes()
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t(a INTEGER, b INTEGER)")
        made.execute("INSERT INTO t(a) VALUES (1)")
        made.execute("PRAGMA writable_schema = 1")
        kind = "view" if "VIEW" in schema else "table"
        made.execute("UPDATE sqlite_master SET sql = ?, type = ?", (schema, kind))
        made.commit()
    with contextlib.suppress(Unreadable, FactMissing):
        database = Database(open_readonly(path, notes), path.name, notes)
        database.integers("t", {"a": ["a"], "b": ["b"]})
        database.rows("SELECT a, b FROM t")
    said = [note.what for note in notes.all()]
    assert [one for one in said if "其他" in damage.told(one).zh] == []


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n1\n",
        b'a,b\n"1,2\n3,4\n',
        b"a,b\n1," + b"2" * (40 << 20) + b"\n",
        b'a,"' + b"b" * 200_000,
        b'a"b,c\r\rd',
    ],
)
def test_what_is_said_of_odd_text_tables_is_chinese(content: bytes, tmp_path: Path) -> None:
    from advisor.facts.base import Column
    from advisor.facts.observed import OperatorTotal
    from advisor.sources.files import csvfile
    from advisor.sources.files.damage_notes import Notes, Unreadable

    path, notes = tmp_path / "a.csv", Notes()
    path.write_bytes(content)
    columns: dict[str, Column] = {"a": OperatorTotal.columns()["op_type"]}
    with contextlib.suppress(Unreadable):
        csvfile.read(path, columns, {"a": ["a"]}, notes)
    assert len(notes)
    said = [damage.told(note.what).zh for note in notes.all()]
    assert [one for one in said if "其他" in one] == []


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
