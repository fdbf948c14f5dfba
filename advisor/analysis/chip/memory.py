# SPDX-License-Identifier: Apache-2.0
"""The most device memory that was held: by each component, at which moment, by each module and operator."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, row_of_key
from advisor.analysis.arrays.intervals import SLICES, edges_of_slices
from advisor.analysis.steps.device import believable_moments
from advisor.chips.known_chips import ChipTable
from advisor.facts.base import MISSING
from advisor.facts.derived import ChipLimit, MemoryCourse, MemoryHolder, MemoryPeak, ModulePeak
from advisor.facts.observed import Device, MemoryUse, ModuleMemory, OperatorMemory
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.model.run_of_ranks import RunOfRanks


def memory_peaks(
    run: RunOfRanks,
    chips: ChipTable,
    uses: Table[MemoryUse],
    devices: Table[Device] | None,
    limits: Table[ChipLimit] | None = None,
) -> Table[MemoryPeak]:
    """One row per rank and component, at its first moment of most reserved (else allocated) memory.

    What a device holds is what its capture says, else what the name of the chip tells, else what its cores tell; none
    of it where more was taken than that, for then it is another chip.
    """
    held = np.where(np.isnan(uses["reserved_bytes"]), uses["allocated_bytes"], uses["reserved_bytes"])
    known = ~np.isnan(held) & (uses["time_ns"] != MISSING)
    uses, held = uses.take(known), held[known]  # as a rule all of them, and then nothing is copied
    groups = group_by(uses["rank"], uses.texts("component"))
    most = np.flatnonzero(held == groups.largest(held)[groups.of])
    time, earliest = uses["time_ns"][most], np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(earliest, groups.of[most], time)
    most = most[time == earliest[groups.of[most]]]
    most = most[group_by(groups.of[most]).first]
    of_peak, held, peak = groups.of[most], held[most], most
    rank = uses["rank"][peak]
    capacity = _capacities(rank, chips.known_of(run.chip).memory_bytes, devices, limits)
    ranks = group_by(rank)
    contradicted = ranks.largest(held)[ranks.of] > capacity
    return Table.build(
        MemoryPeak,
        rank=rank,
        component=uses.texts("component").take(peak),
        reserved_bytes=uses["reserved_bytes"][peak],
        allocated_bytes=uses["allocated_bytes"][peak],
        largest_allocated_bytes=groups.largest(uses["allocated_bytes"])[of_peak],
        largest_used_bytes=groups.largest(np.fmax(uses["allocated_bytes"], uses["active_bytes"]))[of_peak],
        capacity_bytes=np.where(contradicted, np.nan, capacity),
        time_ns=uses["time_ns"][peak],
    )


def _capacities(ranks: Array, by_name: float, devices: Table[Device] | None, limits: Table[ChipLimit] | None) -> Array:
    """The memory of the device of each rank."""
    recorded, by_cores = (_memory_of_ranks(table, ranks) for table in (devices, limits))
    named = np.where(np.isnan(recorded), by_name, recorded)
    return np.where(np.isnan(named), by_cores, named)


def _memory_of_ranks(table: Table[Device] | Table[ChipLimit] | None, ranks: Array) -> Array:
    if table is None:
        return np.full(len(ranks), np.nan)
    return values_at(table["memory_bytes"], row_of_key(table["rank"], ranks), np.nan)


def memory_courses(uses: Table[MemoryUse]) -> Table[MemoryCourse]:
    """`SLICES` rows for each rank that was looked at for so many ns; what was held goes on until it is told anew.

    Rows without a believable time are left out.
    """
    told = np.isfinite(uses["allocated_bytes"]) | np.isfinite(uses["reserved_bytes"])
    near, _ = believable_moments(uses["time_ns"], told & (uses["time_ns"] != MISSING))
    uses = _of_leading_component(uses.take(np.flatnonzero(near)))
    uses = uses.take(np.lexsort((uses["time_ns"], uses["rank"])))
    ranks = group_by(uses["rank"])
    first = np.searchsorted(ranks.of, np.arange(len(ranks)))
    begin, end = uses["time_ns"][first], uses["time_ns"][first + ranks.sizes - 1]
    edge = edges_of_slices(begin, end - begin)
    long = np.flatnonzero(end - begin >= SLICES)
    of = ranks.of
    at = np.minimum((uses["time_ns"] - begin[of]) * SLICES // np.maximum(end - begin, 1)[of], SLICES - 1)
    most = [
        _held_in_slices(of * SLICES + at, uses[name], len(ranks))[long].ravel()
        for name in ("allocated_bytes", "reserved_bytes")
    ]
    return Table.build(
        MemoryCourse,
        rank=np.repeat(uses["rank"][first][long], SLICES),
        component=uses.texts("component").take(np.repeat(first[long], SLICES)),
        from_us=(edge[long, :-1] - begin[long, None]).ravel() / 1e3,
        to_us=(edge[long, 1:] - begin[long, None]).ravel() / 1e3,
        allocated_bytes=most[0],
        reserved_bytes=most[1],
    )


def _of_leading_component(uses: Table[MemoryUse]) -> Table[MemoryUse]:
    """Of each rank the rows of the component that reserved most; of those with allocations where there are any."""
    pairs = group_by(uses["rank"], uses.texts("component"))
    allocated, reserved = (pairs.largest(uses[name]) for name in ("allocated_bytes", "reserved_bytes"))
    rank = uses["rank"][pairs.first]
    order = np.lexsort((-np.nan_to_num(reserved, nan=-1.0), np.isnan(allocated), rank))
    _, leading = np.unique(rank[order], return_index=True)
    return uses.take(np.flatnonzero(np.isin(pairs.of, order[leading])))


def _held_in_slices(place: Array, held: Array, ranks: int) -> Array:
    """The most in each slice of each rank, and what it began with: the last that was told before it.

    `place` ascends; the result has a row per rank.
    """
    most = np.full(ranks * SLICES, -np.inf)
    np.fmax.at(most, place, held)
    known = np.flatnonzero(np.isfinite(held))
    last = np.full(ranks * SLICES, -1)
    last[place[known]] = known  # of several in one slice the last
    told = np.maximum.accumulate(last.reshape(ranks, SLICES), axis=1)
    before = np.concatenate([np.full((ranks, 1), -1), told[:, :-1]], axis=1)
    carried = np.where(before >= 0, values_at(held, before.ravel(), np.nan).reshape(before.shape), -np.inf)
    found: Array = np.maximum(most.reshape(ranks, SLICES), carried)
    return np.where(np.isneginf(found), np.nan, found)


def memory_holders(allocations: Table[OperatorMemory]) -> Table[MemoryHolder]:
    """One row per rank and operator that held memory when most was held; of several such moments the first."""
    held = held_at_peak(allocations)
    return Table.build(MemoryHolder, **sums_of_holders(held, group_by(held["rank"], held.texts("name"))))


def sums_of_holders(held: Table[OperatorMemory], groups: Groups) -> dict[str, Array | Texts]:
    """The columns that tables of holders have in common, by group of allocations; each of one rank and operator."""
    rank, total = held["rank"][groups.first], groups.sums(held["size_bytes"])
    ranks = group_by(rank)
    return {
        "rank": rank,
        "name": held.texts("name").take(groups.first),
        "held_bytes": total,
        "allocations": groups.sizes,
        "largest_bytes": groups.largest(held["size_bytes"]),
        "held_share": total / ranks.sums(total)[ranks.of],
    }


def held_at_peak(allocations: Table[OperatorMemory]) -> Table[OperatorMemory]:
    """The allocations that were held when most was held on their rank; of several such moments the first."""
    known = (allocations["allocated_ns"] != MISSING) & (allocations["size_bytes"] > 0)
    allocations = allocations.take(np.flatnonzero(known))
    return allocations.take(_is_held_at_peak(allocations))


def _is_held_at_peak(allocations: Table[OperatorMemory]) -> Array:
    """Per allocation: whether it was held when its rank held most. What ends at a moment makes room for what begins."""
    begin, end = allocations["allocated_ns"], allocations["released_ns"]
    size = np.nan_to_num(allocations["size_bytes"], nan=0.0, posinf=0.0, neginf=0.0)
    released = end != MISSING
    rank = np.concatenate([allocations["rank"][released], allocations["rank"]])
    moment, change = np.concatenate([end[released], begin]), np.concatenate([-size[released], size])
    order = np.lexsort((moment, rank))  # of what is at one moment, first what ends
    ranks = group_by(rank[order])
    running = np.cumsum(change[order])
    first = np.searchsorted(ranks.of, np.arange(len(ranks)))
    running -= np.append(0.0, running)[first][ranks.of]
    most = ranks.largest(running)
    at_most = np.flatnonzero(running >= most[ranks.of])
    _, where = np.unique(ranks.of[at_most], return_index=True)
    peak = moment[order][at_most[where]]
    own = peak[row_of_key(rank[order][first], allocations["rank"])] if len(peak) else begin
    held: Array = (begin <= own) & (~released | (end > own))
    return held


def module_peaks(uses: Table[ModuleMemory]) -> Table[ModulePeak]:
    """One row per rank and module."""
    groups = group_by(uses["rank"], uses.texts("component"))
    return Table.build(
        ModulePeak,
        rank=uses["rank"][groups.first],
        component=uses.texts("component").take(groups.first),
        most_bytes=groups.largest(uses["reserved_bytes"]),
    )
