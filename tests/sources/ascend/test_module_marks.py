# SPDX-License-Identifier: Apache-2.0
"""Calls of modules and links to gradients, from the timeline and from the database."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.pipeline import modules, open_profile
from advisor.sources.ascend.autograd_calls import AUTOGRAD_CALLS
from advisor.sources.ascend.gradient_links import GRADIENT_LINKS
from advisor.sources.ascend.modules import MODULE_RANGES
from advisor.sources.ascend.operator_links import OPERATOR_LINKS
from advisor.sources.ascend.reading import Folder
from tests.sources.traces import Json, captured, event, lane, of

MARKS = (
    "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, message INTEGER, "
    "globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER"
)
CALLS = "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, type INTEGER"
NONE = 4_000_000_000
OPERATOR, TRACE = 50001, 50003


def marked(name: str, ts: str, dur: float, domain: str = "Module", pid: int = 5) -> Json:
    return event(name, ts, dur, pid=pid, tid=77, args={"event_type": "start/end", "domain": domain})


def python(name: str, ts: str, dur: float) -> Json:
    return event(name, ts, dur, tid=77, cat="python_function", args={"Python id": 1})


def link(phase: str, number: object, ts: str) -> Json:
    return {"ph": phase, "bp": "e", "name": "fwdbwd", "cat": "fwdbwd", "id": number, "pid": 1, "tid": 77, "ts": ts}


def database(root: Path, marks: Iterable[tuple[object, ...]] = (), calls: Iterable[tuple[object, ...]] = ()) -> Folder:
    """A capture with marks (start, end, type, message, domain) and calls (start, end, connection, name, type)."""
    path = root / "ascend_pytorch_profiler_3.db"
    connection = sqlite3.connect(path)
    ids: dict[str, int] = {}
    connection.execute(f"CREATE TABLE MSTX_EVENTS ({MARKS})")
    connection.execute(f"CREATE TABLE PYTORCH_API ({CALLS})")
    connection.execute("CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER)")
    connection.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
    for start, end, kind, message, domain in marks:
        texts = [ids.setdefault(str(text), len(ids)) for text in (message, domain)]
        row = (start, end, kind, 0, 0, texts[0], 9 << 32 | 77, 9 << 32 | 77, texts[1], NONE)
        connection.execute("INSERT INTO MSTX_EVENTS VALUES (?,?,?,?,?,?,?,?,?,?)", row)
    for start, end, number, name, kind in calls:
        row = (start, end, 9 << 32 | 77, number, ids.setdefault(str(name), len(ids)), kind)
        connection.execute("INSERT INTO PYTORCH_API VALUES (?,?,?,?,?,?)", row)
    connection.executemany("INSERT INTO STRING_IDS VALUES (?,?)", [(number, text) for text, number in ids.items()])
    connection.commit()
    connection.close()
    return Folder(rank=3, root=root, output=root, databases={"profiler": path})


def said(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("thread", "source", "name", "start_ns", "end_ns")) for row in rows]


def test_marks_of_the_domain_are_read_from_the_timeline_and_those_on_the_device_are_not(tmp_path: Path) -> None:
    events = [
        lane(5, "python"),
        lane(6, "Ascend Hardware"),
        marked("MLP", "100.5", 8),
        marked("MLP", "200", 8, pid=6),
        marked("loss", "300", 1, domain="default"),
        python("nn.Module: MLP_0", "100", 9),
    ]
    rows = of(MODULE_RANGES.ways["text"], captured(tmp_path, events))
    assert said(rows) == [(77, "mark", "MLP", 100_500, 108_500)]


def test_without_marks_calls_of_modules_on_the_python_stack_count(tmp_path: Path) -> None:
    events = [python("nn.Module: MLP_0", "100", 9), python("train.py(3): step", "90", 40), event("nn.Module: x", "1")]
    rows = of(MODULE_RANGES.ways["text"], captured(tmp_path, events))
    assert said(rows) == [(77, "python", "MLP_0", 100_000, 109_000)]


def test_a_timeline_without_either_holds_no_modules(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(MODULE_RANGES.ways["text"], captured(tmp_path, [event("aten::mm", "1", cat="cpu_op")]))


def test_marks_of_the_domain_are_read_from_the_database_where_they_have_an_end(tmp_path: Path) -> None:
    marks = [
        (100, 900, 2, "MLP", "Module"),
        (110, 120, 1, "Norm", "Module"),
        (130, 130, 0, "mark", "Module"),
        (140, 150, 2, "other", "default"),
        (160, None, 2, "no end", "Module"),
        (170, 160, 2, "ends before", "Module"),
        ("soon", 180, 2, "no begin", "Module"),
    ]
    rows = of(MODULE_RANGES.ways["database"], database(tmp_path, marks))
    assert said(rows) == [(77, "mark", "MLP", 100, 900), (77, "mark", "Norm", 110, 120)]


def test_without_marks_the_database_tells_calls_on_the_python_stack(tmp_path: Path) -> None:
    calls = [("100", "900", None, "nn.Module: <b>MLP</b>_0", TRACE), ("100", "900", None, "f.py(1): g", TRACE)]
    rows = of(MODULE_RANGES.ways["database"], database(tmp_path, calls=calls))
    assert said(rows) == [(77, "python", "<b>MLP</b>_0", 100, 900)]


def test_an_arrow_to_the_backward_pass_belongs_to_the_last_start_of_its_number(tmp_path: Path) -> None:
    events = [
        event("aten::mm", "10", cat="cpu_op"),
        *(link("s", 4, "10"), link("f", 4, "30"), link("s", 4, "50"), link("f", 4, "70")),
        *(link("s", 5, "11"), link("f", 6, "31"), link("s", "no number", "12"), link("f", 7, "5"), link("s", 7, "6")),
    ]
    folder = captured(tmp_path, events)
    rows = of(GRADIENT_LINKS.ways["text"], folder)
    pairs = [(row["forward_start_ns"], row["backward_start_ns"]) for row in rows]
    assert pairs == [(10_000, 30_000), (50_000, 70_000)]
    (note,) = (note for note in folder.notes.all() if note.what.code == "torn_gradient_arrows")
    assert (note.rows, note.share) == (2, 0.5)  # of 4, 5, 6 and 7 two have one end


def test_operators_that_share_a_number_in_the_database_are_forward_and_backward(tmp_path: Path) -> None:
    calls = [
        ("10", "20", 1, "aten::mm", OPERATOR),
        ("60", "70", 2, "MmBackward0", OPERATOR),
        ("30", "31", 3, "Enqueue", 50002),
        ("32", "33", 4, "Dequeue@mm", 50002),
    ]
    folder = database(tmp_path, calls=calls)
    with sqlite3.connect(folder.databases["profiler"]) as connection:
        pairs = [(1, 900), (2, 900), (3, 901), (4, 901), (1, 902)]
        connection.executemany("INSERT INTO CONNECTION_IDS VALUES (?,?)", pairs)
    rows = of(GRADIENT_LINKS.ways["database"], folder)
    assert [(row["forward_start_ns"], row["backward_start_ns"]) for row in rows] == [(10, 60)]


NUMBERED = [(77, 18, False, 10_000, 15_000), (78, 18, True, 50_000, 55_000)]


def numbered(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("thread", "number", "backward", "start_ns", "end_ns")) for row in rows]


def test_numbers_of_autograd_are_read_from_the_timeline(tmp_path: Path) -> None:
    def call(name: str, ts: str, tid: int, number: int, forward: int) -> Json:
        return event(name, ts, 5, tid=tid, cat="cpu_op", args={"Sequence number": number, "Fwd thread id": forward})

    events = [
        call("MulBackward0", "50", 78, 18, 1),
        call("aten::mul", "10", 77, 18, 0),
        call("aten::t", "20", 77, -1, 0),
    ]
    assert numbered(of(AUTOGRAD_CALLS.ways["text"], captured(tmp_path, events))) == NUMBERED


def test_numbers_of_autograd_are_read_from_the_database(tmp_path: Path) -> None:
    folder = database(tmp_path)
    rows = [
        ("50000", "55000", 9 << 32 | 78, OPERATOR, 18, 1),
        ("10000", "15000", 9 << 32 | 77, OPERATOR, 18, 0),
        ("20000", "25000", 9 << 32 | 77, OPERATOR, -1, 0),
        ("20000", "25000", 9 << 32 | 77, TRACE, 4, 0),
        ("20000", None, 9 << 32 | 77, OPERATOR, 4, 0),
        ("20000", "25000", 9 << 32 | 77, OPERATOR, None, None),
    ]
    with sqlite3.connect(folder.databases["profiler"]) as connection:
        for column in ("sequenceNumber", "fwdThreadId"):
            connection.execute(f"ALTER TABLE PYTORCH_API ADD COLUMN {column} INTEGER")
        columns = "startNs, endNs, globalTid, type, sequenceNumber, fwdThreadId"
        connection.executemany(f"INSERT INTO PYTORCH_API ({columns}) VALUES (?,?,?,?,?,?)", rows)
    assert numbered(of(AUTOGRAD_CALLS.ways["database"], folder)) == NUMBERED


def test_a_database_without_numbers_of_autograd_holds_none(tmp_path: Path) -> None:
    folder = database(tmp_path, calls=[("10", "20", 1, "aten::mm", OPERATOR)])
    with pytest.raises(FactMissing):
        of(AUTOGRAD_CALLS.ways["database"], folder)


def capture_with_marks(real_data: Path, to: Path) -> Path:
    """A copy of a real capture in which every call of a module on the Python stack is a mark too."""
    shutil.copytree(real_data / "msinsight_pytorch_matrix/db/level1/rank0_ascend_pt", to)
    (path,) = to.rglob("ascend_pytorch_profiler*.db")
    path.chmod(0o600)
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE MSTX_EVENTS ({MARKS})")
        (top,) = connection.execute("SELECT max(id) FROM STRING_IDS").fetchone()
        connection.execute("INSERT INTO STRING_IDS VALUES (?, 'Module')", (top + 1,))
        connection.execute(
            "INSERT INTO STRING_IDS SELECT id + ?, substr(value, 12) FROM STRING_IDS WHERE value LIKE 'nn.Module: %'",
            (top + 2,),
        )
        connection.execute(
            "INSERT INTO MSTX_EVENTS SELECT p.startNs, p.endNs, 2, 0, 0, p.name + ?, p.globalTid, p.globalTid, ?, ? "
            "FROM PYTORCH_API p JOIN STRING_IDS s ON s.id = p.name WHERE s.value LIKE 'nn.Module: %'",
            (top + 2, top + 1, NONE),
        )
    connection.close()
    return to


def test_marks_and_the_python_stack_of_a_real_capture_tell_the_same(real_data: Path, tmp_path: Path) -> None:
    stack = modules(open_profile(real_data / "msinsight_pytorch_matrix/db/level1/rank0_ascend_pt")).ranks[0]
    marks = modules(open_profile(capture_with_marks(real_data, tmp_path / "rank0_ascend_pt"))).ranks[0]
    assert (stack.source, marks.source) == ("python", "mark")
    assert marks.tree == stack.tree
    assert marks.operators == stack.operators
    assert stack.backward == 27
    assert stack.linked_share == 1


@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
def test_text_and_database_of_one_program_name_the_same_modules_and_operators(real_data: Path, level: str) -> None:
    told = [
        modules(open_profile(real_data / f"msinsight_pytorch_matrix/{export}/{level}/rank0_ascend_pt")).ranks[0]
        for export in ("text", "db")
    ]
    names = [[(row.parent, row.module, row.operator, row.phase) for row in one.operators] for one in told]
    assert names[0] == names[1]
    assert [node.path for node in told[0].tree] == [node.path for node in told[1].tree]


def test_an_operator_is_linked_to_every_task_of_its_connection(tmp_path: Path) -> None:
    folder = database(tmp_path, calls=[("10", "20", 1, "aten::mm", OPERATOR)])
    with sqlite3.connect(folder.databases["profiler"]) as connection:
        connection.execute("INSERT INTO CONNECTION_IDS VALUES (1, 7)")
        connection.execute(
            "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, "
            "globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, "
            "taskId INTEGER, modelId INTEGER)"
        )
        connection.execute("CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER)")
        for task, start in ((0, 100), (1, 200)):
            connection.execute("INSERT INTO TASK VALUES (?,?,0,7,?,0,0,0,2,0,0)", (start, start + 9, task))
            connection.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (0, ?)", (task,))
    rows = of(OPERATOR_LINKS.ways["database"], folder)
    assert [(row["operator_start_ns"], row["device_start_ns"]) for row in rows] == [(10, 100), (10, 200)]
