# SPDX-License-Identifier: Apache-2.0
"""Kernels that copy, cast or reorder the whole cache of keys and values, told by its shape."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.job.job_signs import OPERATORS
from advisor.facts.base import MISSING
from advisor.facts.derived import CacheCopy, OperatorShape
from advisor.facts.table import Array, Table

_KEEPS = frozenset({"cache", "decode", "prefill"})
"""What an operator that works on the cache tells of a job."""
_COPIES = re.compile(
    r"(?i)(aclnn)?(Cast|Trans(pose|Data)|TensorMove|ViewCopy|AsStrided|Contiguous|InplaceCopy|Identity|Concat)"
    r"|\w+::(copy_|_to_copy|to|clone|contiguous|cat)$"
)
_BLOCKED = 3
"""Dimensions from which on a tensor may be a cache: blocks or requests, tokens, heads."""
_LARGER = 8
"""A cache is so many times as large as the new keys beside it, or nobody can tell the two apart."""


def cache_copies(shapes: Table[OperatorShape]) -> Table[CacheCopy]:
    """One row per rank and kind of kernel that moves a tensor of exactly the shape of a cache."""
    types, given, gives = (shapes.texts(name) for name in ("op_type", "input_shapes", "output_shapes"))
    works_on_cache = types.hits(not _KEEPS.isdisjoint(OPERATORS.told_by(name)) for name in types.names)
    copies = types.passing(_COPIES.match) & ~works_on_cache
    numbers: dict[tuple[int, ...], int] = {}
    cache = _numbered(map(_cache_in, given.names), numbers)[given.codes]
    known = np.flatnonzero(works_on_cache & (cache >= 0))
    kept = np.zeros(len(shapes), bool)
    for cells in (given, gives):
        moved = _numbered(map(_largest, cells.names), numbers)[cells.codes]
        rows = np.flatnonzero(copies & (moved >= 0))
        kept[rows] |= row_at(shapes["rank"][known], cache[known], shapes["rank"][rows], moved[rows]) >= 0
    names = ("rank", "op_type", "input_shapes", "output_shapes", "calls", "total_us", "instant_us", "step_share")
    found = shapes.take(kept)
    texts = {name: found.texts(name) for name in names[1:4]}
    return Table.build(CacheCopy, **{name: texts[name] if name in texts else found[name] for name in names})


def _numbered(tensors: Iterable[tuple[int, ...]], numbers: dict[tuple[int, ...], int]) -> Array:
    """A number for each distinct tensor, those met before first; -1 for none, and behind the last."""
    found = [numbers.setdefault(tensor, len(numbers)) if tensor else MISSING for tensor in tensors]
    return np.array([*found, MISSING], np.int64)


def _tensors(shapes: str) -> list[tuple[int, ...]]:
    parts = (re.findall(r"\d+", part) for part in shapes.split(";"))
    return [tuple(map(int, part)) for part in parts]


def _largest(shapes: str) -> tuple[int, ...]:
    """The largest tensor of a cell; nothing where it has too few dimensions for a cache."""
    found = max(_tensors(shapes), key=prod, default=())
    return found if len(found) >= _BLOCKED else ()


def _cache_in(shapes: str) -> tuple[int, ...]:
    """The cache among the inputs of an operator that works on one: far larger than the first of them, the new rows."""
    tensors, cache = _tensors(shapes), _largest(shapes)
    return cache if cache and prod(cache) >= _LARGER * prod(tensors[0]) else ()
