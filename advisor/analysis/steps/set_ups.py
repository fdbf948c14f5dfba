# SPDX-License-Identifier: Apache-2.0
"""What made the inputs of a benchmark before it began: told, and part of nothing else."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.steps.device import kernel_times, set_up_of
from advisor.facts.derived import SetUp
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table


def set_ups(kernels: Table[Kernel], *, collectives: Table[Collective] | None) -> Table[SetUp]:
    """One row per rank of which such kernels were set apart (see `set_up_kernels`)."""
    events = kernel_times(kernels)
    events = events.take(set_up_of(kernels, Table.empty(Collective) if collectives is None else collectives))
    lasts = (events.end - events.start) / 1e3
    ranks = group_by(kernels["rank"][events.row])
    first, until = np.full(len(ranks), np.iinfo(np.int64).max), np.zeros(len(ranks), np.int64)
    np.minimum.at(first, ranks.of, events.start)
    np.maximum.at(until, ranks.of, events.end)
    return Table.build(
        SetUp,
        rank=kernels["rank"][events.row][ranks.first],
        start_ns=first,
        span_us=(until - first) / 1e3,
        busy_us=ranks.sums(lasts),
        kernels=ranks.sizes.astype(np.float64),
        op_type=ranks.leading(kernels.texts("op_type").take(events.row), lasts),
    )
