# SPDX-License-Identifier: Apache-2.0
"""What a capture is made of, how it was recorded, and what of it could not be read."""

from __future__ import annotations

import sqlite3

from advisor.errors import FactMissing
from advisor.facts.observed import Damage, RankCapture
from advisor.facts.table import Table
from advisor.loaders.reading import Folder, Reading, Unreadable
from advisor.loaders.settings import LEVELS, recorded
from advisor.loaders.steps import numbered_steps
from advisor.run import Capture


def source_of(folder: Folder) -> str:
    """`text`, `database` or `text+database`."""
    kinds = ["text"] * bool(folder.exports_text) + ["database"] * bool(folder.databases)
    return "+".join(kinds)


def describe(folder: Folder) -> Capture:
    """How a rank was captured, as the run remembers it."""
    found = recorded(folder)
    return Capture(
        rank=folder.rank,
        path=folder.name,
        source=source_of(folder),
        level=found.level,
        activities=found.activities,
        with_stack=found.switch("with_stack"),
        profile_memory=found.switch("profile_memory"),
        record_shapes=found.switch("record_shapes"),
        complete=found.complete,
        size_bytes=folder.size_bytes,
    )


def chip(folder: Folder) -> str:
    """The chip as the database names it, such as `Ascend910B`; empty when not recorded."""
    try:
        row = folder.connection("profiler").execute("SELECT name FROM NPU_INFO LIMIT 1").fetchone()
    except (FactMissing, Unreadable, sqlite3.Error):  # no database, or one without this table
        return ""
    return row[0] if row and isinstance(row[0], str) else ""


def _capture(folder: Folder) -> Table[RankCapture]:
    found = recorded(folder)
    level = found.level
    return Table.build(
        RankCapture,
        rank=[folder.rank],
        source=source_of(folder),
        level=level,
        level_number=None if level is None else LEVELS.index(level) - 1,
        complete=_flag(found.complete),
        with_stack=_flag(found.switch("with_stack")),
        profile_memory=_flag(found.switch("profile_memory")),
        has_steps=int(bool(numbered_steps(folder))),
        other_captures=folder.other_captures,
    )


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)


def damages(folder: Folder) -> Table[Damage]:
    """What could not be read so far; to be asked for after the facts."""
    notes = folder.notes.all()
    folder.release()
    prefix = f"{folder.name}/" if folder.name else ""
    return Table.build(
        Damage,
        rank=[folder.rank] * len(notes),
        file=[prefix + note.file for note in notes],
        place=[note.place or None for note in notes],
        what=[note.what for note in notes],
        kind=[note.kind for note in notes],
        rows=[float(note.rows) for note in notes],
        share=[note.share for note in notes],
    )


RANK_CAPTURES = Reading(RankCapture, text=_capture, database=_capture)
DAMAGES = Reading(Damage, text=damages, database=damages)
