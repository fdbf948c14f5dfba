# SPDX-License-Identifier: Apache-2.0
"""Which looks at the queues of batches tell why steps wait.

MindSpore's profiler looks once for each batch. Where only some steps wait, how full a queue was for the others says
nothing of the batches that came late.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.facts.observed import BatchQueue, StepPhase
from advisor.facts.table import Array, Table

_LIKE_LONGEST = 0.25
"""What is shorter than a quarter of the longest is not long in the same way."""


def wait_long(phases: Table[StepPhase]) -> Array:
    """Per step: whether its iteration interval is like the longest of its rank."""
    ranks, interval = group_by(phases["rank"]), phases["interval_us"]
    return np.asarray(interval > _LIKE_LONGEST * ranks.largest(interval)[ranks.of])


def of_waiting_steps(queues: Table[BatchQueue], phases: Table[StepPhase] | None) -> Array:
    """Per look: whether it is of a step that waits, on a rank of which others do not. The first step counts nowhere."""
    if phases is None or not len(phases) or not len(queues):
        return np.zeros(len(queues), bool)
    counted = phases.take(phases["first"] != 1)
    if not len(counted):
        return np.zeros(len(queues), bool)
    waits = wait_long(counted)
    in_some = waits & np.isin(counted["rank"], counted["rank"][~waits & (counted["interval_us"] >= 0)])
    at = row_at(counted["rank"], counted["step"], queues["rank"], queues["step"])
    return (at >= 0) & in_some[at]


def telling_looks(queues: Table[BatchQueue], phases: Table[StepPhase] | None) -> Table[BatchQueue]:
    """Of ranks with looks at waiting steps these alone, of the others all; each queue for itself."""
    waiting = of_waiting_steps(queues, phases)
    cells = group_by(queues["rank"], queues.texts("queue"))
    told = np.bincount(cells.of, waiting, len(cells)) > 0
    return queues.take(waiting | ~told[cells.of])
