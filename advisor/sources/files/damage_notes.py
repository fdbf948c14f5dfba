# SPDX-License-Identifier: Apache-2.0
"""Notes: the damage found while reading, wherever files are read; Unreadable: a file of which nothing can be read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.messages.errors import AdvisorError


class Unreadable(AdvisorError):
    """A file that is there cannot be read as a whole."""

    def __init__(self, file: str, what: str) -> None:
        self.file, self.what = file, what
        super().__init__(f"{file} cannot be read: {what}")


@dataclass(frozen=True, slots=True)
class Note:
    """One kind of damage in one file: where it was met first, and how much is affected."""

    file: str
    place: str
    what: str
    kind: str = "row"
    rows: int = 1
    share: float = math.nan


class Notes:
    """The damage found while reading. Said twice, it counts once: files may be read for more than one fact."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Note] = {}

    def add(
        self, file: str, place: str, what: str, *, kind: str = "row", rows: int = 1, share: float = math.nan
    ) -> None:
        """Remember damage: the file's name, the first place, what was wrong, and how many rows are left out.

        `kind` is `row`, `truncated`, `unreadable` (then `share` is 1) or `clock`. The same words from another
        place of the file are counted together.
        """
        share = 1.0 if kind == "unreadable" else share
        before = self._found.get((file, what, kind))
        if before is not None and before.place != place:
            rows, place, share = before.rows + rows, before.place, math.nan
        self._found[file, what, kind] = Note(file, place, what, kind, rows, share)

    def all(self) -> tuple[Note, ...]:
        """What was found, file by file."""
        return tuple(sorted(self._found.values(), key=lambda note: (note.file, note.what, note.place)))

    def __len__(self) -> int:
        return len(self._found)

    def table(self, rank: int, folder: str = "") -> Table[Damage]:
        """What was found as a fact; `folder` is where the files lie relative to the input."""
        notes = self.all()
        prefix = f"{folder}/" if folder else ""
        return Table.build(
            Damage,
            rank=[rank] * len(notes),
            file=[prefix + note.file for note in notes],
            place=[note.place or None for note in notes],
            what=[note.what for note in notes],
            kind=[note.kind for note in notes],
            rows=[float(note.rows) for note in notes],
            share=[note.share for note in notes],
        )
