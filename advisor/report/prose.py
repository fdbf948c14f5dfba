# SPDX-License-Identifier: Apache-2.0
"""Text that may come from a profile, made harmless to show: pieces that are words or code, nothing else.

A profile can hold anything in a name: markup, terminal escapes, marks that reverse the writing direction, a megabyte.
Here such text becomes visible, bounded pieces; each writer then escapes the pieces for its own format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Literal
from unicodedata import east_asian_width

from msgspec import Struct
from msgspec.structs import replace

from advisor.messages.hidden import show_hidden
from advisor.messages.markup import code_span_parser
from advisor.messages.text import HOLE, Language, choose_forms, fill_holes, unescape_braces

LONGEST = 160
"""More characters than this of one name are cut in the middle: kernel names share their beginnings and their ends."""

_BREAKS = re.compile(r"[\t\n\x0b\f\r]+")


Meaning = Literal["", "good", "warn", "bad", "quiet", "subject", "label", "note", "keys"]
Grade = Literal["critical", "high", "medium", "low", "info"]
StepPart = Literal["compute", "comm", "idle"]
Tone = Meaning | Grade | StepPart
"""How something is meant, a grade of severity or a part of a step: formats have colours for it.

A `label` names what follows it, a `note` stands small below, `keys` are of use where a page has a script.
"""


class TextPiece(Struct, frozen=True):
    """A stretch of text: words for people, or code (names, values, commands) to be set apart."""

    text: str
    code: bool = False
    strong: bool = False
    emphasis: bool = False
    url: str = ""
    """Where it leads; an address of the web, or nothing."""
    tone: Tone = ""
    """How it is meant."""


Prose = tuple[TextPiece, ...]
Said = str | Prose
"""A stretch of text; one of our own may be given as it stands."""
BETWEEN_SENTENCES: Mapping[Language, str] = {"en": " ", "zh": ""}
"""What stands between two sentences of a paragraph: in Chinese the full stop has its room with it."""


def clean_line(text: object, longest: int = LONGEST) -> str:
    """One line without invisible characters, and no command to a log: those are written as `\\u202e`.

    Too long is cut in the middle.
    """
    line = str(text)
    if len(line) > longest:
        head = longest * 2 // 3
        line = f"{line[:head]}…{line[head - longest + 1 :]}"
    return show_hidden(_BREAKS.sub(" ", line))


def parse_long_prose(words: str, longest: int = LONGEST) -> Prose:
    """Words with `code` between backticks as one clean line; too long is cut in the middle, between such spans."""
    if len(words) > longest:
        at = longest * 2 // 3
        head, tail = words[:at], words[at - longest + 1 :]
        head = head[: head.rfind("`")] if head.count("`") % 2 else head
        tail = tail[tail.find("`") + 1 :] if tail.count("`") % 2 else tail
        words = f"{head}…{tail}"
    return parse_prose(clean_line(words, longest))


def clean_block(text: str, values: Mapping[str, str] | None = None, *, holes: bool = True) -> str:
    """Several lines, each without invisible characters: commands and code. `{name}` holes are filled if there are."""
    lines = (fill_holes(text, values or {}) if holes else text).strip("\n").splitlines()
    return "\n".join(show_hidden(line).replace("\t", "    ") for line in lines)


def parse_prose(words: str, values: Mapping[str, TextPiece] | None = None) -> Prose:
    """Words with `code` between backticks and `{name}` holes filled; a value never changes how the rest is read."""
    if "`" not in words:
        return join_pieces(fill_pieces(words, TextPiece(""), values or {}))
    spans = code_span_parser().parseInline(words)[0].children or ()
    return join_pieces(
        piece
        for one in spans
        for piece in fill_pieces(one.content, TextPiece("", one.type == "code_inline"), values or {})
    )


def flat_text(pieces: Iterable[TextPiece]) -> str:
    """The text alone; a link with its address behind it."""
    return "".join(
        f"{text} ({url})" if url and text != url else text
        for url, linked in groupby(pieces, key=lambda piece: piece.url)
        if (text := "".join(piece.text for piece in linked))
    )


def code_prose(text: object, longest: int = LONGEST) -> Prose:
    """A name or value from a profile."""
    return (TextPiece(clean_line(text, longest), code=True),)


def plain_prose(text: str) -> Prose:
    """Text of our own, as it stands."""
    return (TextPiece(text),)


def as_prose(said: Said) -> Prose:
    """The same as a stretch of text."""
    return plain_prose(said) if isinstance(said, str) else said


def letter_columns(text: str) -> int:
    """How many letters wide a text is, where wide characters are two."""
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def fill_pieces(words: str, style: TextPiece, values: Mapping[str, TextPiece]) -> Iterator[TextPiece]:
    """Words in one style with `{name}` holes filled by values, which stay what they are."""
    chosen = choose_forms(words, {name: value.text for name, value in values.items()}) if "|" in words else words
    for at, text in enumerate(HOLE.split(chosen)):
        if at % 2 == 0:
            yield replace(style, text=show_hidden(_BREAKS.sub(" ", unescape_braces(text))))
        else:
            value = values.get(text, TextPiece(f"{{{text}}}"))
            yield replace(style, text=value.text, code=value.code or style.code)


def join_pieces(pieces: Iterable[TextPiece]) -> Prose:
    """The pieces that say something; neighbours of one style are one piece."""
    alike = groupby(filter(lambda piece: piece.text, pieces), key=lambda piece: replace(piece, text=""))
    return tuple(replace(style, text="".join(piece.text for piece in same)) for style, same in alike)


def join_prose(between: str, parts: Iterable[Prose]) -> Prose:
    """Stretches of text behind each other, with words between them."""
    joined: list[TextPiece] = []
    for part in parts:
        joined += [TextPiece(between)] if joined and between else []
        joined += part
    return tuple(joined)


def toned(said: Prose, tone: Tone) -> Prose:
    """The same words, meant in one way."""
    return tuple(replace(piece, tone=tone) for piece in said)


def quiet(words: str) -> Prose:
    """Words beside what matters; nothing where nothing is said."""
    return (TextPiece(words, tone="quiet"),) if words else ()


def strong(said: Prose) -> Prose:
    """The same words, to be seen first."""
    return tuple(replace(piece, strong=True) for piece in said)
