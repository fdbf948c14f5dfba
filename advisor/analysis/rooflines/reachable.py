# SPDX-License-Identifier: Apache-2.0
"""How long products would take if they came as near to what the chip can as real kernels do."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, row_of_key
from advisor.analysis.rooflines.operator_work import TOLD_BY, Work, work_of_kernel
from advisor.analysis.rooflines.rooflines import peaks_of_rows
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, values_at

REACH, REACH_MEMORY = 0.6, 0.4
"""Parts of the peak and of the bandwidth that large products come to at least, alone and in groups: the thresholds of
`compute/below-roofline`, which name what they rest on."""
START_US = 20.0
"""Start-up time of a kernel on all cores of Atlas A2, as there."""
REACH_OF_VECTORS = 0.35
"""Part of the bandwidth that element-wise operators and sums come to, as in `compute/slow-vector-operator`."""
_HALF = ("FLOAT16", "BF16")


def reachable_us(kernels: Table[Kernel], limits: Table[ChipLimit]) -> Array:
    """Per kernel: its operations and bytes at what is within reach, its start-up aside; NaN of all but products in half
    precision, and where the chip is not known."""
    alike, works = _works_of_like_kernels(kernels)
    at = row_of_key(limits["rank"], kernels["rank"][alike.first])
    halves = np.array([work.dtype in _HALF and work.cube_work != "" for work in works], bool)
    peak = peaks_of_rows(limits, np.where(halves, at, -1), [work.dtype for work in works])
    gbps = values_at(limits["memory_gbps"], at, np.nan)
    compute = np.array([work.flops for work in works], float) / peak / 1e6
    memory = np.array([work.size_bytes for work in works], float) / gbps / 1e3
    found: Array = np.maximum(compute / REACH, memory / REACH_MEMORY)[alike.of]
    return found


def half_precision_us(kernels: Table[Kernel], mean_us: Array, limits: Table[ChipLimit]) -> Array:
    """Per kernel: what a product in float32 would take in bfloat16 at what is within reach, its start-up aside.

    NaN of all others, where the chip is not known, and of those that take longer than what is within reach of float32
    explains: nobody knows what they would be bound by.
    """
    alike, works = _works_of_like_kernels(kernels)
    at = row_of_key(limits["rank"], kernels["rank"][alike.first])
    whole = np.array([work.dtype == "FLOAT" and work.cube_work != "" for work in works], bool)
    flops, size = (np.array([getattr(work, name) for work in works], float) for name in ("flops", "size_bytes"))
    peaks = [peaks_of_rows(limits, np.where(whole, at, -1), [dtype] * len(works)) for dtype in ("FLOAT", "BF16")]
    in_float, in_half = (flops / peak / 1e6 / REACH for peak in peaks)
    memory = size / 2 / values_at(limits["memory_gbps"], at, np.nan) / 1e3 / REACH_MEMORY
    found: Array = np.where(mean_us <= in_float[alike.of], np.maximum(in_half, memory)[alike.of], np.nan)
    return found


def most_memory_us(kernels: Table[Kernel], limits: Table[ChipLimit]) -> Array:
    """Per kernel: what one pass over its inputs and outputs takes at full bandwidth; NaN where that is not known."""
    alike, works = _works_of_like_kernels(kernels)
    gbps = values_at(limits["memory_gbps"], row_of_key(limits["rank"], kernels["rank"][alike.first]), np.nan)
    found: Array = (np.array([work.most_bytes for work in works], float) / gbps / 1e3)[alike.of]
    return found


def beyond_ridge(kernels: Table[Kernel], limits: Table[ChipLimit]) -> Array:
    """Per kernel: 1 where its operations take longer at the peak than its bytes at the bandwidth, else 0: the ridge of
    the roofline lies between the two. NaN of all but products, and where the chip or the shapes are not known."""
    alike, works = _works_of_like_kernels(kernels)
    at = row_of_key(limits["rank"], kernels["rank"][alike.first])
    gbps = values_at(limits["memory_gbps"], at, np.nan)
    compute = (
        np.array([work.flops for work in works], float) / peaks_of_rows(limits, at, [w.dtype for w in works]) / 1e6
    )
    memory = np.array([work.size_bytes for work in works], float) / gbps / 1e3
    found: Array = np.where(np.isnan(compute) | np.isnan(memory), np.nan, compute >= memory)[alike.of]
    return found


def _works_of_like_kernels(kernels: Table[Kernel]) -> tuple[Groups, list[Work]]:
    """Kernels of one rank with the same tensors as groups, and the work of each group."""
    texts = [kernels.texts(name) for name in TOLD_BY]
    alike = group_by(kernels["rank"], *texts)
    rows = zip(*(column.take(alike.first).values() for column in texts), strict=True)
    return alike, [work_of_kernel(op_type or "", *others) for op_type, *others in rows]


def pass_within_reach_us(kernels: Table[Kernel], limits: Table[ChipLimit]) -> Array:
    """Per kernel: one pass over its data at what is within reach of operators without products, its start-up with it;
    NaN where its data or the chip are not known."""
    found: Array = START_US + most_memory_us(kernels, limits) / REACH_OF_VECTORS
    return found
