# SPDX-License-Identifier: Apache-2.0
"""Kernels that a graph compiler joined of several operators stand for these, by their names."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.fusion.chain_search import chains_in_steps
from advisor.analysis.fusion.fusion import fusible_chains
from advisor.analysis.fusion.joined_kernels import operators_in_name
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.rules.patterns import shipped_patterns

PATTERNS = shipped_patterns().chains
AUTOMATIC = "AutomaticBufferFusionOp"


@pytest.mark.parametrize(
    ("op_type", "name", "operators"),
    [
        (AUTOMATIC, "Add_1Rsqrt_1", "Add Rsqrt"),
        (AUTOMATIC, "SwishMul_2", "Swish Mul"),
        (AUTOMATIC, "MulSigmoidMul", "Mul Sigmoid Mul"),
        (AUTOMATIC, "Mul_6Mul_7Add_3", "Mul Mul Add"),
        ("Mul", "Mul_2Cast_6", "Mul Cast"),
        ("Square", "Pow_3/SquareReduceMean_3", "Square ReduceMean"),
        ("ReduceMeanD", "Mul_9ReduceMean_9", "Mul ReduceMean"),
        ("MatMulV2", "MatMulV2_4Add_4Relu", "MatMulV2 Add Relu"),
        ("AscBackend", "autofuse_pointwise_0_Abs_Relu_Exp", "Abs Relu Exp"),
        ("AscBackend", "autofuse_pointwise_12_Transpose", "Transpose"),
        ("FusionOp_Add_Mul", "Default/network/FusionOp_Add_Mul-op12", "Add Mul"),
        ("Swish", "Swish_1Mul_25", "Swish Mul"),
    ],
)
def test_a_name_that_is_all_operators_is_read_as_these(op_type, name, operators):
    assert operators_in_name(op_type, name, PATTERNS.known) == tuple(operators.split())


@pytest.mark.parametrize(
    ("op_type", "name"),
    [
        ("AddRmsNorm", "AddRmsNorm_3"),
        ("ScatterAdd", "ScatterAdd_1"),
        ("LogSoftmaxV2", "LogSoftmax_1"),
        ("Mul", "Mul_3"),
        ("Transpose", "Reshape_1/ConfusionTranspose/Transpose"),
        ("AddLayerNorm", "LayerNormV3_0_LayerNormV3/AddLayerNorm"),
        ("MatMulV3", "MatMul_0_to_v3"),
        (AUTOMATIC, "Add_1Whatever_1"),
        (AUTOMATIC, "Mul_3_ub_fusion"),
        (AUTOMATIC, "Add_1/"),
        (AUTOMATIC, ""),
        (AUTOMATIC, "Mul_1" * 1000),
        ("AscBackend", "autofuse_pointwise_0_Abs_Rel"),
        ("Mul", "aclnnMul_MulAiCore_Mul"),
    ],
)
def test_a_name_of_one_operator_or_with_an_unknown_part_is_left_alone(op_type, name):
    assert operators_in_name(op_type, name, PATTERNS.known) == ()


@given(st.lists(st.tuples(st.sampled_from(["Add", "Mul", "Pow", "ReduceMean", "Cast"]), st.booleans()), min_size=2))
def test_numbers_make_no_difference_to_what_a_name_says(parts):
    name = "".join(f"{one}_{place}" if numbered else one for place, (one, numbered) in enumerate(parts))
    if len(name) < 1024:
        assert operators_in_name(AUTOMATIC, name, PATTERNS.known) == tuple(one for one, _ in parts)


def ran(*kernels: str, us: float = 10.0, pause_us: float = 1.0, **columns: Any) -> Table[Kernel]:
    """Kernels one after another, each `us` long: a type, or `Type=name`; `:30` behind sets the length of one."""
    rows = []
    for word in kernels:
        plain, _, own = word.partition(":")
        op_type, _, name = plain.partition("=")
        rows.append((op_type, name or f"{op_type}_0", float(own or us)))
    starts = [round(sum(row[2] + pause_us for row in rows[:place]) * 1e3) for place in range(len(rows))]
    return Table.build(
        Kernel,
        rank=0,
        step=1,
        op_type=[row[0] for row in rows],
        op_name=[row[1] for row in rows],
        start_ns=starts,
        duration_us=[row[2] for row in rows],
        **columns,
    )


def chains(kernels: Table[Kernel]) -> dict[str, dict[str, Any]]:
    return {row["pattern"]: row for row in fusible_chains(kernels, None, None, patterns=PATTERNS).rows()}


NORM = ("Square=Pow_3/SquareReduceMean_3:30", f"{AUTOMATIC}=Add_1Rsqrt_1:5", "Mul=Mul_2Cast_6:20", "Mul:10")


def test_a_norm_whose_operators_were_joined_in_part_is_a_chain_and_each_kernel_counts_once():
    row = chains(ran("MatMulV3", *NORM, "MatMulV3", *NORM, "MatMulV3"))["norm"]
    assert (row["chains"], row["kernels"], row["total_us"], row["fused_us"]) == (2, 4, 130, 60)
    assert row["compiled_us"] == 130
    assert row["between_us"] == 0


@pytest.mark.parametrize(
    ("pattern", "kernels"),
    [
        ("norm", NORM),
        ("norm", ("Cast=Cast_1Pow_1ReduceMean_1:30", f"{AUTOMATIC}=Add_1RsqrtMul_1:5", "Mul:10")),
        ("rotary", ("SplitVD=SplitV_1", "Neg=Neg_1", "ConcatV2D=ConcatV2_1", f"{AUTOMATIC}=Mul_6Mul_7Add_3")),
        ("swiglu", ("SplitVD=SplitV_3", f"{AUTOMATIC}=Swish_1Mul_25")),
        (
            "layer-norm",
            ("ReduceMean", "Sub=Sub_1Pow_1", "ReduceMean", f"{AUTOMATIC}=Add_1Rsqrt_1", f"{AUTOMATIC}=Mul_1Mul_2Add_2"),
        ),
        ("norm", ("AscBackend=autofuse_reduce_3_Pow_ReduceMean", "AscBackend=autofuse_pointwise_4_Add_Rsqrt_Mul_Mul")),
    ],
)
def test_chains_are_found_in_what_compilers_joined(pattern, kernels):
    found = chains(ran("MatMulV3", *kernels, "MatMulV3"))
    assert found.keys() == {pattern} and found[pattern]["kernels"] == len(kernels)


OPERATORS = ["Pow", "ReduceMean", "Add", "Rsqrt", "Mul", "Mul"]


@given(st.sets(st.integers(1, len(OPERATORS) - 1)))
def test_however_a_compiler_joins_a_norm_it_is_one_chain_until_it_is_one_kernel(borders):
    edges = [0, *sorted(borders), len(OPERATORS)]
    joined = [OPERATORS[begin:end] for begin, end in pairwise(edges)]
    kernels = [f"{AUTOMATIC if len(one) > 1 else one[0]}={''.join(one)}_3:{10 + len(one)}" for one in joined]
    found = chains(ran("MatMulV3", *kernels, "MatMulV3"))
    if not borders:
        assert not found
        return
    lasts = [10 + len(one) for one in joined]
    row = found["norm"]
    assert (row["chains"], row["kernels"], row["total_us"], row["fused_us"]) == (1, len(joined), sum(lasts), max(lasts))


@pytest.mark.parametrize(
    "kernels",
    [
        (f"{AUTOMATIC}=MulSigmoidMul_3",),
        (f"{AUTOMATIC}=Swish_1Mul_25",),
        (f"{AUTOMATIC}=Pow_1ReduceMean_1Add_1Rsqrt_1Mul_1Mul_2",),
    ],
)
def test_what_the_compiler_made_one_kernel_of_is_fused_already(kernels):
    assert not chains(ran("MatMulV3", *kernels, "MatMulV3"))


def test_a_kernel_that_does_other_work_too_is_no_part_of_a_chain():
    other = (*NORM[:2], f"{AUTOMATIC}=Mul_2Mul_3Sigmoid_3Exp_4")
    assert "norm" not in chains(ran("MatMulV3", *other, "MatMulV3"))


def test_shapes_of_a_joined_kernel_are_not_those_of_its_members():
    shapes = [None, "4,8;8", None]
    assert "matmul-bias" in chains(ran("MatMulV3", "Add", "MatMulV3", input_shapes=shapes))
    assert "matmul-bias" not in chains(ran("MatMulV3", f"{AUTOMATIC}=Add_1Add_2", "MatMulV3", input_shapes=shapes))


def test_a_norm_that_its_kernels_turn_to_float_and_back_is_fused_in_half_precision():
    kernels = ("Cast=Cast_1Pow_1ReduceMean_1:10", f"{AUTOMATIC}=Add_1Rsqrt_1:5", "Mul=Mul_1Mul_2Cast_2:30")
    told = {"input_dtypes": ["FLOAT16", "FLOAT", "FLOAT;FLOAT;FLOAT"], "output_dtypes": ["FLOAT", "FLOAT", "FLOAT16"]}
    assert chains(ran(*kernels, **told))["norm"]["fused_us"] == 15
    assert chains(ran(*kernels))["norm"]["fused_us"] == 30


def test_what_a_graph_compiler_did_not_make_is_told_from_what_it_did():
    plain = ["Square", "ReduceMean", "Add", "Rsqrt", "Mul", "Mul"]
    assert chains(ran(*plain, graph=7))["norm"]["compiled_us"] == 60
    assert chains(ran(*plain))["norm"]["compiled_us"] == 0
    captured = [f"{one}=aclnn{one}_{one}AiCore_{one}" for one in plain]
    assert chains(ran(*captured, graph=7))["norm"]["compiled_us"] == 0


def test_where_names_that_a_compiler_joined_cannot_be_read_chains_were_not_looked_for():
    unread = [f"{AUTOMATIC}=Add_1Whatever_{place}" for place in range(4)]
    with pytest.raises(FactMissing) as missing:
        fusible_chains(ran("MatMulV3:90", *unread, "Mul"), None, None, patterns=PATTERNS)
    assert missing.value.unnamed == ("kernels",)
    few = ran("MatMulV3:90", unread[0], *["Mul", "Sigmoid"] * 3)
    assert not fusible_chains(few, None, None, patterns=PATTERNS)
    both = ran("MatMulV3:90", *unread, *NORM)
    assert chains(both).keys() == {"norm"}


@pytest.mark.parametrize(
    "name", ["Add" + "_111" * 400 + "x", "Mul" * 340 + "x", "_Z9reduce_4AddIfE" * 60, "void k_3Foo<int>"]
)
def test_a_name_that_is_long_or_of_another_library_is_passed_over_at_once(name):
    kernels = ran(f"Add={name}", "Mul=Mul_1", "MatMulV3").having(op_type=["Add", "Mul", "MatMulV3"])
    assert not fusible_chains(kernels, None, None, patterns=PATTERNS)


def test_without_names_kernels_are_what_their_types_say():
    bare = ran("Square", "Add", "Mul").having(op_name=[None] * 3)
    assert not len(chains_in_steps(bare, None, None, None, PATTERNS).row)
