# SPDX-License-Identifier: Apache-2.0
"""What the documentation tells people to write works as written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from advisor.cli.main import main
from advisor.cli.top_parser import build_parser
from advisor.engine.case_runs import prove_rule
from advisor.expr.language import RUN_NAMES
from advisor.machine.shipped_files import shipped_folder
from advisor.model.comparison import Tolerance
from advisor.policy.policy_file import BUDGETS, SECTIONS
from advisor.policy.settings import TOP_LEVEL, Settings
from advisor.reference import pages as reference
from advisor.report.output_formats import COMPARED_WRITERS, MODULE_WRITERS, STATISTICS_WRITERS, VERDICT, WRITERS
from advisor.report.rule_text import rule_text
from advisor.report.writers import check_output
from advisor.rules.catalog import Catalog
from advisor.rules.schema import WholeRuleFile

TOP = Path(__file__).parent.parent
PAGES = [*TOP.glob("*.md"), *(TOP / "docs").glob("*.md")]
TABLES = {"compare": COMPARED_WRITERS, "stats": STATISTICS_WRITERS, "modules": MODULE_WRITERS}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (TOP / page).read_text("utf-8"), re.M | re.S)


def test_the_rule_of_the_guide_loads_lints_and_passes_its_cases(tmp_path: Path) -> None:
    rule, *_ = blocks("docs/writing-rules.md", "yaml")
    path = tmp_path / "acme" / "slow-embedding.yaml"
    path.parent.mkdir()
    path.write_text(rule, "utf-8")
    assert main(["rules", "lint", str(tmp_path)]) == 0
    (loaded,) = Catalog.load([tmp_path]).rules
    assert prove_rule(loaded) == []


def test_the_guide_names_every_name_of_the_run_and_every_text_it_can_be() -> None:
    page = (TOP / "docs/writing-rules.md").read_text("utf-8")
    (listed,) = re.findall(r"^- Names of the run: (.*?)\n\n", page, re.M | re.S)
    said = re.findall(r"`([^`]+)`", listed)
    assert [one.name for one in RUN_NAMES if one.name not in said] == []
    for one in RUN_NAMES:
        told = re.search(rf"`{one.name}` \(([^()]*)\)", listed)
        wrong = set(re.findall(r"`([^`]+)`", told[1])) - set(one.values) if told and one.values else set()
        assert wrong == set(), one.name


def test_the_guide_names_every_key_that_a_rule_needs() -> None:
    page = (TOP / "docs/writing-rules.md").read_text("utf-8")
    told = re.search(r"^A rule needs (.*?); all others", page, re.M | re.S)
    needed = [field.alias or name for name, field in WholeRuleFile.model_fields.items() if field.is_required()]
    assert told is not None
    assert sorted(re.findall(r"`(\w+)`", told[1])) == sorted(needed)


def test_the_remedy_of_the_guide_fits_into_its_rule(tmp_path: Path) -> None:
    rule, _, _, remedy, *_ = blocks("docs/writing-rules.md", "yaml")
    path = tmp_path / "acme" / "slow-embedding.yaml"
    path.parent.mkdir()
    path.write_text(re.sub(r"^fix:\n(?:[ -].*\n)+", lambda _: remedy, rule, flags=re.M), "utf-8")
    (loaded,) = Catalog.load([tmp_path]).rules
    assert loaded.settings == {"TASK_QUEUE_ENABLE"}


def test_the_text_of_the_guide_fits_into_its_rule_and_passes_the_lint(tmp_path: Path) -> None:
    rule, why, *_ = blocks("docs/writing-rules.md", "yaml")
    path = tmp_path / "acme" / "slow-embedding.yaml"
    path.parent.mkdir()
    path.write_text(re.sub(r"^why:\n(?: .*\n)+", lambda _: why, rule, flags=re.M), "utf-8")
    assert main(["rules", "lint", str(tmp_path)]) == 0
    (loaded,) = Catalog.load([tmp_path]).rules
    kinds = [type(block).__name__ for block in rule_text(loaded.why.en)]
    assert kinds == ["Paragraph", "ListBlock", "Grid", "Paragraph"]


def test_the_settings_of_the_guide_are_accepted(tmp_path: Path) -> None:
    *_, settings = blocks("docs/writing-rules.md", "yaml")
    (tmp_path / "advisor.yaml").write_text(settings, "utf-8")
    catalog = Catalog.load([shipped_folder("rules")], Settings.read(tmp_path / "advisor.yaml"))
    (rule,) = catalog.select(["host/free-time"]).rules
    moved = {param.value for param in rule.info().params if param.overridden}
    assert moved == {0.15}
    assert "memory/near-capacity" not in {rule.id for rule in catalog.rules}


def test_the_whole_file_of_the_gate_is_accepted_and_leaves_nothing_out(tmp_path: Path) -> None:
    text, chips = blocks("docs/gate.md", "yaml")
    (tmp_path / "advisor.yaml").write_text(text, "utf-8")
    settings = Settings.read(tmp_path / "advisor.yaml")
    Catalog.load([shipped_folder("rules")], settings)
    assert set(yaml.safe_load(text)) == {*TOP_LEVEL, *SECTIONS}
    assert {budget.name for budget in settings.policy.budgets} == set(BUDGETS)
    assert settings.tolerance == Tolerance()
    assert len(settings.policy.suppressions) == 2
    (tmp_path / "advisor.yaml").write_text(chips, "utf-8")
    assert Settings.read(tmp_path / "advisor.yaml").chips.named("acme-910") is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def commands(page: Path) -> Iterator[list[str]]:
    """The words behind `advisor` of every command in the blocks of a page, the lists of containers included."""
    for block in re.findall(r"^ *```\w+\n(.*?)^ *```", page.read_text("utf-8"), re.M | re.S):
        yield from (yaml.safe_load(f"[{words}]") for words in re.findall(r"command: \[advisor, (.*)\]", block))
        for line in re.findall(r"^(?:\$ | *- run: | *- )?advisor ([a-z].*)$", block, re.M):
            words = shlex.split(re.split(r" \|\|? | 2>| >>? | && | & ", line)[0], comments=True)
            if "…" not in words:
                yield [word for word in words if "[@]" not in word]  # what a script has in an array


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_understood_and_so_is_every_report_it_asks_for(page: Path) -> None:
    for words in commands(page):
        taken = build_parser(words[0]).parse_args(words)
        outputs = getattr(taken, "output", None)
        for output in outputs if isinstance(outputs, list) else ():
            check_output(output, (*TABLES.get(words[0], WRITERS), VERDICT))


def test_commands_are_found_on_the_pages_that_show_them() -> None:
    assert sum(len(list(commands(page))) for page in PAGES) > 80
    assert ["diagnose", "/profiles/run-17"] in [words[:2] for words in commands(TOP / "docs/cluster.md")]


def test_every_page_is_found_from_the_readme() -> None:
    reached, waiting = set[Path](), [TOP / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = re.findall(r"\]\(([^)#:\s]+\.md)(?:#[^)]*)?\)", page.read_text("utf-8"))
        waiting += {(page.parent / target).resolve() for target in targets} - reached
    assert {page for page in PAGES if page not in reached} == set()


def anchor(heading: str) -> str:
    """What a heading is called in an address, as forges and editors make it."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip())
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_into_a_page_leads_to_a_heading(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", page.read_text("utf-8")):
        other = (page.parent / target) if target else page
        if other.suffix == ".md":
            text = other.read_text("utf-8")
            known = {*map(anchor, re.findall(r"^#+ (.+)$", text, re.M)), *re.findall(r'<a id="([^"]+)">', text)}
            assert heading in known, f"{target}#{heading}"


def said(command: str, folder: Path, advisor: Path) -> list[str]:
    """What a command prints on a terminal of 100 columns; it may run `advisor` and `python -m corpus`."""
    script = f'advisor() {{ "{advisor}" "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; {command}'
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": str(TOP), "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return [line.rstrip() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/gate.md", "docs/compare.md", "docs/modules.md"])
def test_a_page_shows_what_its_commands_print(page: str, tmp_path: Path, advisor_command: Path) -> None:
    (tmp_path / "corpus").symlink_to(TOP / "corpus")
    for block in blocks(page, "console"):
        for command, *shown in (part.splitlines() for part in block.split("$ ")[1:]):
            printed = "\n".join(said(command, tmp_path, advisor_command))
            for passage in "\n".join(shown).split("…\n"):
                assert passage.strip("\n…") in printed, command


def test_the_readme_holds_exactly_two_commands() -> None:
    assert len(blocks("README.md", "sh")) == 2


def test_the_pattern_of_the_page_lints_and_passes_its_cases(tmp_path: Path) -> None:
    pattern, *_ = blocks("docs/patterns.md", "yaml")
    path = tmp_path / "patterns" / "relu-squared.yaml"
    path.parent.mkdir()
    path.write_text(pattern, "utf-8")
    assert main(["rules", "lint", str(tmp_path)]) == 0
    assert main(["rules", "test", str(tmp_path)]) == 0


def test_the_check_of_generated_pages_says_what_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference, "TOP", tmp_path)
    monkeypatch.setattr(reference, "generated_pages", lambda: iter([("docs/a.md", "new")]))
    assert reference.main(["--check"]) == 1
    assert capsys.readouterr().out == "stale: docs/a.md\npython -m advisor.reference writes them\n"
    assert reference.main([]) == 0
    capsys.readouterr()
    assert reference.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
