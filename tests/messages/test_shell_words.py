# SPDX-License-Identifier: Apache-2.0
"""Commands that are printed can be copied, whatever the paths in them are called."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.messages.catalogue import CATALOGUE
from advisor.messages.shell_words import shell_words
from advisor.model.findings import Diagnosis
from advisor.model.run import Run

_OWN = "diagnose|inspect|modules|check|explain|bot|verify|compare|stats|facts|cache|render|init|rules \\w+"
_COMMAND = re.compile(rf"(?:advisor (?:{_OWN}) |cd |msprof |gunzip |duckdb )(?:-\S+ )*\{{(\w+)\}}")


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))), min_size=1))
def test_a_shell_reads_the_words_that_were_meant(words: list[str]) -> None:
    assert shlex.split(shell_words(*words)) == words


def test_a_path_that_begins_with_a_dash_is_no_option() -> None:
    assert shell_words("advisor", Path("-x y")) == "advisor './-x y'"
    assert shell_words("advisor", "--top") == "advisor --top"


def _holes_of_commands() -> Iterator[tuple[str, str]]:
    for code, text in CATALOGUE.items():
        for words in (text.en, text.zh):
            yield from ((code, hole) for hole in _COMMAND.findall(words))


def test_every_hole_of_a_command_in_the_catalogue_is_one_that_is_filled_with_quoted_words() -> None:
    known = {("facts_written", "quoted"), ("diagnose_it", "path"), ("test_it_next", "folder")}
    assert set(_holes_of_commands()) == {*known, ("render_again", "path"), ("slips_in_rules", "folders")}


def test_commands_that_follow_a_command_quote_its_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["rules", "new", "acme/slow", "--dir", "my rules", "--lang", "en"]) == 0
    assert "advisor rules test 'my rules'" in capsys.readouterr().out
    Path("a b.json").write_text(Diagnosis(version="1", run=Run()).to_json())
    with pytest.raises(SystemExit):
        main(["a b.json"])
    assert "advisor diagnose 'a b.json'" in capsys.readouterr().err
    assert main(["diagnose", "a b.json", "--lang", "en"]) == 2
    assert "advisor render 'a b.json'" in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_skeleton_of_a_rule_is_written_in_the_language_that_is_asked_for(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "new", "acme/slow", "--dir", str(tmp_path), "--lang", language]) == 0
    assert ("下一步" in capsys.readouterr().out) is (language == "zh")
