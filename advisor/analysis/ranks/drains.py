# SPDX-License-Identifier: Apache-2.0
"""How a pipeline drains: what stages wait at the end of a step, when nothing is left to send or to receive.

Stages end their last micro-batch one after the other. Where all of them then meet, as for the norm of all gradients,
those that ended first wait in that collective, and no send or receive shows it.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.communication.collective_calls import met_in
from advisor.analysis.steps.stage_transfers import are_between_stages
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Overlap
from advisor.facts.observed import Group
from advisor.facts.table import Array, Table
from advisor.model.run import Parallel


class Drains(Struct, frozen=True):
    """Per rank and step, in the order of the table of splits."""

    waited_us: Array
    """Waiting for ranks of other stages in collectives, with no kernel beside it."""
    drained_us: Array
    """The part of that where stages first meet after its last send or receive, and another still works through its
    last micro-batch."""
    filled_us: Array
    """What would be drained beyond that, had it no exposed data-parallel collectives of its own in between."""
    call: Array
    """Row of the call in which it drains; MISSING where there is none."""


def drains(split: Table[Overlap], calls: Table[CollectiveCall] | None) -> Drains:
    """What ranks wait for the other stages once they have nothing left to send or to receive; 0 where none is seen.

    All leave a meeting together, so that durations tell how much later the last rank of another stage came. What that
    one spent in data-parallel collectives, with no kernel beside them, more than this one is no draining: gradients
    would be reduced as long without a pipeline.
    """
    nothing = np.zeros(len(split))
    found = Drains(nothing, nothing.copy(), nothing.copy(), np.full(len(split), MISSING))
    if calls is None or not (split["stage"] != MISSING).any():
        return found
    cell = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    staged = np.append(split["stage"], MISSING)[cell] != MISSING
    kept = np.flatnonzero(staged & (calls["elapse_us"] >= 0) & (calls["start_ns"] != MISSING))
    calls, cell = calls.take(kept), cell[kept]
    since = _us_after_pairs(calls, cell, len(split))
    met = _stages_met(split["stage"][cell], calls)
    reducing = _reducing_before(calls, cell, since)
    later = calls["elapse_us"][met.row] - calls["elapse_us"][met.other]
    waited = np.maximum(np.fmin(later, calls["exposed_us"][met.row]), 0)
    draining = later + reducing[met.row] - reducing[met.other]
    filled = np.clip(draining - np.maximum(later, 0), 0, reducing[met.row])
    found.waited_us[:] = np.bincount(cell[met.row], waited, len(split))
    ends = np.flatnonzero(since[met.row] > 0)
    in_order = ends[np.argsort(calls["start_ns"][met.row[ends]], kind="stable")]
    of, first = np.unique(cell[met.row[in_order]], return_index=True)
    taken = in_order[first]
    most = np.minimum(waited[taken], since[met.row[taken]])
    found.drained_us[of], found.filled_us[of] = np.clip(draining[taken], 0, most), filled[taken]
    found.call[of] = kept[met.row[taken]]
    return found


def waits_for_absent_stages(
    parallel: Parallel, split: Table[Overlap], calls: Table[CollectiveCall] | None, members: Table[Group] | None
) -> Array:
    """Per rank and step, µs: what it waits in the collective where stages first meet after its last send or receive,
    with no kernel beside it, where ranks of stages take part of which none was captured; 0 where none is seen.
    """
    found = np.zeros(len(split))
    if calls is None or members is None:
        return found
    spanning = _groups_with_absent_stages(parallel, members, split["rank"])
    cell = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    kept = np.flatnonzero((cell >= 0) & (calls["elapse_us"] >= 0) & (calls["start_ns"] != MISSING))
    calls, cell = calls.take(kept), cell[kept]
    since = _us_after_pairs(calls, cell, len(split))
    ends = np.flatnonzero((since > 0) & calls.texts("group").isin(spanning))
    in_order = ends[np.argsort(calls["start_ns"][ends], kind="stable")]
    of, first = np.unique(cell[in_order], return_index=True)
    taken = in_order[first]
    waited = calls["exposed_us"][taken] - calls["unwaited_us"][taken]
    found[of] = np.clip(np.nan_to_num(waited), 0, since[taken])
    return found


def exposed_after_pairs(split: Table[Overlap], calls: Table[CollectiveCall] | None) -> Array:
    """Per rank and step, µs: the exposed time of collectives of which none like them comes before its last send or
    receive, as of gradients and parameters: a step has them once, and no micro-batch takes them along.
    """
    found = np.zeros(len(split))
    if calls is None:
        return found
    cell = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    kept = np.flatnonzero((cell >= 0) & (calls["elapse_us"] >= 0) & (calls["start_ns"] != MISSING))
    calls, cell = calls.take(kept), cell[kept]
    begins_after = _us_after_pairs(calls, cell, len(split)) >= calls["elapse_us"]
    like = group_by(cell, calls.texts("op"), calls.texts("group"))
    ending = (like.sums((~begins_after).astype(np.float64)) == 0)[like.of]
    us = np.where(ending, np.nan_to_num(calls["exposed_us"]), 0.0)
    found += np.bincount(cell, us, len(split))
    return found


def _groups_with_absent_stages(parallel: Parallel, members: Table[Group], captured: Array) -> list[str]:
    """Communicators in which ranks of stages take part of which no rank was captured."""
    away = [rank for stage in parallel.stages if not np.isin(stage, captured).any() for rank in stage]
    taking_part = members.texts("group").take(np.flatnonzero(np.isin(members["rank"], away)))
    return [str(name) for name in dict.fromkeys(taking_part.values())]


def _us_after_pairs(calls: Table[CollectiveCall], cell: Array, cells: int) -> Array:
    """Per call: from the end of the last send or receive of its rank and step to its own; 0 where it is no later."""
    end = calls["start_ns"] + np.rint(calls["elapse_us"] * 1e3).astype(np.int64)
    pairs = are_between_stages(calls)
    last = np.full(cells, MISSING)
    np.maximum.at(last, cell[pairs], end[pairs])
    return np.where((last[cell] != MISSING) & (calls["p2p"] != 1), np.maximum(end - last[cell], 0) / 1e3, 0.0)


class _Met(Struct, frozen=True):
    """Calls in which ranks of several stages meet, each with the call of the rank of another stage that came last."""

    row: Array
    other: Array


def _stages_met(stage: Array, calls: Table[CollectiveCall]) -> _Met:
    """Among communicators with ranks of several stages."""
    group = calls.texts("group")
    members = group_by(group)
    spanning = members.largest(stage) > members.smallest(stage)
    spans = np.flatnonzero(spanning[members.of] & (group.codes >= 0) & (calls["p2p"] != 1))
    met = met_in(calls.take(spans))
    row, of = spans[met.row], met.groups.of
    order = np.lexsort((calls["elapse_us"][row], of))  # within a meeting the last to come first
    row, of = row[order], of[order]
    _, begin = np.unique(of, return_index=True)
    last = begin[of]
    unlike = np.flatnonzero(stage[row] != stage[row[last]])
    met_by, begin = np.unique(of[unlike], return_index=True)
    last_unlike = np.full(len(met.groups), MISSING)
    last_unlike[met_by] = unlike[begin]
    other = np.where(stage[row] != stage[row[last]], last, last_unlike[of])
    kept = np.flatnonzero(other != MISSING)
    return _Met(row[kept], row[other[kept]])


def _reducing_before(calls: Table[CollectiveCall], cell: Array, since_us: Array) -> Array:
    """Per call: exposed time of the data-parallel collectives that its rank began before, after its last send, µs."""
    own = np.where(calls.texts("group_kind").isin(["dp"]), np.fmin(np.nan_to_num(calls["exposed_us"]), since_us), 0.0)
    order = np.lexsort((calls["start_ns"], cell))
    done = np.cumsum(own[order]) - own[order]
    of, begin = np.unique(cell[order], return_index=True)
    before = np.empty(len(cell))
    before[order] = done - done[begin][np.searchsorted(of, cell[order])]
    return before
