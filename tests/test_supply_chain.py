# SPDX-License-Identifier: Apache-2.0
"""What the project stands on is stated, pinned and allowed: versions, other people's actions, licences."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from importlib.metadata import Distribution, distribution, version
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
LICENCES = runpy.run_path(str(TOP / "scripts" / "licences"))
LOWEST = runpy.run_path(str(TOP / "scripts" / "lowest"))
OURS = "your-org/"


def locked() -> dict[str, str]:
    """The versions of .ci/constraints.txt that hold on this machine."""
    lines = (TOP / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.partition(" ; ") for line in lines if not line.startswith("#")]
    held = [pin.split("==") for pin, _, marker in pins if not marker or Marker(marker).evaluate()]
    return {canonicalize_name(name): pinned for name, pinned in held}


def uses_in(text: str) -> list[tuple[str, str]]:
    """Each action that a workflow or a page of the documentation uses, with what stands behind it."""
    found = re.findall(r"^[ \t]*(?:- )?[\"']?uses[\"']?:[ \t]*([^\s#]+)[ \t]*(.*)$", text, re.M)
    return [(action, behind) for action, behind in found if not action.startswith((OURS, "./"))]


def copied_files() -> list[Path]:
    """Everything that people copy workflows from, or run."""
    return [
        path
        for kind in ("*.md", "*.yml", "*.yaml")
        for place in (TOP.glob(kind), (TOP / "docs").rglob(kind))
        for path in place
    ]


USES = [(path, *use) for path in copied_files() for use in uses_in(path.read_text("utf-8"))]


@pytest.mark.parametrize(("path", "action", "behind"), USES)
def test_an_action_of_others_is_pinned_by_its_commit_and_says_its_version(path: Path, action: str, behind: str) -> None:
    assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), f"{path}: {action} may become something else overnight"
    assert re.fullmatch(r"# v\d+\.\d+\.\d+", behind), f"{path}: which version is {action}?"


def test_actions_are_seen_wherever_they_stand() -> None:
    assert {path.name for path, *_ in USES} >= {"action.yml", "profile.yml", "bot.md"}
    seen = uses_in(
        "steps:\n  - uses: a/b@v1\n  - name: x\n    uses: 'c/d@main' # v2\n    uses: your-org/advisor@v0.1.0\n"
    )
    assert seen == [("a/b@v1", ""), ("'c/d@main'", "# v2")]


def test_an_action_is_pinned_to_the_same_commit_everywhere() -> None:
    pins = {(action.split("/")[1].partition("@")[0], action.partition("@")[2], behind) for _, action, behind in USES}
    assert len(pins) == len({name for name, *_ in pins})


def test_the_lock_holds_every_dependency_within_its_bounds() -> None:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    wanted = [Requirement(line) for group in groups for line in group if not line.startswith(PROJECT["name"])]
    pins = locked()
    assert [str(one) for one in wanted if not one.specifier.contains(pins[canonicalize_name(one.name)])] == []


def test_a_minimum_that_does_not_go_with_the_others_is_told() -> None:
    project = {
        "name": "own",
        "dependencies": ["numpy>=2.0", "pandas>=2.2"],
        "optional-dependencies": {"x": ["own[y]", "Y>=1"]},
    }
    told = LOWEST["broken_promises"](project, "# by uv\nnumpy==2.0.0\npandas==2.2.2 ; python_version > '3'\n")
    assert told == [
        "pandas>=2.2 is stated, the lowest that goes with the others is 2.2.2",
        "y>=1 is stated, the lowest that goes with the others is None",
    ]


def test_the_page_shows_the_packages_and_licences_that_are_installed() -> None:
    pins = locked()
    packages = LICENCES["runtime_packages"]()
    if other := [name for name in packages if version(name) != pins.get(name)]:
        pytest.skip(f"other versions than in .ci/constraints.txt are installed: {', '.join(other)}")
    page = (TOP / "docs" / "dependencies.md").read_text("utf-8")
    shown = page.split("<!-- written by scripts/licences -->\n", 1)[1].split("\n\n", 1)[0] + "\n"
    assert shown == LICENCES["table"]()
    assert LICENCES["complaints"]() == []


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("BSD-3-Clause AND (0BSD OR MIT)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("MIT OR AGPL-3.0-or-later", False),
        ("BSD", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_where_all_that_it_names_are(licence: str, allowed: bool) -> None:
    assert LICENCES["is_allowed"](licence) is allowed


def installed(folder: Path, name: str, *lines: str) -> Distribution:
    """A package with this metadata."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines, ""]), "utf-8"
    )
    return Distribution.at(info)


MIT = "Classifier: License :: OSI Approved :: MIT License"
BSD = "Classifier: License :: OSI Approved :: BSD License"


@pytest.mark.parametrize(
    ("name", "lines", "licence"),
    [
        ("one", ["License-Expression: MIT AND Zlib", "License: unread", BSD], "MIT AND Zlib"),
        ("one", ["License: MPL-2.0", MIT], "MPL-2.0"),
        ("one", ["License: Apache Software License, see the file", MIT], "MIT"),
        ("one", [BSD], ""),
        ("one", [], ""),
        ("Jinja2", [BSD], "BSD-3-Clause"),
    ],
)
def test_a_licence_is_what_the_metadata_states(tmp_path: Path, name: str, lines: list[str], licence: str) -> None:
    assert LICENCES["stated_licence"](installed(tmp_path, name, *lines)) == licence


def test_what_a_dependency_brings_along_is_followed_with_its_extras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "first_of_ours", "Requires-Dist: second-of-ours[more]; python_version > '3'")
    installed(
        tmp_path,
        "second_of_ours",
        "Requires-Dist: third-of-ours; extra == 'more'",
        "Requires-Dist: no; extra == 'less'",
    )
    installed(tmp_path, "third_of_ours", "Requires-Dist: first-of-ours", "Requires-Dist: old; python_version < '3'")
    monkeypatch.syspath_prepend(tmp_path)
    brought = LICENCES["brought_along"](["First.of.ours>=1"])
    assert sorted(brought) == ["first-of-ours", "second-of-ours", "third-of-ours"]


def test_a_bill_that_names_other_packages_is_told(tmp_path: Path) -> None:
    names = {package.name for package, _ in LICENCES["runtime_packages"]().values()}
    bill = tmp_path / "bill.json"
    bill.write_text(
        json.dumps({"components": [{"name": name} for name in (names - {"numpy"}) | {"left-pad"}]}), "utf-8"
    )
    missing = [one for one in LICENCES["complaints"](bill) if "bill" in one]
    assert missing == ["left-pad: in the bill or wanted, not both", "numpy: in the bill or wanted, not both"]


def test_the_extras_of_users_are_told_from_those_of_development() -> None:
    everyone, tests_alone = distribution("numpy").name, distribution("pytest").name
    packages = LICENCES["runtime_packages"]()
    assert packages[everyone][1] == ()
    assert packages["httpx2"][1] == ("bot", "mcp")
    assert packages["xlsxwriter"][1] == ("xlsx",)
    assert tests_alone not in packages
