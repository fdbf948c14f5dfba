# SPDX-License-Identifier: Apache-2.0
"""Pipeline stages: what each computes in a step, and how long it waits for its neighbours."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import grouped
from advisor.errors import FactMissing
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, StageTime
from advisor.facts.observed import Group
from advisor.facts.table import Table
from advisor.run import Run


def stage_times(run: Run, split: Table[Overlap]) -> Table[StageTime]:
    """One row per step and stage.

    Raises:
        FactMissing: The stage of no rank is known.
    """
    split = split.take(split["stage"] != MISSING)
    if not len(split):
        raise FactMissing([Group.table])
    groups = grouped(split["step"], split["stage"])
    first = groups.first
    ranks = grouped(groups.of, split["rank"])
    stages = max(len(run.parallel.stages), len(np.unique(split["stage"])))
    return Table.build(
        StageTime,
        step=split["step"][first],
        stage=split["stage"][first],
        stages=np.full(len(groups), float(stages)),
        ranks=np.bincount(groups.of[ranks.first], minlength=len(groups)).astype(np.float64),
        slowest_compute_us=groups.largest(split["compute_us"]),
        **{
            name: groups.means(split[name])
            for name in ("span_us", "compute_us", "exposed_comm_us", "bubble_us", "free_us")
        },
    )
