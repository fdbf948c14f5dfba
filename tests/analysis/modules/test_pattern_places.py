# SPDX-License-Identifier: Apache-2.0
"""Chains belong to the modules and the framework operators that launched their kernels."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.fusion.chain_search import chains_in_steps
from advisor.analysis.modules.pattern_places import pattern_modules, pattern_operators
from advisor.facts.observed import HostCall, Kernel, ModuleRange, OperatorLink
from advisor.facts.table import Table
from advisor.rules.patterns import shipped_patterns
from tests.analysis.derive import derive

PATTERNS = shipped_patterns().chains
NORM = ("Pow", "ReduceMean", "Add", "Rsqrt", "Mul", "Mul")
GATE = ("Swish", "Mul")
OTHER = ("MatMulV3",)
HOLDERS = ("first", "second", "")


class Program:
    """A program that launches each of these kernels by an operator of its own, in a module or in none."""

    def __init__(self, runs: list[tuple[tuple[str, ...], str]]) -> None:
        self.types = [kind for types, _ in runs for kind in types]
        self.holders = [holder for types, holder in runs for _ in types]
        self.us = [10.0 + 7 * place % 5 for place in range(len(self.types))]
        self.device = np.arange(len(self.types)) * 20_000 + 5_000_000
        self.host = np.arange(len(self.types)) * 1000 + 100
        self.kernels = Table.build(
            Kernel, rank=0, step=1, stream=1, op_type=self.types, start_ns=self.device, duration_us=self.us
        )
        modules = [place for place, holder in enumerate(self.holders) if holder]
        self.ranges = Table.build(
            ModuleRange, rank=0, thread=1, source="mark", name=[self.holders[place] for place in modules],
            start_ns=self.host[modules] - 50, end_ns=self.host[modules] + 700,
        )  # fmt: skip
        self.recorded = {
            "calls": Table.build(
                HostCall, rank=0, thread=1, kind="operator", name=[f"aten::{kind}" for kind in self.types],
                start_ns=self.host, end_ns=self.host + 500,
            ),
            "collectives": None,
            "launches": None,
            "links": Table.build(OperatorLink, rank=0, operator_start_ns=self.host, device_start_ns=self.device),
            "gradients": None,
            "windows": None,
            "patterns": PATTERNS,
        }  # fmt: skip

    def chained(self) -> dict[int, str]:
        """By kernel: the pattern of its chain."""
        found = chains_in_steps(self.kernels, None, None, None, PATTERNS)
        names = [name for pattern in PATTERNS.patterns for name in [pattern.name] * len(pattern.orders)]
        return {
            row: names[found.order[chain]] for row, chain in zip(found.row.tolist(), found.chain.tolist(), strict=True)
        }


@given(
    st.lists(st.tuples(st.sampled_from([NORM, GATE, OTHER]), st.sampled_from(HOLDERS)), min_size=1, max_size=12).filter(
        lambda runs: any(holder for _, holder in runs)
    )
)
def test_the_time_of_chains_is_shared_among_modules_and_operators_kernel_by_kernel(
    runs: list[tuple[tuple[str, ...], str]],
) -> None:
    program = Program(runs)
    by_module: dict[tuple[str, str | None], float] = defaultdict(float)
    by_operator: dict[tuple[str, str], float] = defaultdict(float)
    whole: dict[str, float] = defaultdict(float)
    launched: dict[str, float] = defaultdict(float)
    for place, kind in enumerate(program.types):
        launched[f"aten::{kind}"] += program.us[place]
    for row, pattern in program.chained().items():
        us, operator = program.us[row], f"aten::{program.types[row]}"
        by_module[pattern, program.holders[row] or None] += us
        by_operator[pattern, operator] += us
        whole[pattern] += us
    given_ = {"ranges": program.ranges, "kernels": program.kernels, **program.recorded}
    modules = list(derive(pattern_modules, **given_).rows())  # type: ignore[arg-type]
    operators = list(derive(pattern_operators, **given_).rows())  # type: ignore[arg-type]
    assert {(row["pattern"], row["module"]): row["total_us"] for row in modules} == pytest.approx(by_module)
    assert {(row["pattern"], row["operator"]): row["total_us"] for row in operators} == pytest.approx(by_operator)
    for row in modules:
        assert row["pattern_share"] == pytest.approx(row["total_us"] / whole[row["pattern"]])
    for row in operators:
        assert row["operator_share"] == pytest.approx(row["total_us"] / launched[row["operator"]])


def test_an_operator_that_works_elsewhere_too_is_a_part_of_it() -> None:
    program = Program([(NORM, "first"), (("Mul",), "second"), (("Mul",), "second")])
    found = derive(pattern_operators, kernels=program.kernels, **program.recorded)  # type: ignore[arg-type]
    shares = {row["operator"]: row["operator_share"] for row in found.rows()}
    assert shares["aten::Rsqrt"] == 1
    assert shares["aten::Mul"] < 0.6
