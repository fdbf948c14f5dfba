# SPDX-License-Identifier: Apache-2.0
"""The slips in YAML that are made most: where they are, and what to write instead, beside what the parser says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from advisor.messages.message import Message
from advisor.messages.wide_signs import hint_on_wide_sign, say_narrow_sign

Spot = tuple[int, int]
"""Line and column, counted from 0."""


class KnownSlip(NamedTuple):
    """Where a slip was made, and what to write instead."""

    spot: Spot
    hint: Message


_KEY = r"[ \t]*+(?:- ++)*+[\w.-]++"
_BARE_KEY = re.compile(rf"{_KEY}$")
_WIDE_COLON = re.compile(r"[ \t]*(?:- +)*[A-Za-z_][A-Za-z0-9_-]*(：)")
_VALUE = re.compile(rf"(?:{_KEY}:[ \t]++|[ \t]*+(?:- ++)++)(?P<value>[^\s#].*)$")
_CLOSED_BY: Mapping[str, str] = {"{": "}", "[": "]", '"': '"', "'": "'"}
_HOLE = re.compile(r"\{\w{1,60}\}")
_LONGEST_EXAMPLE = 60


def find_slip(said: str, spot: Spot, lines: Sequence[str], began: int | None = None) -> KnownSlip | None:
    """The slip behind what the parser `said` at a spot, of something that `began` on another line; None if unknown."""
    line, column = spot
    text = lines[line] if line < len(lines) else ""
    if (tab := _tab_at(text, column)) is not None:
        return KnownSlip((line, tab), Message("indent_with_blanks"))
    if "another document" in said:
        return KnownSlip(spot, Message("one_document"))
    own_colon = "mapping values are not allowed" in said and (
        _BARE_KEY.match(text[:column]) or _WIDE_COLON.match(text[:column])
    )
    if (own_colon or "could not find expected ':'" in said) and (wide := _wide_colon(lines, line, began)):
        return wide
    hint = None if own_colon else _hint_on_value(said, text, column)
    return KnownSlip(spot, hint) if hint else None


def _tab_at(text: str, column: int) -> int | None:
    """The first tab of the indentation, or the one at this column."""
    tab = text[: len(text) - len(text.lstrip())].find("\t")
    if tab >= 0:
        return tab
    return column if text[column : column + 1] == "\t" else None


def _wide_colon(lines: Sequence[str], line: int, began: int | None) -> KnownSlip | None:
    """A key before a full-width colon: where the parser missed the colon, or on the line of text before."""
    before = next((number for number in range(line - 1, -1, -1) if lines[number].strip()), None)
    for number in (began, line, before):
        found = _WIDE_COLON.match(lines[number]) if number is not None and number < len(lines) else None
        if number is not None and found:
            return KnownSlip((number, found.start(1)), say_narrow_sign("："))
    return None


def _hint_on_value(said: str, text: str, column: int) -> Message | None:
    """What to do about the value on a line, by its first sign."""
    found = _VALUE.match(text)
    value, start = (found["value"].rstrip(), found.start("value")) if found else ("", 0)
    sign = value[:1]
    if sign == "!":
        return Message("not_and_tags")
    if sign in "“‘" and sign:
        return say_narrow_sign(sign)
    if sign in _CLOSED_BY and column > start and text[start + 1 : column].rstrip().endswith(_CLOSED_BY[sign]):
        return Message("quote_the_whole", sign=sign, quoted=in_quotes(value))
    if "cannot start any token" in said or "alias" in said or "anchor" in said:
        return Message("quote_the_sign")
    if "mapping values are not allowed" in said:
        return Message("quote_the_colon")
    if "expected ',' or" not in said:
        return None
    hole = _HOLE.match(text, column)
    return Message("quote_the_hole", hole=hole[0]) if hole else hint_on_wide_sign(text[start:])


def in_quotes(value: str) -> str:
    """A text as YAML quotes it; of a long one the beginning."""
    shown = value if len(value) <= _LONGEST_EXAMPLE else f"{value[:_LONGEST_EXAMPLE].rstrip()} …"
    return f'"{shown}"' if '"' not in shown and "\\" not in shown else "'{}'".format(shown.replace("'", "''"))
