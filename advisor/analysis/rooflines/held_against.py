# SPDX-License-Identifier: Apache-2.0
"""Which kernels are compared with what the chip can do, and why the others are not: for rules and reports alike."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio
from advisor.analysis.rooflines.families import AI_CPU_CORE, MULTIPLYING
from advisor.facts.derived import HeldKernels, OperatorRoofline
from advisor.facts.table import Array, Table, Texts

HALF = ("FLOAT16", "BF16")
"""Data types in which it is known what part of the peak products come to."""
EIGHT_BITS = ("INT8", "FP8")
"""Those in which it is known of quantised products alone."""
LONG_US = 50.0
"""Two and a half times the start-up of a kernel on all cores of Atlas A2 (20 µs): shorter ones are decided by that."""
KEYS = 2048
"""Keys per query on average from which it is known what fused attention comes to, as in a public causal capture of 4096
tokens. With fewer, the pipeline of both units hardly fills: the pto-isa benchmark on a 910B2 falls from 0.54 of the
peak at 8192 keys to 0.39 at 2048 and 0.24 at 1024."""
BLOCK = 128
"""A core multiplies blocks of 128 x 256 (the MatMul tiling in Ascend C): batched and grouped products and convolutions
with a smaller side leave it partly empty, whatever one does."""

_ATTENTION = ("attention", "attention backward")
_OF_SIDES = ("batched", "grouped", "quantised", "convolution")
_PASSES = ("elementwise", "reduction", "optimizer")


def held_against(table: Table[OperatorRoofline]) -> Texts:
    """Per row what it is held against; else why it is held against nothing, the first reason that applies."""
    family, work = table.texts("family"), table.texts("cube_work")
    multiplies, attends = family.isin(MULTIPLYING), family.isin(["attention"])
    half = table.texts("dtype").isin(HALF)
    in_known_type = half | (table.texts("dtype").isin(EIGHT_BITS) & work.isin(["quantised"]))
    us = np.where(multiplies, table["mean_us"], table["steady_mean_us"])
    side, known = table["least_side"], table["expected_us"] > 0
    reasons = {
        **_held(table, in_known_type & known & (table["mean_us"] > LONG_US), us > LONG_US),
        "waits": table["communicates"] == 1,
        "ai_cpu": table.texts("core").isin([AI_CPU_CORE]),
        "custom": family.isin(["custom"]),
        "short": us <= LONG_US,
        "": table.texts("input_shapes").codes < 0,
        "movement": family.isin(["movement"]),
        "data type": multiplies & (table.texts("dtype").codes >= 0) & ~in_known_type,
        "unknown attention": attends & (~known | np.isnan(table["head_width"])),
        "unknown work": ~known & (multiplies | np.isnan(table["most_memory_us"])),
        "few keys": attends & (side < KEYS),
        "small side": multiplies & work.isin(_OF_SIDES) & (side < BLOCK),
        "fused": multiplies,
    }
    words = (*reasons, "other")
    codes = np.select([*reasons.values()], np.arange(len(reasons)), len(reasons)).astype(np.int32)
    return Texts(np.where(codes == words.index(""), -1, codes).astype(np.int32), words)


def _held(table: Table[OperatorRoofline], is_known: Array, is_long: Array) -> dict[str, Array]:
    """What of a known amount of work is held against both peaks, and what against a pass over its data."""
    family, work, side = table.texts("family"), table.texts("cube_work"), table["least_side"]
    of_sides = work.isin(_OF_SIDES) & (side >= BLOCK)
    of_keys = work.isin(_ATTENTION) & (side >= KEYS) & (table["head_width"] > 0)
    by_index = family.isin(["movement"]) & (table["goes_by_index"] == 1)
    passes = (family.isin(_PASSES) | by_index) & (table["most_memory_us"] >= 0)
    aside = (table["communicates"] == 1) | (table["picks_last"] == 1) | table.texts("core").isin([AI_CPU_CORE])
    return {
        "roofline": is_known & ((table["dense"] == 1) | of_sides | of_keys),
        "bandwidth": is_long & passes & ~aside,
    }


def held_kernels(kernels: Table[OperatorRoofline]) -> Table[HeldKernels]:
    """One row per rank and what its kernels are held against, longest first."""
    groups = group_by(kernels["rank"], kernels.texts("held_against"))
    rank, total = kernels["rank"][groups.first], groups.sums(kernels["total_us"])
    ranks = group_by(rank)
    table = Table.build(
        HeldKernels,
        rank=rank,
        held_against=kernels.texts("held_against").take(groups.first),
        total_us=total,
        kernel_share=ratio(total, ranks.sums(total)[ranks.of]),
    )
    return table.take(np.lexsort((-total, rank)))
