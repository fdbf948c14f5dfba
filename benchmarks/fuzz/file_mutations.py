# SPDX-License-Identifier: Apache-2.0
"""Files that are missing, there twice, exchanged, or no files at all; logs beside databases."""

from __future__ import annotations

import gzip
import sqlite3
import tempfile
from pathlib import Path, PurePath
from random import Random

from benchmarks.fuzz.captures import Files, Special


def remove_file(files: Files, name: str, chance: Random) -> Files:
    """Is not there."""
    return {path: held for path, held in files.items() if path != name}


def remove_folder(files: Files, name: str, chance: Random) -> Files:
    """Its whole folder is not there."""
    inside = str(PurePath(name).parent)
    return {path: held for path, held in files.items() if not path.startswith(inside)} or files


def put_special(files: Files, name: str, chance: Random) -> Files:
    """A folder, a pipe or a link lies in its place."""
    return files | {name: chance.choice(list(Special))}


def exchange_contents(files: Files, name: str, chance: Random) -> Files:
    """Holds what another file holds, and the other one what it held or the same."""
    other = chance.choice(sorted(files))
    return files | {name: files[other], other: chance.choice((files[name], files[other]))}


def copy_under_another_name(files: Files, name: str, chance: Random) -> Files:
    """Lies there twice: beside itself, in another folder, or as a capture of its own."""
    path = PurePath(name)
    places = (
        path.with_name(f"copy of {path.name}"), path.with_name(path.name.upper()), PurePath(path.name),
        PurePath("other_ascend_pt") / path.name,
        PurePath("other_1_20250109084754000_ascend_ms/ASCEND_PROFILER_OUTPUT") / path.name,
        path.with_name("ascend_pytorch_profiler_7.db"),
        path.with_name("trace_view.json"), PurePath("PROF_000001_20250109_ABC/device_0") / path.name,
        path.with_name("profiler_info_7.json"),
    )  # fmt: skip
    return {str(chance.choice(places)): files[name]} | files


def rename_file(files: Files, name: str, chance: Random) -> Files:
    """Has another name."""
    path = PurePath(name)
    renamed = chance.choice(
        (path.name.upper(), path.name + ".bak", "x" * 200, "a\nb.csv", "\udcff.json", "trace_view.json", "-o.db")
    )
    return {str(path.with_name(renamed)) if one == name else one: held for one, held in files.items()}


def pack_file(files: Files, name: str, chance: Random) -> Files:
    """Is packed, under its own name or one that says so."""
    held = files[name]
    if isinstance(held, Special):
        return files
    return remove_file(files, name, chance) | {name + chance.choice(("", ".gz")): gzip.compress(held, 1, mtime=0)}


def add_log(files: Files, name: str, chance: Random) -> Files:
    """Has a write-ahead log beside it, whole or damaged, or a journal of nothing."""
    held = files[name]
    if isinstance(held, Special) or not held.startswith(b"SQLite format 3"):
        return files
    if chance.random() < 0.2:
        return files | {name + chance.choice(("-wal", "-journal", "-shm")): chance.randbytes(chance.choice((10, 4152)))}
    base, log = _with_log(held, chance)
    damaged = bytearray(log)
    for _ in range(chance.choice((0, 0, 1, 10)) if log else 0):
        damaged[chance.randrange(len(log))] = chance.randrange(256)
    return files | {name: base, name + "-wal": bytes(damaged[: chance.choice((len(log), len(log), len(log) // 2))])}


def _with_log(held: bytes, chance: Random) -> tuple[bytes, bytes]:
    """A database and its log, with rows changed that stand in the log alone."""
    with tempfile.TemporaryDirectory(prefix="fuzz-log-") as folder:
        path = Path(folder) / "x.db"
        path.write_bytes(held)
        base = sqlite3.connect(path)
        try:
            base.execute("PRAGMA journal_mode = wal")
            names = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            table = str(chance.choice(sorted(map(str, names)))).replace('"', '""')
            base.execute(
                chance.choice(
                    (
                        f'DELETE FROM "{table}"',
                        f'INSERT INTO "{table}" SELECT * FROM "{table}"',
                        f'DROP TABLE "{table}"',
                    )
                )
            )
            base.commit()
            log = path.with_name("x.db-wal")
            return path.read_bytes(), log.read_bytes() if log.exists() else b""
        except (sqlite3.Error, UnicodeError, IndexError):
            return held, b""
        finally:
            base.close()
