# SPDX-License-Identifier: Apache-2.0
"""Names, cells, keys and lines of any length: read in bounded memory, and no table carries megabytes of a name."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts.base import MISSING, Column
from advisor.facts.table import Texts
from advisor.sources.ascend.communication import of_rank
from advisor.sources.files import chunks, csvfile, database, names, timeline
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.database import Database, open_readonly
from advisor.sources.files.names import LONGEST_NAME, bounded_name

LONG = "MatMul" * 100_000
OTHER = f"{LONG}V2"


def check_names(found: Texts | Iterable[str]) -> None:
    """Two long names stay two, begin as they did and are short."""
    one, other = found.names if isinstance(found, Texts) else found
    assert one != other
    assert one == bounded_name(LONG)
    assert one.startswith("MatMul")
    assert max(len(one), len(other)) < 300


@given(st.text(max_size=40), st.text(max_size=40), st.integers(0, 60))
def test_names_that_differ_stay_different_and_short_ones_stay(one: str, other: str, longest: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "LONGEST_NAME", longest)
        assert (bounded_name(one) == bounded_name(other)) == (one == other)
        assert bounded_name(one) == one or len(one) > longest


def test_the_longest_name_stays_as_it_is() -> None:
    assert bounded_name("x" * LONGEST_NAME) == "x" * LONGEST_NAME
    assert len(bounded_name("x" * LONGEST_NAME + "x")) < 300


def test_long_cells_of_a_text_table_become_short_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"Name,Count\n{LONG},1\n{OTHER},2\n")
    found = csvfile.read_columns(path, {"name": Column("A name.", "text")}, {"name": ["Name"]}, Notes())["name"]
    assert isinstance(found, Texts)
    check_names(found)


def test_long_texts_of_a_database_become_the_same_short_names(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT)")
    connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(1, LONG), (2, OTHER)])
    connection.commit()
    connection.close()
    notes = Notes()
    check_names(Database(open_readonly(tmp_path / "a.db", notes), "a.db", notes).texts(np.array([1, 2])))


def test_long_texts_among_numbers_cost_their_cells_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LONGEST", 100_000)
    cells = [1, "A" * 60_000, 3, "9" * 60_000, b"B" * 60_000, "6", 7]
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE T(x)")
    connection.executemany("INSERT INTO T VALUES (?)", [(cell,) for cell in cells])
    connection.commit()
    connection.close()
    notes = Notes()
    found = Database(open_readonly(tmp_path / "a.db", notes), "a.db", notes).integers("T", {"x": ["x"]})["x"]
    assert found.tolist() == [1, MISSING, 3, MISSING, MISSING, 6, 7]
    assert [(note.what.code, note.rows) for note in notes.all()] == [("cell_no_whole_number", 3)]


def test_long_names_of_events_become_the_same_short_names(tmp_path: Path) -> None:
    events = [{"ph": "X", "name": name, "pid": 1, "tid": 2, "ts": "1.5", "dur": 2.5} for name in (LONG, OTHER)]
    (tmp_path / "trace_view.json").write_text(json.dumps(events))
    check_names(timeline.read_timeline(tmp_path / "trace_view.json", Notes()).slices.name)


def test_long_keys_of_communication_become_the_same_short_names() -> None:
    content = {"step1": {"collective": {f"{LONG}@1": {}, f"{OTHER}@1": {}}}}
    check_names(entry.name for entry in of_rank(content, Path("communication.json"), Notes()))


def event(number: int) -> str:
    return json.dumps({"ph": "X", "name": f"op{number}", "pid": 1, "tid": 2, "ts": f"{number}.5", "dur": 0.25})


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("rest", ["", f",{event(7)},{event(8)}]"])
def test_what_has_no_end_of_an_event_is_never_held_and_what_lies_around_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, rest: str
) -> None:
    monkeypatch.setattr(chunks, "LONGEST_SPAN", 100_000)
    monkeypatch.setattr(chunks, "PATIENCE", 20_000)
    monkeypatch.setattr("advisor.sources.files.decoding.PARALLEL_FROM", 0)
    held: list[int] = []
    read = chunks.read_span
    monkeypatch.setattr(chunks, "read_span", lambda file, span: held.append(span.end - span.start) or read(file, span))
    path = tmp_path / "trace_view.json"
    path.write_text(f"[{event(1)},{event(2)},{{" + "A" * 3_000_000 + rest)
    notes = Notes()
    found = timeline.read_timeline(path, notes, jobs=jobs, chunk=500).slices
    assert set(found.name.values()) == ({"op1", "op2", "op8"} if rest else {"op1", "op2"})
    assert max(held) <= 100_000
    assert [note.what.code for note in notes.all() if note.kind == "row"] == ["event_no_json"]


def test_a_boundary_between_two_windows_is_found(tmp_path: Path) -> None:
    for blanks in range(0, 40, 7):
        path = tmp_path / "x.json"
        head = b"[" + b'{"a":1}'
        path.write_bytes(head.ljust((1 << 14) - 20 + blanks, b" ") + b" , \n {}]")
        with path.open("rb") as file:
            spans = list(chunks.cut_spans(file, chunks.find_array(file, "traceEvents"), 1))
            assert b"".join(chunks.read_span(file, span) for span in spans).count(b"{") == 2
