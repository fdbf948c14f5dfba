# SPDX-License-Identifier: Apache-2.0
"""StepPhase: where msprof marks the iterations of a graph, when the passes of each begin and end."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepPhase
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.iterations import iterations_of
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading


def _phases_of_iterations(folder: Folder) -> Table[StepPhase]:
    """Each iteration from the end of the one before: what lies between is its interval.

    Where nothing says when its passes began and ended, the interval lasts to its first task.
    """
    marked = iterations_of(folder)
    in_order = (marked.start_ns <= marked.forward_ns) & (marked.forward_ns <= marked.backward_ns)
    known = (marked.forward_ns != MISSING) & (marked.backward_ns != MISSING)
    whole = ~known | (in_order & (marked.backward_ns <= marked.end_ns))
    if not whole.any():
        raise FactMissing([StepPhase.table])
    forward = np.where(known, marked.forward_ns, marked.start_ns)
    follows = np.append(False, np.diff(marked.step) == 1)[: len(whole)]
    before = np.append(MISSING, marked.end_ns)[: len(whole)]
    begins = np.where(follows & (before <= forward), before, forward)
    chosen = np.flatnonzero(whole)
    interval = (forward - begins)[chosen] / 1e3
    passes, tail = (
        np.where(known, until - since, np.nan)[chosen] / 1e3
        for since, until in ((marked.forward_ns, marked.backward_ns), (marked.backward_ns, marked.end_ns))
    )
    first = ~follows[chosen]
    return Table.build(
        StepPhase,
        rank=folder.rank,
        step=marked.step[chosen],
        stage=MISSING if folder.stage is None else folder.stage,
        first=first.astype(np.int8),
        start_ns=begins[chosen],
        whole_us=(marked.end_ns - begins)[chosen] / 1e3,
        interval_us=np.where(first, np.nan, interval),
        forward_backward_us=passes,
        tail_us=tail,
    )


STEP_PHASES = Reading(StepPhase, {"text": _phases_of_iterations})
