# SPDX-License-Identifier: Apache-2.0
"""What the documentation tells people to write works as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.cli import main
from advisor.engine.prove import prove
from advisor.rules.catalog import Catalog
from advisor.rules.settings import Settings
from advisor.shipped import shipped

TOP = Path(__file__).parent.parent
PAGES = [*TOP.glob("*.md"), *(TOP / "docs").glob("*.md")]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (TOP / page).read_text("utf-8"), re.M | re.S)


def test_the_rule_of_the_guide_loads_lints_and_passes_its_cases(tmp_path: Path) -> None:
    rule, _ = blocks("docs/writing-rules.md", "yaml")
    path = tmp_path / "acme" / "slow-embedding.yaml"
    path.parent.mkdir()
    path.write_text(rule, "utf-8")
    assert main(["rules", "lint", str(tmp_path)]) == 0
    (loaded,) = Catalog.load([tmp_path]).rules
    assert prove(loaded) == []


def test_the_settings_of_the_guide_are_accepted(tmp_path: Path) -> None:
    _, settings = blocks("docs/writing-rules.md", "yaml")
    (tmp_path / "advisor.yaml").write_text(settings, "utf-8")
    catalog = Catalog.load([shipped("rules")], Settings.read(tmp_path / "advisor.yaml"))
    (rule,) = catalog.select(["host/free-time"]).rules
    moved = {param.value for param in rule.info().params if param.overridden}
    assert moved == {0.15}
    assert "memory/near-capacity" not in {rule.id for rule in catalog.rules}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_readme_holds_exactly_two_commands() -> None:
    assert len(blocks("README.md", "sh")) == 2
