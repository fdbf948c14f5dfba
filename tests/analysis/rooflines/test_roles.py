# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.operators.operators import operators
from advisor.analysis.rooflines.roles import roles_of_kernels, roles_of_types
from advisor.facts.derived import Removal
from advisor.facts.observed import Kernel
from advisor.facts.table import Texts, read_table


@pytest.mark.parametrize(
    ("role", "types"),
    [
        ("cast", "Cast"),
        (
            "move",
            "Transpose TransposeD TensorMove ViewCopy AsStrided StridedSliceV2 SplitVD ConcatV2D Pack Unpack",
        ),
        ("fill", "ZerosLike OnesLike Fill MemSet Memset"),
        ("other", "TransData CastGrad GatherV2 MatMulV3"),
    ],
)
def test_a_type_has_the_role_of_what_it_does_to_data(role, types):
    assert roles_of_types(Texts.of(types.split())).values() == [role] * len(types.split())


def test_a_missing_type_has_no_role():
    assert roles_of_types(Texts.of([None, "Cast"])).values() == [None, "cast"]


def test_what_a_source_tells_of_a_kernel_counts_before_its_type():
    kernels = read_table(Kernel, "op_type effect\naten::copy_ cast\nCast -\naten::copy_ -\n- -")
    assert roles_of_kernels(kernels).values() == ["cast", "cast", "other", None]


def test_a_cast_inside_of_an_operator_that_draws_random_numbers_is_no_choice_of_the_model():
    kernels = read_table(
        Kernel,
        """
        op_type op_name
        Cast    aclnnInplaceNormal_CastAiCore_Cast
        Cast    aclnnInplaceNormalTensor_CastAiCore_Cast
        Cast    aclnnBernoulli_CastAiCore_Cast
        Cast    aclnnCast_CastAiCore_Cast
        Cast    -
        """,
    )
    assert roles_of_kernels(kernels).values() == ["other", "other", "other", "cast", "cast"]


COPIES = """
step start_ns duration_us op_type     effect
1    0        10          aten::copy_ cast
1    20000    30          aten::copy_ move
1    60000    50          aten::mm    other
"""


def test_an_operator_that_casts_and_moves_has_a_row_for_each_and_shares_what_a_step_wins_without_it():
    gone = read_table(Removal, "kind name instant_us removed_us\noperator aten::copy_ 16 20")
    rows = operators(read_table(Kernel, COPIES), None, None, without=gone).rows()
    told = {row["role"]: (row["op_type"], row["total_us"], row["instant_us"], row["removed_us"]) for row in rows}
    assert told["cast"] == ("aten::copy_", 10, 4, 5)
    assert told["move"] == ("aten::copy_", 30, 12, 15)
    assert told["other"] == ("aten::mm", 50, 50, 50)
