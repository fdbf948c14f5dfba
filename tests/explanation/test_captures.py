# SPDX-License-Identifier: Apache-2.0
"""Explanations of generated and real captures: conditions are met where a rule fired, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.explanation import explain
from advisor.facts.profile import Profile
from advisor.model.explanation import Case
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog
from tests.shared_captures import SharedCaptures

JOBS = ("healthy", "slow-rank-compute", "slow-link", "cast-excess", "garbage-collection")
REAL = ("text/level1", "db/level2", "text/level0")


def held(rule: Rule, case: Case) -> bool | None:
    """Whether `when` holds, as far as its comparisons tell; None where one of them is not known."""
    checks = [check.holds for check in case.checks if check.decides == "when"]
    if None in checks or (" or " in rule.when.source and " and " in rule.when.source):
        return None
    return any(checks) if " or " in rule.when.source else all(checks)


def explained_rightly(profile: Profile, catalog: Catalog) -> int:
    """How many subjects were explained; fails where an explanation and the diagnosis disagree."""
    diagnosis = advisor.diagnose(profile)
    known = 0
    for rule in catalog.rules:
        whole = explain(diagnosis.rule(rule.id), rule, diagnosis, profile=profile)
        kept = explain(diagnosis.rule(rule.id), rule, diagnosis)
        for case, other in zip(whole.cases, kept.cases, strict=True):
            holds = held(rule, case)
            assert holds in (None, case.finding is not None), (rule.id, case.checks)
            known += holds is not None
            for one, two in zip(case.checks, other.checks, strict=True):
                assert two.holds in (None, one.holds), (rule.id, one, two)
    return known


@pytest.mark.parametrize("name", JOBS)
def test_generated_captures_are_explained_as_they_were_diagnosed(
    name: str, catalog: Catalog, shared: SharedCaptures
) -> None:
    profile = advisor.load_profile(shared.written(name, small=name != "slow-link"))
    assert explained_rightly(profile, catalog) > 10


@pytest.mark.parametrize("name", REAL)
def test_real_captures_are_explained_as_they_were_diagnosed(name: str, catalog: Catalog, real_data: Path) -> None:
    profile = advisor.load_profile(real_data / "msinsight_pytorch_matrix" / name)
    assert explained_rightly(profile, catalog) > 10
