# SPDX-License-Identifier: Apache-2.0
"""Which communicators carry tensor parallelism, told by what they do where the files do not say what they are for."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.analysis.communication.gradient_repeats import are_gradients
from advisor.analysis.job.engine_phases import keep_tokens
from advisor.analysis.operators.expert_loads import are_grouped
from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Array, Table, Texts, ascending, values_at

_UNTOLD = ("", "world")
"""What is said of a group without a description: nothing, or that it has all ranks, as where one machine serves."""
_LEAST_LAYERS = 8
"""Models that are spread over devices have far more layers; in fewer, what recurs may do so by chance."""
_NEARLY_ALL = 0.9
"""A layer whose weights are split sums up twice, behind its attention and behind the rest (Megatron-LM). A few may go
unseen: where the capture begins or ends, and where a step has none of the usual kernels."""


_LEAST_REDUCTIONS = 4
"""In a forward pass: two layers that are split reduce so often. Of losses and norms one or two are summed up there."""
_NEVER = np.iinfo(np.int64).max
_LARGE = 1 << 20
"""Bytes: statistics such as those of synchronised batch norm are far smaller, and activations of any model that is
split over devices are not; DDP begins with buckets of so much."""


def kinds_of_calls(collectives: Table[Collective], kernels: Table[Kernel] | None) -> Texts:
    """What the group of each call is for: as the files say, or `tp` where a model reduces in each of its layers.

    Engines open their groups without a description. A layer of theirs reaches from one kernel that keeps keys and
    values to the next. What trains reduces gradients, and in the forward pass, where there are none yet, only what is
    split over ranks.
    """
    kinds = collectives.texts("group_kind")
    started = collectives["start_ns"] != MISSING
    asked = np.flatnonzero(
        (kinds.isin(_UNTOLD) | (kinds.codes < 0))
        & started
        & collectives.texts("op").isin(["allReduce", "reduceScatter"])
    )
    if kernels is None or not len(asked):
        return kinds
    calls = collectives.take(asked)
    groups = group_by(calls["rank"], calls.texts("group"))
    summing = calls.texts("op").isin(["allReduce"])
    served = _reduce_in_layers(calls, groups, kernels)[groups.of] & summing
    split = _reduce_in_forward_pass(calls, groups, kernels)[groups.of] & (calls.texts("group").codes >= 0)
    if not (served | split).any():
        return kinds
    untold = (kinds.isin(_UNTOLD) | (kinds.codes < 0)) & (collectives["p2p"] != 1)
    codes = kinds.codes.copy()
    codes[asked[served]] = len(kinds.names)
    codes[untold & _are_of_groups(collectives, calls.take(np.flatnonzero(split)))] = len(kinds.names)
    return Texts(codes, (*kinds.names, "tp"))


def _are_of_groups(collectives: Table[Collective], some: Table[Collective]) -> Array:
    """Per call: whether it is of the group of one of these on the same rank."""
    both = group_by(
        np.concatenate([collectives["rank"], some["rank"]]),
        Texts.concat([collectives.texts("group"), some.texts("group")]),
    ).of
    found: Array = np.isin(both[: len(collectives)], both[len(collectives) :])
    return found


def _reduce_in_layers(calls: Table[Collective], groups: Groups, kernels: Table[Kernel]) -> Array:
    """Per group of a rank: whether it sums up in each layer of a model that keeps keys and values."""
    layers = kernels.take(keep_tokens(kernels) & (kernels["start_ns"] != MISSING))
    summing = calls.texts("op").isin(["allReduce"])
    found = np.zeros(len(groups), bool)
    for number, first in enumerate(groups.first.tolist()):
        begins = ascending(layers["start_ns"][layers["rank"] == calls["rank"][first]])
        own = calls["start_ns"][(groups.of == number) & summing]
        found[number] = len(begins) > _LEAST_LAYERS and len(own) > 0 and _part_with_calls(begins, own) >= _NEARLY_ALL
    return found


def _reduce_in_forward_pass(calls: Table[Collective], groups: Groups, kernels: Table[Kernel]) -> Array:
    """Per group of a rank: whether it reduces several times, by large tensors, before the first gradient of each step.

    Kernels lie between: what reduces once for all that is left of a step before does so at once. Models with experts
    are not asked for what scatters, for they may bring the tokens of experts together so.
    """
    found = np.zeros(len(groups), bool)
    gradient, grouped = are_gradients(kernels.texts("op_type")), are_grouped(kernels.texts("op_type"))
    timed = (kernels["start_ns"] != MISSING) & (kernels["step"] != MISSING)
    counted = calls["step"] != MISSING
    large, summing = calls["size_bytes"] >= _LARGE, calls.texts("op").isin(["allReduce"])
    for rank in np.unique(calls["rank"]).tolist():
        work, own = timed & (kernels["rank"] == rank), counted & (calls["rank"] == rank)
        steps = np.unique(calls["step"][own])
        may = own & large & (summing | (not (work & grouped).any()))
        first = _first_in_steps(steps, kernels, work & gradient)
        at = np.searchsorted(steps, calls["step"])
        before = np.flatnonzero(may & (calls["start_ns"] < values_at(first, at, 0)))
        after_kernels = _count_begun(kernels, np.flatnonzero(work), calls, before)
        apart = before[group_by(groups.of[before], at[before], after_kernels).first]
        mine = np.unique(groups.of[own])
        place = np.full(len(groups), -1)
        place[mine] = np.arange(len(mine))
        count = np.bincount(at[apart] * len(mine) + place[groups.of[apart]], minlength=len(steps) * len(mine))
        count = np.where(first < _NEVER, count.reshape(len(steps), len(mine)).T, 0)
        found[mine] |= count.min(axis=1, initial=_NEVER) >= _LEAST_REDUCTIONS
    return found


def _first_in_steps(steps: Array, kernels: Table[Kernel], some: Array) -> Array:
    """When the first of some kernels begins in each of these steps, which ascend; `_NEVER` where there is none."""
    first = np.full(len(steps), _NEVER)
    rows = np.flatnonzero(some & np.isin(kernels["step"], steps))
    np.minimum.at(first, np.searchsorted(steps, kernels["step"][rows]), kernels["start_ns"][rows])
    return first


def _count_begun(kernels: Table[Kernel], work: Array, calls: Table[Collective], asked: Array) -> Array:
    """Per asked call: how many of these kernels had begun when it began, those of earlier steps counted with them."""
    step = np.concatenate([kernels["step"][work], calls["step"][asked]])
    start = np.concatenate([kernels["start_ns"][work], calls["start_ns"][asked]])
    order = np.lexsort((start, step))  # of equal ones the kernels are first
    begun = np.empty(len(order), np.int64)
    begun[order] = np.cumsum(order < len(work))
    return begun[len(work) :]


def _part_with_calls(begins: Array, calls: Array) -> float:
    """In which part of the layers, each from its begin to that of the next, a call begins."""
    layer = np.unique(np.searchsorted(begins, calls, "right") - 1)
    return float(((layer >= 0) & (layer < len(begins) - 1)).sum() / (len(begins) - 1))
