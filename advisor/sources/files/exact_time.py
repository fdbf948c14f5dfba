# SPDX-License-Identifier: Apache-2.0
"""Decimal text to whole ns, exactly and a column at a time.

A float64 of microseconds since 1970 steps by 0.25 µs, so times never pass through a float. Most of a trace has one
shape, sixteen digits, a point and three digits; those are read eight digits to a machine word. Others that
are alike are widened to that, those of different lengths padded one by one, and only where one still has another shape
all are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Odd

_WHOLE, _WIDTH = 16, 20
_POINT, _ZERO = ord("."), ord("0")
LIMIT_NS = 1 << 62
"""The year 2116: room is left to add a duration without overflow."""
_TOO_LONG = re.compile(r"\d{17,}(\.\d{0,40})?", re.ASCII)
"""Times of today have sixteen digits in µs, and nineteen in ns."""
_PLAIN = re.compile(r"\d{1,16}(\.\d{0,40})?([eE][+-]?\d{1,2})?", re.ASCII)


def exact_ns(texts: Sequence[str]) -> Array:
    """Whole ns of times written as decimal µs, rounded half to even below one ns.

    Raises:
        Odd: One of them is no time before the year 2116.
    """
    if not texts:
        return np.empty(0, np.int64)
    found = _of_one_shape(texts)
    if found is None:
        found = _of_one_shape([_padded(text) for text in texts])
    return np.array([ns_of(text) for text in texts], np.int64) if found is None else found


def _of_one_shape(texts: Sequence[str]) -> Array | None:
    """The ns of times with as many digits each and a point at one place, or without one; None for others."""
    joined = "".join(texts)
    if len({*map(len, texts)}) != 1 or not joined.isascii():
        return None
    digits = np.frombuffer(joined.encode("ascii"), np.uint8).reshape(len(texts), -1)
    return _uniform_ns(_widened(digits)) if 0 < digits.shape[1] <= _WIDTH else None


def _widened(digits: Array) -> Array:
    """Rows that all have their point where the first one has it, as rows of `dddddddddddddddd.ddd`."""
    points = np.flatnonzero(digits[0] == _POINT)
    whole = int(points[0]) if len(points) else digits.shape[1]
    fraction = digits[:, whole:]
    if not 0 < whole <= _WHOLE or fraction.shape[1] > _WIDTH - _WHOLE or digits.shape[1] == _WIDTH:
        return digits
    rows = np.full((len(digits), _WIDTH), _ZERO, np.uint8)
    rows[:, _WHOLE] = _POINT
    rows[:, _WHOLE - whole : _WHOLE] = digits[:, :whole]
    rows[:, _WHOLE : _WHOLE + fraction.shape[1]] = fraction
    return rows


def _padded(text: str) -> str:
    """The same time with sixteen digits, a point and three digits; longer or shorter where it has another shape."""
    whole, _, fraction = text.partition(".")
    return f"{whole:0>{_WHOLE}}.{fraction:0<3}" if whole else ""


def ns_of(text: str) -> int:
    """Whole ns of one time written as decimal µs.

    Raises:
        Odd: It is no time before the year 2116.
    """
    if _TOO_LONG.fullmatch(text):
        raise Odd(Message("time_not_in_us"))
    if not _PLAIN.fullmatch(text):
        raise Odd(Message("time_no_decimal"))
    found = int((Decimal(text) * 1000).to_integral_value())
    if found >= LIMIT_NS:
        raise Odd(Message("time_too_large"))
    return found


def _uniform_ns(digits: Array) -> Array | None:
    """The ns of rows of `dddddddddddddddd.ddd`, or None when a row has another shape."""
    if digits.shape[1] != _WIDTH:
        return None
    whole, fraction = digits[:, :_WHOLE], digits[:, _WHOLE + 1 :]
    if (digits[:, _WHOLE] != _POINT).any() or (whole - _ZERO > 9).any() or (fraction - _ZERO > 9).any():  # noqa: PLR2004
        return None
    words = whole.copy().view("<u8")
    us = _eight_digits(words[:, 0]) * 100_000_000 + _eight_digits(words[:, 1])
    below = (fraction - _ZERO).astype(np.int64)
    ns: Array = us * 1000 + below[:, 0] * 100 + below[:, 1] * 10 + below[:, 2]
    return ns if int(us.max()) < LIMIT_NS // 1000 else None


def _eight_digits(words: Array) -> Array:
    """Eight ASCII digits in each little-endian word, as numbers: neighbours are joined to pairs, fours, eights."""
    pairs = words - np.uint64(0x3030303030303030)
    pairs = (pairs * np.uint64(10) + (pairs >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return ((fours * np.uint64(10_000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF)).astype(np.int64)
