# SPDX-License-Identifier: Apache-2.0
"""Patterns of chains: what is wrong with a file is said with its place; one's own are looked for like shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
import corpus
from advisor.__main__ import main
from advisor.facts.derived import FusibleChain
from advisor.messages.errors import RuleError
from advisor.pipeline import open_profile
from advisor.rules.catalog import Catalog, lint_rules
from advisor.rules.patterns import Pattern, shipped_patterns

OWN = """\
name: my-chain
since: 1.0.0
operator: MyFused
chains:
  - {members: "Sin! MUL?  Cos"}
fix:
  - do: {en: Call the fused one.}
    code: y = fused(x)
tests:
  - {name: finds it, kernels: Sin Mul Cos, chains: 1}
"""


def written(folder: Path, text: str, name: str = "my-chain") -> Path:
    """A folder of rules with this pattern alone."""
    path = folder / "patterns" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder


def told(folder: Path) -> list[str]:
    """What lint says: place and mistake, without hints."""
    return [f"{one.place.line}: {one.what}" for one in lint_rules([folder])]


def test_a_pattern_of_ones_own_is_right_as_it_stands(tmp_path: Path) -> None:
    assert told(written(tmp_path, OWN)) == []
    chains = Catalog.load([tmp_path]).patterns.chains
    assert {"my-chain", "attention"} <= {one.name for one in chains.patterns}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("name: my-chain", "name: chain", "1: the name is that of the file, in small letters with dashes: `my-chain`"),
        ("Sin!", "Sin", "5: one member, and only one, is marked with `!`"),
        ("Sin!", "SIN!", "5: no spellings are given for `SIN`"),
        ('Cos"', 'Cos?"', "5: fewer than two members that have to be there"),
        ('Cos"', "Cos " + "Mul? " * 15 + '"', "5: more than 16 members, or more than 8 that may be missing"),
        ('Cos"', 'Cos", keeps: Tan', "5: `Tan` is no member of the chain"),
        ('Cos"', 'Cos", wants: Cos Sin', "5: `wants` has the members, without marks, in another order: `Sin MUL Cos`"),
        (
            'Cos"',
            'Cos", wants: Sin MUL Cos',
            "5: `wants` has the members, without marks, in another order: `Sin MUL Cos`",
        ),
        ('Cos"', 'Cos", pases: 2', "5: unknown key `pases`"),
        ("chains: 1", "chains: 0", "9: no case in which a chain is found"),
        ("    code:", "    when: stage == 1\n    code:", "8: unknown name `stage`"),
        ("    code:", "    when: rank_count\n    code:", "8: expected a condition, found number"),
        ("operator: MyFused\n", "", "1: `operator` is missing"),
        ("one.}", "<b>one</b>.}", "7: raw HTML is shown as it stands: `<b>`"),
    ],
)
def test_the_author_is_told_what_is_wrong_and_where(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert OWN.count(old) == 1
    assert what in told(written(tmp_path, OWN.replace(old, new)))


def test_a_pattern_cannot_be_defined_twice(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="`norm` is defined twice"):
        Catalog.load([written(tmp_path, OWN.replace("my-chain", "norm"), "norm")])


def test_the_cases_of_a_pattern_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "test", str(written(tmp_path, OWN))]) == 0
    assert "ok      patterns/my-chain" in capsys.readouterr().out
    assert main(["rules", "test", str(written(tmp_path, OWN.replace("Sin Mul Cos,", "Sin Mul,")))]) == 1
    assert "finds it: expected 1 chain, got 0" in capsys.readouterr().out


def test_chains_are_looked_for_by_the_patterns_of_the_rules_in_force(tmp_path: Path) -> None:
    folder = corpus.write(corpus.job("python-busy"), tmp_path / "job")
    profile = open_profile(next(folder.glob("*_ascend_pt")))
    before = profile.table(FusibleChain).rows()
    own = OWN.replace("Sin! MUL?  Cos", "RotaryMul! FlashAttentionScore")
    own = own.replace("Sin Mul Cos", "RotaryMul FlashAttentionScore")
    advisor.diagnose(profile, rules=[written(tmp_path / "own", own)])
    patterns = {row["pattern"] for row in profile.table(FusibleChain).rows()}
    assert patterns == {"my-chain", *(row["pattern"] for row in before)}
    profile.look_for(shipped_patterns().chains)
    assert profile.table(FusibleChain).rows() == before


@pytest.mark.parametrize("pattern", shipped_patterns().patterns, ids=lambda pattern: pattern.name)
def test_every_shipped_pattern_has_a_case_on_which_it_is_quiet(pattern: Pattern) -> None:
    assert {bool(case.chains) for case in pattern.tests} == {True, False}
