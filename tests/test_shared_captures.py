# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from corpus.cases import job
from tests.shared_captures import SharedCaptures

HOW = {"workload": "single"}


def test_a_capture_is_made_once_by_whoever_asks_first(tmp_path: Path) -> None:
    one, other = SharedCaptures(tmp_path), SharedCaptures(tmp_path)
    folder = one.written("cast-excess", **HOW)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert other.written("cast-excess", **HOW) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times
    assert other.written("cast-excess", **HOW, export="database") != folder
    assert other.causes("cast-excess", **HOW) == job("cast-excess", workload="single").causes


def test_a_test_that_writes_into_a_shared_capture_is_found_out(tmp_path: Path) -> None:
    shared = SharedCaptures(tmp_path)
    folder = shared.written("cast-excess", **HOW)
    assert shared.changed() == []
    (folder / "more.txt").write_text("x", "utf-8")
    assert shared.changed() == [folder.name]
