# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import TIER, TIERS

OWN = 50


@settings(max_examples=OWN)
@given(st.integers())
def test_a_property_asks_for_examples(number: int) -> None:
    assert isinstance(number, int)


def test_a_property_is_tried_on_as_many_examples_as_its_tier_has() -> None:
    had = test_a_property_asks_for_examples._hypothesis_internal_use_settings  # type: ignore[attr-defined]
    assert had.max_examples == round(OWN * TIERS[TIER])
    assert had.derandomize == (TIER == "landing")
