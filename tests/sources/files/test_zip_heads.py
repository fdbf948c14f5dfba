# SPDX-License-Identifier: Apache-2.0
"""A zip without its directory, as a copy that was cut off: what is whole before the cut is read, whoever packed it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources import archive_limits
from advisor.sources.files.archives import FAILURES, members_of
from advisor.sources.files.zip_heads import DamagedArchive

CONTENT = {"a/one.csv": b"x,y\n" * 40_000, "a/数据.csv": b"", "b/two.json": bytes(range(256)) * 300, "c.txt": b"last"}


class Unseekable(io.RawIOBase):
    """Where sizes can only be written behind what they are of."""

    def __init__(self) -> None:
        self.buffer = io.BytesIO()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        return self.buffer.write(data)


def packed(method: int = zipfile.ZIP_DEFLATED, *, streamed: bool = False, large: bool = False) -> bytes:
    target: io.BytesIO | Unseekable = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:  # type: ignore[arg-type]
        for name, content in CONTENT.items():
            with archive.open(name, "w", force_zip64=large) as member:
                member.write(content)
    return target.buffer.getvalue() if isinstance(target, Unseekable) else target.getvalue()


WAYS: dict[str, Callable[[], bytes]] = {
    "deflated": packed,
    "stored": lambda: packed(zipfile.ZIP_STORED),
    "streamed": lambda: packed(streamed=True),
    "large": lambda: packed(large=True),
    "streamed and large": lambda: packed(streamed=True, large=True),
}


def read(path: Path) -> tuple[dict[str, bytes], bool]:
    """What can be read of an archive, and whether it went to its end."""
    found = {}
    try:
        for member in members_of(path, "zip"):
            with member.open() as opened:
                found[member.name] = opened.read()
    except FAILURES:
        return found, False
    return found, True


@pytest.mark.parametrize("way", WAYS)
def test_without_its_directory_every_member_is_read(way: str, tmp_path: Path) -> None:
    content = WAYS[way]()
    (tmp_path / "x.zip").write_bytes(content[: content.rindex(b"PK\x05\x06")])
    assert read(tmp_path / "x.zip") == (CONTENT, True)


@pytest.mark.parametrize("way", WAYS)
def test_members_that_nobody_opens_are_passed_over(way: str, tmp_path: Path) -> None:
    content = WAYS[way]()
    (tmp_path / "x.zip").write_bytes(content[: content.rindex(b"PK\x05\x06")])
    assert [member.name for member in members_of(tmp_path / "x.zip", "zip")] == [*CONTENT]


@pytest.mark.parametrize("way", WAYS)
@given(kept=st.floats(0, 1, exclude_max=True))
def test_wherever_it_is_cut_what_was_whole_is_read_and_the_end_is_missed(
    tmp_path_factory: pytest.TempPathFactory, way: str, kept: float
) -> None:
    content = WAYS[way]()
    directory = content.index(b"PK\x01\x02")
    path = tmp_path_factory.mktemp("cut") / "x.zip"
    path.write_bytes(content[: int(directory * kept)])
    found, whole = read(path)
    assert not whole
    assert found == dict([*CONTENT.items()][: len(found)])
    assert kept < 0.9 or len(found) > 1


def test_a_member_with_other_bytes_is_not_taken_for_whole(tmp_path: Path) -> None:
    content = packed(zipfile.ZIP_STORED)
    (tmp_path / "x.zip").write_bytes(content[: content.rindex(b"PK\x05\x06")].replace(b"x,y", b"x;y", 1))
    members = members_of(tmp_path / "x.zip", "zip")
    member = next(members)
    with pytest.raises(DamagedArchive, match="checksum"), member.open() as opened:
        opened.read()


def test_looking_for_the_end_of_a_member_unpacks_no_more_than_may_come_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed(streamed=True)
    (tmp_path / "x.zip").write_bytes(content[: content.rindex(b"PK\x05\x06")])
    monkeypatch.setattr(archive_limits, "FREE_BYTES", 1000)
    monkeypatch.setattr(archive_limits, "MOST_RATIO", 1)
    with pytest.raises(DamagedArchive):
        list(members_of(tmp_path / "x.zip", "zip"))
