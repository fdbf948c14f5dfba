# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.operators.library_calls import calls_with_other_work
from advisor.analysis.operators.operators import operators
from advisor.facts.observed import Kernel
from advisor.facts.table import read_table

KERNELS = """
step start_ns duration_us op_type       op_name
1    0        10          Cast          aclnnTopk_CastAiCore_Cast
1    20000    30          TopKV2        aclnnTopk_TopkAiCore_TopKV2
1    60000    5           TransData     aclnnMaxPool2dWithMask_TransDataSpecial_TransData
1    70000    10          MaxPool       aclnnMaxPool2dWithMask_MaxPoolAiCore_MaxPool
1    90000    10          Cast          aclnnCast_CastAiCore_Cast
1    110000   10          Transpose     aclnnInplaceCopy_TransposeAiCore_Transpose
1    130000   10          TensorMove    aclnnInplaceCopy_TensorMoveAiCore_TensorMove
1    150000   10          Cast          trans_Cast_5
"""


def test_a_conversion_belongs_to_the_call_that_computes_beside_it():
    found = calls_with_other_work(read_table(Kernel, KERNELS)).values()
    assert list(found) == ["aclnnTopk", None, "aclnnMaxPool2dWithMask", None, None, None, None, None]


def test_a_call_is_known_behind_the_scope_of_its_operator():
    scoped = KERNELS.replace("aclnn", "Default/net/op-op1/aclnn")
    found = calls_with_other_work(read_table(Kernel, scoped)).values()
    assert list(found) == ["aclnnTopk", None, "aclnnMaxPool2dWithMask", None, None, None, None, None]


def test_a_type_tells_the_call_that_most_of_it_belongs_to_and_how_much():
    rows = {row["op_type"]: row for row in operators(read_table(Kernel, KERNELS), None, None).rows()}
    assert (rows["Cast"]["inside_call"], rows["Cast"]["inside_share"]) == ("aclnnTopk", 10 / 30)
    assert (rows["TransData"]["inside_call"], rows["TransData"]["inside_share"]) == ("aclnnMaxPool2dWithMask", 1)
    assert (rows["Transpose"]["inside_call"], rows["Transpose"]["inside_share"]) == (None, 0)
