# SPDX-License-Identifier: Apache-2.0
"""Opening a run: however many captures it has, few files are open at once, and none is opened for each question."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import advisor
from advisor.sources import open_input
from advisor.sources.ascend import reading
from advisor.sources.files.database import open_readonly

Capture = Callable[..., Path]
DESCRIPTORS = Path("/proc/self/fd")


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="what is open can be listed on Linux")
def test_one_database_is_open_at_a_time(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    job = capture("database", case="healthy")
    held: list[int] = []

    def count_open() -> int:
        links = [os.readlink(one) for one in DESCRIPTORS.iterdir() if one.is_symlink()]
        return sum(link.startswith(str(job)) for link in links)

    before = count_open()  # what other tests of the same process keep of the same job

    def opened(path: Path, *rest: object) -> object:
        held.append(count_open() - before)
        return open_readonly(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "open_readonly", opened)
    open_input(job)
    assert held
    assert max(held) <= 1  # the other one of the same capture


def test_a_database_is_opened_once_to_describe_a_run(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    times: Counter[Path] = Counter()

    def opened(path: Path, *rest: object) -> object:
        times[path] += 1
        return open_readonly(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "open_readonly", opened)
    open_input(capture("database", case="healthy"))
    assert len(times) > 2
    assert set(times.values()) == {1}


def without_rank(job: Path, folder: Path, names: tuple[str, ...]) -> Path:
    """The first captures of a job under other names, without the files that tell their ranks."""
    for capture, name in zip(sorted(job.glob("*_ascend_pt")), names, strict=False):
        shutil.copytree(capture, folder / name, ignore=shutil.ignore_patterns("profiler_*"))
    return folder


@pytest.mark.parametrize(
    "names", [("rank3_ascend_pt", "rank5_ascend_pt"), ("rank_3/a_ascend_pt", "Rank-5/a_ascend_pt")]
)
def test_captures_that_lost_their_description_have_the_rank_that_folders_tell(
    names: tuple[str, ...], capture: Capture, tmp_path: Path
) -> None:
    run = open_input(without_rank(capture("text"), tmp_path, names))[0]
    assert run.ranks == (3, 5)
    assert not run.notes


def test_the_name_that_the_profiler_gave_tells_the_host_and_no_rank(capture: Capture, tmp_path: Path) -> None:
    names = ("rank7-pod_1_20250101000000000_ascend_pt", "rank7-pod_2_20250101000000000_ascend_pt")
    assert open_input(without_rank(capture("text"), tmp_path, names))[0].ranks == (0, 1)


def test_ranks_that_were_recorded_hours_apart_are_not_compared_without_a_word(real_data: Path, tmp_path: Path) -> None:
    matrix = real_data / "msinsight_pytorch_matrix" / "text"
    for level, rank in (("level2", 0), ("level0", 1)):
        shutil.copytree(matrix / level / f"rank{rank}_ascend_pt", tmp_path / f"rank{rank}_ascend_pt")
    apart, together = advisor.diagnose(tmp_path), advisor.diagnose(matrix / "level2")
    assert "capture/ranks-apart" in {one.rule for one in apart.findings}
    assert all(one.doubted_by for one in apart.findings if one.rule.startswith(("ranks/", "comm/")))
    assert "capture/ranks-apart" not in {one.rule for one in together.findings}
