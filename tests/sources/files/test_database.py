# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.facts.narrow import NarrowColumn
from advisor.sources.files import table_blocks
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.database import Database, Only, Shared, match_keys, open_readonly

Cell = int | float | str | None


def made(path: Path, script: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


def read_by(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Lets blocks have so many rows, all but the first of them decoded from pages."""
    patch.setattr(table_blocks, "FEW", rows)
    patch.setattr(table_blocks, "BLOCK", rows)


def opened(path: Path) -> Database:
    notes = Notes()
    return Database(open_readonly(path, notes), path.name, notes)


def one_column(path: Path, cells: list[Cell]) -> Database:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE T(x)")
    connection.executemany("INSERT INTO T VALUES (?)", [(cell,) for cell in cells])
    connection.commit()
    connection.close()
    return opened(path)


NUMBERS = st.none() | st.integers(MISSING + 1, 2**63 - 1)


@settings(max_examples=40)
@given(st.lists(NUMBERS, max_size=40), st.integers(1, 7))
def test_whole_numbers_arrive_exactly_whatever_the_block(
    tmp_path_factory: pytest.TempPathFactory, cells: list[Cell], block: int
) -> None:
    found = one_column(tmp_path_factory.mktemp("d") / "x.db", cells)
    with pytest.MonkeyPatch.context() as patch:
        read_by(patch, block)
        values = found.integers("T", {"x": ["x"]})["x"]
    assert values.tolist() == [MISSING if cell is None else cell for cell in cells]
    assert not len(found.notes)


@settings(max_examples=40)
@given(st.lists(NUMBERS | st.text(max_size=5) | st.floats(), min_size=1, max_size=20), st.integers(1, 7))
def test_cells_of_any_kind_never_end_the_reading(
    tmp_path_factory: pytest.TempPathFactory, cells: list[Cell], block: int
) -> None:
    cells = [cell.replace("\0", "") if isinstance(cell, str) else cell for cell in cells]
    found = one_column(tmp_path_factory.mktemp("d") / "x.db", cells)
    with pytest.MonkeyPatch.context() as patch:
        read_by(patch, block)
        values = found.integers("T", {"x": ["x"]})["x"]
    assert len(values) == len(cells)
    for value, cell in zip(values.tolist(), cells, strict=True):
        if isinstance(cell, int):
            assert value == cell


def test_times_kept_as_text_are_read_to_the_nanosecond(tmp_path: Path) -> None:
    path = made(
        tmp_path / "x.db", "CREATE TABLE P(startNs TEXT); INSERT INTO P VALUES ('1736414119641640110'), (NULL);"
    )
    assert opened(path).integers("P", {"start": ["startNs"]})["start"].tolist() == [1736414119641640110, MISSING]


def test_a_cell_that_is_no_number_is_missing_and_noted(tmp_path: Path) -> None:
    found = one_column(tmp_path / "x.db", [1, "many", 3])
    assert found.integers("T", {"x": ["x"]})["x"].tolist() == [1, MISSING, 3]
    (note,) = found.notes.all()
    assert (str(note.place), str(note.what), note.rows) == ("T row 2", "T.x is no whole number", 1)


def test_how_many_cells_of_a_column_are_no_numbers_is_told_as_a_share_of_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_by(monkeypatch, 2)
    found = one_column(tmp_path / "x.db", ["x1", "x2", 3, "x4", 5, 6, 7, 8])
    assert found.integers("T", {"x": ["x"]})["x"].tolist() == [MISSING, MISSING, 3, MISSING, 5, 6, 7, 8]
    (note,) = found.notes.all()
    assert (str(note.place), note.rows, note.share) == ("T row 1", 3, 0.375)


def test_columns_are_found_by_their_newest_name_and_missing_ones_are_missing(tmp_path: Path) -> None:
    path = made(tmp_path / "x.db", "CREATE TABLE C(blockDim INT, blockNum INT); INSERT INTO C VALUES (7, 40), (8, 41);")
    found = opened(path).integers("C", {"blocks": ["blockNum", "blockDim"], "state": ["opState"]})
    assert found["blocks"].tolist() == [40, 41]
    assert found["state"].tolist() == [MISSING, MISSING]


def test_a_table_that_is_not_there_has_no_fields(tmp_path: Path) -> None:
    found = opened(made(tmp_path / "x.db", "CREATE TABLE A(x);"))
    assert found.fields("B") == ()
    assert found.integers("B", {"x": ["x"]})["x"].tolist() == []
    assert not len(found.notes)


def test_ids_become_texts_and_what_was_not_collected_is_missing(tmp_path: Path) -> None:
    script = "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"
    script += (
        "INSERT INTO STRING_IDS VALUES (1, 'N/A'), (5, 'MatMul'), (268435456, 'aten::add'), (7, ''), (9, 'MatMul');"
    )
    found = opened(made(tmp_path / "x.db", script))
    texts = found.texts(np.array([5, 268435456, 1, MISSING, 7, 404, 9, 5]))
    assert texts.values() == ["MatMul", "aten::add", None, None, None, None, "MatMul", "MatMul"]
    assert len(set(texts.names)) == len(texts.names)


def test_an_event_whose_name_is_gone_is_called_by_its_id_and_that_is_told(tmp_path: Path) -> None:
    script = "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value);"
    script += "INSERT INTO STRING_IDS VALUES (1, 'N/A'), (5, 'MatMul'), (6, NULL), (7, 8.5), (8, 'Add');"
    found = opened(made(tmp_path / "x.db", script))
    names = found.event_names(np.array([5, 404, 1, MISSING, 6, 404]))
    assert names.values() == ["MatMul", "STRING_IDS 404", None, None, "STRING_IDS 6", "STRING_IDS 404"]
    found.event_names(np.array([404, 7]))
    (note,) = found.notes.all()
    assert (note.place, note.what.code, note.rows, note.share) == ("STRING_IDS", "names_gone", 3, 0.5)


def test_events_that_are_all_named_are_no_damage(tmp_path: Path) -> None:
    script = "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO STRING_IDS VALUES (5, 'N/A');"
    found = opened(made(tmp_path / "x.db", script))
    assert found.event_names(np.array([5, MISSING])).values() == [None, None]
    assert not len(found.notes)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 9) | st.just(MISSING)), st.lists(st.integers(0, 12) | st.just(MISSING)))
@example([5, MISSING], [MISSING, 5])
def test_matching_finds_the_first_place_of_each_key_and_null_matches_nothing(
    keys: list[int], wanted: list[int]
) -> None:
    expected = [keys.index(key) if key in keys and key != MISSING else -1 for key in wanted]
    for rows in (3, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("advisor.facts.table._KEYS_AT_ONCE", rows)
            assert match_keys(np.array(keys, np.int64), np.array(wanted, np.int64)).tolist() == expected


NEAR, FAR = st.integers(-9, 9), st.integers(-(2**63) + 1, 2**63 - 1)


@given(
    st.lists(NEAR)
    | st.lists(FAR | NEAR)
    | st.lists(NEAR | st.just(MISSING))
    | st.lists(NEAR).map(lambda keys: [2**62 + key for key in keys]),
    st.lists(NEAR | FAR | NEAR.map(lambda key: 2**62 + key) | st.just(MISSING)),
)
def test_keys_are_matched_alike_whether_they_lie_close_together_or_far_apart(
    keys: list[int], wanted: list[int]
) -> None:
    found = match_keys(np.array(keys, np.int64), np.array(wanted, np.int64))
    assert found.tolist() == [keys.index(key) if key in keys and key != MISSING else -1 for key in wanted]


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 200])
def test_what_is_no_database_cannot_be_read_and_is_noted(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    notes = Notes()
    with pytest.raises(Unreadable):
        open_readonly(path, notes)
    assert [note.kind for note in notes.all()] == ["unreadable"]


def test_a_database_that_is_cut_off_cannot_be_read_and_is_noted(tmp_path: Path) -> None:
    one_column(tmp_path / "x.db", list(range(20_000))).connection.close()
    content = (tmp_path / "x.db").read_bytes()
    (tmp_path / "x.db").write_bytes(content[: len(content) * 3 // 5])
    notes = Notes()
    with pytest.raises(Unreadable):
        open_readonly(tmp_path / "x.db", notes)
    assert [note.kind for note in notes.all()] == ["unreadable"]


def test_a_damaged_page_keeps_the_rows_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_column(tmp_path / "x.db", list(range(20_000))).connection.close()
    content = bytearray((tmp_path / "x.db").read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    (tmp_path / "x.db").write_bytes(content)
    read_by(monkeypatch, 500)
    found = opened(tmp_path / "x.db")
    values = found.integers("T", {"x": ["x"]})["x"].tolist()
    assert 0 < len(values) < 20_000
    assert values == list(range(len(values)))
    assert [note.kind for note in found.notes.all()] == ["truncated"]


@pytest.mark.parametrize("name", ["x.db", "a b%20c?#é.db"])
def test_reading_leaves_nothing_beside_the_database(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    made(path, "PRAGMA journal_mode=WAL; CREATE TABLE A(x INT); INSERT INTO A VALUES (1);")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    found = opened(path)
    assert found.integers("A", {"x": ["x"]})["x"].tolist() == [1]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    found.connection.close()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_rows_still_in_the_write_ahead_log_are_read_and_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    live, left = tmp_path / "live", tmp_path / "left"
    live.mkdir()
    left.mkdir()
    writer = sqlite3.connect(live / "x.db")
    writer.executescript("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE A(x INT);")
    writer.execute("INSERT INTO A VALUES (42)")
    writer.commit()
    for suffix in ("", "-wal"):
        shutil.copy(live / f"x.db{suffix}", left / f"x.db{suffix}")
    writer.close()
    before = {file.name: file.read_bytes() for file in left.iterdir()}
    found = opened(left / "x.db")
    assert found.integers("A", {"x": ["x"]})["x"].tolist() == [42]
    found.connection.close()
    assert {file.name: file.read_bytes() for file in left.iterdir()} == before


@pytest.mark.parametrize("ended", [False, True])
def test_a_database_left_in_the_middle_of_a_change_is_told_and_stays_as_it_is(tmp_path: Path, ended: bool) -> None:
    writer = sqlite3.connect(tmp_path / "written.db", isolation_level=None)
    writer.executescript("PRAGMA journal_mode=PERSIST; PRAGMA cache_size=1; CREATE TABLE T(x); BEGIN;")
    writer.executemany("INSERT INTO T VALUES (?)", [("x" * 500,)] * 200)
    for statement in ("COMMIT", "BEGIN", "UPDATE T SET x = x || 'y'", *(["COMMIT"] if ended else [])):
        writer.execute(statement)
    path = tmp_path / "left.db"
    for end in ("", "-journal"):
        shutil.copy(f"{tmp_path}/written.db{end}", f"{path}{end}")
    writer.close()
    before = {file.name: file.read_bytes() for file in tmp_path.glob("left*")}
    notes = Notes()
    open_readonly(path, notes).close()
    assert [note.what.code for note in notes.all()] == ([] if ended else ["half_written"])
    assert {file.name: file.read_bytes() for file in tmp_path.glob("left*")} == before


def test_a_database_of_several_devices_gives_one_ranks_device(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE RANK_DEVICE_MAP(rankId INT, deviceId INT); INSERT INTO RANK_DEVICE_MAP VALUES (0, 4), (1, 5);"
    )
    script += "CREATE TABLE AICORE_FREQ(deviceId INT, freq INT); INSERT INTO AICORE_FREQ VALUES (4, 800), (5, 1800);"
    found = opened(made(tmp_path / "x.db", script))
    wanted = found.integers("AICORE_FREQ", {"freq": ["freq"]}, found.on_device("AICORE_FREQ", 1))
    assert wanted["freq"].tolist() == [1800]
    assert found.on_device("AICORE_FREQ", 7) is None


@settings(max_examples=40)
@given(
    st.lists(st.none() | st.integers(-9, 2**62) | st.floats() | st.sampled_from(["7", "x", "1.5", ""])),
    st.integers(1, 5),
)
def test_floats_are_the_same_read_in_blocks_and_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, cells: list[Cell], block: int
) -> None:
    found = one_column(tmp_path_factory.mktemp("d") / "x.db", cells)
    plainly = found.numbers("T", {"x": ["x"]}, {"x"})["x"]
    with pytest.MonkeyPatch.context() as patch:
        read_by(patch, block)
        assert np.array_equal(found.numbers("T", {"x": ["x"]}, {"x"})["x"], plainly, equal_nan=True)


@pytest.mark.parametrize(
    "table",
    [
        "CREATE VIEW T AS SELECT rowid, x FROM K",
        "CREATE TABLE T(x INT, y INT GENERATED ALWAYS AS (x) VIRTUAL); INSERT INTO T(x) SELECT x FROM K",
    ],
)
def test_what_is_computed_is_never_looked_for_in_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    script = "CREATE TABLE K(x INT); INSERT INTO K VALUES (1), (2), (3), (4), (5);"
    found = opened(made(tmp_path / "x.db", f"{script} {table};"))
    read_by(monkeypatch, 2)
    monkeypatch.setattr(table_blocks, "number_blocks", None)
    with contextlib.suppress(Unreadable):
        assert found.integers("T", {"x": ["x"]})["x"].tolist() == [1, 2, 3, 4, 5]


def test_rows_of_one_value_are_kept_and_the_others_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "CREATE TABLE T(kind INT, x INT); INSERT INTO T VALUES (1, 10), (2, 20), (NULL, 30), (1, 40), (3, 50);"
    found = opened(made(tmp_path / "x.db", script))
    for rows in (4096, 1, 2):
        read_by(monkeypatch, rows)
        assert found.integers("T", {"x": ["x"]}, Only("kind", (1, 3)))["x"].tolist() == [10, 40, 50]


def test_columns_that_several_facts_need_are_read_once(tmp_path: Path) -> None:
    script = "CREATE TABLE T(kind INT, x INT, y INT); INSERT INTO T VALUES (1, 10, 5), (2, 20, NULL);"
    plain = opened(made(tmp_path / "x.db", script))
    read: list[str] = []
    plain.connection.set_trace_callback(lambda query: read.append(query) if "rowid >" in query else None)
    found = Database(plain.connection, "x.db", plain.notes, shared=Shared({"T": ("kind", "x")}, {}))
    assert found.integers("T", {"x": ["x"]})["x"].tolist() == [10, 20]
    assert found.integers("T", {"x": ["x"]}, Only("kind", (2,)))["x"].tolist() == [20]
    assert len(read) == 1
    assert found.integers("T", {"x": ["x"], "y": ["y"]}, Only("kind", (2,)))["y"].tolist() == [MISSING]
    assert len(read) == 2


def test_columns_that_nothing_else_needs_are_let_go_as_they_are_asked_for(tmp_path: Path) -> None:
    script = "CREATE TABLE T(kind INT, x INT, y INT); INSERT INTO T VALUES (1, 10, 5), (2, 20, NULL);"
    plain, kept = opened(made(tmp_path / "x.db", script)), dict[tuple[str, str], NarrowColumn]()
    columns = {"T": ("kind", "x", "y")}
    Database(plain.connection, "x.db", plain.notes, shared=Shared(columns, kept)).integers("T", {"x": ["x"]})
    found = Database(plain.connection, "x.db", plain.notes, shared=Shared(columns, kept, frozenset("T")))
    assert found.integers("T", {"x": ["x"]}, Only("kind", (2,)))["x"].tolist() == [20]
    assert kept.keys() == {("T", "kind"), ("T", "y")}
    assert found.integers("T", {"kind": ["kind"], "x": ["x"]})["x"].tolist() == [10, 20]
    assert kept.keys() == {("T", "y")}


def test_damage_in_one_column_alone_leaves_columns_of_one_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_by(monkeypatch, 1)
    path = made(tmp_path / "x.db", "CREATE TABLE T(kind INT, x INT, y TEXT);")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        long = "9" * 10_000  # a part of it lies on other pages
        connection.executemany("INSERT INTO T VALUES (1, ?, ?)", [(1, "5"), (2, long), (3, "7")])
        connection.commit()
    content = bytearray(path.read_bytes())
    place = content.index(b"9" * 100) - 1
    while content[place + 1 : place + 2] == b"9":
        place += 1
    content[place + 1 : place + 5] = b"\xff" * 4  # where the first of them lies
    path.write_bytes(content)
    plain = opened(path)
    found = Database(plain.connection, "x.db", plain.notes, shared=Shared({"T": ("kind", "x")}, {}))
    assert found.integers("T", {"x": ["x"]})["x"].tolist() == [1, 2, 3]
    for only in (None, Only("kind", (1,))):
        columns = found.integers("T", {"x": ["x"], "y": ["y"]}, only)
        assert columns["x"].tolist() == [1]
        assert columns["y"].tolist() == [5]
