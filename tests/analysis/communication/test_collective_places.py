# SPDX-License-Identifier: Apache-2.0
"""Between which operators exposed collectives stand."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.communication.collective_places import collective_places
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())

KERNELS = """
rank step op_name             op_type  start_ns duration_us
0    1    Default/MatMul-op1  MatMul   0        10
0    1    Default/Concat-op2  ConcatD  60000    5
0    1    Default/Mul-op3     Mul      70000    10
0    1    Default/MatMul-op4  MatMul   100000   10
0    1    Default/Mul-op5     Mul      170000   10
0    2    Default/Add-op6     Add      300000   10
"""
CALLS = """
rank step op        p2p   start_ns elapse_us exposed_us wait_us size_bytes
0    1    allGather false 10000    50        50         20      100
0    1    allGather false 110000   60        60         0       300
0    1    allReduce false 70000    10        0          0       50
0    1    receive   true  180000   10        10         0       50
0    2    allGather false 400000   30        30         -       -
"""


def places(kernels: str = KERNELS, calls: str = CALLS) -> list[dict[str, object]]:
    return collective_places(RUN, read_table(CollectiveCall, calls), read_table(Kernel, kernels)).rows()


def test_a_collective_stands_between_the_operators_that_compute_before_and_after_it():
    first = places()[0]
    kept = ("op", "before", "after", "before_name", "after_name", "calls", "exposed_us", "unwaited_us", "size_bytes")
    assert {name: first[name] for name in kept} == {
        "op": "allGather", "before": "MatMul", "after": "Mul", "before_name": "Default/MatMul-op4",
        "after_name": "Default/Mul-op5", "calls": 2, "exposed_us": 110, "unwaited_us": 90, "size_bytes": 400,
    }  # fmt: skip


def test_times_and_calls_are_of_a_step():
    calls, kernels = read_table(CollectiveCall, CALLS), read_table(Kernel, KERNELS)
    first = collective_places(run_of_ranks(Run(steps=(1, 2))), calls, kernels).rows()[0]
    assert (first["calls"], first["exposed_us"], first["unwaited_us"], first["size_bytes"]) == (1, 55, 45, 200)


def test_times_are_of_the_steps_that_were_recorded_of_the_rank() -> None:
    """Of a job of four steps this rank has two."""
    calls, kernels = read_table(CollectiveCall, CALLS), read_table(Kernel, KERNELS)
    first = collective_places(run_of_ranks(Run(steps=(1, 2, 3, 4))), calls, kernels).rows()[0]
    assert (first["calls"], first["exposed_us"]) == (1, 55)


def test_what_another_step_computes_stands_around_nothing():
    last = places()[1]
    assert (last["before"], last["after"], last["after_name"]) == ("Add", None, None)


def test_waiting_that_was_not_recorded_is_taken_off_nothing():
    last = places()[1]
    assert (last["exposed_us"], last["unwaited_us"], last["size_bytes"]) == (30, 30, None)


def test_collectives_that_run_beside_kernels_and_from_rank_to_rank_have_no_place():
    assert {row["op"] for row in places()} == {"allGather"}


def test_kernels_without_a_type_are_passed_over():
    assert places(KERNELS.replace(" ConcatD ", " -       "))[0]["after_name"] == "Default/Mul-op5"


TYPES = ("MatMul", "Mul", "Cast")


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 2), st.integers(0, 20), st.sampled_from(TYPES)), max_size=12),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 2), st.integers(0, 20), st.integers(0, 5)), max_size=8),
)
def test_places_agree_with_plain_python(work, comm):
    kernels = Table.build(
        Kernel,
        rank=[rank for rank, *_ in work],
        step=[step for _, step, *_ in work],
        op_type=[kind for *_, kind in work],
        op_name=[f"{kind}{place}" for place, (*_, kind) in enumerate(work)],
        start_ns=[1000 * (100 * at + place) for place, (_, _, at, _) in enumerate(work)],
        duration_us=[1.0] * len(work),
    )
    calls = Table.build(
        CollectiveCall,
        rank=[rank for rank, *_ in comm],
        step=[step for _, step, *_ in comm],
        op=["allGather"] * len(comm),
        p2p=0,
        start_ns=[1000 * (100 * at + 50) for _, _, at, _ in comm],
        elapse_us=[100.0 * length + 10 for *_, length in comm],
        exposed_us=[100.0 * length + 10 for *_, length in comm],
    )
    expected: dict[tuple[object, ...], float] = defaultdict(float)
    for rank, step, at, length in comm:
        own = [
            (100 * begun + place, kind)
            for place, (r, s, begun, kind) in enumerate(work)
            if (r, s) == (rank, step) and kind != "Cast"
        ]
        before = [kind for begun, kind in sorted(own) if begun <= 100 * at + 50]
        after = [kind for begun, kind in sorted(own) if begun >= 100 * at + 60 + 100 * length]
        expected[rank, before[-1] if before else None, after[0] if after else None] += 100 * length + 10
    found = collective_places(RUN, calls, kernels).rows()
    assert {(row["rank"], row["before"], row["after"]): row["exposed_us"] for row in found} == dict(expected)
