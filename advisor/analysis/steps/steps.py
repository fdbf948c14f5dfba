# SPDX-License-Identifier: Apache-2.0
"""The length of each step beside the other steps of its rank."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.facts.derived import Overlap, StepSpan
from advisor.facts.table import Array, Table

_FEW = 3
"""Of so many steps two are at the edges; of fewer none lies between others."""
_ALIKE = 1.1
"""Ratio up to which two steps are alike: equal runs in published MindFormers profiles differ by a few per cent."""


def step_spans(split: Table[Overlap]) -> Table[StepSpan]:
    """One row per rank and step; first and last steps are marked, for the profiler itself disturbs them.

    Of three steps whose first and last are alike, and the one between them longer, none is: what would disturb both
    equally is not the profiler, and the two show what is usual.
    """
    split = split.sorted_by("rank", "step")
    ranks = group_by(split["rank"])
    changes = np.diff(split["rank"]) != 0
    first = np.append(True, changes)[: len(split)]
    last = np.append(changes, True)[: len(split)]
    span = split["span_us"]
    between = np.where(first | last, np.nan, span)
    return Table.build(
        StepSpan,
        rank=split["rank"],
        step=split["step"],
        steps=ranks.sizes[ranks.of].astype(np.float64),
        span_us=span,
        typical_us=ranks.medians_of_others(span),
        edge=((first | last) & ~_between_equals(ranks, span)).astype(np.int8),
        shortest_between_us=ranks.smallest(between)[ranks.of],
        longest_between_us=ranks.largest(between)[ranks.of],
    )


def _between_equals(ranks: Groups, span: Array) -> Array:
    """Per step, given in order: whether its rank has three, the middle one longer than the others, which are alike."""
    of_three = ranks.first[ranks.sizes == _FEW]
    one, middle, other = span[of_three], span[of_three + 1], span[of_three + 2]
    alike = np.maximum(one, other) <= _ALIKE * np.minimum(one, other)
    stands_out = np.zeros(len(ranks), bool)
    stands_out[ranks.sizes == _FEW] = alike & (middle > np.maximum(one, other))
    return stands_out[ranks.of]
