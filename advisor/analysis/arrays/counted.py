# SPDX-License-Identifier: Apache-2.0
"""How many rows of one table another one needs, and how many of these are there: rank by rank, counted in one sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import row_of_key
from advisor.facts.base import MISSING
from advisor.facts.derived import RankCoverage
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, ascending
from advisor.model.run_of_ranks import RunOfRanks

Moments = dict[int, Array]
"""By rank: moments (or numbers of steps), ascending."""

AT_ENDS = 20
"""So many rows without a counterpart at an end of a recording are no chance: what one side still saw and the other did
not are 3 rows at most in public traces of GPUs, and none in public captures of NPUs."""
_TIMELINE = "trace_view.json"
FILES: Mapping[str, tuple[str, str]] = {
    "api_totals": ("api_statistic.csv", "CANN_API"),
    "collectives": ("kernel_details.csv", "COMMUNICATION_OP"),
    "device_tasks": (_TIMELINE, "TASK"),
    "host_calls": (_TIMELINE, "CANN_API"),
    "kernels": ("kernel_details.csv", "COMPUTE_TASK_INFO"),
    "launches": (_TIMELINE, "CANN_API"),
    "operator_calls": (_TIMELINE, "PYTORCH_API"),
    "step_times": ("step_trace_time.csv", "StepTraceTime"),
    "step_windows": (_TIMELINE, "STEP_TIME"),
    "transfers": ("communication.json", "CommAnalyzerBandwidth"),
}
"""By table: what holds it in the text export, and in the database; without its file the timeline does."""


class Looked(Struct, frozen=True):
    """Rows of one rank that each need one of another table."""

    at: Array
    """The moment of each row; where `numbered`, its step."""
    found: Array
    """Whether what it needs is there."""
    numbered: bool = False

    @classmethod
    def of_counts(cls, step: Array, needed: Array, found: Array) -> Looked:
        """Of steps, each with how many rows are needed, and how many are there."""
        counts = np.stack([found, needed - found], axis=1).ravel()
        return cls(np.repeat(step, needed), np.repeat(np.tile([True, False], len(step)), counts), numbered=True)


class Counted(Struct, frozen=True):
    """Of one table, by another: on each rank that needs some, how many rows are needed, and how many are there."""

    of: str
    by: str
    ranks: Array
    needed: Array
    found: Array
    held_in: str = ""
    """Where the rows lie, by a name of `FILES`, if that is not the table's own."""
    rows: Mapping[int, Looked] = {}
    """By rank: what was looked at row by row; nothing where only numbers are compared."""

    @classmethod
    def by_rank(cls, of: str, by: str, counts: Mapping[int, tuple[float, float]]) -> Counted:
        """Of counts needed and found by rank; ranks that need nothing are left out."""
        rows = [(rank, *pair) for rank, pair in sorted(counts.items()) if pair[0] > 0]
        ranks, needed, found = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(of, by, np.array(ranks, np.int64), np.array(needed, np.float64), np.array(found, np.float64))

    @classmethod
    def by_moment(cls, of: str, by: str, there: Mapping[int, tuple[Array, Array]]) -> Counted:
        """By rank, of rows in order of time that each need one: their moments, and whether it is there."""
        return cls._by_rows(of, by, {rank: Looked(*pair) for rank, pair in there.items()})

    @classmethod
    def by_steps(cls, of: str, by: str, there: Mapping[int, tuple[Array, Array]]) -> Counted:
        """By rank, of rows that each need one: their steps, and whether it is there."""
        return cls._by_rows(of, by, {rank: Looked(*pair, numbered=True) for rank, pair in there.items()})

    @classmethod
    def by_row(cls, of: str, by: str, rank: Array, step: Array, found: Array) -> Counted:
        """Of rows that each need one: their ranks and steps, and whether it is there."""
        own = {one: rank == one for one in distinct_ranks(rank).tolist()}
        return cls.by_steps(of, by, {one: (step[here], found[here]) for one, here in own.items()})

    @classmethod
    def _by_rows(cls, of: str, by: str, rows: Mapping[int, Looked]) -> Counted:
        asked = {rank: looked for rank, looked in sorted(rows.items()) if len(looked.found)}
        return cls.by_rank(of, by, {rank: (len(looked.found), 0) for rank, looked in asked.items()}).with_rows(asked)

    def with_rows(self, rows: Mapping[int, Looked]) -> Counted:
        """The same, with these ranks looked at row by row."""
        needed, found = self.needed.copy(), self.found.copy()
        for place, rank in enumerate(self.ranks.tolist()):
            if rank in rows:
                needed[place], found[place] = len(rows[rank].found), rows[rank].found.sum()
        return msgspec.structs.replace(self, needed=needed, found=found, rows=rows)


def distinct_ranks(rank: Array, where: Array | None = None) -> Array:
    """The ranks among these, or those of them where a mask is true, ascending; most tables hold one, and others the
    rows of one after those of another."""
    if len(rank) and (rank.strides == (0,) or (rank == rank[0]).all()):
        return rank[:1].copy() if where is None or where.any() else rank[:0]
    rank = rank if where is None else rank[where]
    return rank[_begins_of_ranks(rank)] if (rank[1:] >= rank[:-1]).all() else np.unique(rank)


def _begins_of_ranks(rank: Array) -> Array:
    """Where each of several ranks, which ascend, begins."""
    return np.flatnonzero(np.append(True, rank[1:] != rank[:-1])[: len(rank)])


def moments_by_rank(rank: Array, moment: Array) -> Moments:
    """The moments of each rank, ascending; those that are missing are left out."""
    known = moment != MISSING
    if not known.all():
        rank, moment = rank[known], moment[known]
    if not len(rank):
        return {}
    if len(distinct_ranks(rank)) == 1:
        return {int(rank[0]): ascending(moment)}
    if not ((rank[1:] > rank[:-1]) | ((rank[1:] == rank[:-1]) & (moment[1:] >= moment[:-1]))).all():
        order = np.lexsort((moment, rank))
        rank, moment = rank[order], moment[order]
    begin = _begins_of_ranks(rank)
    return dict(zip(rank[begin].tolist(), np.split(moment, begin[1:]), strict=True))


def longest_holes(found: Array, of: Array, groups: int) -> Array:
    """Per group: how many rows that are not there follow each other at most, between two that are, in order of time.

    A hole belongs to the group, from 0 on, of its first row.
    """
    there = np.flatnonzero(found)
    length = np.diff(there) - 1
    longest = np.zeros(groups)
    np.maximum.at(longest, of[there[:-1][length > 0] + 1], length[length > 0])
    return longest


def count_moments(of: str, by: str, needing: Moments, there: Moments, apart: int = 0) -> Counted:
    """How many of the moments that need one are there, or no further apart than that."""
    none = np.zeros(0, np.int64)
    near = {rank: _are_near(asked, there.get(rank, none), apart) for rank, asked in needing.items()}
    return Counted.by_moment(of, by, {rank: (needing[rank], found) for rank, found in near.items()})


def count_steps(of: str, by: str, needing: Moments, there: Moments) -> Counted:
    """How many of the steps that need one, by their numbers, are there."""
    none = np.zeros(0, np.int64)
    return Counted.by_steps(
        of, by, {rank: (asked, np.isin(asked, there.get(rank, none))) for rank, asked in needing.items()}
    )


def _are_near(asked: Array, there: Array, apart: int) -> Array:
    """Which of these ascending moments are among those, which ascend too, or as near as that."""
    if not apart:
        return are_among(asked, there)
    low, high = np.searchsorted(there, asked - apart), np.searchsorted(there, asked + apart, "right")
    near: Array = high > low
    return near


def are_among(asked: Array, there: Array) -> Array:
    """Which of these moments are among those, which ascend."""
    if not len(there):
        return np.zeros(len(asked), bool)
    place = np.minimum(np.searchsorted(there, asked), len(there) - 1)
    found: Array = there[place] == asked
    return found


def are_running(begun: Array, ended: Array, moments: Array) -> Array:
    """At which of these moments anything runs, by when each thing begins and when it ends, its last moment included.

    All three ascend. So many run as have begun and not ended before.
    """
    running: Array = np.searchsorted(begun, moments, "right") > np.searchsorted(ended, moments)
    return running


def rows_of_counts(
    run: RunOfRanks, counts: Iterable[Counted], windows: Table[StepWindow] | None
) -> Table[RankCoverage]:
    """The rows of each count, with the file or the table of the database that holds what is looked at.

    One for the whole recording of a rank, and one for each step that lacks some; fewer than `AT_ENDS` that lie at an
    end of the recording are of no step. A step lasts until the next begins.

    Ranks of a summary have none: one file tells all of it.
    """
    captures = run.captures
    summed = [rank for rank, capture in captures.items() if capture.export.of_all_ranks]
    begun = {} if windows is None else begins_of_steps(windows)

    def file_of(name: str, rank: int) -> str:
        text, database = FILES[name]
        capture = captures.get(rank)
        if capture is not None and capture.export.holds == "tables":
            return database
        if capture is not None and capture.export.holds == "itself":
            return capture.source
        held_in = _TIMELINE if capture is not None and text in capture.absent else text
        return held_in if capture is None else capture.own_name(held_in)

    def rows_of(count: Counted) -> Table[RankCoverage]:
        totals = zip(count.ranks.tolist(), count.needed.tolist(), count.found.tolist(), strict=True)
        each = [
            _by_lacking_step(needed, found, count.rows.get(rank), begun.get(rank)) for rank, needed, found in totals
        ]
        step, needed, found, hole = map(np.concatenate, zip(*each, strict=True))
        rank = np.repeat(count.ranks, [len(steps) for steps, *_ in each])
        files = [file_of(count.held_in or count.of, one) for one in rank.tolist()]
        numbers = {"needed": needed, "matched": found, "hole": hole}
        return Table.build(RankCoverage, rank=rank, step=step, of=count.of, by=count.by, **numbers, file=files)

    table = Table.concat(RankCoverage, [rows_of(count) for count in counts if len(count.ranks)])
    return table.take(~np.isin(table["rank"], summed))


def _by_lacking_step(
    needed: float, found: float, looked: Looked | None, begun: tuple[Array, Array] | None
) -> tuple[Array, Array, Array, Array]:
    """Steps, rows needed, rows found and longest hole: of the whole recording, then of each step that lacks some."""
    if looked is None or needed == found:
        hole = np.nan if looked is None or looked.numbered else 0.0
        return np.array([MISSING]), np.array([needed]), np.array([found]), np.array([hole])
    step = looked.at if looked.numbered else np.where(_lie_at_ends(looked.found), MISSING, steps_at(looked.at, begun))
    lacking = np.unique(step[~looked.found & (step != MISSING)])
    of = row_of_key(lacking, step) + 1  # 0 are all the others
    groups = len(lacking) + 1
    all_rows, there = (np.bincount(of, some, groups) for some in (np.ones(len(of)), looked.found))
    holes = np.full(groups, np.nan) if looked.numbered else longest_holes(looked.found, of, groups)
    all_rows[0], there[0], holes[0] = needed, found, holes.max()
    return np.append(MISSING, lacking), all_rows, there, holes


def _lie_at_ends(found: Array) -> Array:
    """Which of these rows in order of time are few that are not there, before all or after all that are."""
    there = np.flatnonzero(found)
    place = np.arange(len(found))
    first, last = (there[0], there[-1]) if len(there) else (len(found), -1)
    return ((place < first) & (first < AT_ENDS)) | ((place > last) & (len(found) - 1 - last < AT_ENDS))


def begins_of_steps(windows: Table[StepWindow]) -> dict[int, tuple[Array, Array]]:
    """By rank: when its steps begin on the host, ascending, and their numbers."""
    windows = windows.take(np.lexsort((windows["start_ns"], windows["rank"])))
    windows = windows.take(windows["start_ns"] != MISSING)
    ranks, first = np.unique(windows["rank"], return_index=True)
    begun, number = (np.split(windows[name], first[1:]) for name in ("start_ns", "step"))
    return dict(zip(ranks.tolist(), zip(begun, number, strict=True), strict=True)) if len(ranks) else {}


def steps_at(moments: Array, begun: tuple[Array, Array] | None) -> Array:
    """The step that began last at each of these moments, MISSING before the first."""
    if begun is None:
        return np.full(len(moments), MISSING, np.int64)
    start, number = begun
    return np.append(number, MISSING)[np.searchsorted(start, moments, "right") - 1]
