# SPDX-License-Identifier: Apache-2.0
"""Whatever a file holds: reading says what is missing, raises nothing else, and writes nothing."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.facts.observed import OBSERVED, Damage, Kernel
from advisor.facts.rank_facts import Source
from advisor.messages.errors import FactMissing, InputError
from advisor.sources import ascend, open_input
from advisor.sources.ascend.known_tables import is_known_table

Capture = Callable[..., Path]
EXPORTS = ("text", "database")
JUNK = (b"\0" * 5000, b"\xff\xfe\x93" * 700, b"{" * 3000, b'"' * 999, b"a,b\n1\n" * 50, b"[1, null, {}]", b"NaN")


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """Every file and folder with size and time of change."""
    return sorted((str(p), p.lstat().st_size, p.lstat().st_mtime_ns) for p in [folder, *folder.rglob("*")])


def read_everything(folder: Path) -> dict[str, int]:
    """Opens a folder and reads every fact of every source; rows by fact. Nothing may be written."""
    before = listing(folder)
    found: dict[str, int] = {}
    try:
        _, sources = open_input(folder)
    except InputError as wrong:
        assert "\n" not in wrong.what.en
        assert str(folder) in wrong.what.en
    else:
        for source in sources:
            found.update(rows_of(source))
    assert listing(folder) == before
    return found


def rows_of(source: Source) -> dict[str, int]:
    """How many rows of each fact a source holds; damage last, as a profile asks for it."""
    found = {}
    for fact in sorted(OBSERVED, key=lambda fact: fact is Damage):
        try:
            found[fact.table] = len(source.read(fact))
        except FactMissing as missing:
            assert all(isinstance(file, str) for file in missing.unreadable)
    return found


def one_rank(capture: Capture, export: str, tmp_path: Path) -> Path:
    """A copy of one rank's capture that may be damaged."""
    rank = sorted(capture(export, case="host-bound-2-ranks").glob("*_ascend_pt"))[0]
    shutil.copytree(rank, tmp_path / rank.name, copy_function=shutil.copyfile)
    return tmp_path / rank.name


def files(folder: Path) -> Iterator[Path]:
    return iter(sorted(path for path in folder.rglob("*") if path.is_file()))


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.97, 0.999])
def test_a_truncated_file_costs_only_what_it_held(export: str, share: float, capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, export, tmp_path)
    for path in list(files(folder)):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        read_everything(folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:6]))
def test_junk_in_the_place_of_a_file_is_survived(export: str, junk: bytes, capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, export, tmp_path)
    for path in list(files(folder)):
        whole = path.read_bytes()
        path.write_bytes(junk)
        read_everything(folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("export", EXPORTS)
def test_bytes_changed_in_the_middle_are_survived(export: str, capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, export, tmp_path)
    for path in list(files(folder)):
        whole = path.read_bytes()
        half = len(whole) // 2
        path.write_bytes(whole[:half] + b"\xff\0\"'{,\n" + whole[half + 7 :])
        read_everything(folder)
        path.write_bytes(whole)


@pytest.mark.parametrize("export", EXPORTS)
def test_a_folder_in_the_place_of_a_file_is_survived(export: str, capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, export, tmp_path)
    for path in list(files(folder)):
        whole = path.read_bytes()
        path.unlink()
        path.mkdir()
        read_everything(folder)
        path.rmdir()
        path.write_bytes(whole)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("export", EXPORTS)
def test_files_without_permission_are_survived(export: str, capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, export, tmp_path)
    for path in list(files(folder)):
        path.chmod(0)
        read_everything(folder)
        path.chmod(0o644)


@pytest.mark.parametrize("export", EXPORTS)
def test_each_file_alone_is_read_or_refused(export: str, capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, export, tmp_path)
    for number, path in enumerate(list(files(folder))):
        alone = tmp_path / f"alone{number}"
        alone.mkdir()
        shutil.copy(path, alone / path.name)
        read_everything(alone)


def test_unreadable_files_are_named_as_damage_and_as_the_reason(capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, "text", tmp_path)
    (folder / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv").write_bytes(b"")
    _, (source,) = open_input(folder)
    from advisor.facts.observed import OperatorTotal

    with pytest.raises(FactMissing) as caught:
        source.read(OperatorTotal)
    assert caught.value.unreadable == ("op_statistic.csv",)
    damage = source.read(Damage).rows()
    assert [(row["file"], row["kind"], row["share"]) for row in damage] == [("op_statistic.csv", "unreadable", 1.0)]


def test_totals_whose_shares_do_not_add_up_lost_rows(capture: Capture, tmp_path: Path) -> None:
    path = one_rank(capture, "text", tmp_path) / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv"
    path.write_text(
        "OP Type,Core Type,Count,Total Time(us),Ratio(%)\n"
        "MatMulV2,AI_CORE,20,862.54,62.5\nCast,AI_VECTOR_CORE,40,276.01,20.0\n",
        "utf-8",
    )
    _, (source,) = open_input(path.parent.parent)
    from advisor.facts.observed import OperatorTotal

    assert source.read(OperatorTotal)["share"].tolist() == pytest.approx([0.625, 0.2])
    damage = [row for row in source.read(Damage).rows() if row["file"] == "op_statistic.csv"]
    assert [(row["kind"], row["share"]) for row in damage] == [("truncated", pytest.approx(0.175))]


def test_a_capture_of_empty_files_is_refused(capture: Capture, tmp_path: Path) -> None:
    for export in EXPORTS:
        folder = one_rank(capture, export, tmp_path)
        for path in files(folder / "ASCEND_PROFILER_OUTPUT"):
            path.write_bytes(b"")
        with pytest.raises(InputError, match="empty"):
            open_input(folder)
        shutil.rmtree(folder)


def test_an_emptied_database_is_refused(capture: Capture, tmp_path: Path) -> None:
    folder = one_rank(capture, "database", tmp_path)
    for path in folder.rglob("*.db"):
        with sqlite3.connect(path) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            for table in tables:
                connection.execute(f'DELETE FROM "{table}"')
        connection.close()
    with pytest.raises(InputError, match="tables but without rows"):
        open_input(folder)


@pytest.mark.parametrize("table", ["users", "USERS"])
def test_a_database_that_no_profiler_wrote_is_named_with_what_it_holds(
    table: str, capture: Capture, tmp_path: Path
) -> None:
    folder = one_rank(capture, "text", tmp_path)
    foreign = folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute(f"CREATE TABLE {table}(id)")
        connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.close()
    told = f"holds no table that a profiler writes, but {table}"
    _, (beside,) = open_input(folder)
    assert len(beside.read(Kernel)) > 0
    assert {row["what"] for row in beside.read(Damage).rows()} == {told}
    with pytest.raises(InputError, match=told):
        open_input(foreign.rename(tmp_path / "other.db"))


def test_every_table_that_is_read_is_one_that_profilers_write() -> None:
    asked = re.compile(
        r"""(?:numbers|integers|has_rows|fields|names)\(\s*"(\w+)"|Origin\("\w+", "(\w+)"\)|(?:FROM|JOIN) ([A-Z]\w+)"""
    )
    read = {
        name
        for path in Path(ascend.__file__).parent.glob("*.py")
        for names in asked.findall(path.read_text("utf-8"))
        for name in names
        if name
    }
    assert len(read) > 20
    assert {name for name in read if not is_known_table(name)} == set()


def test_a_schema_with_odd_bytes_is_an_unreadable_database(capture: Capture, tmp_path: Path) -> None:
    """SQLite's message repeats the bytes, and Python cannot decode it."""
    folder = one_rank(capture, "database", tmp_path)
    for path in folder.rglob("*.db"):
        whole = path.read_bytes()
        for name in (b"tableCommAnalyzerTime", b"tableStepTraceTime", b"tableTASK", b"tableSTRING_IDS"):
            path.write_bytes(whole.replace(name, name[:-1] + b"\xa9"))
            read_everything(folder)
        path.write_bytes(whole)


def test_queries_that_come_with_a_database_are_not_run(capture: Capture, tmp_path: Path) -> None:
    """A view may never end, a computed column may fill the memory."""
    folder = one_rank(capture, "database", tmp_path)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"
    profiler = next(folder.rglob("ascend_pytorch_profiler_*.db"))
    for table, columns in (("TASK", "startNs endNs globalTaskId"), ("CANN_API", "startNs endNs type name")):
        with sqlite3.connect(profiler) as connection:
            connection.execute(f"DROP TABLE {table}")
            listed = ", ".join(f"x AS {column}" for column in columns.split())
            connection.execute(f"CREATE VIEW {table} AS {endless} {listed} FROM n")
        connection.close()
    with sqlite3.connect(profiler) as connection:
        connection.execute("DROP TABLE NPU_INFO")
        connection.execute("CREATE TABLE NPU_INFO(id, name AS (hex(zeroblob(400000000))))")
        connection.execute("INSERT INTO NPU_INFO(id) VALUES (0)")
    connection.close()
    assert read_everything(folder)["step_times"] == 3


@pytest.mark.parametrize("closed", ["", "ASCEND_PROFILER_OUTPUT"])
def test_a_folder_that_may_not_be_listed_is_named_with_the_reason(
    closed: str, capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = one_rank(capture, "text", tmp_path)
    listed = os.scandir

    def scandir(path: Path) -> Any:
        if Path(path) == folder / closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(InputError) as refused:
        open_input(folder)
    told = refused.value.what.en
    assert told.endswith(f"{closed} in it cannot be listed: permission denied" if closed else "cannot be listed")
