# SPDX-License-Identifier: Apache-2.0
"""Totals over the whole capture: op_statistic.csv and api_statistic.csv, which the database leaves to the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from advisor.facts.base import Column, Fact
from advisor.facts.observed import ApiTotal, OperatorTotal
from advisor.facts.table import Array, Table, Texts, Values, values_at
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.call_words import activities_in_totals
from advisor.sources.ascend.host_calls import API_TYPES, BY_TYPE
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.record_cells import number_rows
from advisor.sources.files.database import are_spans, distinct_ids, match_keys
from advisor.sources.files.shares import note_shares_gone
from advisor.sources.reading import Reading

_AMOUNTS = {
    "calls": ("Count",),
    "total_us": ("Total Time", "Time"),
    "min_us": ("Min Time", "Min"),
    "max_us": ("Max Time", "Max"),
}
_PERCENT = {"percent": Column("Part of the time of all types, in a hundred.", "float")}
LAYERS: Mapping[str, str] = {"communication": "hccl"}
"""Names of API layers since CANN 8.3, where ours differ."""

_US_PER_NS = 1e-3


def _rows_once(
    folder: Folder, file: str, headings: Mapping[str, Sequence[str]], fact: type[Fact], required: Sequence[str]
) -> dict[str, Values]:
    """The columns of a table of totals without the rows that are there already, which are noted: it has one per name.

    Where a file was cut into several, each of them has totals of its own.
    """
    columns = folder.columns(fact, file, headings, required, _PERCENT)
    if len(folder.parts(file)) > 1:
        return columns
    keys = [found.codes if isinstance(found, Texts) else np.nan_to_num(found, nan=-1) for found in columns.values()]
    rows = number_rows(keys)
    first = np.unique(rows, return_index=True)[1]
    if not (repeated := len(rows) - len(first)):
        return columns
    folder.notes.add(file, "", Message("totals_repeated"), rows=repeated, share=repeated / len(rows))
    kept = np.sort(first)
    return {name: found.take(kept) if isinstance(found, Texts) else found[kept] for name, found in columns.items()}


def _operators_from_text(folder: Folder) -> Table[OperatorTotal]:
    headings = {"op_type": ("OP Type",), "core": ("Core Type",), **_AMOUNTS}
    headings |= {"percent": ("Ratio",)}
    columns = _rows_once(folder, "op_statistic.csv", headings, OperatorTotal, ("op_type", "total_us"))
    percent = columns.pop("percent", None)
    table = Table.build(OperatorTotal, **columns).having(rank=folder.rank)
    if not isinstance(percent, np.ndarray):
        return table
    note_shares_gone("op_statistic.csv", percent, folder.notes)
    return table.having(share=np.where(percent >= 0, percent / 100, np.nan))


def _operators_from_database(folder: Folder) -> Table[OperatorTotal]:
    """Kernels summed by type and core. Level0 knows no types, and so no totals, like the text export."""
    database = folder.database()
    if not (database.fields("COMPUTE_TASK_INFO") and database.fields("TASK")):
        raise FactMissing([OperatorTotal.table])
    info = database.integers("COMPUTE_TASK_INFO", {"task": ["globalTaskId"], "type": ["opType"], "core": ["taskType"]})
    task = database.integers("TASK", {"task": ["globalTaskId"], "start": ["startNs"], "end": ["endNs"]})
    place = match_keys(task["task"], info["task"])
    begins, ends = values_at(task["start"], place), values_at(task["end"], place)
    (type_ids, core_ids), amounts = _sum_by_keys(info["type"], info["core"], begins, ends)
    types, cores = database.texts(type_ids), database.texts(core_ids)
    table = Table.build(OperatorTotal, rank=np.full(len(types), folder.rank), op_type=types, core=cores, **amounts)
    known = table.take(types.codes >= 0)
    if len(table) and not len(known):
        raise FactMissing([OperatorTotal.table])
    return known


OPERATOR_TOTALS = Reading(OperatorTotal, {"text": _operators_from_text, "database": _operators_from_database})


def _apis_from_text(folder: Folder) -> Table[ApiTotal]:
    headings = {"level": ("Level",), "name": ("API Name",), **_AMOUNTS}
    columns = _rows_once(folder, "api_statistic.csv", headings, ApiTotal, ("name", "total_us"))
    table = Table.build(ApiTotal, **columns)
    activity = activities_in_totals(table.texts("name"))
    level = _layer_names(table.texts("level"))
    return table.having(rank=folder.rank, level=level, kind=_kinds_of_layers(level), activity=activity)


def _layer_names(levels: Texts) -> Texts:
    """Layer names of all versions as one."""
    return Texts.of(None if name is None else LAYERS.get(name.lower(), name.lower()) for name in levels.values())


def _kinds_of_layers(levels: Texts) -> Texts:
    """What calls into each layer are; the name of the layer where it is none that is known."""
    return Texts.of(BY_TYPE.get(name, name) for name in levels.names).at(levels.codes)


def _apis_from_database(folder: Folder) -> Table[ApiTotal]:
    database = folder.database()
    if not database.fields("CANN_API"):
        raise FactMissing([ApiTotal.table])
    calls = database.integers("CANN_API", {"type": ["type"], "name": ["name"], "start": ["startNs"], "end": ["endNs"]})
    (types, names), amounts = _sum_by_keys(calls["type"], calls["name"], calls["start"], calls["end"])
    level_of = API_TYPES | database.names("ENUM_API_TYPE")
    name, level = database.event_names(names), _layer_names(Texts.of(level_of.get(one) for one in types.tolist()))
    table = Table.build(
        ApiTotal,
        rank=np.full(len(name), folder.rank),
        level=level,
        kind=_kinds_of_layers(level),
        name=name,
        activity=activities_in_totals(name),
        **amounts,
    )
    return table.take(table.texts("level").isin(API_TYPES.values()))


API_TOTALS = Reading(ApiTotal, {"text": _apis_from_text, "database": _apis_from_database})


def _sum_by_keys(first: Array, second: Array, start: Array, end: Array) -> tuple[tuple[Array, Array], dict[str, Array]]:
    """The pairs of keys, those that took longest first; and how often, how long in all, the shortest and the longest.

    What has no time, or ends before it begins, does not count.
    """
    good = are_spans(start, end)
    lasted = (end - start)[good]
    (firsts, of_first), (seconds, of_second) = distinct_ids(first[good]), distinct_ids(second[good])
    pair = of_first.astype(np.int64) * len(seconds) + of_second
    pairs, calls = np.unique(pair, return_counts=True)
    begins = np.cumsum(calls) - calls
    ordered = lasted[np.argsort(pair, kind="stable")]
    total, least, most = (
        how.reduceat(ordered, begins) if len(begins) else ordered for how in (np.add, np.minimum, np.maximum)
    )
    keys = firsts[pairs // max(len(seconds), 1)], seconds[pairs % max(len(seconds), 1)]
    order = np.lexsort((keys[1], keys[0], -total))
    amounts = {
        "calls": calls,
        "total_us": total * _US_PER_NS,
        "min_us": least * _US_PER_NS,
        "max_us": most * _US_PER_NS,
    }
    return (keys[0][order], keys[1][order]), {name: amount[order] for name, amount in amounts.items()}
