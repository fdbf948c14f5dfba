# SPDX-License-Identifier: Apache-2.0
"""StepWindow: the annotations ProfilerStep#N; and which step device work belongs to."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.kineto.reading import CALLS, EXPORT, KERNELS, ON_HOST, Trace, TraceSlices, rows_or_missing
from advisor.sources.reading import Reading
from advisor.sources.shared.pytorch_words import STEP_NAME

_OF_PROGRAM = (*ON_HOST, "python_function")
_MOST = 0.5
"""What most of the time before the first launch is spent on says what that time is."""


def _windows_of_trace(trace: Trace) -> Table[StepWindow]:
    content = trace.content()
    slices, whole_until = content.slices, content.whole_until_ns
    numbers = [STEP_NAME.fullmatch(name) for name in slices.name.names]
    step_of = np.array([int(found[1]) if found else MISSING for found in numbers] + [MISSING], np.int64)
    step = step_of[slices.name.codes]
    rows = rows_or_missing(np.flatnonzero((step != MISSING) & slices.category.isin(ON_HOST)), StepWindow)
    return Table.build(
        StepWindow,
        rank=np.full(len(rows), trace.rank, np.int64),
        step=step[rows],
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
        cut=-1 if whole_until is None else (slices.end_ns[rows] > whole_until).astype(np.int8),
        counts_from_ns=_begins_of_own_time(trace, step, rows),
    ).sorted_by("start_ns", "step")


def _begins_of_own_time(trace: Trace, step: Array, rows: Array) -> Array:
    """Per marked step: from when on the idle time before its first work is its own.

    Before a step that follows no recorded one the profiler has just been switched on, and its first calls into the
    driver set it up. That time counts where most of it went by in what the program was recorded to do, and the calls
    into the driver aside.
    """
    slices = trace.content().slices
    opened, closed = slices.start_ns[rows], slices.end_ns[rows]
    launches = trace.launching_calls(slices.of(*KERNELS))
    launched = np.sort(slices.start_ns[launches[launches >= 0]])
    place = np.searchsorted(launched, opened)
    until = values_at(launched, np.where(place < len(launched), place, -1), MISSING)
    found = opened.copy()
    program, driver = slices.category.isin(_OF_PROGRAM) & (step == MISSING), slices.category.isin(CALLS)
    for one in np.flatnonzero(~np.isin(step[rows] - 1, step[rows])).tolist():
        begin, end = int(opened[one]), int(until[one])
        inside = (slices.track == slices.track[rows[one]]) & (slices.start_ns >= begin) & (slices.start_ns < end)
        told_ns, driver_ns = (_covered_ns(slices, inside & kind, end) for kind in (program, driver))
        is_own = begin < end <= closed[one] and told_ns - driver_ns > _MOST * (end - begin)
        found[one] = begin + driver_ns if is_own else MISSING
    return found


def _covered_ns(slices: TraceSlices, chosen: Array, until: int) -> int:
    """For how long up to that moment one or more of these slices run."""
    order = np.argsort(slices.start_ns[chosen], kind="stable")
    start, end = slices.start_ns[chosen][order], np.minimum(slices.end_ns[chosen][order], until)
    reached = np.maximum.accumulate(np.append(start[:1], end))[:-1] if len(start) else end
    return int(np.maximum(end - np.maximum(start, reached), 0).sum())


STEP_WINDOWS = Reading(StepWindow, {EXPORT: _windows_of_trace})


def steps_of_work(trace: Trace, rows: Array) -> Array:
    """The step of slices on the device: the one in whose window they were launched; MISSING where none is known."""
    try:
        windows = trace.once("step windows", lambda: _windows_of_trace(trace))
    except FactMissing:
        return np.full(len(rows), MISSING, np.int64)
    asked = values_at(trace.content().slices.start_ns, trace.launching_calls(rows))
    place = np.searchsorted(windows["start_ns"], asked, "right") - 1
    inside = (place >= 0) & (asked < np.append(windows["end_ns"], MISSING)[place])
    return np.where(inside, windows["step"][np.maximum(place, 0)], MISSING)
