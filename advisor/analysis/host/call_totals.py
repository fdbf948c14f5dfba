# SPDX-License-Identifier: Apache-2.0
"""What the profiler's totals over the whole capture say of host calls, where the calls themselves were not recorded."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.host.host import DEVICE_SOFTWARE
from advisor.analysis.steps.device import drive_collectives
from advisor.facts.base import MISSING
from advisor.facts.derived import CallTotal
from advisor.facts.observed import ApiTotal, HostCall, OperatorTotal
from advisor.facts.table import Array, Table, Texts

_ACTIVITIES = ("dispatch", "synchronise")
_WAIT, _INSIDE = "synchronise", "await_size"


def call_totals(
    totals: Table[ApiTotal], calls: Table[HostCall] | None, kernels: Table[OperatorTotal] | None
) -> Table[CallTotal]:
    """Totals by rank and activity, of ranks without a single recorded call into the software of the device."""
    if calls is not None:
        listed = np.unique(calls["rank"][calls.texts("kind").isin(DEVICE_SOFTWARE)])
        totals = totals.take(~np.isin(totals["rank"], listed))
    waiting = totals.take(totals.texts("activity").isin([_INSIDE]))
    totals = totals.take(totals.texts("activity").isin(_ACTIVITIES))
    totals = totals.take(_of_fullest_level(totals))
    kind = totals.texts("activity")
    groups = group_by(totals["rank"], kind)
    first = groups.first
    main = groups.last_rows(totals["total_us"])
    many, together = groups.sums(totals["calls"]), groups.sums(totals["total_us"])
    rank = totals["rank"][first]
    name, calls_inside, us_inside = _waiting_operators(waiting, np.where(kind.take(first).isin([_WAIT]), rank, MISSING))
    return Table.build(
        CallTotal,
        rank=rank,
        activity=kind.take(first),
        name=totals.texts("name").take(main),
        calls=many,
        total_us=together,
        mean_us=ratio(together, many),
        longest_us=groups.largest(totals["max_us"]),
        kernel_us=_kernel_us_of_ranks(kernels, rank),
        inner_operator=name,
        inner_calls=calls_inside,
        inner_us=np.minimum(us_inside, together),
    )


def _waiting_operators(waiting: Table[ApiTotal], rank: Array) -> tuple[Texts, Array, Array]:
    """Per wanted rank: the operator that waits longest for the device inside of it, the calls and the time (µs) of all
    such; none for a rank that is missing."""
    ranks = group_by(waiting["rank"])
    at = row_of_key(waiting["rank"][ranks.first], rank)
    longest = waiting.texts("name").take(ranks.last_rows(waiting["total_us"])).at(at)
    calls, us = (np.append(ranks.sums(waiting[column]), 0.0)[at] for column in ("calls", "total_us"))
    return longest, calls, us


def _of_fullest_level(totals: Table[ApiTotal]) -> Array:
    """Per row: whether it is of the level on which its rank spent most time on its activity.

    A call into one level of the software makes those into the levels below it, and lasts as long as they do.
    """
    rank, kind = totals["rank"], totals.texts("activity")
    levels = group_by(rank, kind, totals.texts("level"))
    spent = levels.sums(totals["total_us"])
    above = group_by(rank[levels.first], kind.take(levels.first))
    best = above.first_rows(-spent)
    found: Array = np.isin(levels.of, best)
    return found


def _kernel_us_of_ranks(kernels: Table[OperatorTotal] | None, rank: Array) -> Array:
    if kernels is None or not len(kernels):
        return np.full(len(rank), np.nan)
    kernels = kernels.take(~drive_collectives(kernels.texts("op_type")))
    ranks = group_by(kernels["rank"])
    at = row_of_key(kernels["rank"][ranks.first], rank)
    found: Array = np.append(ranks.sums(kernels["total_us"]), np.nan)[at]
    return found
