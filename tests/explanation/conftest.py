# SPDX-License-Identifier: Apache-2.0
"""The checked-in capture, diagnosed once."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.facts.profile import Profile
from advisor.model.findings import Diagnosis
from advisor.pipeline import diagnose
from advisor.rules.catalog import Catalog

CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return advisor.load_rules()


@pytest.fixture(scope="session")
def profile() -> Profile:
    return advisor.load_profile(CASE)


@pytest.fixture(scope="session")
def diagnosis(profile: Profile, catalog: Catalog) -> Diagnosis:
    return diagnose(profile, catalog)


@pytest.fixture(scope="session")
def saved(diagnosis: Diagnosis) -> Diagnosis:
    """The same, written and read again."""
    return Diagnosis.model_validate_json(diagnosis.to_json())
