# SPDX-License-Identifier: Apache-2.0
"""Message: one thing to tell, as a code of the catalogue and what stands in its holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from advisor.messages.catalogue import CATALOGUE
from advisor.messages.text import Text, fill_holes


@dataclass(frozen=True, init=False)
class Message:
    """A code of the catalogue and its values, which come through as they are; a value may be a message itself."""

    code: str
    values: tuple[tuple[str, MessageValue], ...]

    def __init__(self, code: str, /, **values: MessageValue) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", tuple(values.items()))

    @property
    def en(self) -> str:
        """The sentence in English."""
        return self.say("en")

    @property
    def zh(self) -> str:
        """The sentence in Chinese."""
        return self.say("zh")

    def say(self, language: str) -> str:
        """The sentence in one language."""
        return fill_holes(CATALOGUE[self.code].say(language), dict(self.values), language)

    def __str__(self) -> str:
        return self.en


MessageValue = str | int | float | Path | Text | Message
"""What may stand in a hole. What others said, such as the operating system or a parser, is a `str`: quoted as it is."""


def with_name(said: Message | Text, path: str, called: Message) -> Message | Text:
    """A message in which a path is called something else, wherever it stands alone in a hole."""
    if isinstance(said, Text):
        return said
    return Message(said.code, **{name: _value_with_name(value, path, called) for name, value in said.values})


def _value_with_name(value: MessageValue, path: str, called: Message) -> MessageValue:
    if isinstance(value, Message):
        return with_name(value, path, called)
    return called if str(value) == path else value


def either_of(first: MessageValue, *others: MessageValue) -> MessageValue:
    """One or the other."""
    return reduce(lambda one, other: Message("either", one=one, other=other), others, first)


def did_you_mean(names: Sequence[str]) -> Message | None:
    """The question whether one of these names is meant; None where there is none."""
    return Message("did_you_mean", name=either_of(*(f"`{name}`" for name in names))) if names else None
