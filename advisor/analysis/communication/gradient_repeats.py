# SPDX-License-Identifier: Apache-2.0
"""Over how many micro-batches gradients are accumulated in a step, by how often its gradient kernels repeat."""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.steps.device import kernel_times
from advisor.facts.base import MISSING
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts

_BACKWARD_NAMES = re.compile(
    r"\w+Grad(V\d+|D|Ext)?$|.*(Backprop(Input|Filter)|_backward\b|_backward_|[_:](dgrad|wgrad)\b)"
)
"""Types of operators that run in the backward pass alone."""
_GRADIENT = re.compile(r"(\w+?)(?:Grad(?:V\d+|D|Ext)?|_backward)$")
"""Types of operators that compute gradients, as CANN and PyTorch name them, with the operator whose gradient it is."""


def are_gradients(types: Texts) -> Array:
    """Per cell: whether this type of operator runs in the backward pass alone."""
    return types.hits(bool(_BACKWARD_NAMES.match(name.rpartition("::")[2])) for name in types.names)


def micro_batches_by_repeats(kernels: Table[Kernel] | None, rank: Array, step: Array) -> Array:
    """Per rank and step asked for: micro-batches; missing where no type of operator runs forward and backward.

    Each micro-batch has as many gradients of each type as any other, and passes once from forward to backward, or once
    for each part that is computed again: the number divides all of these. Where it is not the largest that does, as
    where nothing but equal layers runs and all of them are computed again, too many are told.
    """
    if kernels is None:
        return np.full(len(rank), np.nan)
    names = kernels.texts("op_type").names
    found = [_GRADIENT.match(name.rpartition("::")[2]) for name in names]
    plain = {name.rpartition("::")[2]: place for place, name in enumerate(names)}
    pairs = {place: plain[match[1]] for place, match in enumerate(found) if match and match[1] in plain}
    role = np.zeros(len(names) + 1, np.int8)  # the last one is what -1, no type, reads
    role[[place for place, match in enumerate(found) if match]] = _BACKWARD
    role[list(pairs.values())] = _FORWARD
    role[list(pairs)] = _PAIRED
    events = kernel_times(kernels)
    code = kernels.texts("op_type").codes[events.row]
    kept = np.flatnonzero((role[code] > 0) & (kernels["step"][events.row] != MISSING))
    row, code, start = events.row[kept], code[kept], events.start[kept]
    cells = group_by(kernels["rank"][row], kernels["step"][row])
    counts = np.zeros(len(cells), np.int64)
    of_type = group_by(cells.of, code)
    gradient = role[code[of_type.first]] != _FORWARD
    np.gcd.at(counts, cells.of[of_type.first[gradient]], of_type.sizes[gradient])
    turns = _passes_to_backward(cells.of, start, role[code], len(cells))
    told = np.where(turns > 0, np.gcd(counts, turns), 0)
    at = row_at(kernels["rank"][row][cells.first], kernels["step"][row][cells.first], rank, step)
    batches: Array = np.append(np.where(told > 0, told, np.nan), np.nan)[at]
    return batches


_FORWARD, _BACKWARD, _PAIRED = 1, 2, 3
"""What a type of operator is: one whose gradient runs too, a gradient, and one whose operator runs too."""


def _passes_to_backward(cell: Array, start: Array, role: Array, cells: int) -> Array:
    """Per cell: how often a gradient follows an operator of the forward pass, of types that run in both."""
    both = np.flatnonzero(role != _BACKWARD)
    order = both[np.lexsort((start[both], cell[both]))]
    forward = role[order] == _FORWARD
    passes = np.flatnonzero(forward[:-1] & ~forward[1:] & (cell[order][:-1] == cell[order][1:]))
    return np.bincount(cell[order][passes], minlength=cells)
