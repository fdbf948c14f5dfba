# SPDX-License-Identifier: Apache-2.0
"""An enlarged database is what a longer recording of the same job would be."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import corpus
from advisor.facts.derived import Overlap
from advisor.facts.observed import HostCall, Kernel, Launch
from advisor.pipeline import open_profile
from benchmarks.enlarge_database import enlarge_database
from corpus.cases import job
from corpus.events import Layout
from corpus.transformer import Transformer
from corpus.workloads import Setup

REPEATS = 3
_SMALL = Transformer(layers=1, steps=2, hidden=512, sequence=512, batch=1, vocabulary=256)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("databases")
    corpus.write(job("host-bound", seed=3, setup=Setup(_SMALL, Layout(dp=1))), folder / "made", "database", 1)
    (rank,) = (folder / "made").glob("*_ascend_pt")
    return rank, enlarge_database(rank, folder / rank.name, REPEATS)


def test_every_row_is_there_as_often_as_repeated_and_flows_still_pair(captures: tuple[Path, Path]) -> None:
    once, often = (open_profile(capture) for capture in captures)
    for fact in (Kernel, HostCall, Launch):
        assert len(often.table(fact)) == REPEATS * len(once.table(fact))
    lengths = [
        np.sort(one["device_start_ns"] - one["host_start_ns"]) for one in (p.table(Launch) for p in (once, often))
    ]
    assert np.array_equal(lengths[1], np.sort(np.tile(lengths[0], REPEATS)))


def test_every_step_is_split_as_in_the_original(captures: tuple[Path, Path]) -> None:
    """But for the pause behind the last step of a repeat, where the next one begins."""
    once, often = (_split(capture) for capture in captures)
    assert often[:, :2] == pytest.approx(np.tile(once[:, :2], (REPEATS, 1)), abs=1e-3)
    within = np.arange(len(often)) % len(once) < len(once) - 1
    assert often[within, 2] == pytest.approx(np.tile(once[:-1, 2], REPEATS), abs=1e-3)
    assert [len(open_profile(one).run.steps) for one in captures] == [2, 2 * REPEATS]


def _split(capture: Path) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Computing, exposed communication and idle time of each step, µs."""
    rows = open_profile(capture).table(Overlap).rows()
    return np.asarray([[row["compute_us"], row["exposed_comm_us"], row["free_us"]] for row in rows], np.float64)


def test_rows_that_a_viewer_numbered_are_numbered_on(captures: tuple[Path, Path], tmp_path: Path) -> None:
    once, _ = captures
    shutil.copytree(once, tmp_path / once.name)
    (path,) = (tmp_path / once.name).rglob("ascend_pytorch_profiler*.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE OF_VIEWER (id INTEGER PRIMARY KEY AUTOINCREMENT, startNs INTEGER)")
        database.executemany("INSERT INTO OF_VIEWER (startNs) VALUES (?)", [(10**18,), (10**18 + 5,)])
    found = enlarge_database(tmp_path / once.name, tmp_path / "often" / once.name, REPEATS)
    (path,) = found.rglob("ascend_pytorch_profiler*.db")
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT id FROM OF_VIEWER ORDER BY startNs").fetchall()
    assert [number for (number,) in rows] == [1, 2, 3, 4, 5, 6]


def test_a_folder_without_a_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="ascend_pytorch_profiler"):
        enlarge_database(tmp_path, tmp_path / "out", 2)
