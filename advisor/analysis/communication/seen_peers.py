# SPDX-License-Identifier: Apache-2.0
"""How many ranks took part, where nothing but the tasks between them tells."""

from __future__ import annotations

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.derived import SeenPeer
from advisor.facts.observed import PeerWait
from advisor.facts.table import Table


def seen_peers(waits: Table[PeerWait]) -> Table[SeenPeer]:
    """One row for each rank that waited for another one."""
    waits = waits.take(waits["place"] >= 0)
    ranks = group_by(waits["rank"])
    return Table.build(
        SeenPeer, rank=waits["rank"][ranks.first], least_ranks=ranks.largest(waits["place"].astype(float)) + 1.0
    )
