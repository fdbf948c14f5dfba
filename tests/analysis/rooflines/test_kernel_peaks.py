# SPDX-License-Identifier: Apache-2.0
"""Of which kernels it counts that their operations are not known."""

from __future__ import annotations

import numpy as np

from advisor.analysis.rooflines.kernel_peaks import peaks_of_kernels, share_of_peak
from advisor.facts.observed import Kernel
from advisor.facts.table import Table

_KERNELS = (
    ("vllm::moe_forward", "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3", 50.0),
    ("vllm::moe_forward", "moe::dev::finalize::finalizeKernelVecLoad", 7.0),
    ("fbgemm::permute_2D_sparse_data", "fbgemm_gpu::permute_2D_data_kernel_vec", 5.0),
    ("aten::copy_", "at::native::direct_copy_kernel_cuda", 3.0),
    ("aten::mm", "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", 20.0),
)


def test_a_product_within_an_operator_of_another_name_multiplies_and_its_operations_are_not_known() -> None:
    op_types, functions, durations = zip(*_KERNELS, strict=True)
    kernels = Table.build(Kernel, rank=0, op_type=[*op_types], function=[*functions], duration_us=[*durations])
    peaks = peaks_of_kernels(kernels, None, None)
    assert peaks.unknown_us.tolist() == [50.0, 0.0, 0.0, 0.0, 20.0]
    assert peaks.known_us.tolist() == [0.0] * 5
    assert np.isnan(share_of_peak(peaks.sums(lambda us: us.sum(keepdims=True)))).all()
