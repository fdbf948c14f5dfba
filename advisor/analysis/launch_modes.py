# SPDX-License-Identifier: Apache-2.0
"""Whether each rank launched one operator at a time, and what that loses."""

from __future__ import annotations

import numpy as np

from advisor.facts.derived import Holdup, LaunchMode
from advisor.facts.observed import Setting
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing

BLOCKING = "ASCEND_LAUNCH_BLOCKING"


def launch_modes(settings: Table[Setting], held: Table[Holdup] | None) -> Table[LaunchMode]:
    """One row per recorded value of ASCEND_LAUNCH_BLOCKING.

    Raises:
        FactMissing: Its value was not recorded.
    """
    rows = settings.take(settings.texts("name").isin([BLOCKING]))
    if not len(rows):
        raise FactMissing([Setting.table])
    held = Table.empty(Holdup) if held is None else held
    return Table.build(
        LaunchMode,
        rank=rows["rank"],
        name=rows.texts("name"),
        value=rows.texts("value"),
        number=rows["number"],
        lost_us=[_waiting_us(held, rank) for rank in rows["rank"].tolist()],
    )


def _waiting_us(held: Table[Holdup], rank: int) -> float:
    """What waits that fetch nothing lose in a step of one rank; NaN where nobody knows."""
    here: Array = held["rank"] == rank
    lost = held["lost_us"][here & held.texts("cause").isin(["drain"])]
    steps = len(np.unique(held["step"][here]))
    return float(np.nansum(lost)) / steps if steps and not np.isnan(lost).all() else np.nan
