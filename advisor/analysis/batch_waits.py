# SPDX-License-Identifier: Apache-2.0
"""How long a loop that takes its batches itself waits for them, and how much of that keeps the device idle.

MindSpore's profiler times each batch and does not say when that was. The loop takes it as a step begins, on the thread
that launches: where the host calls nothing then and the device is idle, the pause gets shorter by what the batch takes.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.after_waits import charge_after_waits
from advisor.analysis.intervals import whole_ns
from advisor.facts.base import MISSING
from advisor.facts.derived import BatchWait, Gap
from advisor.facts.observed import BatchQueue, HostCall, StepWindow
from advisor.facts.table import Array, Table, values_at

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
            pauses = _pauses_around(begun, silent.take(silent["rank"] == rank))
            waited = np.minimum(pauses, batch.mean()).sum() / len(begun)
            rows.append((rank, float(len(batch)), float(batch.mean()), float(waited)))
    columns = zip(*rows, strict=True) if rows else ((),) * 4
    return Table.build(BatchWait, **dict(zip(("rank", "batches", "taken_us", "waited_us"), columns, strict=True)))


def _silent_pauses(idle: Table[Gap], calls: Table[HostCall]) -> Table[Gap]:
    """Idle time in which the host was late, and nothing that it called fills it."""
    charged = charge_after_waits(idle, calls)
    late = charged.texts("cause").isin(_LATE) & (charged.texts("call").codes < 0)
    return charged.take(late).sorted_by("start_ns")


def _pauses_around(moments: Array, pauses: Table[Gap]) -> Array:
    """How long the pause lasts in which each moment lies, µs; 0 where there is none."""
    at = np.searchsorted(pauses["start_ns"], moments, "right") - 1
    lasts = values_at(pauses["duration_us"], at, 0.0)
    end = values_at(pauses["start_ns"] + whole_ns(pauses["duration_us"]), at, 0)
    return np.where(moments <= end, lasts, 0.0)
