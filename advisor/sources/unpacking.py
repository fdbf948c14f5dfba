# SPDX-License-Identifier: Apache-2.0
"""Packed input as a folder: archives and packed files are unpacked beside links to what is not packed.

Only what some family may read is unpacked, into a private folder, in bounded size. Nothing of an archive lands outside
of its own folder: links, devices, absolute names and `..` are left out, and said to be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from advisor.machine.private_folders import PrivateFolder
from advisor.machine.regular_files import open_regular
from advisor.messages.errors import InputError, reason_of_error
from advisor.messages.message import Message, MessageValue
from advisor.messages.text import Text
from advisor.sources import archive_limits
from advisor.sources.family import Family, LeftAside
from advisor.sources.files.archives import (
    ENDINGS,
    FAILURES,
    GZIP,
    ArchiveKind,
    Member,
    archive_kind,
    archive_stem,
    members_of,
)
from advisor.sources.files.damage_notes import Odd
from advisor.sources.files.gzip_blocks import CHECKSUM_WRONG, damage_of_packed, inflate_blocks, is_checksum_wrong
from advisor.sources.files.packed import TooMuchInside
from advisor.sources.listing import Listing, list_folder, show_name, show_relative

_WANTED = re.compile(r"(\.(csv|json|db|db-wal|txt)(\.gz)?|info\.json\.\d+)$", re.IGNORECASE)
"""How files end that some family reads."""
_BLOCK = 1 << 16
_NAMELESS = "root"
"""What stands for the one folder that has no name, `/`."""
_NAME_BYTES = 255
_ASIDE = ".advisor-aside"
"""Where a folder stands while it is renamed."""


def packed_in(listing: Listing, families: Sequence[Family]) -> Iterator[Path]:
    """What of a folder has to be unpacked: archives beside no folder of their name, and packed files of captures.

    What a family reads as it is, such as packed traces, is none of it.
    """
    there = {*listing.files, *listing.folders}
    for name in [listing.asked] if listing.asked else listing.files:
        if name.lower().endswith(ENDINGS):
            if archive_stem(name) not in there:
                yield listing.folder / name
        elif name.lower().endswith(GZIP) and name[: -len(GZIP)] not in there and _is_read(name, families):
            yield listing.folder / name


def _is_read(name: str, families: Sequence[Family]) -> bool:
    """Whether a family reads a packed file once it is unpacked, and none reads it as it is."""
    plain = name[: -len(GZIP)]
    return any(family.reads(plain) for family in families) and not any(family.reads(name) for family in families)


class UnpackedInput:
    """What was given, and where it is read: there, or in a private folder that goes away with this object.

    Several captures are given as the folder they all lie in, and their paths in it.
    """

    def __init__(self, given: Path, parts: Sequence[Path] = ()) -> None:
        self.input_path = self.path = given
        self.parts = tuple(parts)
        """Paths in the folder that is read; all of it where there are none."""
        self.aside: list[LeftAside] = []
        """What of archives was left out, by its name inside of them."""
        self._folder: PrivateFolder | None = None
        self._tried: set[str] = set()
        self._left = 0
        self._made = 0

    @property
    def packed(self) -> bool:
        """Whether anything was unpacked."""
        return self._folder is not None

    def left_to_unpack(self, packed: Sequence[Path]) -> list[Path]:
        """What of it was not tried yet; nothing where archives lie in archives too deep."""
        fresh = [path for path in packed if os.path.realpath(path) not in self._tried]
        return fresh if self._made < archive_limits.LEVELS else []

    def close(self) -> None:
        """Removes what was unpacked, before it would go by itself."""
        if self._folder is not None:
            self._folder.close()

    def unpack_file(self, families: Sequence[Family]) -> None:
        """Unpacks the one file that was given, where it is packed and no family reads it as it is.

        Raises:
            InputError: It is an archive of which nothing can be used.
        """
        try:
            kind = archive_kind(self.path)
            if kind is None or (kind == "gzip" and _is_taken(self.path, families)):
                return
            top = self._new_folder(self.path.stat().st_size)
            if kind == "gzip":
                self.path = self._unpack_alone(self.path, top, families)
            else:
                self.path = self._unpack_archive(self.path, kind, top)
        except (Odd, OSError) as wrong:
            raise _unusable_error(self.input_path, _why(wrong)) from wrong
        if kind != "gzip" and self.aside and not any(file.is_file() for file in self.path.rglob("*")):
            said = [one.what for one in self.aside]
            raise _unusable_error(self.input_path, next((what for what in said if what.code in _DAMAGED), said[0]))

    def unpack_beside(self, packed: Sequence[Path]) -> None:
        """Sets the folder that is read beside links to all but these, which are unpacked.

        Raises:
            InputError: There is no room for it.
        """
        base = self.path if self.path.is_dir() else self.path.parent
        try:
            top = self._new_folder(sum(file.stat().st_size for file in packed))
            leading = {folder for file in packed for folder in file.parents}
            mirror = top / (os.path.basename(os.path.abspath(base)) or _NAMELESS)
            self._mirror_folder(base, mirror, {*packed}, leading)
        except OSError as wrong:
            raise _unusable_error(self.input_path, reason_of_error(wrong)) from wrong
        self.path = mirror
        self.parts = tuple(_path_unpacked(part, mirror) for part in self.parts)

    def _new_folder(self, packed_bytes: int) -> Path:
        """A folder for one level of what is unpacked, and how many bytes more may come out."""
        self._folder = self._folder or PrivateFolder()
        self._left += max(archive_limits.FREE_BYTES if not self._made else 0, packed_bytes * archive_limits.MOST_RATIO)
        self._made += 1
        top = self._folder.path / str(self._made)
        top.mkdir()
        return top

    def _mirror_folder(self, folder: Path, target: Path, packed: Collection[Path], leading: Collection[Path]) -> None:
        target.mkdir()
        listing = list_folder(folder)
        for name in (*listing.folders, *listing.files, *(odd for odd, _ in listing.aside)):
            path = folder / name
            if path in leading:
                self._mirror_folder(path, target / name, packed, leading)
            elif path not in packed or not self._unpack_into(path, target):
                os.symlink(os.path.abspath(path), target / name)

    def _unpack_alone(self, path: Path, top: Path, families: Sequence[Family]) -> Path:
        """Unpacks the one file that was given; what lies beside a file of a capture belongs to it."""
        plain = path.name.removesuffix(GZIP)
        self._unpack_gzip(path, top / plain)
        if _is_read(f"{plain}{GZIP}", families):
            listing = list_folder(path.parent)
            for name in {*listing.folders, *listing.files} - {path.name, plain}:
                os.symlink(os.path.abspath(path.parent / name), top / name)
        return top / plain

    def _unpack_into(self, path: Path, target: Path) -> bool:
        """Unpacks something that lies in a folder of captures, where it is packed; what cannot be is left aside."""
        self._tried.add(os.path.realpath(path))
        try:
            kind = archive_kind(path)
            if kind == "gzip":
                self._unpack_gzip(path, target / path.name[: -len(GZIP)])
            elif kind is not None:
                self._unpack_archive(path, kind, target)
        except (Odd, OSError) as wrong:
            self._leave(path, "", _why(wrong))
            return False
        return kind is not None

    def _unpack_gzip(self, path: Path, target: Path) -> None:
        with open_regular(path) as file, open(target, "xb") as plain:
            try:
                for block in inflate_blocks(file):
                    self._write(plain, block)
            except TooMuchInside:
                raise
            except FAILURES as wrong:
                self._leave(path, "", damage_of_packed(wrong))

    def _unpack_archive(self, path: Path, kind: ArchiveKind, target: Path) -> Path:
        """Unpacks into a folder with the name of the archive; one that holds only a folder of that name is that."""
        stem = archive_stem(path.name)
        top = target / stem
        top.mkdir()
        try:
            for member in members_of(path, kind):
                self._unpack_member(path, member, top)
        except FAILURES as wrong:
            if isinstance(wrong, Odd):
                raise
            damaged = Message("archive_damaged", why=reason_of_error(wrong))
            self._leave(path, "", Message(CHECKSUM_WRONG) if is_checksum_wrong(wrong) else damaged)
        if os.listdir(top) == [stem] and (top / stem).is_dir():
            os.rename(top, target / _ASIDE)
            os.rename(target / _ASIDE / stem, top)
            os.rmdir(target / _ASIDE)
        return top

    @property
    def _top(self) -> Path | None:
        return self._folder.path if self._folder is not None else None

    def _unpack_member(self, archive: Path, member: Member, top: Path) -> None:
        parts = safe_parts(member.name)
        if parts is None:
            self._leave(archive, member.name, Message("member_leads_out"))
            return
        if not parts:
            return
        target = top.joinpath(*parts)
        if member.kind == "folder":
            self._try_member(archive, member, lambda: target.mkdir(parents=True, exist_ok=True))
        elif not _is_wanted(parts[-1]):
            self._try_member(archive, member, lambda: target.parent.mkdir(parents=True, exist_ok=True))
        elif member.kind == "other":
            self._leave(archive, member.name, Message("member_no_file"))
        elif member.encrypted:
            self._leave(archive, member.name, Message("member_encrypted"))
        else:
            self._try_member(archive, member, lambda: self._copy_member(member, target))

    def _try_member(self, archive: Path, member: Member, work: Callable[[], None]) -> None:
        try:
            work()
        except TooMuchInside:
            raise
        except (*FAILURES, OSError) as wrong:
            if isinstance(wrong, OSError) and wrong.errno in _NO_ROOM:
                raise
            self._leave(archive, member.name, Message("member_damaged", why=reason_of_error(wrong)))

    def _copy_member(self, member: Member, target: Path) -> None:
        """Unpacks one file, or as much of it as its archive holds; of one that holds nothing there is none."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with member.open() as packed:
            block = packed.read1(_BLOCK)
            with open(target, "wb") as plain:
                while block:
                    self._write(plain, block)
                    block = packed.read1(_BLOCK)

    def _write(self, plain: IO[bytes], block: bytes) -> None:
        self._left -= len(block)
        if self._left < 0:
            raise TooMuchInside(Message("unpacks_to_too_much"))
        plain.write(block)

    def _leave(self, path: Path, member: str, what: Message) -> None:
        base = self.input_path if self.input_path.is_dir() else self.input_path.parent
        shown = path if self._top is None or not path.is_relative_to(self._top) else path.relative_to(self._top)
        name = "/".join(shown.parts[2:]) if shown is not path else show_relative(path, base)
        self.aside.append(LeftAside(f"{name}/{show_name(member)}" if member else name, what))

    @contextmanager
    def errors_by_given_names(self) -> Iterator[None]:
        """While it lasts errors name what was given, and never where it was unpacked."""
        try:
            yield
        except InputError as error:
            if not self.packed:
                raise
            hint = error.hint
            raise InputError(self._renamed(error.what), hint and self._renamed(hint)) from None

    def _renamed(self, said: Message | Text) -> Message | Text:
        """A message with the names that were given in place of those of the private folder."""
        if isinstance(said, Text):
            return Text(*(self._rename(words) for words in (said.en, said.zh)))
        return Message(said.code, **{name: self._renamed_value(value) for name, value in said.values})

    def _renamed_value(self, value: MessageValue) -> MessageValue:
        if isinstance(value, Message | Text):
            return self._renamed(value)
        return self._rename(str(value)) if isinstance(value, str | Path) else value

    def _rename(self, words: str) -> str:
        given = show_name(self.input_path)
        for number in range(self._made, 0, -1):
            top = f"{self._top}/{number}"
            words = words.replace(show_name(self.path), given).replace(top, os.path.dirname(given) or ".")
        return words


def _path_unpacked(part: Path, mirror: Path) -> Path:
    """What a path became where something was unpacked: that of the folder or file that stands for what was packed."""
    plain = part.name[: -len(GZIP)] if part.name.lower().endswith(GZIP) else part.name
    names = (part.name, archive_stem(part.name), plain)
    there = (part.with_name(name) for name in names if os.path.lexists(mirror / part.with_name(name)))
    return next(there, part)


_DAMAGED = frozenset({"archive_damaged", "ends_early", "packed_damaged", CHECKSUM_WRONG})
"""What nobody can unpack either."""
_NO_ROOM = frozenset({28, 122})
"""ENOSPC, EDQUOT."""


def safe_parts(name: str) -> tuple[str, ...] | None:
    """The folders and the file of a member's name; None where it would lead out of its archive, or too deep."""
    plain = name.replace("\\", "/")
    if "\0" in plain or plain.startswith("/") or re.match(r"^[A-Za-z]:", plain):
        return None
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    if (
        ".." in parts
        or len(parts) > archive_limits.DEEPEST
        or any(len(os.fsencode(part)) > _NAME_BYTES for part in parts)
    ):
        return None
    return parts


def _is_wanted(name: str) -> bool:
    return _WANTED.search(name) is not None or name.lower().endswith(ENDINGS)


def _is_taken(path: Path, families: Iterable[Family]) -> bool:
    """Whether a family reads a packed file as it is."""
    listing = Listing(path.parent, files=(path.name,), asked=path.name)
    return any(any(True for _ in family.detect(listing)) for family in families)


def _why(wrong: Exception) -> Message:
    return wrong.what if isinstance(wrong, Odd) else reason_of_error(wrong)


def _unusable_error(path: Path, why: Message) -> InputError:
    if why.code in _DAMAGED:
        return InputError(
            Message("nothing_unpacked", path=show_name(path), damage=why), Message("record_or_copy_again")
        )
    return InputError(Message("cannot_be_unpacked", path=show_name(path), why=why), Message("unpack_it_yourself"))
