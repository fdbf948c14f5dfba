# SPDX-License-Identifier: Apache-2.0
"""Nothing a file holds ends the reading of event facts: a way gives a table, or says that it cannot."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.files.damage_notes import Unreadable

EVENTS = tuple(reading for reading in READINGS if reading.fact.heavy or reading.fact.among_events)
TABLES = {
    "STRING_IDS": "id value",
    "RANK_DEVICE_MAP": "rankId deviceId",
    "ENUM_API_TYPE": "id name",
    "STEP_TIME": "id startNs endNs",
    "AICORE_FREQ": "deviceId timestampNs freq",
    "TASK": "startNs endNs deviceId connectionId globalTaskId taskType streamId",
    "COMPUTE_TASK_INFO": "name globalTaskId blockDim taskType opType inputShapes",
    "COMMUNICATION_OP": "opName startNs endNs connectionId groupName dataType algType count",
    "CANN_API": "startNs endNs type globalTid connectionId name",
    "PYTORCH_API": "startNs endNs globalTid connectionId name inputShapes callchainId type",
    "CONNECTION_IDS": "id connectionId",
    "PYTORCH_CALLCHAINS": "id stack stackDepth",
    "TASK_PMU_INFO": "globalTaskId name value",
    "MEMCPY_INFO": "globalTaskId size memcpyOperation",
}
CELLS = (
    st.none()
    | st.integers(0, 6)
    | st.sampled_from([-1, 2**63 - 1, -(2**63), 50001, 50002, 50003, 20000, 10**18, 4294967295])
    | st.floats()
    | st.sampled_from(
        ["", "N/A", "launch", "Enqueue@x", "MEMCPY_ASYNC", "hcom_send__1_2", "aic_mac_ratio", "é\udcff"[:1]]
    )
    | st.binary(max_size=3)
)


@st.composite
def databases(draw: st.DrawFn) -> dict[str, tuple[list[str], list[list[object]]]]:
    """Some of the tables, some of their columns, cells of any kind."""
    found = {}
    for table, columns in TABLES.items():
        if draw(st.integers(0, 5)):
            kept = [column for column in columns.split() if draw(st.integers(0, 9))]
            if kept:
                row = st.lists(CELLS, min_size=len(kept), max_size=len(kept))
                found[table] = (kept, draw(st.lists(row, max_size=4)))
    return found


def give_or_say(way: Any, folder: Folder) -> None:
    """Whatever happens, it is a table or a reason; and reading the rows of the table works. No way is a reason, too."""
    if way is None:
        return
    try:
        found = way(folder)
    except (FactMissing, Unreadable):
        return
    assert isinstance(found, Table)
    assert len(found.rows()) == len(found)


@settings(max_examples=50)
@given(databases())
def test_a_database_of_anything_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, tuple[list[str], list[list[object]]]]
) -> None:
    root = tmp_path_factory.mktemp("d")
    path = root / "ascend_pytorch_profiler_0.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE OTHER(x)")
    for table, (columns, rows) in content.items():
        connection.execute(f"CREATE TABLE {table}({', '.join(columns)})")
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    connection.commit()
    connection.close()
    folder = Folder(rank=0, root=root, output=root, databases={"profiler": path})
    for reading in EVENTS:
        give_or_say(reading.ways.get("database"), folder)
    folder.release()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
VALUES = {
    "ph": st.sampled_from(["X", "M", "s", "f", "C", "i"]) | JSON,
    "name": st.sampled_from(["process_name", "AI Core Freq", "Node@launch", "hcom_x", "ProfilerStep#3"]) | JSON,
    "cat": st.sampled_from(["cpu_op", "HostToDevice", "enqueue"]) | JSON,
    "pid": st.integers(0, 2) | JSON,
    "tid": st.integers(0, 2) | JSON,
    "ts": st.sampled_from(["1.000", "1736412474712651.500", 7.5]) | JSON,
    "dur": st.sampled_from([0, 1.5, 1e9]) | JSON,
    "id": st.sampled_from(["7", 2**80]) | JSON,
    "args": st.fixed_dictionaries(
        {},
        optional={
            "name": st.sampled_from(["Ascend Hardware", "CANN", "HCCL"]) | JSON,
            "Task Type": st.sampled_from(["AI_CORE", "EVENT_WAIT_SQE"]) | JSON,
            "connection_id": JSON,
            "Physic Stream Id": JSON,
            "MHz": JSON,
            "count": JSON,
            "data_type": JSON,
            "data size(Byte)": JSON,
            "memcpy direction": JSON,
        },
    )
    | JSON,
}


@settings(max_examples=60)
@given(st.lists(st.fixed_dictionaries({}, optional=VALUES), min_size=1, max_size=8))
def test_a_timeline_of_anything_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, object]]
) -> None:
    root = tmp_path_factory.mktemp("t")
    path = root / "trace_view.json"
    path.write_text(json.dumps(events), encoding="utf-8")
    folder = Folder(rank=0, root=root, output=root, files={path.name: path})
    for reading in EVENTS:
        give_or_say(reading.ways.get("text"), folder)


def test_the_emptied_and_tiny_databases_give_tables_or_reasons(real_data: Path) -> None:
    for path in sorted((real_data / "msinsight_server_testdata").rglob("*.db")):
        folder = Folder(rank=0, root=path.parent, output=path.parent, databases={"profiler": path, "analysis": path})
        for reading in EVENTS:
            give_or_say(reading.ways.get("database"), folder)
        folder.release()


def test_timelines_of_other_years_give_tables_or_reasons(real_data: Path) -> None:
    for path in sorted(real_data.rglob("trace_view.json")):
        folder = Folder(rank=0, root=path.parent, output=path.parent, files={"trace_view.json": path})
        for reading in EVENTS:
            give_or_say(reading.ways.get("text"), folder)
        assert not len(folder.notes), path
