# SPDX-License-Identifier: Apache-2.0
"""Kernels that copy, gather, cast or reorder the whole cache of keys and values, told by its shape."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.arrays.tensors import first_sides, parse_sides
from advisor.analysis.job.job_signs import OPERATORS
from advisor.facts.base import MISSING
from advisor.facts.derived import CacheCopy, OperatorShape
from advisor.facts.table import Array, Table, Texts

_KEEPS = frozenset({"cache", "decode", "prefill"})
"""What an operator that works on the cache tells of a job."""
_COPIES = re.compile(
    r"(?i)(aclnn)?(Cast|Trans(pose|Data)|TensorMove|ViewCopy|AsStrided|Contiguous|InplaceCopy|Identity|Concat)"
    r"|\w+::(copy_|_to_copy|to|clone|contiguous|cat)$"
)
_GATHERS = re.compile(
    r"(?i)(aclnn)?(Gather(D|Nd|Elements)?|Index(Select|ByTensor)?)(V\d+)?D?$|\w+::(index|index_select|gather)$"
)
"""Operators that take what indices say out of a tensor."""
_BLOCKED = 3
"""Dimensions from which on a tensor may be a cache: blocks or requests, tokens, heads."""
_LARGER = 8
"""A cache is so many times as large as the new keys beside it, or nobody can tell the two apart; so is what is gathered
of it, for what reads the new keys alone is no copy of the others."""


def cache_copies(shapes: Table[OperatorShape]) -> Table[CacheCopy]:
    """One row per rank and kind of kernel that moves a tensor of exactly the shape of a cache, or much of one."""
    types, given, gives = (shapes.texts(name) for name in ("op_type", "input_shapes", "output_shapes"))
    works_on_cache = types.hits(not _KEEPS.isdisjoint(OPERATORS.told_by(name)) for name in types.names)
    copies, gathers = (types.passing(one.match) & ~works_on_cache for one in (_COPIES, _GATHERS))
    numbers: dict[tuple[int, ...], int] = {}
    cache = _numbered(map(_cache_in, given.names), numbers)[given.codes]
    known = np.flatnonzero(works_on_cache & (cache >= 0))
    kept = np.zeros(len(shapes), bool)
    for cells in (given, gives):
        moved = _numbered(map(_largest, cells.names), numbers)[cells.codes]
        rows = np.flatnonzero(copies & (moved >= 0))
        kept[rows] |= row_at(shapes["rank"][known], cache[known], shapes["rank"][rows], moved[rows]) >= 0
    gathered = np.zeros(len(shapes), bool)
    rows = np.flatnonzero(gathers)
    gathered[rows] = _gather_much(shapes, (known, cache[known]), rows, numbers)
    found = shapes.take(kept | gathered)
    return Table.build(
        CacheCopy,
        **{name: found.texts(name) for name in ("op_type", "input_shapes", "output_shapes")},
        **{name: found[name] for name in ("rank", "calls", "total_us", "instant_us", "step_share")},
        gathers=gathered[kept | gathered].astype(np.int8),
    )


def _gather_much(
    shapes: Table[OperatorShape],
    caches: tuple[Array, Array],
    rows: Array,
    numbers: dict[tuple[int, ...], int],
) -> Array:
    """Per such row: whether it takes much more out of a cache than the new keys in it. `caches` are the rows of
    operators that work on one, and the number of it."""
    known, cache = caches
    given, gives = (shapes.texts(name).take(rows) for name in ("input_shapes", "output_shapes"))
    asked = _numbered((_key(first_sides(name)) for name in given.names), numbers)[given.codes]
    taken = _sizes(gives)
    both = group_by(np.append(shapes["rank"][known], shapes["rank"][rows]), np.append(cache, asked)).of
    new = np.full(int(both.max(initial=-1)) + 1, np.inf)
    new[both[: len(known)]] = 0
    np.fmax.at(new, both[: len(known)], _sizes(shapes.texts("input_shapes").take(known)))
    found: Array = (asked >= 0) & (taken >= _LARGER * new[both[len(known) :]])
    return found


def _sizes(shapes: Texts) -> Array:
    """Per cell: the elements of the first tensor; NaN where it is not known."""
    sizes = [float(prod(sides)) if sides else np.nan for sides in map(first_sides, shapes.names)]
    found: Array = np.array([*sizes, np.nan])[shapes.codes]
    return found


def _numbered(tensors: Iterable[tuple[int, ...]], numbers: dict[tuple[int, ...], int]) -> Array:
    """A number for each distinct tensor, those met before first; -1 for none, and behind the last."""
    found = [numbers.setdefault(tensor, len(numbers)) if tensor else MISSING for tensor in tensors]
    return np.array([*found, MISSING], np.int64)


def _key(tensor: tuple[int, ...]) -> tuple[int, ...]:
    """A tensor as it is told from others: without leading axes of one, which CANN leaves out where it reorders; nothing
    where it has too few dimensions for a cache."""
    bare = tensor[next((at for at, side in enumerate(tensor) if side != 1), len(tensor)) :]
    return bare if len(bare) >= _BLOCKED else tensor if len(tensor) >= _BLOCKED else ()


def _largest(shapes: str) -> tuple[int, ...]:
    """The largest tensor of a cell; nothing where it is no cache."""
    return _key(max(parse_sides(shapes), key=prod, default=()))


def _cache_in(shapes: str) -> tuple[int, ...]:
    """The cache among the inputs of an operator that works on one: far larger than the first of them, the new rows."""
    tensors, cache = parse_sides(shapes), _largest(shapes)
    return cache if cache and prod(cache) >= _LARGER * prod(tensors[0]) else ()
