# SPDX-License-Identifier: Apache-2.0
"""Notes: the damage found while reading, wherever files are read. Unreadable and Odd: what cannot be used, and why.

What is wrong is a message; so is a place, unless it is a name out of the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct, structs

from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.messages.errors import AdvisorError, SpokenError
from advisor.messages.message import Message
from advisor.model.unread import SavedMessage
from advisor.sources.family import LeftAside
from advisor.sources.files.gzip_blocks import CHECKSUM_WRONG

TRUNCATED = "truncated"
"""Kind of damage of a file that ends early."""
SHORTENED = "shortened"
"""The same of one whose end is left out, so that what counts of it is whole."""

OUTRUN = "outrun"
"""Kind of damage of a file in which the device ends before the program; what follows is left out."""

SET_ASIDE = "set-aside"
"""Kind of damage of a rank that nobody could read to its end."""


class Unreadable(AdvisorError):
    """A file that is there cannot be read as a whole."""

    def __init__(self, file: str, what: Message) -> None:
        self.file, self.what = file, what
        super().__init__(f"{file} cannot be read: {what}")


class Odd(SpokenError, ValueError):
    """Something in a file cannot be used; says what is wrong with it."""

    what: Message

    def __init__(self, what: Message) -> None:
        super().__init__(what)


class Note(Struct, frozen=True):
    """One kind of damage in one file: where it was met first, and how much is affected."""

    file: str
    place: Message | str
    what: Message
    kind: str = "row"
    rows: int = 1
    share: float = math.nan


class Notes:
    """The damage found while reading. Said twice, it counts once: files may be read for more than one fact."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Message, str], Note] = {}

    def add(
        self,
        file: str,
        place: Message | str,
        what: Message,
        *,
        kind: str = "row",
        rows: int = 1,
        share: float = math.nan,
    ) -> None:
        """Remember damage: the file's name, the first place, what was wrong, and how many rows are left out.

        `kind` is `row`, `truncated`, `shortened`, `outrun`, `rounded`, `unreadable` or `set-aside` (then `share`
        is 1) or `clock`. The same message from another place of the file are counted together.
        """
        share = 1.0 if kind in {"unreadable", SET_ASIDE} else share
        before = self._found.get((file, what, kind))
        if before is not None and before.place != place:
            rows, place, share = before.rows + rows, before.place, math.nan
        self._found[file, what, kind] = Note(file, place, what, kind, rows, share)

    def all(self) -> tuple[Note, ...]:
        """What was found, file by file."""
        return tuple(sorted(self._found.values(), key=lambda note: (note.file, str(note.what), str(note.place))))

    def any_of(self, kind: str) -> bool:
        """Whether damage of this kind was found."""
        return any(found == kind for _, _, found in self._found)

    def recast(self, kind: str, new: str) -> None:
        """Tells all damage of one kind as of another."""
        for file, what, found in [*self._found]:
            if found == kind:
                note = self._found.pop((file, what, found))
                self._found[file, what, new] = structs.replace(note, kind=new)

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
            place=[str(note.place) or None for note in notes],
            place_message=[_message_json(note.place) for note in notes],
            what=[str(note.what) for note in notes],
            what_message=[_message_json(note.what) for note in notes],
            kind=[note.kind for note in notes],
            rows=[float(note.rows) for note in notes],
            share=[note.share for note in notes],
        )


def aside_table(aside: Iterable[LeftAside], rank: int) -> Table[Damage]:
    """What was left aside, as damage; what it would have held is told by nothing, so one rank tells it all."""
    notes = Notes()
    for one in aside:
        if one.what.code == CHECKSUM_WRONG:
            notes.add(one.name, "", one.what, rows=0)
        else:
            notes.add(one.name, "", one.what, kind="unreadable")
    return notes.table(rank)


def _message_json(said: Message | str) -> str | None:
    """A message as it is saved; nothing for a name out of the file."""
    return SavedMessage.of(said).to_json() if isinstance(said, Message) else None
