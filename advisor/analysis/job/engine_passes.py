# SPDX-License-Identifier: Apache-2.0
"""Passes of a model that serves, found where no engine marked them: what repeats, and where it begins anew.

Repetition alone does not tell them: in each public capture of one pass the layers repeat, as regularly as passes would.
So what ends a pass has to be seen: the choice of tokens, or the product with the vocabulary, which a model has once.
From one of them to the next lie equally many layers, for a model has the same in each pass, whether it reads prompts
or generates; and host and device exchange something in each pass, which they do not from layer to layer. Where one of
these does not hold, no passes are found. Where tokens are drafted ahead and verified together, what drafts them passes
its few layers and chooses, too: a pass of the model then lasts until the last draft after it.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.job.engine_phases import PassWork, are_named
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, ascending

LEAST = 3
"""So many whole passes make a repetition: with two, one length is held against one other."""
_LAYERS = 2
"""A model that generates text has at least so many."""
_MOST_DRAFTS = 15
"""Attention of Ascend takes 16 tokens of a request at once: one, and so many that were drafted."""
_CHOOSES = re.compile(
    r"ArgMax|Multinomial|ApplyTopKTopP|TopKTopPSample"
    r"|\w+::(npu_)?(argmax|multinomial|(apply_)?top_k_top_p\w*)$|.*(TopKTopP|TopPSampl|sampling_from_prob)"
)
"""Kernels that choose tokens by their scores."""


class Passes(Struct, frozen=True):
    """Whole passes of one rank, in time; between two of them lies nothing."""

    border_ns: Array
    """When each begins, and when the last ends: at the end of what ends a pass. One more than there are passes."""
    layer_ns: Array
    """When the first layer of each reaches its cache, before which inputs are made."""

    def __len__(self) -> int:
        return len(self.layer_ns)


def choices_of_tokens(kernels: Table[Kernel]) -> Array:
    """Per kernel: whether it chooses tokens."""
    return are_named(kernels, lambda name: _CHOOSES.match(name) is not None)


def find_passes(start: Array, end: Array, work: PassWork, chooses: Array, exchanges: Array) -> Passes | None:
    """The whole passes of one rank, by its kernels in start order and the moments of its copies from or to the host.

    None where passes cannot be told from what repeats within them. Where no copies were recorded only a choice of
    tokens ends a pass.
    """
    layers = start[work.stores if work.stores.any() else work.attends]
    chosen, last = np.flatnonzero(chooses), _rarest_product(work)
    for ends in (chosen, last) if len(exchanges) else (chosen,):
        found = _cut(layers, start[ends], end[ends])
        if found is not None and _are_whole_passes(found, start, work, exchanges):
            return found
    return None


def _rarest_product(work: PassWork) -> Array:
    """The kernels of the weight that is used least often, of several the one that is used last."""
    rows = np.flatnonzero(work.weight >= 0)
    if not len(rows):
        return rows
    weight = work.weight[rows]
    used = np.bincount(weight)[weight]
    found: Array = rows[weight == weight[used == used.min()][-1]]
    return found


def _cut(layers: Array, start: Array, end: Array) -> Passes | None:
    """What lies from one end of a pass to the next, where that is equally many layers each time, drafts aside."""
    before, which = np.unique(np.searchsorted(layers, start), return_inverse=True)
    if len(before) <= LEAST:
        return None
    kept = _ends_of_targets(np.diff(before))
    if len(kept) <= LEAST:
        return None
    border = np.zeros(len(before), np.int64)
    np.maximum.at(border, which, end)
    before, border = before[kept], border[kept]
    if max(before[0], len(layers) - before[-1]) > before[1] - before[0]:
        return None
    return Passes(border, layers[before[:-1]])


def _ends_of_targets(lengths: Array) -> Array:
    """After which of the ends the model itself passes all its layers; `lengths` are the layers from each to the next.

    That is each of them, where all are equally long; or one of so many, where what drafts tokens ahead passes a few
    layers for each, equally often every time. Empty where neither holds.
    """
    longest = int(lengths.max())
    if longest < _LAYERS:
        return np.empty(0, np.int64)
    for turn in range(1, min(_MOST_DRAFTS + 1, len(lengths) // LEAST) + 1):
        if (lengths[turn:] == lengths[:-turn]).all():
            targets = np.flatnonzero(lengths[:turn] == longest)
            drafts = np.delete(lengths[:turn], targets[:1])
            if (2 * drafts > longest).any():
                return np.empty(0, np.int64)
            found: Array = np.arange(targets[0], len(lengths) + 1, turn)
            return found
    return np.empty(0, np.int64)


def _are_whole_passes(found: Passes, start: Array, work: PassWork, exchanges: Array) -> bool:
    """Whether nothing says that these are parts of passes, and something could."""
    told = (work.weight >= 0).any()
    if told and _holds_rarer_product(found, start, work):
        return False
    within = np.diff(np.searchsorted(ascending(exchanges), found.border_ns))
    return bool((within > 0).all() if len(exchanges) else told)


def _holds_rarer_product(found: Passes, start: Array, work: PassWork) -> bool:
    """Whether some weight is used once in few of them, as that of the vocabulary is among the layers of one pass.

    Of those that tell any: of what a graph replays no shapes may be recorded.
    """
    rows = np.flatnonzero(work.weight >= 0)
    part = np.searchsorted(found.border_ns, start[rows], side="right")
    telling = len(np.unique(part))
    uses = group_by(work.weight[rows], part)
    weights = group_by(work.weight[rows][uses.first])
    once = weights.largest(uses.sizes.astype(np.float64)) == 1
    return bool((once & (weights.sizes < telling / 2)).any())
