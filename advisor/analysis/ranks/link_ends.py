# SPDX-License-Identifier: Apache-2.0
"""Ranks by their links: one whose best link is slow has a slow port, or stands in a slow host.

Of a slow link nobody knows at which end the reason lies. Where all links of a rank are slow it lies there: each of the
others still has good ones. That holds even where half of all links touch such a rank, as in rings over few hosts, and
the median of the links says nothing any more.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.ranks.links import comparable_links, set_against_like
from advisor.facts.derived import LinkEnd, LinkUse
from advisor.facts.table import Table


def link_ends(uses: Table[LinkUse]) -> Table[LinkEnd]:
    """A row per rank and kind of link over which it sends or receives in bulk."""
    uses = uses.take(np.isfinite(uses["bandwidth_gbps"]))
    rank = np.concatenate([uses["source"], uses["target"]])
    other = np.concatenate([uses["target"], uses["source"]])
    way = np.tile(np.arange(len(uses)), 2)
    kind = uses.texts("link").take(way)
    ends = group_by(rank, kind)
    pairs = group_by(ends.of, other)
    peers = np.bincount(ends.of[pairs.first], minlength=len(ends)).astype(np.float64)
    kinds, size, best = (
        kind.take(ends.first),
        ends.sums(uses["size_bytes"][way]),
        ends.largest(uses["bandwidth_gbps"][way]),
    )
    usual = set_against_like(comparable_links(kinds.codes, size), best)
    return Table.build(
        LinkEnd,
        rank=rank[ends.first],
        link=kinds,
        peers=peers,
        size_bytes=size,
        bulk_us=ends.largest(uses["bulk_us"][way]),
        best_gbps=best,
        alike=usual.alike,
        typical_gbps=usual.typical,
        deviation=usual.deviation,
        exposed_share=ends.largest(uses["exposed_share"][way]),
        filled_us=ends.smallest(uses["filled_us"][way]),
        stage_worth_us=ends.smallest(uses["stage_worth_us"][way]),
        gain_without_comm_us=ends.largest(uses["gain_without_comm_us"][way]),
    )
