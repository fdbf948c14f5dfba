# SPDX-License-Identifier: Apache-2.0
"""How long a loop that takes its batches itself waits for them, and how much of that keeps the device idle.

MindSpore's profiler times each batch and does not say when that was. The loop takes it as a step begins, on the thread
that launches: as far as the host calls nothing meanwhile and the device is idle, the batch is what it waits for. Where
the host is ahead, the device has work left when the step begins, and becomes idle later.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.after_waits import charge_after_waits
from advisor.analysis.intervals import whole_ns
from advisor.facts.base import MISSING
from advisor.facts.derived import BatchWait, Gap
from advisor.facts.observed import BatchQueue, HostCall, StepWindow
from advisor.facts.table import Array, Table, values_at

_LAST_NS = np.iinfo(np.int64).max
_LATE = ("python", "host_late")
"""Causes of idle time in which the host had not launched what comes next."""


def batch_waits(
    queues: Table[BatchQueue], idle: Table[Gap], windows: Table[StepWindow], calls: Table[HostCall]
) -> Table[BatchWait]:
    """One row per rank whose batches were timed and whose steps were marked."""
    taken = queues.take(queues["taken_us"] >= 0)
    silent = _silent_pauses(idle, calls)
    rows = []
    for rank in np.unique(taken["rank"]).tolist():
        batch = taken["taken_us"][taken["rank"] == rank]
        begun = windows["start_ns"][(windows["rank"] == rank) & (windows["start_ns"] != MISSING)]
        if len(begun):
            waited = _idle_after(np.sort(begun), batch.mean(), silent.take(silent["rank"] == rank)).sum() / len(begun)
            rows.append((rank, float(len(batch)), float(batch.mean()), float(waited)))
    columns = zip(*rows, strict=True) if rows else ((),) * 4
    return Table.build(BatchWait, **dict(zip(("rank", "batches", "taken_us", "waited_us"), columns, strict=True)))


def _silent_pauses(idle: Table[Gap], calls: Table[HostCall]) -> Table[Gap]:
    """Idle time in which the host was late, and nothing that it called fills it."""
    charged = charge_after_waits(idle, calls)
    late = charged.texts("cause").isin(_LATE) & (charged.texts("call").codes < 0)
    return charged.take(late).sorted_by("start_ns")


def _idle_after(moments: Array, taken_us: float, pauses: Table[Gap]) -> Array:
    """How much of the time that a batch takes from each moment on, no longer than until the next, is a pause, µs."""
    until = np.minimum(moments + whole_ns(np.full(len(moments), taken_us)), np.append(moments[1:], _LAST_NS))
    return _paused_before(until, pauses) - _paused_before(moments, pauses)


def _paused_before(moments: Array, pauses: Table[Gap]) -> Array:
    """How much of all pauses, which share no time, lies before each moment, µs."""
    lasts = pauses["duration_us"]
    whole = np.append(0.0, np.cumsum(lasts))
    begun = np.searchsorted(pauses["start_ns"], moments, "right")
    last = begun - 1
    within = (moments - values_at(pauses["start_ns"], last, 0)) / 1e3
    found: Array = whole[begun] - np.where(begun > 0, np.maximum(values_at(lasts, last, 0.0) - within, 0.0), 0.0)
    return found
