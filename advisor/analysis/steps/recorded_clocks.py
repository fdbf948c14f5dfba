# SPDX-License-Identifier: Apache-2.0
"""Samples of the clock of devices that can be, in order."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import Frequency
from advisor.facts.table import Table


def usable_clocks(samples: Table[Frequency]) -> Table[Frequency]:
    """Those with a time and a clock above 0, by rank and time."""
    can_be = (samples["mhz"] > 0) & np.isfinite(samples["mhz"]) & (samples["time_ns"] != MISSING)
    return samples.take(can_be).sorted_by("rank", "time_ns")
