# SPDX-License-Identifier: Apache-2.0
"""The profiler's totals stand in for a list of kernels that is absent or cut, and claim no more than they know."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.analysis.operators.operators import operators
from advisor.analysis.operators.totals import of_totals
from advisor.analysis.steps.overlap import overlaps
from advisor.facts.observed import Kernel, OperatorTotal, StepTime
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())

TOTALS = Table.build(
    OperatorTotal,
    rank=[0, 0, 0, 0],
    op_type=["MatMul", "Cast", "Cast", "allreduceAicpuKernel"],
    core=["AI_CORE", "AI_VECTOR_CORE", "AI_CPU", "AI_CPU"],
    calls=[10.0, 30.0, 10.0, 5.0],
    total_us=[600.0, 300.0, 100.0, 5000.0],
    max_us=[70.0, 12.0, 11.0, 2000.0],
)
WHOLE = Table.build(
    Kernel,
    rank=[0, 0],
    step=[1, 1],
    start_ns=[0, 20_000],
    duration_us=[10.0, 30.0],
    wait_us=[0.0, 10.0],
    op_type=["MatMul", "Cast"],
)


def test_totals_tell_calls_time_and_share_of_each_type_and_nothing_of_what_ran_beside_it():
    cast, matmul = sorted(operators(None, None, None, None, TOTALS).rows(), key=lambda row: row["op_type"])
    assert (cast["source"], cast["calls"], cast["total_us"], cast["mean_us"]) == ("totals", 40, 400, 10)
    assert (cast["core"], cast["longest_us"], cast["kernel_share"]) == ("AI_VECTOR_CORE", 12, 0.4)
    assert matmul["kernel_share"] == 0.6
    unknown = ("alone_us", "unshared_us", "median_us", "step_share", "dynamic_share", "shapes")
    assert {name: cast[name] for name in unknown} == dict.fromkeys(unknown)


def test_step_times_tell_which_part_of_the_step_a_type_takes_at_most():
    sums = Table.build(
        StepTime, rank=[0, 0], step=[1, 2], compute_us=[500.0, 500.0], exposed_comm_us=[0.0, 0.0], free_us=[1500.0] * 2
    )
    split = overlaps(RUN, kernels=None, collectives=None, tasks=None, windows=None, recorded=sums)
    shares = {row["op_type"]: row["step_share"] for row in operators(None, None, None, split, TOTALS).rows()}
    assert shares == pytest.approx({"MatMul": 0.15, "Cast": 0.1})
    more = overlaps(
        RUN, kernels=None, collectives=None, tasks=None, windows=None,
        recorded=sums.having(compute_us=np.array([2000.0, 2000.0])),
    )  # fmt: skip
    rows = operators(None, None, None, more, TOTALS).rows()
    assert {row["op_type"]: row["kernel_share"] for row in rows} == pytest.approx({"MatMul": 0.15, "Cast": 0.1})


def test_a_list_that_is_whole_tells_more_than_totals():
    assert {row["source"] for row in operators(WHOLE, None, None, None, TOTALS).rows()} == {"kernels"}


def test_a_list_that_lacks_rows_gives_way_to_totals_rank_by_rank():
    cut = WHOLE.having(start_ns=np.array([0, 400_000]))
    other = WHOLE.having(rank=np.array([1, 1]))
    kernels = Table.concat(Kernel, [cut, other])
    split = overlaps(RUN, kernels=kernels, collectives=None, tasks=None, windows=None, recorded=None)
    found = {(row["rank"], row["source"]) for row in operators(kernels, None, None, split, TOTALS).rows()}
    assert found == {(0, "totals"), (1, "kernels")}
    assert {row["source"] for row in operators(kernels, None, None, split).rows()} == {"kernels"}


def test_without_both_there_are_no_operators():
    with pytest.raises(FactMissing):
        operators(None, None, None)


def test_the_whole_is_what_the_shares_of_the_profiler_speak_of_where_rows_are_gone() -> None:
    totals = read_table(
        OperatorTotal,
        """
        rank op_type   core           calls total_us share
        0    Conv2DV2  AI_CORE        20    862.54   0.22557
        0    Transpose AI_VECTOR_CORE 40    507.76   0.13279
        1    Conv2DV2  AI_CORE        20    750      0.75
        1    Transpose AI_VECTOR_CORE 40    250      0.25
        2    Conv2DV2  AI_CORE        20    750      -
        2    Transpose AI_VECTOR_CORE 40    250      -
        """,
    )
    found = of_totals(totals, None)
    assert found["kernel_share"].tolist() == pytest.approx([0.22557, 0.13279, 0.75, 0.25, 0.75, 0.25], abs=1e-5)


def test_kernels_that_drive_collectives_are_no_part_of_the_whole() -> None:
    totals = Table.build(
        OperatorTotal,
        rank=0,
        op_type=["MatMul", "Cast", "allreduceAicpuKernel"],
        core=["AI_CORE", "AI_VECTOR_CORE", "AI_CPU"],
        calls=[10.0, 30.0, 5.0],
        total_us=[600.0, 200.0, 800.0],
        max_us=[70.0, 12.0, 300.0],
        share=[0.375, 0.125, 0.5],
    )
    shares = {row["op_type"]: row["kernel_share"] for row in of_totals(totals, None).rows()}
    assert shares == {"MatMul": pytest.approx(0.75), "Cast": pytest.approx(0.25)}
