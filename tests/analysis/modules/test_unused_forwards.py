# SPDX-License-Identifier: Apache-2.0
"""Forward work whose gradient nobody takes, against a walk through the program that made the calls."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.modules.unused_forwards import SEVERAL, unused_forwards
from advisor.facts.observed import AutogradCall, GradientLink, HostCall, Kernel, ModuleRange, OperatorLink
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from tests.analysis.derive import derive

FORWARD, BACKWARD = 1, 2
"""Threads."""
TICK = 1000


class Call(NamedTuple):
    """An operator of the forward pass."""

    records: bool = True
    taken: bool = True
    """Whether its gradient is."""
    us: int = 10
    name: str = "aten::mm"
    shape: str = "8,8"


class Program:
    """A job that is being recorded: each operator takes a tick of the host and launches a kernel that comes later."""

    def __init__(self) -> None:
        self.now = 0
        self.number = 100
        self.device = 10**9
        self.calls: list[tuple[int, str, str, int, int]] = []
        self.numbered: list[tuple[int, int, int, int, int]] = []
        self.kernels: list[tuple[str, str, int, int]] = []
        self.operator_of_kernel: list[tuple[int, int]] = []
        self.links: list[tuple[int, int]] = []
        self.untaken: list[tuple[int, int, int]] = []
        """Start, kernel time and step of what recorded in vain."""
        self.step = 0
        self.trained: set[int] = set()
        """Steps in which a gradient is taken."""
        self.open: list[tuple[int, int, Call]] = []
        self.over = -1
        """What began before had a backward pass and an optimizer."""
        self.last_backward = -1

    def call(self, thread: int, name: str, number: int | None, us: int, *, backward: int = 0, **about: Any) -> int:
        start, self.now = self.now, self.now + TICK
        kind, shape = about.get("kind", "operator"), about.get("shape", "")
        self.calls.append((thread, kind, name, start, start + TICK - 1))
        if number is not None:
            self.numbered.append((thread, number, backward, start, start + TICK - 1))
        if us:
            self.kernels.append((name, shape, self.device, us))
            self.operator_of_kernel.append((self.device, start))
            self.device += us * 1000
        return start

    def forward(self, *calls: Call) -> None:
        for one in calls:
            start = self.call(FORWARD, one.name, self.number, one.us, shape=one.shape)
            if one.records:
                self.open.append((start, self.number, one))
                self.number += 1
            if one.records and not one.taken:
                self.untaken.append((start, one.us, self.step))

    def backward(self) -> None:
        for start, number, one in reversed(self.open):
            if one.taken:
                self.last_backward = self.call(BACKWARD, f"{one.name}Backward0", number, 2 * one.us, backward=1)
                self.links.append((start, self.last_backward))
                self.trained.add(self.step)
        self.open = []

    def optimize(self) -> None:
        self.call(FORWARD, "Optimizer.step#SGD.step", None, 1, kind="optimizer")
        self.over = self.last_backward
        self.step += 1

    def expected_us(self) -> int:
        told = [(us, step) for start, us, step in self.untaken if start < self.over]
        seldom = len(self.trained) >= SEVERAL and 2 * len({step for _, step in told}) <= len(self.trained)
        return 0 if seldom else sum(us for us, _ in told)


def found(program: Program, *, linked: bool = True, ranges: Table[ModuleRange] | None = None) -> list[dict[str, Any]]:
    program.call(FORWARD, "aten::zero_", program.number, 0)
    thread, kind, name, start, end = zip(*program.calls, strict=True)
    calls = Table.build(HostCall, rank=0, thread=thread, kind=kind, name=name, start_ns=start, end_ns=end)
    thread, number, backward, start, end = zip(*program.numbered, strict=True)
    numbered = Table.build(
        AutogradCall, rank=0, thread=thread, number=number, backward=backward, start_ns=start, end_ns=end
    )
    names, shapes, begun, us = zip(*program.kernels, strict=True)
    kernels = Table.build(
        Kernel, rank=0, op_name=names, op_type=names, input_shapes=shapes, start_ns=begun, duration_us=us
    )
    device, operator = zip(*program.operator_of_kernel, strict=True)
    links = Table.build(OperatorLink, rank=0, device_start_ns=device, operator_start_ns=operator)
    gradients = None
    if linked and program.links:
        forward, back = zip(*program.links, strict=True)
        gradients = Table.build(GradientLink, rank=0, forward_start_ns=forward, backward_start_ns=back)
    table = derive(
        unused_forwards,
        kernels=kernels,
        calls=calls,
        numbered=numbered,
        ranges=ranges,
        links=links,
        gradients=gradients,
    )
    return table.rows()


VAIN = Call(taken=False)
OPERATORS = st.builds(Call, st.booleans(), st.booleans(), st.integers(1, 50), st.sampled_from(["aten::mm", "aten::t"]))
STEPS = st.lists(st.lists(OPERATORS, min_size=1, max_size=6), min_size=1, max_size=4)


@given(STEPS, st.sampled_from(["whole", "no optimizer", "no backward pass"]), st.booleans(), st.booleans())
def test_what_records_in_vain_before_the_last_backward_pass_that_was_optimized_is_told(
    steps: list[list[Call]], end: str, linked: bool, follows: bool
) -> None:
    program = Program()
    for place, operators in enumerate(steps):
        last = place == len(steps) - 1
        program.forward(Call(records=False, us=1), *operators)
        if not (last and end == "no backward pass"):
            program.backward()
        if follows:
            program.forward(VAIN)
        if not last or end == "whole":
            program.optimize()
    rows = found(program, linked=linked)
    if any(kind == "optimizer" for _, kind, *_ in program.calls):
        assert sum(row["total_us"] for row in rows) == pytest.approx(program.expected_us())
        assert sum(row["unshared_us"] for row in rows) == pytest.approx(program.expected_us())


@pytest.mark.parametrize("linked", [True, False])
def test_a_pass_that_runs_twice_is_the_same_work_again(linked: bool) -> None:
    program = Program()
    for _ in range(3):
        program.forward(VAIN, VAIN, Call(), Call())
        program.backward()
        program.optimize()
    (row,) = found(program, linked=linked)
    assert (row["total_us"], row["kernels"], row["repeated_share"], row["worst_us"]) == (60, 6, 1, 10)
    assert row["kernel_share"] == pytest.approx(60 / (120 + 120 + 3))


def test_what_is_unused_in_one_of_several_steps_is_no_part_of_each() -> None:
    program = Program()
    for step in range(SEVERAL):
        program.forward(*([VAIN] * 3 if step == 1 else []), Call(), Call())
        program.backward()
        program.optimize()
    assert found(program) == []


def test_another_model_is_not_the_same_work_again() -> None:
    program = Program()
    program.forward(VAIN._replace(shape="9,9"), VAIN, Call())
    program.backward()
    program.optimize()
    (row,) = found(program)
    assert row["repeated_share"] == 0.5


def test_a_pass_of_which_both_gradients_are_taken_is_none() -> None:
    program = Program()
    program.forward(Call(), Call(), Call(), Call())
    program.backward()
    program.optimize()
    assert found(program) == []


def test_layers_that_are_frozen_and_do_not_record_are_none() -> None:
    program = Program()
    program.forward(Call(records=False), Call(records=False), Call())
    program.backward()
    program.optimize()
    assert found(program) == []


def test_what_does_not_record_has_no_number_and_is_none() -> None:
    program = Program()
    program.call(FORWARD, "aten::mm", None, 500)
    program.forward(Call())
    program.backward()
    program.optimize()
    assert found(program) == []


def test_without_a_backward_pass_nothing_is_told() -> None:
    program = Program()
    program.forward(VAIN, VAIN)
    program.optimize()
    assert found(program) == []


def test_what_is_computed_again_inside_of_the_backward_pass_is_none() -> None:
    program = Program()
    program.forward(Call(), Call())
    begin = program.now
    program.now += TICK
    program.number, kept = 7, program.number
    program.forward(VAIN, VAIN)  # on the thread of the backward pass, which counts for itself
    for lists in (program.calls, program.numbered):
        lists[-2:] = [(BACKWARD, *rest) for _, *rest in lists[-2:]]  # type: ignore[assignment]
    program.calls.append((BACKWARD, "operator", "CheckpointBackward", begin, program.now))
    program.numbered.append((BACKWARD, 101, 1, begin, program.now))
    program.number, program.now = kept, program.now + TICK
    program.backward()
    program.optimize()
    assert found(program) == []


def test_without_an_optimizer_a_later_pass_whose_gradient_was_taken_tells() -> None:
    program = Program()
    for _ in range(2):
        program.forward(VAIN, Call())
        program.backward()
    (row,) = found(program)
    assert row["total_us"] == 20
    program = Program()
    program.forward(Call(), VAIN)  # its backward pass may still come, as in a pipeline
    program.backward()
    assert found(program) == []


def test_a_number_that_is_not_followed_by_the_next_says_nothing() -> None:
    program = Program()
    program.forward(VAIN)
    program.number += 5
    program.forward(Call())
    program.backward()
    program.optimize()
    assert found(program) == []


def test_an_operator_inside_of_which_a_gradient_is_taken_is_none() -> None:
    program = Program()
    program.forward(VAIN, Call())
    outer, inner = program.numbered
    program.numbered[0] = (*outer[:4], inner[4] + 1)
    program.now += TICK
    program.backward()
    program.optimize()
    assert found(program) == []


def test_where_operators_that_record_are_gone_nothing_is_judged() -> None:
    program = Program()
    program.forward(VAIN, Call(), Call())
    program.backward()
    program.optimize()
    program.numbered = [row for row in program.numbered if row[1] != 102 or row[2]]
    with pytest.raises(FactMissing):
        found(program)


def test_the_innermost_module_around_nearly_all_of_it_is_named() -> None:
    program = Program()
    program.forward(VAIN, VAIN, Call())
    program.backward()
    program.optimize()
    spans = {"Net_0": (0, 3 * TICK), "Head_0": (0, 2 * TICK - 1), "Linear_0": (0, TICK - 1)}
    ranges = Table.build(
        ModuleRange,
        rank=0,
        thread=FORWARD,
        source="python",
        name=list(spans),
        start_ns=[start for start, _ in spans.values()],
        end_ns=[end for _, end in spans.values()],
    )
    (row,) = found(program, ranges=ranges)
    assert row["module"] == "Net_0/Head_0"
    (row,) = found(program)
    assert row["module"] is None
