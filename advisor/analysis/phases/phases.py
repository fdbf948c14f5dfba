# SPDX-License-Identifier: Apache-2.0
"""The phases of MindSpore's steps, rank by rank, beside the peers and the queues that the batches come from."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.arrays.intervals import axis_of_cells, covered_ns, union
from advisor.analysis.phases.queue_looks import of_waiting_steps, telling_looks, wait_long
from advisor.analysis.steps.device import DAY_NS
from advisor.analysis.steps.overlap import stages_of
from advisor.facts.base import MISSING
from advisor.facts.derived import BatchWait, RankPhase
from advisor.facts.observed import BatchQueue, Collective, DataFetch, HostCpu, StepPhase
from advisor.facts.table import Array, Table, ascending
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

_MEANS = ("whole_us", "interval_us", "forward_backward_us", "tail_us", "receive_us", "collective_us")
_BESIDE = ("interval_us", "forward_backward_us", "tail_us")


def rank_phases(  # noqa: PLR0917 - a step, and what feeds it
    run: RunOfRanks,
    phases: Table[StepPhase] | None,
    queues: Table[BatchQueue] | None,
    fetches: Table[DataFetch] | None,
    collectives: Table[Collective] | None,
    processors: Table[HostCpu] | None,
    waits: Table[BatchWait] | None = None,
) -> Table[RankPhase]:
    """One row per rank of which phases or queues were recorded.

    Raises:
        FactMissing: Neither was.
    """
    if phases is None and queues is None:
        old = any(capture.export.phases_alone for capture in run.captures.values())
        raise FactMissing([StepPhase.table if old else BatchQueue.table])  # the present profiler records no phases
    counted = Table.empty(StepPhase) if phases is None else phases.take(phases["first"] != 1)
    listed = [counted["rank"], *([] if queues is None else [queues["rank"]])]
    rank = np.unique(np.concatenate(listed))
    means = _means_of_ranks(rank, counted)
    stage = stages_of(run, rank)
    peers = group_by(stage)
    return Table.build(
        RankPhase,
        rank=rank,
        stage=stage,
        layout=counted.texts("layout").take(row_of_key(counted["rank"], rank)) if len(counted) else None,
        peers=peers.sizes[peers.of] - 1.0,
        **means,
        **_longest_intervals(rank, counted),
        tail_comm_us=_tails_in_collectives(rank, counted, collectives),
        **{f"peer_{name}": peers.medians_of_others(means[name]) for name in _BESIDE},
        **_looks_at_queues(rank, queues, counted),
        **_fetches_of_ranks(rank, counted, fetches),
        batch_us=_of_rank(rank, waits, "taken_us"),
        batch_wait_us=_of_rank(rank, waits, "waited_us"),
        busy_cpu_share=_of_rank(rank, processors, "busy_share"),
    )


def _means_of_ranks(rank: Array, counted: Table[StepPhase]) -> dict[str, Array]:
    if not len(counted):
        return {name: np.full(len(rank), np.nan) for name in _MEANS}
    ranks = group_by(counted["rank"])
    at = row_of_key(counted["rank"][ranks.first], rank)
    return {name: np.append(ranks.means(counted[name]), np.nan)[at] for name in _MEANS}


def _longest_intervals(rank: Array, counted: Table[StepPhase]) -> dict[str, Array]:
    """Per rank: how many steps count, the longest interval, and how many are like it."""
    ranks, interval = group_by(counted["rank"]), counted["interval_us"]
    longest = ranks.largest(interval)
    like = ranks.sums(wait_long(counted).astype(np.float64))
    at = row_of_key(counted["rank"][ranks.first], rank)
    return {
        "steps": np.append(ranks.sizes, 0.0)[at],
        "longest_interval_us": np.append(longest, np.nan)[at],
        "long_intervals": np.append(like, 0.0)[at],
    }


def _of_rank(rank: Array, told: Table[HostCpu] | Table[BatchWait] | None, name: str) -> Array:
    if told is None or not len(told):
        return np.full(len(rank), np.nan)
    found: Array = np.append(told[name], np.nan)[row_of_key(told["rank"], rank)]
    return found


def _looks_at_queues(rank: Array, queues: Table[BatchQueue] | None, counted: Table[StepPhase]) -> dict[str, Array]:
    """Per rank how often each queue was looked at, and in which part of the looks it was empty, of those that tell."""
    queues = Table.empty(BatchQueue) if queues is None else queues
    known = np.isin(rank, queues["rank"])
    sunk = np.isin(rank, queues["rank"][queues["sunk"] == 1])
    sized = queues.take(~np.isnan(queues["size"]))
    some_wait = np.isin(rank, sized["rank"][of_waiting_steps(sized, counted)])
    found: dict[str, Array] = {"some_wait": some_wait.astype(np.int8)}
    told = telling_looks(sized, counted)
    at = np.searchsorted(rank, told["rank"])
    for name in ("host", "device"):
        here = told.texts("queue").isin([name])
        looks = np.bincount(at[here], minlength=len(rank)).astype(np.float64)
        empty = np.bincount(at[here & (told["size"] == 0)], minlength=len(rank))
        found |= {f"{name}_looks": looks, f"{name}_empty_share": ratio(empty, looks)}
    return {**found, "sunk": np.where(known, sunk, _agreed(sunk[known])).astype(np.int8)}


def _agreed(flags: Array) -> int:
    """What all say; -1 where they do not agree, or none says anything."""
    said = np.unique(flags)
    return int(said[0]) if len(said) == 1 else -1


def _tails_in_collectives(rank: Array, counted: Table[StepPhase], collectives: Table[Collective] | None) -> Array:
    """Per rank: the part of the mean tail in which a collective runs, µs; missing where none has a time.

    Steps in which no collective was recorded, while it was in others, do not count.
    """
    if collectives is None:
        return np.full(len(rank), np.nan)
    counted = counted.take(_have_collectives(counted, collectives))
    end = _after(counted["start_ns"], counted["whole_us"])
    tails = Stretches(counted["rank"], _after(end, -counted["tail_us"]), end)
    running = Stretches(
        collectives["rank"], collectives["start_ns"], _after(collectives["start_ns"], collectives["elapse_us"])
    )
    return _mean_inside(rank, tails, running)


def _have_collectives(counted: Table[StepPhase], collectives: Table[Collective]) -> Array:
    """Per step: whether a collective of its rank begins in it."""
    end, found = _after(counted["start_ns"], counted["whole_us"]), np.zeros(len(counted), bool)
    for rank in np.unique(counted["rank"]).tolist():
        own = np.flatnonzero((counted["rank"] == rank) & (end != MISSING))
        begun = ascending(collectives["start_ns"][collectives["rank"] == rank])
        before = np.searchsorted(begun, counted["start_ns"][own])
        found[own] = np.searchsorted(begun, end[own]) > before
    return found


def _fetches_of_ranks(rank: Array, counted: Table[StepPhase], fetches: Table[DataFetch] | None) -> dict[str, Array]:
    """Per rank: one GetNext on average, and per step how long it runs within iteration intervals, µs."""
    unknown = np.full(len(rank), np.nan)
    if fetches is None or not len(fetches):
        return {"fetch_us": unknown, "late_fetch_us": unknown}
    ranks = group_by(fetches["rank"])
    at = row_of_key(fetches["rank"][ranks.first], rank)
    start = counted["start_ns"]
    intervals = Stretches(counted["rank"], start, _after(start, counted["interval_us"]))
    running = Stretches(fetches["rank"], fetches["start_ns"], _after(fetches["start_ns"], fetches["duration_us"]))
    return {
        "fetch_us": np.append(ranks.means(fetches["duration_us"]), np.nan)[at],
        "late_fetch_us": _mean_inside(rank, intervals, running),
    }


class Stretches(Struct, frozen=True):
    """Stretches of time of ranks; one that has no start or no end is MISSING there."""

    rank: Array
    start: Array
    end: Array

    def timed(self, ranks: Array, middle: Array) -> Stretches:
        """Those of these ranks, ascending, that lie within a day of the middle of each: others have a damaged clock."""
        at = row_of_key(ranks, self.rank)
        known = (at >= 0) & (self.start != MISSING) & (self.end != MISSING) & (self.end >= self.start)
        off = np.abs(self.start.astype(np.float64) - np.append(middle, np.nan)[at])
        kept = np.flatnonzero(known & (off < DAY_NS) & (np.where(known, self.end - self.start, 0) < DAY_NS))
        return Stretches(at[kept], self.start[kept], self.end[kept])


def _after(start: Array, us: Array) -> Array:
    """So long after a moment, ns; MISSING where either is missing."""
    known = (start != MISSING) & (np.abs(us) < DAY_NS / 1e3)
    lasts = np.rint(np.where(known, us, 0) * 1e3).astype(np.int64)
    found: Array = np.where(known, np.where(known, start, 0) + lasts, MISSING)
    return found


def _mean_inside(rank: Array, windows: Stretches, running: Stretches) -> Array:
    """Per rank: how much of its windows something runs in, µs, on average; missing where none of either has a time."""
    owners = group_by(windows.rank)
    names = windows.rank[owners.first]
    starts = np.where(windows.start == MISSING, np.nan, windows.start.astype(np.float64))
    middle = owners.medians(starts)
    windows, running = windows.timed(names, middle), running.timed(names, middle)
    owner, start, end = (np.concatenate(pair) for pair in zip(_columns(windows), _columns(running), strict=True))
    shift = axis_of_cells(owner, start, end, len(names)).shift
    busy = union(running.start + shift[running.rank], running.end + shift[running.rank])
    inside = covered_ns(busy, windows.start + shift[windows.rank], windows.end + shift[windows.rank]) / 1e3
    count = np.bincount(windows.rank, minlength=len(names))
    seen = (count > 0) & (np.bincount(running.rank, minlength=len(names)) > 0)
    means = np.where(seen, ratio(np.bincount(windows.rank, weights=inside, minlength=len(names)), count), np.nan)
    found: Array = np.append(means, np.nan)[row_of_key(names, rank)]
    return found


def _columns(stretches: Stretches) -> tuple[Array, Array, Array]:
    return stretches.rank, stretches.start, stretches.end
