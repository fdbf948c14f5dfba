# SPDX-License-Identifier: Apache-2.0
"""Values by their keys are all the values there are, in their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.report.grouping import values_by_key


@given(st.lists(st.tuples(st.integers(0, 5), st.integers())))
def test_each_key_has_its_values_in_the_order_in_which_they_are_met(pairs: list[tuple[int, int]]) -> None:
    found = values_by_key(pairs)
    assert list(found) == list(dict.fromkeys(key for key, _ in pairs))
    assert found == {key: [value for other, value in pairs if other == key] for key in found}
