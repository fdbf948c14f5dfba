# SPDX-License-Identifier: Apache-2.0
"""The script of docs/ci.md for any other CI does what the page says, against a forge on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_forge import NUMBER, TOKEN, FakeForge
from shells import run_logged

TOP = Path(__file__).parents[2]
CAPTURE = TOP / "corpus" / "host-bound-2-ranks"
(SCRIPT,) = re.findall(r"^```bash\n(.*?)^```", (TOP / "docs" / "ci.md").read_text("utf-8"), re.M | re.S)


@dataclass
class Machine:
    """A checkout with a capture, and a folder that stays."""

    folder: Path
    environment: dict[str, str]
    log: str = ""

    @property
    def main(self) -> Path:
        return Path(self.environment["MAIN"])

    def run(self, **more: str) -> int:
        code, self.log = run_logged(["bash", "-c", SCRIPT], self.folder, {**self.environment, **more})
        return code


@pytest.fixture
def machine(tmp_path: Path, forge: FakeForge, advisor_command: Path) -> Machine:
    folder, programs = tmp_path / "checkout", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    shutil.copytree(CAPTURE, folder / "prof")
    shutil.copy(TOP / "docs" / "example-repository" / "advisor.yaml", folder)
    advisor = programs / "advisor"
    there = f"--api-url {forge.api('gitee')}"
    advisor.write_text(f'#!/bin/sh\n[ "$1" = bot ] && set -- "$@" {there}\nexec "{advisor_command}" "$@"\n', "utf-8")
    advisor.chmod(0o755)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(TOP),
        "GITEE_TOKEN": TOKEN,
        "MAIN": str(tmp_path / "kept" / "main.json"),
    }
    return Machine(folder, environment)


def test_the_main_branch_leaves_the_baseline_and_says_nothing(machine: Machine, forge: FakeForge) -> None:
    assert machine.run() == 0, machine.log
    assert json.loads(machine.main.read_text("utf-8"))["findings"]
    assert (machine.folder / "report.html").exists()
    assert forge.comments == []


def test_a_pull_request_before_there_is_a_baseline_is_told_and_passes(machine: Machine, forge: FakeForge) -> None:
    assert machine.run(PULL=str(NUMBER)) == 0, machine.log
    assert len(forge.comments) == 1
    assert not machine.main.exists()


def test_a_pull_request_that_makes_it_worse_is_told_why_and_fails(machine: Machine, forge: FakeForge) -> None:
    assert machine.run() == 0, machine.log
    saved = json.loads(machine.main.read_text("utf-8"))
    saved["findings"] = []
    machine.main.write_text(json.dumps(saved), "utf-8")
    assert machine.run(PULL=str(NUMBER)) == 1, machine.log
    assert len(forge.comments) == 1


def test_a_capture_that_cannot_be_read_leaves_baseline_and_comment_alone(machine: Machine, forge: FakeForge) -> None:
    assert machine.run() == 0, machine.log
    before = machine.main.read_bytes()
    shutil.rmtree(machine.folder / "prof")
    (machine.folder / "prof").mkdir()
    assert machine.run() == 3, machine.log
    assert machine.run(PULL=str(NUMBER)) == 3, machine.log
    assert machine.main.read_bytes() == before
    assert forge.comments == []
