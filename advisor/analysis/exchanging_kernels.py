# SPDX-License-Identifier: Apache-2.0
"""Kernels that exchange data with other ranks while they run: of MC2, of experts, collectives on vector cores."""

from __future__ import annotations

import numpy as np

from advisor.analysis.collective_calls import lie_outside_steps
from advisor.analysis.completeness import lacks_kernel_rows
from advisor.analysis.device import collective_times, kernel_times
from advisor.analysis.families import communicate_inside
from advisor.analysis.grouping import group_by
from advisor.analysis.intervals import covered_by_earlier, covered_ns, union
from advisor.analysis.overlap import stages_of
from advisor.facts.derived import ExchangingKernel, Overlap
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table
from advisor.model.run_of_ranks import RunOfRanks


def exchanging_kernels(
    run: RunOfRanks, kernels: Table[Kernel], collectives: Table[Collective] | None, split: Table[Overlap] | None = None
) -> Table[ExchangingKernel]:
    """Such kernels of the steps of a rank, with how long each has the device for itself.

    Those outside of the steps of a rank that numbers its steps are left out, and those of steps whose list of kernels
    lacks rows: which of the others such a one meets would be told wrongly.
    """
    events = kernel_times(kernels)
    inside = communicate_inside(kernels.texts("op_type"))[events.row]
    if not inside.any():
        return Table.empty(ExchangingKernel)
    row, start, end = (values[inside] for values in (events.row, events.start, events.end))
    rank, step = kernels["rank"][row], kernels["step"][row]
    own = covered_by_earlier(group_by(rank).of, start, end)
    bare = (end - start - own).astype(np.float64)
    other = kernels["rank"][events.row[~inside]], events.start[~inside], events.end[~inside]
    comm = None if collectives is None else collective_times(collectives)
    for one in np.unique(rank).tolist():
        here, beside = np.flatnonzero(rank == one), other[0] == one
        begins, ends = [other[1][beside]], [other[2][beside]]
        if collectives is not None and comm is not None:
            talking = collectives["rank"][comm.row] == one
            begins, ends = [*begins, comm.start[talking]], [*ends, comm.end[talking]]
        busy = union(np.concatenate(begins), np.concatenate(ends))
        bare[here] -= covered_ns(busy, start[here], end[here])
    counted = ~lie_outside_steps(rank, step) & ~lacks_kernel_rows(split, rank, step)
    return Table.build(
        ExchangingKernel,
        rank=rank,
        step=step,
        stage=stages_of(run, rank),
        op_type=kernels.texts("op_type").take(row),
        start_ns=start,
        elapse_us=(end - start) / 1e3,
        bare_us=np.maximum(bare, 0.0) / 1e3,
    ).take(np.flatnonzero(counted))
