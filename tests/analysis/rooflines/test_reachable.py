# SPDX-License-Identifier: Apache-2.0
"""What products would take in another data type."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.analysis.rooflines.reachable import beyond_ridge, half_precision_us
from advisor.analysis.rooflines.rooflines import chip_limits
from advisor.chips.chip_files import shipped_chips
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

H100 = "NVIDIA H100 80GB HBM3"
"""989.4 TFLOPS in bfloat16, 66.9 in float32, 3350 GB/s."""


@pytest.mark.parametrize(
    ("chip", "op_type", "shapes", "made", "dtype", "mean_us", "half_us"),
    [
        (H100, "aten::mm", "8192,4096;4096,4096", "8192,4096", "FLOAT", 4200, 463.03),  # 2.749e11 / 989.4e6 / 0.6
        (H100, "aten::mm", "8192,4096;4096,4096", "8192,4096", "FLOAT", 600, 463.03),  # in TF32
        (H100, "aten::mm", "8192,64;64,4096", "8192,4096", "FLOAT", 90, 51.26),  # 68.7 MB read and written
        (H100, "aten::mm", "8192,4096;4096,4096", "8192,4096", "FLOAT", 7000, None),  # something else holds it up
        (H100, "aten::mm", "64,64;64,64", "64,64", "FLOAT", 3, None),  # it is its start
        (H100, "aten::mm", "8192,4096;4096,4096", "8192,4096", "DT_BF16", 400, None),
        (H100, "aten::add", "8192,4096;8192,4096", "8192,4096", "FLOAT", 200, None),
        ("AMD Instinct MI300X", "aten::mm", "8192,4096;4096,4096", "8192,4096", "FLOAT", 4200, None),
    ],
)
def test_a_product_that_float32_makes_slow_takes_in_half_precision_what_the_chip_is_known_to_reach(  # noqa: PLR0917 - columns of the cases
    chip: str, op_type: str, shapes: str, made: str, dtype: str, mean_us: float, half_us: float | None
) -> None:
    kernels = Table.build(
        Kernel,
        rank=0,
        op_type=[op_type],
        input_shapes=[shapes],
        input_dtypes=[f"{dtype};{dtype}"],
        output_shapes=[made],
        output_dtypes=[dtype],
        duration_us=[float(mean_us)],
    )
    limits = chip_limits(run_of_ranks(Run(chip=chip)), shipped_chips(), kernels, None)
    (found,) = half_precision_us(kernels, np.array([float(mean_us)]), limits)
    assert found == pytest.approx(np.nan if half_us is None else half_us, rel=1e-3, nan_ok=True)


@pytest.mark.parametrize(
    ("chip", "op_type", "rows", "beyond"),
    [
        (H100, "aten::mm", "315", 0),  # the ridge is at 989.4e12 / 3350e9 = 295.3 operations for each byte,
        (H100, "aten::mm", "321", 1),  # and rows * 8192 / (2 * rows + 8192) of them reach that with 318 rows
        (H100, "aten::add", "321", None),
        (H100, "aten::mm", "", None),
        ("", "aten::mm", "321", None),
    ],
)
def test_a_product_is_beyond_the_ridge_where_its_operations_take_longer_than_its_bytes(
    chip: str, op_type: str, rows: str, beyond: int | None
) -> None:
    kernels = Table.build(
        Kernel,
        rank=0,
        op_type=[op_type],
        input_shapes=[f"{rows},8192;8192,8192" if rows else None],
        input_dtypes=["DT_BF16;DT_BF16"],
        output_shapes=[f"{rows},8192" if rows else None],
        output_dtypes=["DT_BF16"],
        duration_us=[500.0],
    )
    limits = chip_limits(run_of_ranks(Run(chip=H100)), shipped_chips(), kernels, None)
    limits = limits if chip else limits.having(memory_gbps=np.full(len(limits), np.nan))
    assert beyond_ridge(kernels, limits).tolist() == pytest.approx([np.nan if beyond is None else beyond], nan_ok=True)
