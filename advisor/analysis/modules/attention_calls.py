# SPDX-License-Identifier: Apache-2.0
"""Which kernels of attention the marks of the program speak of, and how many operations those have.

A mark is set directly before a call, so that it belongs to the first operator after it on its thread that led to a
kernel which multiplies: between two calls of attention a model multiplies. Where that one is no attention the call led
elsewhere, and the mark belongs to nothing.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.tensors import parse_tensors
from advisor.analysis.modules.module_calls import ChargedWork, LaunchTables, charge_work, linked_operators
from advisor.analysis.operators.launching_operators import lanes_of
from advisor.analysis.rooflines.attention_work import BACKWARD, FORWARD, AttentionArguments, flops_of_marked_attention
from advisor.analysis.rooflines.families import MULTIPLYING, families_of
from advisor.facts.derived import AttentionCall
from advisor.facts.nesting import nest_intervals
from advisor.facts.observed import (
    AttentionMark,
    GradientLink,
    Kernel,
    ModuleRange,
)
from advisor.facts.table import Array, Table, values_at

_TENSORS = ("input_shapes", "input_dtypes", "input_formats", "output_shapes", "output_dtypes")
_UNKNOWN = -1 << 60
_ARGUMENTS = ("layout", "query_ends", "key_ends", "prefixes")


def attention_calls(
    marks: Table[AttentionMark],
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables,
) -> Table[AttentionCall]:
    """One row per kernel of attention that a mark speaks of."""
    kernels, gradients = recorded.kernels, recorded.gradients
    work = charge_work(ranges, recorded)
    marked = _marks_of_operators(marks, kernels, work)
    types, operator = kernels.texts("op_type"), work.operator[: work.kernels]
    mark = np.where(types.isin([FORWARD]), values_at(marked, operator, -1), -1)
    backward = np.flatnonzero(types.isin([BACKWARD]) & (operator >= 0))
    mark[backward] = _marks_of_gradients(marked, work, gradients, operator[backward])
    rows = np.flatnonzero(mark >= 0)
    chosen, said = kernels.take(rows), marks.take(mark[rows])
    return Table.build(
        AttentionCall,
        rank=chosen["rank"],
        start_ns=chosen["start_ns"],
        op_type=chosen.texts("op_type"),
        layout=said.texts("layout"),
        sparse_mode=said["sparse_mode"],
        mega_flops=_flops_of_calls(chosen, said) / 1e6,
    )


def _marks_of_operators(marks: Table[AttentionMark], kernels: Table[Kernel], work: ChargedWork) -> Array:
    """Per operator: the row of the mark that speaks of it, -1 without one."""
    found = np.full(len(work.operators), -1)
    multiplies = families_of(kernels.texts("op_type"), kernels.texts("core")).isin(MULTIPLYING)
    operators = np.unique(work.operator[: work.kernels][multiplies & (work.operator[: work.kernels] >= 0)])
    lanes = lanes_of(marks, work.operators)
    lane, start = lanes[1][operators], work.operators["start_ns"][operators]
    kind = np.repeat(np.array([0, 1], np.int8), [len(marks), len(operators)])  # a mark at the same moment is before it
    order = np.lexsort((kind, np.append(marks["start_ns"], start), np.append(lanes[0], lane)))
    before, after = order[:-1], order[1:]
    told = (kind[before] == 0) & (kind[after] == 1)
    before, after = before[told], after[told] - len(marks)
    same = lanes[0][before] == lane[after]
    found[operators[after[same]]] = before[same]
    return found


def _marks_of_gradients(
    marked: Array, work: ChargedWork, gradients: Table[GradientLink] | None, backward: Array
) -> Array:
    """Per operator of the backward pass: the mark of the call whose gradient it computes.

    Where one operator holds several calls that were marked, which of them is not known.
    """
    operators = work.operators
    (lane,) = lanes_of(operators)
    start, end = operators["start_ns"], operators["end_ns"]
    of_forward, of_backward = linked_operators(operators, gradients)

    def around(rows: Array, inner: Array) -> Array:
        place = nest_intervals(lane[rows], start[rows], end[rows]).around(lane[inner], start[inner], end[inner])
        return place

    calls = np.flatnonzero(marked >= 0)
    holder = around(of_forward, calls)
    held = np.bincount(holder[holder >= 0], minlength=len(of_forward))
    mark = np.full(len(of_forward), -1)
    mark[holder[holder >= 0]] = marked[calls[holder >= 0]]
    return values_at(np.where(held == 1, mark, -1), around(of_backward, backward), -1)


def _flops_of_calls(kernels: Table[Kernel], said: Table[AttentionMark]) -> Array:
    """Per kernel: its operations; NaN where mark and shapes do not tell."""
    texts = [kernels.texts(name) for name in ("op_type", *_TENSORS)]
    words = [said.texts(name) for name in _ARGUMENTS]
    numbers = [said[name] for name in ("sparse_mode", "previous_tokens", "next_tokens")]
    groups = group_by(*texts, *words, *(np.nan_to_num(values, nan=_UNKNOWN).astype(np.int64) for values in numbers))
    first, found = groups.first, []
    columns = [column.take(first).values() for column in (*texts, *words)]
    for row in zip(*columns, *(values[first].tolist() for values in numbers), strict=True):
        op_type, shapes, dtypes, formats, made, made_dtypes, layout, *ends, prefixes, mode, before, after = row
        given = AttentionArguments(layout or "", mode, before, after, *map(_numbers, (*ends, prefixes)))
        tensors = parse_tensors(shapes, dtypes, formats), parse_tensors(made, made_dtypes)
        flops = flops_of_marked_attention(op_type or "", *tensors, given)
        found.append(np.nan if flops is None else flops)
    return np.array(found, float)[groups.of]


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",")) if text else ()
