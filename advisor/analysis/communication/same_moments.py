# SPDX-License-Identifier: Apache-2.0
"""Whether what two ranks did together happened at one moment, whatever their clocks say.

All ranks leave a collective at about the same time: brought to one clock, its calls end together. By how much two
clocks differ is taken from the calls themselves, as the difference that most of their ends are near to.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.facts.table import Array

SLACK_NS = 1e6
"""Ends of one operation differ by 0.01 ms between ranks of one host (public captures of Ascend 910B, Ascend/msinsight)
and by up to 0.4 ms (traces of HolisticTraceAnalysis)."""
DRIFT = 2e-3
"""So fast may one clock gain on another: those of the two ranks of a public msprof capture of 2023
(mindspore-ai/mindinsight) do by 1.9 ms a second."""
PART = 0.1
"""Of the shorter call: ends so near change little of what the longer one waited."""
_ENOUGH = 8
"""So many calls tell what clocks differ by: of few, the most common difference is that of chance."""


class _Differences(Struct, frozen=True):
    """Of calls of one operation each: how much later one ended than that of the lowest rank, pair of ranks by pair."""

    row: Array
    lowest: Array
    """Row of the call of the lowest rank."""
    pair: Groups
    ns: Array
    when: Array
    """End of the call of the lowest rank."""


def lie_apart(rank: Array, start_ns: Array, lasted_us: Array, operations: Groups) -> Array:
    """Per call of a synchronising operation: whether it cannot be the one of the lowest rank in the same operation.

    Times are ns of each rank's own clock, from wherever it counts. Where only two operations are known of a pair of
    ranks and contradict each other, neither is taken for one.
    """
    apart = np.zeros(len(rank), bool)
    if len(operations) == len(rank):
        return apart
    found = _ends_beside_lowest(rank, start_ns, lasted_us, operations)
    usual, when = _most_common(found)
    shorter = np.minimum(lasted_us[found.row], lasted_us[found.lowest]) * 1e3
    allowed = SLACK_NS + PART * shorter + DRIFT * np.abs(found.when - when[found.pair.of])
    apart[found.row] = np.abs(found.ns - usual[found.pair.of]) > allowed
    return apart


class EndsBeside(Struct, frozen=True):
    """Calls beside that of the lowest rank in the same operation, on one clock."""

    row: Array
    lowest: Array
    """Row of the call of the lowest rank."""
    off_ns: Array
    """How much later it ended than that one, beyond what most calls of the two ranks do."""


def ends_on_one_clock(rank: Array, start_ns: Array, lasted_us: Array, operations: Groups, stretch: Array) -> EndsBeside:
    """How far calls of one operation end from each other, as far as clocks differ by one amount within a stretch, such
    as a step. Where a pair of ranks has fewer than eight in a stretch, all of them are one."""
    found = _ends_beside_lowest(rank, start_ns, lasted_us, operations)
    pairs = group_by(found.pair.of, stretch[found.row])
    if len(pairs) and np.median(pairs.sizes) >= _ENOUGH:
        found = replace(found, pair=pairs)
    return EndsBeside(found.row, found.lowest, found.ns - _most_common(found)[0][found.pair.of])


def _ends_beside_lowest(rank: Array, start_ns: Array, lasted_us: Array, operations: Groups) -> _Differences:
    end = (start_ns - start_ns.min()).astype(np.float64) + lasted_us * 1e3  # 2**53 ns are 104 days
    lowest = operations.first_rows(rank)[operations.of]
    row = np.flatnonzero(rank != rank[lowest])
    pair = group_by(rank[lowest[row]], rank[row])
    return _Differences(row, lowest[row], pair, end[row] - end[lowest[row]], end[lowest[row]])


def _most_common(found: _Differences) -> tuple[Array, Array]:
    """Per pair of ranks: the difference that most of its calls are near to, and when those ended.

    The half-sample mode (Robertson and Cryer 1974; Bickel and Fruehwirth 2006): of all the half that lies closest
    together, of that again the closest half, until two are left. More of them may be wrong than for a median.
    """
    order = np.lexsort((found.ns, found.pair.of))
    ns, when = found.ns[order], found.when[order]
    left = found.pair.sizes
    begin = np.cumsum(left) - left
    while left.max(initial=0) > 2:  # noqa: PLR2004 - of two neither is closer
        half = np.where(left > 2, left // 2 + 1, left)  # noqa: PLR2004
        choices = left - half + 1
        of = np.repeat(np.arange(len(left)), choices)
        at = np.arange(len(of)) - np.repeat(np.cumsum(choices) - choices, choices) + begin[of]
        width = ns[at + half[of] - 1] - ns[at]
        best = np.lexsort((width, of))[np.cumsum(choices) - choices]
        begin, left = at[best], half
    last = begin + left - 1
    return (ns[begin] + ns[last]) / 2, (when[begin] + when[last]) / 2
