# SPDX-License-Identifier: Apache-2.0
"""What the hardware counted within kernels is weighed by their time and told by operator type."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.operator_counters import operator_counters
from advisor.facts.derived import OperatorShare
from advisor.facts.observed import Kernel, KernelCounters, L2Cache
from advisor.facts.table import Table, Texts
from advisor.messages.errors import FactMissing

TYPES = ("Add", "Mul", "MatMul")
OPERATORS = Table.build(
    OperatorShare,
    rank=[0, 0, 0, 1],
    op_type=["MatMul", "Add", "Mul", "Add"],
    core="AI_CORE",
    family="matmul",
    total_us=[400.0, 40.0, 20.0, 10.0],
    step_share=[0.4, 0.04, 0.02, 0.01],
)
KERNELS = Table.build(
    Kernel,
    rank=[0, 0, 0, 1],
    op_name=["a", "b", "c", "a"],
    op_type=["MatMul", "MatMul", "Add", "Add"],
    duration_us=[30.0, 10.0, 5.0, 5.0],
)


def rows(counted: Table[KernelCounters] | None = None, cache: Table[L2Cache] | None = None) -> dict[object, dict]:
    found = operator_counters(OPERATORS, KERNELS, counted, cache).rows()
    return {(row["rank"], row["op_type"]): row for row in found}


def test_without_counters_there_is_nothing_to_tell() -> None:
    with pytest.raises(FactMissing):
        operator_counters(OPERATORS, KERNELS, None, None)


def test_a_cache_of_which_no_hit_rate_was_recorded_tells_nothing() -> None:
    with pytest.raises(FactMissing):
        rows(cache=Table.build(L2Cache, rank=[0], op_name=["a"], hit_share=[np.nan]))


def test_hits_of_the_l2_cache_are_weighed_by_the_time_of_kernels_of_that_name() -> None:
    cache = Table.build(L2Cache, rank=[0, 0, 0, 1], op_name=["a", "b", "c", "gone"], hit_share=[0.2, 0.6, np.nan, 0.9])
    (one,) = rows(cache=cache).values()
    assert (one["op_type"], one["hit_share"]) == ("MatMul", pytest.approx(0.3))
    assert (one["total_us"], one["step_share"], one["bank_share"]) == (400, 0.4, None)


def test_the_cache_knows_kernels_by_the_name_behind_their_scope() -> None:
    scoped = KERNELS.having(op_name=Texts.of(["Default/net/MatMul-op1/a", "Default/net/MatMul-op2/a", "c", "a"]))
    cache = Table.build(L2Cache, rank=[0, 0], op_name=["a", "c"], hit_share=[0.2, np.nan])
    found = operator_counters(OPERATORS, scoped, None, cache).rows()
    assert [(row["op_type"], row["hit_share"]) for row in found] == [("MatMul", pytest.approx(0.2))]


def test_counters_of_kernels_come_before_those_of_the_cache() -> None:
    cache = Table.build(L2Cache, rank=[0, 0], op_name=["a", "c"], hit_share=[0.2, 0.7])
    counted = Table.build(
        KernelCounters, rank=[0], op_type=["MatMul"], duration_us=[5.0], l2_hits=[90.0], l2_misses=[10.0]
    )
    assert {key: row["hit_share"] for key, row in rows(counted, cache).items()} == {(0, "MatMul"): 0.9, (0, "Add"): 0.7}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1), st.sampled_from((*TYPES, None, "Other")), st.floats(1, 100),
            st.floats(0, 1) | st.none(), st.integers(0, 50), st.integers(0, 50),
        ),
        max_size=20,
    )
)  # fmt: skip
def test_counters_are_those_a_loop_over_kernels_would_find(kernels: list[tuple]) -> None:
    rank, types, lasted, bank, hits, misses = (
        (list(column) for column in zip(*kernels, strict=True)) if kernels else [[]] * 6
    )
    counted = Table.build(
        KernelCounters,
        rank=np.array(rank, np.int64),
        op_type=types,
        duration_us=np.array(lasted, float),
        bank_group_share=np.array([math.nan if share is None else share for share in bank], float),
        bank_share=np.zeros(len(bank)),
        l2_hits=np.array(hits, float),
        l2_misses=np.array(misses, float),
    )
    expected: dict[object, dict[str, float | None]] = {}
    of_type = defaultdict(list)
    for row in kernels:
        of_type[row[0], row[1]].append(row)
    for key, members in of_type.items():
        known = [row for row in members if row[3] is not None]
        waited = sum(row[2] * row[3] for row in known) / sum(row[2] for row in known) if known else None
        asked = sum(row[4] + row[5] for row in members)
        found = sum(row[4] for row in members) / asked if asked else None
        if key in {(0, "MatMul"), (0, "Add"), (0, "Mul"), (1, "Add")} and (waited is not None or found is not None):
            expected[key] = {"bank_share": waited, "hit_share": found}
    if not expected:
        with pytest.raises(FactMissing):
            rows(counted)
        return
    told = {key: {name: row[name] for name in ("bank_share", "hit_share")} for key, row in rows(counted).items()}
    assert told == {
        key: {name: value if value is None else pytest.approx(value) for name, value in one.items()}
        for key, one in expected.items()
    }
