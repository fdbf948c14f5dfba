# SPDX-License-Identifier: Apache-2.0
"""Between which operators exposed collectives stand: what made the data they exchange, and what waits for it."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.arrays.intervals import axis_of_cells
from advisor.analysis.rooflines.families import families_of
from advisor.analysis.steps.device import collective_times, kernel_times
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, CollectivePlace
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, values_at
from advisor.model.run_of_ranks import RunOfRanks

_PREPARES = "movement"


def collective_places(run: RunOfRanks, calls: Table[CollectiveCall], kernels: Table[Kernel]) -> Table[CollectivePlace]:
    """Exposed collectives by kind and by the types of the operators around them, per step."""
    bare = calls.take(np.flatnonzero((calls["p2p"] != 1) & (2 * calls["exposed_us"] > calls["elapse_us"])))
    before, after = _rows_around(bare, kernels)
    types, names = kernels.texts("op_type"), kernels.texts("op_name")
    types_before, types_after = types.at(before), types.at(after)
    kinds = (bare.texts("op"), bare.texts("group_kind"))
    places = group_by(bare["rank"], *kinds, types_before, types_after)
    worst = places.first_rows(bare["start_ns"], -bare["exposed_us"])
    steps = _steps_of_ranks(run, kernels, bare["rank"][worst])
    moved = bare["bus_bytes"]
    waited = np.minimum(np.nan_to_num(bare["wait_us"]), bare["exposed_us"])
    return Table.build(
        CollectivePlace,
        rank=bare["rank"][worst],
        op=kinds[0].take(worst),
        group_kind=kinds[1].take(worst),
        before=types_before.take(worst),
        after=types_after.take(worst),
        before_name=names.at(before[worst]).in_use(),
        after_name=names.at(after[worst]).in_use(),
        calls=places.sizes / steps,
        exposed_us=places.sums(bare["exposed_us"]) / steps,
        unwaited_us=places.sums(bare["exposed_us"] - waited) / steps,
        size_bytes=places.means(bare["size_bytes"]) * places.sizes / steps,
        bus_gbps=ratio(places.sums(moved), places.sums(np.where(np.isnan(moved), np.nan, bare["elapse_us"])) * 1e3),
    )


def _steps_of_ranks(run: RunOfRanks, kernels: Table[Kernel], rank: Array) -> Array:
    """Per entry: of how many steps of its rank kernels were listed; 1 where the run has none."""
    if not run.steps:
        return np.ones(len(rank), np.int64)
    numbered = kernels["step"] != MISSING
    steps = group_by(kernels["rank"][numbered], kernels["step"][numbered]).first
    ranks, count = np.unique(kernels["rank"][numbered][steps], return_counts=True)
    return values_at(count, row_of_key(ranks, rank), 1)


def _rows_around(calls: Table[CollectiveCall], kernels: Table[Kernel]) -> tuple[Array, Array]:
    """Per call the rows of the kernel that began last before it and of the first after its end, of its rank and step.

    -1 where there is none. What only moves data, and types nobody recorded, are passed over.
    """
    before, after = (np.full(len(calls), -1) for _ in range(2))
    families = families_of(kernels.texts("op_type"), kernels.texts("core"))
    work, timed = kernel_times(kernels), collective_times(calls)
    work = work.take((families.codes >= 0)[work.row] & ~families.isin([_PREPARES])[work.row])
    cells = group_by(*(np.concatenate([kernels[key][work.row], calls[key][timed.row]]) for key in ("rank", "step")))
    start, end = (np.concatenate(both) for both in ((work.start, timed.start), (work.end, timed.end)))
    axis = axis_of_cells(cells.of, start, end, len(cells))
    of_work, of_calls = cells.of[: len(work.row)], cells.of[len(work.row) :]
    begun, moved = work.start + axis.shift[of_work], axis.shift[of_calls]
    order = np.argsort(begun, kind="stable")
    last = np.searchsorted(begun[order], timed.start + moved, "right") - 1
    first = np.searchsorted(begun[order], timed.end + moved, "left")
    for found, at in ((before, last), (after, first)):
        near = values_at(order, at, -1)  # beside the first and the last kernel of a step is one of another
        own = values_at(of_work, near, -1) == of_calls
        found[timed.row[own]] = work.row[near[own]]
    return before, after
