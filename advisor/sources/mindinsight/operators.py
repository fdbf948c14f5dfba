# SPDX-License-Identifier: Apache-2.0
"""OperatorTotal, DataFetch and RankFlops: what ran on AI Cores and AI CPU, and how much was computed.

`aicore_intermediate_*_type.csv` holds times of one step, in ms; here they are times of all steps that count.
`aicpu_intermediate_*.csv` lists single calls, with start and end in µs since the host was started.
"""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import DataFetch, OperatorTotal, RankFlops
from advisor.facts.table import Array, Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.jsonfile import as_number, value_at
from advisor.sources.files.shares import note_shares_gone
from advisor.sources.minddata.numbers_gone import note_numbers_gone, read_filled_columns
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank
from advisor.sources.mindinsight.steps import counted_steps
from advisor.sources.reading import Reading

_US_PER_MS = 1e3
_FETCH = "GetNext"
_OF_DATA = (_FETCH, "InitData", "EndOfSequence", "InitDataSetQueue")
"""Operators that bring batches to the device: they belong on the AI CPU."""
_COLUMNS = {
    "op_type": Column("Operator type.", "text"),
    "total_ms": Column("Time.", "float", "us"),
    "calls": Column("How often.", "float", "count"),
    "percent": Column("Part of the time of all types, in a hundred.", "float"),
    "number": Column("Number of a call, from 1 on.", "int"),
    "start_ns": Column("Start.", "int", "ns"),
    "end_ns": Column("End.", "int", "ns"),
}
_OF_CORES = {
    "op_type": ("op_type", "kernel_type"),
    "total_ms": ("execution_time", "total_time"),
    "calls": ("execution_frequency",),
    "percent": ("percent",),
}
_OF_AICPU = {
    "number": ("serial_number",),
    "op_type": ("kernel_type", "op_type"),
    "start_ns": ("run_start",),
    "end_ns": ("run_end",),
}


def _totals_of_rank(rank: LegacyRank) -> Table[OperatorTotal]:
    parts, unreadable = list[Table[OperatorTotal]](), list[str]()
    if "aicpu" in rank.files and "types" not in rank.files:  # operators on AI CPU alone are no network
        gone, beside = f"aicore_intermediate_{rank.rank}_type.csv", rank.files["aicpu"].name
        rank.notes.add(gone, "", Message("operators_of_cores_gone", file=beside), kind="unreadable")
    for kind, read in (("types", _core_totals), ("aicpu", _aicpu_totals)):
        try:
            parts += [read(rank)] if kind in rank.files else []
        except Unreadable as wrong:
            unreadable.append(wrong.file)
    if not any(len(part) for part in parts):
        raise FactMissing([OperatorTotal.table], unreadable)
    return Table.concat(OperatorTotal, parts)


def _core_totals(rank: LegacyRank) -> Table[OperatorTotal]:
    path = rank.files["types"]
    found = read_filled_columns(path, _COLUMNS, _OF_CORES, rank.notes, ("op_type", "total_ms"))
    steps = max(len(counted_steps(rank)), 1)
    types = _texts(found["op_type"])
    percent = _numbers(found, "percent", len(types))
    note_shares_gone(path.name, percent, rank.notes)
    return Table.build(
        OperatorTotal,
        rank=np.full(len(types), rank.rank),
        op_type=types,
        core="AI_CORE",
        calls=_numbers(found, "calls", len(types)) * steps,
        total_us=_numbers(found, "total_ms", len(types)) * _US_PER_MS * steps,
        share=np.where(percent >= 0, percent / 100, np.nan),
    )


def _aicpu_totals(rank: LegacyRank) -> Table[OperatorTotal]:
    """The calls by type; those that bring batches are in their place there, and no totals."""
    types, _, us = _aicpu_calls(rank)
    kept = np.flatnonzero((types.codes >= 0) & ~types.isin(_OF_DATA) & np.isfinite(us))
    names, of = np.unique(types.codes[kept], return_inverse=True)
    calls = np.bincount(of, minlength=len(names)).astype(np.float64)
    longest = np.zeros(len(names))
    np.maximum.at(longest, of, us[kept])
    return Table.build(
        OperatorTotal,
        rank=np.full(len(names), rank.rank),
        op_type=[types.names[code] for code in names.tolist()],
        core="AI_CPU",
        calls=calls,
        total_us=np.bincount(of, weights=us[kept], minlength=len(names)),
        max_us=longest,
    )


def _aicpu_calls(rank: LegacyRank) -> tuple[Texts, Array, Array]:
    """Type, start in ns and time in µs of each call on the AI CPU."""
    required = ("op_type", "start_ns", "end_ns")
    path = rank.files["aicpu"]
    found = read_filled_columns(path, _COLUMNS, _OF_AICPU, rank.notes, required)
    if "number" in found:
        note_numbers_gone(path, np.asarray(found["number"]).tolist(), rank.notes)
    start, end = (np.asarray(found[name]) for name in ("start_ns", "end_ns"))
    us = np.where((start != MISSING) & (end >= start), (end - start) / 1e3, np.nan)
    return _texts(found["op_type"]), start, us


def _texts(values: Values) -> Texts:
    return values if isinstance(values, Texts) else Texts.of(())


def _numbers(found: dict[str, Values], name: str, length: int) -> Array:
    values = found.get(name)
    return values if isinstance(values, np.ndarray) else np.full(length, np.nan)


OPERATOR_TOTALS = Reading(OperatorTotal, {EXPORT: _totals_of_rank})


def _fetches_of_rank(rank: LegacyRank) -> Table[DataFetch]:
    rank.need(DataFetch, "aicpu")
    types, start, us = _aicpu_calls(rank)
    rows = np.flatnonzero(types.isin([_FETCH]) & np.isfinite(us))
    return Table.build(
        DataFetch, rank=np.full(len(rows), rank.rank), start_ns=start[rows], duration_us=us[rows]
    ).sorted_by("start_ns")


DATA_FETCHES = Reading(DataFetch, {EXPORT: _fetches_of_rank})


def _flops_of_rank(rank: LegacyRank) -> Table[RankFlops]:
    content = jsonfile.load_json(rank.need(RankFlops, "flops"), rank.notes)
    per_step, per_second = (_sum_over_units(content, name) for name in ("FLOPs", "FLOPS"))
    if not per_step > 0:
        raise FactMissing([RankFlops.table])
    return Table.build(
        RankFlops, rank=[rank.rank], stage=[rank.stage], mega_flops=[per_step], gflops_per_s=[per_second]
    )


def _sum_over_units(content: object, name: str) -> float:
    """A number of the summary; newer versions give one for the cube and one for the vector units."""
    whole = as_number(value_at(content, name))
    parts = [as_number(value_at(content, f"{unit}_{name}")) for unit in ("cube", "vec")]
    return whole if whole >= 0 else sum(part for part in parts if part >= 0)


RANK_FLOPS = Reading(RankFlops, {EXPORT: _flops_of_rank})
