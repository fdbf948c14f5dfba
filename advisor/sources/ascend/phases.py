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
    """Each iteration from the end of the one before: what lies between is its interval."""
    marked = iterations_of(folder)
    known = (marked.forward_ns != MISSING) & (marked.backward_ns != MISSING)
    in_order = (marked.start_ns <= marked.forward_ns) & (marked.forward_ns <= marked.backward_ns)
    whole = known & in_order & (marked.backward_ns <= marked.end_ns)
    if not whole.any():
        raise FactMissing([StepPhase.table])
    follows = np.append(False, np.diff(marked.step) == 1)[: len(whole)]
    before = np.append(MISSING, marked.end_ns)[: len(whole)]
    begins = np.where(follows & (before <= marked.forward_ns), before, marked.forward_ns)
    chosen = np.flatnonzero(whole)
    interval, passes, tail = (
        (until - since)[chosen] / 1e3
        for since, until in (
            (begins, marked.forward_ns),
            (marked.forward_ns, marked.backward_ns),
            (marked.backward_ns, marked.end_ns),
        )
    )
    first = ~follows[chosen]
    return Table.build(
        StepPhase,
        rank=folder.rank,
        step=marked.step[chosen],
        stage=MISSING if folder.stage is None else folder.stage,
        first=first.astype(np.int8),
        start_ns=begins[chosen],
        whole_us=interval + passes + tail,
        interval_us=np.where(first, np.nan, interval),
        forward_backward_us=passes,
        tail_us=tail,
    )


STEP_PHASES = Reading(StepPhase, {"text": _phases_of_iterations})
