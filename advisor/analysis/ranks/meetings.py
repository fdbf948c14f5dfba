# SPDX-License-Identifier: Apache-2.0
"""Where ranks meet: each communication operation with who came last, and how long the others waited."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio
from advisor.analysis.communication.collective_calls import met_in
from advisor.analysis.ranks.drains import drains
from advisor.analysis.replay.removals import gains_without_communication
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Meeting, Overlap, Removal
from advisor.facts.table import Array, Table


def meetings(
    calls: Table[CollectiveCall], split: Table[Overlap] | None = None, *, without: Table[Removal] | None = None
) -> Table[Meeting]:
    """Operations seen on two or more ranks that did not all take equally long (see `met_in`)."""
    met = met_in(calls)
    first = calls.take(met.last)
    staged = split is not None and bool((split["stage"] != MISSING).any())
    drained = np.full(len(calls), 0.0 if staged else np.nan)
    if split is not None and staged:
        found = drains(split, calls)
        waited = found.call >= 0
        drained[found.call[waited]] = found.drained_us[waited]
    lost = met.lost_us(calls, calls["p2p"][met.row])
    return Table.build(
        Meeting,
        **{column: first.texts(column) for column in ("name", "op", "group", "group_kind")},
        step=first["step"],
        p2p=first["p2p"],
        ranks=met.groups.sizes.astype(np.float64),
        shortest_us=met.shortest,
        longest_us=met.longest,
        waited_us=met.waited,
        bare_wait_us=met.groups.means(lost),
        gained_us=met.groups.means(_gained_us(calls, met.row, lost, without)),
        drained_us=met.groups.means(drained[met.row]),
        last_rank=first["rank"],
        last_start_ns=first["start_ns"],
        exposed_us=met.groups.means(calls["exposed_us"][met.row]),
    )


def _gained_us(calls: Table[CollectiveCall], row: Array, lost: Array, without: Table[Removal] | None) -> Array:
    """Per call: what its rank would gain of what it lost waiting; missing where its gains are not known.

    In all that is no more than the rank gains where its communication takes no time, shared out by what was lost.
    """
    rank = calls["rank"]
    gain = gains_without_communication(rank[row], without)
    steps = group_by(rank[group_by(rank, calls["step"]).first])
    ranks = group_by(rank)
    per_step = ranks.sums(np.bincount(row, lost, len(calls))) / steps.sizes
    part = np.minimum(ratio(gain, per_step[ranks.of[row]]), 1.0)
    return np.where(lost > 0, lost * part, 0.0 * gain)
