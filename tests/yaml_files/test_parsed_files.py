# SPDX-License-Identifier: Apache-2.0
"""What is written down of the shipped files of rules says what the files say, and nothing where a file was edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.machine.shipped_files import shipped_folder
from advisor.rules.catalog import rule_files
from advisor.yaml_files import parsed_files, source
from advisor.yaml_files.parsed_files import document_of_text, parsed_lines
from advisor.yaml_files.source import parse_document

RULES = shipped_folder("rules")
TEXT = "id: host/idle\nwhen: share > 0.5\nlist: [1, 1.0, '1', true, ~, 设备]\ntests:\n- name: x\n"


@pytest.fixture(scope="module")
def shipped() -> list[tuple[Path, str]]:
    return [(path, path.read_text("utf-8")) for path, _ in rule_files([RULES])]


def parses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, file: str, *, tests: bool = True) -> None:
        raise AssertionError(f"{file} is parsed")

    monkeypatch.setattr(source, "parse_document", refuse)


def test_the_shipped_rules_are_read_without_being_parsed(
    shipped: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    parses_nothing(monkeypatch)
    assert all(document_of_text(text.encode(), "x", tests=False).data["id"] for _, text in shipped)


def test_a_document_that_was_written_down_says_what_the_file_says(shipped: list[tuple[Path, str]]) -> None:
    for path, text in shipped:
        written, parsed = (
            document_of_text(text.encode(), path.name, tests=False),
            parse_document(text, path.name, tests=False),
        )
        assert repr(written.data) == repr(parsed.data)  # 1 is not 1.0, and keys keep their order
        assert written.lines == parsed.lines
        assert written.place(("when",)) == parsed.place(("when",))


def test_an_edited_file_is_parsed_as_ever(shipped: list[tuple[Path, str]]) -> None:
    _, text = shipped[0]
    edited = text.replace("since:", "since: changed  #", 1)
    assert document_of_text(edited.encode(), "x", tests=False).data["since"] == "changed"


def test_tests_are_there_where_they_are_asked_for(shipped: list[tuple[Path, str]]) -> None:
    _, text = shipped[0]
    assert "tests" not in document_of_text(text.encode(), "x", tests=False).data
    assert document_of_text(text.encode(), "x").data["tests"]


@pytest.mark.parametrize("tests", [True, False])
def test_what_is_written_down_is_read_as_it_was(tests: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "host/idle.yaml"
    path.parent.mkdir()
    path.write_text(TEXT, "utf-8")
    (line,) = parsed_lines([path], tmp_path, tests=tests)
    (tmp_path / parsed_files.PARSED).write_text(line + "\n", "utf-8")
    expected = parse_document(TEXT, "x", tests=tests)
    monkeypatch.setattr(parsed_files, "shipped_folder", lambda _: tmp_path)
    parses_nothing(monkeypatch)
    assert repr(document_of_text(TEXT.encode(), "x", tests=tests).data) == repr(expected.data)


def test_without_the_file_everything_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_files, "shipped_folder", lambda _: tmp_path)
    assert document_of_text(TEXT.encode(), "x").data == parse_document(TEXT, "x").data
