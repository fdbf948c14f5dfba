# SPDX-License-Identifier: Apache-2.0
"""Collective: their starts and ends in step_trace_raw_*_detail_time.csv, communication and waiting in hccl_raw_*.csv.

A heading of the first is the name of a collective; two more with `_start_point` and `_end_point` are its ends, in ticks
of 10 ns. The second holds, for each step, an object by the same names: `[kind, ms communicating, ms waiting, links]`.
What both leave of an AllReduce is neither: its reduction is in there. Links are not read, for their ranks are numbered
inside of communicators, and nothing says of which.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import Collective
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing, reason_of_error
from advisor.messages.message import Message
from advisor.regular_files import open_regular
from advisor.sources.ascend.communication import is_p2p
from advisor.sources.files import csvfile, jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.jsonfile import as_mapping, as_number
from advisor.sources.files.names import bounded_name
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank, read_lines
from advisor.sources.mindinsight.rows_gone import note_steps_gone
from advisor.sources.mindinsight.steps import US_PER_TICK, counted_steps
from advisor.sources.reading import Reading

_NS_PER_TICK = 10
_HEADING_BYTES = 1 << 22
_MOST_COLUMNS = 1 << 14
_NAME = re.compile(r"stream_\d+_\d+_(?P<op>[A-Za-z0-9]+?)(?:-op\d+)?")
_STEP = re.compile(r"\d{1,9}")
_HCCL_ROW = re.compile(r'(?P<step>[^,"]*),[^,"]*,[^,"]*,(?:"(?:[^"]|"")*"|[^,"]*),"(?P<cost>(?:[^"]|"")*)"')
"""A row: its cells may be longer than readers of csv files allow."""
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


def _collectives_of_rank(rank: LegacyRank) -> Table[Collective]:
    steps = counted_steps(rank)
    unreadable = list[str]()
    try:
        spans = {(row.step, row.name): row for row in _spans_in_trace(rank) if row.step in steps}
    except Unreadable as wrong:
        spans, unreadable = {}, [wrong.file]
    try:
        parts = {(row.step, row.name): row for row in _parts_in_hccl(rank) if not steps or row.step in steps}
    except Unreadable as wrong:
        parts, unreadable = {}, [*unreadable, wrong.file]
    rows = [_joined(spans.get(key), parts.get(key)) for key in sorted({*spans, *parts})]
    if not rows:
        raise FactMissing([Collective.table], unreadable)
    return _table_of_rows(rank.rank, rows)


def _joined(span: CollectiveRow | None, part: CollectiveRow | None) -> CollectiveRow:
    """What both files say of one collective."""
    if span is None or part is None:
        found = span or part
        assert found is not None  # noqa: S101 - one of them has it
        return found
    idle_us = max(span.elapse_us - part.transit_us - part.wait_us, 0.0)
    return span._replace(transit_us=part.transit_us, wait_us=part.wait_us, idle_us=idle_us)


def _table_of_rows(rank: int, rows: list[CollectiveRow]) -> Table[Collective]:
    ops = [kind_of(row.name) for row in rows]
    return Table.build(
        Collective,
        rank=[rank] * len(rows),
        step=[row.step for row in rows],
        name=[row.name for row in rows],
        op=ops,
        p2p=[int(is_p2p(op)) for op in ops],
        start_ns=[row.start_ns for row in rows],
        elapse_us=[row.elapse_us for row in rows],
        transit_us=[row.transit_us for row in rows],
        wait_us=[row.wait_us for row in rows],
        idle_us=[row.idle_us for row in rows],
    ).sorted_by("step", "start_ns")


def kind_of(name: str) -> str:
    """The kind of a collective by its name: `stream_48_0_AllReduce-op663` is `allReduce`; empty where it has none."""
    found = _NAME.fullmatch(name)
    return found["op"][:1].lower() + found["op"][1:] if found and found["op"] != "parallel" else "allReduce"


def _spans_in_trace(rank: LegacyRank) -> Iterator[CollectiveRow]:
    """Starts and ends of the collectives, step by step.

    Raises:
        Unreadable: The file cannot be read.
    """
    path = rank.files.get("steps")
    if path is None:
        return
    names = _collectives_in_heading(path, rank.notes)
    ends = {f"{name}_{end}_point": (f"{name}_{end}_point",) for name in names for end in ("start", "end")}
    columns = {"step_num": _TEXT, **dict.fromkeys(ends, _TICKS)}
    found = csvfile.read_columns(path, columns, {"step_num": ("step_num",), **ends}, rank.notes, ("step_num",))
    numbers = found["step_num"]
    steps = numbers.values() if isinstance(numbers, Texts) else []
    rows = [row for row, text in enumerate(steps) if text and _STEP.fullmatch(text) and int(text)]
    for name in names:
        start, end = (_ticks(found.get(f"{name}_{which}_point")) for which in ("start", "end"))
        for row in rows:
            if 0 < start[row] <= end[row]:
                us = float(end[row] - start[row]) * US_PER_TICK
                yield CollectiveRow(int(steps[row] or 0), bounded_name(name), int(start[row]) * _NS_PER_TICK, us)


def _ticks(values: Array | Texts | None) -> list[int]:
    """Ticks that can be made ns, 0 where they are missing or cannot."""
    assert isinstance(values, np.ndarray)  # noqa: S101 - as it was asked for
    return np.where((values > 0) & (values < 1 << 58), values, 0).tolist()  # type: ignore[no-any-return]


def _collectives_in_heading(path: Path, notes: Notes) -> list[str]:
    """The collectives that the headings of the file name, each with both ends."""
    try:
        with open_regular(path) as file:
            line = file.readline(_HEADING_BYTES).decode("utf-8-sig", "replace")
        headings = [cell.strip() for cell in next(csv.reader(io.StringIO(line)), [])]
    except (OSError, csv.Error) as error:
        csvfile.refuse_file(path, notes, Message("file_unreadable", why=reason_of_error(error)))
    there = {heading.lower() for heading in headings}
    starts = [
        heading.removesuffix("_start_point") for heading in headings[:_MOST_COLUMNS] if heading.endswith("_start_point")
    ]
    return [name for name in dict.fromkeys(starts) if f"{name}_end_point".lower() in there]


def _parts_in_hccl(rank: LegacyRank) -> Iterator[CollectiveRow]:
    """How long each collective communicated and waited, step by step.

    Raises:
        Unreadable: The file cannot be read.
    """
    path = rank.files.get("hccl")
    if path is None:
        return
    lines = read_lines(path, rank.notes)
    odd, numbers = 0, list[str]()
    for line in lines[1:]:
        found = _HCCL_ROW.fullmatch(line)
        odd += found is None
        numbers += [found["step"]] if found else []
        if found and _STEP.fullmatch(found["step"]) and int(found["step"]):
            yield from _parts_of_step(int(found["step"]), found["cost"].replace('""', '"'), path, rank.notes)
    if odd:
        rank.notes.add(path.name, "", Message("uneven_rows"), rows=odd, share=odd / max(len(lines) - 1, 1))
    if len(lines) == 1:
        rank.notes.add(path.name, "", Message("no_row_below_headings"), kind="truncated", share=1.0)
    note_steps_gone(path, numbers, rank.notes)


def _parts_of_step(step: int, listed: str, path: Path, notes: Notes) -> Iterator[CollectiveRow]:
    try:
        content = as_mapping(jsonfile.parse_json(listed))
    except ValueError as error:
        notes.add(path.name, Message("at_row", n=step + 1), Message("no_complete_json", why=reason_of_error(error)))
        return
    for name, entry in content.items():
        values = [as_number(value) for value in entry[1:3]] if isinstance(entry, list) else []
        if len(values) == 2 and all(value >= 0 for value in values):  # noqa: PLR2004 - communication and waiting
            transit, wait = (value * 1e3 for value in values)
            yield CollectiveRow(step, bounded_name(name), MISSING, transit + wait, transit, wait)


COLLECTIVES = Reading(Collective, {EXPORT: _collectives_of_rank})
