# SPDX-License-Identifier: Apache-2.0
"""What lies in a profile and cannot be looked into is told as damage of the capture: never skipped without a word."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from test_discovery import STEPS, make

import advisor
from advisor import pipeline
from advisor.cli.main import main
from advisor.facts.observed import Damage, HostCall
from advisor.facts.rank_facts import Source
from advisor.machine import regular_files
from advisor.messages.errors import FactMissing, InputError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.sources import detect, open_input
from tests.input_notes import note

Odd = Callable[[Path], None]


def odd_things() -> dict[str, tuple[Odd, str]]:
    return {
        "pipe": (os.mkfifo, "is no regular file"),
        "link to nothing": (lambda path: path.symlink_to("gone.json"), "is a link to nothing"),
        "link in a circle": (
            lambda path: path.symlink_to(path.name),
            "cannot be opened (too many levels of symbolic links)",
        ),
        "link to a device": (lambda path: path.symlink_to("/dev/zero"), "is a link into /proc, /sys or /dev"),
        "link into /proc": (lambda path: path.symlink_to("/proc/self/environ"), "is a link into /proc, /sys or /dev"),
    }


def told(source: Source) -> list[tuple[str, str, str]]:
    table = source.read(Damage)
    return [
        (file or "", what or "", kind or "")
        for file, what, kind in zip(*(table.texts(name).values() for name in ("file", "what", "kind")), strict=True)
    ]


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of folders that may not be listed; root may list all, so that permissions alone would test nothing."""
    names: set[str] = set()
    scandir = os.scandir

    def refuse(folder: Path) -> object:
        if Path(folder).name in names:
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    return names


@pytest.mark.parametrize("odd", odd_things())
def test_a_file_that_is_none_is_told_and_the_rest_is_read(tmp_path: Path, odd: str) -> None:
    put, what = odd_things()[odd]
    folder = make(tmp_path / "w_1_20250101000000000_ascend_pt")
    put(folder / "ASCEND_PROFILER_OUTPUT/trace_view.json")
    run, (source,) = open_input(tmp_path)
    assert run.steps == (1,)
    (row,) = told(source)
    assert row[0] == f"{folder.name}/ASCEND_PROFILER_OUTPUT/trace_view.json"
    assert row[1].startswith(what)
    assert row[2] == "unreadable"
    with pytest.raises(FactMissing) as missing:
        source.read(HostCall)
    assert missing.value.unreadable == ("trace_view.json",)


def test_what_is_left_aside_is_told_of_the_rank_in_whose_folder_it_lies(tmp_path: Path) -> None:
    first, second = (make(tmp_path / f"w_{rank}_20250101000000000_ascend_pt", rank=rank) for rank in (0, 1))
    os.mkfifo(second / "ASCEND_PROFILER_OUTPUT/op_statistic.csv")
    os.mkfifo(first / "ASCEND_PROFILER_OUTPUT/kernel_details.csv")
    run, sources = open_input(tmp_path)
    assert run.ranks == (0, 1)
    assert [[file for file, _, _ in told(source)] for source in sources] == [
        [f"{first.name}/ASCEND_PROFILER_OUTPUT/kernel_details.csv"],
        [f"{second.name}/ASCEND_PROFILER_OUTPUT/op_statistic.csv"],
    ]


def test_a_pipe_is_called_one_beside_an_archive_and_behind_a_link_too(tmp_path: Path) -> None:
    folder = make(tmp_path / "job/w_1_20250101000000000_ascend_pt")
    os.mkfifo(folder / "ASCEND_PROFILER_OUTPUT/op_statistic.csv")
    with zipfile.ZipFile(tmp_path / "job/w_2_20250101000000000_ascend_pt.zip", "w") as archive:
        archive.writestr("ASCEND_PROFILER_OUTPUT/step_trace_time.csv", f"{STEPS}3,5,1,0,1,4\n")
        archive.writestr("profiler_info_1.json", "{}")
    profile = pipeline.open_profile(tmp_path / "job")
    assert len(profile.run.captures) == 2
    assert [*profile.table(Damage).texts("what").values()] == ["is no regular file"]


def test_what_an_archive_of_a_rank_lacks_is_told_of_that_rank(tmp_path: Path) -> None:
    make(tmp_path / "w_0_20250101000000000_ascend_pt", rank=0)
    name = "w_1_20250101000000000_ascend_pt"
    packed = make(tmp_path / "packed" / name, rank=1)
    with tarfile.open(tmp_path / f"{name}.tar", "w") as archive:
        archive.add(packed, name)
        pipe = tarfile.TarInfo(f"{name}/ASCEND_PROFILER_OUTPUT/op_statistic.csv")
        pipe.type = tarfile.FIFOTYPE
        archive.addfile(pipe)
    shutil.rmtree(tmp_path / "packed")
    damages = pipeline.open_profile(tmp_path).table(Damage)
    assert damages["rank"].tolist() == [1]
    assert [*damages.texts("file").values()] == [f"{name}.tar/{name}/ASCEND_PROFILER_OUTPUT/op_statistic.csv"]


@pytest.mark.parametrize("odd", odd_things())
def test_other_things_in_the_folder_are_none_of_the_profile(tmp_path: Path, odd: str) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    odd_things()[odd][0](tmp_path / "agent.sock")
    _, (source,) = open_input(tmp_path)
    assert told(source) == []


def test_a_rank_folder_that_is_a_link_to_nothing_is_told(tmp_path: Path) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    (tmp_path / "w_2_20250101000000000_ascend_pt").symlink_to("/mnt/share/that/is/not/mounted")
    run, (source,) = open_input(tmp_path)
    assert told(source) == [("w_2_20250101000000000_ascend_pt", "is a link to nothing", "unreadable")]
    assert not run.notes


def test_a_folder_of_captures_that_bears_the_name_of_one_lacks_nothing(tmp_path: Path) -> None:
    make(tmp_path / "job_ascend_ms" / "w_1_20250101000000000_ascend_pt")
    (tmp_path / "job_ascend_ms" / "README.md").write_text("a job of one rank")
    _, (source,) = open_input(tmp_path / "job_ascend_ms")
    assert told(source) == []


@pytest.mark.parametrize("inside", [(), ("KERNEL~1.CSV", "TRACE_~1.JSO")])
def test_a_rank_whose_output_holds_no_results_is_told(inside: tuple[str, ...], tmp_path: Path) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    output = tmp_path / "w_2_20250101000000000_ascend_pt/ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    for name in inside:
        (output / name).write_text("x")
    _, (source,) = open_input(tmp_path)
    what = str(Message("holds_no_results"))
    assert told(source) == [("w_2_20250101000000000_ascend_pt/ASCEND_PROFILER_OUTPUT", what, "unreadable")]


def test_links_to_files_and_folders_elsewhere_are_followed(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store/steps.csv").write_text(f"{STEPS}3,5,1,0,1,4\n")
    folder = make(tmp_path / "job/w_1_20250101000000000_ascend_pt")
    steps = folder / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv"
    steps.unlink()
    steps.symlink_to(tmp_path / "store/steps.csv")
    run, (source,) = open_input(tmp_path / "job")
    assert run.steps == (3,)
    assert told(source) == []


@pytest.mark.parametrize("name", ("w_2_20250101000000000_ascend_pt", "rank_2"))
def test_a_rank_folder_that_cannot_be_opened_is_damage_of_the_capture(
    tmp_path: Path, closed: set[str], name: str
) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    (tmp_path / name).mkdir()
    closed.add(name)
    run, (source,) = open_input(tmp_path)
    assert told(source) == [(name, "is a folder that cannot be opened (permission denied)", "unreadable")]
    assert not run.notes


def test_a_closed_folder_far_from_any_capture_is_only_noted(tmp_path: Path, closed: set[str]) -> None:
    make(tmp_path / "job/w_1_20250101000000000_ascend_pt")
    (tmp_path / "home/private").mkdir(parents=True)
    closed.add("private")
    run, (source,) = open_input(tmp_path)
    assert told(source) == []
    assert run.notes == (note("unreadable_folders=1"),)


@pytest.mark.parametrize("command", (["diagnose"], ["check"]))
def test_a_rank_folder_that_cannot_be_opened_is_a_finding(
    tmp_path: Path, closed: set[str], command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    (tmp_path / "w_2_20250101000000000_ascend_pt").mkdir()
    closed.add("w_2_20250101000000000_ascend_pt")
    main([*command, str(tmp_path), "--lang", "en", "--jobs", "1"])
    assert "Part of the capture could not be read: whole files" in capsys.readouterr().out


def test_a_folder_with_more_names_than_any_profile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "w_1_20250101000000000_ascend_pt")
    monkeypatch.setattr(detect, "MOST_NAMES", 4)
    assert open_input(tmp_path)[0].ranks == (0,)
    (tmp_path / "more").write_text("")
    with pytest.raises(InputError, match="holds more than") as refused:
        open_input(tmp_path)
    assert "采集数据" in refused.value.say("zh")


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of files that may not be opened."""
    names: set[str] = set()
    opened = os.open

    def refuse(path: Path, flags: int) -> int:
        if Path(path).name in names:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags)

    monkeypatch.setattr(regular_files.os, "open", refuse)
    return names


def hint_of(path: Path) -> Message | Text | None:
    with pytest.raises(InputError, match="permission denied") as caught:
        open_input(path)
    return caught.value.hint


@pytest.mark.parametrize("name", ["kernel_details.csv", "x.pt.trace.json", "x.pt.trace.json.gz", "job.zip"])
def test_a_file_that_may_not_be_opened_is_to_be_made_readable(tmp_path: Path, locked: set[str], name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    locked.add(name)
    assert hint_of(tmp_path / name) == Message("make_readable")


@pytest.mark.parametrize("name", ["kernel_details.csv", "x.pt.trace.json", "cluster_step_trace_time.csv"])
def test_so_is_one_in_a_folder_that_holds_nothing_else(tmp_path: Path, locked: set[str], name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    locked.add(name)
    assert hint_of(tmp_path) == Message("make_readable")


def test_a_file_of_a_capture_that_may_not_be_opened_is_told_and_to_be_made_readable(
    tmp_path: Path, locked: set[str]
) -> None:
    folder = make(tmp_path / "w_1_20250101000000000_ascend_pt")
    (folder / "ASCEND_PROFILER_OUTPUT/kernel_details.csv").write_bytes(b"x")
    locked.add("kernel_details.csv")
    (found,) = [one for one in advisor.diagnose(tmp_path).findings if one.rule == "capture/damaged-input"]
    assert found.fix == (0,)


def test_a_file_in_a_folder_of_its_name_is_read_as_unpackers_leave_it(tmp_path: Path) -> None:
    steps = make(tmp_path / "w_1_20250101000000000_ascend_pt") / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv"
    steps.rename(tmp_path / "file")
    steps.mkdir()
    (tmp_path / "file").rename(steps / steps.name)
    run, (source,) = open_input(tmp_path)
    assert run.steps == (1,)
    assert told(source) == []


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    folder = make(tmp_path / "w_1_20250101000000000_ascend_pt")
    (folder / "ASCEND_PROFILER_OUTPUT/kernel_details.csv").mkdir()
    _, (source,) = open_input(tmp_path)
    where = f"{folder.name}/kernel_details.csv"
    assert told(source) == [(where, "is a folder, and no file of that name lies in it", "unreadable")]
