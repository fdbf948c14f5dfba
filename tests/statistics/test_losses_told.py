# SPDX-License-Identifier: Apache-2.0
"""Tables that rest on files which are damaged or lost rows say so, in the words of a diagnosis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.cli.main import main
from advisor.pipeline import count_profile, diagnose, losses_of_tables, open_to_count
from tests.shared_captures import SharedCaptures

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture whose list of kernels was cut in the middle of a row."""
    folder = corpus.write(corpus.job("healthy"), tmp_path_factory.mktemp("cut") / "prof", modules=True)
    for path in folder.glob("**/kernel_details.csv"):
        text = path.read_text("utf-8")
        path.write_text(text[: len(text) // 3], "utf-8")
    return folder


def test_what_is_lost_and_damaged_stands_below_the_tables_in_every_format(
    cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = [word for ending in ("md", "html", "json") for word in ("-o", str(tmp_path / f"s.{ending}"))]
    assert main(["stats", str(cut), "--of", "kernels", "--lang", "en", *outputs]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Read the numbers with care: kernel_details.csv has lost rows of kernels" in said
    assert "Input that could not be read: " in said
    assert "lost rows of kernels" in (tmp_path / "s.md").read_text()
    assert "lost rows of kernels" in (tmp_path / "s.html").read_text()
    told = json.loads((tmp_path / "s.json").read_text())
    assert "kernel_details.csv" in told["unread"][0]["file"]
    assert [one for one in told["lost"] if "数据行缺失" in one["zh"] and "lost rows" in one["en"]]


def test_the_modules_say_the_same(cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [word for ending in ("md", "html") for word in ("-o", str(tmp_path / f"m.{ending}"))]
    assert main(["modules", str(cut), "--lang", "en", *outputs]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "kernel_details.csv has lost rows of kernels" in said.partition("Read the numbers with care: ")[2]
    for ending in ("md", "html"):
        assert "lost rows of kernels" in (tmp_path / f"m.{ending}").read_text()


def test_they_are_findings_of_the_diagnosis_of_the_same_capture(cut: Path) -> None:
    profile = open_to_count(cut)
    losses = losses_of_tables(profile, count_profile(profile, ["kernels"]))
    found = diagnose(open_to_count(cut), advisor.load_rules())
    assert losses.findings
    assert {one.fingerprint for one in losses.findings} <= {one.fingerprint for one in found.findings}
    assert losses.unread == found.unread


def test_a_table_that_rests_on_nothing_of_it_is_not_doubted(cut: Path) -> None:
    profile = open_to_count(cut)
    assert not losses_of_tables(profile, count_profile(profile, ["apis"])).findings


def test_of_a_whole_capture_nothing_is_said(shared: SharedCaptures, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (CASE, shared.written("healthy")):
        assert main(["stats", str(folder), "-q", "-o", "json:-"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["lost"], told["unread"]) == ([], [])
