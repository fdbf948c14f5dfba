# SPDX-License-Identifier: Apache-2.0
"""When the host waited for room in the queue of the device, which holds about a thousand tasks.

A host that is far ahead of the device launches one task for each that the device begins: its launching calls last as
long as the device takes. That is no work of the host, and gets shorter as the device gets faster.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.intervals import Spans, union
from advisor.facts.table import Array, ascending

DEEP = 500
"""A queue is not taken for full with fewer tasks in it. Public traces of hosts that keep ahead hold up to 436 at a time
(ResNet50 of the PyTorch profiler) without a call that waits; in one whose calls do (HolisticTraceAnalysis) they are
1 021, as CUDA's queue holds."""
NEARLY_FULL = 0.85
"""Of the most tasks that it ever held, for tasks whose launch is not known take room as well. In that trace all 968
calls that wait find 98 % of it and more."""
LONG = 2.0
"""So many times as long as a launching call lasts while there is room, one that waits lasts at least."""


def waits_for_room(start: Array, end: Array, begun: Array) -> Spans:
    """The parts of launching calls in which they waited for room, of one rank.

    Times in ns: begin and end of each call, in order of begin, and when the device began what it launched.
    """
    if len(start) < DEEP:
        return Spans.none()
    held = np.arange(1, len(start) + 1) - np.searchsorted(ascending(begun), end, "right")
    length = end - start
    most = int(held.max())
    if most < DEEP:
        return Spans.none()
    full = held >= NEARLY_FULL * most
    usual = int(np.median(length[~full]))
    waiting = np.flatnonzero(full & (length > LONG * usual))
    return union(start[waiting] + usual, end[waiting])
