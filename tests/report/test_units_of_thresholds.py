# SPDX-License-Identifier: Apache-2.0
"""A value and the threshold that it is held against are told in one unit, whatever the value is."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import rich

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Language
from advisor.model.findings import Evidence
from advisor.report.diagnosis.cards import Maker
from advisor.report.prose import flat_text
from advisor.rules.catalog import Catalog
from advisor.rules.rule import EvidenceSpec, Rule

RULES = Catalog.load([shipped_folder("rules")]).rules
HELD = [(rule, item) for rule in RULES for item in rule.evidence if item.threshold]
RICH = rich().model_copy(update={"rules": tuple(rule.info() for rule in RULES)})


def sign(said: str) -> str:
    """The unit that is written behind a number."""
    return said.lstrip("<>∞ 0123456789.,-")


@pytest.mark.parametrize("language", get_args(Language))
@given(held=st.sampled_from(HELD), value=st.floats(0.001, 40))
def test_a_share_or_a_multiple_keeps_its_unit_beside_its_threshold(
    language: Language, held: tuple[Rule, EvidenceSpec], value: float
) -> None:
    rule, item = held
    limit = rule.params[item.threshold].value
    one = Evidence(name=item.name, value=value, unit=item.unit, threshold=limit, param=item.threshold)
    shown = Maker(RICH, language).measure(one, rule.info())
    told = sign(flat_text(shown.value))
    assert item.unit not in ("share", "times") or told == sign(shown.threshold)
    assert (
        item.unit != "share" or told == ("%" if value <= 1 else "倍" if language == "zh" else "×") or 1 < value < 1.01
    )


def test_every_value_has_the_unit_of_the_threshold_that_it_is_held_against() -> None:
    units = {(rule.id, item.name): (item.unit, rule.params[item.threshold].unit) for rule, item in HELD}
    assert {one: both for one, both in units.items() if both[1] not in ("", both[0])} == {}
