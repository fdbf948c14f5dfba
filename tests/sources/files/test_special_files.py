# SPDX-License-Identifier: Apache-2.0
"""Files that would wait for ever, never end or show what is secret: they are not opened, wherever they lie."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.report.sources import found_in
from advisor.sources.files import csvfile, jsonfile, timeline
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.database import open_readonly
from advisor.sources.files.heads import file_head, is_packed

LINKS = ("/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/self/mem", "/sys/kernel/notes")
READERS: dict[str, Callable[[Path, Notes], object]] = {
    "csv": lambda path, notes: csvfile.read_columns(path, {}, {}, notes),
    "json": jsonfile.load_json,
    "timeline": timeline.read_timeline,
    "database": open_readonly,
}


@pytest.fixture(params=["pipe", *LINKS])
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "pipe":
        os.mkfifo(tmp_path / "x")
    else:
        (tmp_path / "x").symlink_to(request.param)
    return tmp_path / "x"


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_opens_what_is_no_regular_file(reader: str, special: Path) -> None:
    notes = Notes()
    with pytest.raises(Unreadable):
        READERS[reader](special, notes)
    (note,) = notes.all()
    assert note.kind == "unreadable"
    assert "is no regular file" in note.what.en
    assert "不是普通文件" in note.what.zh


def test_the_beginning_of_what_is_no_regular_file_is_empty(special: Path) -> None:
    assert file_head(special) == b""
    assert not is_packed(special)


def test_a_log_of_a_database_that_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0" + bytes(5000))
    (tmp_path / "x.db-wal").symlink_to("/proc/self/mem")
    with pytest.raises(Unreadable):
        open_readonly(tmp_path / "x.db", Notes())


@pytest.mark.parametrize("recorded", ("/dev/zero", "/dev/stdin", "/proc/self/mem", "/dev/null"))
def test_a_recorded_path_of_code_leads_to_no_device(recorded: str) -> None:
    assert found_in(Path("/"), recorded, 5) is None


def test_a_recorded_path_of_code_leads_to_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "train.py")
    assert found_in(tmp_path, "/job/train.py", 1) is None


def test_lines_of_code_are_counted_however_long_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"x = 1\ny = '{'y' * 200_000}'\nz = 1")
    assert found_in(tmp_path, "a.py", 3) == "a.py"
    assert found_in(tmp_path, "a.py", 4) is None
    (tmp_path / "empty.py").write_text("")
    assert found_in(tmp_path, "empty.py", 1) is None
