# SPDX-License-Identifier: Apache-2.0
"""What is printed arrives on every terminal: a character that its encoding lacks is replaced, and ends nothing.

Redirected output has the encoding of the locale, such as GBK or cp1252 on Windows and ASCII where `LC_ALL=C` and
UTF-8 mode is off. Files are not concerned: they are UTF-8 always.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Mapping

PLAIN: Mapping[str, str] = {
    "█": "#", "▓": "=", "░": ".", "━": "-", "╸": "-", "╺": "-",
    "—": "-", "–": "-", "−": "-", "→": "->", "↳": "->", "·": "*", "•": "*", "…": "...", "×": "x", "µ": "u", "±": "+/-",
    "✗": "x", "✓": "v", "“": '"', "”": '"', "‘": "'", "’": "'", "≤": "<=", "≥": ">=", "¦": "|", "∞": "inf",
    "，": ", ", "；": "; ", "：": ": ", "。": ". ", "（": " (", "）": ") ", "、": ", ", "\u00a0": " ",
}  # fmt: skip
"""What stands for a sign where the encoding has none such; anything else becomes a question mark."""
_HANDLER = "advisor.plain"
_ESCAPED = range(0xDC80, 0xDD00)
"""Bytes of a file name that is not in the encoding of the locale, as Python keeps them."""


def prepare_streams() -> None:
    """Makes the standard output and error replace what they cannot encode."""
    codecs.register_error(_HANDLER, _replace_unencodable)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # what a test or another program put there may have none
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)


def _replace_unencodable(error: UnicodeError) -> tuple[str | bytes, int]:
    """A plainer spelling of what cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    if ord(sign) in _ESCAPED:
        return bytes((ord(sign) - 0xDC00,)), error.start + 1
    said = PLAIN.get(sign, "?")
    try:
        said.encode(error.encoding)
    except UnicodeEncodeError:
        said = "?"
    return said, error.start + 1
