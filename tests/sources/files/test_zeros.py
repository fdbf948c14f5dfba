# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.files.zeros import (
    BREAK,
    SHORTEST_RUN,
    CountedZeros,
    WithoutZeros,
    Zeros,
    break_at_zeros,
)

TEXTS = st.lists(
    st.sampled_from([b"a", b",", b"\n", b'"'])
    | st.integers(1, SHORTEST_RUN - 1).map(bytes)
    | st.integers(SHORTEST_RUN, 80).map(bytes),
    max_size=12,
).map(b"".join)


@given(TEXTS, st.integers(1, 50))
def test_runs_are_the_same_wherever_a_text_is_cut_into_blocks(text: bytes, size: int) -> None:
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    counted = CountedZeros()
    for block in blocks:
        counted.add(block)
    body = text.rstrip(b"\0")
    runs = [*re.finditer(rb"\0{%d,}" % SHORTEST_RUN, body)]
    first = runs[0].start() if runs else 0
    assert counted.all() == Zeros(sum(len(run[0]) for run in runs), first, len(text) - len(body))
    broken = re.sub(rb"\0{%d,}" % SHORTEST_RUN, BREAK, body) + b"\0" * (body != text)
    assert b"".join(break_at_zeros(blocks)) == broken


@pytest.mark.parametrize("zeros", [0, 100, 5_000_000])
def test_a_file_is_read_with_breaks_in_pieces_of_any_size(zeros: int) -> None:
    text = b"a,b\n" * 1000 + bytes(zeros) + b"c,d\n" * 1000
    found = b""
    with io.BufferedReader(WithoutZeros(io.BytesIO(text)), 512) as file:
        while block := file.read(700):
            found += block
    assert found == b"a,b\n" * 1000 + (BREAK if zeros else b"") + b"c,d\n" * 1000
