# SPDX-License-Identifier: Apache-2.0
"""What is in a zip by the head before each member: its directory stands at the end, which a cut takes away."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from io import BufferedReader

from msgspec import Struct

from advisor.messages.errors import SpokenError
from advisor.messages.message import Message
from advisor.sources import archive_limits

_HEAD = struct.Struct("<4sHHHHHLLLHH")
_MEMBER = b"PK\x03\x04"
_SIZES = b"PK\x07\x08"
_BEHIND = frozenset((b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06"))
"""What follows the last member: all of them are there."""
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 0x1, 0x8, 0x800
_STORED, _DEFLATED = 0, 8
_NONE_32 = 0xFFFFFFFF
_BLOCK = 1 << 16


class DamagedArchive(SpokenError, ValueError):
    """An archive is damaged, or packed in a way that is not read; says how."""

    what: Message


class ZipMember(Struct, frozen=True):
    """One member, where its bytes begin, and how many they are: None where that stands behind them."""

    file: BufferedReader
    name: str
    encrypted: bool
    method: int
    start: int
    packed_bytes: int | None
    crc: int | None

    def open(self) -> io.BufferedReader:
        """What is packed in it.

        Raises:
            DamagedArchive: It is packed in a way that is not read, or nothing tells where it ends.
        """
        if self.method not in (_STORED, _DEFLATED):
            raise DamagedArchive(Message("packing_unknown"))
        self._require_end()
        return io.BufferedReader(_Content(self), _BLOCK)

    def _require_end(self) -> None:
        """What is deflated ends by itself; of all else the size tells.

        Raises:
            DamagedArchive: It does not.
        """
        if self.packed_bytes is None and (self.method != _DEFLATED or self.encrypted):
            raise DamagedArchive(Message("member_size_lost"))

    def find_end(self, most: int) -> tuple[int, int]:
        """Where the next head begins, and how many bytes were unpacked to tell that.

        Raises:
            DamagedArchive: Nothing tells, or more than `most` bytes would have to be unpacked.
        """
        if self.packed_bytes is not None:
            return self.start + self.packed_bytes, 0
        self._require_end()
        content, unpacked = _Content(self), 0
        while block := content.read(_BLOCK):
            unpacked += len(block)
            if unpacked > most:
                raise DamagedArchive(Message("member_size_lost"))
        return content.at + _length_of_sizes(self.file, content.at), unpacked


class _Content(io.RawIOBase):
    """The bytes of a member, unpacked as they are read; knows where its last one lies.

    Reading raises DamagedArchive where the file ends before the member does, or its checksum is another.
    """

    def __init__(self, member: ZipMember) -> None:
        self._member, self.at, self._crc, self._done = member, member.start, 0, False
        self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        self._packed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = memoryview(buffer).nbytes
        read = self._stored if self._member.method == _STORED else self._inflated
        block = b"" if self._done else read(wanted)
        self._crc = zlib.crc32(block, self._crc)
        if self._done and self._member.crc not in (None, self._crc):
            raise DamagedArchive(Message("member_checksum_wrong"))
        memoryview(buffer).cast("B")[: len(block)] = block
        return len(block)

    def _left(self) -> int:
        """Packed bytes that were not read from the file yet, at the most."""
        size = self._member.packed_bytes
        return _BLOCK if size is None else self._member.start + size - self.at

    def _next_packed(self, most: int) -> bytes:
        self._member.file.seek(self.at)
        block = self._member.file.read(max(min(most, self._left()), 0))
        if not block:
            raise DamagedArchive(Message("archive_ends_early"))
        self.at += len(block)
        return block

    def _stored(self, wanted: int) -> bytes:
        block = self._next_packed(wanted) if self._left() else b""
        self._done = not self._left()
        return block

    def _inflated(self, wanted: int) -> bytes:
        while not self._unpacker.eof:
            self._packed = self._packed or self._next_packed(_BLOCK)
            block = self._unpacker.decompress(self._packed, wanted)
            self._packed = self._unpacker.unconsumed_tail
            if block and not self._unpacker.eof:
                return block
        self._done = True
        self.at -= len(self._unpacker.unused_data)
        return block


def members_by_heads(file: BufferedReader) -> Iterator[ZipMember]:
    """The members in their order, to be read before the next is asked for; nothing tells whether that is all.

    Raises:
        DamagedArchive: It ends early, or is damaged.
    """
    at = 0
    size = file.seek(0, 2)
    most = max(archive_limits.FREE_BYTES, size * archive_limits.MOST_RATIO)
    while member := _member_at(file, at):
        yield member
        at, unpacked = member.find_end(most)
        most -= unpacked


def _member_at(file: BufferedReader, at: int) -> ZipMember | None:
    """The member whose head stands here; None behind the last.

    Raises:
        DamagedArchive: No head stands here, or only a part of one.
    """
    file.seek(at)
    head = file.read(_HEAD.size)
    if head[:4] in _BEHIND:
        return None
    if not head.startswith(_MEMBER) and len(head) == _HEAD.size:
        raise DamagedArchive(Message("no_member_due"))
    if len(head) < _HEAD.size:
        raise DamagedArchive(Message("archive_ends_early"))
    _, _, flags, method, _, _, crc, packed, plain, name_bytes, extra_bytes = _HEAD.unpack(head)
    name, extra = file.read(name_bytes), file.read(extra_bytes)
    if len(name) + len(extra) < name_bytes + extra_bytes:
        raise DamagedArchive(Message("archive_ends_early"))
    follow = bool(flags & _SIZES_FOLLOW)
    return ZipMember(
        file=file,
        name=name.decode("utf-8" if flags & _UTF8 else "cp437"),
        encrypted=bool(flags & _ENCRYPTED),
        method=method,
        start=at + _HEAD.size + name_bytes + extra_bytes,
        packed_bytes=None if follow else _large_size(extra, packed, plain),
        crc=None if follow else crc,
    )


def _large_size(extra: bytes, packed: int, plain: int) -> int:
    """The packed size, which stands among what is said beside the head where it has no room in it.

    Raises:
        DamagedArchive: It stands nowhere.
    """
    if packed != _NONE_32:
        return packed
    while len(extra) >= 4:  # noqa: PLR2004 - a kind and a length
        kind, length = struct.unpack_from("<HH", extra)
        sizes, extra = extra[4 : 4 + length], extra[4 + length :]
        before = 8 if plain == _NONE_32 else 0
        if kind == 1 and len(sizes) >= before + 8:
            return int(struct.unpack_from("<Q", sizes, before)[0])
    raise DamagedArchive(Message("member_size_lost"))


def _length_of_sizes(file: BufferedReader, at: int) -> int:
    """How long what stands behind a member is: checksum and sizes of four or eight bytes, with or without a mark."""
    file.seek(at)
    text = file.read(28)
    mark = 4 if text.startswith(_SIZES) else 0
    return next((n for n in (mark + 12, mark + 20) if text[n : n + 2] == b"PK"), mark + 12)
