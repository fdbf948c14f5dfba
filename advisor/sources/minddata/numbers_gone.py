# SPDX-License-Identifier: Apache-2.0
"""Rows that are gone from a file of a profiler of MindSpore, by the numbers of the others.

It numbers steps, calls and operations without a gap. The first step of a recording can be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from advisor.facts.base import Column
from advisor.facts.table import Values
from advisor.messages.message import Message
from advisor.sources.files import csvfile
from advisor.sources.files.damage_notes import Notes

_LATEST_FIRST = 2


def read_filled_columns(
    path: Path,
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    notes: Notes,
    required: Iterable[str] = (),
) -> dict[str, Values]:
    """The columns of a file as `csvfile.read_columns` gives them; one without a row was cut, for none is written so.

    Raises:
        Unreadable: The file cannot be opened, is empty, or lacks a required column.
    """
    found = csvfile.read_columns(path, columns, headings, notes, required)
    if found and not len(next(iter(found.values()))) and not any(note.file == path.name for note in notes.all()):
        notes.add(path.name, "", Message("no_row_below_headings"), kind="truncated", share=1.0)
    return found


def note_numbers_gone(path: Path, numbers: Collection[int], notes: Notes) -> None:
    """Note how many of the numbers up to the last one are not there."""
    known = {number for number in numbers if number > 0}
    if not known:
        return
    first = min(known)
    gone = max(known) - len(known) - (first - 1 if first <= _LATEST_FIRST else 0)
    if gone > 0:
        notes.add(path.name, "", Message("numbers_left_out", rows=gone), rows=gone, share=gone / (gone + len(known)))


def note_operations_gone(path: Path, linked: Mapping[int, tuple[int | None, ...]], notes: Notes) -> None:
    """Note the operations of a dataset pipeline that others lead to and that are not there, by what each leads to."""
    gone = len({number for others in linked.values() for number in others if number is not None} - linked.keys())
    if gone:
        notes.add(path.name, "", Message("numbers_left_out", rows=gone), rows=gone, share=gone / (gone + len(linked)))


def note_sizes_gone(path: Path, timed: Collection[int], sized: Collection[int], notes: Notes) -> None:
    """Note the steps of which the times of a queue are there and its size is not."""
    gone = len({*timed} - {*sized})
    if gone:
        what = Message("steps_without_size", rows=gone, steps=len({*timed}))
        notes.add(path.name, "", what, rows=gone, share=gone / len({*timed}))
