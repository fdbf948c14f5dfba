# SPDX-License-Identifier: Apache-2.0
"""How much of what a loop takes from its data loader is work of the process itself: unpacking what workers sent."""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.arrays.intervals import Spans, covered_ns, row_ranges, span_at, union
from advisor.analysis.host import host
from advisor.analysis.replay.replayed_rank import ReplayedRank
from advisor.facts.table import Array, row_type

_WAITS = re.compile(
    r"\A(<.*\b(poll|select|acquire|sleep)\b.*>"
    r"|(.*/)?(selectors|threading|connection)\.py\(\d+\): (select|wait|_?poll))\Z"
)
"""Functions of Python that wait for another process or thread and do nothing else. What also unpacks what it receives,
as `get` and `recv` do, waits within such a function where it waits."""


def _calls_inside(seen: ReplayedRank, fetches: host.Calls, spans: Spans) -> host.Calls:
    """What the threads of these calls do while one of them runs: calls are looked at some at a time, for many may."""
    threads = np.unique(seen.table.at("thread", fetches.row))
    near = np.flatnonzero(seen.calls.are_touching(spans.start, spans.end)).astype(row_type(len(seen.calls)))
    places = [near[:0]]
    for part in row_ranges(len(near)):
        own = seen.calls.take(near[part])
        at = span_at(spans, own.start)
        inside = (at >= 0) & (own.end <= spans.end[at]) & np.isin(seen.table.at("thread", own.row), threads)
        places.append(near[part][inside])
    return seen.calls.take(np.concatenate(places))


def own_work_in_fetches(seen: ReplayedRank) -> Array:
    """Per own cell: for how long operators ran in its fetches, or functions of Python that wait for nobody, us.

    Where Python was not recorded only operators tell, which is the least it can be. Missing where nothing was recorded
    inside of the fetches.
    """
    fetches = seen.kinds["data_loader"]
    spans = fetches.spans
    near = _calls_inside(seen, fetches, spans)
    at = span_at(spans, near.start)
    kinds = seen.table.texts("kind").take(near.row)
    operator, function = kinds.isin(["operator"]), kinds.isin(["python"])
    waits = function & host.are_named(seen.table, near, _WAITS)
    working, waiting = (
        covered_ns(union(near.start[one], near.end[one]), spans.start, spans.end) for one in (operator, waits)
    )
    told = np.bincount(at[function], minlength=len(spans)) > 0
    own_ns = np.where(told, spans.lengths - waiting, working)
    cell = seen.own_cell_at(spans.start)
    known = np.bincount(at[operator | function], minlength=len(spans)) > 0
    count = np.bincount(cell[(cell >= 0) & known], minlength=len(seen.own))
    return np.where(count > 0, np.bincount(cell[cell >= 0], own_ns[cell >= 0], len(seen.own)) / 1e3, np.nan)
