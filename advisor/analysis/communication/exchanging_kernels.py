# SPDX-License-Identifier: Apache-2.0
"""Kernels that exchange data with other ranks while they run: of MC2, of experts, collectives on vector cores."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.intervals import union
from advisor.analysis.idle.spending import charged_ns
from advisor.analysis.rooflines.families import communicate_inside
from advisor.analysis.steps.cells import lie_outside_steps
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import collective_times, kernel_times
from advisor.analysis.steps.overlap import stages_of
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
    others, comm = events.take(~inside), None if collectives is None else collective_times(collectives)
    bare = np.zeros(len(row))
    for one in np.unique(rank).tolist():
        here, beside = rank == one, [others.take(kernels["rank"][others.row] == one)]
        if collectives is not None and comm is not None:
            beside.append(comm.take(collectives["rank"][comm.row] == one))
        busy = union(*(np.concatenate([getattr(part, edge) for part in beside]) for edge in ("start", "end")))
        bare[here] = charged_ns(start[here], end[here], busy) / 1e3
    counted = ~lie_outside_steps(rank, step) & ~lacks_kernel_rows(split, rank, step)
    return Table.build(
        ExchangingKernel,
        rank=rank,
        step=step,
        stage=stages_of(run, rank),
        op_type=kernels.texts("op_type").take(row),
        start_ns=start,
        elapse_us=(end - start) / 1e3,
        bare_us=bare,
    ).take(np.flatnonzero(counted))
