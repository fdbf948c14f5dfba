# SPDX-License-Identifier: Apache-2.0
"""What the profiler summed up itself, beside what the events add up to: witnesses of whether all was read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from advisor.analysis.arrays.grouping import row_of_key
from advisor.analysis.arrays.intervals import Spans, axis_of_cells, subtract, union
from advisor.analysis.steps.device import collective_times, drive_collectives, kernel_times
from advisor.facts.derived import Overlap, Witness
from advisor.facts.observed import Collective, Kernel, OperatorTotal, OverlapTrack
from advisor.facts.table import Array, Table

_PARTS = ("compute", "exposed_comm")
_ROUNDED_US = 1e-3
"""A nanosecond: sums that differ by less were added up in another order."""


def witnesses(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    split: Table[Overlap],
    track: Table[OverlapTrack] | None,
    totals: Table[OperatorTotal] | None,
) -> Table[Witness]:
    """Each sum beside what was found, of the ranks whose list of kernels is not known to lack rows."""
    found = []
    if track is not None:
        found.append(_witness_by_track(kernels, collectives, track))
    if totals is not None:
        found.append(_witness_by_totals(kernels, totals))
    found.append(_witness_by_steps(split))
    table = Table.concat(Witness, found).sorted_by("rank")
    cut = split.take((split["listed_us"] < split["compute_us"]) | split.texts("source").isin(["incomplete"]))
    lacking = cut.take(cut.texts("source").isin(["recorded", "incomplete"]))
    return table.take(~np.isin(table["rank"], lacking["rank"]))


def _witness_by_track(
    kernels: Table[Kernel], collectives: Table[Collective] | None, track: Table[OverlapTrack]
) -> Table[Witness]:
    """The overlap track of each rank beside all its kernels and collectives, those outside of every step too."""
    ranks = track["rank"]
    compute, comm = (
        _per_rank(parts, ranks) for parts in (_kernel_intervals(kernels), _collective_intervals(collectives))
    )
    of, start, end = (np.concatenate(columns) for columns in zip(compute, comm, strict=True))
    axis = axis_of_cells(of, start, end, len(ranks))
    busy, talking = (union(start + axis.shift[of], end + axis.shift[of]) for of, start, end in (compute, comm))

    def lengths(spans: Spans) -> Array:
        return np.bincount(axis.owner(spans.start), weights=spans.lengths, minlength=len(ranks)) / 1e3

    whole = track["compute_us"] + track["exposed_comm_us"] + track["free_us"]
    parts = dict(zip(_PARTS, (lengths(busy), lengths(subtract(talking, busy))), strict=True))
    if collectives is None:
        del parts["exposed_comm"]
    said = {part: track[f"{part}_us"] for part in parts}
    return _side_by_side("overlap_analysis", ranks, said, parts, whole)


def _witness_by_totals(kernels: Table[Kernel], totals: Table[OperatorTotal]) -> Table[Witness]:
    """The totals of operators beside the durations of all kernels. Totals that leave out whole cores are no witness."""
    totals = totals.take(~drive_collectives(totals.texts("op_type")))
    listed = kernel_times(kernels).row
    ranks = np.unique(totals["rank"])
    ranks = ranks[np.isin(ranks, kernels["rank"])]
    said = _sum_by_rank(totals["rank"], totals["total_us"], ranks)
    found = _sum_by_rank(kernels["rank"][listed], kernels["duration_us"][listed], ranks)
    table = Table.build(
        Witness, rank=ranks, witness="op_statistic", part="compute", said_us=said, found_us=found, whole_us=said
    )
    return table.take(said > found - _ROUNDED_US)


def _witness_by_steps(split: Table[Overlap]) -> Table[Witness]:
    """The profiler's sums of the steps whose kernels or collectives say something else."""
    other = split.take(split.texts("source").isin(["recorded"]) & ~np.isnan(split["listed_us"]))
    ranks = np.unique(other["rank"])
    said = {part: _sum_by_rank(other["rank"], other[f"{part}_us"], ranks) for part in _PARTS}
    found = (_sum_by_rank(other["rank"], other[name], ranks) for name in ("listed_us", "listed_exposed_us"))
    whole = _sum_by_rank(other["rank"], other["span_us"], ranks)
    return _side_by_side("step_trace_time", ranks, said, dict(zip(_PARTS, found, strict=True)), whole)


def _side_by_side(
    witness: str, ranks: Array, said: Mapping[str, Array], found: Mapping[str, Array], whole: Array
) -> Table[Witness]:
    """One row per rank and part of the time: what a witness says of it, and what was found, µs."""
    return Table.concat(
        Witness,
        [
            Table.build(
                Witness, rank=ranks, witness=witness, part=part, said_us=said[part], found_us=us, whole_us=whole
            )
            for part, us in found.items()
        ],
    )


_Intervals = tuple[Array, Array, Array]


def _kernel_intervals(kernels: Table[Kernel]) -> _Intervals:
    """Rank, start and end."""
    events = kernel_times(kernels)
    return kernels["rank"][events.row], events.start, events.end


def _collective_intervals(collectives: Table[Collective] | None) -> _Intervals:
    """Rank, start and end."""
    collectives = Table.empty(Collective) if collectives is None else collectives
    events = collective_times(collectives)
    return collectives["rank"][events.row], events.start, events.end


def _per_rank(intervals: _Intervals, ranks: Array) -> _Intervals:
    """The intervals of these ranks, by position among them."""
    rank, start, end = intervals
    of = row_of_key(ranks, rank)
    return of[of >= 0], start[of >= 0], end[of >= 0]


def _sum_by_rank(rank: Array, values: Array, ranks: Array) -> Array:
    of = row_of_key(ranks, rank)
    return np.bincount(of[of >= 0], weights=values[of >= 0], minlength=len(ranks))
