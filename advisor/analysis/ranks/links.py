# SPDX-License-Identifier: Apache-2.0
"""Traffic between ranks: each link set against links of its kind that carried about as much for the same collective.

A ring over many ranks moves what it has in small pieces, a send in one: over equally good links the one is slower than
the other. A few bytes take the same time on a good link and on a bad one, so only what is moved in bulk tells a
bandwidth.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from advisor.analysis.arrays.grouping import Groups, group_by, row_of_key
from advisor.analysis.ranks.drains import drains
from advisor.analysis.ranks.pipeline import worth_of_stages
from advisor.analysis.replay.removals import gains_without_communication
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, LinkUse, Overlap, Removal, StageTime
from advisor.facts.observed import Link
from advisor.facts.table import Array, Table, values_at

_NORMAL = 1.4826
"""Scales a median absolute deviation to a standard deviation where values are normally distributed."""
_LEAST_SPREAD = 0.01
"""Bandwidths that differ by less than one per cent of their median are taken as equal."""
_FEW = 4
"""Of so many links both directions of one cable are half: their median says nothing of it."""
BULK_BYTES = 1e6
"""What one kind of collective moves over a link in a step is bulk from here on: the definition of `bandwidth_gbps`.

MindStudio calls RDMA packets small below 1 MB. What every packet costs beside its bytes (2 µs over HCCS, 9.5 over RDMA
in public captures) is 4 % of the 55 µs that 1 MB takes at 18 GB/s and 11 % of the 80 µs at 12.5; of 96 bytes, all.
"""


def link_uses(
    links: Table[Link],
    split: Table[Overlap] | None,
    calls: Table[CollectiveCall] | None = None,
    stages: Table[StageTime] | None = None,
    without: Table[Removal] | None = None,
) -> Table[LinkUse]:
    """Traffic per source, target and kind of link. Where both ends report a link, the sender's account is used."""
    finite = ~(np.isinf(links["size_bytes"]) | np.isinf(links["transit_us"]) | np.isinf(links["bandwidth_gbps"]))
    links = links.take(finite & (links["source"] != MISSING) & (links["target"] != MISSING))
    links = _told_once(links)
    steps = _count_steps(links, split)
    ways = group_by(links["source"], links["target"], links.texts("link"))
    first = ways.first
    size, bulk_us, speed = _bulk_traffic(links, ways)
    usual = _usual_of_links(links, ways, size, speed)
    source, target = links["source"][first], links["target"][first]
    by_step = _bulk_traffic_by_step(links, ways, usual.typical)
    return Table.build(
        LinkUse,
        source=source,
        target=target,
        link=links.texts("link").take(first),
        size_bytes=ways.sums(links["size_bytes"]) / steps,
        transit_us=ways.sums(links["transit_us"]) / steps,
        bulk_us=bulk_us / steps,
        bandwidth_gbps=speed,
        alike=usual.alike,
        typical_gbps=usual.typical,
        deviation=usual.deviation,
        bulk_steps=by_step.steps,
        middle_gbps=by_step.middle_gbps,
        slowest_step=by_step.slowest,
        exposed_share=_exposed_share(split, source, target),
        filled_us=_filled_us(split, calls, source, target) * _reduces_mostly(links, ways, calls),
        stage_worth_us=_worth_of_stage(split, stages, source, target),
        gain_without_comm_us=np.fmax(*(gains_without_communication(end, without) for end in (source, target))),
    )


def _count_steps(links: Table[Link], split: Table[Overlap] | None) -> int:
    """Of how many steps the links tell: where they name none, as an analysis of a whole capture, of all it holds."""
    named = links["step"] if split is None or (links["step"] != MISSING).any() else split["step"]
    return max(len(np.unique(named)), 1)


def _reduces_mostly(links: Table[Link], ways: Groups, calls: Table[CollectiveCall] | None) -> Array:
    """Per way: whether data-parallel collectives take half of the time of what is moved in bulk, or more."""
    if calls is None:
        return np.zeros(len(ways), bool)
    groups = calls.texts("group")
    parallel = {
        groups.names[code] for code in np.unique(groups.codes[calls.texts("group_kind").isin(["dp"])]) if code >= 0
    }
    bulk = np.where(links["size_bytes"] >= BULK_BYTES, links["transit_us"], 0.0)
    reducing: Array = 2 * ways.sums(bulk * links.texts("group").isin(parallel)) >= ways.sums(bulk)
    return reducing


def _filled_us(
    split: Table[Overlap] | None, calls: Table[CollectiveCall] | None, source: Array, target: Array
) -> Array:
    """Per way: what its ranks fill of the draining of their stages, the less of both; missing without stages."""
    split = None if split is None else split.take(split["stage"] != MISSING)
    if split is None or not len(split):
        return np.full(len(source), np.nan)
    ranks = group_by(split["rank"])
    filled = ranks.means(drains(split, calls).filled_us)
    rank = split["rank"][ranks.first]
    less: Array = np.fmin(*(values_at(filled, row_of_key(rank, end), np.nan) for end in (source, target)))
    return less


def _worth_of_stage(
    split: Table[Overlap] | None, stages: Table[StageTime] | None, source: Array, target: Array
) -> Array:
    """Per way: how much sooner a step would end if no other stage waited for those of its ends."""
    if split is None:
        return np.full(len(source), np.nan)
    ranks = group_by(split["rank"])
    rank, stage = split["rank"][ranks.first], split["stage"][ranks.first]
    of_source, of_target = (values_at(stage, row_of_key(rank, end)) for end in (source, target))
    return worth_of_stages(stages, of_source, of_target)


def _usual_of_links(links: Table[Link], ways: Groups, size: Array, speed: Array) -> Usual:
    """What is usual among those for the same kind of collective, the one that moves most over each in bulk; where these
    are few, among those for any."""
    kind = links.texts("link").take(ways.first)
    op = ways.leading(links.texts("op"), np.where(links["size_bytes"] >= BULK_BYTES, links["size_bytes"], 0.0))
    own, every = (
        set_against_like(comparable_links(kinds, size), speed) for kinds in (group_by(kind, op).of, kind.codes)
    )
    few = own.alike <= _FEW
    return Usual(
        *(np.where(few, of_every, of_own) for of_every, of_own in zip(astuple(every), astuple(own), strict=True))
    )


def _bulk_traffic(links: Table[Link], ways: Groups) -> tuple[Array, Array, Array]:
    """Per way: bytes moved in bulk, the time that took in µs, and their bandwidth in GB/s; NaN where there are none."""
    bulk = links["size_bytes"] >= BULK_BYTES
    size = ways.sums(np.where(bulk, links["size_bytes"], np.nan))
    transit = ways.sums(np.where(bulk, links["transit_us"], np.nan))
    recorded = ways.means(np.where(bulk, links["bandwidth_gbps"], np.nan))
    with np.errstate(invalid="ignore", divide="ignore"):
        return size, transit, np.where(transit > 0, size / transit / 1e3, recorded)


class _BulkBySteps(Struct, frozen=True):
    """Per way: what it moves in bulk, step by step."""

    steps: Array
    """In how many it does."""
    middle_gbps: Array
    """The median of their bandwidths; missing where nothing is moved in bulk."""
    slowest: Array
    """The step in which most time is lost beside what is usual; missing where none is, or no step was marked."""


def _bulk_traffic_by_step(links: Table[Link], ways: Groups, typical_gbps: Array) -> _BulkBySteps:
    bulk = np.flatnonzero((links["size_bytes"] >= BULK_BYTES) & (links["transit_us"] > 0))
    cells = group_by(ways.of[bulk], links["step"][bulk])
    way, step = ways.of[bulk][cells.first], links["step"][bulk][cells.first]
    size, took = cells.sums(links["size_bytes"][bulk]), cells.sums(links["transit_us"][bulk])
    lost = took - size / typical_gbps[way] / 1e3
    of_way = group_by(way)
    middle, slowest = np.full(len(ways), np.nan), np.full(len(ways), MISSING)
    middle[way[of_way.first]] = of_way.medians(size / took / 1e3)
    last = np.flatnonzero(lost > 0)
    last = last[np.argsort(lost[last], kind="stable")]
    slowest[way[last]] = step[last]
    return _BulkBySteps(np.bincount(way, minlength=len(ways)).astype(np.float64), middle, slowest)


def _exposed_share(split: Table[Overlap] | None, source: Array, target: Array) -> Array:
    """Per link: the exposed part of the communication of its ranks, the larger where both were captured."""
    if split is None:
        return np.full(len(source), np.nan)
    ranks = group_by(split["rank"])
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.append(ranks.sums(split["exposed_comm_us"]) / ranks.sums(split["comm_us"]), np.nan)
    rank = split["rank"][ranks.first]
    exposed: Array = np.fmax(part[row_of_key(rank, source)], part[row_of_key(rank, target)])
    return exposed


def _told_once(links: Table[Link]) -> Table[Link]:
    ways = group_by(links["source"], links["target"], links.texts("link"))
    sender = links["rank"] == links["source"]
    told = np.zeros(len(ways), bool)
    told[ways.of[sender]] = True
    return links.take(sender | ~told[ways.of])


class Usual(Struct, frozen=True):
    """What is usual among the like of each link, or rank."""

    alike: Array
    """How many there are, itself included."""
    typical: Array
    """Their median bandwidth, GB/s."""
    deviation: Array
    """How far below it each one is, in scaled median absolute deviations."""


def set_against_like(like: Groups, speed: Array) -> Usual:
    """Each bandwidth beside the median of its like."""
    typical = like.medians(speed)[like.of]
    spread = like.medians(np.abs(speed - typical))[like.of] * _NORMAL
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.maximum(typical - speed, 0) / np.maximum(spread, typical * _LEAST_SPREAD)
    return Usual(like.sizes[like.of].astype(np.float64), typical, below)


def comparable_links(kinds: Array, size_bytes: Array) -> Groups:
    """Links of one kind, or ranks by them, whose sizes, in order, follow each other by less than a factor of two; kinds
    are numbers."""
    order = np.lexsort((size_bytes, kinds))
    size = np.log2(np.maximum(size_bytes[order], 1))
    begins = np.append(False, (np.diff(size) > 1) | (np.diff(kinds[order]) != 0))[: len(order)]
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(begins)
    return group_by(of)
