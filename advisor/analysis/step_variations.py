# SPDX-License-Identifier: Apache-2.0
"""What makes steps of a rank longer than others, as far as it is known: slow kernels, and one long pause."""

from __future__ import annotations

import numpy as np

from advisor.analysis.device import build_timeline
from advisor.analysis.grouping import Groups, group_by, row_at
from advisor.analysis.operator_paces import slow_steps
from advisor.facts.derived import Overlap, Stall, StepSpan, StepVariation
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table


def step_variations(
    spans: Table[StepSpan],
    *,
    paused: Table[Stall] | None,
    kernels: Table[Kernel] | None,
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
) -> Table[StepVariation]:
    """One row per rank and step. Neither part is more than what the step has beyond the usual one."""
    slowed = np.zeros(len(spans))
    if kernels is not None:
        slowed = _slowed_us(spans, kernels, collectives, windows, split)
    kept = part_beyond_usual(spans["rank"], slowed, slowed <= 0, spans["span_us"])
    left = spans["span_us"] - kept
    pauses = np.zeros(len(spans)) if paused is None else _paused_us(spans, paused)
    taken = part_beyond_usual(spans["rank"], pauses, pauses <= 0, left)
    return Table.build(
        StepVariation,
        rank=spans["rank"],
        step=spans["step"],
        edge=spans["edge"],
        span_us=spans["span_us"],
        slowed_us=kept,
        paused_us=taken,
        left_us=left - taken,
    )


def part_beyond_usual(rank: Array, part: Array, without: Array, span: Array) -> Array:
    """A part of each step, at most what it is longer than the middle one of those of its rank without such a part."""
    ranks = group_by(rank)
    usual = ranks.medians(np.where(without, span, np.nan))[ranks.of]
    usual = np.where(np.isnan(usual), ranks.smallest(span)[ranks.of], usual)
    return np.clip(part, 0.0, np.maximum(np.nan_to_num(span - usual), 0.0))


def _slowed_us(
    spans: Table[StepSpan],
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
) -> Array:
    device = build_timeline(kernels, collectives, None, windows)
    found = slow_steps(device, kernels, split)
    excess = np.append(np.bincount(found.cell, found.excess_us, len(device.cells)), 0.0)
    return np.asarray(excess[row_at(device.cells.rank, device.cells.step, spans["rank"], spans["step"])])


def _paused_us(spans: Table[StepSpan], paused: Table[Stall]) -> Array:
    at = row_at(spans["rank"], spans["step"], paused["rank"], paused["step"])
    beyond = (paused["duration_us"] - paused["usual_us"])[at >= 0]
    longest = Groups(at[at >= 0], np.arange(len(spans))).largest(beyond)
    return np.asarray(np.maximum(np.nan_to_num(longest), 0.0))
