# SPDX-License-Identifier: Apache-2.0
"""Kernels belong to the module around the operator that launched them, forward and backward."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.modules.module_operators import MOST_LISTED, module_operators
from advisor.analysis.modules.modules import module_marks, module_types, modules
from advisor.facts.derived import ChipLimit, ModuleMarks, ModuleOperator, ModuleShare, Overlap
from advisor.facts.observed import Collective, GradientLink, HostCall, Kernel, Launch, ModuleRange, OperatorLink
from advisor.facts.table import Table, read_table
from tests.analysis.derive import derive

ENGINE = "autograd::engine::evaluate_function: MmBackward0"


class Model:
    """What was recorded of a small model, written event by event; times in µs."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, str, int, int]] = []
        self.calls: list[tuple[int, str, int, int]] = []
        self.kernels: list[tuple[str, int, float]] = []
        self.links: list[tuple[int, int]] = []
        self.gradients: list[tuple[int, int]] = []

    def module(self, name: str, start: int, end: int, thread: int = 1) -> Model:
        self.ranges.append((thread, name, start, end))
        return self

    def operator(self, name: str, start: int, end: int, *kernels: float, thread: int = 1) -> Model:
        self.calls.append((thread, name, start, end))
        for us in kernels:
            at = 10_000 + 100 * len(self.kernels)
            self.kernels.append((f"{name}_kernel", at, us))
            self.links.append((start, at))
        return self

    def backward(self, name: str, of: int, start: int, end: int, *kernels: float, thread: int = 2) -> Model:
        self.gradients.append((of, start))
        return self.operator(name, start, end, *kernels, thread=thread)

    @property
    def tables(self) -> dict[str, object]:
        """The arguments of the derivations."""
        thread, name, start, end = zip(*self.ranges, strict=True)
        of, called, begun, ended = zip(*self.calls, strict=True)
        kernel, at, us = zip(*self.kernels, strict=True)
        return {
            "ranges": Table.build(
                ModuleRange, rank=0, thread=thread, source="mark", name=name, start_ns=ns(start), end_ns=ns(end)
            ),
            "kernels": Table.build(
                Kernel, rank=0, step=1, stream=1, op_name=kernel, op_type=kernel, start_ns=ns(at), duration_us=us
            ),
            "calls": Table.build(
                HostCall, rank=0, thread=of, kind="operator", name=called, start_ns=ns(begun), end_ns=ns(ended)
            ),
            "collectives": None,
            "launches": None,
            "links": links(OperatorLink, ("operator_start_ns", "device_start_ns"), self.links),
            "gradients": links(GradientLink, ("forward_start_ns", "backward_start_ns"), self.gradients),
        }  # fmt: skip

    def shares(self) -> Table[ModuleShare]:
        return derive(modules, **self.tables)

    def marks(self) -> Table[ModuleMarks]:
        return derive(module_marks, **self.tables)

    def operators(self) -> Table[ModuleOperator]:
        return derive(module_operators, **self.tables)

    def times(self, column: str = "total_us") -> dict[str | None, object]:
        """A column of every module by its path."""
        return {row["module"]: row[column] for row in self.shares().rows()}  # type: ignore[misc]


def ns(times: object) -> np.ndarray:
    return np.array(times, np.int64) * 1000


def of_two_ranks(table: Table) -> Table:
    return Table.concat(table.fact, [table.having(rank=np.full(len(table), rank)) for rank in (0, 1)])


def links(fact: type, columns: tuple[str, str], pairs: list[tuple[int, int]]) -> Table:
    return Table.build(fact, rank=0, **{name: ns([p[at] for p in pairs]) for at, name in enumerate(columns)})


def small() -> Model:
    model = Model().module("Net", 0, 100).module("layers.0.mlp", 10, 40).module("layers.1.mlp", 50, 80)
    return (
        model.operator("mm", 12, 20, 5, 7)
        .operator("mul", 22, 30, 1)
        .operator("mm", 52, 60, 5)
        .operator("sum", 90, 95, 2)
    )


def test_a_module_has_the_time_of_all_inside_of_it_and_those_that_differ_by_a_number_are_one() -> None:
    assert small().times() == {"Net": 20, "Net/layers.*.mlp": 18}
    assert small().times("own_us") == {"Net": 2, "Net/layers.*.mlp": 18}
    assert small().times("instances") == {"Net": 1, "Net/layers.*.mlp": 2}
    assert small().times("child_share") == {"Net": pytest.approx(0.9), "Net/layers.*.mlp": 0}


def test_a_number_alone_in_a_name_stays() -> None:
    model = Model().module("Net_0", 0, 100).module("Conv2d_3", 10, 40).operator("conv", 12, 20, 5)
    assert set(model.times()) == {"Net_0", "Net_0/Conv2d_3"}


def test_operators_stand_in_the_order_of_their_calls_each_with_its_kernels() -> None:
    said = [
        (r["parent"], r["module"], r["operator"], r["kernels"], r["calls"], r["total_us"])
        for r in small().operators().rows()
    ]
    assert said == [
        ("Net", "layers.0.mlp", "mm", "mm_kernel, mm_kernel", 1, 12),
        ("Net", "layers.0.mlp", "mul", "mul_kernel", 1, 1),
        ("Net", "layers.1.mlp", "mm", "mm_kernel", 1, 5),
        (None, "Net", "sum", "sum_kernel", 1, 2),
    ]  # fmt: skip


def test_calls_of_one_module_add_up_place_by_place() -> None:
    model = Model().module("Linear", 0, 10).module("Linear", 20, 30)
    for begin in (0, 20):
        model.operator("mul", begin + 1, begin + 2, 1).operator("mul", begin + 3, begin + 4, 2)
    said = [(r["operator"], r["calls"], r["total_us"], r["mean_us"]) for r in model.operators().rows()]
    assert said == [("mul", 2, 2, 1), ("mul", 2, 4, 2)]


def test_calls_that_run_other_operators_are_another_variant() -> None:
    model = Model().module("M", 0, 10).module("M", 20, 30).operator("a", 1, 2, 1).operator("b", 21, 22, 1)
    assert [(r["operator"], r["variant"]) for r in model.operators().rows()] == [("a", 0), ("b", 1)]


def trained() -> Model:
    model = small()
    model.operator(ENGINE, 200, 230, 3, thread=2).backward("MmBackward0", 12, 205, 220, 11)
    return model.operator("torch::autograd::AccumulateGrad", 232, 235, 4, thread=2)


def test_what_computes_a_gradient_belongs_to_the_module_of_the_forward_operator() -> None:
    assert trained().times("backward_us") == {"Net": 14, "Net/layers.*.mlp": 14, None: None}
    assert trained().times() == {"Net": 34, "Net/layers.*.mlp": 32, None: 4}
    rows = [(r["module"], r["operator"]) for r in trained().operators().rows() if r["phase"] == "backward"]
    assert rows == [("layers.0.mlp", ENGINE), ("layers.0.mlp", "MmBackward0")]


def test_what_is_called_again_inside_a_gradient_is_recomputed() -> None:
    model = Model().module("Net", 0, 100).operator("CheckpointFunction", 10, 50, 2).module("Block", 12, 40)
    model.operator("mm", 15, 20, 5).backward("CheckpointFunctionBackward", 10, 200, 300)
    model.module("Block", 205, 240, thread=2).operator("mm", 210, 220, 5, thread=2)
    model.backward("MmBackward0", 210, 250, 260, 9)
    assert model.times("recompute_us") == {"Net": 5, "Net/Block": 5}
    assert model.times("backward_us") == {"Net": 9, "Net/Block": 9}
    assert model.times("forward_us") == {"Net": 7, "Net/Block": 5}


def test_a_gradient_of_what_lies_in_no_module_belongs_to_none() -> None:
    model = small().operator("loss", 110, 120, 1).backward("LossBackward", 110, 210, 220, 6)
    assert model.times()[None] == 7


def test_a_link_backward_in_time_ends_nothing() -> None:
    model = small().backward("MmBackward0", 90, 60, 65, 4, thread=1)
    assert model.times()["Net"] == 24


def test_calls_that_cross_each_other_are_left_out_and_counted() -> None:
    model = small().module("Late", 85, 150)
    assert model.marks().rows()[0]["crossing"] == 1
    assert model.times() == {"Net": 20, "Net/layers.*.mlp": 18}


def test_on_another_thread_nothing_belongs_to_the_module() -> None:
    model = small().operator("copy", 15, 18, 6, thread=9)
    assert model.times()[None] == 6
    assert model.marks().rows()[0]["inside_share"] == pytest.approx(20 / 26)


def test_without_links_the_launch_tells_the_operator_and_without_an_operator_the_module() -> None:
    tables = small().tables | {"links": None}
    at = tables["kernels"]["start_ns"]  # type: ignore[index]
    host = ns([13, 14, 23, 70, 91])
    tables["launches"] = Table.build(
        Launch, rank=0, thread=1, host_start_ns=host, host_end_ns=host + 500, device_start_ns=at, stream=1
    )
    said = [(r["module"], r["operator"], r["total_us"]) for r in derive(module_operators, **tables).rows()]
    assert said == [
        ("layers.0.mlp", "mm", 12),
        ("layers.0.mlp", "mul", 1),
        ("layers.1.mlp", None, 5),
        ("Net", "sum", 2),
    ]


def test_collectives_count_beside_kernels() -> None:
    tables = small().operator("c10d::allreduce_", 82, 84).tables
    reduced = Table.build(Collective, rank=0, step=1, name="x", op="allReduce", start_ns=ns([12_000]), elapse_us=[30.0])
    linked = tables["links"]
    more = links(OperatorLink, ("operator_start_ns", "device_start_ns"), [(82, 12_000)])
    tables |= {"collectives": reduced, "links": Table.concat(OperatorLink, [linked, more])}  # type: ignore[list-item]
    found = derive(modules, **tables).rows()
    assert next((row["module"], row["total_us"], row["comm_us"]) for row in found) == ("Net", 20, 30)
    assert ("c10d::allreduce_", "allReduce") in {
        (r["operator"], r["kernels"]) for r in derive(module_operators, **tables).rows()
    }


def test_a_time_that_is_missing_counts_for_nothing() -> None:
    tables = small().tables
    kernels = tables["kernels"]
    tables["kernels"] = kernels.having(duration_us=np.array([np.nan, 7, 1, 5, 2]))  # type: ignore[attr-defined]
    assert [row["total_us"] for row in derive(module_operators, **tables).rows()] == [7, 1, 5, 2]


def test_of_a_replayed_graph_not_all_kernels_are_named() -> None:
    model = Model().module("Net", 0, 100).operator("replay", 10, 20, *[1.0] * (MOST_LISTED + 3))
    (row,) = model.operators().rows()
    assert str(row["kernels"]).endswith("replay_kernel, … +3")
    assert row["total_us"] == MOST_LISTED + 3


def test_names_may_hold_anything() -> None:
    model = Model().module("<b>&", 0, 100).module("a/b", 5, 50).operator("mm", 10, 20, 1)
    assert model.operators().rows()[0]["parent"] == "<b>&"
    assert set(model.times()) == {"<b>&", "<b>&/a/b"}


@st.composite
def nested_calls(draw: st.DrawFn) -> Model:
    """A model of nested calls on one thread, with operators and kernels anywhere."""
    model = Model().module("Root", 0, 1000)

    def inside(start: int, end: int, depth: int) -> None:
        cuts = sorted(draw(st.lists(st.integers(start, end), max_size=6, unique=True)))
        for left, right in itertools.pairwise(cuts):
            kind = draw(st.sampled_from(["module", "operator", "nothing"]))
            if kind == "operator":
                model.operator(draw(st.sampled_from("ab")), left, right, *draw(st.lists(st.integers(1, 9), max_size=3)))
            elif kind == "module" and depth < 4:
                model.module(draw(st.sampled_from(["X", "Y", "Z_1", "Z_2"])), left, right)
                inside(left, right, depth + 1)

    inside(0, 1000, 0)
    return model.operator("last", 990, 1000, 1)


@settings(max_examples=150, deadline=None)
@given(nested_calls())
def test_all_agrees_with_looking_at_each_kernel_by_itself(model: Model) -> None:
    spent: dict[tuple[str, str], float] = {}
    for (_, _, us), (begun, _) in zip(model.kernels, model.links, strict=True):
        operator = next(call for call in model.calls if (call[2] == begun and call[1] in "ab") or call[2] == begun)
        around = [r for r in model.ranges if r[2] <= operator[2] and operator[3] <= r[3]]
        path = "/".join(r[1] for r in sorted(around, key=lambda r: (r[2], -r[3])))
        spent[path, operator[1]] = spent.get((path, operator[1]), 0) + us
    found: dict[tuple[str, str], float] = {}
    for row in model.operators().rows():
        path = "/".join(filter(None, (row["parent"], row["module"])))
        found[path, str(row["operator"])] = found.get((path, str(row["operator"])), 0) + float(str(row["total_us"]))
    assert found == pytest.approx(spent)
    shares = model.shares()
    total = sum(us for _, _, us in model.kernels)
    assert shares["own_us"].sum() == pytest.approx(total)
    assert shares["total_us"][shares["depth"] == 0].sum() == pytest.approx(total)


def test_a_type_of_operator_is_shared_out_over_the_modules_that_run_it() -> None:
    rows = derive(module_types, **small().tables).rows()
    said = {(row["op_type"], row["module"]): (row["total_us"], row["type_share"]) for row in rows}
    assert said == {
        ("mm_kernel", "Net/layers.*.mlp"): (17, 1),
        ("mul_kernel", "Net/layers.*.mlp"): (1, 1),
        ("sum_kernel", "Net"): (2, 1),
    }
    assert [row["total_us"] for row in rows] == [17, 2, 1]


def with_products(*, hf32: str | None = None, chip: bool = True) -> dict[str, object]:
    """The small model, its kernels products of 1024 x 1024 x 1024 but for the second one, on a chip of 100 TFLOPS."""
    tables = small().tables
    kernels = tables["kernels"]
    types = ["MatMulV3", "Add", "MatMulV3", "MatMulV3", "MatMulV3"]
    tables["kernels"] = kernels.having(  # type: ignore[attr-defined]
        op_type=types, input_shapes="1024,1024;1024,1024", output_shapes="1024,1024", input_dtypes="DT_BF16;DT_BF16",
        output_dtypes="DT_BF16", input_formats="ND;ND", core="AI_CORE",
        duration_us=[50.0, 100, 100, 200, 50], hf32=hf32,
    )  # fmt: skip
    return tables | {"limits": Table.build(ChipLimit, rank=[0], bf16_tflops=[100.0]) if chip else None}


FLOPS_US = 2 * 1024**3 / 100e6
"""What such a product takes at the peak."""


def test_a_module_uses_a_part_of_the_peak_in_all_of_its_time_and_an_operator_while_it_multiplies() -> None:
    found = {row["module"]: row["mfu"] for row in derive(modules, **with_products(), windows=None).rows()}
    assert found["Net/layers.*.mlp"] == pytest.approx(3 * FLOPS_US / 450)
    (first, *_) = derive(module_operators, **with_products()).rows()
    assert first["kernels"] == "mm_kernel, mm_kernel"
    assert first["mfu"] == pytest.approx(FLOPS_US / 50)


@pytest.mark.parametrize("unknown", [{"chip": False}, {"hf32": "YES"}])
def test_without_a_peak_no_share_of_it_is_known(unknown: dict[str, Any]) -> None:
    assert np.isnan(derive(modules, **with_products(**unknown), windows=None)["mfu"]).all()
    assert np.isnan(derive(module_operators, **with_products(**unknown))["mfu"]).all()


@pytest.mark.parametrize(("hf32", "mfu"), [("NO", 2 * 64 * 56**2 * 64 * 9 / 50e6 / 50), (None, None)])
def test_of_a_convolution_in_float32_that_may_be_rounded_no_share_is_known(hf32: str | None, mfu: float | None) -> None:
    tables = with_products(hf32=hf32)
    tables["kernels"] = tables["kernels"].having(  # type: ignore[attr-defined]
        op_type=["Conv2D", "Add", "Conv2D", "Conv2D", "Conv2D"], input_shapes="1,64,56,56;64,64,3,3",
        output_shapes="1,64,56,56", input_dtypes="FLOAT;FLOAT", output_dtypes="FLOAT", input_formats="NCHW;NCHW",
    )  # fmt: skip
    tables["limits"] = Table.build(ChipLimit, rank=[0], float_tflops=[50.0])
    (first, *_) = derive(module_operators, **tables).rows()
    assert first["mfu"] == (None if mfu is None else pytest.approx(mfu))


def test_a_module_of_which_too_many_operations_are_unknown_has_no_share() -> None:
    tables = with_products()
    shapes = ["1024,1024;1024,1024"] * 3 + [None, "1024,1024;1024,1024"]
    tables["kernels"] = tables["kernels"].having(input_shapes=shapes)  # type: ignore[attr-defined]
    assert np.isnan(derive(modules, **tables)["mfu"]).all()


def test_a_table_written_by_hand_has_every_column() -> None:
    table = read_table(ModuleShare, "module name depth total_us step_share child_share\nNet Net 0 5 0.5 0")
    assert table.rows()[0]["step_share"] == 0.5


def test_it_is_told_how_many_operators_of_the_backward_pass_were_linked() -> None:
    assert trained().marks().rows()[0]["backward"] == 1
    assert small().marks().rows()[0]["backward"] == 0


@pytest.mark.parametrize(("span", "share"), [("25", 0.2), ("0", None)])
def test_the_share_of_a_step_that_has_no_length_is_missing(span: str, share: float | None) -> None:
    tables = Model().module("Net", 0, 100).operator("aten::mm", 10, 20, 5.0).tables
    split = read_table(Overlap, f"step span_us source listed_us\n1 {span} intervals 5")
    (row,) = derive(modules, **tables, split=split).rows()
    assert row["step_share"] == share


@pytest.mark.parametrize("model", [small, trained])
def test_work_of_a_rank_without_marks_counts_for_none_that_has_some(model: Callable[[], Model]) -> None:
    tables = model().tables
    ranges = tables["ranges"]
    assert isinstance(ranges, Table)
    others = {name: of_two_ranks(table) if isinstance(table, Table) else table for name, table in tables.items()}
    others["ranges"] = ranges
    alone, beside = derive(module_marks, **tables), derive(module_marks, **others)
    assert beside.rows() == alone.rows()
    marked = ranges.having(rank=np.full(len(ranges), 1))
    (row,) = derive(module_marks, **{**others, "ranges": marked}).rows()
    assert row == {**alone.rows()[0], "rank": 1}


def test_collectives_of_steps_that_lack_kernels_count_in_no_other_step() -> None:
    kernels = read_table(Kernel, "step start_ns duration_us op_type\n1 0 10 MatMul\n2 100000 1 MatMul")
    collectives = read_table(Collective, "step start_ns elapse_us op\n1 20000 5 allReduce\n2 120000 7 allReduce")
    split = read_table(Overlap, "step span_us source listed_us\n1 25 intervals 10\n2 90 recorded 1")
    ranges = Table.build(ModuleRange, rank=0, thread=1, source="mark", name=["Net"], start_ns=[0], end_ns=[10])
    calls = read_table(HostCall, "thread kind name start_ns end_ns\n1 operator mm 1 2")
    found = derive(modules, ranges=ranges, kernels=kernels, collectives=collectives, calls=calls, split=split)
    assert [row["comm_us"] for row in found.rows()] == [5]
