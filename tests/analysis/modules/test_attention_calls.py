# SPDX-License-Identifier: Apache-2.0
"""A mark of a call of attention speaks of the kernel of that call, of its gradient, and of no other."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.analysis.modules.attention_calls import attention_calls
from advisor.analysis.modules.modules import modules
from advisor.analysis.operators.operators import operator_shapes
from advisor.analysis.rooflines.marked_attention import attention_shapes, marked_flops
from advisor.analysis.rooflines.rooflines import operator_rooflines
from advisor.facts.derived import AttentionCall, ChipLimit
from advisor.facts.observed import AttentionMark, GradientLink, HostCall, Kernel, ModuleRange, OperatorLink
from advisor.facts.table import Table
from tests.analysis.derive import derive

FORWARD, BACKWARD, PRODUCT = "FlashAttentionScore", "FlashAttentionScoreGrad", "MatMulV3"
QKV = "1,4096,2048;1,4096,2048;1,4096,2048"
SUMS = "1,16,4096,8"
WHOLE = 4 * 16 * 4096**2 * 128
MEGA = 1e6


def ns(times: list[float]) -> np.ndarray:
    return np.array(times, np.float64).astype(np.int64) * 1000


class Program:
    """Marks and operators of a small program, written one after another; times in µs."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, float, int]] = []
        self.calls: list[tuple[int, str, float, float]] = []
        self.kernels: list[tuple[str, float]] = []
        self.links: list[tuple[float, float]] = []
        self.gradients: list[tuple[float, float]] = []

    def mark(self, at: float, mode: int = 2, thread: int = 1) -> Program:
        self.marks.append((thread, at, mode))
        return self

    def operator(self, start: float, end: float, *kinds: str, thread: int = 1, of: float | None = None) -> Program:
        self.calls.append((thread, "op", start, end))
        if of is not None:
            self.gradients.append((of, start))
        for kind in kinds:
            at = 10_000.0 + 100 * len(self.kernels)
            self.kernels.append((kind, at))
            self.links.append((start, at))
        return self

    @property
    def tables(self) -> dict[str, object]:
        thread, at, mode = zip(*self.marks, strict=True)
        of, name, start, end = zip(*self.calls, strict=True)
        kind, begun = zip(*self.kernels, strict=True)
        masked = {
            FORWARD: f"{QKV};;;;2048,2048;;;;;",
            BACKWARD: f"{QKV};1,4096,2048;;;;2048,2048;{SUMS};{SUMS};;1,4096,2048",
        }
        made = {FORWARD: f"{SUMS};{SUMS};;1,4096,2048", BACKWARD: QKV}
        kernels = Table.build(
            Kernel, rank=0, step=1, stream=1, op_name=kind, op_type=kind, core="MIX_AIC", start_ns=ns(list(begun)),
            duration_us=1000.0, input_shapes=[masked.get(one, "512,512;512,512") for one in kind],
            output_shapes=[made.get(one, "512,512") for one in kind], input_dtypes="DT_BF16;DT_BF16;DT_BF16",
        )  # fmt: skip
        return {
            "marks": Table.build(
                AttentionMark, rank=0, thread=thread, start_ns=ns(list(at)), layout="BSH", sparse_mode=mode
            ),
            "kernels": kernels,
            "calls": Table.build(
                HostCall, rank=0, thread=of, kind="operator", name=name, start_ns=ns(list(start)), end_ns=ns(list(end))
            ),
            "collectives": None,
            "ranges": None,
            "launches": None,
            "links": pairs(OperatorLink, ("operator_start_ns", "device_start_ns"), self.links),
            "gradients": pairs(GradientLink, ("forward_start_ns", "backward_start_ns"), self.gradients),
        }  # fmt: skip

    @property
    def found(self) -> Table[AttentionCall]:
        return derive(attention_calls, **self.tables)  # type: ignore[arg-type]

    @property
    def told(self) -> list[tuple[int, float]]:
        """Number of the kernel and part of all pairs of each call that a mark speaks of."""
        starts = self.found["start_ns"].tolist()
        shares = self.found["mega_flops"] * MEGA / WHOLE
        return [((start // 1000 - 10_000) // 100, share) for start, share in zip(starts, shares.tolist(), strict=True)]


def pairs(fact: type, columns: tuple[str, str], found: list[tuple[float, float]]) -> Table:
    return Table.build(fact, rank=0, **{name: ns([one[at] for one in found]) for at, name in enumerate(columns)})


def test_a_mark_speaks_of_the_attention_that_is_called_next_on_its_thread() -> None:
    program = Program().mark(5).operator(10, 20, FORWARD).operator(30, 40, PRODUCT).operator(50, 60, FORWARD)
    assert program.told == [(0, 0.5)]


def test_what_is_done_to_the_arguments_before_does_not_part_mark_and_call() -> None:
    assert Program().mark(5).operator(6, 7, "Cast").operator(10, 20, "Muls", FORWARD).told == [(2, 0.5)]


def test_a_mark_whose_call_led_to_products_in_place_of_fused_attention_speaks_of_nothing() -> None:
    assert Program().mark(5).operator(10, 20, PRODUCT).operator(30, 40, FORWARD).told == []


def test_of_two_marks_before_one_call_the_later_one_counts() -> None:
    program = Program().mark(4, 3).mark(5, 1).operator(10, 20, FORWARD)
    assert np.isnan(program.told[0][1])
    assert program.found["sparse_mode"].tolist() == [1]


def test_marks_of_another_thread_speak_of_nothing_here() -> None:
    program = Program().mark(5, thread=7).operator(10, 20, FORWARD).mark(25).operator(30, 40, FORWARD)
    assert program.told == [(1, 0.5)]


def test_the_gradient_is_of_the_call_that_was_marked() -> None:
    program = Program().mark(5).operator(10, 20, FORWARD).operator(30, 40, PRODUCT).operator(50, 60, FORWARD)
    program.operator(100, 120, BACKWARD, thread=2, of=50).operator(130, 150, BACKWARD, thread=2, of=10)
    assert program.told == [(0, 0.5), (4, 1.25)]


def test_the_gradient_of_an_operator_that_holds_several_calls_is_of_none_of_them() -> None:
    """As the blocks of ring attention: one gradient for a call of each block."""
    program = Program().operator(1, 100).mark(5).operator(10, 20, FORWARD).mark(25, 3).operator(30, 40, FORWARD)
    assert len(program.operator(200, 220, BACKWARD, thread=2, of=1).told) == 2


def test_without_links_to_the_forward_pass_the_backward_pass_is_not_guessed() -> None:
    program = Program().mark(5).operator(10, 20, FORWARD).operator(100, 120, BACKWARD, thread=2)
    assert program.told == [(0, 0.5)]
    tables = program.tables | {"gradients": None}
    assert len(derive(attention_calls, **tables)) == 1  # type: ignore[arg-type]


def test_a_kernel_without_an_operator_has_no_mark() -> None:
    program = Program().mark(5).operator(10, 20, FORWARD)
    program.links.clear()
    assert program.told == []


LIMITS = Table.build(ChipLimit, rank=[0], bf16_tflops=[294.9])


def test_shapes_and_modules_use_as_much_of_the_peak_as_the_marks_tell() -> None:
    """Causal attention of 16 heads of 128 over 4096: 68.7 GFLOP in 1 ms are 68.7 TFLOPS."""
    program = Program().mark(5).operator(10, 20, FORWARD)
    tables = program.tables
    shapes = operator_shapes(tables["kernels"], None, None)  # type: ignore[arg-type]
    marked = attention_shapes(tables["kernels"], program.found)  # type: ignore[arg-type]
    (row,) = operator_rooflines(shapes, LIMITS, marked).rows()
    assert row["tflops"] == pytest.approx(68.72, abs=0.01)
    assert row["mfu"] == pytest.approx(68.72 / 294.9, abs=1e-4)
    assert row["dtype"] == "BF16"
    given = {name: table for name, table in tables.items() if name != "marks"}
    given["ranges"] = Table.build(ModuleRange, rank=0, thread=1, source="mark", name="attn", start_ns=0, end_ns=10**6)
    found = derive(modules, **given, windows=None, limits=LIMITS, attention=program.found)  # type: ignore[arg-type]
    assert found["mfu"].tolist() == [pytest.approx(68.72 / 294.9, abs=1e-4)]


def test_where_one_call_of_a_shape_is_unmarked_the_shape_has_no_operations() -> None:
    program = Program().mark(5).operator(10, 20, FORWARD).operator(30, 40, PRODUCT).operator(50, 60, FORWARD)
    kernels = program.tables["kernels"]
    (row,) = attention_shapes(kernels, program.found).rows()  # type: ignore[arg-type]
    assert (row["kernels"], row["marked"], row["mega_flops"]) == (2, 1, None)
    (row,) = attention_shapes(kernels, program.mark(45).found).rows()  # type: ignore[arg-type]
    assert (row["kernels"], row["marked"], row["mega_flops"]) == (2, 2, WHOLE / 2 / MEGA)
    assert np.isnan(marked_flops(kernels, None)).all()  # type: ignore[arg-type]
