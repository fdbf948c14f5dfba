# SPDX-License-Identifier: Apache-2.0
"""What queues behind a collective: a communicator runs its calls one after another, whoever waits for the last one."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.steps.device import collective_times, kernel_times
from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Array, Table, Texts, ascending


def ops_queued_behind(collectives: Table[Collective], kernels: Table[Kernel] | None) -> Texts:
    """Per call: the kind of the call that its communicator begins next in its step, before any kernel begins after it.

    What computes next waits for that one, and for the former only because it lies before it. Missing where a kernel
    begins first, and where nothing names the communicator.
    """
    ops = collectives.texts("op")
    if kernels is None:
        return ops.at(np.full(len(collectives), MISSING))
    comm, compute = collective_times(collectives), kernel_times(kernels)
    row = comm.row
    known = np.flatnonzero(collectives.texts("group").codes[row] >= 0)
    row, start, end = row[known], comm.start[known], comm.end[known]
    queues = group_by(collectives["rank"][row], collectives["step"][row], collectives.texts("group").take(row)).of
    order = np.lexsort((start, queues))
    before, after = order[:-1], order[1:]
    same = queues[before] == queues[after]
    before, after = before[same], after[same]
    first = _first_kernels(collectives["rank"][row[before]], end[before], kernels["rank"][compute.row], compute.start)
    queued = start[after] <= first
    behind = np.full(len(collectives), MISSING)
    behind[row[before[queued]]] = row[after[queued]]
    return ops.at(behind)


def _first_kernels(rank: Array, since: Array, kernel_rank: Array, kernel_start: Array) -> Array:
    """Per moment of a rank: when its first kernel begins that does not begin before; the end of time without any."""
    never = np.iinfo(np.int64).max
    first = np.full(len(rank), never)
    for one in np.intersect1d(rank, kernel_rank).tolist():
        starts = ascending(kernel_start[kernel_rank == one])
        here = rank == one
        first[here] = np.append(starts, never)[np.searchsorted(starts, since[here], "left")]
    return first
