# SPDX-License-Identifier: Apache-2.0
"""Kernels of a type are those of the framework operators that led to them."""

from __future__ import annotations

import numpy as np

from advisor.analysis.modules.type_operators import type_operators
from advisor.analysis.operators.longest_inputs import MOST_INPUTS
from advisor.facts.observed import HostCall, Kernel, OperatorLink
from advisor.facts.table import Table
from tests.analysis.derive import derive


def test_the_time_of_a_type_is_shared_among_its_operators_and_what_nobody_launched_counts_in_the_whole() -> None:
    starts = np.array([100, 200, 300, 400, 500])
    kernels = Table.build(
        Kernel, rank=0, step=1, stream=1, start_ns=starts, duration_us=[4.0, 1, 3, 2, 5],
        op_type=["MatMul", "MatMul", "MatMul", "Cast", None],
    )  # fmt: skip
    calls = Table.build(
        HostCall, rank=0, thread=1, kind="operator", name=["aten::mm", "aten::bmm", "aten::mm"],
        start_ns=[1, 5, 9], end_ns=[3, 7, 11],
    )  # fmt: skip
    links = Table.build(OperatorLink, rank=0, operator_start_ns=[1, 5, 9, 9], device_start_ns=[100, 200, 400, 500])
    found = derive(type_operators, kernels=kernels, calls=calls, links=links)
    said = [(row["op_type"], row["operator"], row["total_us"], row["type_share"]) for row in found.rows()]
    assert said == [
        ("MatMul", "aten::mm", 4, 0.5),
        ("MatMul", None, 3, 0.375),
        ("Cast", "aten::mm", 2, 1),
        ("MatMul", "aten::bmm", 1, 0.125),
    ]


def test_inputs_are_told_apart_as_far_as_they_take_longest() -> None:
    count = MOST_INPUTS + 5
    shapes = [f"{rows},8;8,8" for rows in range(count)]
    kernels = Table.build(
        Kernel, rank=0, step=1, stream=1, start_ns=np.arange(count + 1), op_type="MatMul",
        duration_us=[*range(count, 0, -1), 1], input_shapes=[*shapes, "0,8;8,8"],
    )  # fmt: skip
    calls = Table.build(HostCall, rank=0, thread=1, kind="operator", name=["aten::mm"], start_ns=[1], end_ns=[3])
    links = Table.build(OperatorLink, rank=0, operator_start_ns=[1], device_start_ns=[10**6])
    found = derive(type_operators, kernels=kernels, calls=calls, links=links)
    said = {row["input_shapes"]: row["total_us"] for row in found.rows()}
    assert said == {
        **{shape: count - at for at, shape in enumerate(shapes[:MOST_INPUTS])},
        "0,8;8,8": count + 1,
        None: sum(range(1, 6)),
    }


def test_of_operators_that_begin_together_the_inner_one_led_to_the_kernel_wherever_it_stands_in_the_file() -> None:
    kernels = Table.build(Kernel, rank=0, step=1, stream=1, start_ns=[100], duration_us=[4.0], op_type="MatMul")
    links = Table.build(OperatorLink, rank=0, operator_start_ns=[1], device_start_ns=[100])
    for ends in ({"aten::linear": 9, "aten::addmm": 5}, {"aten::addmm": 5, "aten::linear": 9}):
        calls = Table.build(
            HostCall, rank=0, thread=1, kind="operator", name=[*ends], start_ns=[1, 1], end_ns=[*ends.values()]
        )
        (row,) = derive(type_operators, kernels=kernels, calls=calls, links=links).rows()
        assert row["operator"] == "aten::addmm"
