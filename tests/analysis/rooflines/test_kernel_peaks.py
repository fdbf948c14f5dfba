# SPDX-License-Identifier: Apache-2.0
"""Of which kernels it counts that their operations are not known."""

from __future__ import annotations

import numpy as np

from advisor.analysis.rooflines.kernel_peaks import peaks_of_kernels, share_of_peak
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, read_table

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


def test_bytes_are_known_of_what_reads_and_writes_all_its_tensors_once() -> None:
    limits = read_table(ChipLimit, "rank memory_gbps half_tflops\n0 1000 300")
    columns = {
        "op_type": ["Add", "GatherV2", "MatMulV3", "Add"],
        "input_shapes": ["1000,1000;1000,1000", "1000,1000;8", "1000,1000;1000,1000", None],
        "input_dtypes": ["FLOAT16;FLOAT16", "FLOAT16;INT64", "FLOAT16;FLOAT16", None],
        "output_shapes": ["1000,1000", "8,1000", "1000,1000", None],
        "output_dtypes": ["FLOAT16", "FLOAT16", "FLOAT16", None],
    }
    kernels = Table.build(Kernel, rank=0, duration_us=[10.0, 20.0, 30.0, 40.0], **columns)
    peaks = peaks_of_kernels(kernels, limits, None)
    assert peaks.memory_us.tolist() == [6.0, 0.0, 6.0, 0.0]  # 6 MB at 1 TB/s
    assert peaks.moved_us.tolist() == [10.0, 0.0, 30.0, 0.0]
    assert peaks.unmoved_us.tolist() == [0.0, 20.0, 0.0, 40.0]
    assert peaks_of_kernels(kernels, None, None).moved_us.tolist() == [0.0] * 4
