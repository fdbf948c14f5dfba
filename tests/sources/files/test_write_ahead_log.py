# SPDX-License-Identifier: Apache-2.0
"""A database that its writer never closed: its log is read where it lies, and nothing in the folder changes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.database import Database, open_readonly
from advisor.sources.files.write_ahead_log import _continue_checksum, holds_transaction


def left_open(folder: Path, rows: int = 1000, page: int = 4096, *, shm: bool = False) -> Path:
    """A database of which all rows are in the log, as a process that was killed leaves it."""
    live = folder / "live"
    live.mkdir(parents=True)
    writer = sqlite3.connect(live / "x.db", isolation_level=None)
    writer.executescript(
        f"PRAGMA page_size={page}; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE A(x INT)"
    )
    writer.execute("BEGIN")
    writer.executemany("INSERT INTO A VALUES (?)", [(value,) for value in range(rows)])
    writer.execute("COMMIT")
    left = folder / "left"
    left.mkdir()
    for suffix in ("", "-wal", *(["-shm"] if shm else [])):
        shutil.copy(live / f"x.db{suffix}", left / f"x.db{suffix}")
    writer.close()
    return left / "x.db"


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its content and time."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


def rows_read(path: Path) -> list[int]:
    before, temporary = state(path.parent), os.listdir(tempfile.gettempdir())
    notes = Notes()
    database = Database(open_readonly(path, notes), path.name, notes)
    try:
        found: list[int] = database.integers("A", {"x": ["x"]})["x"].tolist() if database.fields("A") else []
    finally:
        during = state(path.parent)
        database.connection.close()
    assert before == during == state(path.parent)
    assert not [name for name in os.listdir(tempfile.gettempdir()) if name not in temporary and "advisor" in name]
    return found


@pytest.mark.parametrize("page", [512, 4096, 65536])
@pytest.mark.parametrize("shm", [False, True])
def test_rows_in_the_log_are_read_in_place(page: int, shm: bool, tmp_path: Path) -> None:
    path = left_open(tmp_path, page=page, shm=shm)
    assert holds_transaction(path.with_name("x.db-wal"))
    assert rows_read(path) == list(range(1000))


def test_a_log_much_larger_than_its_database_is_read_to_its_end(tmp_path: Path) -> None:
    path = left_open(tmp_path, rows=300_000)
    assert path.with_name("x.db-wal").stat().st_size > 100 * path.stat().st_size
    assert rows_read(path) == list(range(300_000))


def damaged(log: bytes, how: str) -> bytes:
    """A log of which nothing counts."""
    return {
        "empty": b"",
        "shorter than its head": log[:20],
        "only a head": log[:32],
        "half a frame": log[:2000],
        "no end of a transaction": log[:32] + log[32 : 32 + 4120][:4] + bytes(4) + log[40 : 32 + 4120],
        "head that was changed": log[:12] + b"\xff" + log[13:],
        "first frame changed": log[:500] + b"\xff\xff" + log[502:],
        "of another log": log[:36] + struct.pack(">I", 7) + log[40:],
        "zeros": bytes(len(log)),
        "text": b"no log at all " * 1000,
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        "empty", "shorter than its head", "only a head", "half a frame", "no end of a transaction",
        "head that was changed", "first frame changed", "of another log", "zeros", "text",
    ],
)  # fmt: skip
def test_a_log_of_which_nothing_counts_is_left_as_it_is(how: str, tmp_path: Path) -> None:
    path = left_open(tmp_path)
    log = path.with_name("x.db-wal")
    log.write_bytes(damaged(log.read_bytes(), how))
    assert not holds_transaction(log)
    assert rows_read(path) == []


@pytest.mark.parametrize("content", [b"\n", b"no database at all", b"SQLite format 4\0" + bytes(4080)])
def test_the_log_beside_what_is_no_database_stays(content: bytes, tmp_path: Path) -> None:
    path = left_open(tmp_path)
    path.write_bytes(content)
    before, notes = state(path.parent), Notes()
    with pytest.raises(Unreadable):
        open_readonly(path, notes)
    assert state(path.parent) == before
    assert [note.kind for note in notes.all()] == ["unreadable"]


def test_a_log_that_is_cut_off_gives_the_transactions_before(tmp_path: Path) -> None:
    path = left_open(tmp_path)
    log = path.with_name("x.db-wal")
    log.write_bytes(log.read_bytes()[:-100])
    assert holds_transaction(log)
    assert rows_read(path) == []
    assert sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("SELECT count(*) FROM A").fetchone() == (0,)


@given(
    st.binary(min_size=8, max_size=400).map(lambda content: content[: len(content) // 8 * 8]),
    st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
    st.sampled_from([">", "<"]),
)
def test_the_checksum_is_that_of_the_format(content: bytes, start: tuple[int, int], order: str) -> None:
    a, b = start
    for x, y in struct.iter_unpack(f"{order}2I", content):
        a = (a + x + b) & 0xFFFFFFFF
        b = (b + y + a) & 0xFFFFFFFF
    assert _continue_checksum(content, start, f"{order}u4") == (a, b)
