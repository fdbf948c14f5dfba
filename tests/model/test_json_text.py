# SPDX-License-Identifier: Apache-2.0
"""Documents of JSON read back as what was written, in the form that `json` itself gives them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.model.json_text import json_text

TEXTS = st.text(st.characters())  # half of a surrogate pair too
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(document=VALUES)
def test_documents_are_written_as_json_would_indent_them(document: object) -> None:
    text = json_text(document)
    assert text == json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    assert json.loads(text) == document


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_never_written(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"saving": number})
