# SPDX-License-Identifier: Apache-2.0
"""What each step was spent on, name by name, so that the entries of a step add up to its time.

Where several kernels run at once, each moment is charged to the one that began first; collectives likewise, and only
for the time in which no kernel runs. What can be given no name keeps an entry without one: the difference to the time
split, which is the profiler's own where the list of kernels lacks rows.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.arrays.intervals import Spans, covered_ns
from advisor.analysis.host.after_waits import account_after_waits
from advisor.analysis.steps.device import COMM, KERNEL, DeviceTimeline, build_timeline
from advisor.facts.derived import Gap, Overlap, Spending
from advisor.facts.observed import Collective, HostCall, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts

PARTS = (("compute", "compute_us"), ("communication", "exposed_comm_us"), ("free", "free_us"))
"""Parts of a step, and where the time split has them."""
_UNSEEN_US = 1e-3
"""A nanosecond: what is left below it is rounding."""


def spending(
    split: Table[Overlap],
    *,
    kernels: Table[Kernel] | None,
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    idle: Table[Gap] | None,
    calls: Table[HostCall] | None = None,
) -> Table[Spending]:
    """Entries by rank, step, part and name, of the steps whose split is known."""
    split = split.take(np.isfinite(split["span_us"]))
    found = [Table.empty(Spending)]
    if kernels is not None and len(kernels):
        device = build_timeline(kernels, collectives, None, windows)
        found.append(_entries_of_kind(device, KERNEL, "compute", kernels.texts("op_type")))
        if collectives is not None:
            found.append(_entries_of_kind(device, COMM, "communication", collectives.texts("op")))
    if idle is not None:
        found.append(_of_gaps(account_after_waits(idle, calls)))
    named = Table.concat(Spending, found)
    named = named.take(row_at(split["rank"], split["step"], named["rank"], named["step"]) >= 0)
    rests = [_rest_of_part(split, named, part, column) for part, column in PARTS]
    return Table.concat(Spending, [named, *rests]).sorted_by("rank", "step")


def _entries_of_kind(device: DeviceTimeline, kind: int, part: str, names: Texts) -> Table[Spending]:
    """Entries of the work of one kind; that without a name is left to the rest."""
    work = device.work
    mine = np.flatnonzero(work.kind == kind)
    mine = mine[names.codes[work.row[mine]] >= 0]
    cell, row = work.cell[mine], work.row[mine]
    shift = device.axis.shift[cell]
    ns = charged_ns(work.start[mine] + shift, work.end[mine] + shift, device.compute if kind == COMM else Spans.none())
    groups = group_by(cell, names.take(row))
    first = groups.first
    return Table.build(
        Spending,
        rank=device.cells.rank[cell[first]],
        step=device.cells.step[cell[first]],
        part=part,
        name=names.take(row[first]),
        us=groups.sums(ns / 1e3),
        calls=groups.sizes.astype(np.float64),
    )


def charged_ns(start: Array, end: Array, hidden: Spans) -> Array:
    """Per interval: how long it runs while none that began earlier does, nor anything hidden, ns.

    Together they are as long as the union of the intervals without what is hidden.
    """
    order = np.lexsort((-end, start))
    begin, stop = start[order], end[order]
    reach = np.append(np.iinfo(np.int64).min, np.maximum.accumulate(stop)[:-1])[: len(order)]
    begin = np.maximum(begin, reach)
    length = np.maximum(stop - begin, 0)
    own = np.empty(len(order), np.int64)
    own[order] = length - covered_ns(hidden, begin, begin + length)
    return own


def _of_gaps(idle: Table[Gap]) -> Table[Spending]:
    idle = idle.take(idle.texts("cause").codes >= 0)
    cause = idle.texts("cause")
    groups = group_by(idle["rank"], idle["step"], cause)
    first = groups.first
    return Table.build(
        Spending,
        rank=idle["rank"][first],
        step=idle["step"][first],
        part="free",
        name=cause.take(first),
        us=groups.sums(idle["duration_us"]),
        calls=groups.sizes.astype(np.float64),
    )


def _rest_of_part(split: Table[Overlap], named: Table[Spending], part: str, column: str) -> Table[Spending]:
    """What the named entries of a part leave open, of each step."""
    own = named.take(named.texts("part").isin([part]))
    at = row_at(split["rank"], split["step"], own["rank"], own["step"])
    total = np.nan_to_num(split[column], nan=0.0)
    left = total - np.bincount(at, weights=own["us"], minlength=len(split))
    open_ = np.flatnonzero(np.abs(left) > _UNSEEN_US)
    return Table.build(Spending, rank=split["rank"][open_], step=split["step"][open_], part=part, us=left[open_])
