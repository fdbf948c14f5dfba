# SPDX-License-Identifier: Apache-2.0
"""How many rows of one table another one needs, and how many of these are there: rank by rank, counted in one sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.derived import RankCoverage
from advisor.facts.table import Array, Table
from advisor.model.run import Run

Moments = dict[int, Array]
"""By rank: moments (or numbers of steps), ascending."""

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


class Counted(Struct, frozen=True):
    """Of one table, by another: on each rank that needs some, how many rows are needed, and how many are there."""

    of: str
    by: str
    ranks: Array
    needed: Array
    found: Array
    held_in: str = ""
    """Where the rows lie, by a name of `FILES`, if that is not the table's own."""
    hole: Array | None = None
    """By rank: how many that are not there follow each other in time, between two that are; None where no row has a
    time."""

    @property
    def holes(self) -> Array:
        """The same for each rank, missing where no row has a time."""
        return np.full(len(self.ranks), np.nan) if self.hole is None else self.hole

    @classmethod
    def by_rank(cls, of: str, by: str, counts: Mapping[int, tuple[float, float]]) -> Counted:
        """Of counts needed and found by rank; ranks that need nothing are left out."""
        rows = [(rank, *pair) for rank, pair in sorted(counts.items()) if pair[0] > 0]
        ranks, needed, found = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(of, by, np.array(ranks, np.int64), np.array(needed, np.float64), np.array(found, np.float64))

    @classmethod
    def by_moment(cls, of: str, by: str, there: Mapping[int, Array]) -> Counted:
        """By rank, of rows in order of time that each need one: whether it is there."""
        asked = {rank: found for rank, found in sorted(there.items()) if len(found)}
        counted = cls.by_rank(of, by, {rank: (len(found), int(found.sum())) for rank, found in asked.items()})
        return msgspec.structs.replace(counted, hole=np.array([longest_hole(found) for found in asked.values()], float))

    @classmethod
    def by_row(cls, of: str, by: str, rank: Array, found: Array) -> Counted:
        """Of rows that each need one: whether it is there."""
        ranks, place = np.unique(rank, return_inverse=True)
        needed, there = (np.bincount(place, weights=some, minlength=len(ranks)) for some in (None, found))
        return cls(of, by, ranks, needed, there)


def distinct_ranks(rank: Array) -> Array:
    """The ranks among these, ascending; most tables hold one."""
    return np.unique(rank[:1] if len(rank) and (rank == rank[0]).all() else rank)


def moments_by_rank(rank: Array, moment: Array) -> Moments:
    """The moments of each rank, ascending; those that are missing are left out."""
    known = moment != MISSING
    if not known.all():
        rank, moment = rank[known], moment[known]
    if not len(rank):
        return {}
    if len(distinct_ranks(rank)) == 1:
        return {int(rank[0]): np.sort(moment)}
    order = np.lexsort((moment, rank))
    ranks, begin = np.unique(rank[order], return_index=True)
    return dict(zip(ranks.tolist(), np.split(moment[order], begin[1:]), strict=True))


def longest_hole(there: Array) -> int:
    """How many that are not there follow each other at most, between two that are."""
    return int(np.diff(np.flatnonzero(there)).max(initial=1)) - 1


def count_moments(of: str, by: str, needing: Moments, there: Moments, apart: int = 0) -> Counted:
    """How many of the moments that need one are there, or no further apart than that."""
    none = np.zeros(0, np.int64)
    near = {rank: _are_near(asked, there.get(rank, none), apart) for rank, asked in needing.items()}
    return Counted.by_moment(of, by, near)


def _are_near(asked: Array, there: Array, apart: int) -> Array:
    """Which of these ascending moments are among those, which ascend too, or as near as that."""
    if not apart:
        return are_among(asked, there)
    low, high = np.searchsorted(there, asked - apart), np.searchsorted(there, asked + apart, "right")
    near: Array = high > low
    return near


def are_among(asked: Array, there: Array) -> Array:
    """Which of these ascending moments are among those, which ascend too."""
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


def rows_of_counts(run: Run, counts: Iterable[Counted]) -> Table[RankCoverage]:
    """One row for each count and rank, with the file or the table of the database that holds what is looked at.

    Ranks of a summary have none: one file tells all of it.
    """
    captures = {capture.rank: capture for capture in run.captures}
    summed = [rank for rank, capture in captures.items() if capture.source == "cluster"]

    def file_of(name: str, rank: int) -> str:
        text, database = FILES[name]
        capture = captures.get(rank)
        if capture is not None and capture.source == "database":
            return database
        if capture is not None and capture.source == "trace":
            return capture.source
        held_in = _TIMELINE if capture is not None and text in capture.absent else text
        return held_in if capture is None else capture.own_name(held_in)

    table = Table.concat(
        RankCoverage,
        [
            Table.build(
                RankCoverage,
                rank=count.ranks,
                of=count.of,
                by=count.by,
                needed=count.needed,
                found=count.found,
                hole=count.holes,
                file=[file_of(count.held_in or count.of, rank) for rank in count.ranks.tolist()],
            )
            for count in counts
        ],
    )
    return table.take(~np.isin(table["rank"], summed))
