# SPDX-License-Identifier: Apache-2.0
"""What is packed with gzip, block by block, as far as it goes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO

GZIP = b"\x1f\x8b"
"""How a file packed with gzip begins, and each member of it."""
_BLOCK = 1 << 20
_GZIP_BITS = 31
"""The window of zlib, and that gzip's header is around it."""


def inflate_blocks(file: IO[bytes], most: int = _BLOCK) -> Iterator[bytes]:
    """What is packed, in pieces of at most so many bytes, as far as it goes.

    Of a file that was cut off gzip's own reader loses the last.
    What follows a whole member and begins no other is no part of it: the command `gzip` ignores it as well.

    Raises:
        EOFError: The file ends before what is packed in it.
        zlib.error: It is damaged.
    """
    packed = file.read(_BLOCK)
    while packed:
        member = zlib.decompressobj(wbits=_GZIP_BITS)
        while not member.eof:
            yield member.decompress(packed, most)
            packed = member.unconsumed_tail or (b"" if member.eof else file.read(_BLOCK))
            if not packed and not member.eof:
                yield member.flush()
                raise EOFError
        packed = _next_member(member.unused_data, file)


def _next_member(rest: bytes, file: IO[bytes]) -> bytes:
    """The beginning of the next member behind zeros that fill up a block; empty where none follows."""
    while (rest := rest.lstrip(b"\0")) in (b"", GZIP[:1]) and (more := file.read(_BLOCK)):
        rest += more
    return rest if rest.startswith(GZIP) else b""
