# SPDX-License-Identifier: Apache-2.0
"""Choosing formats on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.messages.errors import UsageError
from advisor.report.writers import check_output, check_outputs
from tests.report.formats.formats_samples import FORMATS

CASE = Path(__file__).parents[3] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The diagnosis of the checked-in capture, as JSON."""
    path = tmp_path_factory.mktemp("saved") / "report.json"
    assert main(["diagnose", str(CASE), "-o", str(path), "-q"]) == 0
    return path


@pytest.mark.parametrize(
    ("words", "name", "path"),
    [
        ("a.sarif", "sarif", "a.sarif"),
        ("a.SARIF.json", "sarif", "a.SARIF.json"),
        ("a.junit.xml", "junit", "a.junit.xml"),
        ("a.codequality.json", "codequality", "a.codequality.json"),
        ("gl-code-quality-report.json", "codequality", "gl-code-quality-report.json"),
        ("a.rdjson", "rdjson", "a.rdjson"),
        ("a.jsonl", "jsonl", "a.jsonl"),
        ("a.csv", "csv", "a.csv"),
        ("a.json", "json", "a.json"),
        ("sarif.json", "json", "sarif.json"),
        ("sarif:out.json", "sarif", "out.json"),
        ("github:-", "github", "-"),
        ("html:a.htm", "html", "a.htm"),
        ("json:csv:x", "json", "csv:x"),
        ("./sarif:x.csv", "csv", "sarif:x.csv"),
    ],
)
def test_the_longest_ending_or_the_word_before_the_colon_chooses(words: str, name: str, path: str) -> None:
    output = check_output(words)
    assert (output.writer.name, str(output.path)) == (name, path)


@pytest.mark.parametrize("words", ["report.xml", "-", "no-format:x", "C:report"])
def test_what_names_no_format_is_told_which_there_are(words: str) -> None:
    with pytest.raises(UsageError, match=r"FORMAT:FILE, where FORMAT is one of html, .*sarif"):
        check_output(words)


def test_a_format_without_a_file_behind_it_is_told_so() -> None:
    with pytest.raises(UsageError, match=r"`sarif:` names no file\n.*write it behind the colon, as in sarif:FILE"):
        check_output("sarif:")


@pytest.mark.parametrize("name", ["", "out", "out.html"])
def test_a_folder_is_no_file_whatever_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    for given in (str(folder), name or "."):
        with pytest.raises(UsageError, match=r"is a folder\n.*name a file in it, such as .*report.html"):
            check_outputs([given])


@pytest.mark.parametrize("outputs", [("sarif:-", "csv:-"), ("a.csv", "sarif:./a.csv"), ("a.md", "a.md")])
def test_two_reports_never_share_a_place(outputs: tuple[str, ...], saved: Path) -> None:
    with pytest.raises(UsageError, match="two reports are to be written to"):
        check_outputs(outputs, saved)


@pytest.mark.parametrize("command", ["diagnose", "render"])
def test_every_format_comes_out_of_one_command(command: str, saved: Path, tmp_path: Path) -> None:
    outputs = [f"-o{name}:{tmp_path / name}" for name in FORMATS]
    assert main([command, str(CASE if command == "diagnose" else saved), *outputs, "-q"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == set(FORMATS)
    assert all(path.stat().st_size > 300 for path in tmp_path.iterdir())


def test_what_goes_to_the_standard_output_stands_there_alone(
    saved: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["render", str(saved), "-o", "sarif:-", "--lang", "zh"]) == 0
    told = capsysbinary.readouterr()
    assert json.loads(told.out)["version"] == "2.1.0"
    assert "首要问题" in told.err.decode("utf-8")


def test_people_are_told_when_findings_have_no_place_and_not_when_they_have(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", str(tmp_path / "r.sarif"), "--lang", "en"]
    main(["render", str(saved), *output])
    assert "--anchor" in capsys.readouterr().err
    main(["render", str(saved), *output, "--anchor", f"{__file__}:3"])
    assert capsys.readouterr().err == ""
    main(["render", str(saved), *output, "-q"])
    assert capsys.readouterr().err == ""
    main(["render", str(saved), "-o", str(tmp_path / "r.csv"), "--lang", "en"])
    assert capsys.readouterr().err == ""


def test_recorded_lines_are_written_relative_to_the_source_code(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text("\n" * 100)
    out = tmp_path / "r.jsonl"
    for root, anchor, expected in (
        (tmp_path / "src", "main.py", ("model.py", 80)),
        (tmp_path, "main.py", ("main.py", 1)),
    ):
        assert main(["render", str(saved), "-q", "-o", str(out), "--source-root", str(root), "--anchor", anchor]) == 0
        lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        (found,) = ((line["file"], line["line"]) for line in lines if line.get("rule") == "host/python-bound")
        assert found == expected


def test_a_root_that_is_not_there_is_told_before_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["diagnose", str(CASE), "--source-root", "no-such-folder"])
    assert "no folder `no-such-folder`" in capsys.readouterr().err


def test_a_format_is_never_written_into_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = next(CASE.glob("*_ascend_pt")) / "out"
    assert main(["diagnose", str(CASE), "-o", f"sarif:{inside}"]) == 2
    assert "captures are never written to" in capsys.readouterr().err
    assert not inside.exists()


def test_drawing_starts_for_html_alone() -> None:
    from advisor.cli.outputs import chart_renderer

    for words, wanted in (
        ("a.html", True),
        ("html:a", True),
        ("A.HTML", True),
        ("sarif:a.html", False),
        ("a.sarif", False),
    ):
        with chart_renderer([words]) as charts:
            assert charts.wanted == wanted


def test_of_a_large_capture_drawing_starts_when_its_ranks_are_worked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from advisor.cli.commands import diagnose
    from advisor.facts.rank_facts import FactsWanted
    from advisor.report.charts.draw import Renderer

    seen, derive, start = list[str](), FactsWanted.__call__, Renderer.start

    def derived(work: FactsWanted, source: Any) -> Any:
        found = derive(work, source)
        seen.append("worked out")
        return found

    def started(charts: Renderer) -> None:
        seen.append("drawing")
        start(charts)

    monkeypatch.setattr(diagnose, "LARGE_BYTES", 0)
    monkeypatch.setattr(FactsWanted, "__call__", derived)
    monkeypatch.setattr(Renderer, "start", started)
    one_rank = next(CASE.glob("*_ascend_pt"))
    assert main(["diagnose", str(one_rank), "-o", str(tmp_path / "a.html"), "-q"]) == 0
    assert seen[:3] == ["drawing", "worked out", "drawing"]  # before the size is known, and for good


def test_a_comparison_is_written_for_programs_with_what_became_of_each_finding(saved: Path, tmp_path: Path) -> None:
    before = json.loads(saved.read_bytes())
    gone = [finding for finding in before["findings"] if finding["rule"] != "host/synchronising-calls"]
    (tmp_path / "before.json").write_text(json.dumps({**before, "findings": gone}), "utf-8")
    outputs = [f"-o{name}:{tmp_path / name}" for name in FORMATS if name != "csv"]
    assert main(["compare", str(tmp_path / "before.json"), str(saved), *outputs, "-q", "--anchor", "train.py"]) == 0
    (run,) = json.loads((tmp_path / "sarif").read_bytes())["runs"]
    states = {result["ruleId"]: result.get("baselineState") for result in run["results"]}
    assert states.pop("host/synchronising-calls") == "new"
    assert set(states.values()) == {"unchanged"}
    assert all(result["locations"] for result in run["results"])


@pytest.mark.parametrize(
    ("anchor", "told"), [("train.py", False), ("train.py:2", False), ("train.py:3", True), ("gone.py", True)]
)
def test_an_anchor_that_is_no_line_of_the_source_code_is_named(
    anchor: str, told: bool, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text("import torch\ntrain()\n", encoding="utf-8")
    words = ["render", str(saved), "-o", str(tmp_path / "out.sarif"), "--source-root", str(tmp_path)]
    assert main([*words, "--anchor", anchor]) == 0
    noted = capsys.readouterr().err
    assert (anchor in noted and str(tmp_path) in noted) == told
    assert main([*words, "--anchor", anchor, "-q"]) == 0
    assert capsys.readouterr().err == ""
