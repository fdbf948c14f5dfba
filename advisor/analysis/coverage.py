# SPDX-License-Identifier: Apache-2.0
"""Whether what one table tells of is there in another: a file that lost rows is known by what its rows were needed for.

Every kernel was launched, every launch happened inside of a host call, and the steps that the profiler summed up are
those that it marked. In whole captures that holds of every row, at each level and in both exports.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import row_at, row_of_key
from advisor.analysis.intervals import axis_of_cells, span_at, union
from advisor.facts.base import MISSING
from advisor.facts.derived import Coverage
from advisor.facts.observed import HostCall, Kernel, Launch, StepTime, StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run

_FILES = {
    "launches": ("trace_view.json", "CANN_API"),
    "host_calls": ("trace_view.json", "CANN_API"),
    "step_windows": ("trace_view.json", "STEP_TIME"),
    "step_times": ("step_trace_time.csv", "StepTraceTime"),
}
"""By table: what holds it in the text export, and in the database."""
_EVER = np.iinfo(np.int64)


def coverage(
    run: Run,
    *,
    kernels: Table[Kernel] | None,
    launches: Table[Launch] | None,
    calls: Table[HostCall] | None,
    windows: Table[StepWindow] | None,
    steps: Table[StepTime] | None,
) -> Table[Coverage]:
    """By rank and table: how many rows need one of it, and how many have one; nothing where none is needed.

    Launches and marks of steps are looked for where calls of the host were recorded, for both come with them. Where
    whole graphs were launched, kernels have no launch of their own.

    Raises:
        FactMissing: No table has rows that need another, so that nothing can be told.
    """
    hosts, graphs = _ranks_of(calls), _ranks_of(calls, kind="graph")
    found = []
    if kernels is not None and launches is not None:
        single = np.isin(kernels["rank"], hosts) & ~np.isin(kernels["rank"], graphs)
        needing = kernels.take((kernels["start_ns"] != MISSING) & single)
        at = row_at(launches["rank"], launches["device_start_ns"], needing["rank"], needing["start_ns"])
        found.append(_count_covered(run, "launches", "kernels", needing["rank"], at >= 0))
    if launches is not None and calls is not None:
        needing_calls = launches.take(launches["host_start_ns"] != MISSING)
        inside = _within_calls(calls, needing_calls["rank"], needing_calls["host_start_ns"])
        found.append(_count_covered(run, "host_calls", "launches", needing_calls["rank"], inside))
    marked = _numbered_steps(windows)
    summed = _numbered_steps(steps)
    if len(hosts):
        read = np.isin(summed[0], hosts)
        rank, step = summed[0][read], summed[1][read]
        found.append(_count_covered(run, "step_windows", "step_times", rank, row_at(*marked, rank, step) >= 0))
    if steps is not None:
        found.append(_count_covered(run, "step_times", "step_windows", marked[0], row_at(*summed, *marked) >= 0))
    if not any(map(len, found)):
        raise FactMissing([HostCall.table])
    return Table.concat(Coverage, found)


def _ranks_of(calls: Table[HostCall] | None, kind: str = "") -> Array:
    """The ranks of which host calls, or those of one kind, were recorded."""
    if calls is None:
        return np.zeros(0, np.int64)
    ranks: Array = np.unique(calls["rank"][calls.texts("kind").isin([kind])] if kind else calls["rank"])
    return ranks


def _numbered_steps(table: Table[StepWindow] | Table[StepTime] | None) -> tuple[Array, Array]:
    """Rank and number of each step that has a number."""
    if table is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbered = table["step"] != MISSING
    return table["rank"][numbered], table["step"][numbered]


def _within_calls(calls: Table[HostCall], rank: Array, moment: Array) -> Array:
    """Per rank and moment: whether any host call was running, its last moment included."""
    timed = calls.take((calls["start_ns"] != MISSING) & (calls["end_ns"] >= calls["start_ns"]))
    ranks = np.unique(timed["rank"])
    of, where = row_of_key(ranks, timed["rank"]), row_of_key(ranks, rank)
    start, end = timed["start_ns"], timed["end_ns"] + 1
    axis = axis_of_cells(of, start, end, len(ranks))
    spans = union(start + axis.shift[of], end + axis.shift[of])
    first, last = np.full(len(ranks) + 1, _EVER.max), np.full(len(ranks) + 1, _EVER.min)  # one more for other ranks
    np.minimum.at(first, of, start)
    np.maximum.at(last, of, end)
    within = (moment >= first[where]) & (moment < last[where])
    found = np.zeros(len(rank), bool)
    found[within] = span_at(spans, moment[within] + axis.shift[where[within]]) >= 0
    return found


def _count_covered(run: Run, of: str, by: str, rank: Array, covered: Array) -> Table[Coverage]:
    """One row for each rank that has rows which need the table."""
    ranks, place = np.unique(rank, return_inverse=True)
    sources = {capture.rank: capture.source for capture in run.captures}
    text, database = _FILES[of]
    return Table.build(
        Coverage,
        rank=ranks,
        of=of,
        by=by,
        needed=np.bincount(place, minlength=len(ranks)),
        found=np.bincount(place, weights=covered, minlength=len(ranks)),
        file=[database if sources.get(one) == "database" else text for one in ranks.tolist()],
    )
