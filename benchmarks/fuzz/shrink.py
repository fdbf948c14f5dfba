# SPDX-License-Identifier: Apache-2.0
"""A capture with few rows, so that one input costs milliseconds: what is left has every kind of row it had."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.fuzz.captures import Files

_KEPT_TABLES = 400
"""Rows of a table that names or places others; all of them are kept up to here."""
_NAMING = ("STRING_IDS", "ENUM_", "CONNECTION_IDS")


def shrink_capture(files: Files, rows: int) -> Files:
    """Each table, list and timeline with about so many rows of each kind."""
    return {name: _shrink_file(name, held, rows) if isinstance(held, bytes) else held for name, held in files.items()}


def _shrink_file(name: str, content: bytes, rows: int) -> bytes:
    if name.endswith(".csv"):
        return b"".join(content.splitlines(keepends=True)[: rows + 1])
    if name.endswith(".db"):
        return _shrink_database(content, rows)
    if name.endswith(".json"):
        with contextlib.suppress(ValueError):
            return json.dumps(_shrink_json(json.loads(content), rows)).encode()
    return content


def _shrink_json(held: Any, rows: int) -> Any:
    if isinstance(held, list) and held and isinstance(held[0], dict) and "ph" in held[0]:
        return _shrink_timeline(held, rows)
    if isinstance(held, dict):
        return {key: _shrink_json(inner, rows) for key, inner in list(held.items())[: max(rows, 24)]}
    return held


def _shrink_timeline(events: list[dict[str, Any]], rows: int) -> list[dict[str, Any]]:
    """The first events of each kind, layer and name, and both ends of the links that are kept."""
    seen: Counter[tuple[str, ...]] = Counter()
    kept, links = [], set()
    for event in events:
        layer = str(event.get("ph")), str(event.get("cat", ""))
        named = (*layer, str(event.get("name", "")).split("#")[0].split("@")[0][:12])
        link = (layer[1], str(event.get("id"))) if layer[0] in ("s", "f") else None
        if link not in links and (seen[layer] >= 3 * rows or seen[named] >= (rows // 2 if link else max(rows // 4, 2))):
            continue
        links |= {link} - {None}
        seen.update((layer, named))
        kept.append(event)
    return kept


def _shrink_database(content: bytes, rows: int) -> bytes:
    """Few rows of each table, on pages as small as they get, so that there are inner pages all the same."""
    with tempfile.TemporaryDirectory(prefix="fuzz-shrink-") as folder:
        path = Path(folder) / "x.db"
        path.write_bytes(content[:18] + b"\1\1" + content[20:])  # no log beside it
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
            for table in _tables(base):
                most = _KEPT_TABLES if table.startswith(_NAMING) else rows
                with contextlib.suppress(sqlite3.Error):
                    base.execute(f'DELETE FROM "{table}" WHERE rowid NOT IN (SELECT rowid FROM "{table}" LIMIT {most})')
            if "STRING_IDS" in _tables(base):
                _drop_unused_names(base)
            base.execute("PRAGMA page_size = 512")
            base.execute("VACUUM")
        return path.read_bytes()


def _tables(base: sqlite3.Connection) -> list[str]:
    return [str(name) for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]


def _drop_unused_names(base: sqlite3.Connection) -> None:
    """Only the texts that some cell may point at."""
    used: set[int] = set()
    for table in _tables(base):
        if table != "STRING_IDS":
            with contextlib.suppress(sqlite3.Error):
                used |= {
                    cell for row in base.execute(f'SELECT * FROM "{table}"') for cell in row if isinstance(cell, int)
                }
    known = [row[0] for row in base.execute("SELECT id FROM STRING_IDS")]
    base.executemany("DELETE FROM STRING_IDS WHERE id = ?", [(one,) for one in known if one not in used])
