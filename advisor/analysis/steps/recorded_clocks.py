# SPDX-License-Identifier: Apache-2.0
"""Samples of the clock of devices that can be, in order."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import Frequency
from advisor.facts.table import Array, Table


def usable_clocks(samples: Table[Frequency]) -> Table[Frequency]:
    """Those with a time and a clock above 0, by rank and time."""
    can_be = (samples["mhz"] > 0) & np.isfinite(samples["mhz"]) & (samples["time_ns"] != MISSING)
    return samples.take(can_be).sorted_by("rank", "time_ns")


def clocks_at(samples: Table[Frequency], rank: Array, time_ns: Array) -> Array:
    """The clock of a rank at each of these times, MHz: that of the last sample until then; NaN before the first one."""
    good, found = usable_clocks(samples), np.full(len(rank), np.nan)
    for one in np.unique(good["rank"]).tolist():
        own, mine = good.take(good["rank"] == one), rank == one
        last = np.searchsorted(own["time_ns"], time_ns[mine], side="right") - 1
        found[mine] = np.where(last >= 0, own["mhz"][last], np.nan)
    return found
