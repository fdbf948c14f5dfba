# SPDX-License-Identifier: Apache-2.0
"""What is computed again inside the backward pass, because its activations were not kept.

It shows in four ways, each with what it tells apart. Checkpointing has a call of its own in the backward pass, in which
the forward operators run before a backward pass of their own. A module that is called inside of a backward operator is
one that runs again. MindSpore names the copies of its operators. And where none of that was recorded, layers of several
kinds run again where only backward operators do: what ran before the last of them, in the same call of the engine,
belongs to them.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.job.job_signs import LAYER_CALLS
from advisor.analysis.modules.module_calls import RECOMPUTE, ChargedWork, LaunchTables, charge_work
from advisor.analysis.operators.kernel_costs import decisive_work_beside, undisturbed_ns
from advisor.analysis.operators.launching_operators import lanes_of
from advisor.analysis.operators.operators import in_steps
from advisor.analysis.steps.device import build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import MemoryPeak, Overlap, Recomputation
from advisor.facts.nesting import Nest, nest_intervals
from advisor.facts.observed import (
    Collective,
    HostCall,
    Kernel,
    ModuleRange,
    StepWindow,
)
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing

SEEN_AS = ("checkpoint", "module", "name", "layers")
_CHECKPOINT, _MODULE, _NAME, _LAYERS = range(4)

_CHECKPOINTS = re.compile(
    r"(Lookahead)?Checkpoint\w*Backward\d*$"
    r"|(?:.*/)?(torch/utils/checkpoint|tensor_parallel/random|activation_checkpointing/checkpointing)\.py\(\d+\): "
    r"(unpack_hook|recompute_fn|backward|recompute|_recompute)$"
)
"""Calls in which something is computed again: of PyTorch, reentrant or not, Megatron, MindSpeed and DeepSpeed."""
_LAYERS_CALLED = tuple(re.compile(names) for _, names in LAYER_CALLS)
_BACKWARD = re.compile(r"autograd::engine::evaluate_function: |\w+Backward\d*$")
_NAMED = re.compile(r"(Gradients/)?recompute\w*/", re.IGNORECASE)
"""How MindSpore begins the name of an operator that runs again."""
_MARKED = ("step", "optimizer", "data_loader")
"""Kinds of calls of the thread that runs the forward pass."""
SEVERAL = 2
"""So many kinds of layers make a model that runs again; one alone may be how somebody wrote a backward operator."""


class _Calls(Struct, frozen=True):
    """The calls of a backward pass, and what of them is known to run again; rows of `nest` count these calls."""

    lane_of_operators: Array
    """Per operator that work is charged to: the number of its thread, as in both nests."""
    nest: Nest
    again: Array
    """Per call: whether it is one of checkpointing."""
    last: Array
    """Per call: when the last layer ended that runs again directly inside of it."""
    outside: Nest
    """Layers that run again outside of these calls, on threads that have no others."""


def recomputations(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables | None,
    *,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    peaks: Table[MemoryPeak] | None = None,
) -> Table[Recomputation]:
    """One row per rank on which anything is computed again.

    Raises:
        FactMissing: No calls of the host were recorded, and no kernel has the name of one that runs again.
    """
    names = kernels.texts("op_name")
    seen = np.where(names.passing(_NAMED.match), _NAME, -1)
    if recorded is not None:
        seen = np.where(seen >= 0, seen, _seen_by_calls(recorded.calls, charge_work(ranges, recorded)))
    elif not (seen >= 0).any():
        raise FactMissing([HostCall.table])
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    mine = np.flatnonzero(seen[device.work.row[every.row]] >= 0)
    chosen = every.take(mine)
    groups = group_by(chosen.table["rank"])
    first = groups.first
    beside = decisive_work_beside(device, kernels, collectives)
    unshared = undisturbed_ns(device, chosen.row, groups.of, len(groups), beside) / 1e3
    rank, total = chosen.table["rank"][first], groups.sums(chosen.duration_us)
    worst = groups.first_rows(chosen.table["start_ns"], -chosen.duration_us)
    told = Texts(seen[device.work.row[chosen.row]].astype(np.int32), SEEN_AS)
    return Table.build(
        Recomputation,
        rank=rank,
        seen_as=groups.leading(told, chosen.duration_us),
        kernels=groups.sizes / chosen.steps[first],
        total_us=total / chosen.steps[first],
        unshared_us=np.where(chosen.whole[first], unshared, np.nan) / chosen.steps[first],
        kernel_share=ratio(total, _all_kernels_of(every.table["rank"], every.duration_us, rank)),
        taken_share=_taken_shares(peaks, rank),
        worst=chosen.table.texts("op_name").take(worst),
        worst_start_ns=chosen.table["start_ns"][worst],
        worst_us=chosen.duration_us[worst],
    )


def _all_kernels_of(ranks: Array, duration: Array, wanted: Array) -> Array:
    every = group_by(ranks)
    return every.sums(duration)[row_of_key(ranks[every.first], wanted)]


def _taken_shares(peaks: Table[MemoryPeak] | None, rank: Array) -> Array:
    """Per rank: the part of its device's memory that is taken at the peak; missing where either is not known."""
    if peaks is None or not len(peaks):
        return np.full(len(rank), np.nan)
    groups = group_by(peaks["rank"])
    share = ratio(groups.largest(peaks["reserved_bytes"]), groups.largest(peaks["capacity_bytes"]))
    return values_at(share, row_of_key(peaks["rank"][groups.first], rank), np.nan)


def _seen_by_calls(calls: Table[HostCall], work: ChargedWork) -> Array:
    """Per kernel: how it shows that it is computed again, -1 where it does not."""
    operator, operators = work.operator[: work.kernels], work.operators
    telling = _telling_calls(calls, operators)
    lane, start, end = (
        values_at(column, operator, -1)
        for column in (telling.lane_of_operators, operators["start_ns"], operators["end_ns"])
    )
    around, outside = telling.nest.around(lane, start, end), telling.outside.around(lane, start, end)
    layers = (start < values_at(telling.last, around)) | (outside >= 0)
    modules = (work.phase[: work.kernels] == RECOMPUTE) & (work.path[: work.kernels] > 0)
    again = values_at(telling.again.astype(np.int8), around, 0) > 0
    seen = np.where(again, _CHECKPOINT, np.where(modules, _MODULE, np.where(layers, _LAYERS, -1)))
    return np.where(operator >= 0, seen, -1)


def _telling_calls(calls: Table[HostCall], operators: Table[HostCall]) -> _Calls:
    name, timed = calls.texts("name"), calls["start_ns"] != MISSING
    again = name.passing(_CHECKPOINTS.match)
    backward = name.passing(_BACKWARD.match) & ~again
    kind = np.array([*map(_kind_of_layer, name.names), -1], np.int8)[name.codes]
    rows, of_layers, of_marks = (
        np.flatnonzero(chosen & timed) for chosen in (again | backward, kind >= 0, calls.texts("kind").isin(_MARKED))
    )
    passes, layers, kind = calls.take(rows), calls.take(of_layers), kind[of_layers]
    lane, lane_of_layers, lane_of_marks, lane_of_operators = lanes_of(passes, layers, calls.take(of_marks), operators)
    nest = nest_intervals(lane, passes["start_ns"], passes["end_ns"])
    around = nest.around(lane_of_layers, layers["start_ns"], layers["end_ns"])
    inside = values_at(backward[rows].astype(np.int8), around, 0) > 0
    alone = np.setdiff1d(lane, np.append(lane_of_marks, _lanes_of_forward(lane, passes, lane_of_layers, layers)))
    repeated = inside | ((around < 0) & np.isin(lane_of_layers, alone))
    repeated &= np.isin(layers["rank"], _ranks_with_several(layers["rank"][repeated], kind[repeated]))
    last = np.full(len(rows), MISSING)
    np.maximum.at(last, around[repeated & inside], layers["end_ns"][repeated & inside])
    free = np.flatnonzero(repeated & ~inside)
    outside = nest_intervals(lane_of_layers[free], layers["start_ns"][free], layers["end_ns"][free])
    return _Calls(lane_of_operators, nest, again[rows], last, outside)


def _lanes_of_forward(lane: Array, passes: Table[HostCall], lane_of_layers: Array, layers: Table[HostCall]) -> Array:
    """Threads on which a layer runs before any call of a backward pass."""
    lanes = group_by(np.append(lane, lane_of_layers))
    start = np.append(passes["start_ns"], layers["start_ns"])
    first = lanes.smallest(np.where(np.arange(len(start)) < len(lane), start, np.inf))
    begun = lanes.smallest(np.where(np.arange(len(start)) < len(lane), np.inf, start))
    return np.append(lane, lane_of_layers)[lanes.first[begun < first]]


def _ranks_with_several(rank: Array, kind: Array) -> Array:
    """Ranks on which layers of so many kinds run."""
    kinds = group_by(rank, kind)
    ranks = group_by(rank[kinds.first])
    return rank[kinds.first][ranks.first][ranks.sizes >= SEVERAL]


def _kind_of_layer(name: str) -> int:
    if "::" not in name:  # most calls are of no operator of a framework, as all of these are
        return -1
    return next((kind for kind, pattern in enumerate(_LAYERS_CALLED) if pattern.match(name)), -1)
