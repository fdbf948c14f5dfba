# SPDX-License-Identifier: Apache-2.0
"""Damage to the bytes of any file, and other encodings of a text."""

from __future__ import annotations

from random import Random


def flip_bytes(content: bytes, chance: Random) -> bytes:
    """Some bytes are others."""
    held = bytearray(content)
    for _ in range(chance.choice((1, 1, 4, 50))):
        held[chance.randrange(len(held))] = chance.randrange(256)
    return bytes(held)


def cut_tail(content: bytes, chance: Random) -> bytes:
    """Ends early."""
    return content[: chance.randrange(len(content))]


def cut_middle(content: bytes, chance: Random) -> bytes:
    """Lacks a piece."""
    start, end = _piece(content, chance)
    return content[:start] + content[end:]


def repeat_piece(content: bytes, chance: Random) -> bytes:
    """Holds a piece twice, or many times."""
    start, end = _piece(content[:4000], chance)
    return content[:end] + content[start:end] * chance.choice((1, 1, 20)) + content[end:]


def move_piece(content: bytes, chance: Random) -> bytes:
    """Holds a piece somewhere else."""
    start, end = _piece(content, chance)
    rest, to = content[:start] + content[end:], chance.randrange(len(content))
    return rest[:to] + content[start:end] + rest[to:]


def insert_bytes(content: bytes, chance: Random) -> bytes:
    """Holds bytes that do not belong there."""
    at = chance.randrange(len(content))
    put = chance.choice(
        (b"\0", b"\0" * 512, b'"', b"\n", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 3000, chance.randbytes(16))
    )
    return content[:at] + put + content[at:]


def clear_block(content: bytes, chance: Random) -> bytes:
    """Has zeros where the disk lost a block."""
    at, size = chance.randrange(len(content)), chance.choice((16, 512, 4096))
    return content[:at] + bytes(min(size, len(content) - at)) + content[at + size :]


def empty(content: bytes, chance: Random) -> bytes:
    """Holds nothing, or next to it."""
    return chance.choice((b"", b"\n", b"{}", b"[]", b"null", b'"x"', b"0", b"\xef\xbb\xbf"))


def encode_otherwise(content: bytes, chance: Random) -> bytes:
    """A text in another encoding, with letters in it that the encoding writes its own way."""
    text = content.decode("utf-8", "replace")
    put, at = chance.choice(("", "名字", "é")), chance.randrange(len(text) + 1)
    named = chance.choice(("utf-16", "utf-16-be", "utf-32", "gbk", "gb18030", "latin-1", "utf-8-sig", "utf-7", "cp037"))
    return (text[:at] + put + text[at:]).encode(named, "replace")


def end_lines_otherwise(content: bytes, chance: Random) -> bytes:
    """Lines end in another way."""
    return content.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b"\n\0", b"\xe2\x80\xa8", b" ")))


def _piece(content: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randrange(len(content))
    return start, start + chance.choice((1, 16, 256, len(content) // 3 + 1))
