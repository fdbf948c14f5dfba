# SPDX-License-Identifier: Apache-2.0
"""How long launches queue, and how long the device waits for them: sums of each rank."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.derived import Dispatch, LaunchLatency, LaunchWait
from advisor.facts.derived.launches import LATENCY_BINS_PER_DECADE
from advisor.facts.table import Table


def launch_latencies(links: Table[Dispatch]) -> Table[LaunchLatency]:
    """One row per rank and bin that holds any launch; those without a latency are left out."""
    links = links.take(np.isfinite(links["latency_us"]))
    decades = np.log10(np.maximum(links["latency_us"], 1.0))
    bins = np.maximum(np.ceil(decades * LATENCY_BINS_PER_DECADE).astype(np.int64), 0)
    groups = group_by(links["rank"], bins)
    return Table.build(
        LaunchLatency,
        rank=links["rank"][groups.first],
        to_us=10.0 ** (bins[groups.first] / LATENCY_BINS_PER_DECADE),
        launches=groups.sizes,
    )


def launch_waits(links: Table[Dispatch]) -> Table[LaunchWait]:
    """One row per rank."""
    groups = group_by(links["rank"])
    late = links["vertical"] == 1
    idle_us = np.where(late, links["idle_before_us"], np.nan)
    return Table.build(
        LaunchWait,
        rank=links["rank"][groups.first],
        tasks=groups.sizes,
        late_tasks=groups.sums(late),
        dry_us=groups.sums(idle_us),
        longest_dry_us=groups.largest(idle_us),
    )
