# SPDX-License-Identifier: Apache-2.0
"""The two exports of one run give equal facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from advisor.facts.base import Fact
from advisor.facts.rank_facts import Source
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.reading import Reading

Capture = Callable[..., Path]
LEVELS = (0, 1, 2)
ABOUT_THE_EXPORT = {"rank_captures": {"source"}, "settings": set[str](), "damages": set[str]()}
"""Columns that tell the exports apart on purpose."""

ONE_EXPORT_ONLY: dict[str, set[str]] = {
    "kernels": {"wait_us", "cube_share", "cube_mhz", "op_state", "hf32"},
    "device_tasks": {"task_type"},
    "operator_calls": {"device_self_us", "device_total_us"},
    "operator_totals": {"share"},
}
"""Columns that one of the exports does not hold at all."""

ONE_EXPORT_AT_LEVEL: dict[tuple[str, int], set[str]] = {
    ("kernels", 0): {"core", "stream"},
    ("launches", 0): {"thread", "host_start_ns", "host_end_ns"},
    ("device_tasks", 2): {"size_bytes", "direction"},
}
"""Columns that one of the exports does not hold at one level; databases before MEMCPY_INFO know no sizes of copies."""

CANN_KINDS = {"api", "launch", "graph", "communicate", "runtime"}
"""Host calls that the text export leaves out at Level0."""

ONLY_IN = {
    **{(name, level): "text" for name in ("l2_cache", "overlap_tracks") for level in (0, 1, 2)},
    **{("devices", level): "database" for level in (0, 1, 2)},
    ("api_totals", 0): "database",
}
"""Facts that one of the exports does not hold, by level."""


FEWER_IN_TEXT = {"peer_waits"}
"""Facts of which the timeline holds less: whose a task is, is not told while operators of a communicator run beside
each other, which the sends and receives of a pipeline do."""


@cache
def first_rank(folder: Path) -> Source:
    """The capture of the first rank, opened once for all of its facts."""
    return open_input(folder)[1][0]


def table(folder: Path, fact: type[Fact]) -> Table[Any] | None:
    """The fact of the first rank; None when it is not recorded."""
    try:
        return first_rank(folder).read(fact)
    except FactMissing as missing:
        assert missing.unreadable == ()
        return None


def rows(found: Table[Any], left_out: set[str]) -> list[tuple[object, ...]]:
    """Rows in an order that does not depend on the export."""
    names = [name for name in found.fact.columns() if name not in left_out]
    plain = [tuple(row[name] for name in names) for row in found.rows()]
    return sorted((row for row in plain if "export_type" not in row), key=_order)


def _order(row: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(f"{cell:025.6f}" if isinstance(cell, float) else f"{cell!r:>25}" for cell in row)


def same(a: object, b: object) -> bool:
    """Equal, floats up to their last digits."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)
    return a == b


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.fact.table)
def test_text_equals_database(reading: Reading[Folder, Any], level: int, capture: Capture) -> None:
    name = reading.fact.table
    text, database = (table(capture(export, level), reading.fact) for export in ("text", "database"))
    if text is None or database is None:
        holder = "text" if text is not None else "database" if database is not None else None
        assert holder == ONLY_IN.get((name, level)), f"only {holder} holds {name} at level {level}"
        return
    left_out = ABOUT_THE_EXPORT.get(name, set()) | ONE_EXPORT_ONLY.get(name, set())
    left_out |= ONE_EXPORT_AT_LEVEL.get((name, level), set())
    if (name, level) == ("host_calls", 0):
        database = database.take(~database.texts("kind").isin(CANN_KINDS))
    ours, theirs = rows(text, left_out), rows(database, left_out)
    if name in FEWER_IN_TEXT and ours:
        theirs = [row for row in theirs if any(all(map(same, row, one)) for one in ours)]
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert all(map(same, a, b)), (a, b)


def test_both_exports_are_the_same_run(capture: Capture) -> None:
    text, database = (open_input(capture(export))[0] for export in ("text", "database"))
    left_out = {"name", "chip", "captures"}
    assert text.model_dump(exclude=left_out) == database.model_dump(exclude=left_out)
    assert {c.source for c in text.captures} == {"text"}
    assert {c.source for c in database.captures} == {"database"}
    assert text.parallel.stages == ((0, 1), (2, 3)) or text.parallel.pp > 1


def test_every_observed_fact_has_one_reading() -> None:
    facts = [reading.fact for reading in READINGS]
    assert len(facts) == len(set(facts))
