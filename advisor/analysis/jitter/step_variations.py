# SPDX-License-Identifier: Apache-2.0
"""What makes steps of a rank longer than others, as far as it is known: slow kernels, a long pause, a host cost."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_at
from advisor.analysis.operators.operator_paces import slow_steps
from advisor.analysis.steps.device import KERNEL, build_timeline
from advisor.facts.derived import LaunchDelay, Overlap, Stall, StepSpan, StepVariation
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, values_at

_MOST = 0.5
"""A pause is told as what makes a step longer where it makes more than half of that (`host/stalled-step`)."""
_TOLD = (
    "data_loader",
    "synchronise",
    "blocking_copy",
    "compile",
    "graph_compile",
    "gc",
    "allocate",
    "pin",
    "cpu_operator",
)
"""Kinds of `launch_delays` that rules tell by themselves; other work of the host where few steps lose nearly all
of it."""


def step_variations(
    spans: Table[StepSpan],
    *,
    paused: Table[Stall] | None,
    held: Table[LaunchDelay] | None = None,
    kernels: Table[Kernel] | None,
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
) -> Table[StepVariation]:
    """One row per rank and step. No part is more than what the step, without the others, has beyond the usual one."""
    slowed, more = np.zeros(len(spans)), np.full(len(spans), np.nan)
    if kernels is not None:
        slowed = _slowed_us(spans, kernels, collectives, windows, split)
        more = _kernels_over_usual(spans, kernels, collectives, windows)
    kept = part_beyond_usual(spans["rank"], slowed, slowed <= 0, spans["span_us"])
    left = spans["span_us"] - kept
    pauses = np.zeros(len(spans)) if paused is None else _paused_us(spans, paused)
    taken = part_beyond_usual(spans["rank"], pauses, pauses <= 0, left)
    left = left - taken
    holds = _copied_us(spans, split)
    holds = holds if held is None else np.maximum(holds, _held_us(spans, held))
    lost = part_beyond_usual(spans["rank"], holds, holds <= 0, left)
    return Table.build(
        StepVariation,
        rank=spans["rank"],
        step=spans["step"],
        edge=spans["edge"],
        span_us=spans["span_us"],
        slowed_us=kept,
        paused_us=taken,
        held_us=lost,
        left_us=left - lost,
        more_kernels=more,
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


def _kernels_over_usual(
    spans: Table[StepSpan],
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
) -> Array:
    device = build_timeline(kernels, collectives, None, windows)
    count = np.bincount(device.work.cell[device.work.kind == KERNEL], minlength=len(device.cells) + 1).astype(
        np.float64
    )
    count[-1] = np.nan
    own = count[row_at(device.cells.rank, device.cells.step, spans["rank"], spans["step"])]
    return ratio(own, group_by(spans["rank"]).medians_of_others(own))


def _paused_us(spans: Table[StepSpan], paused: Table[Stall]) -> Array:
    """Per step: what its longest pause has beyond others, where that makes most of what the step has beyond others."""
    at = row_at(spans["rank"], spans["step"], paused["rank"], paused["step"])
    beyond = (paused["duration_us"] - paused["usual_us"])[at >= 0]
    longest = Groups(at[at >= 0], np.arange(len(spans))).largest(beyond)
    longest = np.maximum(np.nan_to_num(longest), 0.0)
    beyond = spans["span_us"] - group_by(spans["rank"]).medians_of_others(spans["span_us"])
    return np.where(longest > _MOST * np.nan_to_num(beyond), longest, 0.0)


def _held_us(spans: Table[StepSpan], held: Table[LaunchDelay]) -> Array:
    """Per step: of the kinds of host costs, which lie in each other, the most that one loses beyond other steps.

    A replay counts what is lost between two steps as the later one's; spans have it in the earlier one.
    """
    order = np.lexsort((spans["step"], spans["rank"]))
    follower = np.full(len(spans), -1)
    follower[order[:-1]] = np.where(np.diff(spans["rank"][order]) == 0, order[1:], -1)
    of_few = held.texts("cause").isin(["host"]) & (held["lossy_steps"] > 0)
    held = held.take(held.texts("cause").isin(_TOLD) | of_few)
    at = row_at(spans["rank"], spans["step"], held["rank"], held["step"])
    causes, lost = held.texts("cause").codes, np.nan_to_num(held["lost_us"])
    most = np.zeros(len(spans))
    for cause in np.unique(causes[at >= 0]).tolist():
        own = (causes == cause) & (at >= 0)
        of_step = np.bincount(at[own], weights=lost[own], minlength=len(spans))
        beyond = np.maximum(of_step - np.nan_to_num(group_by(spans["rank"]).medians_of_others(of_step)), 0.0)
        most = np.maximum(most, beyond + values_at(beyond, follower, 0.0))
    return most


def _copied_us(spans: Table[StepSpan], split: Table[Overlap] | None) -> Array:
    """Per step: what it copies with nothing beside it beyond other steps; the host may wait for such copies."""
    if split is None:
        return np.zeros(len(spans))
    at = row_at(split["rank"], split["step"], spans["rank"], spans["step"])
    copied = np.nan_to_num(values_at(split["copy_us"], at, 0.0))
    return np.asarray(np.maximum(copied - np.nan_to_num(group_by(spans["rank"]).medians_of_others(copied)), 0.0))
