# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

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


MINDSPORE_RECORD = """\
Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type
MindSpore,1736412474607990.240,1048.576,67108.864,1048.576,NPU:0
APP,1736412474607990.240,0.0,67108.864,0.0,NPU:0
"""
PYTORCH_RECORD = """\
Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type
PTA,1736412474607990.240\t,1024.0,65536.0,1024.0,897357296,NPU:0
APP,1736412474607990.240\t,,65536.0,,,NPU:0
"""
OLD_PYTORCH_RECORD = """\
Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type
PTA,1736412474607990.240,1024.0,65536.0,NPU:0
APP,1736412474607990.240,,65536.0,NPU:0
"""


@pytest.mark.parametrize("record", [MINDSPORE_RECORD, PYTORCH_RECORD, OLD_PYTORCH_RECORD])
def test_a_megabyte_is_what_its_writer_means_by_it(tmp_path: Path, record: str) -> None:
    """MindSpore divides KB of 1024 bytes by a thousand, and fills in zeros for what it does not know of the process."""
    path = tmp_path / "memory_record.csv"
    path.write_text(record, encoding="utf-8")
    folder = Folder(rank=0, root=tmp_path, output=tmp_path, files={path.name: path})
    own, process = of(MEMORY_USES.ways["text"], folder)
    assert (own["allocated_bytes"], own["reserved_bytes"]) == (pytest.approx(2.0**30), pytest.approx(2.0**36))
    assert (process["component"], process["reserved_bytes"]) == ("APP", pytest.approx(2.0**36))
    assert process["allocated_bytes"] is None and process["active_bytes"] is None


def held(rows: str) -> str:
    """A record of rows `component moment reserved allocated`, in MB."""
    cells = [row.split() for row in rows.strip().splitlines()]
    lines = [f"{name},{time},{used},{reserved},," for name, time, reserved, used in cells]
    heading = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr"
    return "\n".join([heading, *lines, ""])


PROCESS = "APP 1 2000 0\nAPP 9 2100 0\n"


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ("PTA 2 1400 900\nPTA 3 70000 900\nPTA 4 1400 900\n" + PROCESS, {"PTA": (None, 900)}),
        ("PTA 2 1400 900\nPTA 3 1400 70000\nPTA 4 1400 900\n" + PROCESS, {"PTA": (1400, None)}),
        ("PTA 2 1400 900\nPTA 3 4100 900\nPTA 4 1400 900\n" + PROCESS, {}),  # between two looks at the process
        ("PTA 2 1400 900\nPTA 30 70000 900\nPTA 4 1400 900\n" + PROCESS, {}),  # nobody looked at it any more
        ("PTA 2 70000 900\nPTA 3 70000 900\nPTA 4 1400 900\n" + PROCESS, {}),  # the process is told in another way
        ("PTA 2 1400 900\nPTA 3 1400 900\nAPP 1 0 0\nAPP 9 0 0\n", {}),
        (
            "PTA 2 1400 900\nPTA 3 70000 900\nPTA 4 1400 900\nPTA+GE 2 1400 900\nPTA+GE 3 1400 900\nPTA+GE 4 1400 900",
            {"PTA": (None, 900)},
        ),
        (
            "PTA 2 1400 900\nPTA 3 1400 900\nPTA 4 1400 900\nPTA+GE 2 1400 900\nPTA+GE 3 70000 900\nPTA+GE 4 1400 900",
            {"PTA+GE": (None, 900)},
        ),
        ("PTA 2 1400 900\nPTA 3 1000000000 900", {"PTA": (None, 900)}),  # alone, but no device has so much
        ("PTA 2 1400 900\nPTA 3 70000 900", {}),
    ],
)
def test_memory_that_there_was_not_is_told_and_does_not_count(
    rows: str, wrong: dict[str, tuple[float | None, float | None]], tmp_path: Path
) -> None:
    path = tmp_path / "memory_record.csv"
    path.write_text(held(rows), encoding="utf-8")
    folder = Folder(rank=0, root=tmp_path, output=tmp_path, files={path.name: path})
    seen = of(MEMORY_USES.ways["text"], folder)
    found = {
        str(row["component"]): tuple(
            None if row[name] is None else row[name] / 2**20 for name in ("reserved_bytes", "allocated_bytes")
        )
        for row in seen
        if row["reserved_bytes"] is None or row["allocated_bytes"] is None
    }
    assert found == wrong
    assert [(note.what.code, note.rows) for note in folder.notes.all()] == [("memory_impossible", 1)] * len(wrong)


def test_no_allocator_holds_more_than_a_device_of_that_name_where_the_process_held_less(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"""
            CREATE TABLE NPU_INFO(id INT, name TEXT);
            INSERT INTO NPU_INFO VALUES (0, 'Ascend910B3');
            CREATE TABLE MEMORY_RECORD(component TEXT, timestampNs INT, totalAllocated INT, totalReserved INT);
            INSERT INTO MEMORY_RECORD VALUES
                ('PTA', 100, 1, {40 << 30}), ('PTA', 200, 1, {65 << 30}), ('PTA', 300, 1, {41 << 30});
            CREATE TABLE NPU_MEM(type TEXT, timestampNs INT, hbm INT);
            INSERT INTO NPU_MEM VALUES ('app', 50, {45 << 30}), ('app', 350, {45 << 30});
        """)
    folder = Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path})
    seen = [row["reserved_bytes"] for row in of(MEMORY_USES.ways["database"], folder) if row["component"] == "PTA"]
    assert seen == [float(40 << 30), None, float(41 << 30)]
    (note,) = folder.notes.all()
    assert (note.file, note.what.code, note.rows, note.share) == (path.name, "memory_impossible", 1, 0.2)


def test_the_memory_of_the_process_is_read_from_a_database_without_allocators(tmp_path: Path) -> None:
    path = tmp_path / "ascend_mindspore_profiler_0.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO STRING_IDS VALUES (1, 'app'), (2, 'device');
            CREATE TABLE NPU_MEM(type INT, ddr INT, hbm INT, timestampNs INT, deviceId INT);
            INSERT INTO NPU_MEM VALUES (1, 0, 4096, 100, 0), (2, 0, 8192, 100, 0);
        """)
    folder = Folder(rank=0, root=tmp_path, output=tmp_path, databases={"profiler": path})
    (seen,) = of(MEMORY_USES.ways["database"], folder)
    assert (seen["component"], seen["reserved_bytes"], seen["time_ns"]) == ("APP", 4096.0, 100)


def test_an_allocation_before_the_recording_has_no_time_in_a_text_file_either(tmp_path: Path) -> None:
    path = tmp_path / "operator_memory.csv"
    path.write_text(
        "Name,Size(KB),Allocation Time(us),Release Time(us)\n"
        "aten::empty,0.5,1736412474720984.920\t,\n"
        "aten::empty,0.5,,1736412474720984.920\t\n"
        "aten::empty,0.5,-1,1736412474720984.920\t\n"
        "Add,0.5,1736412474720984.92,N/A\n",
        encoding="utf-8",
    )
    folder = Folder(rank=0, root=tmp_path, output=tmp_path, files={path.name: path})
    moment = 1736412474720984920
    assert [(row["allocated_ns"], row["released_ns"]) for row in of(OPERATOR_MEMORY.ways["text"], folder)] == [
        (moment, None), (None, moment), (None, moment), (moment, None),
    ]  # fmt: skip
    assert not folder.notes.all()
