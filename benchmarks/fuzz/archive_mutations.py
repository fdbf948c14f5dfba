# SPDX-License-Identifier: Apache-2.0
"""Damage to what is packed: members with names that lead elsewhere, links, there twice, damaged, too large or many."""

from __future__ import annotations

import gzip
import io
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from benchmarks.fuzz import byte_mutations, csv_mutations, json_mutations

_FAILURES = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError, RuntimeError, LookupError)
_OUTSIDE = (
    "../evil.csv", "../../evil.csv", "/evil.csv", "a/../../evil.csv", "..\\..\\evil.csv", "C:\\evil.csv", "//evil.csv",
    "a\0evil.csv", "x" * 300 + ".csv", "a/" * 40 + "evil.csv", "", ".", "..", "\udcff.csv", "evil.csv/",
    " ", "a\nb.csv",
)  # fmt: skip
_LARGE = (1 << 20, 12 << 20)
_SYMLINK = 0xA1FF << 16


class Packed(NamedTuple):
    """One member: its name, what it holds, and what it leads to where it is a link."""

    name: str
    held: bytes
    link: str = ""


Members = list[Packed]


def _of_members(change: Callable[[Members, Random], Members]) -> Callable[[bytes, Random], bytes]:
    """A change of members as one of the bytes of an archive; of what is none, single bytes change."""

    def changed(content: bytes, chance: Random) -> bytes:
        try:
            return _pack(content, change(_unpack(content), chance), chance)
        except _FAILURES:
            return byte_mutations.flip_bytes(content, chance)

    changed.__name__ = change.__name__.lstrip("_")
    return changed


def _unpack(content: bytes) -> Members:
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [Packed(one.filename, archive.read(one)) for one in archive.infolist()]
    plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    if plain[257:262] != b"ustar":
        return [Packed("", plain)]
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        return [Packed(one.name, held.read() if (held := archive.extractfile(one)) else b"") for one in archive]


def _pack(before: bytes, members: Members, chance: Random) -> bytes:
    """The members packed as they were before, zips now and then without compression."""
    if before.startswith(b"PK"):
        return _zip(members, chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))
    packed = before.startswith(b"\x1f\x8b")
    if [one.name for one in members] == [""]:
        return gzip.compress(members[0].held, 1, mtime=0)
    made = io.BytesIO()
    with tarfile.open(
        fileobj=made, mode="w", format=chance.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))
    ) as archive:
        for one in members:
            member = tarfile.TarInfo(one.name)
            member.size = 0 if one.link else len(one.held)
            if one.link:
                member.type, member.linkname = chance.choice((tarfile.SYMTYPE, tarfile.LNKTYPE)), one.link
            archive.addfile(member, io.BytesIO(one.held))
    return gzip.compress(made.getvalue(), 1, mtime=0) if packed else made.getvalue()


def _zip(members: Members, method: int) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for one in members:
            info = zipfile.ZipInfo("x")
            info.filename = one.name.encode("utf-8", "replace").decode()
            info.external_attr = _SYMLINK if one.link else 0
            archive.writestr(info, one.link or one.held, method)
    return made.getvalue()


def _rename_member(members: Members, chance: Random) -> Members:
    """One has a name that leads out, is too long, or is none."""
    at = chance.randrange(len(members))
    return [*members[:at], members[at]._replace(name=chance.choice(_OUTSIDE)), *members[at + 1 :]]


def _repeat_member(members: Members, chance: Random) -> Members:
    """One is there twice, with what another one holds, or is a folder too."""
    one, other = chance.choice(members), chance.choice(members)
    twin = chance.choice((one._replace(held=other.held), one, one._replace(name=f"{one.name}/{other.name}")))
    return [*members, twin] if chance.random() < 0.5 else [twin, *members]


def _link_member(members: Members, chance: Random) -> Members:
    """One is a link out of the archive, or through one that is."""
    at = chance.randrange(len(members))
    to = chance.choice(("/etc/passwd", "../../evil.csv", members[0].name, ".", "/dev/zero", "/"))
    through = Packed(f"{members[at].name.split('/')[0]}/out", b"", "/tmp")  # noqa: S108 - nothing may land there
    if chance.random() < 0.3:
        return [through, *members, Packed(f"{through.name}/evil.csv", b"1\n")]
    return [*members[:at], members[at]._replace(link=to), *members[at + 1 :]]


def _damage_member(members: Members, chance: Random) -> Members:
    """One holds something else, and is packed whole."""
    at = chance.randrange(len(members))
    ways = [byte_mutations.flip_bytes, byte_mutations.cut_tail, byte_mutations.clear_block]
    name = members[at].name
    ways += [csv_mutations.change_cells, csv_mutations.remove_rows] if name.endswith((".csv", ".txt")) else []
    ways += [json_mutations.change_values, json_mutations.remove_keys] if name.endswith(".json") else []
    held = members[at].held
    return [
        *members[:at],
        members[at]._replace(held=chance.choice(ways)(held, chance) if held else b"1"),
        *members[at + 1 :],
    ]


def _add_bomb(members: Members, chance: Random) -> Members:
    """One holds far more than its packed size says."""
    return [*members, Packed(chance.choice(("bomb.csv", members[0].name)), bytes(chance.choice(_LARGE)))]


def _add_many(members: Members, chance: Random) -> Members:
    """There are many more."""
    return [*members, *(Packed(f"{n % 7}/{n}.csv", b"") for n in range(chance.choice((300, 3000))))]


def _nest(members: Members, chance: Random) -> Members:
    """All of it lies in an archive in the archive, up to five levels deep."""
    for level in range(chance.choice((1, 1, 2, 5))):
        members = [Packed(f"inner{level}.zip", _zip(members, zipfile.ZIP_DEFLATED))]
    return members


def _drop_member(members: Members, chance: Random) -> Members:
    """One is gone, or all are."""
    return [] if chance.random() < 0.1 else [one for one in members if one is not chance.choice(members)] or members[1:]


def change_header(content: bytes, chance: Random) -> bytes:
    """Numbers of a header say something else: sizes, checksums, places, flags, or of which kind it is."""
    held = bytearray(content)
    marks = [at for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06") if (at := content.find(mark)) >= 0]
    begin = chance.choice(marks or [0])
    for _ in range(chance.choice((1, 2, 4))):
        at, width = min(begin + chance.randrange(4, 46), max(len(held) - 4, 0)), chance.choice((1, 2, 4))
        held[at : at + width] = chance.choice((bytes(width), b"\xff" * width, chance.randbytes(width)))
    return bytes(held)


rename_member, repeat_member = _of_members(_rename_member), _of_members(_repeat_member)
link_member, damage_member = _of_members(_link_member), _of_members(_damage_member)
add_bomb, add_many, nest, drop_member = map(_of_members, (_add_bomb, _add_many, _nest, _drop_member))
