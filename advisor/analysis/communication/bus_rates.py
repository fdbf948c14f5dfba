# SPDX-License-Identifier: Apache-2.0
"""How fast collectives move what they carry: the bus bandwidth of nccl-tests, without the waits of ranks for others.

The rank on which a call was shortest came last and waited for nobody who was captured, so its time is that of moving.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import ratio
from advisor.analysis.communication.collective_calls import same_operation
from advisor.facts.derived import BusRate, CollectiveCall
from advisor.facts.table import Table


def bus_rates(calls: Table[CollectiveCall]) -> Table[BusRate]:
    """One row per collective that two or more ranks recorded with its size."""
    timed = np.flatnonzero((calls["elapse_us"] > 0) & (calls["p2p"] != 1))
    met = same_operation(calls, timed)
    order = np.lexsort((calls["rank"][timed], calls["elapse_us"][timed], met.of))
    _, begin = np.unique(met.of[order], return_index=True)
    shortest = calls.take(timed[order[begin]])
    bare_us = met.smallest(np.minimum(calls["exposed_us"][timed], shortest["elapse_us"][met.of]))
    kept = np.flatnonzero((met.sizes > 1) & (shortest["bus_bytes"] > 0))
    first = shortest.take(kept)
    return Table.build(
        BusRate,
        **{column: first.texts(column) for column in ("name", "op", "group", "group_kind")},
        step=first["step"],
        ranks=met.sizes[kept].astype(np.float64),
        last_rank=first["rank"],
        start_ns=first["start_ns"],
        shortest_us=first["elapse_us"],
        bare_us=bare_us[kept],
        bus_bytes=first["bus_bytes"],
        bus_gbps=ratio(first["bus_bytes"], first["elapse_us"] * 1e3),
    )
