# SPDX-License-Identifier: Apache-2.0
"""How long a step waits for its batch, and how much of that keeps the device idle.

MindSpore's profiler times each batch that a loop takes itself, and does not say when that was. The loop takes it as a
step begins, on the thread that launches: as far as the host calls nothing meanwhile and the device is idle, the batch
is what it waits for. Where the host is ahead, the device has work left when the step begins, and becomes idle later.
Where steps were not marked, as in databases, it is told where no more pauses than batches last as long as one takes.

Batches that are sunk are not timed. What they can hold up is the first work of a step.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.intervals import whole_ns
from advisor.analysis.host.after_waits import charge_after_waits
from advisor.facts.base import MISSING
from advisor.facts.derived import BatchWait, Gap, Preparation
from advisor.facts.observed import BatchQueue, HostCall, StepWindow
from advisor.facts.table import Array, Table, ascending, values_at

_LAST_NS = np.iinfo(np.int64).max
_LATE = ("python", "host_late")
"""Causes of idle time in which the host had not launched what comes next."""
_LIKE = 0.5
"""The device may have work left for half of the time that a batch takes; a longer pause is like one of a batch."""


def batch_waits(
    queues: Table[BatchQueue],
    idle: Table[Gap] | None,
    windows: Table[StepWindow] | None,
    calls: Table[HostCall] | None,
    starts: Table[Preparation] | None = None,
) -> Table[BatchWait]:
    """One row per rank of whose batches it is known how long steps wait for them.

    The first recorded step counts only where it is the only one: what came before its work was not recorded.
    """
    parts = [_of_sunk_batches(queues.take(queues["sunk"] == 1), starts)]
    taken = queues.take(queues["taken_us"] >= 0)
    if len(taken) and idle is not None and calls is not None:
        parts.append(_of_timed_batches(taken, _silent_pauses(idle, calls), windows))
    return Table.concat(BatchWait, parts).sorted_by("rank")


def _of_sunk_batches(sunk: Table[BatchQueue], starts: Table[Preparation] | None) -> Table[BatchWait]:
    """The idle time before the first work of steps, of ranks whose queue on the host was looked at."""
    sunk = sunk.take(sunk.texts("queue").isin(["host"]))
    known = Table.empty(Preparation) if starts is None else starts.take(starts["idle_us"] >= 0)
    ranks, looks = np.unique(sunk["rank"], return_counts=True)
    told = np.isin(ranks, known["rank"])
    ranks, looks = ranks[told], looks[told]
    waited = [known["idle_us"][known["rank"] == rank].mean() for rank in ranks.tolist()]
    return Table.build(BatchWait, rank=ranks, batches=looks.astype(np.float64), waited_us=waited)


def _of_timed_batches(
    taken: Table[BatchQueue], silent: Table[Gap], windows: Table[StepWindow] | None
) -> Table[BatchWait]:
    rows = []
    for rank in np.unique(taken["rank"]).tolist():
        batch, pauses = taken["taken_us"][taken["rank"] == rank], silent.take(silent["rank"] == rank)
        begun = _begun_steps(windows, rank)
        if len(begun):
            waited = _idle_after(begun, batch.mean(), pauses)
            known = waited[1:] if len(waited) > 1 else waited
            rows.append((rank, float(len(batch)), float(batch.mean()), float(known.mean())))
        elif windows is None and (whole := _idle_like_batches(batch, pauses)) is not None:
            rows.append((rank, float(len(batch)), float(batch.mean()), whole))
    columns = zip(*rows, strict=True) if rows else ((),) * 4
    return Table.build(BatchWait, **dict(zip(("rank", "batches", "taken_us", "waited_us"), columns, strict=True)))


def _begun_steps(windows: Table[StepWindow] | None, rank: int) -> Array:
    if windows is None:
        return np.empty(0, np.int64)
    return ascending(windows["start_ns"][(windows["rank"] == rank) & (windows["start_ns"] != MISSING)])


def _idle_like_batches(batch: Array, pauses: Table[Gap]) -> float | None:
    """How long the device is idle for batches in the whole of a capture, µs; None where other pauses are as long."""
    lasts = _joined_lengths(pauses)
    like = lasts[lasts > _LIKE * batch.mean()]
    return float(np.minimum(like, batch.mean()).sum()) if len(like) <= len(batch) else None


def _joined_lengths(pauses: Table[Gap]) -> Array:
    """How long pauses last that may be told in parts, µs."""
    if not len(pauses):
        return np.empty(0)
    end = pauses["start_ns"] + whole_ns(pauses["duration_us"])
    apart = np.flatnonzero(np.append(True, pauses["start_ns"][1:] > end[:-1]))
    joined: Array = np.add.reduceat(pauses["duration_us"], apart)
    return joined


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
