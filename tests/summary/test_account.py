# SPDX-License-Identifier: Apache-2.0
"""What the account of a step says beyond its time."""

from __future__ import annotations

import pytest

from advisor.facts.derived import HeldKernels, OperatorRoofline, RankSplit, Spending
from advisor.facts.table import read_table
from advisor.model.findings import HeldTime
from advisor.summary.account import step_account

SPLIT = "rank step span_us compute_us exposed_comm_us free_us\n0 1 100 60 20 20\n1 1 100 60 20 20"
SPENT = "rank step part name us calls\n0 1 compute MatMul 60 3\n1 1 compute MatMul 60 3"


def tera_flops(operators: str) -> float | None:
    tables = read_table(RankSplit, SPLIT), read_table(Spending, SPENT)
    found = step_account(*tables, operators=read_table(OperatorRoofline, operators))
    return None if found is None else found.tera_flops


def test_operations_of_a_step_are_those_of_its_products_and_convolutions_averaged_over_ranks():
    rows = ["rank family calls mega_flops total_us", "0 matmul 3 1e6 40", "0 convolution 1 1e6 10", "1 matmul 2 1e6 50"]
    assert tera_flops("\n".join(rows)) == pytest.approx((3 + 1 + 2) / 2)
    assert tera_flops("\n".join([*rows, "0 attention 1 9e6 30", "1 attention 1 - 30"])) == pytest.approx(3)


def test_of_products_that_are_not_counted_no_sum_is_told():
    counted = "rank family calls mega_flops total_us\n0 matmul 3 1e6 {}\n0 matmul 3 - {}"
    assert tera_flops(counted.format(96, 4)) == pytest.approx(3)
    assert tera_flops(counted.format(90, 10)) is None
    assert tera_flops("rank family calls mega_flops total_us") is None


def test_kernel_time_is_told_by_what_it_was_held_against_over_all_ranks():
    held = "rank held_against total_us\n0 roofline 30\n0 short 50\n1 short 10\n1 - 10"
    tables = read_table(RankSplit, SPLIT), read_table(Spending, SPENT)
    found = step_account(*tables, held=read_table(HeldKernels, held))
    shares = [("short", 0.6), ("roofline", 0.3), ("", 0.1)]
    assert found is not None and found.held == tuple(HeldTime(against=word, share=share) for word, share in shares)
    alone = step_account(*tables)
    assert alone is not None and alone.held == ()
