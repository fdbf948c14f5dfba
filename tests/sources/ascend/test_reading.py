# SPDX-License-Identifier: Apache-2.0
"""One rank's capture: which export gives a fact, what is kept open, and how damage adds up."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.facts.observed import Damage, Kernel, L2Cache, OperatorTotal, RankCapture, StepTime
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources import open_input
from advisor.sources.ascend.reading import READERS, SHARED, Folder, Shelf
from advisor.sources.files.damage_notes import Notes

Capture = Callable[..., Path]


@pytest.fixture
def both(tmp_path: Path, capture: Capture) -> Path:
    """A rank that was exported as text and as database into one folder."""
    text = sorted(capture("text", case="healthy").glob("*_ascend_pt"))[0]
    database = sorted(capture("database", case="healthy").glob("*_ascend_pt"))[0]
    folder = tmp_path / text.name
    shutil.copytree(text, folder, copy_function=shutil.copyfile)
    output = "ASCEND_PROFILER_OUTPUT"
    shutil.copytree(database / output, folder / output, dirs_exist_ok=True, copy_function=shutil.copyfile)
    return folder


def only(path: Path) -> Folder:
    _, (source,) = open_input(path)
    assert isinstance(source, Folder)
    return source


def test_of_two_exports_the_database_is_read_and_text_fills_what_it_lacks(both: Path) -> None:
    (both / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv").write_text("OP Type,Total Time(us)\nfrom text,1\n")
    source = only(both)
    assert source.read(RankCapture).rows()[0]["source"] == "text+database"
    assert "from text" not in source.read(OperatorTotal).texts("op_type").names
    assert len(source.read(L2Cache)) > 0


def test_text_is_read_where_the_database_cannot_be(both: Path) -> None:
    whole = only(both).read(Kernel)
    for path in both.rglob("*.db"):
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    source = only(both)
    assert len(source.read(Kernel)) == len(whole)
    assert len(source.read(StepTime)) == 3
    assert {row["kind"] for row in source.read(Damage).rows()} == {"unreadable"}


def test_a_fact_that_no_export_holds_is_missing_not_empty(tmp_path: Path) -> None:
    folder = Folder(rank=0, root=tmp_path, output=tmp_path)
    with pytest.raises(FactMissing) as caught:
        folder.read(StepTime)
    assert (caught.value.tables, caught.value.unreadable) == (("step_times",), ())


def test_what_is_kept_is_made_once_until_it_is_released(tmp_path: Path) -> None:
    folder = Folder(rank=0, root=tmp_path, output=tmp_path)
    made: list[int] = []
    for _ in range(3):
        folder.once("x", lambda: made.append(1))
    assert len(made) == 1
    folder.release()
    folder.once("x", lambda: made.append(1))
    assert len(made) == 2


def test_only_one_folder_of_a_run_keeps_things_open(tmp_path: Path) -> None:
    shelf = Shelf()
    first, second = (Folder(rank=i, root=tmp_path, output=tmp_path, shelf=shelf) for i in range(2))
    made: list[str] = []
    first.once("x", lambda: made.append("first"))
    second.once("x", lambda: made.append("second"))
    first.once("x", lambda: made.append("first again"))
    assert made == ["first", "second", "first again"]


def test_of_all_columns_that_are_kept_it_is_known_until_when() -> None:
    assert SHARED.keys() == READERS.keys()


def test_damage_said_twice_counts_once_and_of_one_kind_together() -> None:
    notes = Notes()
    for _ in range(2):
        notes.add("a.csv", Message("at_row", n=3), Message("no_usable_number", column="bad"), rows=2, share=0.1)
    notes.add("a.csv", Message("at_row", n=9), Message("no_usable_number", column="worse"))
    notes.add("b.csv", "", Message("holds_nothing"), kind="unreadable")
    rows = notes.table(5, "host/x").rows()
    assert [(row["file"], row["place"], row["rows"], row["share"]) for row in rows] == [
        ("host/x/a.csv", "row 3", 2, 0.1),
        ("host/x/a.csv", "row 9", 1, None),
        ("host/x/b.csv", None, 1, 1.0),
    ]
