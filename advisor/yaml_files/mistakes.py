# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file that people write, collected while it is read: all mistakes at once, each at its place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from advisor.messages.errors import Mistake, Unclear
from advisor.messages.message import Message, either_of
from advisor.messages.wide_signs import hint_on_wide_sign
from advisor.yaml_files.amounts import AmountKind, parse_amount
from advisor.yaml_files.document import Path_, RuleDocument
from advisor.yaml_files.suggestions import suggest_close, suggest_known


class Faults:
    """The mistakes in one document so far."""

    def __init__(self, document: RuleDocument) -> None:
        self.document = document
        self.mistakes: list[Mistake] = []

    def wrong(self, path: Path_, what: Message, hint: Message | None = None, *, key: bool = False) -> None:
        """Notes a mistake at a value, or at its key."""
        self.mistakes.append(self.document.mistake(path, what, hint, key=key))

    def mapping(self, path: Path_, given: Any, of: Message) -> Mapping[str, Any]:
        """What should be a mapping; empty where nothing is given or something else is."""
        if given is None:
            return {}
        if not isinstance(given, dict):
            self.wrong(path, Message("is_mapping_of", name=path[-1], items=of))
            return {}
        return given

    def section(self, path: Path_, given: Any, known: Collection[str], of: Message) -> Mapping[str, Any]:
        """What should be a mapping with these keys and no others."""
        found = self.mapping(path, given, of)
        self.only(path, found, known)
        return {name: value for name, value in found.items() if name in known}

    def only(self, path: Path_, given: Mapping[str, Any], known: Collection[str]) -> None:
        """Notes every key that means nothing."""
        for name in given:
            if name not in known:
                hint = hint_on_wide_sign(name) or suggest_known(name, known)
                self.wrong((*path, name), Message("unknown_key", name=name), hint, key=True)

    def word(self, path: Path_, given: Any, allowed: Collection[str]) -> str | None:
        """One of these words; `false` is understood as off, where off is one of them."""
        if given is False and "off" in allowed:
            return "off"
        if given is None or (isinstance(given, str) and given in allowed):
            return given
        words = self.text(path, given)
        written = words or Message("list_or_mapping")
        what = Message("is_one_of", name=path[-1], allowed=", ".join(allowed), given=written)
        self.wrong(path, what, suggest_close(words, allowed) if words else None)
        return None

    def amount(self, path: Path_, given: Any, measures: tuple[AmountKind, ...]) -> tuple[float, str] | None:
        """An amount and its unit; None where it is none, which is noted."""
        words, name = self.text(path, given), path[-2] if path[-1] == "limit" else path[-1]
        if words is None or isinstance(given, bool):
            wanted = either_of(*(Message("such_as", what=Message(one.called), example=one.example) for one in measures))
            self.wrong(path, Message("is_wanted", name=name, wanted=wanted), key=given is None)
            return None
        try:
            return parse_amount(words, *measures)
        except Unclear as unclear:
            self.wrong(path, Message("part", part=name, what=unclear.what), unclear.hint)
            return None

    def text(self, path: Path_, given: Any) -> str | None:
        """The word as it is written: `007` stays `007`. None for nothing, for a list and for a mapping."""
        return given if given is None or isinstance(given, str) else self.document.written(path)
