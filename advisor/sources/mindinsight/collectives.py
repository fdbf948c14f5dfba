# SPDX-License-Identifier: Apache-2.0
"""Collective: their starts and ends in step_trace_raw_*_detail_time.csv, communication and waiting in hccl_raw_*.csv.

A heading of the first is the name of a collective; two more with `_start_point` and `_end_point` are its ends, in ticks
of 10 ns. The second holds, for each step, an object by the same names: `[kind, ms communicating, ms waiting, links]`.
What both leave of an AllReduce is neither: its reduction is in there. Links are not read, for their ranks are numbered
inside of communicators, and nothing says of which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from advisor.facts.base import MISSING
from advisor.facts.observed import Collective
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, reason_of_error
from advisor.messages.message import Message
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.jsonfile import as_mapping, as_number
from advisor.sources.files.names import bounded_name
from advisor.sources.files.text_lines import read_lines
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank
from advisor.sources.mindinsight.rows_gone import note_steps_gone
from advisor.sources.mindinsight.spans import CollectiveRow, kind_of, spans_in_trace
from advisor.sources.mindinsight.step_numbers import step_of_text
from advisor.sources.mindinsight.steps import counted_steps
from advisor.sources.reading import Reading
from advisor.sources.shared.collective_kinds import is_p2p

_COSTS = "communication_operator_cost"
_HCCL_ROW = re.compile(r'(?P<step>[^,"]*),[^,"]*,[^,"]*,(?:"(?:[^"]|"")*"|[^,"]*),"(?P<cost>(?:[^"]|"")*)"')
"""A row: its cells may be longer than readers of csv files allow."""


def _collectives_of_rank(rank: LegacyRank) -> Table[Collective]:
    steps = counted_steps(rank)
    unreadable = list[str]()
    try:
        spans = {(row.step, row.name): row for row in spans_in_trace(rank) if row.step in steps}
    except Unreadable as wrong:
        spans, unreadable = {}, [wrong.file]
    try:
        listed = {(row.step, row.name): row for row in _parts_in_hccl(rank)}
        counted = steps.keys() or _without_first({step for step, _ in listed})
        parts = {key: row for key, row in listed.items() if key[0] in counted}
    except Unreadable as wrong:
        parts, unreadable = {}, [*unreadable, wrong.file]
    rows = [_joined(spans.get(key), parts.get(key)) for key in sorted({*spans, *parts})]
    if not rows:
        raise FactMissing([Collective.table], unreadable)
    return _table_of_rows(rank.rank, rows)


def _without_first(steps: set[int]) -> set[int]:
    """The steps but the first of several, which the averages of each file leave out."""
    return steps - {min(steps)} if len(steps) > 1 else steps


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
        if found and (step := step_of_text(found["step"])):
            yield from _parts_of_step(step, found["cost"].replace('""', '"'), path, rank.notes)
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
    odd = list[str]()
    for name, entry in content.items():
        values = [as_number(value) for value in entry[1:3]] if isinstance(entry, list) else []
        if len(values) == 2 and all(value >= 0 for value in values):  # noqa: PLR2004 - communication and waiting
            transit, wait = (value * 1e3 for value in values)
            yield CollectiveRow(step, bounded_name(name), MISSING, transit + wait, transit, wait)
        else:
            odd.append(bounded_name(name))
    if odd:
        what, place = Message("no_usable_value_at", key=_COSTS), Message("at_row", n=step + 1)
        notes.add(path.name, place, what, rows=len(odd), share=len(odd) / len(content))


COLLECTIVES = Reading(Collective, {EXPORT: _collectives_of_rank})
