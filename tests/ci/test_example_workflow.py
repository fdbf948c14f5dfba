# SPDX-License-Identifier: Apache-2.0
"""The workflow of docs/ci.md from the first push to main to a pull request that makes the job slower."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from composite import Ran, Runner
from fake_forge import BOT, NUMBER, REPO, TOKEN, FakeForge
from standins import python3

from tests.shared_captures import SharedCaptures

TOP = Path(__file__).parents[2]
EXAMPLE = TOP / "docs" / "example-repository"
ADVISE = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "profile.yml").read_text("utf-8"))["jobs"]["advise"]


class Hosted:
    """What GitHub keeps between runs: caches by key; and the machines it lends."""

    def __init__(self, folder: Path, forge: FakeForge, captures: dict[str, Path], advisor_program: str) -> None:
        self.folder, self.forge, self.captures, self.advisor_program = folder, forge, captures, advisor_program
        self.caches: dict[str, Path] = {}
        self.runs = 0

    def advise(self, capture: str, event_name: str, event: dict[str, Any], sha: str) -> Ran:
        """One run of the job `advise` on a fresh machine."""
        self.runs += 1
        workspace, temp, programs = (self.folder / f"{name}-{self.runs}" for name in ("workspace", "temp", "programs"))
        temp.mkdir()
        workspace.mkdir()
        python3(programs, temp / "pip", self.advisor_program)
        (temp / "event.json").write_text(json.dumps(event), "utf-8")
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(temp),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(TOP),
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.forge.api("github"),
            "GITHUB_REPOSITORY": REPO,
            "GITHUB_EVENT_PATH": str(temp / "event.json"),
            "GITHUB_STEP_SUMMARY": str(temp / "summary.md"),
        }
        github = {"event_name": event_name, "event": event, "repository": REPO, "token": TOKEN, "sha": sha}
        runner = Runner(workspace, temp, environment, github)

        def other(uses: str, given: dict[str, str]) -> Ran:
            match uses.partition("@")[0]:
                case "actions/checkout":
                    shutil.copytree(EXAMPLE, workspace, dirs_exist_ok=True)
                case "actions/download-artifact":
                    shutil.copytree(self.captures[capture], workspace / given["path"])
                case "actions/cache/save":
                    self.caches[given["key"]] = Path(shutil.copytree(workspace / given["path"], temp / "cache"))
                case "actions/cache/restore":
                    self._restore(given, workspace)
                case "your-org/advisor":
                    return runner.action(TOP / "action.yml", given)
            return Ran()

        runner.other = other
        return runner.job(ADVISE)

    def _restore(self, given: dict[str, str], workspace: Path) -> None:
        keys = [given["key"], *(key for key in reversed(self.caches) if key.startswith(given["restore-keys"]))]
        found = next((self.caches[key] for key in keys if key in self.caches), None)
        if found is not None:
            shutil.copytree(found, workspace / given["path"])


@pytest.fixture(scope="module")
def captures(shared: SharedCaptures) -> dict[str, Path]:
    """The same job with and without a fault."""
    fixed = {"fine": ["cast-excess"], "slow": []}
    return {name: shared.written("cast-excess", workload="single", without=fixed[name]) for name in fixed}


@pytest.fixture
def hosted(tmp_path: Path, forge: FakeForge, captures: dict[str, Path], advisor_program: str) -> Hosted:
    return Hosted(tmp_path, forge, captures, advisor_program)


def pull(base: str) -> dict[str, Any]:
    head = {"sha": "c3d0be41ecbe669545ee3e94d31ed9a4bc91ee3c", "repo": {"full_name": REPO}}
    return {"pull_request": {"number": NUMBER, "head": head, "base": {"sha": base}}}


def test_main_leaves_a_baseline_and_a_slower_pull_request_is_told_and_fails(hosted: Hosted) -> None:
    main = hosted.advise("fine", "push", {}, "1" * 40)
    assert main.code == 0, main.log
    assert list(hosted.caches) == [f"advisor-baseline-{'1' * 40}"]
    assert not hosted.forge.comments

    same = hosted.advise("fine", "pull_request", pull("1" * 40), "2" * 40)
    assert same.code == 0, same.log
    (comment,) = hosted.forge.by(BOT)
    assert "Gate: passed" in comment

    slower = hosted.advise("slow", "pull_request", pull("9" * 40), "3" * 40)  # the base has no profile: the last counts
    assert slower.code == 1
    (comment,) = hosted.forge.by(BOT)
    assert "Gate: failed" in comment
    assert "slowdown" in slower.log
    assert "Cast" in comment
    assert list(hosted.caches) == [f"advisor-baseline-{'1' * 40}"]


def test_the_first_pull_request_of_all_gets_its_comment_without_a_baseline(hosted: Hosted) -> None:
    ran = hosted.advise("slow", "pull_request", pull("1" * 40), "2" * 40)
    assert ran.code == 0, ran.log
    assert len(hosted.forge.by(BOT)) == 1
