# SPDX-License-Identifier: Apache-2.0
"""Each rule names what it is for, from the files of a capture on, and is quiet on a twin that is nearly the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import load_rules
from advisor.model.findings import Diagnosis
from advisor.model.job import TOLD_WORKLOADS
from advisor.pipeline import diagnose, open_profile
from corpus.signs import Sign, all_signs

SIGNS = all_signs()


RULES = load_rules()


def diagnosed(folder: Path, rule: str, sign: Sign) -> Diagnosis:
    told = TOLD_WORKLOADS.get(sign.workload)
    return diagnose(open_profile(folder, jobs=1, job=told), RULES.select([rule]))


@pytest.mark.parametrize("rule", sorted(SIGNS))
def test_a_rule_names_its_sign(rule: str, tmp_path: Path) -> None:
    sign = SIGNS[rule]
    sign.spoiled(tmp_path / "capture")
    found = diagnosed(tmp_path / "capture", rule, sign)
    assert [outcome.outcome for outcome in found.outcomes if outcome.rule == rule] == ["fired"], found.outcomes
    evidence = {shown.name: shown.value for shown in found.findings[0].evidence}
    assert {name: expected(value) for name, value in sign.shows.items()} == {
        name: evidence.get(name) for name in sign.shows
    }


def expected(value: object) -> object:
    """A plain number as nearly as reports show it."""
    return pytest.approx(value, rel=1e-3) if isinstance(value, int | float) else value


@pytest.mark.parametrize("rule", sorted(SIGNS))
def test_a_rule_looks_at_the_twin_and_is_quiet(rule: str, tmp_path: Path) -> None:
    sign = SIGNS[rule]
    sign.twin(tmp_path / "capture")
    found = diagnosed(tmp_path / "capture", rule, sign)
    assert {outcome.outcome for outcome in found.outcomes if outcome.rule == rule} <= sign.twin_may, found.outcomes
