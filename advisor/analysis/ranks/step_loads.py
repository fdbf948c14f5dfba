# SPDX-License-Identifier: Apache-2.0
"""How much each rank had to do in each step, and how unequal that was among the ranks of a stage.

Time alone does not tell a slow device from more data. The shapes of the inputs do: they grow with what a rank was
given.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio, row_at
from advisor.analysis.arrays.tensors import parse_tensors
from advisor.analysis.operators.expert_loads import are_grouped, rows_of_inputs
from advisor.analysis.rooflines.families import communicate_inside, families_of
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.facts.derived import Overlap, StepLoad, StepWork
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts

_SEVERAL = 2
"""Fewer ranks have nobody to be held against."""


def step_work(kernels: Table[Kernel], split: Table[Overlap]) -> Table[StepWork]:
    """One row per rank and step whose list of kernels is whole."""
    types = kernels.texts("op_type")
    known = row_at(split["rank"], split["step"], kernels["rank"], kernels["step"]) >= 0
    known &= ~communicate_inside(types) & ~np.isnan(kernels["duration_us"])
    cells = group_by(kernels["rank"][known], kernels["step"][known])
    rank, step = kernels["rank"][known][cells.first], kernels["step"][known][cells.first]
    elements = _elements_of_inputs(kernels.texts("input_shapes"))[known]
    told = cells.sums(~np.isnan(elements)) > 0
    grouped = are_grouped(types)[known]
    attends = families_of(types, kernels.texts("core")).isin(["attention"])[known]
    tokens = np.where(grouped, rows_of_inputs(kernels.texts("input_shapes"))[known], 0.0)
    table = Table.build(
        StepWork,
        rank=rank,
        step=step,
        kernel_us=cells.sums(kernels["duration_us"][known]),
        kernels=cells.sizes.astype(np.float64),
        mega_elements=np.where(told, cells.sums(np.nan_to_num(elements)), np.nan) / 1e6,
        attention_us=cells.sums(np.where(attends, kernels["duration_us"][known], 0.0)),
        expert_us=cells.sums(np.where(grouped, kernels["duration_us"][known], 0.0)),
        tokens=np.where(told, cells.sums(np.nan_to_num(tokens)), np.nan),
    )
    return table.take(~lacks_kernel_rows(split, rank, step))


def step_loads(work: Table[StepWork], split: Table[Overlap]) -> Table[StepLoad]:
    """One row per rank and step, of stages in which two ranks or more recorded the step."""
    at = row_at(split["rank"], split["step"], work["rank"], work["step"])
    work, at = work.take(at >= 0), at[at >= 0]
    stage, exposed, free = split["stage"][at], split["exposed_comm_us"][at], split["free_us"][at]
    cells = group_by(stage, work["step"])
    members = cells.sizes[cells.of]
    kernel_us, elements = work["kernel_us"], work["mega_elements"]
    mean_us = cells.means(kernel_us)[cells.of]
    longest = np.zeros(len(work), np.int8)
    longest[cells.first_rows(work["rank"], -kernel_us)] = 1
    whole = (members >= _SEVERAL) & (members == ranks_of_stage(stage, work["rank"]))
    ranks = group_by(work["rank"])
    beyond = np.where(whole, kernel_us - mean_us, 0.0)
    counted = ranks.sums(whole)
    table = Table.build(
        StepLoad,
        rank=work["rank"],
        step=work["step"],
        stage=stage,
        ranks=members.astype(np.float64),
        kernel_us=kernel_us,
        mean_kernel_us=mean_us,
        kernels_ratio=ratio(work["kernels"], cells.means(work["kernels"])[cells.of]),
        elements_ratio=ratio(elements, cells.means(elements)[cells.of]),
        attention_us=work["attention_us"],
        mean_attention_us=cells.means(work["attention_us"])[cells.of],
        expert_us=work["expert_us"],
        mean_expert_us=cells.means(work["expert_us"])[cells.of],
        tokens=work["tokens"],
        mean_tokens=cells.means(work["tokens"])[cells.of],
        exposed_comm_us=exposed,
        others_comm_us=cells.means_of_others(exposed),
        free_us=free,
        others_free_us=cells.means_of_others(free),
        span_us=split["span_us"][at],
        heaviest=longest,
        other_steps_us=ratio(ranks.sums(beyond)[ranks.of] - beyond, counted[ranks.of] - 1.0),
        mean_extra_us=ratio(ranks.sums(beyond), counted)[ranks.of],
    )
    return table.take(whole)


def ranks_of_stage(stage: Array, rank: Array) -> Array:
    """Per row: how many ranks its stage has."""
    ranks = group_by(rank)
    stages = group_by(stage[ranks.first])
    found: Array = stages.sizes[stages.of][ranks.of]
    return found


def _elements_of_inputs(shapes: Texts) -> Array:
    """Per cell: how many elements all inputs have together; missing where no shapes were recorded."""
    counts = [
        sum(tensor.elements for tensor in parse_tensors(name.strip('"')) if tensor is not None) for name in shapes.names
    ]
    return np.array([*(float(count) if count else np.nan for count in counts), np.nan])[shapes.codes]
