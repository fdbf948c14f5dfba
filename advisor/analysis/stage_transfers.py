# SPDX-License-Identifier: Apache-2.0
"""Which sends and receives join stages of a pipeline, and for how many micro-batches.

Rings of attention, among others, send from rank to rank too.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Collective
from advisor.facts.table import Array, Table

_INSIDE_A_STAGE = ("cp", "sp", "tp", "dp", "ep")
"""How kinds of groups begin whose ranks work on the same layers."""


def are_between_stages(calls: Table[Collective] | Table[CollectiveCall]) -> Array:
    """Per call: whether it sends or receives, and not in a group that is known to lie inside of a stage."""
    found: Array = (calls["p2p"] == 1) & ~are_inside_stages(calls)
    return found


def are_inside_stages(calls: Table[Collective] | Table[CollectiveCall]) -> Array:
    """Per call: whether its group is known to lie inside of a stage."""
    kinds = calls.texts("group_kind")
    return kinds.hits(kind.startswith(_INSIDE_A_STAGE) for kind in kinds.names)


def count_micro_batches(calls: Table[CollectiveCall], stage: Array) -> tuple[float, float]:
    """Micro-batches per step, and virtual stages of each stage, by what ranks of all stages send; NaN where unknown.

    With v virtual stages and m micro-batches the first and the last stage send (2v - 1)m times, those between them 2vm
    times: m is the difference. Where there are none between, or none of virtual stages fits, m is what those send that
    send least. Where sends and receives are batched, each joins the two but the first and the last of a step, of which
    one only sends and one only receives: one more than micro-batches.

    Args:
        calls: Those of known steps.
        stage: Of the rank of each.
    """
    ops, between = calls.texts("op"), ~are_inside_stages(calls)
    for op, alone in (("send", 0), ("batchSendRecv", 1)):
        chosen = np.flatnonzero(ops.isin([op]) & between)
        if len(chosen):
            steps = group_by(calls["rank"][chosen], calls["step"][chosen])
            told = None if alone else _told_by_middle_stages(stage[chosen][steps.first], steps.sizes)
            return told or (float(max(steps.sizes.min() - alone, 1)), np.nan)
    return np.nan, np.nan


def _told_by_middle_stages(stage: Array, sent: Array) -> tuple[float, float] | None:
    """The same where all first and last stages send alike, and all of those between them."""
    at_end = np.isin(stage, [stage.min(), stage.max()])
    ends, middle = np.unique(sent[at_end]), np.unique(sent[~at_end])
    if len(ends) != 1 or len(middle) != 1:
        return None
    batches = int(middle[0] - ends[0])
    return (batches, middle[0] / (2 * batches)) if batches > 0 and ends[0] % (2 * batches) == batches else None
