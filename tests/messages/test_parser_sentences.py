# SPDX-License-Identifier: Apache-2.0
"""Of a file that cannot be parsed is said what, where and what to do; the words of the parser are quoted."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from advisor.messages.errors import RuleError
from advisor.messages.text import Text
from advisor.policy.pyproject import read_document
from advisor.yaml_files.slips import find_slip
from advisor.yaml_files.source import parse_document

BROKEN_YAML = (
    "rules: [a\n b: {",
    "a: {b: c\nd: e",
    "a: 'never closed",
    "a: b: c",
    "a: @b",
    "a: *nowhere",
    "a:\n\tb: 1",
    'a: "\\q"',
    "a: 1\n---\nb: 2",
    "a: 1\n b: 2\nc",
    "- a\nb: c",
    "a: \x07",
)
BROKEN_TOML = (
    "[tool.advisor\n",
    "[tool]\na = [1",
    "a 1",
    "a = 'x",
    "a = 1 b = 2",
    "a = 1\na = 2",
    "[a]\n[a]",
    "a = nothing",
    "= 1",
)


def refused_toml(text: str, tmp_path: Path) -> RuleError:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as error:
        read_document(path)
    return error.value


def assert_said_around_a_quotation(error: RuleError, kind: Text) -> str:
    """The sentence of the parser, which both languages quote between words of their own, with a hint of their own."""
    english, chinese = (error.say(language).splitlines() for language in ("en", "zh"))
    quoted = re.search(rf': {kind.en}: "(.+)"$', english[0])
    assert quoted is not None
    assert chinese[0].endswith(f": {kind.zh}：“{quoted[1]}”")
    if len(chinese) > 1:
        assert not re.search("[a-z]{3}", chinese[-1].replace("@team", ""))
    return quoted[1]


@pytest.mark.parametrize("text", BROKEN_YAML)
def test_the_parser_of_yaml_is_quoted_and_not_translated(text: str) -> None:
    with pytest.raises(RuleError) as error:
        parse_document(text, "a.yaml")
    said = assert_said_around_a_quotation(error.value, Text("not YAML", "不是合法的 YAML"))
    with pytest.raises(yaml.YAMLError) as raw:
        yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    words = re.findall(r"[\w'\[\]{},-]+", str(raw.value))
    assert all(word in words for word in re.findall(r"[\w'\[\]{},-]+", said))


@pytest.mark.parametrize("text", BROKEN_TOML)
def test_the_parser_of_toml_is_quoted_and_not_translated(text: str, tmp_path: Path) -> None:
    error = refused_toml(text, tmp_path)
    said = assert_said_around_a_quotation(error, Text("not TOML", "不是合法的 TOML"))
    with pytest.raises(tomllib.TOMLDecodeError, match=re.escape(said)):
        tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [("[tool]\na = nothing", (2, 5)), ("[tool]\na = [1", (2, 7)), ("a = 1\n[tool] x", (2, 8))],
)
def test_a_mistake_in_toml_has_its_place(text: str, place: tuple[int, int], tmp_path: Path) -> None:
    (mistake,) = refused_toml(text, tmp_path).mistakes
    assert mistake.place[1:] == place


def test_the_place_of_a_mistake_in_toml_is_read_from_attributes_where_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        error = tomllib.TOMLDecodeError("Cows are not allowed (somewhere)")
        error.msg, error.lineno, error.colno = "Cows are not allowed", 2, 3  # type: ignore[attr-defined]
        raise error

    monkeypatch.setattr(tomllib, "loads", fail)
    (mistake,) = refused_toml("[tool]\na = cow", tmp_path).mistakes
    assert mistake.place[1:] == (2, 3)
    assert mistake.what.zh == "不是合法的 TOML：“Cows are not allowed”"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 'never closed", "never_closed"),
        ("a: [1, 2", "never_closed"),
        ('a: "\\q"', "check_yaml_here"),
        ('"a": 1\nb', "check_yaml_here"),
        ("{op} when served\nb", "check_yaml_here"),
        ('"a": 1\n---\nb: 1', "one_document"),
        ("a: {b: c: d}", "quote_colon_or_part"),
        ("a: {b: c\nd: e}\nf: }", "check_yaml_here"),
    ],
)
def test_what_is_closed_is_not_said_to_be_open(text: str, code: str) -> None:
    with pytest.raises(RuleError) as error:
        parse_document(text, "a.yaml")
    (mistake,) = error.value.mistakes
    assert mistake.hint is not None and mistake.hint.code == code


@pytest.mark.parametrize(
    ("lines", "spot", "code"),
    [
        (["a: 1", "---", "b: 2"], (1, 0), "one_document"),
        (["a: see: 12"], (0, 6), "quote_the_colon"),
        (["a: [@b]"], (0, 4), "quote_the_sign"),
        (["a: *"], (0, 4), "quote_the_sign"),
    ],
)
def test_a_slip_is_known_by_what_stands_there_whatever_the_parser_calls_it(
    lines: list[str], spot: tuple[int, int], code: str
) -> None:
    slip = find_slip(spot, lines)
    assert slip is not None and slip.hint.code == code
