# SPDX-License-Identifier: Apache-2.0
"""Text that may come from a profile, made harmless to show: pieces that are words or code, nothing else.

A profile can hold anything in a name: markup, terminal escapes, marks that reverse the writing direction, a megabyte.
Here such text becomes visible, bounded pieces; each writer then escapes the pieces for its own format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from advisor.messages.text import HOLE, fill, literal

LONGEST = 160
"""More characters than this of one name are cut in the middle: kernel names share their beginnings and their ends."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_COMMAND = re.compile(
    r"#(?=#\[)|:(?=:(?:error|warning|notice|debug|group|endgroup|echo|stop-commands|(?:add|set|save|remove)-[a-z]+)"
    r"(?:[ :]|$))",
    re.IGNORECASE,
)
"""What the log of GitHub Actions takes for a command: `##[` anywhere, `::error` where a line begins, and lines wrap."""
_BREAKS = re.compile(r"[\t\n\x0b\f\r]+")


class Piece(Struct, frozen=True):
    """A stretch of text: words for people, or code (names, values, commands) to be set apart."""

    text: str
    code: bool = False


Prose = tuple[Piece, ...]


def clean(text: object, longest: int = LONGEST) -> str:
    """One line without invisible characters, and no command to a log: those are written as `\\u202e`.

    Too long is cut in the middle.
    """
    line = str(text)
    if len(line) > longest:
        head = longest * 2 // 3
        line = f"{line[:head]}…{line[head - longest + 1 :]}"
    return _seen(_BREAKS.sub(" ", line))


def clean_block(text: str, values: Mapping[str, str] | None = None) -> str:
    """Several lines with `{name}` holes filled, each without invisible characters: commands and code of a remedy."""
    lines = fill(text, values or {}).strip("\n").splitlines()
    return "\n".join(_seen(line).replace("\t", "    ") for line in lines)


def prose(words: str, values: Mapping[str, Piece] | None = None) -> Prose:
    """Words with `code` between backticks and `{name}` holes filled; a value never changes how the rest is read."""
    parts = words.split("`")
    paired = len(parts) % 2 == 1
    pieces: list[Piece] = []
    for index, part in enumerate(parts):
        pieces += _filled(part, paired and index % 2 == 1, values or {})
    return _joined(pieces)


def flat(pieces: Iterable[Piece]) -> str:
    """The text alone."""
    return "".join(piece.text for piece in pieces)


def code(text: object, longest: int = LONGEST) -> Prose:
    """A name or value from a profile."""
    return (Piece(clean(text, longest), code=True),)


def words(text: str) -> Prose:
    """Text of our own, as it stands."""
    return (Piece(text),)


def _seen(line: str) -> str:
    for odd in (_HIDDEN, _COMMAND):
        line = odd.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
    return line


def _filled(part: str, is_code: bool, values: Mapping[str, Piece]) -> list[Piece]:
    pieces = []
    for index, text in enumerate(HOLE.split(part)):
        if index % 2 == 0:
            pieces.append(Piece(_seen(_BREAKS.sub(" ", literal(text))), is_code))
        else:
            value = values.get(text, Piece(f"{{{text}}}"))
            pieces.append(Piece(value.text, value.code or is_code))
    return pieces


def _joined(pieces: Iterable[Piece]) -> Prose:
    joined: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if joined and joined[-1].code == piece.code:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.code)
        else:
            joined.append(piece)
    return tuple(joined)
