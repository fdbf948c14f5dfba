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
    damages = damages.take(~damages.texts("kind").isin(["rounded"]))  # of these files all was read
    files, places, what = (damages.texts(name).values() for name in ("file", "place", "what"))
    said = [map(_saved_message, damages.texts(name).values()) for name in ("place_message", "what_message")]
    rows, kinds = damages.floats("rows").tolist(), damages.texts("kind").values()
    totals = map(_count_all, rows, damages.floats("share").tolist(), kinds)
    return tuple(
        Unread(
            file=file or "",
            place=place or "",
            what=why or "",
            rows=0 if math.isnan(many) else int(many),
            of_rows=total,
            place_message=place_message,
            what_message=what_message,
        )
        for file, place, why, many, total, place_message, what_message in zip(
            files, places, what, rows, totals, *said, strict=True
        )
    )


def _count_all(rows: float, share: float, kind: str | None) -> int:
    """How many rows a file has of which these are a share; 0 where that is not known."""
    return round(rows / share) if kind == "row" and rows > 0 and share > 0 else 0


def _saved_message(text: str | None) -> SavedMessage | None:
    return None if text is None else SavedMessage.from_json(text)
