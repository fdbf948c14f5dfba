# SPDX-License-Identifier: Apache-2.0
"""From a profile to tables of how often and how long: those that were asked for, and why others cannot be made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from advisor.engine.reason import of_missing
from advisor.facts.base import Fact
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import WantedFact
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.model.findings import Head, Rows, Scalar
from advisor.model.statistics import AbsentStatistic, Statistic, Statistics
from advisor.release import VERSION
from advisor.statistics.tables import TABLES, StatisticTable

if TYPE_CHECKING:
    import pandas as pd

TABLE_NAMES = tuple(table.name for table in TABLES)
_UNITS = {
    **{"us": "us", "bytes": "B", "share": "share", "gbps": "GB/s"},
    **{"mfu": "share", "tflops": "TFLOP/s", "deviation": "MAD"},
}
"""By the name of a column, or how it ends."""
_NOTHING_OF_IT = Text("the capture holds nothing of this", "采集数据中没有此类记录")
_COUNTS = ("calls", "steps", "allocations", "kernels", "instances", "samples")
_MOST_EXACT = float(1 << 53)
"""Up to here a float holds every whole number."""


def make_statistics(
    profile: Profile,
    names: Sequence[str] = (),
    by: Sequence[str] = (),
    *,
    per_rank: bool = False,
    also: Iterable[WantedFact] = (),
) -> Statistics:
    """These tables of a profile, or every one it gives; those it does not give are named with the reason.

    `also` is read with them, for somebody else who will want it.

    Raises:
        UsageError: There is no such table, a table has no such key, or its rows cannot be put together by these.
    """
    chosen = [_table_named(name) for name in names] or list(TABLES)
    keys = {table.name: _keys_asked(table, by, per_rank, strict=len(chosen) == 1) for table in chosen}
    profile.prepare([*_wanted(chosen), *also])
    tables: list[Statistic] = []
    absent: list[AbsentStatistic] = []
    for table in chosen:
        try:
            frame = _made_frame(table, profile, keys[table.name])
        except FactMissing as missing:
            absent.append(AbsentStatistic(name=table.name, reason=of_missing(missing, profile.run).text))
            continue
        if frame.empty:
            absent.append(AbsentStatistic(name=table.name, reason=_NOTHING_OF_IT))
        else:
            tables.append(Statistic(name=table.name, keys=keys[table.name], rows=_rows_of_frame(table, frame)))
    run = profile.run
    return Statistics(
        version=VERSION,
        run=run.name,
        notes=run.notes,
        times_of=run.times_of,
        tables=tuple(tables),
        absent=tuple(absent),
    )


def statistic_frame(profile: Profile, name: str, by: Sequence[str] = (), *, per_rank: bool = False) -> pd.DataFrame:
    """One table of a profile as a DataFrame.

    Raises:
        FactMissing: What it is made from was not recorded.
        UsageError: There is no such table, it has no such key, or its rows cannot be put together by these.
    """
    table = _table_named(name)
    keys = _keys_asked(table, by, per_rank, strict=True)
    profile.prepare(_wanted([table]))
    try:
        return _made_frame(table, profile, keys)
    except FactMissing as missing:
        raise missing.because(of_missing(missing, profile.run).text) from None


def facts_behind(names: Sequence[str]) -> tuple[type[Fact], ...]:
    """What these tables are made from; without names all of them.

    Raises:
        UsageError: There is no such table.
    """
    return tuple(_wanted([_table_named(name) for name in names] or TABLES))


def _table_named(name: str) -> StatisticTable:
    found = next((table for table in TABLES if table.name == name), None)
    if found is None:
        raise UsageError(Message("no_such_statistic", name=name), Message("known_are", names=", ".join(TABLE_NAMES)))
    return found


def _keys_asked(table: StatisticTable, by: Sequence[str], per_rank: bool, *, strict: bool) -> tuple[str, ...]:
    """The keys of a table as asked for. Where several are made, those stand that a table can be made by, else its own.

    Raises:
        UsageError: One is asked for that the table does not have, or rows cannot be put together by these.
    """
    known = (*table.keys, *table.finer)
    unknown = [key for key in by if key not in known]
    if unknown and strict:
        raise UsageError(
            Message("no_such_key", name=unknown[0], table=table.name), Message("known_are", names=", ".join(known))
        )
    asked = tuple(dict.fromkeys(key for key in by if key in known)) or table.keys
    if per_rank and "rank" not in asked and (table.merges or "rank" in table.keys):
        asked = ("rank", *asked)
    if {*table.needed} <= {*asked}:
        return asked
    if strict:
        raise UsageError(
            Message("keys_do_not_name_rows", table=table.name, names=", ".join(asked)),
            Message("give_these_keys", names=", ".join(table.needed)),
        )
    return table.keys


def _wanted(tables: Sequence[StatisticTable]) -> list[type[Fact]]:
    return list(dict.fromkeys(fact for table in tables for fact in table.wanted))


def _made_frame(table: StatisticTable, profile: Profile, keys: tuple[str, ...]) -> pd.DataFrame:
    """A table whose columns of whole numbers are such where none is missing: a missing one makes all of them floats.

    Raises:
        FactMissing: What it is made from was not recorded.
    """
    frame = table.make(profile, keys)
    known = {name: frame[name].round() for name in _whole_columns(table, frame) if frame[name].notna().all()}
    return frame.assign(**{name: column.astype("int64") for name, column in known.items()})


def _whole_columns(table: StatisticTable, frame: pd.DataFrame) -> tuple[str, ...]:
    """The columns of bytes, and of counts that are no means and hold whole numbers alone."""
    units = {str(name): _unit_of(str(name)) for name in frame.columns if name not in table.means}
    return tuple(name for name, unit in units.items() if unit in ("B", "count") and _holds_whole(frame[name], unit))


def _holds_whole(column: pd.Series[Any], unit: str) -> bool:
    """Whether numbers are whole, and no larger than a float holds exactly; parts of a byte come from averaging."""
    known = [cell for cell in column.tolist() if isinstance(cell, int | float) and not math.isnan(cell)]
    return all(abs(cell) < _MOST_EXACT and (unit == "B" or cell == round(cell)) for cell in known)


def _rows_of_frame(table: StatisticTable, frame: pd.DataFrame) -> Rows:
    whole = _whole_columns(table, frame)
    heads = tuple(Head(name=str(name), unit=_unit_of(str(name))) for name in frame.columns)
    columns = [[_plain_cell(cell, whole=name in whole) for cell in frame[name].tolist()] for name in frame.columns]
    return Rows(columns=heads, rows=tuple(zip(*columns, strict=True)), total=len(frame))


def _unit_of(name: str) -> str:
    return "count" if name in _COUNTS else _UNITS.get(name) or _UNITS.get(name.rpartition("_")[2], "")


def _plain_cell(cell: object, *, whole: bool) -> Scalar:
    """A number or text; nothing where it is missing, and times to the ns."""
    if isinstance(cell, float):
        return round(cell, None if whole else 6) if math.isfinite(cell) else None
    return cell if isinstance(cell, str | int) else None
