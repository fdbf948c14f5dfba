# SPDX-License-Identifier: Apache-2.0
"""Long pauses of the device for which the host is to blame, set beside what the other steps have."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import Groups, group_by, row_at
from advisor.analysis.arrays.intervals import Spans, covered_ns, span_at, whole_ns
from advisor.analysis.host import host
from advisor.analysis.host.after_waits import charge_after_waits
from advisor.facts.base import MISSING
from advisor.facts.derived import Gap, Stall, StepSpan
from advisor.facts.observed import HostCall, StepWindow
from advisor.facts.table import Array, Table, Texts, values_at

UNNAMED = ("python", "host_late", "dequeue")
"""Causes that say that the host is late and not by what; others, such as a loader, are compared with their like."""
_ALIKE = 0.5
"""Own: pauses of a step of which none is more than twice as far beyond the usual as another hold it up together."""
LEAST_SHARE = 0.01
"""Part of its step from which on a pause is looked at: a hundred of them would be the step."""


def stalls(
    idle: Table[Gap], spans: Table[StepSpan], calls: Table[HostCall] | None, windows: Table[StepWindow] | None = None
) -> Table[Stall]:
    """The idle intervals charged to the host that take a hundredth of their step and more, by rank, longest first."""
    idle = idle.take(idle["host"] == 1)
    of = row_at(spans["rank"], spans["step"], idle["rank"], idle["step"])
    span = np.append(spans["span_us"], np.nan)[of]
    kept = np.flatnonzero(idle["duration_us"] >= LEAST_SHARE * span)
    kept = kept[np.lexsort((idle["start_ns"][kept], -idle["duration_us"][kept], idle["rank"][kept]))]
    charged = idle.take(kept)
    begun_in_wait = charged.texts("cause").isin(["synchronise", "blocking_copy"]).astype(np.int8)
    if calls is not None:
        charged = _charge_to_queue(charge_after_waits(charged, calls), calls)
    named = _are_named(idle)
    named[kept] = _are_named(charged)
    usual = [_usual_us(idle, spans, np.where(named == kind, of, -1)) for kind in (False, True)]
    usual_us = np.where(named, usual[True], usual[False])[kept]
    idle, of = charged, of[kept]
    return Table.build(
        Stall,
        rank=idle["rank"],
        step=idle["step"],
        host_step=_steps_of_host(idle, windows),
        start_ns=idle["start_ns"],
        duration_us=idle["duration_us"],
        cause=idle.texts("cause"),
        call=idle.texts("call"),
        after_wait=begun_in_wait,
        busy_share=_busy_share(idle, calls),
        span_us=spans["span_us"][of],
        typical_us=spans["typical_us"][of],
        usual_us=usual_us,
        alike_us=_beyond_usual_together(idle, usual_us),
    )


def _charge_to_queue(idle: Table[Gap], calls: Table[HostCall]) -> Table[Gap]:
    """The same; a pause that one launch from the task queue fills for the most part is charged to that launch.

    Whatever the main thread does meanwhile, such as reading a value, it waits for that launch as the device does.
    """
    late = np.flatnonzero(idle.texts("cause").isin(["python", "host_late"]))
    launching = calls.texts("kind").isin(["dequeue"])
    count = len(idle)
    cause, call = np.arange(count), np.arange(count)  # places in the texts below
    found = np.full(count, -1)
    for rank in np.unique(idle["rank"][late]).tolist():
        here = late[idle["rank"][late] == rank]
        start, end = idle["start_ns"][here], idle["start_ns"][here] + whole_ns(idle["duration_us"][here])
        every = host.calls_of(calls, rank).touching(start, end)
        row = host.covering_on_any(calls, every.take(every.of_rows(launching)), start, end)
        queued = here[row >= 0]
        cause[queued], call[queued], found[queued] = count, count + queued, row[row >= 0]
    causes = Texts.concat([idle.texts("cause"), Texts.of(["dequeue"])])
    names = Texts.concat([idle.texts("call"), calls.texts("name").at(found)])
    return idle.having(cause=causes.take(cause), call=names.take(call))


def _are_named(idle: Table[Gap]) -> Array:
    return ~idle.texts("cause").isin(UNNAMED)


def _steps_of_host(idle: Table[Gap], windows: Table[StepWindow] | None) -> Array:
    """Per interval: the marked step in which the host was at its middle, or MISSING."""
    found = np.full(len(idle), MISSING)
    if windows is None:
        return found
    middle = idle["start_ns"] + whole_ns(idle["duration_us"]) // 2
    for rank in np.unique(idle["rank"]).tolist():
        here, own = idle["rank"] == rank, windows.take(windows["rank"] == rank).sorted_by("start_ns")
        row = span_at(Spans(own["start_ns"], own["end_ns"]), middle[here])
        found[here] = values_at(own["step"], row, MISSING)
    return found


def _beyond_usual_together(idle: Table[Gap], usual_us: Array) -> Array:
    """Per interval: by how much those of its step together are longer than the usual that exceed it by at least half as
    much as the one that does most; missing of others."""
    steps = group_by(idle["rank"], idle["step"])
    beyond = np.maximum(idle["duration_us"] - usual_us, 0.0)
    alike = (beyond > 0) & (beyond >= _ALIKE * steps.largest(beyond)[steps.of])
    return np.where(alike, steps.sums(np.where(alike, beyond, 0.0))[steps.of], np.nan)


def _usual_us(idle: Table[Gap], spans: Table[StepSpan], of: Array) -> Array:
    """Per interval: the longest such interval of the middle one of the other steps of its rank; missing without others.

    The longest of a step may lie beside the one that is usual there. By as much as the second longest of its step is
    longer than the second of the others, the longest is therefore compared with less, down to that second of theirs.
    `of` is the step of each interval, -1 for those that are not looked at.
    """
    known = np.flatnonzero(of >= 0)
    lasted, ranks = idle["duration_us"][known], group_by(spans["rank"])
    steps = Groups(of[known], np.arange(len(spans)))
    leads = steps.turns(-lasted) == 0
    longest, second = (np.fmax(steps.largest(us), 0.0) for us in (lasted, np.where(leads, np.nan, lasted)))
    usual, then = ranks.medians_of_others(longest), ranks.medians_of_others(second)
    beside = np.maximum(usual - np.maximum(second - then, 0.0), then)
    found = np.full(len(of), np.nan)
    found[known] = np.where(leads, beside[of[known]], usual[of[known]])
    return found


def _busy_share(idle: Table[Gap], calls: Table[HostCall] | None) -> Array:
    """Per interval: the part in which a recorded call ran on any thread; missing where none was recorded.

    Ranges that hold other calls, such as `Optimizer.step`, tell where a pause lies and not what ran in it.
    """
    share = np.full(len(idle), np.nan)
    if calls is None:
        return share
    real = ~calls.texts("kind").isin(["step"])
    start, lasted = idle["start_ns"], whole_ns(idle["duration_us"])
    for rank in np.intersect1d(distinct_ranks(idle["rank"]), distinct_ranks(calls["rank"], real)).tolist():
        here = idle["rank"] == rank
        ranges = host.are_ranges(calls, rank)
        every = host.calls_of(calls, rank).touching(start[here], (start + lasted)[here], but=ranges)
        busy = covered_ns(every.take(every.of_rows(real)).spans, start[here], (start + lasted)[here])
        share[here] = busy / np.maximum(lasted[here], 1)
    return share
