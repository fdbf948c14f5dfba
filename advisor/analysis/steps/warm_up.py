# SPDX-License-Identifier: Apache-2.0
"""Where the work of a capture without steps begins, and what stands before it: what happens once is no idle of a step.

A profiler that is switched on in the middle of a job sees the host wait for work that it did not record; a program that
is recorded from its start loads a model, compiles or captures graphs before it does what it is for.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.intervals import union
from advisor.facts.table import Array

ONCE = 2
"""A pause so many times as long as any later one happens once, and is none that comes back with each step."""
LITTLE = 0.01
"""Before the work begins the device has done at most this part of all it does."""
LONG = 0.10
"""A pause below this part of the window is left: so much idle time is called no problem (MindStudio's guides)."""
ENOUGH = 100
"""So many kernels and collectives have to follow: public Ascend rule tables judge nothing by fewer operators."""


def begin_of_work(start: Array, end: Array) -> int:
    """When the first work begins, or, where hardly anything stands before one long pause, when that ends; ns."""
    busy = union(start, end)
    if len(busy) < 2:  # noqa: PLR2004 - no pause between fewer
        return int(start.min())
    pauses = busy.start[1:] - busy.end[:-1]
    longest = int(np.argmax(pauses))
    begin = int(busy.start[longest + 1])
    happens_once = pauses[longest] > ONCE * pauses[longest + 1 :].max(initial=0)
    done_before = int(busy.lengths[: longest + 1].sum())
    is_start = (
        happens_once
        and pauses[longest] > LONG * (busy.end[-1] - busy.start[0])
        and done_before <= LITTLE * busy.total
        and np.count_nonzero(start >= begin) >= ENOUGH
    )
    return begin if is_start else int(start.min())
