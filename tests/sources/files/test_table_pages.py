# SPDX-License-Identifier: Apache-2.0
"""Numbers decoded from the pages of a database are those that SQLite gives, and damage is told as SQLite tells it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.sources.files import statements, table_blocks, table_pages
from advisor.sources.files.damage_notes import Note, Notes, Unreadable
from advisor.sources.files.database import Database, open_readonly
from advisor.sources.files.table_pages import Kind, UnusualPageError, number_blocks, stored_table

Cell = int | float | str | bytes | None
FEW = 5

WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300) | st.sampled_from([0, 1, 2**31, 2**47, -(2**47) - 1])
DIGITS = st.integers(0, 10**22).map(str) | st.integers(10**17, 10**19).map(str)
ODD = st.floats(allow_nan=False) | st.sampled_from(
    ["", "x", "-5", "+7", " 8", "1.5", "0" * 30 + "7", "12/4", "٣", b"\0"]
)
CELLS = st.none() | WHOLE | DIGITS | ODD
DECLARED = st.sampled_from(["", "INT", "TEXT", "NUMERIC", "REAL", "INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY DESC"])


def made(
    path: Path, script: str, rows: Sequence[Sequence[Cell]] = (), page: int = 512, encoding: str = "UTF-8"
) -> Path:
    """A database with a table T."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"PRAGMA page_size={page}; PRAGMA encoding='{encoding}'; {script};")
        for row in rows:
            connection.execute(f"INSERT OR IGNORE INTO T VALUES ({', '.join('?' * len(row))})", row)
        connection.commit()
    return path


@contextmanager
def read_by(*, decoded: bool) -> Iterator[None]:
    """Lets all rows but few be decoded from pages, or none; SQLite's cells come one row at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_blocks, "FEW", FEW)
        patch.setattr(statements, "FETCH_ROWS", 1)
        if not decoded:
            patch.setattr(table_blocks, "stored_table", lambda *_: None)
        yield


def read(
    path: Path, columns: Sequence[str], floats: Sequence[str], *, decoded: bool
) -> tuple[dict[str, Array], list[Note]]:
    """The columns of T that can be read, and what is noted."""
    notes = Notes()
    with read_by(decoded=decoded), closing(open_readonly(path, notes)) as connection:
        try:
            found = Database(connection, path.name, notes).numbers("T", {name: [name] for name in columns}, floats)
        except Unreadable:
            found = {name: np.empty(0) for name in columns}
    return found, list(notes.all())


def decoded_columns(path: Path, wanted: dict[str, Kind]) -> tuple[list[int], list[list[float]]]:
    """What is decoded of T up to where decoding ends."""
    ids: list[int] = []
    columns: list[list[float]] = [[] for _ in wanted]
    with closing(sqlite3.connect(path)) as connection:
        stored = stored_table(connection, "T")
    assert stored is not None
    with suppress(UnusualPageError):
        for some, cells in number_blocks(stored, wanted, MISSING):
            ids += some.tolist()
            for column, more in zip(columns, cells, strict=True):
                column.extend(more.tolist())
    return ids, columns


class Made(NamedTuple):
    """How a table is declared, kept and read."""

    declared: list[str]
    cells: list[Cell]
    floats: list[bool]
    page: int
    encoding: str
    batch: int


TABLES = st.builds(
    Made,
    declared=st.lists(DECLARED, min_size=1, max_size=4),
    cells=st.lists(CELLS, max_size=120),
    floats=st.lists(st.booleans(), min_size=4, max_size=4),
    page=st.sampled_from([512, 1024, 65536]),
    encoding=st.sampled_from(["UTF-8", "UTF-16le"]),
    batch=st.sampled_from([512, 1 << 20]),
)


@given(TABLES)
def test_cells_are_those_that_sqlite_gives(tmp_path_factory: pytest.TempPathFactory, table: Made) -> None:
    width = len(table.declared)
    key = next((place for place, kind in enumerate(table.declared) if "KEY" in kind), -1)
    kinds = [kind if "KEY" not in kind or place == key else "" for place, kind in enumerate(table.declared)]
    names = [f"c{place}" for place in range(width)]
    rows = [
        [number if place == key else cell for place, cell in enumerate(table.cells[at : at + width])]
        for number, at in enumerate(range(0, len(table.cells) - width + 1, width))
    ]
    script = f"CREATE TABLE T({', '.join(map(' '.join, zip(names, kinds, strict=True)))})"
    path = made(tmp_path_factory.mktemp("d") / "x.db", script, rows, table.page, table.encoding)
    floats = [name for name, chosen in zip(names, table.floats, strict=False) if chosen]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_pages, "BATCH_BYTES", table.batch)
        values, notes = read(path, names, floats, decoded=True)
    expected, told = read(path, names, floats, decoded=False)
    for name in names:
        np.testing.assert_array_equal(values[name], expected[name])
    assert notes == told


ROWS = [(10**18 + 7 * row, str(10**18 + row * row), row % 3 or None, row / 3) for row in range(3000)]
TABLE = "CREATE TABLE T(a INT, b TEXT, c INT, d REAL)"


OVER_THE_END = 8388842
"""Damage that lets a row begin with the last byte of its page."""


def damaged(path: Path, seed: int) -> Path:
    """A database with some bytes of the table's pages changed."""
    chance = random.Random(seed)  # noqa: S311
    made(path, TABLE, ROWS[: chance.choice([300, 600])])
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 3])):
        page = chance.randrange(1, len(content) // 512) * 512
        at = page + chance.choice([chance.randrange(14), chance.randrange(512)])
        content[at] = chance.choice([0, 255, chance.randrange(256), content[at] ^ 1 << chance.randrange(8)])
    path.write_bytes(content)
    return path


@given(st.integers(0, 2**32))
@example(OVER_THE_END)
def test_of_a_damaged_table_the_rows_are_those_that_sqlite_gives_and_so_is_what_is_told(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = damaged(tmp_path_factory.mktemp("d") / "x.db", seed)
    values, notes = read(path, ("a", "b", "c", "d"), ["d"], decoded=True)
    expected, told = read(path, ("a", "b", "c", "d"), ["d"], decoded=False)
    both = min(len(values["a"]), len(expected["a"]))
    for name in values:
        np.testing.assert_array_equal(values[name][:both], expected[name][:both])
    # sqlite3 looks one row ahead, and loses the one before the damage
    assert abs(len(values["a"]) - len(expected["a"])) <= 1
    assert [note.kind for note in notes if note.kind != "row"] == [note.kind for note in told if note.kind != "row"]


def test_a_row_that_begins_at_the_end_of_its_page_is_not_read_from_the_memory_behind_it(tmp_path: Path) -> None:
    found = []
    for turn in range(30):
        path = damaged(tmp_path / f"{turn}.db", OVER_THE_END)
        found.append(len(read(path, ("a", "b", "c", "d"), ["d"], decoded=False)[0]["a"]))
    assert set(found) == {229}


def test_what_profilers_write_is_decoded_to_the_last_row(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", TABLE, ROWS)
    ids, (a, b, c, d) = decoded_columns(path, {"a": "integer", "b": "integer", "c": "cell", "d": "float"})
    assert ids == list(range(1, 3001))
    assert list(zip(a, map(str, b), [None if cell == MISSING else cell for cell in c], d, strict=True)) == ROWS


def test_rows_behind_a_number_are_found_through_the_tree(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", TABLE, ROWS)
    with closing(sqlite3.connect(path)) as connection:
        stored = stored_table(connection, "T")
    assert stored is not None
    for after in (-4, 0, 1, 77, 1500, 2999, 3000, 9999):
        found = [number for ids, _ in number_blocks(stored, {"a": "integer"}, after) for number in ids.tolist()]
        assert found == list(range(max(after, 0) + 1, 3001))


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE T(a INTEGER PRIMARY KEY, b INT) WITHOUT ROWID; INSERT INTO T VALUES (1, 2), (3, 4)",
        "CREATE TABLE T(b INT); INSERT INTO T VALUES (2), (4); ALTER TABLE T ADD COLUMN a INT DEFAULT 5",
        "CREATE TABLE T(a REAL, b INT); INSERT INTO T VALUES (1, 2), (3, 4)",
    ],
)
def test_what_lies_otherwise_than_it_is_read_is_left_to_sqlite(tmp_path: Path, script: str) -> None:
    assert decoded_columns(made(tmp_path / "x.db", script), {"a": "integer"}) == ([], [[]])


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE T(rowid INT); INSERT INTO T VALUES (7)",
        f"CREATE TABLE T({', '.join(f'c{place}' for place in range(200))})",
        "CREATE VIEW T AS SELECT 1",
        "CREATE TABLE T(a INT, b INT GENERATED ALWAYS AS (a) STORED)",
    ],
)
def test_tables_of_which_records_do_not_tell_the_rows_are_not_decoded(tmp_path: Path, script: str) -> None:
    with closing(sqlite3.connect(made(tmp_path / "x.db", script))) as connection:
        assert stored_table(connection, "T") is None


def test_a_file_that_ends_before_its_pages_do_is_left_to_sqlite(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", TABLE, ROWS)
    with closing(sqlite3.connect(path)) as connection:
        stored = stored_table(connection, "T")
    assert stored is not None
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UnusualPageError):
        list(number_blocks(stored, {"a": "integer"}, MISSING))
