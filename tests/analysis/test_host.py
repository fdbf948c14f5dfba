# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.host import RowMarks


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=16))
def test_every_row_bears_the_marks_it_was_given(masks: list[list[bool]]) -> None:
    given_marks = {f"mark {number}": np.array(mask) for number, mask in enumerate(masks)}
    marks = RowMarks(5, given_marks.items())
    assert {name: mask.tolist() for name, mask in marks.items()} == {n: m.tolist() for n, m in given_marks.items()}
    assert list(marks) == list(given_marks)
