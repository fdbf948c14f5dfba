# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts import read_table
from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.attribution import steps_of
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.ascend.steps import _mark_numbers, numbered_steps
from tests.sources.ascend.test_module_marks import MARKS as EVENTS
from tests.sources.traces import captured, event, of

Task = tuple[int, int, int]


def test_steps_are_numbered_as_the_job_numbers_them(tmp_path: Path) -> None:
    trace = [
        event("ProfilerStep#12", "20.000", 5.0, cat="cpu_op"),
        event("ProfilerStep#11", "10.000", 10.0, cat="cpu_op"),
        event("ProfilerStep#x", "1.000", 1.0, cat="cpu_op"),
        event("aten::add", "1.000", 1.0, cat="cpu_op"),
    ]
    rows = of(STEP_WINDOWS.ways["text"], captured(tmp_path, trace))
    assert [(row["step"], row["start_ns"], row["end_ns"]) for row in rows] == [
        (11, 10_000, 20_000),
        (12, 20_000, 25_000),
    ]


@pytest.mark.parametrize("scope", ["Python::PythonObserved::", "Other::Event::", ""])
def test_steps_that_mindspore_marks_bear_its_module_and_event_before_their_name(tmp_path: Path, scope: str) -> None:
    folder = captured(
        tmp_path,
        [
            event(f"{scope}ProfilerStep#11", "10.000", 10.0, cat=""),
            event(f"{scope}ProfilerStep#12", "20.000", 5.0, cat=""),
            event(f"{scope}ProfilerStep#x", "1.000", 1.0, cat=""),
            event(f"{scope}my ProfilerStep#9", "1.000", 1.0, cat=""),
        ],
    )
    assert [row["step"] for row in of(STEP_WINDOWS.ways["text"], folder)] == [11, 12]
    assert numbered_steps(folder) == (11, 12)


def test_a_step_that_ends_where_it_begins_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_3.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE STEP_TIME(id INT, startNs INT, endNs INT);
            INSERT INTO STEP_TIME VALUES (11, 100, 100), (12, 100, 200);
        """)
    folder = Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path})
    assert [row["step"] for row in of(STEP_WINDOWS.ways["database"], folder)] == [11, 12]
    (note,) = folder.notes.all()
    assert (note.file, note.rows) == (path.name, 1)
    assert str(note.what) == "STEP_TIME: endNs holds no usable value"


MARKS = [
    ("step 7", "default", 100, 180),
    ("step 8", "default", 200, 280),
    ("step 8", "default", 210, 220),  # a second of its number, as of another callback
    ("step 12", "default", 400, 480),
    ("step 9", "Module", 300, 380),
    ("step x", "default", 500, 580),
]


def marked_database(root: Path, marks: list[tuple[str, str, int, int]]) -> Folder:
    """What MindSpore keeps of a program that marks its steps: the database of msprof."""
    capture = root / "host_1_20250109084754000_ascend_ms"
    capture.mkdir()
    path = capture / "ascend_mindspore_profiler_3.db"
    texts = {text: number for number, text in enumerate({text for mark in marks for text in mark[:2]})}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE MSTX_EVENTS ({EVENTS})")
        connection.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
        connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(at, text) for text, at in texts.items()])
        for text, domain, start, end in marks:
            row = (start, end, 2, 0, 0, texts[text], 77, 77, texts[domain], 0)
            connection.execute("INSERT INTO MSTX_EVENTS VALUES (?,?,?,?,?,?,?,?,?,?)", row)
    return Folder(rank=3, root=capture, output=capture, databases={"profiler": path})


def test_steps_that_a_program_of_mindspore_marks_last_until_the_next_number_begins(tmp_path: Path) -> None:
    folder = marked_database(tmp_path, MARKS)
    rows = of(STEP_WINDOWS.ways["database"], folder)
    assert [(row["step"], row["start_ns"], row["end_ns"]) for row in rows] == [
        *((7, 100, 200), (8, 200, 280), (12, 400, 480)),
    ]
    assert numbered_steps(folder) == (7, 8, 12)


def test_steps_that_a_program_of_mindspore_marks_are_in_its_timeline_too(tmp_path: Path) -> None:
    def marked(*, called: bool) -> Folder:
        trace = [
            event(name, f"{start}", end - start, pid=5, args={"event_type": "start/end", "domain": domain})
            for name, domain, start, end in MARKS
        ]
        trace += [event("ProfilerStep#3", "50", 600)] if called else []
        found = captured(tmp_path, trace)
        return Folder(rank=3, root=tmp_path / "host_1_20250109084754000_ascend_ms", output=tmp_path, files=found.files)

    for called, expected in ((False, (7, 8, 12)), (True, (3,))):
        folder = marked(called=called)
        assert tuple(row["step"] for row in of(STEP_WINDOWS.ways["text"], folder)) == expected
        assert numbered_steps(folder) == expected


def test_a_database_of_mindspore_without_marks_of_steps_has_none(tmp_path: Path) -> None:
    folder = marked_database(tmp_path, MARKS[4:])
    with pytest.raises(FactMissing):
        of(STEP_WINDOWS.ways["database"], folder)
    assert numbered_steps(folder) == ()


def test_steps_are_known_where_the_timeline_is_all_there_is(tmp_path: Path) -> None:
    trace = [
        event("ProfilerStep#12", "20.000", 5.0, cat="cpu_op"),
        event("ProfilerStep#11", "10.000", 10.0, cat="cpu_op"),
        event("ProfilerStep#x", "1.000", 1.0, cat="cpu_op"),
        event("my ProfilerStep#9", "1.000", 1.0, cat="cpu_op"),
    ]
    assert numbered_steps(captured(tmp_path, trace)) == (11, 12)
    assert numbered_steps(Folder(rank=0, root=tmp_path, output=tmp_path)) == ()


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 10**18 - 1), max_size=6),
    st.integers(1, 40),
    st.sampled_from([b"", b"Python::PythonObserved::"]),
)
def test_marks_of_steps_are_found_wherever_a_text_is_cut(steps: list[int], length: int, scope: bytes) -> None:
    text = b",".join(b'{"name": "%sProfilerStep#%d"}' % (scope, step) for step in steps)
    parts = (text[at : at + length] for at in range(0, len(text), length))
    assert {int(number) for number in _mark_numbers(parts)} == set(steps)


def windows(borders: list[int]) -> Table[StepWindow]:
    steps = np.arange(1, len(borders))
    return Table.build(
        StepWindow, rank=np.zeros(len(steps)), step=steps, start_ns=np.array(borders[:-1]), end_ns=np.array(borders[1:])
    )


def plain(borders: list[int], tasks: list[Task], asked: int) -> int:
    """The step of a moment, one step after the other, the way the profiler goes about it."""
    for step, (start, end) in enumerate(itertools.pairwise(borders), 1):
        launched = sorted(task for task in tasks if start <= task[0] <= end)
        if not launched:
            continue
        first = min(task[1] for task in launched if task[0] == launched[0][0])
        last = max(task[2] for task in launched if task[0] == launched[-1][0])
        if first <= asked <= max(last, end):
            return step
    return MISSING


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 20), st.integers(0, 20)), max_size=15),
    st.lists(st.integers(0, 140), min_size=1, max_size=10),
)
def test_a_moment_belongs_to_the_first_step_whose_tasks_last_over_it(
    lengths: list[int], tasks: list[Task], asked: list[int]
) -> None:
    borders = np.cumsum([5, *lengths]).tolist()
    placed = [(host, host + delay, host + delay + took) for host, delay, took in tasks]
    host, start, end = (np.array([task[i] for task in placed], np.int64) for i in range(3))
    found = steps_of(windows(borders), host, start, end, np.array(asked))
    expected = [plain(borders, placed, moment) for moment in asked]
    assert found.tolist() == expected


def test_a_job_that_never_called_step_has_no_steps() -> None:
    moments = np.array([1, 2])
    none = read_table(StepWindow, "rank step start_ns end_ns")
    assert steps_of(none, moments, moments, moments, moments).tolist() == [MISSING, MISSING]
