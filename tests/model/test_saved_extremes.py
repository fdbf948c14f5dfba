# SPDX-License-Identifier: Apache-2.0
"""A saved report with numbers that no report can hold, or nested without end, is refused in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.cli.main import main

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"
NUMBER = re.compile(r'(?<="us": )-?[\d.]+')


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("extremes") / "saved.json"
    assert main(["diagnose", str(CASE), "-q", "-o", str(path)]) == 0
    return path


def changed(saved: Path, how: str) -> str:
    text = saved.read_text("utf-8")
    deep = "[" * 5000 + "]" * 5000
    return {
        "deep": text.replace('"findings": [', f'"findings": [{deep},', 1),
        "half a letter and deep": text.replace('"findings": [', f'"findings": ["\\ud800",{deep},', 1),
        "half a letter and cut": text.replace('"findings": [', '"findings": ["\\ud800",', 1)[:-20],
    }.get(how) or NUMBER.sub(how, text)


@pytest.mark.parametrize(
    "how",
    [
        "1e308", "-1e200", "1e400", "Infinity", "-Infinity", "NaN", "1" + "0" * 400, "9" * 5000,
        "deep", "half a letter and deep", "half a letter and cut",
    ],
    ids=lambda how: how[:25],
)  # fmt: skip
@pytest.mark.parametrize("command", ["render X", "check X", "compare S X", "verify X S", "explain host/free-time X"])
def test_what_no_report_can_hold_is_refused_by_every_command(
    how: str, command: str, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(changed(saved, how), "utf-8")
    words = {"X": str(path), "S": str(saved)}
    assert main([words.get(word, word) for word in command.split()]) == 3
    told = capsys.readouterr().err
    assert re.fullmatch(r"advisor: [^\n]+\n    hint: [^\n]+\n", told), told
    assert len(told) < 1000
