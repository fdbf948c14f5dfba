# SPDX-License-Identifier: Apache-2.0
"""Two captures fact by fact: rows, and columns of times and bytes added up; where the time went; the findings."""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import advisor
from advisor.facts.base import Fact
from advisor.facts.derived import Overlap
from advisor.facts.profile import Profile
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.readings import READINGS
from corpus.msprof import HEADINGS

OBSERVED: tuple[type[Fact], ...] = tuple(sorted((r.fact for r in READINGS), key=lambda fact: fact.table))
SPLIT = ("compute_us", "exposed_comm_us", "free_us")
_ADDED_UP = ("us", "bytes")
LENGTH = "from start to end"
_ABOUT_THE_FILES = ("damages", "rank_captures", "settings")
"""Facts that tell the exports apart on purpose."""

MSPROF = "PROF_000001_20260101000000000_AGREEMENT/mindstudio_profiler_output"
_STAMP = "20260101000000"


@dataclass(frozen=True, slots=True)
class FactPair:
    """One fact in two captures, and the column whose sums are apart most; empty where they hold none."""

    fact: str
    rows: tuple[int | None, int | None]
    """None where a capture does not hold it."""
    column: str = ""
    sums: tuple[float, float] = (math.nan, math.nan)
    only_one: tuple[str, ...] = ()
    """Columns of which one capture holds nothing."""

    @property
    def difference(self) -> float:
        """Of the sums, relative to the larger one; 0 where there are none."""
        larger = max(map(abs, self.sums))
        return abs(self.sums[0] - self.sums[1]) / larger if larger > 0 else 0.0


@dataclass(frozen=True, slots=True)
class SplitPair:
    """One part of the time of a rank in two captures, µs, over all steps."""

    rank: int
    part: str
    us: tuple[float, float]
    share: float
    """How far they are apart, as a share of the rank's whole time."""


@dataclass(frozen=True, slots=True)
class FindingPair:
    """What a rule found in two captures: savings per step, µs; NaN where it found nothing."""

    rule: str
    saving_us: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two captures side by side."""

    facts: tuple[FactPair, ...]
    split: tuple[SplitPair, ...]
    findings: tuple[FindingPair, ...]
    first: tuple[str, str]
    """The rule of the first finding of each."""


def compare_captures(one: Path, two: Path) -> Pair:
    """Everything that two captures of one run should agree in."""
    profiles = (advisor.load_profile(one), advisor.load_profile(two))
    try:
        facts = tuple(found for fact in OBSERVED if (found := _fact_pair(fact, profiles)) is not None)
        split = tuple(_split_pairs(profiles))
        diagnoses = [advisor.diagnose(profile) for profile in profiles]
    finally:
        for profile in profiles:
            profile.close()
    savings = [{f.fingerprint: (f.rule, f.saving.us) for f in diagnosis.findings} for diagnosis in diagnoses]
    findings = tuple(
        FindingPair((savings[0].get(key) or savings[1][key])[0], tuple(s.get(key, ("", math.nan))[1] for s in savings))
        for key in dict.fromkeys((*savings[0], *savings[1]))
    )
    first = tuple(d.findings[0].rule if d.findings else "" for d in diagnoses)
    return Pair(facts, split, findings, (first[0], first[1]))


def _table_of(profile: Profile, fact: type[Fact]) -> Any:
    try:
        return profile.table(fact)
    except FactMissing:
        return None


def _fact_pair(fact: type[Fact], profiles: tuple[Profile, Profile]) -> FactPair | None:
    if fact.table in _ABOUT_THE_FILES:
        return None
    tables = [_table_of(profile, fact) for profile in profiles]
    rows = tuple(None if table is None else len(table) for table in tables)
    if rows == (None, None):
        return None
    if None in rows:
        return FactPair(fact.table, rows)
    worst, only_one = FactPair(fact.table, rows), []
    for column in columns_added_up(fact):
        values = [_values_of_column(table, column) for table in tables]
        known = [cells[~np.isnan(cells)] for cells in values]
        if min(map(len, known)) == 0:
            only_one += [column] if max(map(len, known)) else []
            continue
        found = FactPair(fact.table, rows, column, tuple(float(values.sum()) for values in known))
        worst = found if not worst.column or found.difference > worst.difference else worst
    return FactPair(worst.fact, worst.rows, worst.column, worst.sums, tuple(only_one))


def columns_added_up(fact: type[Fact]) -> list[str]:
    """Columns of times and bytes, and `LENGTH` of rows that have a start and an end."""
    columns = [name for name, column in fact.columns().items() if column.unit in _ADDED_UP]
    return [*columns, LENGTH] if {"start_ns", "end_ns"} <= fact.columns().keys() else columns


def _values_of_column(table: Any, column: str) -> Any:
    return (table["end_ns"] - table["start_ns"]) / 1e3 if column == LENGTH else table[column]


def _split_pairs(profiles: tuple[Profile, Profile]) -> Iterator[SplitPair]:
    tables = [_table_of(profile, Overlap) for profile in profiles]
    if None in tables:
        return
    for rank in np.unique(tables[0]["rank"]).tolist():
        own = [table.take(table["rank"] == rank) for table in tables]
        whole = float(np.nansum(own[0]["span_us"])) or math.nan
        for part in SPLIT:
            us = tuple(float(table[part].sum()) for table in own)
            yield SplitPair(rank, part, us, abs(us[0] - us[1]) / whole)


def as_msprof(capture: Path, folder: Path) -> Path:
    """The text export of one rank as msprof itself would have written it: no steps, nothing of the framework."""
    output, found = folder / MSPROF, capture / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    with (
        (found / "kernel_details.csv").open(newline="", encoding="utf-8") as read,
        (output / f"op_summary_{_STAMP}.csv").open("w", newline="", encoding="utf-8") as written,
    ):
        rows = csv.DictReader(read)
        kept = [name for name in rows.fieldnames or () if name != "Step Id"]
        out = csv.writer(written)
        out.writerow([HEADINGS.get(name, name) for name in kept])
        out.writerows([row[name] for name in kept] for row in rows)
    for name in ("op_statistic", "api_statistic"):
        shutil.copyfile(found / f"{name}.csv", output / f"{name}_{_STAMP}.csv")
    events = json.loads((found / "trace_view.json").read_bytes())
    (output / f"msprof_{_STAMP}.json").write_text(json.dumps(_without_framework(events)), "utf-8")
    return folder


def _without_framework(events: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """The events of a timeline that are not the framework's."""
    listed = list(events)
    names = {e["pid"]: e["args"]["name"] for e in listed if e["ph"] == "M" and e["name"] == "process_name"}  # type: ignore[index]
    return [event for event in listed if names.get(event.get("pid")) not in {"Python", "PyTorch"}]
