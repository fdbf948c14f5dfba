# SPDX-License-Identifier: Apache-2.0
"""Where ranks meet: each communication operation with who came last, and how long the others waited."""

from __future__ import annotations

import numpy as np

from advisor.analysis.collective_calls import met_in
from advisor.analysis.drains import drains
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Meeting, Overlap
from advisor.facts.table import Table


def meetings(calls: Table[CollectiveCall], split: Table[Overlap] | None = None) -> Table[Meeting]:
    """Operations seen on two or more ranks that did not all take equally long (see `met_in`)."""
    met = met_in(calls)
    first = calls.take(met.last)
    staged = split is not None and bool((split["stage"] != MISSING).any())
    drained = np.full(len(calls), 0.0 if staged else np.nan)
    if split is not None and staged:
        found = drains(split, calls)
        waited = found.call >= 0
        drained[found.call[waited]] = found.drained_us[waited]
    return Table.build(
        Meeting,
        **{column: first.texts(column) for column in ("name", "op", "group", "group_kind")},
        step=first["step"],
        p2p=first["p2p"],
        ranks=met.groups.sizes.astype(np.float64),
        shortest_us=met.shortest,
        longest_us=met.longest,
        waited_us=met.waited,
        bare_wait_us=met.groups.means(met.lost_us(calls, calls["p2p"][met.row])),
        drained_us=met.groups.means(drained[met.row]),
        last_rank=first["rank"],
        last_start_ns=first["start_ns"],
        exposed_us=met.groups.means(calls["exposed_us"][met.row]),
    )
