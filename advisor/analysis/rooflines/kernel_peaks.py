# SPDX-License-Identifier: Apache-2.0
"""How long the operations of each kernel would take at the peak of the chip, and its bytes at the bandwidth of its
memory, from which shares of these are summed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.rooflines.families import MULTIPLYING, PRODUCT_IN_LIBRARIES, families_of, go_by_index
from advisor.analysis.rooflines.marked_attention import marked_flops
from advisor.analysis.rooflines.operator_work import TOLD_BY, Work, work_of_kernel
from advisor.analysis.rooflines.precision import peak_dtype
from advisor.analysis.rooflines.rooflines import TOLERATED, peaks_of_rows
from advisor.facts.derived import AttentionCall, ChipLimit
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, values_at

_ALIKE = (*TOLD_BY, "hf32", "core")
_ROUNDED = {"YES": 1.0, "NO": 0.0}
"""By what a kernel says of HF32: the part of it that may be rounded."""
_PRODUCT = re.compile(rf"{PRODUCT_IN_LIBRARIES}|(?<![a-z])bmm_", re.IGNORECASE)
"""In the name of what runs on a GPU: a product, whatever the operator is called that launches it, as one of experts."""


class KernelPeaks(Struct, frozen=True):
    """Per kernel, µs."""

    peak_us: Array
    """What its operations take at the peak; 0 where they are not known, or it does not multiply."""
    known_us: Array
    """Its duration where they are known; else 0."""
    unknown_us: Array
    """Its duration where it multiplies and they are not known; else 0."""
    memory_us: Array
    """What its inputs and outputs take at the bandwidth of the memory; 0 where they are not known, or which of them it
    reads."""
    moved_us: Array
    """Its duration where they are known; else 0."""
    unmoved_us: Array
    """Its duration where they are not; else 0."""

    def sums_of_memory(self, add_up: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
        """The last three, added up by group."""
        return add_up(self.memory_us), add_up(self.moved_us), add_up(self.unmoved_us)

    def sums(self, add_up: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
        """The first three, added up by group."""
        return add_up(self.peak_us), add_up(self.known_us), add_up(self.unknown_us)


def share_of_peak(sums: tuple[Array, Array, Array], whole: Array | None = None) -> Array:
    """Per group, from the sums of its kernels: the part of the peak used in a time, else while they multiply.

    Missing where nothing multiplies, or too little is known of what does.
    """
    peak, known, unknown = sums
    told = (known > 0) & (unknown <= TOLERATED * (known + unknown))
    return np.where(told, ratio(peak, known if whole is None else whole), np.nan)


def peaks_of_kernels(
    kernels: Table[Kernel], limits: Table[ChipLimit] | None, attention: Table[AttentionCall] | None
) -> KernelPeaks:
    """What is known of each kernel; worked out once for the same tables."""
    return kernels.once_for_now(_peaks_of_kernels, limits, attention)


def _peaks_of_kernels(
    kernels: Table[Kernel], limits: Table[ChipLimit] | None, attention: Table[AttentionCall] | None
) -> KernelPeaks:
    groups = group_by(kernels["rank"], *(kernels.texts(name) for name in _ALIKE))
    distinct = kernels.take(groups.first)
    multiplies = families_of(distinct.texts("op_type"), distinct.texts("core")).isin(MULTIPLYING)
    works = _works_of(distinct)
    flops, per_us = np.zeros(len(groups)), np.full(len(groups), np.nan)
    rows = np.flatnonzero(multiplies)
    flops[rows], per_us[rows] = _flops_and_peaks(distinct.take(rows), [works[row] for row in rows.tolist()], limits)
    memory = _memory_us(distinct, works, limits)[groups.of]
    each, multiplies = flops[groups.of], multiplies[groups.of]
    inside = ~multiplies & kernels.texts("function").passing(_PRODUCT.search)
    each[inside], multiplies[inside] = np.nan, True
    each = np.where(np.isnan(each), marked_flops(kernels, attention), each)
    us, peak = np.nan_to_num(kernels["duration_us"]), ratio(each, per_us[groups.of])
    counted = multiplies & (us > 0)
    known = counted & ~np.isnan(peak)
    moved = (us > 0) & ~np.isnan(memory)
    return KernelPeaks(
        np.where(known, peak, 0.0),
        np.where(known, us, 0.0),
        np.where(counted & ~known, us, 0.0),
        np.where(moved, memory, 0.0),
        np.where(moved, us, 0.0),
        np.where(moved, 0.0, us),
    )


def _works_of(kernels: Table[Kernel]) -> list[Work]:
    columns = (kernels.texts(name).values() for name in TOLD_BY)
    return [work_of_kernel(row[0] or "", *row[1:]) for row in zip(*columns, strict=True)]


def _memory_us(kernels: Table[Kernel], works: Sequence[Work], limits: Table[ChipLimit] | None) -> Array:
    """Per kernel: what its bytes take at the bandwidth of the memory; NaN where these are not known, as of what goes by
    indices, or of grouped products that may leave weights aside."""
    if limits is None:
        return np.full(len(kernels), np.nan)
    every = [work.most_bytes if math.isnan(work.size_bytes) else work.size_bytes for work in works]
    told = np.array([math.isnan(work.least_bytes) for work in works], bool) & ~go_by_index(kernels.texts("op_type"))
    gbps = values_at(limits["memory_gbps"], row_of_key(limits["rank"], kernels["rank"]), np.nan)
    return np.where(told, np.array(every, float) / gbps / 1e3, np.nan)


def _flops_and_peaks(
    kernels: Table[Kernel], works: Sequence[Work], limits: Table[ChipLimit] | None
) -> tuple[Array, Array]:
    """Per kernel: its operations by its shapes, and those that the chip can do in a µs; NaN where not known."""
    flops = np.array([work.flops for work in works], float)
    if limits is None:
        return flops, np.full(len(kernels), np.nan)
    rows = zip(kernels.texts("op_type").values(), works, kernels.texts("hf32").values(), strict=True)
    dtypes = [peak_dtype(op or "", work.dtype, _ROUNDED.get(hf32 or "", np.nan)) for op, work, hf32 in rows]
    return flops, peaks_of_rows(limits, row_of_key(limits["rank"], kernels["rank"]), dtypes) * 1e6
