# SPDX-License-Identifier: Apache-2.0
"""The modules of a model for reading: those that differ by a number as one, in the order in which they are called."""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.analysis.modules.module_calls import ChargedWork, Paths
from advisor.facts.table import Array

_NUMBER = re.compile(r"(?<![^._/\[])\d+(?![^._/\]])")
"""A number that is a part of a name of its own, as in `layers.0.mlp`, `Linear_3` and `experts[7]`."""


class ModuleTree(Struct, frozen=True):
    """Modules that differ by a number as one: what stands for each, in the order in which the model calls them."""

    of: Array
    """Per path: its number in the tree; 0 is outside of all."""
    path: tuple[str, ...]
    name: tuple[str, ...]
    parent: tuple[int, ...]
    depth: tuple[int, ...]


def merge_numbered(work: ChargedWork) -> ModuleTree:
    """Paths that differ by numbers as one, in the order in which the host came to work of each."""
    return merge_paths(work.paths, _first_moments(work))


def merge_paths(paths: Paths, first: Array | None = None) -> ModuleTree:
    """Paths that differ by numbers as one, named by a star for each, or as it is called where it is the only one.

    They stand in the order of their first moments, where these are given.
    """
    names = [name or "" for name in paths.name.values()]
    first = np.arange(len(names)) if first is None else first
    key_of: dict[tuple[int, str], int] = {}
    called: list[dict[str, None]] = [{}]
    parents, merged = [0], [0]
    begun = [0]
    for path in range(1, len(names)):
        above = merged[int(paths.parent[path])]
        number = key_of.setdefault((above, _NUMBER.sub("*", names[path])), len(parents))
        if number == len(parents):
            parents.append(above)
            called.append({})
            begun.append(int(first[path]))
        called[number][names[path]] = None
        begun[number] = min(begun[number], int(first[path]))
        merged.append(number)
    starred = {number: key[1] for key, number in key_of.items()}
    shown = ["", *(next(iter(called[n])) if len(called[n]) == 1 else starred[n] for n in range(1, len(parents)))]
    return _in_call_order(merged, parents, shown, begun)


def _first_moments(work: ChargedWork) -> Array:
    """Per path: when the host first came to work of it, or of what is inside of it."""
    first = np.full(len(work.paths), np.iinfo(np.int64).max)
    np.minimum.at(first, work.path, work.host_ns)
    for path in range(len(first) - 1, 0, -1):
        above = int(work.paths.parent[path])
        first[above] = min(first[above], first[path])
    return first


def _in_call_order(merged: list[int], parents: list[int], shown: list[str], begun: list[int]) -> ModuleTree:
    """The tree with every module behind the one around it, and beside each other in the order of their first call."""
    inner: dict[int, list[int]] = {}
    for number in sorted(range(1, len(parents)), key=lambda one: (begun[one], one), reverse=True):
        inner.setdefault(parents[number], []).append(number)
    path, depth, order, left = {0: ""}, {0: -1}, [0], list(inner.get(0, ()))
    while left:
        number = left.pop()
        above = parents[number]
        path[number] = f"{path[above]}/{shown[number]}" if above else shown[number]
        depth[number] = depth[above] + 1
        order.append(number)
        left += inner.get(number, ())
    place = {number: at for at, number in enumerate(order)}
    return ModuleTree(
        np.array([place[number] for number in merged]),
        tuple(path[number] for number in order),
        tuple(shown[number] for number in order),
        tuple(place[parents[number]] for number in order),
        tuple(max(depth[number], 0) for number in order),
    )
