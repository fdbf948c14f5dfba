# SPDX-License-Identifier: Apache-2.0
"""How a report reaches the disk: whole or not at all, and nothing but a regular file is ever replaced."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from pathlib import Path

import pytest

from advisor.machine.output_files import write_file, write_new_file
from advisor.messages.errors import UsageError
from advisor.report.writers import Output, check_output, check_outputs, outside_captures


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, told = tmp_path / "report.html", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: told.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, b"report")
    reader.join()
    assert told == [b"report"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_into_and_stays_a_device(tmp_path: Path) -> None:
    device = tmp_path / "null"
    with contextlib.suppress(PermissionError):
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    if not device.exists():
        pytest.skip("devices are made by root alone")
    write_file(device, b"report")
    assert stat.S_ISCHR(device.stat().st_mode)
    assert os.listdir(tmp_path) == ["null"]


def test_a_link_to_a_device_is_not_replaced_either(tmp_path: Path) -> None:
    link = tmp_path / "report.html"
    link.symlink_to("/dev/null")
    before = os.lstat("/dev/null")
    write_file(link, b"report")
    assert os.path.samestat(os.lstat("/dev/null"), before)
    assert link.is_symlink()


def test_an_open_descriptor_is_written_into(tmp_path: Path) -> None:
    read, write = os.pipe()
    write_file(Path(f"/dev/fd/{write}"), b"report")
    os.close(write)
    assert os.read(read, 100) == b"report"
    os.close(read)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_standard_output_is_known_by_all_its_names(name: str) -> None:
    assert check_output(f"html:{name}").is_stdout


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "real.html", tmp_path / "report.html"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(target.parent) == ["real.html"]


def test_a_link_to_nothing_yet_makes_its_target(tmp_path: Path) -> None:
    link = tmp_path / "report.html"
    link.symlink_to("later.html")
    write_file(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "later.html").read_bytes() == b"new"


@pytest.mark.parametrize("target", ["report.html", "other.html"])
def test_a_link_in_a_circle_is_refused_with_a_sentence(target: str, tmp_path: Path) -> None:
    link = tmp_path / "report.html"
    link.symlink_to(target)
    (tmp_path / "other.html").symlink_to("report.html")
    for refuse in (lambda: write_file(link, b"new"), lambda: check_outputs([link])):
        with pytest.raises(UsageError, match="cannot be written"):
            refuse()
    assert sorted(os.listdir(tmp_path)) == ["other.html", "report.html"]


@pytest.mark.parametrize("name", ["r" * 300 + ".html", "报告" * 60 + ".html", "d" * 300 + "/report.html"])
def test_a_name_that_is_too_long_is_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    for refuse in (lambda: write_file(tmp_path / name, b"new"), lambda: check_outputs([tmp_path / name])):
        with pytest.raises(UsageError, match="cannot be written"):
            refuse()
    assert os.listdir(tmp_path) == []


def test_the_longest_name_there_is_can_be_written(tmp_path: Path) -> None:
    name = "报" * 83 + ".html"
    write_file(tmp_path / name, b"new")
    assert os.listdir(tmp_path) == [name]


def test_an_existing_report_keeps_its_mode(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_bytes(b"old")
    for bits in (0o600, 0o664, 0o755):
        report.chmod(bits)
        write_file(report, b"new")
        assert mode(report) == bits


def test_an_existing_report_keeps_its_owner(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_bytes(b"old")
    try:
        os.chown(report, 12345, 23456)
    except PermissionError:
        pytest.skip("files are given away by root alone")
    write_file(report, b"new")
    assert (report.stat().st_uid, report.stat().st_gid) == (12345, 23456)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_report_has_the_mode_that_the_umask_leaves(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        write_file(tmp_path / "report.html", b"new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "report.html") == 0o666 & ~mask


def test_where_no_file_can_be_put_beside_a_report_it_is_written_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "report.html"
    report.write_bytes(b"old and longer")
    inode = report.stat().st_ino

    def refuse(*_: object) -> None:
        raise OSError(16, "Device or resource busy")  # as for a single file mounted into a container

    monkeypatch.setattr(os, "replace", refuse)
    write_file(report, b"new")
    assert report.read_bytes() == b"new"
    assert report.stat().st_ino == inode
    assert os.listdir(tmp_path) == ["report.html"]


def test_what_was_interrupted_leaves_the_old_report_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "report.html"
    report.write_bytes(b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(report, b"new")
    assert report.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_disk_without_room_leaves_no_half_of_a_new_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no space left") as refused:
        write_file(Path("/dev/full"), b"new")
    assert "make room" in str(refused.value.hint)
    path = tmp_path / "advisor.yaml"
    write_new_file(path, b"new")
    with pytest.raises(FileExistsError):
        write_new_file(path, b"other")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["advisor.yaml"]


def test_a_disk_itself_is_no_place_for_a_report(tmp_path: Path) -> None:
    disk = tmp_path / "disk.html"
    try:
        os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(240, 77))
    except PermissionError:
        pytest.skip("devices are made by root alone")
    with pytest.raises(UsageError, match="is a disk"):
        check_outputs([disk])


def spelled(path: Path, how: str) -> Path:
    """A path by other words."""
    folder = path.parent
    if how == "link":
        (folder.parent / "link.json").symlink_to(path)
        return folder.parent / "link.json"
    if how == "hard link":
        os.link(path, folder.parent / "hard.json")
        return folder.parent / "hard.json"
    if how == "link to the folder":
        (folder.parent / "way").symlink_to(folder)
        return folder.parent / "way" / path.name
    words = {"relative": os.path.relpath(path), "dot": f"{folder}/./{path.name}"}
    return Path(words.get(how, f"{folder}/../{folder.name}/{path.name}"))


SPELLINGS = ("relative", "dot", "up and down", "link", "hard link", "link to the folder")


@pytest.mark.parametrize("how", SPELLINGS)
def test_an_output_that_is_the_input_spelled_otherwise_is_refused(how: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    source = tmp_path / "work" / "saved.json"
    source.write_bytes(b"{}")
    with pytest.raises(UsageError, match="is the input"):
        check_outputs([str(spelled(source, how))], source)


@pytest.mark.parametrize("how", SPELLINGS)
def test_an_input_that_is_the_output_spelled_otherwise_is_refused(how: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    source = tmp_path / "work" / "saved.json"
    source.write_bytes(b"{}")
    with pytest.raises(UsageError, match="is the input"):
        check_outputs([str(source)], Path("another.json"), spelled(source, how))


@pytest.mark.parametrize("how", ["relative", "dot", "up and down", "link to the folder"])
def test_an_output_inside_a_capture_is_refused_however_it_is_spelled(how: str, tmp_path: Path) -> None:
    capture = tmp_path / "prof" / "a_ascend_pt"
    capture.mkdir(parents=True)
    outputs = [Output(spelled(capture / "report.json", how), check_output("x.json").writer)]
    with pytest.raises(UsageError, match="captures are never written to"):
        outside_captures(outputs, tmp_path / "prof", ["a_ascend_pt"])
    deeper = capture / "ASCEND_PROFILER_OUTPUT"
    deeper.mkdir()
    inside = [Output(spelled(deeper / "r.json", "dot"), outputs[0].writer)]
    with pytest.raises(UsageError, match="captures are never written to"):
        outside_captures(inside, tmp_path / "prof", ["a_ascend_pt"])


def test_an_output_in_this_folder_is_refused_where_this_folder_is_the_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = tmp_path / "a_ascend_pt"
    capture.mkdir()
    monkeypatch.chdir(capture)
    for name in ("report.json", "./report.json", "../a_ascend_pt/report.json"):
        outputs = check_outputs([name], capture)
        with pytest.raises(UsageError, match="captures are never written to"):
            outside_captures(outputs, Path(), ["."])
    outside_captures(check_outputs(["../report.json"], capture), Path(), ["."])
