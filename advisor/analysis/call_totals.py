# SPDX-License-Identifier: Apache-2.0
"""What the profiler's totals over the whole capture say of host calls, where the calls themselves were not recorded."""

from __future__ import annotations

import numpy as np

from advisor.analysis.device import drive_collectives
from advisor.analysis.grouping import grouped, matched, ratio
from advisor.analysis.host import CANN, DISPATCH, SYNCHRONISE
from advisor.facts.derived import CallTotal
from advisor.facts.observed import ApiTotal, HostCall, OperatorTotal
from advisor.facts.table import Array, Table, Texts

_ACTIVITIES = (("dispatch", DISPATCH), ("synchronise", SYNCHRONISE))


def call_totals(
    totals: Table[ApiTotal], calls: Table[HostCall] | None, kernels: Table[OperatorTotal] | None
) -> Table[CallTotal]:
    """Totals by rank and activity, of ranks without a single recorded call of CANN."""
    if calls is not None:
        listed = np.unique(calls["rank"][calls.texts("kind").isin(CANN)])
        totals = totals.take(~np.isin(totals["rank"], listed))
    kind = _activity(totals.texts("name"))
    totals, kind = totals.take(kind.codes >= 0), kind.take(kind.codes >= 0)
    groups = grouped(totals["rank"], kind)
    first = groups.first
    order = np.lexsort((totals["total_us"], groups.of))
    main = order[np.append(np.diff(groups.of[order]) != 0, True)[: len(order)]]
    many, together = groups.sums(totals["calls"]), groups.sums(totals["total_us"])
    return Table.build(
        CallTotal,
        rank=totals["rank"][first],
        activity=kind.take(first),
        name=totals.texts("name").take(main),
        calls=many,
        total_us=together,
        mean_us=ratio(together, many),
        longest_us=groups.largest(totals["max_us"]),
        kernel_us=_computing(kernels, totals["rank"][first]),
    )


def _activity(names: Texts) -> Texts:
    """The activity of each call by its name; the runtime's own call of the same name is the one inside it."""
    found = np.full(len(names.codes), -1, np.int32)
    for code, (_, pattern) in enumerate(_ACTIVITIES):
        found[names.hits(pattern.match(name) is not None and not name.startswith("rt") for name in names.names)] = code
    return Texts(found, tuple(activity for activity, _ in _ACTIVITIES))


def _computing(kernels: Table[OperatorTotal] | None, rank: Array) -> Array:
    if kernels is None or not len(kernels):
        return np.full(len(rank), np.nan)
    kernels = kernels.take(~drive_collectives(kernels.texts("op_type")))
    ranks = grouped(kernels["rank"])
    at = matched(kernels["rank"][ranks.first], rank)
    found: Array = np.append(ranks.sums(kernels["total_us"]), np.nan)[at]
    return found
