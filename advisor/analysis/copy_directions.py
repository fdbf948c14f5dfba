# SPDX-License-Identifier: Apache-2.0
"""Which way blocking copies go: what brings results to the host is mended otherwise than what brings data from it."""

from __future__ import annotations

import numpy as np

from advisor.analysis.device import DeviceTimeline
from advisor.analysis.grouping import ratio
from advisor.analysis.intervals import covered_ns
from advisor.analysis.replayed_rank import ReplayedRank
from advisor.facts.table import Array


def to_host_shares(seen: ReplayedRank, device: DeviceTimeline) -> Array:
    """Per own cell: of the copies that run during its blocking calls the part, by time, that goes to the host.

    Missing where directions were not recorded, or none runs.
    """
    calls = seen.kinds["blocking_copy"].spans
    place = np.full(len(seen.cells) + 1, -1)
    place[seen.own] = np.arange(len(seen.own))
    owner = place[seen.cells.on_host(np.full(len(calls), seen.rank), calls.start)]
    outward, either = (
        np.bincount(
            owner[owner >= 0],
            covered_ns(device.of_rank(spans, seen.rank), calls.start, calls.end)[owner >= 0],
            len(seen.own),
        )
        for spans in (device.to_host, device.to_or_from_host)
    )
    return np.where(device.knows_directions[seen.own], ratio(outward, either), np.nan)
