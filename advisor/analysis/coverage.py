# SPDX-License-Identifier: Apache-2.0
"""Whether what one table tells of is there in another: a file that lost rows is known by what its rows were needed for.

Every kernel was launched, every launch happened inside of a host call and led to work on the device, what was put
into the task queue was taken out of it, and the steps that the profiler summed up are those that it marked. In whole
captures that holds of every row, at each level and in both exports.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.analysis.grouping import row_at, row_of_key
from advisor.analysis.host import DEVICE_SOFTWARE
from advisor.analysis.intervals import axis_of_cells, span_at, union
from advisor.facts.base import MISSING
from advisor.facts.derived import Coverage
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, Launch, RankCapture, StepTime, StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run

_FILES = {
    "launches": ("trace_view.json", "CANN_API"),
    "host_calls": ("trace_view.json", "CANN_API"),
    "device_tasks": ("trace_view.json", "TASK"),
    "step_windows": ("trace_view.json", "STEP_TIME"),
    "step_times": ("step_trace_time.csv", "StepTraceTime"),
}
"""By table: what holds it in the text export, and in the database."""
_EVER = np.iinfo(np.int64)
_NOBODY = np.zeros(0, np.int64)


def coverage(
    run: Run,
    *,
    kernels: Table[Kernel] | None,
    launches: Table[Launch] | None,
    calls: Table[HostCall] | None,
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    steps: Table[StepTime] | None,
    captures: Table[RankCapture] | None,
) -> Table[Coverage]:
    """By rank and table: how many rows need one of it, and how many have one; nothing where none is needed.

    Launches and marks of steps are looked for where calls of the host were recorded, for both come with them. Where
    whole graphs were launched, kernels have no launch of their own.

    Raises:
        FactMissing: No table has rows that need another, so that nothing can be told.
    """
    found: list[Table[Coverage]] = []
    hosts = _NOBODY if calls is None else np.unique(calls["rank"])
    if kernels is not None and calls is not None and (launches is not None or run.framework == "PyTorch"):
        found.append(_launches_by_kernels(run, kernels, launches, calls))
    if launches is not None and calls is not None:
        found.append(_calls_by_launches(run, launches, calls, captures))
    if launches is not None:
        found.append(_work_by_launches(run, launches, (kernels, collectives, tasks)))
    if calls is not None:
        found.append(_calls_by_queue(run, calls))
    found += _steps_by_steps(run, windows, steps, hosts)
    if not any(map(len, found)):
        raise FactMissing([HostCall.table])
    return Table.concat(Coverage, found)


def _launches_by_kernels(
    run: Run, kernels: Table[Kernel], launches: Table[Launch] | None, calls: Table[HostCall]
) -> Table[Coverage]:
    graphs = calls["rank"][calls.texts("kind").isin(["graph"])]
    single = np.isin(kernels["rank"], calls["rank"]) & ~np.isin(kernels["rank"], graphs)
    needing = kernels.take((kernels["start_ns"] != MISSING) & single)
    known = Table.empty(Launch) if launches is None else launches
    at = row_at(known["rank"], known["device_start_ns"], needing["rank"], needing["start_ns"])
    return _count_covered(run, "launches", "kernels", needing["rank"], at >= 0)


def _calls_by_launches(
    run: Run, launches: Table[Launch], calls: Table[HostCall], captures: Table[RankCapture] | None
) -> Table[Coverage]:
    """Where calls into the device's software were recorded, it is one of these that holds a launch."""
    issued = launches.take(launches["host_start_ns"] != MISSING)
    rank, moment = issued["rank"], issued["host_start_ns"]
    software = calls.texts("kind").isin(DEVICE_SOFTWARE)
    below = np.append(calls["rank"][software], _ranks_with_device_software(run, captures))
    holding = calls.take(software | ~np.isin(calls["rank"], below))
    return _count_covered(run, "host_calls", "launches", rank, _within_calls(holding, rank, moment))


def _work_by_launches(
    run: Run,
    launches: Table[Launch],
    work: tuple[Table[Kernel] | None, Table[Collective] | None, Table[DeviceTask] | None],
) -> Table[Coverage]:
    known = [table for table in work if table is not None]
    rank = np.concatenate([_NOBODY, *(table["rank"] for table in known)])
    start = np.concatenate([_NOBODY, *(table["start_ns"] for table in known)])
    led = launches.take(launches["device_start_ns"] != MISSING)
    at = row_at(rank, start, led["rank"], led["device_start_ns"])
    return _count_covered(run, "device_tasks", "launches", led["rank"], at >= 0)


def _calls_by_queue(run: Run, calls: Table[HostCall]) -> Table[Coverage]:
    """What one end of the task queue tells more than the other."""
    kind = calls.texts("kind")
    ends = [calls["rank"][kind.isin([name])] for name in ("enqueue", "dequeue")]
    ranks = np.unique(np.concatenate(ends))
    counts = np.stack([np.bincount(row_of_key(ranks, end), minlength=len(ranks)) for end in ends])
    few, many = counts.min(axis=0), counts.max(axis=0)
    return _build_rows(run, "host_calls", "host_calls", ranks, needed=many, found=few)


def _steps_by_steps(
    run: Run, windows: Table[StepWindow] | None, steps: Table[StepTime] | None, hosts: Array
) -> Iterator[Table[Coverage]]:
    marked, summed = _numbered_steps(windows), _numbered_steps(steps)
    read = np.isin(summed[0], hosts)
    rank, step = summed[0][read], summed[1][read]
    yield _count_covered(run, "step_windows", "step_times", rank, row_at(*marked, rank, step) >= 0)
    if steps is not None:
        yield _count_covered(run, "step_times", "step_windows", marked[0], row_at(*summed, *marked) >= 0)


def _numbered_steps(table: Table[StepWindow] | Table[StepTime] | None) -> tuple[Array, Array]:
    """Rank and number of each step that has a number."""
    if table is None:
        return _NOBODY, _NOBODY
    numbered = table["step"] != MISSING
    return table["rank"][numbered], table["step"][numbered]


def _ranks_with_device_software(run: Run, captures: Table[RankCapture] | None) -> Array:
    """The ranks of which calls into the device's software are recorded: text leaves them out below Level1."""
    if captures is None or run.framework != "PyTorch":
        return _NOBODY
    held = captures.texts("source").isin(["database"]) | (captures.floats("level_number") >= 1)
    ranks: Array = captures["rank"][held]
    return ranks


def _within_calls(calls: Table[HostCall], rank: Array, moment: Array) -> Array:
    """Per rank and moment: whether any of these calls was running, its last moment included."""
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
    needed, found = (np.bincount(place, weights=some, minlength=len(ranks)) for some in (None, covered))
    return _build_rows(run, of, by, ranks, needed=needed, found=found)


def _build_rows(run: Run, of: str, by: str, ranks: Array, *, needed: Array, found: Array) -> Table[Coverage]:
    """One row for each of these ranks, with the file or table of the database that holds what is looked at."""
    sources = {capture.rank: capture.source for capture in run.captures}
    text, database = _FILES[of]
    return Table.build(
        Coverage,
        rank=ranks,
        of=of,
        by=by,
        needed=needed,
        found=found,
        file=[database if sources.get(one) == "database" else text for one in ranks.tolist()],
    )
