# SPDX-License-Identifier: Apache-2.0
"""`advisor bot` from end to end: from a saved diagnosis to a comment on a forge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_forge import BOT, DIALECTS, NUMBER, REPO, TOKEN, Account, FakeForge, Trouble
from report_samples import rich

from advisor.cli.main import main
from advisor.model.findings import Diagnosis
from advisor.model.verdict import Verdict

TOP = Path(__file__).parent.parent.parent
SHA = "a" * 40
CI = (
    "ACTIONS", "GITHUB_", "GITLAB_", "CI_", "GITEA_", "GITEE_", "GITCODE_", "ATOMGIT_", "FORGEJO_", "GH_", "ADVISOR_",
    "gitee", "HTTP", "http", "ALL_PROXY",
)  # fmt: skip


@pytest.fixture(autouse=True)
def outside_a_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the machine these tests run on counts, and no settings."""
    for name in list(os.environ):
        if name.startswith(CI):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)


def saved(path: Path, diagnosis: Diagnosis) -> Path:
    path.write_text(diagnosis.to_json(), "utf-8")
    return path


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return saved(tmp_path / "report.json", rich(("a", "b")))


@pytest.fixture
def main_branch(tmp_path: Path) -> Path:
    diagnosis = rich(("a", "b"))
    return saved(tmp_path / "main.json", diagnosis.model_copy(update={"findings": diagnosis.findings[1:]}))


@pytest.fixture(params=DIALECTS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_TOKEN", TOKEN)


def options(served: FakeForge, kind: str) -> list[str]:
    return ["--forge", kind, "--repo", REPO, "--pr", str(NUMBER), "--api-url", served.api(kind)]


@pytest.mark.usefixtures("token")
def test_a_comment_is_written_and_then_kept_up_to_date(
    served: FakeForge, kind: str, report: Path, main_branch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bot", str(report), *options(served, kind)]) == 0
    assert capsys.readouterr().out.startswith("comment written on ")
    assert main(["bot", str(report), *options(served, kind)]) == 0
    assert "up to date" in capsys.readouterr().out
    assert main(["bot", str(report), "--baseline", str(main_branch), *options(served, kind), "--lang", "zh", "-q"]) == 0
    assert capsys.readouterr().out == ""
    (body,) = served.by(BOT)
    assert "新增或变差" in body


def test_a_dry_run_prints_the_comment_and_asks_nobody(
    report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert main(["bot", str(report), "--dry-run", "--report-url", "https://ci.example.org/r.html"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("<!-- advisor:diagnosis -->\n### A step takes 117 ms")
    assert "[Report](<https://ci.example.org/r.html>)" in out


def github_job(monkeypatch: pytest.MonkeyPatch, served: FakeForge, event: dict[str, object], folder: Path) -> None:
    path = folder / "event.json"
    path.write_text(json.dumps(event), "utf-8")
    for name, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": REPO,
        "GITHUB_API_URL": served.api("github"),
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_RUN_ID": "5",
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_TOKEN": TOKEN,
    }.items():
        monkeypatch.setenv(name, value)


def test_in_a_job_of_github_the_report_is_all_that_has_to_be_said(
    served: FakeForge, report: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served.accounts[TOKEN] = Account("github-actions[bot]", is_app=True)
    github_job(monkeypatch, served, {"pull_request": {"number": NUMBER, "head": {"sha": SHA}}}, tmp_path)
    assert main(["bot", str(report), "--status", "--check"]) == 0
    (body,) = served.by("github-actions[bot]")
    assert "[Report](<https://github.example/team/model/actions/runs/5>)" in body
    (status,) = served.statuses
    assert (status["sha"], status["state"], status["context"]) == (SHA, "failure", "advisor")
    assert status["description"].startswith("A step takes 117 ms")
    (check,) = served.checks
    assert (check["head_sha"], check["conclusion"]) == (SHA, "failure")
    assert check["output"]["summary"].startswith("<!-- advisor:diagnosis -->")


FORK: dict[str, object] = {
    "workflow_run": {
        "event": "pull_request",
        "head_branch": "faster",
        "head_sha": SHA,
        "head_repository": {"owner": {"login": "contributor"}},
        "pull_requests": [],
    }
}


def test_after_a_run_for_a_fork_the_pull_request_is_asked_of_the_forge_not_of_the_artefact(
    served: FakeForge, report: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served.pulls = [
        {"number": 3, "head": {"sha": "b" * 40}, "from": "contributor:faster"},
        {"number": NUMBER, "head": {"sha": SHA}, "from": "contributor:faster"},
        {"number": 9, "head": {"sha": SHA}, "from": "mallory:faster"},
    ]
    github_job(monkeypatch, served, FORK, tmp_path)
    assert main(["bot", str(report), "-q"]) == 0
    assert len(served.by(BOT)) == 1


def test_a_fork_whose_pull_request_has_moved_on_gets_no_comment(
    served: FakeForge, report: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    served.pulls = [{"number": NUMBER, "head": {"sha": "b" * 40}, "from": "contributor:faster"}]
    github_job(monkeypatch, served, FORK, tmp_path)
    assert main(["bot", str(report)]) == 2
    assert "--pr N" in capsys.readouterr().err
    assert served.comments == []


def test_what_the_ci_tells_of_one_forge_is_not_used_for_another(
    served: FakeForge, report: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    github_job(monkeypatch, served, {"pull_request": {"number": NUMBER}}, tmp_path)
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    assert main(["bot", str(report), "--forge", "gitlab"]) == 2
    said = capsys.readouterr().err
    assert "--repo" in said
    assert "--dry-run" in said  # it needs to be told none of this
    assert main(["bot", str(report), "--repo", "other/model"]) == 2
    assert "--pr" in capsys.readouterr().err
    assert served.asked == []


MISSING = {
    "--forge": [],
    "--repo": ["--forge", "github"],
    "--pr": ["--forge", "github", "--repo", REPO],
    "GITHUB_TOKEN": ["--forge", "github", "--repo", REPO, "--pr", "7"],
    "--sha": ["--forge", "github", "--repo", REPO, "--pr", "7", "--status"],
    "no repository": ["--forge", "github", "--repo", "model", "--pr", "7"],
    "no web address of an API": ["--forge", "github", "--repo", REPO, "--pr", "7", "--api-url", "github.com"],
    "leave the option away": ["--forge", "gitee", "--repo", REPO, "--pr", "7", "--status", "--sha", SHA],
    "cannot be a name": ["--name", "a--b", "--dry-run"],
    "is no web address\n": ["--report-url", "javascript:1", "--dry-run"],
}


@pytest.mark.parametrize("named", MISSING)
@pytest.mark.parametrize("language", ("en", "zh"))
def test_what_is_missing_or_wrong_is_named_before_anything_is_read(
    named: str, language: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if named != "GITHUB_TOKEN":
        monkeypatch.setenv("ADVISOR_TOKEN", TOKEN)
    assert main(["bot", "nowhere.json", *MISSING[named], "--lang", language]) == 2
    err = capsys.readouterr().err
    assert TOKEN not in err
    assert err.isascii() == (language == "en")
    if language == "en" or named.startswith(("--", "GITHUB")):
        assert named in err


def test_a_refusal_ends_with_2_and_says_what_to_do(
    served: FakeForge, report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served.accounts[TOKEN] = Account("reader", may_write=False)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    assert main(["bot", str(report), *options(served, "github")]) == 2
    err = capsys.readouterr().err
    assert "pull-requests: write" in err
    assert TOKEN not in err


@pytest.mark.usefixtures("token")
def test_a_pause_is_told(
    served: FakeForge, report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    served.troubles.append(Trouble("POST", 429, {"Retry-After": "40"}))
    assert main(["bot", str(report), *options(served, "github")]) == 0
    assert "waiting 4" in capsys.readouterr().err
    assert 40 <= slept[-1] < 41


def test_an_input_that_cannot_be_read_ends_with_3_and_asks_nobody(
    served: FakeForge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_TOKEN", TOKEN)
    (tmp_path / "odd.json").write_text("{}")
    assert main(["bot", str(tmp_path / "odd.json"), *options(served, "github")]) == 3
    assert served.asked == []


def test_the_gate_of_the_project_is_told_in_the_comment(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "advisor.yaml").write_text("language: zh\nbudgets: {free_share: 10 %}\n", "utf-8")
    assert main(["bot", str(report), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "**门禁：未通过**" in out
    assert "空闲占比 22 % 超出上限 10 %" in out


def test_the_verdict_of_the_gate_is_taken_as_it_was(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = tmp_path / "gate.verdict.json"
    assert main(["check", str(report), "--fail-on", "none", "-q", "-o", str(gate)]) == 0
    assert main(["bot", str(report), "--dry-run", "--verdict", str(gate)]) == 0
    assert "**Gate: passed**" in capsys.readouterr().out
    assert main(["bot", str(report), "--dry-run", "--verdict", str(report)]) == 3
    assert "is a diagnosis, and a verdict is wanted here" in capsys.readouterr().err


def test_a_verdict_on_another_run_is_refused(report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = tmp_path / "gate.verdict.json"
    gate.write_text(Verdict(passed=True).to_json(), "utf-8")
    assert main(["bot", str(report), "--dry-run", "--verdict", str(gate)]) == 3
    said = capsys.readouterr()
    assert "is a verdict on other findings than this run has" in said.err
    assert not said.out


def test_a_bar_for_what_is_new_rests_where_there_is_no_baseline(
    report: Path, main_branch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "advisor.yaml").write_text("fail_on: new:high\n", "utf-8")
    assert main(["bot", str(report), "--dry-run"]) == 0
    assert "**Gate: passed**" in capsys.readouterr().out
    assert main(["bot", str(report), "--baseline", str(main_branch), "--dry-run"]) == 0
    assert "**Gate: failed**" in capsys.readouterr().out


def test_a_token_in_the_clear_is_warned_of(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADVISOR_TOKEN", "bad token")
    main(["bot", str(report), "--forge", "gitea", "--repo", REPO, "--pr", "7", "--api-url", "http://git.lan/api/v1"])
    assert "unencrypted to git.lan" in capsys.readouterr().err


def test_no_process_shows_the_token(served: FakeForge, report: Path) -> None:
    """Not even with every log on and a failure in the middle."""
    served.accounts.clear()
    script = (
        "import logging, sys; logging.basicConfig(level=logging.DEBUG);"
        "from advisor.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "bot", str(report), *options(served, "gitlab")],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(TOP), "ADVISOR_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "401" in done.stderr
    assert TOKEN not in done.stdout + done.stderr
