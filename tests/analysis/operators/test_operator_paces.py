# SPDX-License-Identifier: Apache-2.0
"""Kernels are held against their like of other steps: what is slow together, in which steps, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from advisor.analysis.operators.operator_paces import operator_paces
from advisor.analysis.operators.operators import operator_shapes
from advisor.facts.derived import OperatorPace, OperatorShape
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table

STEP_NS = 1_000_000
USUAL = {"MatMulV3": 100.0, "Mul": 50.0}


def job(steps: Sequence[dict[str, float]], shapes: Sequence[str | None] = (), **columns: object) -> Table[Kernel]:
    """One kernel of each type in each step, of so many µs."""
    rows = [(number, name, us) for number, step in enumerate(steps) for name, us in step.items()]
    texts = [shapes[number] if shapes else "4,4" for number, _, _ in rows]
    return Table.build(
        Kernel,
        rank=0,
        step=[number for number, _, _ in rows],
        start_ns=[number * STEP_NS + 200_000 * place for place, (number, _, _) in enumerate(rows)],
        op_type=[name for _, name, _ in rows],
        duration_us=[us for _, _, us in rows],
        core="AI_CORE",
        input_shapes=texts,
        **columns,
    )


def times(factor: float) -> dict[str, float]:
    return {name: us * factor for name, us in USUAL.items()}


def paces(kernels: Table[Kernel], collectives: Table[Collective] | None = None) -> dict[str, dict[str, object]]:
    found: Table[OperatorPace] = operator_paces(kernels, collectives, None)
    return {str(row["op_type"]): row for row in found.rows()}


def test_what_slows_all_types_from_some_step_on_is_seen_in_each() -> None:
    found = paces(job([*[times(1)] * 4, *[times(1.4)] * 4]))
    assert found["MatMulV3"]["slowdown"] == pytest.approx(1.4)
    assert found["Mul"]["slowdown"] == pytest.approx(1.4)
    assert found["MatMulV3"]["extra_us"] == pytest.approx(40 * 4 / 8)
    assert found["Mul"]["sooner_us"] == pytest.approx(60 * 4 / 8)
    assert (found["Mul"]["first_slow_step"], found["Mul"]["lasting"]) == (4, True)
    assert (found["Mul"]["slow_steps"], found["Mul"]["compared_steps"]) == (4, 7)
    assert found["Mul"]["compared_share"] == pytest.approx(1)


def test_a_type_that_is_slow_now_and_then_is_told_from_the_others() -> None:
    slow = {**USUAL, "Mul": 150.0}
    kernels = job([USUAL, USUAL, slow, USUAL, USUAL, slow, USUAL])
    found = paces(kernels)
    assert (found["Mul"]["slowdown"], found["MatMulV3"]["slowdown"]) == (3, 1)
    assert found["Mul"]["lasting"] is False
    shapes: Table[OperatorShape] = operator_shapes(kernels, None, None)
    (row,) = [row for row in shapes.rows() if row["op_type"] == "Mul"]
    assert (row["slow_steps"], row["slowdown"], row["contrast"], row["others_slowdown"]) == (2, 3, 1, 1)
    assert row["excess_us"] == pytest.approx(100 * 2 / 7)


def test_the_first_step_warms_up() -> None:
    assert not paces(job([times(1.6), *[times(1)] * 5]))
    assert not paces(job([*[times(1.6)] * 3, *[times(1)] * 5]))


def test_three_steps_tell_nothing() -> None:
    assert not paces(job([times(1), times(1), times(1.4), times(1.4)]))


def test_other_shapes_are_other_work() -> None:
    assert not paces(job([*[times(1)] * 4, *[times(1.4)] * 4], shapes=["4,4"] * 4 + ["8,8"] * 4))


def test_where_shapes_are_unknown_other_blocks_are_other_work() -> None:
    steps = [*[times(1)] * 4, *[times(1.4)] * 4]
    unknown = [None] * 8
    assert paces(job(steps, unknown, blocks=8.0))
    assert not paces(job(steps, unknown, blocks=[8.0] * 8 + [16.0] * 8))


def test_more_kernels_of_a_type_are_more_work() -> None:
    more = Table.concat(Kernel, [job([*[times(1)] * 4, *[{}] * 4]), job([*[{}] * 4, *[times(1)] * 4])])
    twice = Table.concat(Kernel, [more, job([*[{}] * 4, *[times(1)] * 4])])
    assert not paces(twice)


def test_a_last_step_that_was_cut_is_left_out() -> None:
    found = paces(job([*[times(1)] * 3, *[times(1.4)] * 3, {"Mul": 70.0}]))
    assert found["MatMulV3"]["compared_steps"] == 5


def test_what_runs_beside_slow_kernels_is_told() -> None:
    kernels = job([*[times(1)] * 4, *[times(1.4)] * 4])
    late = kernels.take(kernels["step"] >= 4)
    beside = Table.build(
        Collective, rank=0, step=late["step"], start_ns=late["start_ns"], elapse_us=late["duration_us"], op="allReduce"
    )
    assert paces(kernels, beside)["MatMulV3"]["more_beside"] == pytest.approx(1)


def test_kernels_that_wait_for_other_ranks_inside_do_not_count() -> None:
    steps = [{**USUAL, "MoeDistributeDispatch": 900.0 if number > 3 else 100.0} for number in range(8)]
    assert all(row["slowdown"] == 1 for row in paces(job(steps)).values())
