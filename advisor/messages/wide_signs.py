# SPDX-License-Identifier: Apache-2.0
"""Signs that a Chinese keyboard or a word processor writes in place of those that YAML and expressions know."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from advisor.messages.message import Message

_ALIKE: Mapping[str, str] = {
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("−–—", "-"),
    "、": ",",
    "。": ".",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "×": "*",
    "÷": "/",
}
_WIDE = re.compile(f"[{''.join(_ALIKE)}\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e]")
_IN_QUOTES = re.compile(r'"[^"]*"|\'[^\']*\'')


def narrow_sign(wide: str) -> str:
    """The sign that such a one stands for."""
    return _ALIKE.get(wide) or unicodedata.normalize("NFKC", wide)


def hint_on_wide_sign(text: str) -> Message | None:
    """What to write instead of the first of such signs that does not stand in quotes."""
    found = _WIDE.search(_IN_QUOTES.sub("", text))
    return say_narrow_sign(found[0]) if found else None


def say_narrow_sign(wide: str) -> Message:
    """What to write instead of such a sign."""
    return Message("write_narrow_sign", wide=wide, narrow=narrow_sign(wide))
