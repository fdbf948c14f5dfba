# SPDX-License-Identifier: Apache-2.0
"""action.yml does what docs/ci.md says: its steps run one by one on a capture, against a forge on loopback."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from composite import Ran, Runner
from fake_forge import BOT, NUMBER, REPO, TOKEN, FakeForge
from standins import python3, recorded

TOP = Path(__file__).parents[2]
ACTION = TOP / "action.yml"
CAPTURE = TOP / "corpus" / "host-bound-2-ranks"
EVIL = "x'; touch pwned; \"; touch pwned; $(touch pwned) `touch pwned` & touch pwned\ntouch pwned #"
REPORT_URL = "https://forge.example/team/model/actions/runs/1/artifacts/2"


@pytest.fixture
def runner(tmp_path: Path, forge: FakeForge, advisor_program: str) -> Runner:
    """A runner at work on a pull request from a branch of the repository itself."""
    workspace, temp, programs = (tmp_path / name for name in ("workspace", "temp", "programs"))
    for folder in (workspace, temp):
        folder.mkdir()
    shutil.copytree(CAPTURE, workspace / "prof")
    python3(programs, temp / "pip", advisor_program)
    forge.accounts[TOKEN].is_app = True
    head = {"sha": "c3d0be41ecbe669545ee3e94d31ed9a4bc91ee3c", "repo": {"full_name": REPO}}
    event = {"pull_request": {"number": NUMBER, "head": head}}
    (temp / "event.json").write_text(json.dumps(event), "utf-8")
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(TOP),
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": forge.api("github"),
        "GITHUB_SERVER_URL": "https://forge.example",
        "GITHUB_REPOSITORY": REPO,
        "GITHUB_RUN_ID": "1",
        "GITHUB_EVENT_PATH": str(temp / "event.json"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary.md"),
    }
    github = {"event_name": "pull_request", "event": event, "repository": REPO, "token": TOKEN}
    return Runner(workspace, temp, environment, github, other)


def other(uses: str, given: dict[str, str]) -> Ran:
    """Other actions do nothing here; a report that is uploaded gets an address."""
    return Ran(outputs={"artifact-url": REPORT_URL} if given.get("archive") == "false" else {})


def advise(runner: Runner, **inputs: str) -> Ran:
    named = {name.replace("_", "-"): value for name, value in inputs.items()}
    return runner.action(ACTION, {"path": "prof", **named})


def test_it_writes_the_reports_keeps_them_and_comments(runner: Runner, forge: FakeForge) -> None:
    ran = advise(runner, fail_on="none")
    assert (ran.code, ran.outputs["verdict"]) == (0, "passed"), ran.log
    for name in ("report", "json", "sarif"):
        assert Path(ran.outputs[name]).stat().st_size > 0
    (comment,) = forge.by(BOT)
    assert REPORT_URL in comment
    assert comment == (runner.temp / "summary.md").read_text("utf-8")
    ruling = ran.outputs["json"].replace(".json", ".verdict.json")
    (direct, whole) = (given for used, given in ran.used if used.startswith("actions/upload-artifact@"))
    assert direct == {"path": ran.outputs["report"], "archive": "false"}
    assert whole == {
        "name": "advisor-report",
        "path": "\n".join([ran.outputs["json"], ran.outputs["sarif"], ruling, ""]),
    }
    assert TOKEN not in ran.log


def test_a_second_run_updates_the_comment(runner: Runner, forge: FakeForge) -> None:
    advise(runner, fail_on="none")
    advise(runner, fail_on="none", language="zh")
    (comment,) = forge.by(BOT)
    assert "每步" in comment


def test_two_profiles_of_one_pull_request_keep_a_comment_each(runner: Runner, forge: FakeForge) -> None:
    for name in ("train", "infer", "train"):
        advise(runner, fail_on="none", name=name)
    assert len(forge.by(BOT)) == 2


def test_findings_fail_it_after_everything_is_written(runner: Runner, forge: FakeForge) -> None:
    ran = advise(runner)
    assert (ran.code, ran.outputs["verdict"]) == (1, "failed")
    (comment,) = forge.by(BOT)
    assert "**Gate: failed" in comment
    assert "::error::" in ran.log


def test_the_json_of_one_run_is_the_baseline_of_the_next(runner: Runner, forge: FakeForge) -> None:
    shutil.copy(advise(runner, fail_on="none").outputs["json"], runner.workspace / "main.json")
    ran = advise(runner, baseline="main.json")
    assert (ran.code, ran.outputs["verdict"]) == (0, "passed"), ran.log
    assert len(forge.by(BOT)) == 1


def test_a_baseline_that_is_not_there_yet_fails_nothing(runner: Runner) -> None:
    ran = advise(runner, baseline="main.json", fail_on="new:high")
    assert (ran.code, ran.outputs["verdict"]) == (0, "passed"), ran.log
    assert "::notice::There is no baseline yet" in ran.log


def test_the_policy_of_a_file_decides(runner: Runner) -> None:
    (runner.workspace / "ours.yaml").write_text("fail_on: [none]\n", "utf-8")
    assert advise(runner, policy="ours.yaml").outputs["verdict"] == "passed"


def test_a_pull_request_from_a_fork_gets_no_comment_and_is_told_why(runner: Runner, forge: FakeForge) -> None:
    head = {"repo": {"full_name": "somebody/model"}}
    runner.github = {**runner.github, "event": {"pull_request": {"number": NUMBER, "head": head}}}
    ran = advise(runner, fail_on="none")
    assert ran.code == 0
    assert "::notice::A pull request from a fork" in ran.log
    assert not forge.comments


@pytest.mark.parametrize(("event", "comment"), [("push", "true"), ("pull_request", "false")])
def test_without_a_pull_request_or_unwanted_there_is_no_comment(
    runner: Runner, forge: FakeForge, event: str, comment: str
) -> None:
    runner.github = {**runner.github, "event_name": event}
    ran = advise(runner, fail_on="none", comment=comment)
    assert ran.code == 0
    assert not forge.asked
    assert (runner.temp / "summary.md").stat().st_size > 0


def test_what_cannot_be_read_fails_with_the_code_of_advisor(runner: Runner) -> None:
    ran = advise(runner, path="nowhere")
    assert ran.code == 3
    assert not [used for used, _ in ran.used if "upload" in used]


def test_code_scanning_and_artifacts_are_a_matter_of_inputs(runner: Runner) -> None:
    ran = advise(runner, fail_on="none", sarif="true", artifact="", anchor="train.py:3", name="infer")
    assert [used.split("@")[0] for used, _ in ran.used] == ["github/codeql-action/upload-sarif"]
    assert ran.used[0][1] == {"sarif_file": ran.outputs["sarif"], "category": "advisor/infer"}
    assert "train.py" in Path(ran.outputs["sarif"]).read_text("utf-8")


def test_a_python_of_its_own_is_set_up_on_request(runner: Runner) -> None:
    ran = advise(runner, fail_on="none", python_version="3.12")
    ((used, given),) = ran.used[:1]
    assert (used.partition("@")[0], given) == ("actions/setup-python", {"python-version": "3.12"})


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("", f"{TOP}[bot]"), ("1.2", "ascend-advisor[bot]==1.2"), ("1 -r x", "ascend-advisor[bot]==1 -r x")],
)
def test_it_installs_its_own_code_or_the_version_asked_for(runner: Runner, version: str, wanted: str) -> None:
    advise(runner, fail_on="none", version=version)
    told = (runner.temp / "pip").read_text("utf-8").splitlines()
    assert told[told.index("--") :] == ["--", wanted]


def told(runner: Runner, **inputs: str) -> tuple[list[str], list[str]]:
    """What the commands `check` and `bot` are given."""
    recorded(runner.temp.parent / "programs", runner.temp / "told")
    for name in (EVIL, "--help"):  # a baseline counts when it is there
        (runner.workspace / name).touch()
    ran = advise(runner, **inputs)
    assert ran.code == 0, ran.log
    lines = (runner.temp / "told").read_text("utf-8").splitlines()
    check, dry, bot = (json.loads(line) for line in lines)
    assert [word for word in dry if word != "--dry-run"] == bot
    return check, bot


@pytest.mark.parametrize("value", [EVIL, "--help"])
def test_what_an_input_holds_is_one_word_and_no_option(runner: Runner, value: str) -> None:
    names = ("path", "baseline", "policy", "fail_on", "language", "anchor", "name")
    check, bot = told(runner, **dict.fromkeys(names, value))
    options = ("--lang", "--baseline", "--policy", "--fail-on", "--anchor")
    outputs = [word for word in check if word.startswith("-o") or "advisor-report" in word]
    assert [word for word in check[1:] if word not in outputs] == [*(f"{one}={value}" for one in options), "--", value]
    options = ("--lang", "--baseline", "--config", "--name")
    others = [word for word in bot if word.startswith(("--verdict=", "--report-url="))]
    given = [word for word in bot[1:-2] if word not in others]
    assert given == [f"{one}={value}" for one in options]
    assert not list(runner.workspace.parent.rglob("pwned"))


@pytest.mark.parametrize("name", ["artifact", "version", "token", "python-version"])
def test_no_other_input_becomes_part_of_a_script(runner: Runner, name: str) -> None:
    recorded(runner.temp.parent / "programs", runner.temp / "told")
    runner.action(ACTION, {"path": "prof", name: EVIL})
    assert not list(runner.workspace.parent.rglob("pwned"))


def test_expressions_stand_in_the_environment_and_never_in_a_script() -> None:
    steps = yaml.safe_load(ACTION.read_text("utf-8"))["runs"]["steps"]
    assert not [step["name"] for step in steps if "${{" in step.get("run", "")]
