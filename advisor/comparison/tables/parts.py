# SPDX-License-Identifier: Apache-2.0
"""What a capture offers to each table of differences, averaged over its ranks and steps so that any two compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.comparison.tables.join import Amount, Key, TableLayout, TablePart
from advisor.comparison.tables.sums import OperatorSum
from advisor.facts.base import MISSING, Fact
from advisor.facts.derivation import AnyTable
from advisor.facts.derived import CollectiveCall, HostCost, MemoryPeak, OperatorShape, Overlap, RankSplit
from advisor.facts.observed import ApiTotal, OperatorMemory
from advisor.facts.profile import Profile
from advisor.facts.table import Array, Texts

_TOTAL = Amount("total_us", "us", mean="mean_us")
_CALLS = Amount("calls", "count")
_TIMES = (_TOTAL, _CALLS)
_SPLIT = tuple(Amount(name, "us") for name in ("compute_us", "exposed_comm_us", "free_us", "span_us"))

Offer = Callable[[Profile], TablePart]


class DifferenceTable(Struct, frozen=True):
    """One table of differences: its layout, and where its rows come from.

    The first source that both captures offer counts, so that like is set beside like.
    """

    layout: TableLayout
    sources: tuple[Offer, ...]


def _by_rank(profile: Profile) -> TablePart:
    """Where the mean step of each rank goes: who changed, when the others merely wait for it."""
    table = profile.table(RankSplit)
    table = table.take(np.flatnonzero(np.isfinite(table["span_us"])))
    ranks = group_by(table["rank"]) if len(table) else None
    steps = ranks.sizes[ranks.of] if ranks is not None else np.ones(0)
    return TablePart({"rank": table["rank"]}, {amount.name: table[amount.name] / steps for amount in _SPLIT}, 1.0)


def _kernels_by_shape(profile: Profile) -> TablePart:
    """Kernels of the steps, by type, core and input shapes."""
    table = profile.table(OperatorShape)
    keys = {name: table.texts(name) for name in ("op_type", "core", "input_shapes")}
    return TablePart(keys, {name: table[name] for name in ("calls", "total_us")}, _rank_count(table))


def _operators_by_name(profile: Profile) -> TablePart:
    """Framework operators with their device time."""
    table = profile.table(OperatorSum)
    names = ("calls", "host_total_us", "host_self_us", "device_total_us", "device_self_us")
    over = _rank_count(table) * profile.run.step_count
    return TablePart({"name": table.texts("name")}, {name: table[name] for name in names}, over)


def _operators_of_timeline(profile: Profile) -> TablePart:
    """Framework operators as the timeline shows them: host time alone."""
    table = profile.table(HostCost)
    part = _host_calls_part(profile, table, table.texts("kind").isin(["operator"]))
    unknown = np.full(len(part.amounts["calls"]), np.nan)
    others = dict.fromkeys(("host_self_us", "device_total_us", "device_self_us"), unknown)
    amounts = {"calls": part.amounts["calls"], "host_total_us": part.amounts["total_us"], **others}
    return TablePart({"name": part.keys["name"]}, amounts, part.over)


_OWN_TABLES = ("operator", "step", "python")
"""Operators have a table of their own; of Python functions a diagnosis keeps only some, so none is missing for sure."""


def _calls_in_steps(profile: Profile) -> TablePart:
    """Calls of the host inside steps: queues, CANN, runtime, data loader."""
    table = profile.table(HostCost)
    return _host_calls_part(profile, table, ~table.texts("kind").isin(_OWN_TABLES))


def _calls_in_all(profile: Profile) -> TablePart:
    """Calls of CANN over the whole capture, where there is no timeline."""
    table = profile.table(ApiTotal)
    keys = {"kind": table.texts("level"), "name": table.texts("name")}
    over = _rank_count(table) * profile.run.step_count
    return TablePart(keys, {name: table[name] for name in ("calls", "total_us")}, over)


def _host_calls_part(profile: Profile, table: AnyTable, chosen: Array) -> TablePart:
    rows = table.take(np.flatnonzero(chosen))
    keys = {name: rows.texts(name) for name in ("kind", "name")}
    return TablePart(keys, {name: rows[name] for name in ("calls", "total_us")}, _rank_steps(profile, table))


def _collectives_by_size(profile: Profile) -> TablePart:
    """Collectives by kind, kind of group and size."""
    table = profile.table(CollectiveCall)
    rows = table.take(_in_steps(profile, table))
    size = rows["size_bytes"]
    sized = np.isfinite(size) & (np.abs(size) < float(1 << 62))
    keys: dict[str, Key] = {name: rows.texts(name) for name in ("op", "group_kind")}
    keys["size_bytes"] = np.where(sized, np.where(sized, size, 0).astype(np.int64), MISSING)
    amounts = {amount.name: rows[amount.name] for amount in _COMM}
    amounts |= {"calls": np.ones(len(rows)), "total_us": rows["elapse_us"]}
    return TablePart(keys, amounts, _rank_steps(profile, table))


def _memory_by_rank(profile: Profile) -> TablePart:
    """The most memory each component held, rank by rank."""
    table = profile.table(MemoryPeak)
    keys: Mapping[str, Key] = {"component": table.texts("component"), "rank": table["rank"]}
    return TablePart(keys, {name: table[name] for name in ("reserved_bytes", "largest_allocated_bytes")}, 1.0)


def _allocations_by_name(profile: Profile) -> TablePart:
    """What operators allocated."""
    table = profile.table(OperatorMemory)
    amounts = {"size_bytes": table["size_bytes"], "calls": np.ones(len(table))}
    return TablePart({"name": _bare_names(table.texts("name"))}, amounts, _rank_count(table) * profile.run.step_count)


def _bare_names(names: Texts) -> Texts:
    """Names without the `cann::` that only the text export puts in front."""
    bare = Texts.of(name.removeprefix("cann::") for name in names.names)
    return bare.at(names.codes)


def _rank_count(table: AnyTable) -> float:
    """How many ranks recorded it."""
    return float(max(len(np.unique(table["rank"])), 1))


def _rank_steps(profile: Profile, table: AnyTable) -> float:
    """How many steps the ranks of a table have together."""
    seen = len(group_by(table["rank"], table["step"])) if len(table) else 0
    split = profile.table_if_recorded(Overlap)
    known = int(np.isin(split["rank"], table["rank"]).sum()) if split is not None else 0
    return float(max(known or seen, 1))


def _in_steps(profile: Profile, table: AnyTable) -> Array:
    """Positions of the rows that belong to a step."""
    split = profile.table_if_recorded(Overlap)
    if split is None or not len(split):
        return np.arange(len(table))
    return np.flatnonzero(row_at(split["rank"], split["step"], table["rank"], table["step"]) >= 0)


_OPERATOR = tuple(Amount(name, "us") for name in ("device_total_us", "device_self_us", "host_total_us", "host_self_us"))
_COMM = tuple(Amount(name, "us") for name in ("exposed_us", "transit_us", "wait_us", "idle_us"))
_PEAKS = tuple(Amount(name, "B", whole=True) for name in ("reserved_bytes", "largest_allocated_bytes"))

COMPARED: tuple[DifferenceTable, ...] = (
    DifferenceTable(
        TableLayout("ranks", {"rank": ""}, _SPLIT, ("compute_us",), absent_is_zero=False, least=2),
        (_by_rank,),
    ),
    DifferenceTable(
        TableLayout("kernels", {"op_type": "", "core": "", "input_shapes": ""}, _TIMES, ("total_us",)),
        (_kernels_by_shape,),
    ),
    DifferenceTable(
        TableLayout("operators", {"name": ""}, (*_OPERATOR, _CALLS), ("device_total_us", "host_total_us")),
        (_operators_by_name, _operators_of_timeline),
    ),
    DifferenceTable(
        TableLayout("calls", {"kind": "", "name": ""}, _TIMES, ("total_us",), within="kind"),
        (_calls_in_steps, _calls_in_all),
    ),
    DifferenceTable(
        TableLayout("collectives", {"op": "", "group_kind": "", "size_bytes": "B"}, (*_TIMES, *_COMM), ("total_us",)),
        (_collectives_by_size,),
    ),
    DifferenceTable(
        TableLayout("memory", {"component": "", "rank": ""}, _PEAKS, ("reserved_bytes",), absent_is_zero=False),
        (_memory_by_rank,),
    ),
    DifferenceTable(
        TableLayout("allocations", {"name": ""}, (Amount("size_bytes", "B"), _CALLS), ("size_bytes",)),
        (_allocations_by_name,),
    ),
)

WANTED: tuple[type[Fact], ...] = (
    OperatorShape,
    OperatorSum,
    HostCost,
    ApiTotal,
    CollectiveCall,
    MemoryPeak,
    OperatorMemory,
    Overlap,
    RankSplit,
)
"""What the tables are made from: to be prepared together with what the rules want, so that files are read once."""
