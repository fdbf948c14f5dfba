# SPDX-License-Identifier: Apache-2.0
"""What the hardware counted within kernels, by operator type."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.rooflines.families import AI_CPU_CORE
from advisor.facts.derived import OperatorCounters, OperatorShare
from advisor.facts.observed import Kernel, KernelCounters, L2Cache
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing


def operator_counters(
    operators: Table[OperatorShare],
    kernels: Table[Kernel],
    counted: Table[KernelCounters] | None,
    cache: Table[L2Cache] | None,
) -> Table[OperatorCounters]:
    """One row per rank and operator type of `operators` of which anything was counted.

    Raises:
        FactMissing: Neither a further set of counters nor the L2 cache was recorded, or all of it is missing.
    """
    if counted is None and cache is None:
        raise FactMissing([KernelCounters.table])
    found = {name: np.full(len(operators), np.nan) for name in _COUNTED}
    if cache is not None:
        types, weight = _types_by_name(kernels, cache)
        groups = group_by(cache["rank"], types)
        hits = groups.means(cache["hit_share"], weight)
        _fill(found, operators, (cache["rank"], types), groups, {"hit_share": hits})
    if counted is not None:
        types = counted.texts("op_type")
        groups = group_by(counted["rank"], types)
        _fill(found, operators, (counted["rank"], types), groups, _counted_by_group(counted, groups))
    known = ~np.isnan(np.fmax.reduce(list(found.values()))) & ~operators.texts("core").isin([AI_CPU_CORE])
    if not known.any():
        raise FactMissing([KernelCounters.table])
    columns = {name: operators[name] for name in ("rank", "calls", "total_us", "step_share")}
    texts = {name: operators.texts(name) for name in ("op_type", "core", "family")}
    return Table.build(OperatorCounters, **columns, **texts, **found).take(known)


_COUNTED = ("bank_share", "resource_share", "hit_share", "memory_gbps", "memory_bytes")


def _counted_by_group(counted: Table[KernelCounters], groups: Groups) -> dict[str, Array]:
    """The counters of each group of kernels; missing where they were not recorded."""
    lasted = counted["duration_us"]
    hits, misses = groups.sums(counted["l2_hits"]), groups.sums(counted["l2_misses"])
    return {
        "bank_share": groups.means(counted["bank_group_share"] + counted["bank_share"], lasted),
        "resource_share": groups.means(counted["resource_share"], lasted),
        "hit_share": ratio(hits, hits + misses),
        "memory_gbps": groups.means(counted["memory_read_gbps"] + counted["memory_write_gbps"], lasted),
        "memory_bytes": groups.means(counted["memory_read_bytes"] + counted["memory_write_bytes"]),
    }


def _fill(
    found: dict[str, Array],
    operators: Table[OperatorShare],
    keys: tuple[Array, Texts],
    groups: Groups,
    values: dict[str, Array],
) -> None:
    """Put the values of groups into the rows of their operators, where they are not missing."""
    rank, types = keys
    names = {name: code for code, name in enumerate(operators.texts("op_type").names)}
    codes = np.array([*(names.get(name, -1) for name in types.names), -1])[types.codes]
    at = _row_of_pair(rank[groups.first], codes[groups.first], operators["rank"], operators.texts("op_type").codes)
    for name, value in values.items():
        told = np.append(value, np.nan)[at]
        found[name] = np.where(np.isnan(told), found[name], told)


def _row_of_pair(rank: Array, code: Array, wanted_rank: Array, wanted: Array) -> Array:
    """Per wanted rank and code: a row that has both, or -1."""
    width = max(int(code.max(initial=0)), int(wanted.max(initial=0))) + 2
    return row_of_key(rank * width + np.where(code < 0, width - 1, code), wanted_rank * width + wanted)


def _types_by_name(kernels: Table[Kernel], cache: Table[L2Cache]) -> tuple[Texts, Array]:
    """The type of each kernel in `cache` by its name, and how long a kernel of that name takes on average."""
    names, cached = _without_scopes(kernels.texts("op_name")), _without_scopes(cache.texts("op_name"))
    index = {name: code for code, name in enumerate(names.names)}
    code = np.array([*(index.get(name, -1) for name in cached.names), -1])[cached.codes]
    of_name = group_by(kernels["rank"], names)
    at = _row_of_pair(kernels["rank"][of_name.first], names.codes[of_name.first], cache["rank"], code)
    at = np.where(code < 0, -1, at)
    types = kernels.texts("op_type").take(of_name.first)
    mean = np.append(of_name.means(kernels["duration_us"]), 0.0)
    return types.at(at), mean[at]


def _without_scopes(names: Texts) -> Texts:
    """Names as the device has them; MindSpore puts the scope of the operator before those of kernels alone."""
    return Texts.of(name.rpartition("/")[2] for name in names.names).at(names.codes)
