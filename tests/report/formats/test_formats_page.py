# SPDX-License-Identifier: Apache-2.0
"""The page about formats shows what its commands print, and names every format there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.report.output_formats import WRITERS
from tests.report.formats.formats_samples import FORMATS
from tests.test_documentation import TOP, blocks, said

PAGE = "docs/formats.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the page supposes it, with the report that its first command writes."""
    path = tmp_path_factory.mktemp("page")
    (path / "corpus").symlink_to(TOP / "corpus")
    return path


def test_every_command_prints_what_the_page_shows(folder: Path, advisor_command: Path) -> None:
    commands = [part for block in blocks(PAGE, "console") for part in block.split("$ ")[1:]]
    assert len(commands) >= len(FORMATS)
    for command, *shown in (part.splitlines() for part in commands):
        printed = "\n".join(said(command, folder, advisor_command))
        place = 0
        for passage in re.split(r"…\n?", "\n".join(shown)):
            found = printed.find(passage.strip("\n"), place)
            assert found >= 0, f"{command}\n{passage}\nnot in\n{printed}"
            place = found + len(passage.strip("\n"))


def test_the_page_names_every_format_with_its_endings_and_a_command() -> None:
    page = (TOP / PAGE).read_text("utf-8")
    rows = dict(re.findall(r"^\| \[[^]]+\]\([^)]+\) \| (.*?) \| `(\w+)` \|", page, re.M))
    for name, writer in FORMATS.items():
        endings = ", ".join(f"`{suffix}`" for suffix in writer.suffixes)
        assert rows.get(endings) == name, f"docs/formats.md has no row of {endings}, written as `{name}`"
        assert re.search(rf"-o (?:{name}:|\S*{re.escape(writer.suffix)}|gl-code)", page)


def test_the_command_line_names_every_ending() -> None:
    page = (TOP / "docs" / "reference" / "cli.md").read_text("utf-8")
    unnamed = [writer.suffix for writer in WRITERS if writer.suffix not in page]
    assert unnamed == [], "python -m advisor.reference writes the page"
