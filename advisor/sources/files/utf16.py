# SPDX-License-Identifier: Apache-2.0
"""Text in UTF-16, as some editors and spreadsheets save it: told from zeros that damage leaves, and made UTF-8."""

from __future__ import annotations

import codecs

TELLS_UTF16 = 1 << 18
"""Bytes from the beginning of a file that tell."""
LONGEST_UTF16 = 1 << 28
"""What is turned over as a whole; a spreadsheet holds a million rows at most."""
_SHARE = 4
"""Every other byte of UTF-16 is 0 where headings and numbers stand, and none between; zeros that damage leaves stand
at even and odd places alike."""


def is_utf16(start: bytes) -> bool:
    """Whether a text that begins so is written in UTF-16."""
    even, odd = start[::2].count(b"\0"), start[1::2].count(b"\0")
    return abs(even - odd) * _SHARE > len(start)


def utf8_of_utf16(written: bytes) -> bytes:
    """The same text in UTF-8; without a mark at its begin, its first character is none of two full bytes."""
    marked = written.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if marked else "utf-16-be" if written.startswith(b"\0") else "utf-16-le"
    return written.decode(encoding, "replace").encode()
