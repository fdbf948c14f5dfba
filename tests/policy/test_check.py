# SPDX-License-Identifier: Apache-2.0
"""`advisor check` as a pipeline runs it: what it accepts, what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import corpus
from advisor.cli.main import main
from advisor.model.findings import Diagnosis
from tests.shared_captures import SharedCaptures

TOP = Path(__file__).parent.parent.parent
CASE = TOP / "corpus" / "host-bound-2-ranks"
FAULT = "cast-excess"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, shared: SharedCaptures) -> Path:
    """A job with a fault, the same job without it, and the diagnosis of each, saved."""
    folder = tmp_path_factory.mktemp("pair")
    for name, without in (("slow", []), ("fine", [FAULT])):
        (folder / name).symlink_to(shared.written(FAULT, 1, workload="single", without=without))
        assert main(["diagnose", str(folder / name), "-q", "-o", str(folder / f"{name}.json")]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No advisor.yaml but the one a test writes, and English."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")


def write(text: str, name: str = "advisor.yaml") -> None:
    Path(name).write_text(text, "utf-8")


def test_a_fault_that_came_fails_and_one_that_went_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow, fine = str(folder / "slow.json"), str(folder / "fine.json")
    assert main(["check", slow, "--baseline", fine, "--fail-on", "new:medium"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"[1-9] new", out)
    assert "compute/cast-excess" in out
    assert "set by fail_on new:medium" in out
    assert main(["check", fine, "--baseline", slow, "--fail-on", "new:info"]) == 0
    assert main(["check", fine, "--baseline", fine, "--fail-on", "new:info"]) == 0
    assert main(["check", slow, "--baseline", slow, "--fail-on", "new:info"]) == 0


def test_the_reports_of_a_check_begin_with_the_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bar, code in (("medium", 1), ("critical", 0)):
        words = [
            "check",
            str(folder / "slow.json"),
            "--fail-on",
            bar,
            "--lang",
            "en",
            "-o",
            "page.html",
            "-o",
            "page.md",
        ]
        assert main(words) == code
        said = capsys.readouterr().out.splitlines()[0]
        page = Path("page.html").read_text("utf-8")
        begins = re.sub("<[^>]*>", "", page[page.index('class="verdict') : page.index("<h1")])
        assert said in " ".join(begins.split())
        marked = Path("page.md").read_text("utf-8")
        assert f"**{said}**" in marked[: marked.index("A step takes")].replace("****", "")


def test_captures_and_saved_diagnoses_are_judged_alike(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = set()
    for path in (folder / "slow", folder / "slow.json"):
        for baseline in (folder / "fine", folder / "fine.json"):
            assert main(["check", str(path), "--baseline", str(baseline), "--fail-on", "new:medium"]) == 1
            said.add(capsys.readouterr().out)
    assert len(said) == 1


def test_without_settings_high_findings_fail_and_with_a_baseline_only_new_ones(folder: Path) -> None:
    assert main(["check", str(CASE), "-q"]) == 1
    assert main(["diagnose", str(CASE), "-q", "-o", "main.json"]) == 0
    assert main(["check", str(CASE), "--baseline", "main.json", "-q"]) == 0
    assert main(["check", str(folder / "slow.json"), "-q"]) == 0


def test_a_fix_passes_although_the_share_of_what_it_did_not_touch_grew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.write(corpus.job("host-bound-2-ranks", 0, without=["python-busy"]), tmp_path / "fixed", "text", 1)
    assert main(["diagnose", str(CASE), "-q", "-o", "main.json"]) == 0
    assert main(["check", str(tmp_path / "fixed"), "--baseline", "main.json", "--fail-on", "new:info"]) == 0
    out = capsys.readouterr().out
    assert "33.1 ms → 24.1 ms" in out
    assert "worse" not in out.split("not worse")[0]


def test_captures_of_one_program_never_fail_each_other(real_data: Path, tmp_path: Path, shared: SharedCaptures) -> None:
    write("fail_on: new:medium\nbudgets: {slowdown: 0%}")
    matrix = real_data / "msinsight_pytorch_matrix"
    for found in matrix.glob("*/level*"):
        write(shared.diagnosis(found).to_json(), f"{found.parent.name}-{found.name}.json")
    saved = sorted(map(str, tmp_path.glob("*-level*.json")))
    assert len(saved) == 6
    failing = [(one, other) for one in saved for other in saved if main(["check", one, "--baseline", other, "-q"])]
    assert failing == []


@pytest.mark.parametrize("option", ["--policy", "--config"])
def test_a_policy_is_given_by_either_name(option: str, folder: Path) -> None:
    write("policy: {rules: {compute/cast-excess: error}}", "gate.yaml")
    assert main(["check", str(folder / "slow.json"), "-q"]) == 0
    assert main(["check", str(folder / "slow.json"), option, "gate.yaml", "-q"]) == 1
    assert main(["check", str(folder / "fine.json"), option, "gate.yaml", "-q"]) == 0


def test_the_settings_of_this_folder_hold_and_the_command_line_wins_over_their_fail_on(folder: Path) -> None:
    write("fail_on: medium")
    assert main(["check", str(folder / "slow.json"), "-q"]) == 1
    assert main(["check", str(folder / "slow.json"), "--fail-on", "none", "-q"]) == 0
    assert main(["check", str(folder / "slow.json"), "--fail-on", "critical,high", "-q"]) == 0


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        ("medium", 1),
        ("[medium, critical]", 1),
        ("[critical, medium]", 1),
        ("[high, critical]", 0),
        ("[new:low, high]", 0),
        ("[new:low, medium]", 1),
        ("none", 0),
        ("new:info", 0),
    ],
)
def test_commands_without_a_baseline_go_by_the_entries_that_need_none(fail_on: str, code: int, folder: Path) -> None:
    write(f"fail_on: {fail_on}")
    assert main(["render", str(folder / "slow.json"), "-q"]) == code


def test_budgets_hold_for_a_run_and_against_its_baseline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow, fine = str(folder / "slow.json"), str(folder / "fine.json")
    step_ms = Diagnosis.model_validate_json((folder / "slow.json").read_bytes()).run.step_us / 1000
    write(f"budgets: {{step_time: {step_ms * 1.01:.3f}ms, slowdown: 1%, memory: {{limit: 1MiB, action: warn}}}}")
    assert main(["check", slow, "--baseline", slow]) == 0
    assert "exceeded (warning)" in capsys.readouterr().out
    assert main(["check", slow, "--baseline", fine]) == 1
    assert "Failed: 1 budget exceeded" in capsys.readouterr().out
    write(f"budgets: {{step_time: {step_ms * 0.99:.3f}ms}}")
    assert main(["check", slow]) == 1


def test_a_suppressed_finding_passes_until_its_last_day(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("fail_on: medium\nsuppressions:\n  - {rule: compute/*, reason: known, expires: 2999-12-31}\n")
    assert main(["check", str(folder / "slow.json")]) == 0
    assert "Suppressed: " in capsys.readouterr().out
    write("fail_on: medium\nsuppressions:\n  - {rule: compute/*, reason: known, expires: 2001-12-31}\n")
    assert main(["check", str(folder / "slow.json")]) == 1
    assert "ended 2001-12-31" in capsys.readouterr().out


def test_the_tolerance_of_the_project_decides_what_is_a_change(folder: Path) -> None:
    arguments = ["check", str(folder / "slow.json"), "--baseline", str(folder / "fine.json"), "-q"]
    write("budgets: {slowdown: 0%}")
    assert main(arguments) == 1
    write("budgets: {slowdown: 0%}\ncompare: {floor: 90%}")
    assert main(arguments) == 0


def test_reports_are_written_beside_the_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder / "slow.json"), "-o", "r.html", "-o", "r.md", "-o", "r.json"]) == 0
    assert "Report: r.md" in capsys.readouterr().out
    assert Path("r.json").read_bytes() == (folder / "slow.json").read_bytes()
    assert main(["check", str(folder / "slow.json"), "-o", "json:-"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["format"] == "advisor.diagnosis/1"
    assert "Passed" in told.err


def test_the_verdict_is_written_by_its_published_schema(folder: Path) -> None:
    write("budgets: {memory: 1MiB}\nsuppressions: [{rule: compute/*, reason: known}]")
    assert main(["check", str(folder / "slow.json"), "-q", "-o", "a.verdict.json", "-o", "verdict:b"]) == 1
    said = json.loads(Path("a.verdict.json").read_text("utf-8"))
    jsonschema.validate(said, json.loads((TOP / "docs/reference/verdict.schema.json").read_text("utf-8")))
    assert not said["passed"]
    assert Path("b").read_bytes() == Path("a.verdict.json").read_bytes()


def test_the_baseline_is_never_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fine = str(folder / "fine.json")
    assert main(["check", str(folder / "slow.json"), "--baseline", fine, "-o", fine]) == 2
    assert "is the input" in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("arguments", "en", "zh"),
    [
        (["--fail-on", "new:high"], "`new:high` needs a baseline", "`new:high` 需要与基线对比"),
        (["--fail-on", "worse:low,high"], "`worse:low` needs a baseline", "`worse:low` 需要与基线对比"),
        (["--fail-on", "often"], "`often` is no severity", "`often` 不是严重程度"),
        (["--fail-on", ""], "`` is no severity", "`` 不是严重程度"),
        (["--policy", "missing.yaml"], "missing.yaml does not exist", "missing.yaml 不存在"),
        (["-o", "report.pdf"], "no report is written as", "不支持"),
    ],
)
def test_wrong_use_ends_with_two_before_anything_is_read(
    arguments: list[str], en: str, zh: str, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "no-such-capture", *arguments, "--lang", language]) == 2
    assert (zh if language == "zh" else en) in capsys.readouterr().err


def test_a_project_that_asks_for_new_findings_needs_a_baseline_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("fail_on: new:high")
    assert main(["check", str(folder / "slow.json")]) == 2
    assert "--baseline main.json" in capsys.readouterr().err
    assert main(["diagnose", str(CASE), "-q"]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "policy: {rules: {host/fre-time: error}}",
        "policy: {categories: {hots: error}}",
        "suppressions: [{rule: host/fre-time, reason: x}]",
        "budgets: {memory: 60}",
    ],
)
def test_wrong_settings_end_with_two_and_their_place(
    text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(text)
    for path in (folder / "slow", folder / "slow.json"):
        assert main(["check", str(path)]) == 2
        assert "advisor: advisor.yaml:1:" in capsys.readouterr().err
    assert main(["rules", "list"]) == 2


def test_a_policy_may_name_rules_of_the_project(folder: Path) -> None:
    assert main(["rules", "new", "acme/mine", "--dir", "own"]) == 0
    write("policy: {rules: {acme/mine: warn}, categories: {acme: error}}")
    assert main(["check", str(folder / "slow.json"), "-q"]) == 2
    assert main(["check", str(folder / "slow.json"), "-q", "--rules", "own"]) == 0


@pytest.mark.parametrize("which", ["path", "baseline"])
def test_nothing_readable_ends_with_three(
    which: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.json").write_text("{}", "utf-8")
    for unreadable in ("empty", "other.json", "nothing.json"):
        words = [str(folder / "slow.json"), "--baseline", str(folder / "slow.json")]
        words[0 if which == "path" else 2] = unreadable
        assert main(["check", *words]) == 3
        told = capsys.readouterr()
        assert told.out == ""
        assert "hint: " in told.err


def test_reports_are_never_written_into_either_capture(folder: Path) -> None:
    inside = next((folder / "fine").glob("*_ascend_pt")) / "report.md"
    words = ["check", str(folder / "slow.json"), "--baseline", str(folder / "fine"), "-q", "-o", str(inside)]
    assert main(words) == 2
    assert not inside.exists()


def test_two_runs_print_the_same_on_any_seed_of_hashes(folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "advisor",
        "check",
        str(folder / "slow.json"),
        "--baseline",
        str(CASE),
        "--lang=zh",
    ]
    said = {
        subprocess.run(
            command, capture_output=True, env={"PYTHONPATH": str(TOP), "PYTHONHASHSEED": seed}, check=False
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "与基线相比" in next(iter(said)).decode()
