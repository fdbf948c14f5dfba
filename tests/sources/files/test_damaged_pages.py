# SPDX-License-Identifier: Apache-2.0
"""Databases whose pages lead back to pages before them: reading ends, and no row is given twice."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.files import database, statements, table_blocks
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.database import Database, open_readonly
from advisor.sources.files.statements import EndlessError, all_rows, ascending_rows, read_rows

PAGE = 512
INTERIOR_TABLE, LEAF_TABLE = 5, 13
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


def read_by(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Lets blocks have so many rows, all but the first of them decoded from pages."""
    patch.setattr(table_blocks, "FEW", rows)
    patch.setattr(table_blocks, "BLOCK", rows)


def opened(path: Path) -> Database:
    notes = Notes()
    return Database(open_readonly(path, notes), path.name, notes)


def numbered_rows(path: Path, rows: int, step: int = 1) -> Path:
    """A database of small pages with one table, whose rows hold their own number."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA page_size={PAGE}")
    connection.execute("CREATE TABLE T(id INTEGER PRIMARY KEY, x INT)")
    connection.executemany("INSERT INTO T VALUES (?, ?)", [(row, row) for row in range(1, rows * step, step)])
    connection.commit()
    connection.close()
    return path


def interior_pages(content: bytes) -> Iterator[int]:
    """Where the pages begin that lead to other pages of a table."""
    return (at for at in range(PAGE, len(content), PAGE) if content[at] == INTERIOR_TABLE)


def lead_back(path: Path) -> None:
    """Let the last page below each interior page be the first one below it."""
    content = bytearray(path.read_bytes())
    for at in interior_pages(content):
        first_cell = at + struct.unpack_from(">H", content, at + 12)[0]
        content[at + 8 : at + 12] = content[first_cell : first_cell + 4]
    path.write_bytes(content)


def fan_out(path: Path, levels: int = 6) -> None:
    """Let the table be a tree whose pages all lead, sixty times each, to the one page below: 60 ** 6 leaves."""
    content = bytearray(path.read_bytes())
    leaf = next(at // PAGE + 1 for at in range(PAGE, len(content), PAGE) if content[at] == LEAF_TABLE)
    root = next(interior_pages(content))
    for level in range(levels):
        content += page_leading_to(len(content) // PAGE if level else leaf)
    content[root : root + PAGE] = page_leading_to(len(content) // PAGE)
    content[28:32] = struct.pack(">I", len(content) // PAGE)
    path.write_bytes(content)


def page_leading_to(child: int, cells: int = 60) -> bytes:
    """An interior page: https://www.sqlite.org/fileformat2.html#b_tree_pages"""
    starts = [PAGE - 5 * number for number in range(1, cells + 1)]
    head = struct.pack(">BHHHBI", INTERIOR_TABLE, 0, cells, starts[-1], 0, child) + struct.pack(f">{cells}H", *starts)
    return head.ljust(starts[-1], b"\0") + struct.pack(">IB", child, 1) * cells


def test_a_tree_that_fans_out_without_end_is_left_by_every_way_to_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_by(monkeypatch, 500)
    monkeypatch.setattr(statements, "FREE_STEPS", 100_000)
    fan_out(numbered_rows(tmp_path / "x.db", 2000))
    found = opened(tmp_path / "x.db")
    assert database.rows_there(found.connection, ["T"])["T"] < 2000
    assert 0 < len(found.integers("T", {"x": ["x"]})["x"]) < 2000
    for query in ("SELECT x FROM T", "SELECT x FROM T WHERE x < 0", "SELECT x, count(*) FROM T GROUP BY 1"):
        with pytest.raises(Unreadable):
            found.rows(query)


def test_rows_are_counted_where_pages_are_sound(tmp_path: Path) -> None:
    found = opened(numbered_rows(tmp_path / "x.db", 2000))
    assert database.rows_there(found.connection, ["T", "none"]) == {"T": 1999}


def test_row_ids_that_are_no_count_are_not_taken_for_one(tmp_path: Path) -> None:
    path = numbered_rows(tmp_path / "x.db", 2000)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE None_There (x)")
        connection.execute("INSERT INTO T (rowid, x) VALUES (?, 1)", (2**62,))
    assert database.rows_there(opened(path).connection, ["T", "None_There"]) == {"None_There": 0}


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("block", [70, 1 << 17])
def test_pages_in_a_circle_give_each_row_once_and_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, step: int
) -> None:
    lead_back(numbered_rows(tmp_path / "x.db", 2000, step))
    read_by(monkeypatch, block)
    found = opened(tmp_path / "x.db")
    values = found.integers("T", {"x": ["x"]})["x"]
    assert len(values)
    assert (np.diff(values) > 0).all()
    (note,) = found.notes.all()
    assert (note.kind, str(note.what)) == ("truncated", "cannot be read further (its rows are out of order)")


@pytest.mark.parametrize("step", [1, 3])
def test_rows_in_order_are_all_read_and_nothing_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    read_by(monkeypatch, 70)
    found = opened(numbered_rows(tmp_path / "x.db", 2000, step))
    assert found.integers("T", {"x": ["x"]})["x"].tolist() == list(range(1, 2000 * step, step))
    assert not len(found.notes)


def test_a_statement_that_gives_rows_for_ever_is_ended(tmp_path: Path) -> None:
    connection = sqlite3.connect(numbered_rows(tmp_path / "x.db", 500))
    with pytest.raises(EndlessError, match="circles"):
        all_rows(connection, f"{ENDLESS} SELECT x FROM c")


def test_a_statement_that_works_for_ever_and_gives_nothing_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "FREE_STEPS", 100_000)
    connection = sqlite3.connect(numbered_rows(tmp_path / "x.db", 500))
    with pytest.raises(EndlessError, match="circles"):
        all_rows(connection, f"{ENDLESS} SELECT count(*) FROM c")


def test_a_statement_after_one_that_was_ended_has_all_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "FREE_STEPS", 100_000)
    connection = sqlite3.connect(numbered_rows(tmp_path / "x.db", 500))
    with pytest.raises(EndlessError):
        all_rows(connection, f"{ENDLESS} SELECT count(*) FROM c")
    assert [len(rows) for rows in read_rows(connection, "SELECT x FROM T")] == [499]


@given(st.lists(st.integers(-5, 30), max_size=12), st.integers(-5, 5))
def test_rows_are_sound_up_to_the_first_that_does_not_follow(ids: list[int], after: int) -> None:
    last, expected = after, 0
    for number in ids:
        if number <= last:
            break
        last, expected = number, expected + 1
    assert ascending_rows(np.array(ids, np.int64), after) == expected
