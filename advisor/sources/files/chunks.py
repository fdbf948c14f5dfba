# SPDX-License-Identifier: Apache-2.0
"""An array of JSON objects, read in chunks that need no scan of the whole file, and that survive damage.

The file is cut at places that look like `},{`. A chunk that starts at a true boundary and parses strictly between
brackets ends at a true boundary too, so if every chunk parses, every cut was right, whatever the texts inside hold.
A chunk that does not parse is read object by object; what is left unfinished at its end is read with the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import Generic, TypeVar

from msgspec import Struct, field

from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Odd
from advisor.sources.files.utf16 import is_utf16

CHUNK = 512 << 10
"""Small enough that the objects of one chunk stay in the cache: 2 MB cost a quarter more time, 128 KB a tenth."""
_WINDOW = 1 << 14
_LARGEST_WINDOW = 1 << 20
_LONGEST_CUT = 1 << 10
"""Bytes of a boundary with its blanks, which may lie across two windows."""
_HEAD = 1 << 16
_HEAD_LIMIT = 1 << 26
LONGEST_SPAN = 64 << 20
"""Bytes without the boundary of an object, of which all in between counts as damage: nothing recorded is so long."""
PATIENCE = 4 << 20
"""An object that does not parse is waited for up to this many bytes; then it is damaged, not just unfinished."""

_CUT = re.compile(rb"\}\s*,\s*\{")
_END = re.compile(r"\](?!\s*[\[{,}\]])")
_END_WRAPPED = re.compile(r"\]\s*(,\s*\"|\}(?!\s*[\[{,}\]]))")
"""The array is closed. Text behind that is no part of it; where brackets follow, it may have been another one's end."""
_ANOTHER = re.compile(r"\]\s*(?=[\[{])")
_ANOTHER_WRAPPED = re.compile(r"\]\s*\}\s*(?=[\[{])")
_KEYS_BEHIND = re.compile(r"\]\s*,(?=\s*\")")
"""The array is closed, and another one begins behind it: no JSON has such brackets, whatever was lost of it."""
_BETWEEN = re.compile(r"[\s,]*")
_NEXT = re.compile(r",\s*(?=\{)")
NO_JSON = Message("event_no_json")
_BOM = b"\xef\xbb\xbf"
_SCAN = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Finds where an object ends: NaN and control characters inside texts do not stop it."""

T = TypeVar("T")


class NoEvents(Odd):
    """The file holds no array of objects at all."""


class Span(Struct, frozen=True):
    """The bytes of a file from `start` to `end`; `last` when the array may end in them."""

    start: int
    end: int
    last: bool


class ArrayLayout(Struct, frozen=True):
    """Where the array lies: from the byte after its bracket to the end of the file."""

    start: int
    end: int
    wrapped: bool
    """The array is a value of an object, so that other keys may follow it."""


def find_array(file: BufferedReader, key: str) -> ArrayLayout:
    """Where the array lies in a file that is an array, or an object with an array under a key.

    Raises:
        NoEvents: There is neither.
    """
    size = file.seek(0, 2)
    opening = re.compile(rb'"%s"\s*:\s*\[' % key.encode())
    wanted = _HEAD
    while True:
        file.seek(0)
        head = file.read(wanted)
        text = head.removeprefix(_BOM).lstrip()
        if is_utf16(head[:_HEAD]):
            raise NoEvents(Message("is_utf16"))
        if text.startswith(b"["):
            return ArrayLayout(head.index(b"[") + 1, size, wrapped=False)
        if text and not text.startswith(b"{"):
            raise NoEvents(Message("no_json_container"))
        found = opening.search(head)
        if found:
            return ArrayLayout(found.end(), size, wrapped=True)
        if wanted >= min(size, _HEAD_LIMIT):
            raise NoEvents(Message("lacks_key", key=key) if text else Message("trace_is_empty"))
        wanted *= 16


def cut_spans(file: BufferedReader, layout: ArrayLayout, chunk: int = CHUNK) -> Iterator[Span]:
    """Spans of about `chunk` bytes that start and end at what looks like the boundary between two objects."""
    start = layout.start
    while True:
        found = _cut_after(file, start + chunk, layout.end)
        if found is None:
            yield Span(start, layout.end, last=True)
            return
        end, following = found
        yield Span(start, end, last=False)
        start = following


def _cut_after(file: BufferedReader, at: int, end: int) -> tuple[int, int] | None:
    """Where an object seems to end, and where the next one begins."""
    window = _WINDOW
    while at < end:
        file.seek(at)
        found = _CUT.search(file.read(window))
        if found:
            return at + found.start() + 1, at + found.end() - 1
        at += max(window - _LONGEST_CUT, 1)
        window = min(window * 4, _LARGEST_WINDOW)
    return None


def is_cut_off(file: BufferedReader, layout: ArrayLayout) -> bool:
    """Whether the file ends before the array does, wherever in an object that is."""
    *_, last = cut_spans(file, layout)
    if last.end - last.start > LONGEST_SPAN:
        return True
    return not salvage_objects(read_span(file, last), last, layout, lambda _: None).ended


def read_span(file: BufferedReader, span: Span) -> bytes:
    """The bytes of a span."""
    file.seek(span.start)
    return file.read(span.end - span.start)


def read_bracketed(file: BufferedReader, span: Span) -> bytearray:
    """The bytes of a span as one JSON array, read in place; the last span brings its own end."""
    size = span.end - span.start
    text = bytearray(size + 2)
    text[0] = ord("[")
    file.seek(span.start)
    with memoryview(text) as view:
        read = file.readinto(view[1 : size + 1])
    text[read + 1 :] = b" " if span.last else b"]"
    return text


class Salvage(Struct, Generic[T]):
    """What could be kept of a chunk that did not parse."""

    found: list[T] = field(default_factory=list)
    bad: list[tuple[int, Message]] = field(default_factory=list)
    """Where in the chunk something was left out, and what was wrong."""
    lost: int = 0
    """Bytes of what is no object at all: of one, or of thousands."""
    used: int = 0
    """How much of the chunk was understood; the rest is unfinished."""
    ended: bool = False
    """The array was closed, or its last object is damaged but was not cut off."""
    another_at: int | None = None
    """Where in the chunk another array begins, or an object that holds one, behind the end of this one."""


def salvage_objects(text: bytes, span: Span, layout: ArrayLayout, read: Callable[[bytes], T | None]) -> Salvage[T]:
    """Object by object: what `read` makes of each, what was left out, and how far it went.

    `read` gets the bytes of one object; it gives None for one that is not wanted, or raises Odd.
    """
    out: Salvage[T] = Salvage()
    # one character per byte: positions stay true, and in UTF-8 no byte of a longer sign looks like a quote or a brace
    chars = text.decode("latin-1")
    closing = _END_WRAPPED if layout.wrapped else _END
    mark = '"ph"' if '"ph"' in chars else ""
    damaged_at: int | None = None
    while True:
        at = out.used = _past_blanks(chars, out.used)
        if at == len(chars):
            break
        out.another_at = None if damaged_at is not None else _find_another(chars, at, layout)
        if out.another_at is not None or (span.last and closing.match(chars, at)):
            out.ended = True
            break
        end = _object_end(chars, at)
        if end is not None and (damaged_at is None or mark in chars[at:end]):
            _keep_object(out, text[at:end], at, read)
            out.lost += 0 if damaged_at is None else at - damaged_at
            out.used, damaged_at = end, None
            continue
        following = _next_object(chars, at, span)
        if following is None:
            break
        if damaged_at is None:
            out.bad.append((at, NO_JSON))
            damaged_at = at
        out.used = following
    out.lost += 0 if damaged_at is None else len(chars) - damaged_at
    if span.last:
        _finish_salvage(out, chars, damaged_at, "}" if layout.wrapped else "]")
    return out


def _find_another(chars: str, at: int, layout: ArrayLayout) -> int | None:
    """Where the file begins once more behind the end of the array, as where it was written or joined twice."""
    if not chars.startswith("]", at):
        return None
    if not layout.wrapped:
        found = _ANOTHER.match(chars, at)
        return found.end() if found else None
    found = _ANOTHER_WRAPPED.match(chars, at)
    if found:
        return found.end()
    keys = _KEYS_BEHIND.match(chars, at)
    if keys is None:
        return None
    text = "{" + chars[keys.end() :]
    end = _object_end(text, 0)
    following = None if end is None else keys.end() + _past_blanks(text, end) - 1
    return following if following is not None and chars.startswith(("{", "["), following) else None


def _past_blanks(chars: str, at: int) -> int:
    found = _BETWEEN.match(chars, at)
    return found.end() if found else at


def _object_end(chars: str, at: int) -> int | None:
    """Where the object that starts here ends; None when it does not, or when there is none."""
    if chars[at] != "{":
        return None
    try:
        return _SCAN.raw_decode(chars, at)[1]
    except (ValueError, RecursionError):
        return None


def _next_object(chars: str, at: int, span: Span) -> int | None:
    """Where to go on after damage; None when there is nothing more, or when it may be no damage but unfinished."""
    if not span.last and len(chars) - at < PATIENCE:
        return None
    found = _NEXT.search(chars, at + 1)
    return found.end() if found else None


def _finish_salvage(out: Salvage[T], chars: str, damaged_at: int | None, bracket: str) -> None:
    """The end of the file: its last object may be cut off, or damaged, or the array was closed behind it."""
    if out.ended and damaged_at is None:
        return
    last = out.used if damaged_at is None else damaged_at
    if _goes_on(chars, last):
        del out.bad[len(out.bad) - (damaged_at is not None) :]
        out.used, out.ended = last, False
    elif chars.rstrip().endswith(bracket) and last < len(chars):
        out.ended = True
        if damaged_at is None:
            out.bad.append((last, NO_JSON))


def _goes_on(chars: str, at: int) -> bool:
    """Whether nothing is wrong with an object but that the text ends inside it."""
    if not chars.startswith("{", at):
        return False
    try:
        _SCAN.raw_decode(chars, at)
    except json.JSONDecodeError as wrong:
        return wrong.pos >= len(chars.rstrip()) or wrong.msg.startswith("Unterminated")
    except RecursionError:
        return False
    return False


def _keep_object(out: Salvage[T], text: bytes, at: int, read: Callable[[bytes], T | None]) -> None:
    try:
        kept = read(text)
    except Odd as wrong:
        out.bad.append((at, wrong.what))
        return
    if kept is not None:
        out.found.append(kept)
