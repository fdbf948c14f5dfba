# SPDX-License-Identifier: Apache-2.0
"""Runs composite actions and jobs as a runner does: expressions, conditions, environment, outputs.

Other actions are stood in for. Of the expression language it knows what our files use: values, `==`, `!=`, `&&`,
`||`, `startsWith` and `format`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from shells import run_logged

_HOLE = re.compile(r"\$\{\{(.*?)\}\}", re.S)
_TOKEN = re.compile(r"\s*(==|!=|&&|\|\||[(),]|'(?:[^']|'')*'|[A-Za-z_][A-Za-z0-9_.-]*)")


@dataclass
class Ran:
    """What became of an action or a job."""

    code: int = 0
    """Exit code of the step that failed, or 0."""
    log: str = ""
    used: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Other actions, and what they were given."""
    outputs: dict[str, str] = field(default_factory=dict)


Other = Callable[[str, dict[str, str]], "Ran"]
"""Stands for other actions: what `uses` names and what it is given, to what becomes of it."""


@dataclass
class Runner:
    """A machine with a workspace and a temporary folder."""

    workspace: Path
    temp: Path
    environment: Mapping[str, str]
    github: Mapping[str, Any]
    """The context of that name, nested."""
    other: Other = lambda uses, given: Ran()
    _scripts: int = 0

    def action(self, file: Path, inputs: Mapping[str, str]) -> Ran:
        """Runs the steps of a composite action until one fails."""
        described = yaml.safe_load(file.read_text("utf-8"))
        github = {**self.github, "action_path": str(file.parent)}
        values = {
            name: inputs.get(name, self._filled(one.get("default", ""), {"github": github}))
            for name, one in described["inputs"].items()
        }
        assert set(inputs) <= set(values), "inputs that the action does not have"
        known: dict[str, Any] = {"github": github, "inputs": values, "steps": {}}
        ran = self._walk(described["runs"]["steps"], known)
        ran.outputs = {name: self._filled(one["value"], known) for name, one in described["outputs"].items()}
        return ran

    def job(self, described: Mapping[str, Any]) -> Ran:
        """Runs the steps of a job until one fails."""
        return self._walk(described["steps"], {"github": self.github, "steps": {}})

    def _walk(self, steps: Sequence[Mapping[str, Any]], known: dict[str, Any]) -> Ran:
        ran = Ran()
        for step in steps:
            if "if" in step and not _Expression(str(step["if"]), known).value():
                continue
            became = self._uses(step, known, ran) if "uses" in step else self._bash(step, known)
            ran.code, ran.log = became.code, ran.log + became.log
            if "id" in step:
                known["steps"][step["id"]] = {"outputs": became.outputs}
            if ran.code:
                break
        return ran

    def _filled(self, value: object, known: Mapping[str, Any]) -> str:
        return _HOLE.sub(lambda hole: _text(_Expression(hole[1], known).value()), _text(value))

    def _uses(self, step: Mapping[str, Any], known: Mapping[str, Any], ran: Ran) -> Ran:
        given = {name: self._filled(value, known) for name, value in step.get("with", {}).items()}
        ran.used.append((step["uses"], given))
        return self.other(step["uses"], given)

    def _bash(self, step: Mapping[str, Any], known: Mapping[str, Any]) -> Ran:
        self._scripts += 1
        script, output = self.temp / f"{self._scripts}.sh", self.temp / f"output-{self._scripts}"
        script.write_text(self._filled(step["run"], known), "utf-8")
        output.touch()
        own = {name: self._filled(value, known) for name, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(self.temp)}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        code, log = run_logged(command, self.workspace, {**self.environment, **files, **own})
        lines = output.read_text("utf-8").splitlines()
        return Ran(code, log, outputs=dict(line.split("=", 1) for line in lines))


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
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return str(value)
