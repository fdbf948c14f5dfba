# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.rooflines.precision import multiplied_in_float32
from advisor.facts.table import Texts


def told(dtypes: str | None, function: str | None) -> int:
    (found,) = multiplied_in_float32(Texts.of([dtypes]), Texts.of([function])).tolist()
    return int(found)


@pytest.mark.parametrize(
    ("dtypes", "wanted"),
    [("FLOAT;FLOAT", 1), ("GenericList;FLOAT;FLOAT", 1), ("DT_BF16;DT_BF16", 0), ("FLOAT16;FLOAT", 0), (None, -1)],
)
def test_types_of_inputs_tell_unless_the_kernel_multiplies_shorter_numbers(dtypes: str | None, wanted: int) -> None:
    assert told(dtypes, None) == wanted
    if dtypes is not None:
        assert told(dtypes, "volta_sgemm_128x64_nn") == wanted
    assert told(dtypes, "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_cublas") == 0
    assert told(dtypes, "cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align4") == 0


@pytest.mark.parametrize(
    "function",
    [
        "volta_sgemm_128x64_nn",
        "ampere_sgemm_64x32_sliced1x4_tn",
        "volta_scudnn_128x64_relu_interior_nn_v1",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int)",
        "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false>(int)",
        "Cijk_Ailk_Bljk_SB_MT64x64x8_SN",
    ],
)
def test_without_types_the_name_of_the_kernel_tells_float32(function: str) -> None:
    assert told(None, function) == 1


@pytest.mark.parametrize(
    "function",
    [
        "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align4",
        "void implicit_convolve_sgemm<__half, __half, 128, 5, 5, 3, 3, 3, 1, false>(int)",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64",
        "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16",
    ],
)
def test_shorter_numbers_and_tf32_are_told_apart(function: str) -> None:
    assert told(None, function) == 0


@pytest.mark.parametrize("function", [None, "_matmul_ogs_NNT", "nvjet_tst_128x64", "triton_poi_fused_add_0"])
def test_what_no_name_tells_is_missing(function: str | None) -> None:
    assert told(None, function) == -1
