# SPDX-License-Identifier: Apache-2.0
"""docs/ci.md names what there is: no input more, none less."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "ci.md").read_text("utf-8")


def inputs(file: str) -> set[str]:
    described = next(yaml.safe_load_all((TOP / file).read_text("utf-8")))
    return set(described["spec"]["inputs"] if "spec" in described else described["inputs"])


def table(after: str) -> list[list[str]]:
    """The names in the first column of the table behind these words."""
    rows = PAGE.split(after, 1)[1].lstrip().split("\n\n", 1)[0].splitlines()[2:]
    return [re.findall(r"`([\w-]+)`", row.split("|")[1]) for row in rows]


@pytest.mark.parametrize("file", ["action.yml", "ci/gitlab.yml"])
def test_every_input_is_explained_once(file: str) -> None:
    named = [name for names in table(f"<!-- inputs of {file} -->") for name in names]
    assert sorted(named) == sorted(inputs(file))


def test_every_output_of_the_action_is_explained() -> None:
    named = {name for names in table("the token of the workflow |\n") for name in names}
    assert named == set(yaml.safe_load((TOP / "action.yml").read_text("utf-8"))["outputs"])


def test_the_layout_shown_is_that_of_the_example() -> None:
    shown = re.search(r"```text\n(.*?)```", PAGE, re.S)
    assert shown
    folder = TOP / "docs" / "example-repository"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {line.split()[0] for line in shown[1].splitlines()} == files


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE, re.S), ids=lambda text: text.split()[0])
def test_the_snippets_are_yaml_and_give_what_is_taken(block: str) -> None:
    said = yaml.safe_load(block)
    if isinstance(said, list):
        assert set(said[0]["with"]) <= inputs("action.yml")
    else:
        assert set(said["include"][0]["inputs"]) <= inputs("ci/gitlab.yml")
