# SPDX-License-Identifier: Apache-2.0
"""What could not be read, as it is saved: in English, and as messages, which can be said in any language later."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from advisor.messages.catalogue import CATALOGUE
from advisor.messages.message import Message, MessageValue


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SavedReason(_Model):
    """A message within a message, such as why a file cannot be read."""

    code: str
    values: dict[str, str | int] = {}


class SavedMessage(_Model):
    """A message: its code, and what stands in its holes, by their names."""

    code: str
    values: dict[str, str | int | SavedReason] = {}

    @classmethod
    def of(cls, message: Message) -> SavedMessage:
        """A message of this version."""
        reasons = {name: value for name, value in message.values if isinstance(value, Message)}
        values = {name: SavedReason(code=one.code, values=_plain_values(one)) for name, one in reasons.items()}
        return cls(code=message.code, values={**_plain_values(message), **values})

    @classmethod
    def from_json(cls, text: str) -> SavedMessage:
        """What `to_json` wrote."""
        return cls.model_validate(json.loads(text))

    def to_json(self) -> str:
        """Code and values in one line of ASCII, as a cell of a table holds them."""
        return json.dumps(self.model_dump())

    def codes(self) -> frozenset[str]:
        """Its code, and those of messages within it."""
        return frozenset([self.code, *(one.code for one in self.values.values() if isinstance(one, SavedReason))])

    def say(self, language: str) -> str | None:
        """The sentence in one language; None where this version does not know it, or a hole would stay open."""
        values: dict[str, MessageValue | None] = {
            name: _known_message(value.code, value.values) if isinstance(value, SavedReason) else value
            for name, value in self.values.items()
        }
        message = _known_message(self.code, values)
        return message.say(language) if message else None


def message_column(name: str) -> str:
    """The column of a table that holds as a message, in JSON, what this one holds in English."""
    return f"{name}_message"


def message_in_cell(cell: object) -> SavedMessage | None:
    """The message in a cell of a saved table; None where there is none that can be read."""
    if not isinstance(cell, str):
        return None
    try:
        return SavedMessage.from_json(cell)
    except (ValueError, RecursionError):  # a file may hold anything
        return None


class Unread(_Model):
    """Something in the input that could not be read. Place and trouble are in English; their messages, where there
    are any, say them in either language."""

    file: str
    place: str = ""
    what: str
    rows: int = 0
    of_rows: int = 0
    """How many the file has, those included; 0 where that is not known."""
    place_message: SavedMessage | None = None
    """None for a name out of the file."""
    what_message: SavedMessage | None = None
    """None where an older version saved the words alone."""


def _plain_values(message: Message) -> dict[str, str | int]:
    """What stands in the holes of a message, but for messages."""
    return {
        name: value if isinstance(value, int) else str(value)
        for name, value in message.values
        if not isinstance(value, Message)
    }


def _known_message(code: str, values: Mapping[str, MessageValue | None]) -> Message | None:
    """The message of this code; None where there is none, or where it lacks a value."""
    given = {name: value for name, value in values.items() if value is not None}
    known = code in CATALOGUE and given.keys() >= set(CATALOGUE[code].holes())
    return Message(code, **given) if known else None
