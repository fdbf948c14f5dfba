# SPDX-License-Identifier: Apache-2.0
"""Forward and backward passes of micro-batches, as the program marks them: when each was on the host and the device.

The marks are those that msprof-analyze wants for its `pp_chart`: mstx ranges around `forward_step` and
`backward_step`, in any domain but those that say something else.
"""

from __future__ import annotations

import re
from typing import Annotated

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import whole_ns
from advisor.analysis.modules.module_calls import LaunchTables, charge_work
from advisor.facts.base import MISSING, Count, Fact, Index, Key, Ns, Rank, Step, Us
from advisor.facts.observed import (
    ModuleRange,
    ProgramMark,
    StepWindow,
)
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing

_DIRECTION = re.compile(r"(?<![a-z])(forward|backward)(?![a-z])", re.IGNORECASE)
_OF_OTHERS = ("Module", "flash_attn_args", "mfu_flops")
"""Domains whose marks are no micro-batches."""


class MicroBatch(Fact):
    """One forward or backward pass of one micro-batch on one rank, as the program marked it."""

    table = "micro_batches"
    observed = False
    on_request = True

    rank: Rank
    step: Step
    direction: Annotated[str, Key("`forward`, `backward`, or both where one mark names both.")]
    number: Annotated[int, Index("Its place among those of its direction in the step, from 1.")]
    start_ns: Annotated[int, Ns("Begin of the mark on the host.")]
    host_us: Annotated[float, Us("From its begin to its end on the host.")]
    device_start_ns: Annotated[int, Ns("When the first kernel began that it launched; missing without kernels.")]
    device_us: Annotated[float, Us("From there to the end of the last one.")]
    kernel_us: Annotated[float, Us("Its kernels together.")]
    kernels: Annotated[float, Count("Kernels that it launched.")]


def micro_batches(
    marks: Table[ProgramMark],
    *,
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables | None,
    windows: Table[StepWindow] | None,
) -> Table[MicroBatch]:
    """One row per marked pass, by rank and begin; a mark inside of another one of its direction is part of that.

    Raises:
        FactMissing: No mark names a direction.
    """
    directions = _directions(marks)
    rows = np.flatnonzero((directions.codes >= 0) & (marks["end_ns"] > marks["start_ns"]))
    rows = rows[np.lexsort((-marks["end_ns"][rows], marks["start_ns"][rows], marks["rank"][rows]))]
    rows = rows[_outermost(marks, directions, rows)]
    if not len(rows):
        raise FactMissing([ProgramMark.table])
    rank, start, end = (marks[name][rows] for name in ("rank", "start_ns", "end_ns"))
    step = _step_at(windows, rank, start)
    direction = directions.take(rows)
    begun, ended, busy, count = _work_of(rank, start, end, _launched(recorded, ranges))
    return Table.build(
        MicroBatch,
        rank=rank,
        step=step,
        direction=direction,
        number=group_by(rank, step, direction).turns(start) + 1,
        start_ns=start,
        host_us=(end - start) / 1e3,
        device_start_ns=begun,
        device_us=np.where(count > 0, (ended - begun) / 1e3, np.nan),
        kernel_us=np.where(count > 0, busy, np.nan),
        kernels=count.astype(np.float64),
    )


def _directions(marks: Table[ProgramMark]) -> Texts:
    """Per mark: the directions that it names, in the order of its words."""
    names, other = marks.texts("name"), marks.texts("domain").isin(_OF_OTHERS)
    told = Texts.of("+".join(dict.fromkeys(map(str.lower, _DIRECTION.findall(name)))) or None for name in names.names)
    codes = values_at(told.codes, names.codes, -1)
    return Texts(np.where(other, -1, codes).astype(np.int32), told.names)


def _outermost(marks: Table[ProgramMark], directions: Texts, rows: Array) -> Array:
    """Which of these marks, by rank and begin, lie in no earlier one of their rank, thread and direction."""
    kept = np.ones(len(rows), bool)
    lanes = group_by(marks["rank"][rows], marks["thread"][rows], directions.take(rows))
    order = np.argsort(lanes.of, kind="stable")
    lane, end = lanes.of[order], marks["end_ns"][rows][order]
    rank_of_end = np.argsort(np.argsort(end, kind="stable"), kind="stable")
    highest = np.maximum.accumulate(lane * (len(end) + 1) + rank_of_end)  # lanes ascend: each begins anew
    before = np.append(-1, highest[:-1])[: len(end)]
    kept[order] = before < lane * (len(end) + 1) + rank_of_end
    return kept


def _step_at(windows: Table[StepWindow] | None, rank: Array, moment: Array) -> Array:
    """The step on the host in which each moment lies; missing where none was recorded around it."""
    found = np.full(len(moment), MISSING)
    if windows is None:
        return found
    for one in np.unique(rank).tolist():
        own = windows.take(np.flatnonzero((windows["rank"] == one) & (windows["start_ns"] != MISSING)))
        own = own.sorted_by("start_ns")
        here = np.flatnonzero(rank == one)
        at = np.searchsorted(own["start_ns"], moment[here], "right") - 1
        inside = (at >= 0) & (moment[here] < values_at(own["end_ns"], at, 0))
        found[here] = np.where(inside, values_at(own["step"], at), MISSING)
    return found


def _launched(recorded: LaunchTables | None, ranges: Table[ModuleRange] | None) -> tuple[Array, ...]:
    """Of kernels whose way from the host is known, by it: rank, moment on the host, start, end and duration."""
    if recorded is None:
        return (np.empty(0, np.int64),) * 5
    work = charge_work(ranges, recorded)
    count = work.kernels
    known = np.flatnonzero(work.linked[:count] & (work.start[:count] != MISSING) & (work.duration_us[:count] >= 0))
    known = known[np.argsort(work.host_ns[known], kind="stable")]
    lasted = work.duration_us[known]
    start = work.start[known]
    return work.rank[known], work.host_ns[known], start, start + whole_ns(lasted), lasted


def _work_of(rank: Array, start: Array, end: Array, launched: tuple[Array, ...]) -> tuple[Array, ...]:
    """Per mark: begin of its first kernel, end of its last, all of them together in µs, and how many."""
    of_rank, moment, begun, ended, lasted = launched
    owner = np.full(len(moment), -1)
    for one in np.unique(rank).tolist():
        mine, work = np.flatnonzero(rank == one), np.flatnonzero(of_rank == one)
        at = np.searchsorted(start[mine], moment[work], "right") - 1
        inside = (at >= 0) & (moment[work] < values_at(end[mine], at, 0))
        owner[work[inside]] = mine[at[inside]]
    own = np.flatnonzero(owner >= 0)
    count = np.bincount(owner[own], minlength=len(rank))
    first, last = np.full(len(rank), np.iinfo(np.int64).max), np.full(len(rank), np.iinfo(np.int64).min)
    np.minimum.at(first, owner[own], begun[own])
    np.maximum.at(last, owner[own], ended[own])
    total = np.bincount(owner[own], lasted[own], len(rank))
    return np.where(count > 0, first, MISSING), np.where(count > 0, last, MISSING), total, count
