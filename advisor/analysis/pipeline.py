# SPDX-License-Identifier: Apache-2.0
"""Pipeline stages: what each computes in a step, and how long it waits for its neighbours."""

from __future__ import annotations

import numpy as np

from advisor.analysis.grouping import group_by, row_at
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Overlap, StageTime
from advisor.facts.observed import Group
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run

_AVERAGED = ("span_us", "exposed_comm_us", "bubble_us", "free_us")
_NEARLY = 0.9
"""Stages of a balanced pipeline wait equally long but for noise: the first of them stands for all."""


def stage_times(run: Run, split: Table[Overlap], calls: Table[CollectiveCall] | None = None) -> Table[StageTime]:
    """One row per step and stage.

    Raises:
        FactMissing: The stage of no rank is known: groups tell it, or the rows of stages of a summary.
    """
    split = split.take(split["stage"] != MISSING)
    if not len(split):
        raise FactMissing([StageTime.table if run.is_summary else Group.table])
    groups = group_by(split["step"], split["stage"])
    first = groups.first
    ranks = group_by(groups.of, split["rank"])
    count = max(len(run.parallel.stages), len(np.unique(split["stage"])))
    of_stage = group_by(split["stage"][first])
    means = {name: groups.means(split[name]) for name in _AVERAGED}
    means["compute_us"] = groups.lower_medians(split["compute_us"])  # a single slow rank makes no stage heavy
    steps = group_by(split["step"][first])
    unseen = steps.largest(means["span_us"])[steps.of] - means["span_us"]
    compute = of_stage.means(means["compute_us"])
    waiting = of_stage.means(means["bubble_us"] + unseen)
    moving = of_stage.means(groups.means(_moving_us(split, calls)))
    of_all = np.where(len(of_stage) < count, np.nan, 1.0)  # of a stage that was not captured nobody knows how it works
    return Table.build(
        StageTime,
        step=split["step"][first],
        stage=split["stage"][first],
        stages=np.full(len(groups), float(count)),
        ranks=np.bincount(groups.of[ranks.first], minlength=len(groups)).astype(np.float64),
        slowest_compute_us=groups.largest(split["compute_us"]),
        **means,
        unseen_us=unseen,
        micro_batches=_micro_batches(split, calls),
        average_compute_us=np.full(len(groups), compute.mean() * of_all),
        average_waiting_us=np.full(len(groups), waiting.mean() * of_all),
        average_unseen_us=np.full(len(groups), of_stage.means(unseen).mean() * of_all),
        average_moving_us=np.full(len(groups), moving.mean() * of_all),
        heaviest=_flag_first(compute == np.fmax.reduce(compute))[of_stage.of],
        waits_most=_flag_first(waiting >= _NEARLY * np.fmax.reduce(waiting))[of_stage.of],
    )


def _moving_us(split: Table[Overlap], calls: Table[CollectiveCall] | None) -> Array:
    """Per rank and step: how long data of sends or receives move with no kernel beside them, at the least.

    A rank may send and receive at the same time: the direction counts that takes longer, and batches of both. Missing
    where a step has no such call of which that is known.
    """
    if calls is None:
        return np.full(len(split), np.nan)
    calls = calls.take((calls["p2p"] == 1) & ~np.isnan(calls["bare_transit_us"]))
    cell = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    known, ops = cell >= 0, calls.texts("op")
    sent, received = (known & ops.isin([op]) for op in ("send", "receive"))
    sums = [
        np.bincount(cell[some], weights=calls["bare_transit_us"][some], minlength=len(split))
        for some in (sent, received, known & ~sent & ~received)
    ]
    seen = np.bincount(cell[known], minlength=len(split)) > 0
    return np.where(seen, np.maximum(sums[0], sums[1]) + sums[2], np.nan)


def _micro_batches(split: Table[Overlap], calls: Table[CollectiveCall] | None) -> float:
    """Micro-batches per step, by the rank that sends least of those whose step is known; NaN where none sends.

    The first and the last stage send once per micro-batch. Where sends and receives are batched, each joins the two
    but the first and the last of a step, of which one only sends and one only receives: one more than micro-batches.
    """
    if calls is None:
        return np.nan
    calls = calls.take(row_at(split["rank"], split["step"], calls["rank"], calls["step"]) >= 0)
    for op, alone in (("send", 0), ("batchSendRecv", 1)):
        chosen = calls.take(calls.texts("op").isin([op]))
        per_cell = group_by(chosen["rank"], chosen["step"]).sizes
        if len(per_cell):
            return float(max(per_cell.min() - alone, 1))
    return np.nan


def _flag_first(these: Array) -> Array:
    """Only the first of these, as a flag; the first of all where nothing is known."""
    flags = np.zeros(len(these), np.int8)
    flags[np.argmax(these)] = 1
    return flags
