# SPDX-License-Identifier: Apache-2.0
"""Several captures on the command line are those that a folder with nothing else in it would hold."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

import corpus
from advisor.cli.main import main
from advisor.cli.several_captures import common_folder

RANKS = Path(corpus.__file__).parent / "host-bound-2-ranks"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Two ranks, and a third capture that belongs to neither."""
    folder = tmp_path / "job"
    shutil.copytree(RANKS, folder)
    shutil.copytree(sorted(folder.glob("*_ascend_pt"))[0], folder / "left-over" / "node1_1_20240101000000000_ascend_pt")
    return folder


def ranks_of(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.glob("*_ascend_pt"))]


def findings(*words: str, tmp_path: Path) -> Any:
    target = tmp_path / "found.json"
    assert main(["diagnose", *words, "-q", "-o", str(target)]) == 0
    found = json.loads(target.read_text("utf-8"))
    found["run"]["name"] = ""
    return found


def test_captures_given_side_by_side_are_diagnosed_as_the_folder_that_holds_them_alone(
    job: Path, tmp_path: Path
) -> None:
    together = findings(*ranks_of(job), tmp_path=tmp_path)
    assert together == findings(str(RANKS), tmp_path=tmp_path)
    assert together["run"]["ranks"] == [0, 1]


def test_some_may_stand_behind_an_option(job: Path, tmp_path: Path) -> None:
    first, second = ranks_of(job)
    assert findings(first, "--jobs", "1", second, tmp_path=tmp_path)["run"]["ranks"] == [0, 1]


def test_a_packed_one_counts_like_a_folder(job: Path, tmp_path: Path) -> None:
    first, second = ranks_of(job)
    with tarfile.open(f"{second}.tar.gz", "w:gz") as archive:
        archive.add(second, os.path.basename(second))
    expected = findings(first, second, tmp_path=tmp_path)
    shutil.rmtree(second)
    assert findings(first, f"{second}.tar.gz", tmp_path=tmp_path)["findings"] == expected["findings"]


@pytest.mark.parametrize("command", ["inspect", "stats", "facts"])
def test_other_commands_take_them_too(
    command: str, job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = {"inspect": ("-o", "json:-"), "stats": ("--of", "ranks", "-o", "json:-"), "facts": ("-o", str(tmp_path / "f"))}
    assert main([command, *ranks_of(job), *of[command]]) == 0
    said = capsys.readouterr().out
    if command != "facts":
        assert "left-over" not in said
    else:
        assert main(["diagnose", str(tmp_path / "f"), "-q", "-o", str(tmp_path / "again.json")]) == 0


def test_what_is_given_twice_or_within_another_counts_once(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    assert common_folder([tmp_path / "a", inner, link]) == (tmp_path / "a", ())
    other = tmp_path / "c"
    other.mkdir()
    assert common_folder([inner, other, other]) == (tmp_path, (Path("a/b"), Path("c")))


def test_names_that_begin_alike_are_not_within_each_other(tmp_path: Path) -> None:
    paths = [tmp_path / "rank1", tmp_path / "rank10"]
    for path in paths:
        path.mkdir()
    assert common_folder(paths) == (tmp_path, (Path("rank1"), Path("rank10")))


def test_relative_paths_stay_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x/a", "x/b"):
        Path(name).mkdir(parents=True)
    assert common_folder([Path("x/a"), Path("x/b")]) == (Path("x"), (Path("a"), Path("b")))


def test_one_that_is_not_there_is_told_by_its_path(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    absent = str(job / "rank_9")
    assert main(["diagnose", *ranks_of(job), absent]) == 3
    assert f"{absent} does not exist" in capsys.readouterr().err


def test_a_word_that_means_something_else_is_no_capture(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["diagnose", str(job), "high"])
    assert end.value.code == 2
    assert "--fail-on high" in capsys.readouterr().err


def test_a_saved_report_among_them_is_refused(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings(str(job), tmp_path=tmp_path)
    assert main(["diagnose", *ranks_of(job), str(tmp_path / "found.json")]) == 2
    assert "found.json is a saved diagnosis" in capsys.readouterr().err
