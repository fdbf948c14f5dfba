# SPDX-License-Identifier: Apache-2.0
"""Whole JSON files, and ways into what they hold that never trip over a wrong type. Knows no fact."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from advisor.facts.base import LARGEST
from advisor.machine.regular_files import read_regular
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.sources.files.csvfile import refuse_file
from advisor.sources.files.damage_notes import Notes, Odd
from advisor.sources.files.utf16 import TELLS_UTF16, is_utf16, utf8_of_utf16

_MOST = 1 << 63
_LEVELS = 100
"""No file of a profiler nests a tenth of it."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def load_json(path: Path, notes: Notes) -> object:
    """What a file holds; `NaN` and `Infinity` are accepted.

    Raises:
        Unreadable: It cannot be opened, is empty or is no JSON.
    """
    try:
        raw = read_regular(path)
    except OSError as error:
        refuse_file(path, notes, Message("file_unreadable", why=reason_of_error(error)))
    if not raw.strip(b"\0 \t\r\n"):
        refuse_file(path, notes, Message("holds_nothing"))
    if is_utf16(raw[:TELLS_UTF16]):
        raw = utf8_of_utf16(raw)
    try:
        return parse_json(raw)
    except ValueError as error:
        if raw.endswith(b"\0"):  # room was made for the file, and its end never written
            refuse_file(path, notes, Message("ends_in_zeros"))
        refuse_file(path, notes, Message("no_complete_json", why=reason_of_error(error)))


def parse_json(raw: bytes | str) -> object:
    """What JSON text says.

    Raises:
        ValueError: It is no JSON, or is nested without end.
    """
    if isinstance(raw, bytes):
        with contextlib.suppress(msgspec.DecodeError, UnicodeError, RecursionError):  # the other parser takes more
            return msgspec.json.decode(raw)  # a quarter of the time
    text = raw if isinstance(raw, str) else raw.decode("utf-8-sig", "replace")
    try:
        found: object = json.loads(text)
    except RecursionError:
        raise Odd(Message("nested_too_deeply")) from None
    return _replace_surrogates(found) if _SURROGATE.search(text) else found


def _replace_surrogates(value: object, levels: int = _LEVELS) -> object:
    """The same with halves of surrogate pairs replaced: JSON may hold them, no output can. Nobody asks deeper down."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not levels:
        return None
    if isinstance(value, list):
        return [_replace_surrogates(item, levels - 1) for item in value]
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item, levels - 1) for key, item in value.items()}
    return value


def as_mapping(value: object) -> Mapping[str, object]:
    """An object as it is; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def value_at(value: object, *keys: str) -> object:
    """What lies under these keys, one after another; None where there is nothing."""
    for key in keys:
        value = as_mapping(value).get(key)
    return value


def as_number(value: object) -> float:
    """A number of a size that can be, also one written as text; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return found if abs(found) < LARGEST else math.nan


def as_integer(value: object) -> int | None:
    """A whole number that fits 64 bits, also one written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    try:
        found = int(value)
    except ValueError:
        return None
    return found if abs(found) < _MOST else None


def as_integers(value: object) -> tuple[int, ...]:
    """The whole numbers of a list, in order; anything else in it is left out."""
    if isinstance(value, list) and {*map(type, value)} == {int} and min(value) > -_MOST and max(value) < _MOST:
        return tuple(value)  # as they nearly always are, and without a step of Python for each
    found = [as_integer(item) for item in value] if isinstance(value, list) else []
    return tuple(item for item in found if item is not None)


def as_text(value: object) -> str:
    """A text as it is; anything else is empty."""
    return value if isinstance(value, str) else ""


def as_flag(value: object) -> bool | None:
    """True or false as it is; anything else is None."""
    return value if isinstance(value, bool) else None
