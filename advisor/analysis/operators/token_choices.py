# SPDX-License-Identifier: Apache-2.0
"""What a model that generates runs to choose tokens: from the product with the vocabulary to the choice.

Where no fused operator samples, filters and draws are small operators that other parts of a model use as well: sorts,
sums, softmax. Their place tells them: behind the last product, and before the kernel that chooses.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.job.engine_passes import choices_of_tokens
from advisor.analysis.rooflines.families import families_of
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table

_BETWEEN = ("elementwise", "movement", "reduction", "other")
"""Families of what filters and draws; anything else ends the model, which may do so without a product known by name."""


def work_of_choices(kernels: Table[Kernel]) -> Array:
    """Per kernel: whether it chooses tokens, or runs on its rank after the model ended and before tokens are chosen.

    Between two choices that nothing else separates all kernels count. False where no choice follows, or nothing known
    as the model's own precedes.
    """
    order = np.lexsort((kernels["start_ns"], kernels["rank"]))
    chooses = choices_of_tokens(kernels)[order]
    if not chooses.any():
        return np.zeros(len(kernels), bool)
    types = kernels.texts("op_type")
    normalises = types.hits("norm" in name.lower() for name in types.names)
    small = families_of(types, kernels.texts("core")).isin(_BETWEEN) & ~normalises
    ends = ~(small[order] | chooses)
    stretch = group_by(kernels["rank"][order], np.cumsum(ends)).of
    place = np.arange(len(order))
    last = np.full(int(stretch.max()) + 1, -1)
    np.maximum.at(last, stretch[chooses], place[chooses])
    follows_model = np.bincount(stretch, ends) > 0
    found = np.zeros(len(kernels), bool)
    found[order] = follows_model[stretch] & ~ends & (place <= last[stretch])
    return found
