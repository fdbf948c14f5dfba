# SPDX-License-Identifier: Apache-2.0
"""Which communicators carry tensor parallelism, told by what they do where the files do not say what they are for."""

from __future__ import annotations

import numpy as np

from advisor.analysis.engine_phases import keep_tokens
from advisor.analysis.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Array, Table, Texts

_UNTOLD = ("", "world")
"""What is said of a group without a description: nothing, or that it has all ranks, as where one machine serves."""
_LEAST_LAYERS = 8
"""Models that are spread over devices have far more layers; in fewer, what recurs may do so by chance."""
_NEARLY_ALL = 0.9
"""A layer whose weights are split sums up twice, behind its attention and behind the rest (Megatron-LM). A few may go
unseen: where the capture begins or ends, and where a step has none of the usual kernels."""


def kinds_of_calls(collectives: Table[Collective], kernels: Table[Kernel] | None) -> Texts:
    """What the group of each call is for: as the files say, or `tp` where a served model reduces in each of its layers.

    Engines open their groups without a description. A layer reaches from one kernel that keeps keys and values to the
    next, so nothing that trains is taken for one.
    """
    kinds = collectives.texts("group_kind")
    started = collectives["start_ns"] != MISSING
    asked = np.flatnonzero(
        (kinds.isin(_UNTOLD) | (kinds.codes < 0)) & started & collectives.texts("op").isin(["allReduce"])
    )
    if kernels is None or not len(asked):
        return kinds
    layers = kernels.take(keep_tokens(kernels) & (kernels["start_ns"] != MISSING))
    groups = group_by(collectives["rank"][asked], collectives.texts("group").take(asked))
    found = np.zeros(len(groups), bool)
    for number, first in enumerate(asked[groups.first].tolist()):
        begins = np.sort(layers["start_ns"][layers["rank"] == collectives["rank"][first]])
        calls = collectives["start_ns"][asked[groups.of == number]]
        found[number] = len(begins) > _LEAST_LAYERS and _part_with_calls(begins, calls) >= _NEARLY_ALL
    codes = kinds.codes.copy()
    codes[asked[found[groups.of]]] = len(kinds.names)
    return Texts(codes, (*kinds.names, "tp")) if found.any() else kinds


def _part_with_calls(begins: Array, calls: Array) -> float:
    """In which part of the layers, each from its begin to that of the next, a call begins."""
    layer = np.unique(np.searchsorted(begins, calls, "right") - 1)
    return float(((layer >= 0) & (layer < len(begins) - 1)).sum() / (len(begins) - 1))
