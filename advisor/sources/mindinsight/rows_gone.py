# SPDX-License-Identifier: Apache-2.0
"""Rows that are gone from a file, by what the others tell: their numbers, and the averages that end it.

The profiler writes averages behind the steps in every version.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes
from advisor.sources.minddata.numbers_gone import note_numbers_gone
from advisor.sources.mindinsight.step_numbers import STEP_NUMBER, step_of_text

_AVERAGES = ("-", "0")


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
