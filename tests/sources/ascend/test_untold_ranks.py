# SPDX-License-Identifier: Apache-2.0
"""A capture that no file tells the rank of takes the place of none that is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import corpus
from advisor.pipeline import open_profile
from advisor.sources import open_input


@pytest.fixture(scope="module")
def four_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus.write(
        corpus.job("slow-rank-compute", 1, workload="dense"),
        tmp_path_factory.mktemp("captures") / "job",
        mindspore="graph",
    )


def ranks_of(folder: Path) -> list[int]:
    return [source.rank for source in open_input(folder)[1]]


@pytest.mark.parametrize("lost", [0, 3])
def test_one_that_lost_its_rank_has_the_number_that_no_other_one_has(
    lost: int, four_ranks: Path, tmp_path: Path
) -> None:
    job = shutil.copytree(four_ranks, tmp_path / "job")
    (told,) = job.rglob(f"profiler_info_{lost}.json")
    told.unlink()
    profile = open_profile(job)
    assert profile.run.ranks == (0, 1, 2, 3)
    captures = {capture.rank: capture.path for capture in profile.run.captures}
    assert captures[lost] == told.parent.name
    assert any(note.about == "ranks_by_order" for note in profile.run.notes)


def test_where_all_tell_their_rank_nothing_is_said_of_an_order(four_ranks: Path) -> None:
    assert ranks_of(four_ranks) == [0, 1, 2, 3]
    assert not any(note.about == "ranks_by_order" for note in open_input(four_ranks)[0].notes)


def test_one_of_the_same_process_is_another_capture_of_its_rank(four_ranks: Path, tmp_path: Path) -> None:
    job = shutil.copytree(four_ranks, tmp_path / "job")
    (told,) = job.rglob("profiler_info_2.json")
    name = told.parent.name
    stamp = name.rsplit("_", 3)[1]
    later = shutil.copytree(told.parent, job / name.replace(stamp, str(int(stamp) + 1)))
    (later / "profiler_info_2.json").unlink()
    assert ranks_of(job) == [0, 1, 2, 3]
