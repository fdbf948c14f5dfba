# SPDX-License-Identifier: Apache-2.0
"""StepPhase and StepTime: step_trace_raw_*_detail_time.csv, in ticks of 10 ns, and ascend_cluster_analyse_*.csv, in ms.

The last row of both holds averages. The first recorded step has no interval, for where the one before ended is not
known; it often holds the start of the job, and the averages leave it out. So do the sums here, where there are others.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import StepPhase, StepTime
from advisor.facts.table import Array, Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.model.run import UNEVEN
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.minddata.numbers_gone import read_filled_columns
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank
from advisor.sources.mindinsight.rows_gone import note_steps_gone
from advisor.sources.mindinsight.spans import US_PER_TICK, collective_us_by_step
from advisor.sources.mindinsight.step_numbers import STEP_NUMBER, step_of_text
from advisor.sources.reading import Reading

_US_PER_MS = 1e3
_LATEST_US = 9e15
_US = Column("Time.", "float", "us")
_NUMBER = Column("Number of a step; `-` or 0 for the averages.", "text")
_TRACE = {
    "whole_us": ("total",),
    "interval_us": ("iteration_interval",),
    "forward_backward_us": ("fp_and_bp", "fp"),
    "tail_us": ("tail",),
    "start_us": ("start_point",),
}
_CLUSTER = {
    "compute_us": ("computation_time", "computation"),
    "pure_comm_us": ("communication_alone_time", "communication_alone"),
    "receive_us": ("receive_alone_time", "receive_alone"),
    "collective_us": ("collective_communication_alone_time", "collective_communication_time"),
}


_MIXED = ("collective_us", "receive_us")
"""Times of the summary that the trace tells apart."""


class StepMarks(Struct, frozen=True):
    """The steps of one rank: their numbers, ascending, and the times of each by column."""

    numbers: Array
    times: dict[str, Array]

    @property
    def first(self) -> Array:
        """Whether a step is the first of several."""
        several: Array = (np.arange(len(self.numbers)) == 0) & (len(self.numbers) > 1)
        return several


def read_marks(rank: LegacyRank) -> StepMarks:
    """The steps as marked on the device, with what the summary of the cluster adds.

    Raises:
        FactMissing: Neither file is there, or has a step.
        Unreadable: The file with the marks cannot be read, and the summary tells no steps.
    """
    return rank.once("marks", lambda: _read_marks(rank))


def _read_marks(rank: LegacyRank) -> StepMarks:
    cluster = _cluster_times(rank)
    rows = len(next(iter(cluster.values()), ()))
    marks = _marks_in_trace(rank, needed=not rows)
    if not len(marks.numbers):
        marks = StepMarks(np.arange(1, max(rows - 1, min(rows, 1)) + 1), {})
    if not len(marks.numbers):
        raise FactMissing([StepPhase.table])
    last = int(marks.numbers[-1])
    if rows and rows not in (last, last + 1):  # nothing but its place tells the step of a row
        rank.notes.add(rank.files["cluster"].name, "", Message("rows_for_steps", rows=rows, steps=last), rows=rows)
        cluster = {}
    added = {name: values[marks.numbers - 1] for name, values in cluster.items()}
    return StepMarks(marks.numbers, marks.times | _with_sends(rank, marks, _believed(rank, marks, added)))


def _with_sends(rank: LegacyRank, marks: StepMarks, added: dict[str, Array]) -> dict[str, Array]:
    """The same, with what is sent to another stage among what waits for it, as what is received is.

    The summary counts sends as collectives; the trace tells them apart.
    """
    if "whole_us" not in marks.times:  # of files that are gone as of those that nobody wrote
        return {name: us for name, us in added.items() if "steps" not in rank.files or name not in _MIXED}
    if not {"pure_comm_us", "collective_us", "receive_us"} <= added.keys():
        return added
    running = collective_us_by_step(rank)
    most = np.array([running.get(step, np.inf) for step in marks.numbers.tolist()])
    collective = np.minimum(added["collective_us"], most)
    waited = np.where(np.isfinite(most), added["pure_comm_us"] - collective, added["receive_us"])
    return added | {"collective_us": collective, "receive_us": waited}


def _believed(rank: LegacyRank, marks: StepMarks, added: dict[str, Array]) -> dict[str, Array]:
    """What the summary says of steps, without those that would last longer than the device took for them."""
    whole = marks.times.get("whole_us")
    if whole is None or "compute_us" not in added:
        return added
    busy = added["compute_us"] + np.nan_to_num(added.get("pure_comm_us", np.zeros(len(whole))))
    wrong = busy > whole * (1 + UNEVEN)
    if wrong.any():
        count = int(np.count_nonzero(wrong))
        rank.notes.add(
            rank.files["cluster"].name, "", Message("sums_exceed_step"), rows=count, share=count / len(wrong)
        )
    return {name: np.where(wrong, np.nan, values) for name, values in added.items()}


def _marks_in_trace(rank: LegacyRank, *, needed: bool) -> StepMarks:
    """The marks; none where there is no such file, or it cannot be read and is not needed.

    Raises:
        Unreadable: It is needed and cannot be read.
    """
    try:
        return _read_trace(rank) if "steps" in rank.files else _NO_MARKS
    except Unreadable:  # noted
        if needed:
            raise
        return _NO_MARKS


_NO_MARKS = StepMarks(np.empty(0, np.int64), {})


def _read_trace(rank: LegacyRank) -> StepMarks:
    columns = {"number": _NUMBER, **dict.fromkeys(_TRACE, _US)}
    headings = {"number": (STEP_NUMBER,), **_TRACE}
    path = rank.files["steps"]
    found = read_filled_columns(path, columns, headings, rank.notes, ("number", "whole_us"))
    named = found.pop("number")
    texts = named.values() if isinstance(named, Texts) else []
    note_steps_gone(path, texts, rank.notes)
    steps = np.array([step_of_text(text) for text in texts], np.int64)
    _, rows = np.unique(steps, return_index=True)
    rows = rows[steps[rows] > 0]
    timed = _are_timed(path, steps, found["whole_us"], rank.notes)
    times = {
        name: np.where(timed, values, np.nan)[rows] * US_PER_TICK
        for name, values in found.items()
        if isinstance(values, np.ndarray)
    }
    return StepMarks(steps[rows], times)


def _are_timed(path: Path, steps: Array, whole: Values, notes: Notes) -> Array:
    """Per row: whether it has times. A step that took no time has none; those are noted."""
    timed: Array = np.asarray(whole) > 0
    lost = np.flatnonzero((steps > 0) & ~timed)
    if len(lost):
        place, what = Message("at_row", n=int(lost[0]) + 2), Message("no_usable_number", column=_TRACE["whole_us"][0])
        notes.add(path.name, place, what, rows=len(lost), share=len(lost) / np.count_nonzero(steps > 0))
    return timed


def _cluster_times(rank: LegacyRank) -> dict[str, Array]:
    """The summary by column, the averages in the last row; nothing where it has no such column, or is damaged."""
    if "cluster" not in rank.files or rank.layout == "data":
        return {}
    try:
        found = read_filled_columns(rank.files["cluster"], dict.fromkeys(_CLUSTER, _US), _CLUSTER, rank.notes)
    except Unreadable:  # noted; the phases are known without it
        return {}
    times = {name: values * _US_PER_MS for name, values in found.items() if isinstance(values, np.ndarray)}
    return {name: values for name, values in times.items() if len(values)}


def _phases_of_rank(rank: LegacyRank) -> Table[StepPhase]:
    marks = read_marks(rank)
    times = dict(marks.times)
    start_us = times.pop("start_us", np.full(len(marks.numbers), np.nan))
    if "interval_us" in times:
        times["interval_us"] = np.where(_has_no_interval(marks), np.nan, times["interval_us"])
    return Table.build(
        StepPhase,
        rank=np.full(len(marks.numbers), rank.rank),
        step=marks.numbers,
        stage=np.full(len(marks.numbers), rank.stage),
        layout=rank.layout or None,
        first=marks.first.astype(np.int8),
        start_ns=_whole_ns(start_us),
        **times,
    )


def _whole_ns(us: Array) -> Array:
    """Times of a clock that starts with the host, in ns: exact in float64 for a century of it."""
    known = np.isfinite(us) & (us < _LATEST_US)
    ns: Array = np.where(known, np.rint(np.where(known, us, 0) * 1e3), MISSING).astype(np.int64)
    return ns


def _has_no_interval(marks: StepMarks) -> Array:
    """Whether a step begins with its forward pass because nothing tells where it began: the first one does."""
    unknown: Array = (np.arange(len(marks.numbers)) == 0) & (marks.times["interval_us"] == 0)
    return unknown


STEP_PHASES = Reading(StepPhase, {EXPORT: _phases_of_rank})


def _times_of_rank(rank: LegacyRank) -> Table[StepTime]:
    """Compute and pure communication of the summary; what is left of the step is neither."""
    marks = read_marks(rank)
    if not {"whole_us", "compute_us", "pure_comm_us"} <= marks.times.keys():
        raise FactMissing([StepTime.table])
    whole, compute, pure = (marks.times[name] for name in ("whole_us", "compute_us", "pure_comm_us"))
    kept = np.flatnonzero(~marks.first & np.isfinite(whole + compute + pure))
    if not len(kept):
        raise FactMissing([StepTime.table])
    return Table.build(
        StepTime,
        rank=np.full(len(kept), rank.rank),
        step=marks.numbers[kept],
        stage=np.full(len(kept), rank.stage),
        compute_us=compute[kept],
        exposed_comm_us=pure[kept],
        free_us=np.maximum(whole - compute - pure, 0)[kept],
        bubble_us=marks.times.get("receive_us", np.full(len(whole), np.nan))[kept],
    )


STEP_TIMES = Reading(StepTime, {EXPORT: _times_of_rank})


def counted_steps(rank: LegacyRank) -> dict[int, float]:
    """The steps that averages are made of, by number, and how long each took, µs; empty without steps."""
    try:
        marks = read_marks(rank)
    except (FactMissing, Unreadable):
        return {}
    whole = marks.times.get("whole_us", np.full(len(marks.numbers), np.nan))
    return dict(zip(marks.numbers[~marks.first].tolist(), whole[~marks.first].tolist(), strict=True))
