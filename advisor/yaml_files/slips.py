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
_NO_BEGINNING = frozenset("@`%*&")
"""What no text begins with, unless it stands in quotes."""
_COLON_INSIDE = re.compile(r":(?:\s|$)")
_ENDS_AN_ENTRY = re.compile(r"[,{\[]|:\s")
_HOLE = re.compile(r"\{\w{1,60}\}")
_LONGEST_EXAMPLE = 60


def find_slip(spot: Spot, lines: Sequence[str], began: Spot | None = None) -> KnownSlip | None:
    """The slip at the spot where the parser stopped, in what `began` at another; None if unknown."""
    line, column = spot
    text = _line_at(lines, line)
    if (tab := _tab_at(text, column)) is not None:
        return KnownSlip((line, tab), Message("indent_with_blanks"))
    opener = _sign_at(lines, began) if began else ""
    is_open = began is not None and _is_open(lines, began)
    if line and text.startswith("---") and not is_open:
        return KnownSlip(spot, Message("one_document"))
    own_colon = text[column : column + 1] == ":" and (
        _BARE_KEY.match(text[:column]) or _WIDE_COLON.match(text[:column])
    )
    if wide := _wide_colon(lines, line if own_colon else None, began):
        return wide
    hint = None if own_colon else _hint_on_value(text, column, in_brackets=opener in ("{", "["))
    if hint is None and began and is_open:
        return KnownSlip(began, Message("never_closed", sign=opener))
    return KnownSlip(spot, hint) if hint else None


def _is_open(lines: Sequence[str], began: Spot) -> bool:
    """Whether what begins there is a quote or a bracket that nothing closes."""
    line, column = began
    rest = "\n".join([_line_at(lines, line)[column:], *lines[line + 1 :]])
    opener = rest[:1]
    if opener not in _CLOSED_BY:
        return False
    closers = rest.count(_CLOSED_BY[opener])
    return closers == 1 if _CLOSED_BY[opener] == opener else closers < rest.count(opener)


def _sign_at(lines: Sequence[str], spot: Spot) -> str:
    return _line_at(lines, spot[0])[spot[1] : spot[1] + 1]


def _line_at(lines: Sequence[str], line: int) -> str:
    return lines[line] if line < len(lines) else ""


def _tab_at(text: str, column: int) -> int | None:
    """The first tab of the indentation, or the one at this column."""
    tab = text[: len(text) - len(text.lstrip())].find("\t")
    if tab >= 0:
        return tab
    return column if text[column : column + 1] == "\t" else None


def _wide_colon(lines: Sequence[str], line: int | None, began: Spot | None) -> KnownSlip | None:
    """A key before a full-width colon: where something began, on the line of a colon, or on that of text before it."""
    candidates = [] if began is None else [began[0]]
    if line is not None:
        candidates += [line, *(number for number in range(line - 1, -1, -1) if lines[number].strip())][:2]
    for number in candidates:
        if found := _WIDE_COLON.match(_line_at(lines, number)):
            return KnownSlip((number, found.start(1)), say_narrow_sign("："))
    return None


def _hint_on_value(text: str, column: int, *, in_brackets: bool) -> Message | None:
    """What to do about the value on a line, by its first sign and by what stands at the column."""
    found = _VALUE.match(text)
    value, start = (found["value"].rstrip(), found.start("value")) if found else ("", 0)
    sign, there = value[:1], text[column : column + 1]
    if sign == "!":
        return Message("not_and_tags")
    if sign in "“‘" and sign:
        return say_narrow_sign(sign)
    if sign in _CLOSED_BY and column > start and text[start + 1 : column].rstrip().endswith(_CLOSED_BY[sign]):
        return Message("quote_the_whole", sign=sign, quoted=in_quotes(value))
    if {sign, there, text[column - 1 : column]} & _NO_BEGINNING:
        return Message("quote_the_sign")
    if not in_brackets:
        is_inside = _COLON_INSIDE.match(text, column) and text[:column].strip()
        return Message("quote_the_colon") if is_inside else None
    if hole := _HOLE.match(text, column):
        return Message("quote_the_hole", hole=hole[0])
    if _COLON_INSIDE.match(text, column):
        return hint_on_wide_sign(_entry_before(text, column)) or Message("quote_colon_or_part")
    return hint_on_wide_sign(text[start:])


def _entry_before(text: str, column: int) -> str:
    """What stands in brackets before the column, as far as it is one key or one value: signs elsewhere are no slips."""
    return _ENDS_AN_ENTRY.split(text[:column])[-1]


def in_quotes(value: str) -> str:
    """A text as YAML quotes it; of a long one the beginning."""
    shown = value if len(value) <= _LONGEST_EXAMPLE else f"{value[:_LONGEST_EXAMPLE].rstrip()} …"
    return f'"{shown}"' if '"' not in shown and "\\" not in shown else "'{}'".format(shown.replace("'", "''"))
