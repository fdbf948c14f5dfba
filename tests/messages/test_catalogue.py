# SPDX-License-Identifier: Apache-2.0
"""The catalogue of messages holds every code that is raised, with the same holes in both languages, and no other."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import advisor
from advisor.messages.catalogue import CATALOGUE, PARTS
from advisor.messages.text import HOLE

PACKAGE = Path(advisor.__file__).parent
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent.name != "catalogue"]
CHINESE = re.compile("[\u4e00-\u9fff]")


DAMAGE = ("Odd", "NoEvents", "Unreadable", "refuse_file", "damaged")
"""Calls that say what is wrong with a file."""


@cache
def all_calls() -> dict[str, list[tuple[Path, ast.Call]]]:
    """Every call in the package, by name."""
    found: dict[str, list[tuple[Path, ast.Call]]] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                found.setdefault(getattr(node.func, "attr", getattr(node.func, "id", "")), []).append((path, node))
    return found


def calls(name: str) -> list[tuple[Path, ast.Call]]:
    """Every call of this name in the package."""
    return all_calls().get(name, [])


def test_a_message_has_the_same_holes_in_both_languages() -> None:
    other = [code for code, text in CATALOGUE.items() if sorted(HOLE.findall(text.en)) != sorted(HOLE.findall(text.zh))]
    assert other == []


def test_the_english_of_a_message_is_english() -> None:
    assert [code for code, text in CATALOGUE.items() if CHINESE.search(text.en)] == []


def test_the_chinese_of_a_message_is_chinese() -> None:
    left = []
    for code, text in CATALOGUE.items():
        words = re.sub(r"`[^`]*`|\{\w+\}", "", text.en)
        if not CHINESE.search(text.zh) and not text.zh.startswith("advisor ") and re.search("[a-z]{2}", words):
            left.append(code)
    assert left == []


def test_a_code_means_one_message() -> None:
    assert len(CATALOGUE) == sum(map(len, PARTS))


def test_a_message_is_raised_with_the_values_its_holes_need() -> None:
    wrong = []
    for path, call in (*calls("Message"), *calls("_message"), *calls("_unclear")):
        code, given = call.args[0], {keyword.arg for keyword in call.keywords}
        if isinstance(code, ast.Constant) and code.value not in CATALOGUE:
            wrong.append(f"{path.name}:{call.lineno}: no message `{code.value}`")
        elif isinstance(code, ast.Constant) and not (
            None in given or given == set(HOLE.findall(CATALOGUE[code.value].en))
        ):
            wrong.append(f"{path.name}:{call.lineno}: {code.value} is given {given}")
    assert wrong == []


def test_every_message_of_the_catalogue_is_raised_somewhere() -> None:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in MODULES)
    written = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert sorted(CATALOGUE.keys() - written) == [], "nothing says these messages: drop them, or say them"


@pytest.mark.parametrize("name", ["Mistake", "ExprError", "Unclear", "UsageError", "ForgeError", "InputError", *DAMAGE])
def test_an_error_is_raised_with_a_message_and_not_with_a_sentence(name: str) -> None:
    wrong = [
        f"{path.name}:{call.lineno}"
        for path, call in calls(name)
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(given, ast.JoinedStr)
        or (isinstance(given, ast.Constant) and isinstance(given.value, str) and " " in given.value)
    ]
    assert wrong == []
