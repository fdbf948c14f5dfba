# SPDX-License-Identifier: Apache-2.0
"""Whether each rank launched one operator at a time, and what that loses."""

from __future__ import annotations

import numpy as np

from advisor.facts.derived import LaunchDelay, LaunchMode
from advisor.facts.observed import Setting
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing

BLOCKING = "_LAUNCH_BLOCKING"
"""How the environment variable ends, whoever gave it its name."""


def launch_modes(settings: Table[Setting], held: Table[LaunchDelay] | None) -> Table[LaunchMode]:
    """One row per recorded value of the switch.

    Raises:
        FactMissing: Its value was not recorded.
    """
    names = settings.texts("name")
    rows = settings.take(names.hits(name.endswith(BLOCKING) for name in names.names))
    if not len(rows):
        raise FactMissing([Setting.table])
    held = Table.empty(LaunchDelay) if held is None else held
    return Table.build(
        LaunchMode,
        rank=rows["rank"],
        name=rows.texts("name"),
        value=rows.texts("value"),
        number=rows["number"],
        lost_us=[lost_us_per_step(held, rank, "drain") for rank in rows["rank"].tolist()],
    )


def lost_us_per_step(held: Table[LaunchDelay], rank: int, cause: str) -> float:
    """What one kind of host cost loses in a step of one rank; NaN where nobody knows."""
    here: Array = held["rank"] == rank
    lost = held["lost_us"][here & held.texts("cause").isin([cause])]
    steps = len(np.unique(held["step"][here]))
    return float(np.nansum(lost)) / steps if steps and not np.isnan(lost).all() else np.nan
