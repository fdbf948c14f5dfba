# SPDX-License-Identifier: Apache-2.0
"""Whether the thread that prepares operators hands their launching to a second one, and what that would win."""

from __future__ import annotations

import msgspec
import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import Spans, subtract
from advisor.analysis.host.host import DEVICE_SOFTWARE
from advisor.analysis.launches.launch_modes import lost_us_per_step
from advisor.analysis.replay import replay
from advisor.analysis.replay.replayed_rank import ReplayedRank
from advisor.facts.base import MISSING
from advisor.facts.derived import Handover, HostKind, LaunchDelay, RankCoverage
from advisor.facts.table import Array, Table, ascending

QUEUED = ("enqueue", "dequeue")
"""Kinds of calls that put launches into a task queue, and take them from it."""
_WHOLE = 0.9
"""Own: beyond a tenth that is gone, all calls of a thread or of a kind may be."""


def handovers(
    kinds: Table[HostKind], held: Table[LaunchDelay] | None, coverage: Table[RankCoverage] | None = None
) -> Table[Handover]:
    """One row per rank whose framework calls operators; where a tenth of its calls is gone, it is not known how many
    were handed over."""
    ranks = group_by(kinds["rank"])
    names = kinds.texts("kind")
    operators, handed = (
        ranks.sums(np.where(names.isin(chosen), kinds["calls"], 0)) for chosen in (("operator",), QUEUED)
    )
    rank = kinds["rank"][ranks.first]
    held = Table.empty(LaunchDelay) if held is None else held
    table = Table.build(
        Handover,
        rank=rank,
        operators=operators,
        handed_over=np.where(_lack_calls(rank, coverage), np.nan, handed),
        lost_us=[lost_us_per_step(held, one, "unqueued") for one in rank.tolist()],
    )
    return table.take(operators > 0)


def _lack_calls(rank: Array, coverage: Table[RankCoverage] | None) -> Array:
    """Per rank: whether calls of the host are known to be gone, so that none of a kind may be left."""
    if coverage is None:
        return np.zeros(len(rank), bool)
    lacking = coverage.texts("of").isin(["host_calls"]) & (coverage["matched"] < _WHOLE * coverage["needed"])
    found: Array = np.isin(rank, coverage["rank"][lacking & (coverage["step"] == MISSING)])
    return found


def calls_operators(seen: ReplayedRank) -> bool:
    """Whether operators of the framework were recorded of a rank: without them nobody knows who prepares launches."""
    return bool(seen.calls.texts(seen.table.texts("kind")).isin(["operator"]).any())


def with_queue(seen: ReplayedRank) -> tuple[ReplayedRank, Spans]:
    """A rank as if a second thread took over its launching calls as they begin, and when the first one is rid of them.

    As it was recorded such a call is over before the next operator is prepared. Taken off the main thread it lets that
    go on at once, while the second thread still makes one call after the other. The calls are of kind `unqueued`.
    """
    rank = seen.replayed
    moments = ascending(np.concatenate([one.launch[one.queued < replay.UNBOUND] for one in (rank.work, rank.beside)]))
    calls = seen.calls.take(seen.calls.texts(seen.table.texts("kind")).isin(DEVICE_SOFTWARE))
    launching = calls.take(np.searchsorted(moments, calls.end) > np.searchsorted(moments, calls.start))
    spans = subtract(launching.spans, rank.waits)
    queue = replay.Queue(spans.start, spans.end, spans.start)
    work, beside = (
        msgspec.structs.replace(one, entry=np.where(one.queued < replay.UNBOUND, queue.entry_at(one.launch), -1))
        for one in (rank.work, rank.beside)
    )
    changed = msgspec.structs.replace(rank, work=work, beside=beside, queue=queue)
    return msgspec.structs.replace(seen, replayed=changed, kinds={**seen.kinds, "unqueued": launching}), spans
