# SPDX-License-Identifier: Apache-2.0
"""Half of a set of reports is never left without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.cli.main import main

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("several") / "saved.json"
    assert main(["diagnose", str(CASE), "-q", "-o", str(path)]) == 0
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["render", "SAVED"],
        ["check", "SAVED"],
        ["compare", "SAVED", "SAVED"],
        ["verify", "SAVED", "SAVED"],
        ["explain", "host/free-time", "SAVED"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_when_one_of_several_outputs_fails_those_that_were_written_are_listed(
    command: list[str], language: str, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.replace("SAVED", str(saved)) for word in command]
    first, third = tmp_path / "a.md", tmp_path / "c.md"
    outputs = ["-o", str(first), "-o", "json:/dev/full", "-o", str(third)]
    assert main([*words, *outputs, "--lang", language]) == 2
    told = capsys.readouterr().err
    assert "/dev/full" in told
    said = {"en": "written before that: ", "zh": "此前已写入："}[language]
    assert f"{said}{first}" in told
    assert str(third) not in told
    assert first.exists()
    assert not third.exists()


def test_the_tables_of_one_output_that_were_written_are_listed_too(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from advisor.model.saved import saved_comparison
    from advisor.report.comparison.plain_tables import comparison_csv_files

    assert main(["compare", str(saved), str(saved), "-q", "-o", f"json:{tmp_path / 'c.json'}"]) == 0
    made = [path for path, _ in comparison_csv_files(saved_comparison(tmp_path / "c.json"), tmp_path / "t.csv", "en")]
    made[1].mkdir()
    assert main(["compare", str(saved), str(saved), "-q", "-o", str(tmp_path / "t.csv")]) == 2
    assert f"written before that: {made[0]}\n" in capsys.readouterr().err


def test_a_single_output_that_fails_lists_nothing(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(saved), "-o", "json:/dev/full"]) == 2
    assert "written before" not in capsys.readouterr().err
