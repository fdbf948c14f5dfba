# SPDX-License-Identifier: Apache-2.0
"""How busy the network ports of devices were during the capture, and what they lost meanwhile."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.facts.derived import PortUse
from advisor.facts.observed import PortCounters
from advisor.facts.table import Array, Table

_COUNTED = ("packets", "dropped", "broken", "repeated", "congested", "paused")


def port_uses(counted: Table[PortCounters]) -> Table[PortUse]:
    """One row per rank, network and port."""
    counted = counted.sorted_by("time_ns")
    ports = group_by(counted["rank"], counted.texts("network"), counted["port"])
    first = ports.first
    bandwidth = ports.largest(counted["bandwidth_gbps"])
    carried = np.fmax(ports.means(counted["received_gbps"]), ports.means(counted["sent_gbps"]))
    return Table.build(
        PortUse,
        rank=counted["rank"][first],
        network=counted.texts("network").take(first),
        port=counted["port"][first],
        bandwidth_gbps=bandwidth,
        busiest_share=ratio(carried, bandwidth),
        **{name: _grown(counted[name], ports) for name in _COUNTED},
    )


def _grown(values: Array, ports: Groups) -> Array:
    """Per port: by how much a counter grew from look to look; missing with less than two. A counter that falls was set
    back, and counts from nothing again."""
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(ports.of[known], kind="stable")]
    owner, counted = ports.of[order], values[order]
    same = owner[1:] == owner[:-1]
    step = np.where(counted[1:] >= counted[:-1], counted[1:] - counted[:-1], counted[1:])[same]
    total = np.bincount(owner[1:][same], weights=step, minlength=len(ports))
    looks = np.bincount(owner[1:][same], minlength=len(ports))
    return np.where(looks > 0, total, np.nan)
