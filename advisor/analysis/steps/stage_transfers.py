# SPDX-License-Identifier: Apache-2.0
"""Which sends and receives join stages of a pipeline, and for how many micro-batches.

Rings of attention, among others, send from rank to rank too.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
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


def count_micro_batches(calls: Table[CollectiveCall], stage: Array, stages: int) -> tuple[float, float]:
    """Micro-batches per step, and virtual stages of each stage, by what ranks of the stages send; NaN where unknown.

    With v virtual stages and m micro-batches the first and the last stage send (2v - 1)m times, those between them 2vm
    times: m is the difference. Where there are none between, or none of virtual stages fits, each stage is taken for
    one: m is what the first and the last send, whichever sends less, or half of what those between them do. Where sends
    and receives are batched, a stage joins the two but while it fills and drains (see `_batched_alone`).

    Args:
        calls: Those of known steps.
        stage: Of the rank of each.
        stages: How many the pipeline has.
    """
    ops, between = calls.texts("op"), ~are_inside_stages(calls)
    for op in ("send", "batchSendRecv"):
        chosen = np.flatnonzero(ops.isin([op]) & between)
        if not len(chosen):
            continue
        steps = group_by(calls["rank"][chosen], calls["step"][chosen])
        here, sent = stage[chosen][steps.first], steps.sizes
        if op == "send" and (told := _told_by_middle_stages(here, sent, stages)):
            return told
        if op == "batchSendRecv":
            sent = sent - _batched_alone(here, stages)
        ends = (here == 0) | (here == stages - 1)
        least = sent[ends].min() if ends.any() else sent.min() // 2
        return float(max(least, 1)), np.nan
    return np.nan, np.nan


def _batched_alone(stage: Array, stages: int) -> Array:
    """Per stage: how often, at one forward and one backward in turn, it only sends or only receives beyond the rest.

    Until the last stage has its first micro-batch a stage fills: it passes on one for each stage behind it. It drains
    likewise. The first one counts m batches beside these, the last one m and one, and those between them 2m.
    """
    behind = stages - 1 - stage
    return np.where(stage == stages - 1, 1, np.where(stage == 0, behind, 2 * behind + 1))


def _told_by_middle_stages(stage: Array, sent: Array, stages: int) -> tuple[float, float] | None:
    """The same where all first and last stages send alike, and all of those between them."""
    at_end = np.isin(stage, [0, stages - 1])
    ends, middle = np.unique(sent[at_end]), np.unique(sent[~at_end])
    if len(ends) != 1 or len(middle) != 1:
        return None
    batches = int(middle[0] - ends[0])
    return (batches, middle[0] / (2 * batches)) if batches > 0 and ends[0] % (2 * batches) == batches else None
