# SPDX-License-Identifier: Apache-2.0
"""Rows that are gone from a file, by what the others tell: their numbers, and the averages that end it.

The profiler numbers steps, calls and operations without a gap, and writes averages behind the steps in every version.
The first step of a recording can be left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from advisor.facts.base import Column
from advisor.facts.table import Values
from advisor.messages.message import Message
from advisor.sources.files import csvfile
from advisor.sources.files.damage_notes import Notes
from advisor.sources.mindinsight.step_numbers import STEP_NUMBER, step_of_text

_LATEST_FIRST = 2
_AVERAGES = ("-", "0")


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


def note_steps_gone(path: Path, numbers: Sequence[str | None], notes: Notes) -> None:
    """Note the steps that are not there, by these numbers of rows, of which the last one is that of the averages."""
    if not numbers:
        return
    if numbers[-1] not in _AVERAGES:
        place = Message("after_row", n=len(numbers) + 1)
        notes.add(path.name, place, Message("averages_are_gone"), kind="truncated")
    _note_rows_without_number(path, numbers, notes)
    note_numbers_gone(path, list(map(step_of_text, numbers)), notes)


def _note_rows_without_number(path: Path, numbers: Sequence[str | None], notes: Notes) -> None:
    """Note the rows that do not say which step they are of."""
    bad = [row for row, text in enumerate(numbers, 1) if not step_of_text(text) and text not in _AVERAGES]
    if bad:
        what = Message("no_usable_number", column=STEP_NUMBER)
        notes.add(path.name, Message("at_row", n=bad[0]), what, rows=len(bad), share=len(bad) / len(numbers))


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
