# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from advisor.sources.ascend.memory import MEMORY_USES
from advisor.sources.ascend.reading import Folder
from tests.sources.traces import of


def test_a_size_below_zero_in_a_database_is_not_known_and_told(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'PTA');
            CREATE TABLE MEMORY_RECORD(
                component INT, timestampNs INT, totalAllocated INT, totalReserved INT, totalActive INT
            );
            INSERT INTO MEMORY_RECORD VALUES (1, 100, 0, 4096, 0), (1, 200, -1, 8192, 5);
        """)
    folder = Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path})
    seen = of(MEMORY_USES.ways["database"], folder)
    assert [(row["allocated_bytes"], row["reserved_bytes"]) for row in seen] == [(0.0, 4096.0), (None, 8192.0)]
    (note,) = folder.notes.all()
    assert (note.file, note.rows, note.share) == (path.name, 1, 0.5)
