# SPDX-License-Identifier: Apache-2.0
"""Steps that no table counts: the first recorded ones of a rank, where they are no usual ones (they compile, open
communicators or wait for a loader that starts up, and the averages of a short capture would be averages of that), and
those of which a file that ends early holds a part.

Told before anything else is derived, so that every table is of the other steps. A step that merely computes more is a
step like others; so is one that comes again.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.analysis.steps.step_marks import marked_begins
from advisor.facts.base import MISSING
from advisor.facts.derived import LeftOutStep
from advisor.facts.observed import StepTime, StepWindow
from advisor.facts.table import Array, Table, Texts

LONGER = 1.5
"""So many times the longest of all others: equal steps of public captures differ by 1.15 at most, and the guides of
the profilers advise to disregard the steps in which a job or the profiler starts up."""
MOST = 10
"""So many steps the profilers' guides skip before they record."""
START_UP, CUT = "start_up", "cut"
"""Why a step does not count."""
OF_WORK = 0.5
"""Where computation makes up this part of the excess, the step has more to do."""


def left_out_steps(times: Table[StepTime] | None, windows: Table[StepWindow] | None) -> Table[LeftOutStep]:
    """The first recorded steps that are set apart; sums of the profiler tell them before host windows do.

    Of the ranks of one source that tells of several, all leave as many steps out.
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
        reason=Texts.constant(CUT, len(windows)),
        start_ns=windows["start_ns"],
        span_us=_lengths_of(windows),
    )


def _first_steps(
    rank: Array, step: Array, lasted: Array, computed: Array, windows: Table[StepWindow] | None
) -> Table[LeftOutStep]:
    numbered = step != MISSING
    rank, step, lasted, computed = rank[numbered], step[numbered], lasted[numbered], computed[numbered]
    ranks = group_by(rank)
    turn = ranks.turns(step)
    most = (int(ranks.sizes.max(initial=0)) - 1) // 2  # fewer than half of what was recorded
    for count in range(min(MOST, most), 0, -1):
        longest, apart = _stand_apart(ranks, turn < count, lasted, computed)
        if 2 * np.count_nonzero(apart & (ranks.sizes > 2 * count)) > len(ranks):
            row = np.flatnonzero(turn < count)
            return _start_up_steps(rank[row], step[row], lasted[row], longest[ranks.of[row]], windows)
    return Table.empty(LeftOutStep)


def _stand_apart(ranks: Groups, leading: Array, lasted: Array, computed: Array) -> tuple[Array, Array]:
    """Per rank: the longest of the steps behind those that lead, and whether each that leads is no usual one."""
    longest, most_work = (ranks.largest(np.where(leading, np.nan, values)) for values in (lasted, computed))
    excess, more_work = lasted - longest[ranks.of], computed - most_work[ranks.of]
    usual = (lasted <= LONGER * longest[ranks.of]) | (more_work >= OF_WORK * excess)
    return longest, ranks.sums((leading & usual).astype(float)) == 0


def _start_up_steps(
    rank: Array, step: Array, lasted: Array, longest: Array, windows: Table[StepWindow] | None
) -> Table[LeftOutStep]:
    start = marked_begins(windows, rank, step)
    return Table.build(
        LeftOutStep,
        rank=rank,
        step=step,
        reason=Texts.constant(START_UP, len(rank)),
        start_ns=start,
        span_us=lasted,
        longest_us=longest,
    )
