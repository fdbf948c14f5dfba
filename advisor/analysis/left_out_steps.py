# SPDX-License-Identifier: Apache-2.0
"""Steps that no table counts: the first recorded one of a rank, where it is no usual one (it compiles, opens
communicators or waits for a loader that starts up, and the averages of a short capture would be averages of that), and
those of which a file that ends early holds a part.

Told before anything else is derived, so that every table is of the other steps. A step that merely computes more is a
step like others; so is one that comes again.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by, row_at
from advisor.facts.base import MISSING
from advisor.facts.derived import LeftOutStep
from advisor.facts.observed import StepTime, StepWindow
from advisor.facts.table import Array, Table, Texts, values_at

LONGER = 1.5
"""So many times the longest of all others: equal steps of public captures differ by 1.15 at most, and the guides of
the profilers advise to disregard the steps in which a job or the profiler starts up."""
OTHERS = 2
"""With fewer others nobody knows what is usual."""
OF_WORK = 0.5
"""Where computation makes up this part of the excess, the step has more to do."""


def left_out_steps(times: Table[StepTime] | None, windows: Table[StepWindow] | None) -> Table[LeftOutStep]:
    """One row per rank whose first recorded step is set apart; sums of the profiler tell it before host windows do.

    Of the ranks of one source that tells of several, all leave a step out or none.
    """
    if times is not None and len(times):
        told = ("compute_us", "exposed_comm_us", "free_us", "preparing_us")
        lasted = np.sum([np.nan_to_num(times[name]) for name in told], axis=0)
        return _first_steps(times["rank"], times["step"], lasted, np.nan_to_num(times["compute_us"]), windows)
    if windows is None:
        return Table.empty(LeftOutStep)
    cut = windows["cut"] == 1
    whole = windows.take(~cut)
    first = _first_steps(whole["rank"], whole["step"], _lengths_of(whole), np.zeros(len(whole)), whole)
    return Table.concat(LeftOutStep, [first, _cut_steps(windows.take(cut))]) if cut.any() else first


def _lengths_of(windows: Table[StepWindow]) -> Array:
    """How long the host takes for each step, µs."""
    lasted: Array = (windows["end_ns"] - windows["start_ns"]) / 1e3
    return lasted


def _cut_steps(windows: Table[StepWindow]) -> Table[LeftOutStep]:
    return Table.build(
        LeftOutStep,
        rank=windows["rank"],
        step=windows["step"],
        reason=Texts.constant("cut", len(windows)),
        start_ns=windows["start_ns"],
        span_us=_lengths_of(windows),
    )


def _first_steps(
    rank: Array, step: Array, lasted: Array, computed: Array, windows: Table[StepWindow] | None
) -> Table[LeftOutStep]:
    numbered = step != MISSING
    rank, step, lasted, computed = rank[numbered], step[numbered], lasted[numbered], computed[numbered]
    ranks = group_by(rank)
    if not len(ranks):
        return Table.empty(LeftOutStep)
    first = step == ranks.smallest(step.astype(float))[ranks.of]
    others = np.where(first, np.nan, lasted)
    longest, most_work = ranks.largest(others), ranks.largest(np.where(first, np.nan, computed))
    row = ranks.first.copy()
    row[ranks.of[first]] = np.flatnonzero(first)
    excess, more_work = lasted[row] - longest, computed[row] - most_work
    apart = (ranks.sizes > OTHERS) & (lasted[row] > LONGER * longest) & (more_work < OF_WORK * excess)
    if 2 * np.count_nonzero(apart) <= len(ranks):
        return Table.empty(LeftOutStep)
    start = np.full(len(row), MISSING)
    if windows is not None:
        at = row_at(windows["rank"], windows["step"], rank[row], step[row])
        start = values_at(windows["start_ns"], at, MISSING)
    return Table.build(
        LeftOutStep,
        rank=rank[row],
        step=step[row],
        reason=Texts.constant("start_up", len(row)),
        start_ns=start,
        span_us=lasted[row],
        longest_us=longest,
    )
