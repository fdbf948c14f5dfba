# SPDX-License-Identifier: Apache-2.0
"""From when to when the timeline of each rank reaches: what times in it are counted from."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.analysis.arrays.intervals import row_ranges
from advisor.analysis.steps.device import end_after
from advisor.facts.base import MISSING
from advisor.facts.derived import RecordedSpan
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, StepPhase, StepWindow
from advisor.facts.table import Array, Table, values_at

_EVER = np.iinfo(np.int64)
_EPOCH_NS = 10**18
"""September 2001. Clocks that count from the start of a host take thirty years to get there."""


def recorded_spans(
    kernels: Table[Kernel] | None,
    *,
    calls: Table[HostCall] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    phases: Table[StepPhase] | None = None,
) -> Table[RecordedSpan]:
    """One row per rank of which any event was recorded; events without a time do not count."""
    parts = [
        _timed_bounds_by_rank(table["rank"][part], table["start_ns"][part], table.moments("end_ns")[part])
        for table in (calls, tasks, windows)
        if table
        for part in row_ranges(len(table))
    ]
    for table, lasts in ((kernels, "duration_us"), (collectives, "elapse_us"), (phases, "whole_us")):
        if table:
            start = table["start_ns"]
            end = np.maximum(end_after(start, table.floats(lasts)), start)
            parts.append(_timed_bounds_by_rank(table["rank"], start, end))
    if not parts:
        return Table.empty(RecordedSpan)
    rank, first, last = _bounds_by_rank(*map(np.concatenate, zip(*parts, strict=True)))
    since_epoch = (first > _EPOCH_NS) & (last < _EVER.max)
    began, ended = (np.where(since_epoch, moment / 1e3, np.nan) for moment in (first, last))
    return Table.build(
        RecordedSpan,
        rank=rank,
        start_ns=first,
        end_ns=last,
        worked_ns=_first_kernels(rank, kernels),
        began_us=began,
        ended_us=ended,
    )


def _first_kernels(rank: Array, kernels: Table[Kernel] | None) -> Array:
    if kernels is None:
        return np.full(len(rank), MISSING)
    start = kernels["start_ns"]
    known, first, _ = _bounds_by_rank(*(one[start != MISSING] for one in (kernels["rank"], start, start)))
    return values_at(first, row_of_key(known, rank), MISSING)


def _timed_bounds_by_rank(rank: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """First start and last end of the rows of each rank that have both."""
    timed = (start != MISSING) & (end != MISSING)
    ranks = distinct_ranks(rank, timed)
    if len(ranks) > 1:
        return _bounds_by_rank(rank[timed], start[timed], end[timed])
    first, last = start.min(where=timed, initial=_EVER.max), end.max(where=timed, initial=_EVER.min)
    return ranks, np.full(len(ranks), first), np.full(len(ranks), last)


def _bounds_by_rank(rank: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    ranks = group_by(rank)
    first, last = np.full(len(ranks), _EVER.max), np.full(len(ranks), _EVER.min)
    np.minimum.at(first, ranks.of, start)
    np.maximum.at(last, ranks.of, end)
    return rank[ranks.first], first, last
