# SPDX-License-Identifier: Apache-2.0
"""Reads a GitLab CI template as GitLab does: what is included is the second document, with the inputs filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_HOLE = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]")


def included(template: Path, inputs: Mapping[str, str]) -> dict[str, Any]:
    """The jobs of a template with these inputs."""
    head, body = re.split(r"^---$", template.read_text("utf-8"), maxsplit=1, flags=re.M)
    described = yaml.safe_load(head)["spec"]["inputs"]
    assert set(inputs) <= set(described), "inputs that the template does not have"
    values: dict[str, str] = {}
    for name, one in described.items():
        assert name in inputs or "default" in one, f"{name} is required"
        value = inputs.get(name, one.get("default"))
        values[name] = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else str(value)
        assert values[name] in one.get("options", [values[name]])
    jobs: dict[str, Any] = _filled(yaml.safe_load(body), values)
    return jobs


def _filled(node: Any, values: Mapping[str, str]) -> Any:
    """Inputs are put into the parsed text: a value cannot add keys."""
    if isinstance(node, dict):
        return {_filled(name, values): _filled(one, values) for name, one in node.items()}
    if isinstance(node, list):
        return [_filled(one, values) for one in node]
    return _HOLE.sub(lambda hole: values[hole[1]], node) if isinstance(node, str) else node
