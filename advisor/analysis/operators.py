# SPDX-License-Identifier: Apache-2.0
"""What the device computed: kernels by operator type, and by type and inputs, per step."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.completeness import incomplete
from advisor.analysis.device import COMM, KERNEL, Timeline, timeline
from advisor.analysis.grouping import Groups, grouped, row_at
from advisor.analysis.intervals import alone, unions
from advisor.facts.derived import OperatorShape, OperatorShare, Overlap
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts

CONVERSIONS = frozenset({"Cast", "TransData", "Transpose", "TransposeD", "TensorMove"})
"""Operators that change only data type or memory layout."""
_BACK_TO_BACK_NS = 20_000
"""Collectives that follow each other so closely wait for each other: they share a queue."""
_STOOD_NS = 20_000
"""A shorter pause before the end of a collective is one between kernels."""


class StepKernels(Struct, frozen=True):
    """The kernels that belong to a step, and per row how many steps its rank has and how long one of them is."""

    table: Table[Kernel]
    duration_us: Array
    steps: Array
    step_us: Array
    whole: Array
    """Whether these are all kernels of the steps they belong to."""
    row: Array
    """Row of `Timeline.work`."""

    def take(self, where: Array) -> StepKernels:
        columns = (self.duration_us, self.steps, self.step_us, self.whole, self.row)
        return StepKernels(self.table.take(where), *(column[where] for column in columns))


class Others(Struct, frozen=True):
    """Intervals on the clock of the device, with the cell they belong to."""

    cell: Array
    start: Array
    end: Array


def operators(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[OperatorShare]:
    """Kernels by rank and operator type; those whose type is unknown count in the whole but have no row.

    Steps whose list of kernels lacks rows are left out; where all of a rank do, what is listed counts, as a part of
    the step as the profiler summed it up, and what ran alone is missing.
    """
    device = timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    typed = np.flatnonzero(every.table.texts("op_type").codes >= 0)
    chosen = every.take(typed)
    table, duration = chosen.table, chosen.duration_us
    types = table.texts("op_type")
    groups = grouped(table["rank"], types)
    first = groups.first
    per_step = groups.sums(duration) / chosen.steps[first]
    names = types.take(first)
    row, whole = every.row[typed], every.whole[typed][first]

    def without(others: Others) -> Array:
        """What ran with none of them beside it, µs per step; missing where kernels are not all listed."""
        found = undisturbed(device, row, groups.of, len(groups), others)
        return np.where(whole, found, np.nan) / chosen.steps[first] / 1e3

    return Table.build(
        OperatorShare,
        rank=table["rank"][first],
        op_type=names,
        core=_main_core(groups, table.texts("core"), duration),
        conversion=names.isin(CONVERSIONS).astype(np.int8),
        calls=groups.sizes / chosen.steps[first],
        total_us=per_step,
        alone_us=without(communication(device)),
        unshared_us=without(awaited(device, collectives)),
        median_us=groups.medians(duration),
        longest_us=groups.largest(duration),
        kernel_share=ratio(per_step * chosen.steps[first], _of_whole(every)[typed][first]),
        step_share=ratio(per_step, chosen.step_us[first]),
        dynamic_share=_dynamic(groups, table.texts("op_state"), duration),
        shapes=_distinct(groups, table.texts("input_shapes")),
    )


def operator_shapes(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[OperatorShape]:
    """Kernels by rank, type, core and inputs. What Level0 does not record stays missing and makes no difference."""
    chosen = in_steps(timeline(kernels, collectives, None, windows), kernels, split)
    chosen = chosen.take(np.flatnonzero(chosen.table.texts("op_type").codes >= 0))
    table, duration = chosen.table, chosen.duration_us
    keys = ("op_type", "core", "input_shapes", "input_dtypes", "input_formats")
    groups = grouped(table["rank"], *(table.texts(key) for key in keys))
    first = groups.first
    mean = groups.means(duration)
    apart = groups.means((duration - mean[groups.of]) ** 2)
    shares = ("mac_share", "vector_share", "scalar_share", "mte2_share")
    return Table.build(
        OperatorShape,
        rank=table["rank"][first],
        **{key: table.texts(key).take(first) for key in keys},
        calls=groups.sizes / chosen.steps[first],
        total_us=groups.sums(duration) / chosen.steps[first],
        mean_us=mean,
        spread=ratio(np.sqrt(apart), mean),
        **{share: groups.means(table[share], duration) for share in shares},
        blocks=groups.smallest(table["blocks"]),
        step_share=ratio(groups.sums(duration) / chosen.steps[first], chosen.step_us[first]),
    )


def in_steps(device: Timeline, kernels: Table[Kernel], split: Table[Overlap] | None) -> StepKernels:
    cells, work = device.cells, device.work
    names, of = np.unique(cells.rank, return_inverse=True)
    whole = ~incomplete(split, cells.rank, cells.step)
    some = np.bincount(of[whole], minlength=len(names)) > 0
    counted = whole | ~some[of]
    mine = np.flatnonzero((work.kind == KERNEL) & counted[work.cell])
    rank = of[work.cell[mine]]
    per_rank = Groups(of[counted], np.zeros(len(names), np.intp))
    return StepKernels(
        kernels.take(work.row[mine]),
        (work.end[mine] - work.start[mine]) / 1e3,
        per_rank.sizes[rank],
        per_rank.means(np.where(whole, device.window.lengths / 1e3, _summed_up(device, split))[counted])[rank],
        some[rank],
        mine,
    )


def _summed_up(device: Timeline, split: Table[Overlap] | None) -> Array:
    """Per cell: its span as the split has it, µs; missing where it has none."""
    if split is None:
        return np.full(len(device.cells), np.nan)
    at = row_at(split["rank"], split["step"], device.cells.rank, device.cells.step)
    span: Array = np.append(split["span_us"], np.nan)[at]
    return span


def _of_whole(every: StepKernels) -> Array:
    """Per kernel: the time of all kernels of its rank."""
    groups = grouped(every.table["rank"])
    return groups.sums(every.duration_us)[groups.of]


def undisturbed(device: Timeline, row: Array, group: Array, groups: int, others: Others) -> Array:
    """Per group of kernels, ns in which neither another kernel nor anything of `others` ran beside it.

    `row` and `group` say which rows of the timeline's work belong to which group.
    """
    work = device.work
    owner = np.full(len(work.cell), groups)
    owner[row] = group
    kernel = np.flatnonzero(work.kind == KERNEL)
    rank = device.cells.rank[np.concatenate([work.cell[kernel], others.cell])]
    owner = np.concatenate([owner[kernel], np.full(len(others.cell), groups)])
    start, end = np.concatenate([work.start[kernel], others.start]), np.concatenate([work.end[kernel], others.end])
    found = np.zeros(groups + 1)
    for one in np.unique(rank).tolist():
        here = rank == one
        found += alone(owner[here], start[here], end[here], groups + 1)
    return found[:-1]


def communication(device: Timeline) -> Others:
    """All collectives."""
    rows = np.flatnonzero(device.work.kind == COMM)
    return Others(device.work.cell[rows], device.work.start[rows], device.work.end[rows])


def awaited(device: Timeline, collectives: Table[Collective] | None) -> Others:
    """Collectives, back to back ones as one, at whose end the device stood still: they would have taken as long with
    less beside them. Sends and receives are left out: how long those take is up to the other stage."""
    work = device.work
    rows = np.flatnonzero(work.kind == COMM)
    if collectives is not None:
        rows = rows[collectives["p2p"][work.row[rows]] != 1]
    cell, start, end = unions(work.cell[rows], work.start[rows], work.end[rows] + _BACK_TO_BACK_NS, len(device.cells))
    end = end - _BACK_TO_BACK_NS
    shift, busy = device.axis.shift[cell], device.compute
    if not len(busy):
        return Others(cell, start, end)
    last = np.searchsorted(busy.start, end + shift) - 1
    stood = np.where(last >= 0, end + shift - busy.end[np.maximum(last, 0)], _STOOD_NS)
    kept = stood >= _STOOD_NS
    return Others(cell[kept], start[kept], end[kept])


def ratio(part: Array, whole: Array) -> Array:
    """Part over whole; missing where the whole is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def _main_core(groups: Groups, cores: Texts, duration: Array) -> Texts:
    """Per group: the core on which it spent most time."""
    pairs = grouped(groups.of, cores)
    group, code = groups.of[pairs.first], cores.codes[pairs.first]
    order = np.lexsort((-pairs.sums(duration), code < 0, group))
    _, best = np.unique(group[order], return_index=True)
    return Texts(code[order][best], cores.names)


def _dynamic(groups: Groups, states: Texts, duration: Array) -> Array:
    """Part of each group's time in kernels with dynamic shape, of those whose state was recorded."""
    known = states.codes >= 0
    return ratio(groups.sums(duration * states.isin(["dynamic"])), groups.sums(duration * known))


def _distinct(groups: Groups, shapes: Texts) -> Array:
    """Distinct shapes per group; missing where none was recorded."""
    known = np.flatnonzero(shapes.codes >= 0)
    pairs = grouped(groups.of[known], shapes.take(known))
    count = np.bincount(groups.of[known[pairs.first]], minlength=len(groups)).astype(np.float64)
    return np.where(count > 0, count, np.nan)
