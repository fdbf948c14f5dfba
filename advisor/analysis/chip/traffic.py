# SPDX-License-Identifier: Apache-2.0
"""How much memories, caches and links of the device moved in a second, over what was sampled of them."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.facts.base import MISSING
from advisor.facts.derived import ChipLimit, TrafficUse
from advisor.facts.observed import TrafficSample
from advisor.facts.table import Table, values_at


def traffic_uses(samples: Table[TrafficSample], chips: Table[ChipLimit] | None) -> Table[TrafficUse]:
    """One row per rank, place and way: all units of it together, moment by moment.

    `samples` are counters of each unit at one moment, or means over the capture; what is there of both is of different
    places. The part of the peak is known of HBM alone, whose bandwidth the table of chips has; both ways share it.
    """
    place, way = samples.texts("place"), samples.texts("way")
    moments = group_by(samples["rank"], place, way, samples["time_ns"])
    first, speed = moments.first, samples["speed_gbps"]
    together = moments.sums(np.nan_to_num(speed))
    weighed = ~np.isnan(samples["hit_share"]) & ~np.isnan(speed)
    held = moments.sums(np.where(weighed, samples["hit_share"] * speed, 0))
    asked = moments.sums(np.where(weighed, speed, 0))
    rank, sampled = samples["rank"][first], samples["time_ns"][first] != MISSING
    uses = group_by(rank, place.take(first), way.take(first))
    own = first[uses.first]
    mean, of_memory = uses.means(together), place.take(own).isin(["HBM"])
    counted = uses.sums(sampled.astype(np.float64))
    known = Table.empty(ChipLimit) if chips is None else chips
    carried = values_at(known["memory_gbps"], row_of_key(known["rank"], samples["rank"][own]), np.nan)
    return Table.build(
        TrafficUse,
        rank=samples["rank"][own],
        place=place.take(own),
        way=way.take(own),
        samples=np.where(counted > 0, counted, np.nan),
        mean_gbps=mean,
        peak_gbps=uses.largest(np.where(sampled, together, np.nan)),
        hit_share=ratio(uses.sums(held), uses.sums(asked)),
        used_share=ratio(mean, np.where(of_memory, carried, np.nan)),
    )
