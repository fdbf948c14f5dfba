# SPDX-License-Identifier: Apache-2.0
"""How fast collectives move what they carry: the bus bandwidth of nccl-tests, without the waits of ranks for others.

The rank on which a call was shortest came last and waited for nobody who was captured, so its time is that of moving.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.communication.collective_calls import same_operation
from advisor.chips.known_chips import ChipTable
from advisor.facts.base import MISSING
from advisor.facts.derived import BusRate, CollectiveCall
from advisor.facts.observed import Device
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.model.run import MOST_ON_HOST, Run


def bus_rates(
    run: Run, chips: ChipTable, calls: Table[CollectiveCall], devices: Table[Device] | None = None
) -> Table[BusRate]:
    """One row per collective that two or more ranks recorded with its size."""
    timed = np.flatnonzero((calls["elapse_us"] > 0) & (calls["p2p"] != 1))
    met = same_operation(calls, timed)
    shortest = calls.take(timed[met.first_rows(calls["rank"][timed], calls["elapse_us"][timed])])
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
        link_gbps=np.where(
            _inside_one_machine(run, devices, calls["rank"][timed], met)[kept],
            chips.known_of(run.chip).links.get("NVLink", np.nan),
            np.nan,
        ),
    )


def _inside_one_machine(run: Run, devices: Table[Device] | None, rank: Array, met: Groups) -> Array:
    """Per meeting: whether its ranks name one machine, and each another device of it.

    A name may stand for several machines, which then count their devices alike.
    """
    if devices is None:
        return np.zeros(len(met), bool)
    ranks = np.array([capture.rank for capture in run.captures])
    host = Texts.of([capture.host or None for capture in run.captures]).codes
    number = values_at(devices["number"], row_of_key(devices["rank"], ranks), MISSING)
    at = row_of_key(ranks, rank)
    of_rank, device = values_at(host, at, -1), values_at(number, at, MISSING)
    told = (met.smallest(of_rank) >= 0) & (met.smallest(of_rank) == met.largest(of_rank))
    told &= (np.bincount(met.of[device == MISSING], minlength=len(met)) == 0) & (met.sizes <= MOST_ON_HOST)
    apart = group_by(met.of, device)
    return np.asarray(told & (np.bincount(met.of[apart.first], minlength=len(met)) == met.sizes))
