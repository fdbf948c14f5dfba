# SPDX-License-Identifier: Apache-2.0
"""How much the stages of a pipeline compute, by the floating-point operations that the profiler counted."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.derived import StageFlops
from advisor.facts.observed import Group, RankFlops
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing


def stage_flops(counted: Table[RankFlops]) -> Table[StageFlops]:
    """One row per stage.

    Raises:
        FactMissing: The stage of no rank is known.
    """
    counted = counted.take((counted["stage"] != MISSING) & (counted["mega_flops"] > 0))
    if not len(counted):
        raise FactMissing([Group.table])
    stages = group_by(counted["stage"])
    flops = stages.means(counted["mega_flops"])
    return Table.build(
        StageFlops,
        stage=counted["stage"][stages.first],
        stages=np.full(len(stages), float(len(stages))),
        mega_flops=flops,
        average_mega_flops=np.full(len(stages), flops.mean()),
        lowest_mega_flops=np.full(len(stages), flops.min()),
        heaviest=(flops == flops.max()).astype(np.int8),
    )
