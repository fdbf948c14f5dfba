# SPDX-License-Identifier: Apache-2.0
"""How unequal the tokens of each layer's experts are among ranks, where another rank has most in each layer.

All ranks wait in every layer for the experts that were sent most tokens there. Over all layers of a step the sums of
the ranks may be alike all the same.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, row_at
from advisor.analysis.operators.expert_loads import are_grouped, rows_of_inputs
from advisor.analysis.ranks.step_loads import ranks_of_stage
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.facts.derived import ExpertCall, ExpertStep, Overlap
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table

_CHOICES = 2
"""Fewer ranks have nobody to send their tokens to."""


def expert_calls(kernels: Table[Kernel], split: Table[Overlap]) -> Table[ExpertCall]:
    """One row per grouped multiplication of steps whose list of kernels is whole."""
    of_step = row_at(split["rank"], split["step"], kernels["rank"], kernels["step"]) >= 0
    used = are_grouped(kernels.texts("op_type")) & of_step & ~np.isnan(kernels["duration_us"])
    calls = kernels.take(np.flatnonzero(used))
    rank, step = calls["rank"], calls["step"]
    table = Table.build(
        ExpertCall,
        rank=rank,
        step=step,
        turn=group_by(rank, step).turns(calls["start_ns"]),
        tokens=rows_of_inputs(calls.texts("input_shapes")),
        duration_us=calls["duration_us"],
    )
    return table.take(~lacks_kernel_rows(split, rank, step))


def expert_steps(calls: Table[ExpertCall], split: Table[Overlap]) -> Table[ExpertStep]:
    """One row per stage and step in which all of its ranks that have experts called them equally often.

    Where no shapes were recorded nobody can be told to have most tokens: what rests on that is missing.
    """
    at = row_at(split["rank"], split["step"], calls["rank"], calls["step"])
    calls, at = calls.take(at >= 0), at[at >= 0]
    calls, at = _called_alike(calls, at, split["stage"][at])
    stage, step, turn = split["stage"][at], calls["step"], calls["turn"]
    meets = group_by(stage, step, turn)
    steps = group_by(stage[meets.first], step[meets.first])
    heavy, told = _ranks_sent_most(calls, meets, steps, turn[meets.first])
    us, tokens = calls["duration_us"], calls["tokens"]
    counted = steps.sums(np.isfinite(meets.largest(tokens)))

    def where_counted(values: Array) -> Array:
        return np.where(counted > 0, values, np.nan)

    row = row_at(meets.of, calls["rank"], np.arange(len(meets)), heavy)
    beyond = us - meets.means(us)[meets.of]
    excess = np.where(row >= 0, np.append(beyond, 0.0)[row], 0.0)
    first = meets.first[steps.first]
    sums = group_by(stage, step, calls["rank"])
    by_rank = group_by(stage[sums.first], step[sums.first])  # numbered like `steps`: by the same keys
    exposed = split["exposed_comm_us"][at[sums.first]]
    return Table.build(
        ExpertStep,
        step=step[first],
        stage=stage[first],
        ranks=by_rank.sizes.astype(np.float64),
        calls=steps.sizes.astype(np.float64),
        most_tokens=where_counted(steps.sums(np.where(told, meets.largest(tokens), 0.0))),
        mean_tokens=where_counted(steps.sums(np.where(told, meets.means(tokens), 0.0))),
        expert_us=by_rank.means(sums.sums(us)),
        beyond_mean_us=where_counted(np.maximum(steps.sums(excess), 0)),
        standing_us=np.maximum(by_rank.largest(sums.sums(beyond)), 0),
        in_turn=where_counted(_count_different(steps.of[told], heavy[told], len(steps))),
        exposed_comm_us=by_rank.means(exposed),
    )


def _called_alike(calls: Table[ExpertCall], at: Array, stage: Array) -> tuple[Table[ExpertCall], Array]:
    """The calls of steps in which all ranks of a stage made as many of them, and their rows of the steps."""
    cells = group_by(calls["rank"], calls["step"])
    first = cells.first
    steps = group_by(stage[first], calls["step"][first])
    count = cells.sizes.astype(np.float64)
    alike = steps.largest(count) == steps.smallest(count)
    whole = (steps.sizes >= _CHOICES)[steps.of] & (steps.sizes[steps.of] == ranks_of_stage(stage, calls["rank"])[first])
    kept = np.flatnonzero((alike[steps.of] & whole)[cells.of])
    return calls.take(kept), at[kept]


def _ranks_sent_most(calls: Table[ExpertCall], meets: Groups, steps: Groups, turn: Array) -> tuple[Array, Array]:
    """Per call of all ranks the rank that was sent most tokens, or -1; and whether its own rows tell.

    Multiplications that compute the gradient of the experts' weights have inputs of one size on all ranks: they stand
    behind one of the same layer that tells.
    """
    tokens = calls["tokens"]
    most = meets.first_rows(calls["rank"], -np.nan_to_num(tokens, nan=-1.0))
    told = meets.largest(tokens) > meets.smallest(tokens)
    by_turn = steps.in_order(turn)
    place = np.empty(len(by_turn), np.int64)
    place[by_turn] = np.arange(len(by_turn))
    begin = (np.cumsum(steps.sizes) - steps.sizes)[steps.of]
    last = np.maximum.accumulate(np.where(told[by_turn], np.arange(len(by_turn)), -1))[place]
    rank = calls["rank"][most][by_turn][last]
    return np.where(last >= begin, rank, -1), told


def _count_different(group: Array, value: Array, groups: int) -> Array:
    """Per group: how many different values it has."""
    one_each = group_by(group, value).first
    return np.bincount(group[one_each], minlength=groups).astype(np.float64)
