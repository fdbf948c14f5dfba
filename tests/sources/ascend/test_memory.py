# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from advisor.sources.ascend.memory import MEMORY_USES, MODULE_MEMORY, OPERATOR_MEMORY
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


def test_memory_of_no_module_is_not_that_of_a_module_called_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE ENUM_MODULE(id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO ENUM_MODULE VALUES (3, 'RUNTIME');
            CREATE TABLE NPU_MODULE_MEM(moduleId INT, timestampNs INT, totalReserved INT, deviceId INT);
            INSERT INTO NPU_MODULE_MEM VALUES (3, 100, 4096, 0), (NULL, 200, 8192, 0), (55, 300, 1024, 0);
        """)
    folder = Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path})
    seen = of(MODULE_MEMORY.ways["database"], folder)
    assert [(row["component"], row["reserved_bytes"]) for row in seen] == [
        ("RUNTIME", 4096.0), (None, 8192.0), ("55", 1024.0),
    ]  # fmt: skip


def test_memory_that_was_not_given_back_while_it_was_recorded_has_no_such_time(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'aten::empty');
            CREATE TABLE OP_MEMORY(name INT, size INT, allocationTime INT, releaseTime INT);
            INSERT INTO OP_MEMORY VALUES (1, 512, 100, 0), (1, 512, 0, 300), (1, 512, 100, 300), (1, 512, -1, NULL);
        """)
    folder = Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path})
    seen = of(OPERATOR_MEMORY.ways["database"], folder)
    assert [(row["allocated_ns"], row["released_ns"]) for row in seen] == [
        (100, None), (None, 300), (100, 300), (None, None),
    ]  # fmt: skip
