# SPDX-License-Identifier: Apache-2.0
"""What is packed with gzip, block by block, as far as it goes."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from typing import IO

from advisor.messages.message import Message

GZIP = b"\x1f\x8b"
"""How a file packed with gzip begins, and each member of it."""
_BLOCK = 1 << 20
_GZIP_BITS = 31
"""The window of zlib, and that gzip's header is around it."""
CHECKSUM_WRONG = "checksum_wrong"
"""The code of the message that all of a packed file came out, and some of it is not what was packed."""
_SUM_WRONG = "incorrect data check", "incorrect length check"
"""How zlib says that all came out, and is not what was packed."""


def inflate_blocks(file: IO[bytes], most: int = _BLOCK) -> Iterator[bytes]:
    """What is packed, in pieces of at most so many bytes, as far as it goes.

    Of a file that was cut off gzip's own reader loses the last.
    What follows a whole member and begins no other is no part of it: the command `gzip` ignores it as well.
    Of a damaged one comes all that can be told before the first byte that is wrong.

    Raises:
        EOFError: The file ends before what is packed in it.
        zlib.error: It is damaged.
    """
    packed = file.read(_BLOCK)
    while packed:
        member = zlib.decompressobj(wbits=_GZIP_BITS)
        while not member.eof:
            before = member.copy()
            try:
                block = member.decompress(packed, most)
            except zlib.error:
                yield _inflate_to_damage(before, packed)
                raise
            yield block
            packed = member.unconsumed_tail or (b"" if member.eof else file.read(_BLOCK))
            if not packed and not member.eof:
                yield member.flush()
                raise EOFError
        packed = _next_member(member.unused_data, file)


def _inflate_to_damage(member: zlib._Decompress, packed: bytes) -> bytes:
    """What of a block comes out before its first wrong byte: zlib keeps nothing of what it fails over."""
    found: list[bytes] = []
    with contextlib.suppress(zlib.error):
        for at in range(len(packed)):
            found.append(member.decompress(packed[at : at + 1]))
    return b"".join(found)


def is_checksum_wrong(wrong: Exception) -> bool:
    """Whether all that was packed came out, and only the sum behind it does not fit."""
    return isinstance(wrong, zlib.error) and any(words in str(wrong) for words in _SUM_WRONG)


def damage_of_packed(wrong: Exception) -> Message:
    """What is wrong with a packed file that could not be unpacked to its end without an error."""
    if is_checksum_wrong(wrong):
        return Message(CHECKSUM_WRONG)
    return Message("ends_early" if isinstance(wrong, EOFError) else "packed_damaged")


def _next_member(rest: bytes, file: IO[bytes]) -> bytes:
    """The beginning of the next member behind zeros that fill up a block; empty where none follows."""
    while (rest := rest.lstrip(b"\0")) in (b"", GZIP[:1]) and (more := file.read(_BLOCK)):
        rest += more
    return rest if rest.startswith(GZIP) else b""
