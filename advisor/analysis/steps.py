# SPDX-License-Identifier: Apache-2.0
"""The length of each step beside the other steps of its rank."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.facts.derived import Overlap, StepSpan
from advisor.facts.table import Table


def step_spans(split: Table[Overlap]) -> Table[StepSpan]:
    """One row per rank and step; first and last steps are marked, for the profiler itself disturbs them."""
    split = split.sorted_by("rank", "step")
    ranks = group_by(split["rank"])
    changes = np.diff(split["rank"]) != 0
    first = np.append(True, changes)[: len(split)]
    last = np.append(changes, True)[: len(split)]
    span = split["span_us"]
    neighbour = np.where(first, np.append(span[1:], np.nan), np.append(np.nan, span[:-1]))[: len(split)]
    return Table.build(
        StepSpan,
        rank=split["rank"],
        step=split["step"],
        steps=ranks.sizes[ranks.of].astype(np.float64),
        span_us=span,
        typical_us=ranks.medians_of_others(span),
        edge=(first | last).astype(np.int8),
        neighbour_us=np.where(first & last, np.nan, neighbour),
    )
