# SPDX-License-Identifier: Apache-2.0
"""How long blocking copies take, and which way: what brings results to the host is mended otherwise."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import ratio
from advisor.analysis.arrays.intervals import covered_ns
from advisor.analysis.replay.replayed_rank import ReplayedRank
from advisor.analysis.steps.device import DeviceTimeline
from advisor.facts.table import Array


def copied_in_calls(seen: ReplayedRank, device: DeviceTimeline) -> tuple[Array, Array]:
    """Per own cell: how long copies run during its blocking calls, us, and the part of that which goes to the host.

    Missing where no copy runs in them; the part also where directions were not recorded.
    """
    calls = seen.kinds["blocking_copy"].spans
    owner = seen.own_cell_at(calls.start)
    outward, either, every = (
        np.bincount(
            owner[owner >= 0],
            covered_ns(device.of_rank(spans, seen.rank), calls.start, calls.end)[owner >= 0],
            len(seen.own),
        )
        for spans in (device.to_host, device.to_or_from_host, device.copies)
    )
    share = np.where(device.knows_directions[seen.own], ratio(outward, either), np.nan)
    return np.where(every > 0, every / 1e3, np.nan), share
