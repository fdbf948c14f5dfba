# SPDX-License-Identifier: Apache-2.0
"""Starts and ends of collectives, sends and receives in step_trace_raw_*_detail_time.csv.

A heading is the name of one; two more with `_start_point` and `_end_point` are its ends, in ticks of 10 ns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from advisor.facts.base import Column
from advisor.facts.table import Array, Texts
from advisor.sources.files import csvfile
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.names import bounded_name
from advisor.sources.mindinsight.reading import LegacyRank
from advisor.sources.mindinsight.step_numbers import STEP_NUMBER, step_of_text
from advisor.sources.shared.collective_kinds import is_p2p

US_PER_TICK = 0.01
_NS_PER_TICK = 10
_NAME = re.compile(r"stream_\d+_\d+_(?P<op>[A-Za-z0-9]+?)(?:-op\d+)?")
_TICKS = Column("Ticks of 10 ns.", "int")
_TEXT = Column("Text.", "text")


class CollectiveRow(NamedTuple):
    """One collective in one step, as the files have it; what they do not have is NaN."""

    step: int
    name: str
    start_ns: int
    elapse_us: float
    transit_us: float = float("nan")
    wait_us: float = float("nan")
    idle_us: float = float("nan")


def kind_of(name: str) -> str:
    """The kind of a collective by its name: `stream_48_0_AllReduce-op663` is `allReduce`; empty where it has none."""
    found = _NAME.fullmatch(name)
    return found["op"][:1].lower() + found["op"][1:] if found and found["op"] != "parallel" else "allReduce"


def spans_in_trace(rank: LegacyRank) -> Iterator[CollectiveRow]:
    """Starts and ends of the collectives, step by step.

    Raises:
        Unreadable: The file cannot be read.
    """
    path = rank.files.get("steps")
    if path is None:
        return
    names = _collectives_in_heading(path, rank.notes)
    ends = {f"{name}_{end}_point": (f"{name}_{end}_point",) for name in names for end in ("start", "end")}
    columns = {STEP_NUMBER: _TEXT, **dict.fromkeys(ends, _TICKS)}
    found = csvfile.read_columns(path, columns, {STEP_NUMBER: (STEP_NUMBER,), **ends}, rank.notes, (STEP_NUMBER,))
    numbers = found[STEP_NUMBER]
    steps = [step_of_text(text) for text in numbers.values()] if isinstance(numbers, Texts) else []
    rows = [row for row, step in enumerate(steps) if step]
    for name in names:
        start, end = (_ticks(found.get(f"{name}_{which}_point")) for which in ("start", "end"))
        for row in rows:
            if 0 < start[row] <= end[row]:
                us = float(end[row] - start[row]) * US_PER_TICK
                yield CollectiveRow(steps[row], bounded_name(name), int(start[row]) * _NS_PER_TICK, us)


def _ticks(values: Array | Texts | None) -> list[int]:
    """Ticks that can be made ns, 0 where they are missing or cannot."""
    assert isinstance(values, np.ndarray)  # noqa: S101 - as it was asked for
    return np.where((values > 0) & (values < 1 << 58), values, 0).tolist()  # type: ignore[no-any-return]


def _collectives_in_heading(path: Path, notes: Notes) -> list[str]:
    """The collectives that the headings of the file name, each with both ends.

    Raises:
        Unreadable: The file cannot be read.
    """
    headings = csvfile.spellings_of(path, notes)
    there = {heading.lower() for heading in headings}
    starts = [heading.removesuffix("_start_point") for heading in headings if heading.endswith("_start_point")]
    return [name for name in dict.fromkeys(starts) if f"{name}_end_point".lower() in there]


def collective_us_by_step(rank: LegacyRank) -> dict[int, float]:
    """Per step in which something was sent to another stage: how long collectives ran, µs, several at once as one.

    Raises:
        Unreadable: The file cannot be read.
    """
    rows = list(spans_in_trace(rank))
    sending = {row.step for row in rows if kind_of(row.name).startswith("send")}
    found = {}
    for step in sending:
        alone = (row for row in rows if row.step == step and not is_p2p(kind_of(row.name)))
        own = sorted((row.start_ns, row.elapse_us) for row in alone)
        start = np.array([start / 1e3 for start, _ in own])
        end = np.maximum.accumulate(start + np.array([us for _, us in own]))
        before = np.append(-np.inf, end)[: len(end)]
        found[step] = float(np.maximum(end - np.maximum(start, before), 0).sum())
    return found
