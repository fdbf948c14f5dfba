# SPDX-License-Identifier: Apache-2.0
"""Pipeline stages: what each computes in a step, and how long it waits for its neighbours."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, StageTime
from advisor.facts.observed import Collective, Group
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run

_AVERAGED = ("span_us", "compute_us", "exposed_comm_us", "bubble_us", "free_us")
_NEARLY = 0.9
"""Stages of a balanced pipeline wait equally long but for noise: the first of them stands for all."""


def stage_times(run: Run, split: Table[Overlap], collectives: Table[Collective] | None = None) -> Table[StageTime]:
    """One row per step and stage.

    Raises:
        FactMissing: The stage of no rank is known.
    """
    split = split.take(split["stage"] != MISSING)
    if not len(split):
        raise FactMissing([Group.table])
    groups = group_by(split["step"], split["stage"])
    first = groups.first
    ranks = group_by(groups.of, split["rank"])
    count = max(len(run.parallel.stages), len(np.unique(split["stage"])))
    of_stage = group_by(split["stage"][first])
    means = {name: groups.means(split[name]) for name in _AVERAGED}
    steps = group_by(split["step"][first])
    unseen = steps.largest(means["span_us"])[steps.of] - means["span_us"]
    compute = of_stage.means(means["compute_us"])
    waiting = of_stage.means(means["bubble_us"] + unseen)
    return Table.build(
        StageTime,
        step=split["step"][first],
        stage=split["stage"][first],
        stages=np.full(len(groups), float(count)),
        ranks=np.bincount(groups.of[ranks.first], minlength=len(groups)).astype(np.float64),
        slowest_compute_us=groups.largest(split["compute_us"]),
        **means,
        unseen_us=unseen,
        micro_batches=_micro_batches(split, collectives),
        average_compute_us=np.full(len(groups), compute.mean()),
        average_waiting_us=np.full(len(groups), waiting.mean()),
        heaviest=_flag_first(compute == np.fmax.reduce(compute))[of_stage.of],
        waits_most=_flag_first(waiting >= _NEARLY * np.fmax.reduce(waiting))[of_stage.of],
    )


def _micro_batches(split: Table[Overlap], collectives: Table[Collective] | None) -> float:
    """Micro-batches per step, by the rank that sends least; NaN where no send was recorded.

    The first and the last stage send once per micro-batch. Where sends and receives are batched, each joins the two
    but the first and the last of a step, of which one only sends and one only receives: one more than micro-batches.
    """
    if collectives is None:
        return np.nan
    collectives = collectives.take(np.isin(collectives["step"], split["step"]))
    for op, alone in (("send", 0), ("batchSendRecv", 1)):
        calls = collectives.take(collectives.texts("op").isin([op]))
        per_cell = group_by(calls["rank"], calls["step"]).sizes
        if len(per_cell):
            return float(max(per_cell.min() - alone, 1))
    return np.nan


def _flag_first(these: Array) -> Array:
    """Only the first of these, as a flag; the first of all where nothing is known."""
    flags = np.zeros(len(these), np.int8)
    flags[np.argmax(these)] = 1
    return flags
