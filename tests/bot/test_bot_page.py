# SPDX-License-Identifier: Apache-2.0
"""What docs/bot.md tells people to write is what the program and the forges understand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.bot.forges import FORGES
from advisor.cli.top_parser import build_parser

TOP = Path(__file__).parent.parent.parent
PAGE = (TOP / "docs" / "bot.md").read_text("utf-8")
COMMANDS = re.findall(r"^(?:\$ | *- run: | *- )?(advisor (?:bot|check|diagnose) .*?)(?: \|\| true)?$", PAGE, re.M)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def steps(workflow: Any) -> Iterator[dict[str, Any]]:
    return (step for job in workflow["jobs"].values() for step in job["steps"])


def test_the_page_shows_what_its_commands_print(tmp_path: Path, advisor_command: Path) -> None:
    (tmp_path / "corpus").symlink_to(TOP / "corpus")
    (block,) = blocks("console")
    for command, *shown in (part.splitlines() for part in block.split("$ ")[1:]):
        script = f'advisor() {{ "{advisor_command}" "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; {command}'
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(TOP), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "\n".join(shown).strip("…\n") in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_is_understood(command: str) -> None:
    _, *words = shlex.split(command)
    build_parser(words[0]).parse_args(words)


def test_the_page_holds_commands() -> None:
    assert len(COMMANDS) > 8


def test_the_first_workflow_comments_with_no_more_rights_than_it_needs() -> None:
    workflow = yaml.safe_load(blocks("yaml")[0])
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    last = list(steps(workflow))[-1]
    assert last["run"] == "advisor bot report.json"
    assert set(last["env"]) == {FORGES["github"].tokens[0]}


def test_the_workflow_with_rights_runs_no_foreign_code() -> None:
    workflow = yaml.safe_load(blocks("yaml")[1])
    assert list(workflow[True]) == ["workflow_run"]  # YAML 1.1 reads `on` so
    assert workflow["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not [step for step in steps(workflow) if "checkout" in step.get("uses", "")]
    for step in steps(workflow):
        assert "${{" not in step.get("run", "")
    assert workflow[True]["workflow_run"]["workflows"] == [yaml.safe_load(blocks("yaml")[0])["name"]]


def test_every_variable_for_a_token_is_named() -> None:
    for names in (forge.tokens for forge in FORGES.values()):
        assert names[0] in PAGE
