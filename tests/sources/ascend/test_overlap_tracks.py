# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from advisor.facts.observed import StepTime
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from advisor.sources.ascend.overlap_tracks import OVERLAP_TRACKS
from advisor.sources.ascend.reading import Folder
from tests.sources.traces import captured, event, lane, of, write

LANE = (
    event("Computing", "10.000", 5.5, pid=3, tid=0),
    event("Computing", "20.000", 4.5, pid=3, tid=0),
    event("Communication", "30.000", 9.0, pid=3, tid=1),
    event("Communication(Not Overlapped)", "30.000", 7.0, pid=3, tid=2),
    event("Free", "15.500", 4.5, pid=3, tid=3),
)


def test_the_track_of_the_timeline_is_summed_up_by_its_names(tmp_path: Path) -> None:
    trace = [lane(3, "Overlap Analysis"), *LANE, event("Computing", "50.000", 90.0, pid=1, cat="user_annotation")]
    (row,) = of(OVERLAP_TRACKS.ways["text"], captured(tmp_path, trace))
    assert row == {"rank": 3, "compute_us": 10.0, "exposed_comm_us": 7.0, "free_us": 4.5}


def test_a_timeline_without_the_track_or_cut_off_has_no_sums(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(OVERLAP_TRACKS.ways["text"], captured(tmp_path, [event("k", "1.000")]))
    path = write(tmp_path / "trace_view.json", LANE)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FactMissing):
        of(OVERLAP_TRACKS.ways["text"], Folder(rank=0, root=tmp_path, output=tmp_path, files={path.name: path}))


def test_the_table_of_the_database_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "profiler.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE OVERLAP_ANALYSIS(id INT, deviceId INT, startNs INT, endNs INT, type INT);
            INSERT INTO OVERLAP_ANALYSIS VALUES
                (0, 0, 10000, 15500, 0), (1, 0, 20000, 24500, 0), (2, 0, 30000, 39000, 1), (3, 0, 30000, 37000, 2),
                (4, 0, 15500, 20000, 3);
        """)
    folder = Folder(rank=3, root=tmp_path, output=tmp_path, databases={"profiler": path})
    (row,) = of(OVERLAP_TRACKS.ways["database"], folder)
    assert row == {"rank": 3, "compute_us": 10.0, "exposed_comm_us": 7.0, "free_us": 4.5}


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_track_of_a_real_capture_of_one_step_is_its_step_time(real_data: Path, level: int) -> None:
    _, (source,) = open_input(real_data / f"msinsight_pytorch_matrix/text/level{level}/rank0_ascend_pt")
    (track,), (step,) = (source.read(fact).rows() for fact in (OVERLAP_TRACKS.fact, StepTime))
    for name in ("compute_us", "exposed_comm_us", "free_us"):
        assert track[name] == pytest.approx(step[name], abs=0.01)
