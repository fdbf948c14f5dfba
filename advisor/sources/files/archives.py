# SPDX-License-Identifier: Apache-2.0
"""Archives, and files packed one by one: what they are, and what is in them, member by member. Writes nothing."""

from __future__ import annotations

import bz2
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import IO, Literal, Self, cast

from msgspec import Struct

from advisor.machine.regular_files import open_regular
from advisor.messages.message import Message
from advisor.sources import archive_limits
from advisor.sources.files.damage_notes import Odd
from advisor.sources.files.gzip_blocks import inflate_blocks
from advisor.sources.files.zip_heads import DamagedArchive, members_by_heads

ArchiveKind = Literal["zip", "tar", "gzip"]
"""Members by name; members one after another, packed or not; one file."""
ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz", ".tar.zst")
"""How files of members are called."""
GZIP = ".gz"
_LONGEST_HEAD = 1 << 20
"""Of what a tar says of one member beyond its block; names are shorter."""
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP, _BZIP, _XZ, _ZSTANDARD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_LONGEST_MARK = 6
_PIECE = 1 << 16
_ENCRYPTED = 0x1
FAILURES = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
    UnicodeError, ValueError, OverflowError,
)  # fmt: skip
"""What libraries raise over what is damaged, or packed in a way they do not know."""


class Member(Struct, frozen=True):
    """One thing in an archive."""

    name: str
    kind: Literal["file", "folder", "other"]
    """What is neither: a link, a pipe, a device."""
    open: Callable[[], BufferedIOBase]
    encrypted: bool = False


def archive_kind(path: Path) -> ArchiveKind | None:
    """What a file is by its bytes; None where it is nothing packed.

    Raises:
        Odd: It is packed in a way that is not read.
        OSError: It cannot be read.
    """
    with open_regular(path) as file:
        head = file.read(_TAR_MARK_AT + len(_TAR_MARK))
    if head.startswith(_ZIP):
        return "zip"
    if head.startswith(_ZSTANDARD):
        raise Odd(Message("packed_with_zstandard"))
    if head[_TAR_MARK_AT:] == _TAR_MARK:
        return "tar"
    if head.startswith((_BZIP, _XZ)):
        if _holds_tar(path) is False:
            raise Odd(Message("packed_alone", tool="bzip2" if head.startswith(_BZIP) else "xz"))
        return "tar"
    if head.startswith(_GZIP):
        return "tar" if _holds_tar(path) else "gzip"
    return None


def _holds_tar(path: Path) -> bool | None:
    """Whether what is packed begins as a tar does; None where it is damaged before that is seen."""
    try:
        with open_regular(path) as file:
            packed = _unpacked_stream(file)
            marked = packed.read(_TAR_MARK_AT + len(_TAR_MARK))[_TAR_MARK_AT:] == _TAR_MARK
    except (*FAILURES, OSError):
        return None
    return None if packed.failure is not None else marked


def archive_stem(name: str) -> str:
    """The name of an archive without its ending."""
    ending = next((one for one in sorted(ENDINGS, key=len, reverse=True) if name.lower().endswith(one)), "")
    return name[: len(name) - len(ending)] or name


def members_of(path: Path, kind: ArchiveKind) -> Iterator[Member]:
    """The members of an archive, to be opened before the next is asked for.

    Raises:
        Odd: There are more than there may be.
        OSError: It cannot be read.
    """
    with open_regular(path) as file:
        members = _zip_members(file) if kind == "zip" else _tar_members(file)
        for count, member in enumerate(members, 1):
            _refuse_too_many(count)
            yield member


def _refuse_too_many(count: int) -> None:
    if count > archive_limits.MOST_MEMBERS:
        raise Odd(Message("too_many_members", limit=archive_limits.MOST_MEMBERS))


def _zip_members(file: BufferedReader) -> Iterator[Member]:
    """The members of a zip: as its directory lists them, which also counts them, or one after another where that is
    lost."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        for found in members_by_heads(file):
            folder = found.name.endswith("/")
            yield Member(found.name, "folder" if folder else "file", found.open, found.encrypted)
        return
    with archive:
        _refuse_too_many(len(archive.infolist()))
        for info in archive.infolist():
            mode = info.external_attr >> 16
            odd = mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
            kind: Literal["file", "folder", "other"] = (
                "folder" if info.filename.endswith("/") else "other" if odd else "file"
            )
            yield Member(info.filename, kind, _opener_in_zip(archive, info), bool(info.flag_bits & _ENCRYPTED))


def _opener_in_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BufferedIOBase]:
    return lambda: cast("BufferedIOBase", archive.open(info))


class _BoundedHead(tarfile.TarInfo):
    """A member of which no more is told than names need; blocks of zeros end the archive, and nothing else does."""

    _MORE = (
        tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
    )  # fmt: skip

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        if len(buf) < tarfile.BLOCKSIZE:
            raise DamagedArchive(Message("archive_ends_early"))
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as wrong:
            if any(buf):
                raise tarfile.ReadError(str(wrong)) from wrong
            raise

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in self._MORE and self.size > _LONGEST_HEAD:
            raise DamagedArchive(Message("member_head_too_long"))
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found


class _UnpackedStream:
    """What is packed around a tar, as a file that ends where it can be unpacked no further."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""
        self.failure: Exception | None = None
        """What it ended over before its end."""

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and (block := self._next_block()):
            self._rest += block
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _next_block(self) -> bytes:
        """The next block that holds anything; empty behind the last."""
        try:
            return next((block for block in self._blocks if block), b"")
        except (*FAILURES, OSError) as wrong:
            if isinstance(wrong, OSError):
                if wrong.errno is not None:
                    raise
                wrong = tarfile.ReadError(str(wrong))  # bz2 has no error of its own for what is damaged
            self.failure = wrong
            return b""


def _unpacked_stream(file: BufferedReader) -> _UnpackedStream:
    head = file.read(_LONGEST_MARK)
    file.seek(0)
    if head.startswith(_GZIP):
        return _UnpackedStream(inflate_blocks(file, _PIECE))
    packed: BufferedReader | bz2.BZ2File | lzma.LZMAFile = file
    if head.startswith(_BZIP):
        packed = bz2.BZ2File(file)
    elif head.startswith(_XZ):
        packed = lzma.LZMAFile(file)  # noqa: SIM115 - it is closed with the file it reads
    return _UnpackedStream(iter(lambda: packed.read1(_PIECE), b""))


def _tar_members(file: BufferedReader) -> Iterator[Member]:
    """The members of a tar, packed or not; its end is read too, for a lost head looks like one.

    Raises:
        TarError: It is damaged.
        DamagedArchive: It is damaged, or ends early.
    """
    stream = _unpacked_stream(file)
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|", tarinfo=_BoundedHead) as archive:
            for info in archive:
                kind: Literal["file", "folder", "other"] = (
                    "folder" if info.isdir() else "file" if info.isreg() else "other"
                )
                yield Member(info.name, kind, _opener_in_tar(archive, info))
                vars(archive)["members"] = []  # it would keep all of them
            _refuse_lost_members(cast("IO[bytes]", archive.fileobj))
    except (tarfile.TarError, DamagedArchive) as wrong:
        raise stream.failure or wrong from wrong
    if stream.failure is not None:
        raise stream.failure


def _refuse_lost_members(rest: IO[bytes]) -> None:
    """Behind the block of zeros that ends a tar come none but zeros, and not many of them.

    Raises:
        DamagedArchive: Something else comes, so that the zeros stand where a head was.
    """
    left = archive_limits.FREE_BYTES
    while left > 0 and (block := rest.read(_PIECE)):
        if block.count(0) < len(block):
            raise DamagedArchive(Message("zeros_for_member"))
        left -= len(block)


def _opener_in_tar(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], BufferedIOBase]:
    def opened() -> BufferedIOBase:
        found = archive.extractfile(info)
        if found is None:
            raise DamagedArchive(Message("member_holds_nothing"))
        return cast("BufferedIOBase", found)

    return opened
