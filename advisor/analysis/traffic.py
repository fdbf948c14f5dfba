# SPDX-License-Identifier: Apache-2.0
"""How much memories, caches and links of the device moved in a second, over what was sampled of them."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by, ratio
from advisor.facts.base import MISSING
from advisor.facts.derived import ChipLimit, TrafficUse
from advisor.facts.observed import TrafficSample
from advisor.facts.table import Array, Table


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
    return Table.build(
        TrafficUse,
        rank=samples["rank"][own],
        place=place.take(own),
        way=way.take(own),
        samples=np.where(counted > 0, counted, np.nan),
        mean_gbps=mean,
        peak_gbps=uses.largest(np.where(sampled, together, np.nan)),
        hit_share=ratio(uses.sums(held), uses.sums(asked)),
        used_share=ratio(mean, np.where(of_memory, _bandwidths(samples["rank"][own], chips), np.nan)),
    )


def _bandwidths(rank: Array, chips: Table[ChipLimit] | None) -> Array:
    """Of each rank: what the memory of its chip can carry, GB/s; missing where nobody knows."""
    if chips is None:
        return np.full(len(rank), np.nan)
    known = dict(zip(chips["rank"].tolist(), chips["memory_gbps"].tolist(), strict=True))
    return np.array([known.get(one, np.nan) for one in rank.tolist()], np.float64)
