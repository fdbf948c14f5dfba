# SPDX-License-Identifier: Apache-2.0
"""What of the input could not be read: the rows of damage as they are saved."""

from __future__ import annotations

import math

from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.model.unread import SavedMessage, Unread


def unread_input(damages: Table[Damage] | None) -> tuple[Unread, ...]:
    """Everything that could not be read, in the order of the table; nothing where no source tells of damage."""
    if damages is None:
        return ()
    files, places, what = (damages.texts(name).values() for name in ("file", "place", "what"))
    said = [map(_saved_message, damages.texts(name).values()) for name in ("place_message", "what_message")]
    rows = damages.floats("rows").tolist()
    return tuple(
        Unread(
            file=file or "",
            place=place or "",
            what=why or "",
            rows=0 if math.isnan(many) else int(many),
            place_message=place_message,
            what_message=what_message,
        )
        for file, place, why, many, place_message, what_message in zip(files, places, what, rows, *said, strict=True)
    )


def _saved_message(text: str | None) -> SavedMessage | None:
    return None if text is None else SavedMessage.from_json(text)
