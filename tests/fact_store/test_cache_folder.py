# SPDX-License-Identifier: Apache-2.0
"""A folder of entries holds no more than it may, gives whole entries only, and removes nothing but its own."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.fact_store.cache_folder import CacheFolder

KEYS = [f"{number:064x}" for number in range(6)]
CONTENT = bytes(1000)


def filled(folder: Path, *, most_bytes: int | None = None, capture: str = "prof") -> CacheFolder:
    """Six entries, the first of which was used longest ago."""
    cache = CacheFolder(folder, most_bytes)
    for age, key in zip((60, 50, 40, 30, 20, 10), KEYS, strict=True):
        assert cache.write_entry(key, CONTENT, capture=capture, version="0")
        used = time.time() - age
        os.utime(folder / f"{key}.advisor-facts", (used, used))
    return cache


def keys_left(cache: CacheFolder) -> list[str]:
    return sorted(entry.path.stem for entry in cache.entries())


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    cache.most_bytes = 4000
    assert cache.read_entry(KEYS[0]) == CONTENT
    cache.remove_oldest()
    assert keys_left(cache) == [KEYS[0], KEYS[4], KEYS[5]]
    assert sum(entry.size_bytes for entry in cache.entries()) <= 4000


def test_it_stays_small_while_it_is_written_for_a_run_may_be_killed(tmp_path: Path) -> None:
    cache = filled(tmp_path, most_bytes=4000)
    assert keys_left(cache) == [*KEYS[3:]]


def test_what_a_killed_process_left_goes_and_what_is_written_now_stays(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    old, new = tmp_path / f".{'a' * 16}.advisor-part", tmp_path / f".{'b' * 16}.advisor-part"
    old.write_bytes(b"")
    new.write_bytes(b"")
    os.utime(old, (1, 1))
    cache.remove_oldest()
    assert not old.exists() and new.exists() and keys_left(cache) == KEYS


def test_nothing_but_entries_is_removed(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    mine = [tmp_path / "report.html", tmp_path / "facts.advisor-facts", tmp_path / f"{'g' * 64}.advisor-facts"]
    for file in mine:
        file.write_text("mine")
    (tmp_path / f"{'f' * 64}.advisor-facts").symlink_to(mine[0])
    assert cache.remove_all()[0] == len(KEYS)
    assert all(file.read_text() == "mine" for file in mine)
    assert (tmp_path / f"{'f' * 64}.advisor-facts").is_symlink()


def test_an_entry_of_another_key_is_none(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    os.replace(tmp_path / f"{KEYS[0]}.advisor-facts", tmp_path / f"{KEYS[1]}.advisor-facts")
    assert cache.read_entry(KEYS[0]) is None
    assert cache.read_entry(KEYS[1]) is None


def test_a_cache_that_may_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = filled(tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert cache.read_entry(KEYS[2]) == CONTENT


def test_backups_leave_it_out(tmp_path: Path) -> None:
    filled(tmp_path / "deep" / "cache")
    assert (tmp_path / "deep" / "cache" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f0688")


def test_the_command_shows_and_clears_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path, capture="job\x1b[31m")
    assert main(["cache", "show", str(tmp_path), "--lang", "en"]) == 0
    said = capsys.readouterr().out
    assert "entries: 6, captures: 1" in said and "UTC" in said and "\x1b" not in said
    assert main(["cache", "clear", str(tmp_path), "--lang", "zh"]) == 0
    assert "已删除 6 条缓存" in capsys.readouterr().out
    assert main(["cache", "show", str(tmp_path), "--lang", "en"]) == 0
    assert "entries: 0" in capsys.readouterr().out


def test_the_command_wants_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "advisor.yaml").write_text("language: en\n")
    assert main(["cache", "show", "--config", str(tmp_path / "advisor.yaml")]) == 2
    assert "no cache is named" in capsys.readouterr().err
    assert main(["cache", "clear", str(tmp_path / "nothing")]) == 2


def test_what_is_no_folder_is_not_said_to_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["cache", "show", str(tmp_path / "file"), "--lang", "en"]) == 2
    assert "is no folder" in capsys.readouterr().err


def test_a_folder_that_cannot_be_cleared_is_told_with_what_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    assert main(["cache", "clear", str(tmp_path), "--lang", "en"]) == 2
    said = capsys.readouterr().err
    assert "cannot be cleared: permission denied" in said and "who may write into the folder" in said


def test_settings_name_the_folder_beside_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "advisor.yaml").write_text("cache: {folder: kept, size: 20GiB}\nlanguage: en\n")
    filled(tmp_path / "kept")
    assert main(["cache", "show", "--config", str(tmp_path / "advisor.yaml")]) == 0
    assert "entries: 6" in capsys.readouterr().out
