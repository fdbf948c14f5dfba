# SPDX-License-Identifier: Apache-2.0
"""What the time of collectives went to, by their tasks: the timeline draws those of each plane under the operators.

While any plane moves data the collective moves data; while none does and one waits for a peer, it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from advisor.facts.table import Array

if TYPE_CHECKING:
    from advisor.sources.files.timeline import TraceTimeline

_PLANE = "Plane "
MOVES = ("Memcpy", "Reduce_Inline", "RDMASend", "RDMA_SEND")
WAITS = ("Notify_Wait",)


class PlaneSplit(NamedTuple):
    """How long each of some operators moved data, and only waited, µs."""

    transit_us: Array
    wait_us: Array


def splits_by_planes(
    timeline: TraceTimeline, lanes: Sequence[str], group_threads: tuple[str, ...], start: Array, end: Array
) -> PlaneSplit | None:
    """The split of each operator; None where its tasks are not shown, or those of several groups lie side by side."""
    tracks, slices = timeline.tracks, timeline.slices
    on_lane = tracks.of(*lanes)
    groups = on_lane & tracks.thread.hits(name.startswith(group_threads) for name in tracks.thread.names)
    planes = on_lane & tracks.thread.hits(name.startswith(_PLANE) for name in tracks.thread.names)
    shown = planes[slices.track]
    if np.count_nonzero(groups) != 1 or not shown.any():
        return None
    moving, waiting = shown & slices.name.isin(MOVES), shown & slices.name.isin(WAITS)
    moved = _covered_ns(slices.start_ns[moving], slices.end_ns[moving], start, end)
    either = moving | waiting
    told = _covered_ns(slices.start_ns[either], slices.end_ns[either], start, end)
    unknown = told == 0
    return PlaneSplit(*(np.where(unknown, np.nan, ns / 1000) for ns in (moved, told - moved)))


def _covered_ns(begun: Array, ended: Array, start: Array, end: Array) -> Array:
    """How much of each window at least one of these intervals covers."""
    if not len(begun):
        return np.zeros(len(start), np.int64)
    order = np.argsort(begun, kind="stable")
    begun, reach = begun[order], np.maximum.accumulate(ended[order])
    opens = np.append(True, begun[1:] > reach[:-1])
    first, last = begun[opens], reach[np.append(opens[1:], True)]
    before = np.append(0, np.cumsum(last - first))

    def until(moment: Array) -> Array:
        place = np.searchsorted(first, moment, "right")
        beyond = np.where(place > 0, np.maximum(last[place - 1] - moment, 0), 0)
        covered: Array = before[place] - beyond
        return covered

    return until(end) - until(start)
