# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.facts.table import Texts
from advisor.sources.kineto.roles import roles_of_operators


def role_of(op_type: str | None, dtypes: str | None = None, caller: str | None = None) -> str | None:
    (role,) = roles_of_operators(Texts.of([op_type]), Texts.of([dtypes]), lambda _: Texts.of([caller])).values()
    return role


@pytest.mark.parametrize(
    ("role", "types"),
    [
        ("cast", "aten::_to_copy aten::to"),
        (
            "move",
            "aten::copy_ aten::cat aten::clone aten::contiguous at::native::CatArrayBatchedCopy_aligned16_contig "
            "at::native::direct_copy_kernel_cuda memcpy32_post memcpy128",
        ),
        ("move", "cudnn::ops::nchwToNhwcKernel nhwcToNchwKernel cudnn::ops::nchwToFoldedNhwcKernel"),
        ("other", "cudnn::bn_fw_tr_1C11_kernel_NCHW at::native::max_pool_forward_nchw cutlass_fprop_64x32_nhwc_align4"),
        ("fill", "Memset memset32_post memset32 aten::fill_ aten::zero_ aten::zeros_like aten::_foreach_zero_"),
        ("other", "memcpy_reduce aten::add_ aten::mm aten::fill_diagonal_ aten::convolution"),
    ],
)
def test_an_operator_has_the_role_of_what_it_does_to_data(role: str, types: str) -> None:
    names = types.split()
    none = Texts.constant(None, len(names))
    told = roles_of_operators(Texts.of(names), none, lambda rows: Texts.constant(None, len(rows)))
    assert told.values() == [role] * len(names)
    assert role_of(None) is None


@pytest.mark.parametrize(
    ("dtypes", "caller", "role"),
    [
        ("DT_BF16;FLOAT", None, "cast"),
        ("FLOAT;FLOAT", None, "move"),
        ("FLOAT;FLOAT", "aten::_to_copy", "move"),
        ("FLOAT;DT_BF16;BOOL", "aten::clone", "cast"),
        (None, "aten::_to_copy", "cast"),
        (None, "aten::to", "cast"),
        (None, "aten::clone", "move"),
        (None, None, "move"),
        ("FLOAT", "aten::to", "cast"),
    ],
)
def test_a_copy_casts_where_its_types_differ_and_without_types_where_a_conversion_called_it(
    dtypes: str | None, caller: str | None, role: str
) -> None:
    assert role_of("aten::copy_", dtypes, caller) == role
