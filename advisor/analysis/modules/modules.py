# SPDX-License-Identifier: Apache-2.0
"""How much of the step each module of the model takes."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import ratio, row_of_key
from advisor.analysis.modules.module_calls import (
    BACKWARD,
    FORWARD,
    RECOMPUTE,
    ChargedWork,
    LaunchTables,
    Paths,
    charge_work,
)
from advisor.analysis.modules.module_tree import ModuleTree, merge_numbered
from advisor.analysis.operators.longest_inputs import parts_of_types
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.rooflines.kernel_peaks import KernelPeaks, peaks_of_kernels, share_of_peak
from advisor.analysis.steps.device import COMM, DeviceTimeline, build_timeline
from advisor.facts.derived import AttentionCall, ChipLimit, ModuleMarks, ModuleShare, ModuleType, Overlap
from advisor.facts.observed import (
    ModuleRange,
    StepWindow,
)
from advisor.facts.table import Array, Table, Texts


def modules(
    ranges: Table[ModuleRange],
    recorded: LaunchTables,
    *,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    limits: Table[ChipLimit] | None = None,
    attention: Table[AttentionCall] | None = None,
) -> Table[ModuleShare]:
    """One row per rank and module that launched work in a step, and one for what lies outside of all."""
    kernels, collectives = recorded.kernels, recorded.collectives
    work = charge_work(ranges, recorded)
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    sums, peaks = _ModuleSums(work.paths, merge_numbered(work)), peaks_of_kernels(kernels, limits, attention)
    ranks = np.unique(every.table["rank"]).tolist()
    return Table.concat(ModuleShare, [_modules_of_rank(rank, work, sums, device, every, peaks) for rank in ranks])


class _ModuleSums(Struct, frozen=True):
    """Sums over work by the modules it belongs to."""

    paths: Paths
    tree: ModuleTree

    def own(self, path: Array, values: Array) -> Array:
        """Per module of the tree: of the work that belongs to it and to none inside of it."""
        return self._merged(np.bincount(path, weights=values, minlength=len(self.paths)))

    def whole(self, path: Array, values: Array) -> Array:
        """Per module of the tree: with all inside of it. Paths stand behind the one they lie in."""
        found = np.bincount(path, weights=values, minlength=len(self.paths)).astype(np.float64)
        for inner in range(len(self.paths) - 1, 0, -1):
            if self.paths.parent[inner] > 0:
                found[self.paths.parent[inner]] += found[inner]
        return self._merged(found)

    def _merged(self, values: Array) -> Array:
        return np.bincount(self.tree.of, weights=values, minlength=len(self.tree.path))


def _modules_of_rank(  # noqa: PLR0917 - what all ranks share
    rank: int, work: ChargedWork, sums: _ModuleSums, device: DeviceTimeline, every: StepKernels, peaks: KernelPeaks
) -> Table[ModuleShare]:
    mine = np.flatnonzero(every.table["rank"] == rank)
    row, steps = device.work.row[every.row[mine]], every.steps[mine[0]]
    path, phase, us = work.path[row], work.phase[row], every.duration_us[mine] / steps
    total, tree = sums.whole(path, us), sums.tree
    forward, backward, recompute = (sums.whole(path, us * (phase == one)) for one in (FORWARD, BACKWARD, RECOMPUTE))
    collectives = _collective_us(np.unique(device.work.cell[every.row[mine]]), work, sums, device) / steps
    share = ratio(total, np.full(len(total), us.sum()))
    inside = np.arange(len(total)) > 0
    multiplied, moved = (add_up(lambda us: sums.whole(path, us[row])) for add_up in (peaks.sums, peaks.sums_of_memory))
    table = Table.build(
        ModuleShare,
        rank=rank,
        module=[path or None for path in tree.path],
        parent=[tree.path[parent] or None for parent in tree.parent],
        name=[name or None for name in tree.name],
        depth=np.array(tree.depth),
        instances=np.where(inside, np.bincount(tree.of, minlength=len(total)), np.nan),
        kernels=sums.whole(path, np.full(len(path), 1 / steps)),
        total_us=total,
        own_us=sums.own(path, us),
        forward_us=np.where(inside, forward, np.nan),
        backward_us=np.where(inside, backward, np.nan),
        recompute_us=np.where(inside, recompute, np.nan),
        comm_us=collectives,
        kernel_share=share,
        step_share=ratio(total * every.once[mine[0]], np.full(len(total), every.step_us[mine[0]])),
        mfu=share_of_peak(multiplied, total * steps),
        bandwidth_share=share_of_peak(moved, total * steps),
        child_share=ratio(_largest_child(total, tree), total),
    )
    return table.take(np.flatnonzero((total > 0) | (collectives > 0)))


def _collective_us(cells: Array, work: ChargedWork, sums: _ModuleSums, device: DeviceTimeline) -> Array:
    """Per module of the tree: the time of its collectives in these steps, µs."""
    held = device.work
    rows = np.flatnonzero((held.kind == COMM) & np.isin(held.cell, cells))
    return sums.whole(work.path[work.kernels + held.row[rows]], (held.end[rows] - held.start[rows]) / 1e3)


def _largest_child(total: Array, tree: ModuleTree) -> Array:
    found = np.zeros(len(total))
    inner = np.array(tree.parent) > 0
    np.maximum.at(found, np.array(tree.parent)[inner], total[inner])
    return found


def module_types(
    ranges: Table[ModuleRange],
    recorded: LaunchTables,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[ModuleType]:
    """One row per rank, operator type, inputs and innermost module that launched such kernels; longest first."""
    kernels, collectives = recorded.kernels, recorded.collectives
    work = charge_work(ranges, recorded)
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    module = modules_in_steps(work, device, every)
    first, columns = parts_of_types(every.table, every.duration_us / every.steps, module)
    return Table.build(ModuleType, **columns, module=module.take(first))


def modules_in_steps(work: ChargedWork, device: DeviceTimeline, every: StepKernels) -> Texts:
    """Per kernel of the steps: the innermost module that launched it, missing outside of all."""
    tree = merge_numbered(work)
    return Texts.of(path or None for path in tree.path).take(tree.of[work.path[device.work.row[every.row]]])


def module_marks(
    ranges: Table[ModuleRange],
    recorded: LaunchTables,
) -> Table[ModuleMarks]:
    """One row per rank whose modules were marked."""
    work = charge_work(ranges, recorded)
    ranks, first, of = np.unique(ranges["rank"], return_index=True, return_inverse=True)
    mine = row_of_key(ranks, work.rank[: work.kernels])
    us = work.duration_us[: work.kernels]

    def time(where: Array) -> Array:
        counted = (mine >= 0) & where[: work.kernels]
        return np.bincount(mine[counted], weights=us[counted], minlength=len(ranks))

    whole = time(np.ones(len(work.rank), bool))
    return Table.build(
        ModuleMarks,
        rank=ranks,
        source=ranges.texts("source").take(first),
        ranges=np.bincount(of, minlength=len(ranks)),
        crossing=np.bincount(of[work.crossing], minlength=len(ranks)),
        backward=np.bincount(row_of_key(ranks, work.backward) + 1, minlength=len(ranks) + 1)[1:],
        kernel_us=whole,
        linked_share=ratio(time(work.linked), whole),
        inside_share=ratio(time(work.path > 0), whole),
    )
