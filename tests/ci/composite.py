# SPDX-License-Identifier: Apache-2.0
"""Runs a composite action as a runner does: expressions, conditions, environment, outputs. Other actions are recorded.

Of the expression language it knows what action.yml uses: values, `==`, `!=`, `&&`, `||`, `startsWith` and `format`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_HOLE = re.compile(r"\$\{\{(.*?)\}\}", re.S)
_TOKEN = re.compile(r"\s*(==|!=|&&|\|\||[(),]|'(?:[^']|'')*'|[A-Za-z_][A-Za-z0-9_.-]*)")


@dataclass
class Ran:
    """What became of one run of the action."""

    code: int = 0
    """Exit code of the step that failed, or 0."""
    log: str = ""
    used: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Other actions, and what they were given."""
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass
class Runner:
    """A machine with a workspace and a temporary folder."""

    workspace: Path
    temp: Path
    environment: Mapping[str, str]
    github: Mapping[str, Any]
    """The context of that name, nested."""

    def run(self, action: Path, inputs: Mapping[str, str], given: Mapping[str, Mapping[str, str]]) -> Ran:
        """Runs the steps until one fails; `given` are the outputs of other actions, by the id of their step."""
        described = yaml.safe_load(action.read_text("utf-8"))
        github = {**self.github, "action_path": str(action.parent)}
        values = {
            name: inputs.get(name, self._filled(str(one.get("default", "")), {"github": github}))
            for name, one in described["inputs"].items()
        }
        assert set(inputs) <= set(values), "inputs that the action does not have"
        known: dict[str, Any] = {"github": github, "inputs": values, "steps": {}}
        ran = Ran()
        for number, step in enumerate(described["runs"]["steps"]):
            if "if" in step and not _Expression(str(step["if"]), known).value():
                continue
            outputs = dict(given.get(step.get("id", ""), {}))
            if "uses" in step:
                ran.used.append((step["uses"], {k: self._filled(str(v), known) for k, v in step["with"].items()}))
            else:
                ran.code, said = self._bash(step, number, known, ran)
                outputs |= said
            if "id" in step:
                known["steps"][step["id"]] = {"outputs": outputs}
            if ran.code:
                break
        ran.outputs = {name: self._filled(one["value"], known) for name, one in described["outputs"].items()}
        return ran

    def _filled(self, text: str, known: Mapping[str, Any]) -> str:
        return _HOLE.sub(lambda hole: _text(_Expression(hole[1], known).value()), text)

    def _bash(
        self, step: Mapping[str, Any], number: int, known: dict[str, Any], ran: Ran
    ) -> tuple[int, dict[str, str]]:
        assert step["shell"] == "bash"
        script, output = self.temp / f"{number}.sh", self.temp / f"output-{number}"
        script.write_text(self._filled(step["run"], known), "utf-8")
        output.touch()
        own = {name: self._filled(str(value), known) for name, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(self.temp)}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={**self.environment, **files, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        ran.log += done.stdout
        lines = output.read_text("utf-8").splitlines()
        return done.returncode, dict(line.split("=", 1) for line in lines)


class _Expression:
    """One expression, read from left to right."""

    def __init__(self, text: str, known: Mapping[str, Any]) -> None:
        text = text.strip()
        self.known, self.tokens = known, _TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text), f"cannot read {text!r}"

    def value(self) -> object:
        found = self._either()
        assert not self.tokens
        return found

    def _either(self) -> object:
        left = self._both()
        while self._next("||"):
            right = self._both()
            left = left or right
        return left

    def _both(self) -> object:
        left = self._compared()
        while self._next("&&"):
            right = self._compared()
            left = left and right
        return left

    def _compared(self) -> object:
        left = self._one()
        if self._next("=="):
            return left == self._one()
        if self._next("!="):
            return left != self._one()
        return left

    def _one(self) -> object:
        word = self.tokens.pop(0)
        if word == "(":
            return self._closed(self._either())
        if word.startswith("'"):
            return word[1:-1].replace("''", "'")
        if word in ("startsWith", "format"):
            return self._called(word)
        return self._named(word)

    def _called(self, function: str) -> object:
        assert self._next("(")
        first = _text(self._either())
        assert self._next(",")
        second = _text(self._either())
        return self._closed(first.format(second) if function == "format" else first.lower().startswith(second.lower()))

    def _closed(self, value: object) -> object:
        assert self._next(")")
        return value

    def _named(self, name: str) -> object:
        """What is not there is empty, as on GitHub; a context that does not exist is a mistake of ours."""
        first, *rest = name.split(".")
        found: Any = self.known[first]
        for part in rest:
            found = found.get(part, "") if isinstance(found, Mapping) else ""
        return found

    def _next(self, token: str) -> bool:
        is_there = bool(self.tokens) and self.tokens[0] == token
        if is_there:
            del self.tokens[0]
        return is_there


def _text(value: object) -> str:
    return {True: "true", False: "false", None: ""}.get(value, str(value)) if not isinstance(value, str) else value  # type: ignore[call-overload]
