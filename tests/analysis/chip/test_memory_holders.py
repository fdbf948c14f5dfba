# SPDX-License-Identifier: Apache-2.0
"""Who held device memory when operators held most of it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.chip.memory import memory_holders
from advisor.facts.base import MISSING
from advisor.facts.observed import OperatorMemory
from advisor.facts.table import Table


def allocations(rows: list[tuple[int, str, float, int, int]]) -> Table[OperatorMemory]:
    rank, name, size, begin, end = zip(*rows, strict=True) if rows else ((),) * 5
    return Table.build(
        OperatorMemory,
        rank=np.array(rank, np.int64),
        name=list(name),
        size_bytes=np.array(size, float),
        allocated_ns=np.array(begin, np.int64),
        released_ns=np.array(end, np.int64),
    )


def test_what_is_alive_at_the_peak_is_told_by_operator() -> None:
    found = memory_holders(
        allocations([
            (0, "mm", 100, 10, 50), (0, "mm", 50, 20, MISSING), (0, "add", 70, 30, 40), (0, "add", 500, 1, 5),
            (0, "add", 400, 60, 70), (0, "softmax", 300, 20, 41), (0, "before", 1000, MISSING, 25),
        ])
    ).rows()  # fmt: skip
    held = {row["name"]: (row["held_bytes"], row["allocations"], row["largest_bytes"]) for row in found}
    assert held == {"mm": (150, 2, 100), "add": (70, 1, 70), "softmax": (300, 1, 300)}
    assert sum(row["held_share"] for row in found) == pytest.approx(1)


def test_nothing_is_held_where_nothing_was_allocated() -> None:
    assert not len(memory_holders(allocations([])))
    assert not len(memory_holders(allocations([(0, "mm", 5, MISSING, 7)])))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1), st.sampled_from("abc"), st.integers(1, 9), st.integers(0, 12),
            st.integers(0, 8) | st.none(),
        ),
        max_size=14,
    )
)  # fmt: skip
def test_holders_are_those_a_walk_over_all_moments_finds(rows: list[tuple]) -> None:
    table = [(r, n, float(s), b, MISSING if d is None else b + d) for r, n, s, b, d in rows]
    expected = {}
    for rank in {row[0] for row in table}:
        mine = [row for row in table if row[0] == rank]
        alive = {
            moment: [row for row in mine if row[3] <= moment and (row[4] == MISSING or row[4] > moment)]
            for moment in sorted({row[3] for row in mine})
        }
        most = max(sum(row[2] for row in those) for those in alive.values())
        first = next(those for those in alive.values() if sum(row[2] for row in those) == most)
        by_name = defaultdict(float)
        for row in first:
            by_name[row[1]] += row[2]
        expected |= {(rank, name): size for name, size in by_name.items()}
    found = {(row["rank"], row["name"]): row["held_bytes"] for row in memory_holders(allocations(table)).rows()}
    assert found == expected
