# SPDX-License-Identifier: Apache-2.0
"""Help speaks the reader's language: all of it, in lines that fit."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest
from rich.cells import cell_len

from advisor.cli.main import main
from advisor.cli.top_parser import build_parser
from advisor.messages.text import LANGUAGES, Language

CHINESE = re.compile("[\u4e00-\u9fff]")


def parsers(one: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield one
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from parsers(below)


def texts(one: argparse.ArgumentParser) -> Iterator[str]:
    yield from (said for said in (one.description, one.epilog) if said)
    for group in one._action_groups:
        yield from (said for said in (group.title, group.description) if said)
    for action in one._actions:
        yield from [action.help] if action.help else []
        if isinstance(action, argparse._SubParsersAction):
            yield from (below.help for below in action._choices_actions if below.help)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_help_says_is_in_one_language(language: Language) -> None:
    said = [text for one in parsers(build_parser(language=language)) for text in texts(one)]
    assert len(said) > 100
    assert [text for text in said if bool(CHINESE.search(text)) != (language == "zh")] == []


def test_every_argument_says_what_it_is_for() -> None:
    found = [(one.prog, action.dest) for one in parsers(build_parser()) for action in one._actions
             if not action.help and not isinstance(action, argparse._SubParsersAction)]  # fmt: skip
    assert found == []


@pytest.mark.parametrize("columns", [60, 100])
def test_help_in_chinese_is_no_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for one in parsers(build_parser(language="zh")):
        lines = one.format_help().splitlines()
        explained = [line for line in lines if CHINESE.search(line)]
        assert explained
        assert [line for line in explained if cell_len(line) > columns] == []


@pytest.mark.parametrize(
    ("words", "locale"), [(["--help", "--lang", "zh"], "C.UTF-8"), (["diagnose", "--help"], "zh_CN.UTF-8")]
)
def test_the_language_is_that_asked_for_or_that_of_the_locale(
    words: list[str], locale: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("用法： advisor")


def test_a_slip_shows_how_a_command_is_used_in_the_same_language(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["diagnose", "--lang", "zh", "--nonsense", "x"])
    said = capsys.readouterr().err
    assert said.startswith("用法： advisor diagnose")
    assert "usage" not in said
