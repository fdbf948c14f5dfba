# SPDX-License-Identifier: Apache-2.0
"""Kernels that make the inputs of a benchmark: they draw random numbers before what is timed, and are no part of it.

Who times one operator draws its inputs first. That is told by what stands around it, for random numbers may as well be
the work: a dropout, a sampled token or the noise of a diffusion is drawn again and again, amid the kernels of a model.
So nothing is set-up where steps are marked or ranks communicate, where anything is drawn later on, where other work
precedes or may have been lost there, where many different kernels follow, or where what follows does so at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.tensors import parse_sides
from advisor.facts.base import MISSING
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts

_Sides = tuple[int, ...]

DRAWING_CALLS = re.compile(
    r"(?:.*/)?aclnn(Inplace)?(Normal|Uniform|Random|Randperm|Bernoulli|Multinomial|Exponential|Geometric)"
)
"""Operators that draw random numbers, by the names of their kernels: what converts inside of one is part of it."""
_RANDOM = re.compile(r"(DSA)?(Stateless)?(Random|ParameterizedTruncated|Truncated)")
_DISTRIBUTIONS = ("Normal", "Uniform")
_DRAWING_TYPES = re.compile(
    r"StandardNormal(V\d+)?|Uniform(Real|Int)|(Stateless)?Rand[Pp]erm\w*|\w+::(normal_?|uniform_|rand\w*|exponential_)"
    r"|.*\bdistribution_(elementwise|nullary)\w*"
)
"""The same by the types of operators; the masks of a dropout are none of them."""
PAUSE_NS = 1_000_000
"""A host that goes on launches what follows within less: launching takes it some ten microseconds. Public captures of
benchmarks pause for 168 to 513 ms here, in which the kernel that is timed is compiled."""
FEW = 10
"""At most so many different kernels follow: a benchmark times one beside a few others, a layer of a model has more."""
LOST_NS = 10_000
"""Where the pause before a row is so much longer than its row says, rows are gone from the list, and with them perhaps
other work: a kernel takes some microseconds."""


def _is_drawing_type(name: str) -> bool:
    """Whether operators of this type, or functions of this name, draw random numbers."""
    return bool(_RANDOM.match(name) and any(one in name for one in _DISTRIBUTIONS)) or bool(
        _DRAWING_TYPES.fullmatch(name)
    )


def are_set_up(kernels: Table[Kernel], row: Array, start: Array, end: Array, communicating: Collection[int]) -> Array:
    """Per timed kernel (`row` of the table, `start` and `end`): whether it makes the inputs of a benchmark.

    `communicating` are the ranks that have collectives.
    """
    found = np.zeros(len(row), bool)
    drawing = _draw(kernels)[row]
    rank, step = kernels["rank"][row], kernels["step"][row]
    for one in np.unique(rank[drawing]).tolist():
        own = np.flatnonzero(rank == one)
        if one in communicating or (step[own] != MISSING).any():
            continue
        own = own[np.argsort(start[own], kind="stable")]
        if drawing[own[0]]:
            count = _count_leading(kernels.take(row[own]), drawing[own], start[own], end[own])
            found[own[:count]] = True
    return found


def _draw(kernels: Table[Kernel]) -> Array:
    """Per kernel: whether it draws random numbers, or is part of what does."""
    found: Array = kernels.texts("op_name").passing(DRAWING_CALLS.match)
    for name in ("op_type", "function"):
        found = found | kernels.texts(name).passing(_is_drawing_type)
    return found


def _count_leading(kernels: Table[Kernel], drawing: Array, start: Array, end: Array) -> int:
    """How many of the first kernels of a rank, which are in order, make inputs; none unless all signs say so."""
    last = int(np.flatnonzero(drawing)[-1])
    alike = group_by(*(kernels.texts(name) for name in ("op_type", "op_name", "function", "input_shapes")))
    inputs, outputs = (kernels.texts(name) for name in ("input_shapes", "output_shapes"))
    written: set[_Sides] = set()
    converting: list[int] = []
    busy_until, count = int(end[0]), 0
    for at in range(len(kernels)):
        pause = int(start[at]) - busy_until
        if kernels["wait_us"][at] > 0 and pause - kernels["wait_us"][at] * 1e3 > LOST_NS:
            return 0
        if at > last and pause >= PAUSE_NS:
            break
        results = _tensors_in(outputs, at)
        if not drawing[at]:
            if not _converts(_tensors_in(inputs, at), results, written):
                break
            converting.append(at)
        written.update(results)
        busy_until, count = max(busy_until, int(end[at])), at + 1
    different = np.unique(alike.of[count:])
    is_benchmark = (
        last < count < len(kernels)
        and start[count] - busy_until >= PAUSE_NS
        and len(different) <= FEW
        and not np.isin(alike.of[converting], different).any()
    )
    return count if is_benchmark else 0


def _converts(read: Sequence[_Sides], results: Sequence[_Sides], written: Collection[_Sides]) -> bool:
    """Whether a kernel reads nothing but what was drawn, and writes as many values as it reads."""
    if not read or not results or not all(shape in written for shape in read):
        return False
    return max(map(math.prod, read)) == max(map(math.prod, results))


def _tensors_in(texts: Texts, row: int) -> list[_Sides]:
    """The tensors of a cell that were given."""
    code = int(texts.codes[row])
    return [sides for sides in parse_sides(texts.names[code]) if sides] if code >= 0 else []
