# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.operators import operators
from advisor.analysis.roles import roles_of_kernels, roles_of_types
from advisor.facts.derived import Removal
from advisor.facts.observed import Kernel
from advisor.facts.table import Texts, read_table


@pytest.mark.parametrize(
    ("role", "types"),
    [
        ("cast", "Cast aten::_to_copy"),
        ("move", "Transpose TransposeD TensorMove ViewCopy AsStrided StridedSliceD SplitVD ConcatV2D Pack Unpack"),
        ("move", "aten::copy_ aten::cat aten::clone aten::contiguous at::native::CatArrayBatchedCopy_aligned16_contig"),
        ("fill", "ZerosLike OnesLike Fill MemSet Memset aten::fill_ aten::zero_ aten::zeros_like aten::_foreach_zero_"),
        ("other", "TransData CastGrad GatherV2 aten::add_ aten::mm aten::fill_diagonal_ MatMulV3 aten::convolution"),
    ],
)
def test_a_type_has_the_role_of_what_it_does_to_data_whatever_its_stack_calls_that(role, types):
    assert roles_of_types(Texts.of(types.split())).values() == [role] * len(types.split())


def test_a_missing_type_has_no_role():
    assert roles_of_types(Texts.of([None, "Cast"])).values() == [None, "cast"]


@pytest.mark.parametrize(
    ("dtypes", "caller", "role"),
    [
        ("DT_BF16;FLOAT", "-", "cast"),
        ("FLOAT;FLOAT", "-", "move"),
        ("FLOAT;FLOAT", "aten::_to_copy", "move"),
        ("FLOAT;DT_BF16;BOOL", "aten::clone", "cast"),
        ("-", "aten::_to_copy", "cast"),
        ("-", "aten::to", "cast"),
        ("-", "aten::clone", "move"),
        ("-", "-", "move"),
        ("FLOAT", "aten::to", "cast"),
    ],
)
def test_a_copy_casts_where_its_types_differ_and_without_types_where_a_conversion_called_it(dtypes, caller, role):
    kernels = read_table(Kernel, f"op_type input_dtypes caller\naten::copy_ {dtypes} {caller}")
    assert roles_of_kernels(kernels).values() == [role]


COPIES = """
step start_ns duration_us op_type     input_dtypes
1    0        10          aten::copy_ DT_BF16;FLOAT
1    20000    30          aten::copy_ FLOAT;FLOAT
1    60000    50          aten::mm    FLOAT;FLOAT
"""


def test_an_operator_that_casts_and_moves_has_a_row_for_each_and_shares_what_a_step_wins_without_it():
    gone = read_table(Removal, "kind name instant_us removed_us\noperator aten::copy_ 16 20")
    rows = operators(read_table(Kernel, COPIES), None, None, without=gone).rows()
    told = {row["role"]: (row["op_type"], row["total_us"], row["instant_us"], row["removed_us"]) for row in rows}
    assert told["cast"] == ("aten::copy_", 10, 4, 5)
    assert told["move"] == ("aten::copy_", 30, 12, 15)
    assert told["other"] == ("aten::mm", 50, 50, 50)
