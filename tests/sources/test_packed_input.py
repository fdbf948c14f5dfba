# SPDX-License-Identifier: Apache-2.0
"""Packed captures are what they hold: the same report, nothing outside of a private folder, and nothing left behind."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import advisor
from advisor import pipeline
from advisor.cli.main import main
from advisor.mcp_server.open_captures import Opened
from advisor.mcp_server.roots import Roots
from advisor.mcp_server.tools import Tools
from advisor.messages.errors import InputError
from advisor.model.findings import Diagnosis
from advisor.rules.catalog import Catalog
from advisor.sources import archive_limits
from advisor.sources.files.archives import FAILURES, members_of
from advisor.sources.files.damage_notes import Odd
from advisor.sources.unpacking import safe_parts

CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"
Pack = Callable[[Path, Path], None]


@pytest.fixture(scope="module")
def rules() -> Catalog:
    return advisor.load_rules()


@pytest.fixture(scope="module")
def whole(rules: Catalog) -> Diagnosis:
    return pipeline.diagnose(pipeline.open_profile(CASE), rules)


@pytest.fixture(autouse=True)
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private folders are made, which is empty again in the end."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def pack_zip(folder: Path, to: Path) -> None:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder.parent))


def pack_tar(mode: str) -> Pack:
    def pack(folder: Path, to: Path) -> None:
        with tarfile.open(to, f"w:{mode}") as archive:
            archive.add(folder, folder.name)

    return pack


def pack_folder_of_zips(folder: Path, to: Path) -> None:
    to.mkdir()
    for part in folder.iterdir():
        if part.is_dir():
            pack_zip(part, to / f"{part.name}.zip")
        else:
            shutil.copy(part, to)


def pack_files(folder: Path, to: Path) -> None:
    shutil.copytree(folder, to)
    for file in sorted(to.rglob("*")):
        if file.suffix in (".csv", ".json", ".db"):
            file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()


def pack_zip_in_tar(folder: Path, to: Path) -> None:
    inner = to.parent / "inner"
    pack_folder_of_zips(folder, inner)
    with tarfile.open(to, "w:gz") as archive:
        archive.add(inner, to.name.partition(".")[0])


WAYS: dict[str, tuple[str, Pack]] = {
    "zip": ("job.zip", pack_zip),
    "tar": ("job.tar", pack_tar("")),
    "tar.gz": ("job.tar.gz", pack_tar("gz")),
    "tar.xz": ("job.txz", pack_tar("xz")),
    "folder of zips": ("job", pack_folder_of_zips),
    "packed files": ("job", pack_files),
    "zips in a tar": ("job.tgz", pack_zip_in_tar),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_report_of_a_packed_capture_is_that_of_the_folder(
    way: str, tmp_path: Path, private: Path, whole: Diagnosis, rules: Catalog
) -> None:
    name, pack = WAYS[way]
    shutil.copytree(CASE, tmp_path / "host-bound-2-ranks")
    pack(tmp_path / "host-bound-2-ranks", tmp_path / name)
    profile = pipeline.open_profile(tmp_path / name)
    assert len(list(private.iterdir())) == 1
    found = pipeline.diagnose(profile, rules)
    prefix = "host-bound-2-ranks/" if way in ("zip", "tar", "tar.gz", "tar.xz") else ""
    expected = whole.to_json().replace('"name": "host-bound-2-ranks"', f'"name": "{name}"')
    expected = expected.replace('"path": "node', f'"path": "{prefix}node')
    assert found.to_json() == expected
    del profile
    assert not list(private.iterdir())


@pytest.mark.parametrize("path", [".", "..", "../."])
def test_archives_in_the_folder_one_stands_in_are_unpacked(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: Diagnosis, rules: Catalog
) -> None:
    pack_folder_of_zips(CASE, tmp_path / "job")
    (tmp_path / "job" / "notes").mkdir()
    monkeypatch.chdir(tmp_path / "job" if path == "." else tmp_path / "job" / "notes")
    found = pipeline.diagnose(pipeline.open_profile(Path(path)), rules)
    assert found.run.name == "job"
    assert found.outcomes == whole.outcomes


def test_an_archive_of_the_same_name_as_its_folder_has_the_same_paths(
    tmp_path: Path, whole: Diagnosis, rules: Catalog
) -> None:
    pack_zip(CASE, tmp_path / "host-bound-2-ranks.zip")
    found = pipeline.diagnose(pipeline.open_profile(tmp_path / "host-bound-2-ranks.zip"), rules)
    assert found.run.captures == whole.run.captures


def test_a_packed_database_is_read(tmp_path: Path, real_data: Path, rules: Catalog) -> None:
    folder = real_data / "msinsight_pytorch_matrix/db/level1"
    pack_files(folder, tmp_path / "job")
    one, other = (pipeline.diagnose(pipeline.open_profile(path), rules) for path in (folder, tmp_path / "job"))
    assert [finding.fingerprint for finding in one.findings] == [finding.fingerprint for finding in other.findings]
    assert one.outcomes == other.outcomes
    assert not other.unread


def test_a_single_packed_file_stands_for_its_capture(tmp_path: Path, rules: Catalog) -> None:
    pack_files(CASE, tmp_path / "job")
    (file, *_) = sorted((tmp_path / "job").rglob("kernel_details.csv.gz"))
    plain = pipeline.open_profile(next(iter(sorted(CASE.rglob("kernel_details.csv")))))
    packed = pipeline.open_profile(file)
    assert len(packed.table("kernels")) == len(plain.table("kernels"))
    assert packed.run.name == "kernel_details.csv.gz"


def test_every_command_takes_an_archive(tmp_path: Path, private: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job.zip"
    pack_zip(CASE, job)
    assert main(["diagnose", str(job), "-q"]) == 0
    assert main(["inspect", str(job), "-q", "-o", str(tmp_path / "i.json")]) == 0
    assert main(["compare", str(CASE), str(job), "-q"]) == 0
    assert main(["check", str(job), "-q", "--fail-on", "never"]) in (0, 1, 2)
    assert main(["explain", "host/free-time", str(job), "-q"]) == 0
    assert not list(private.iterdir())
    assert str(private) not in (tmp_path / "i.json").read_text() + "".join(capsys.readouterr())


def test_an_assistant_reads_archives_below_the_roots(tmp_path: Path, private: Path, rules: Catalog) -> None:
    (tmp_path / "root").mkdir()
    pack_zip(CASE, tmp_path / "root" / "job.zip")
    pack_zip(CASE, tmp_path / "out.zip")
    gc.freeze()  # what other tests keep is not looked through
    tools = Tools(Opened(Roots([tmp_path / "root"]), rules))
    assert tools.diagnose("job.zip")["run"]["name"] == "job.zip"
    assert str(private) not in str(tools.inspect("job.zip"))
    with pytest.raises(InputError):
        tools.diagnose("../out.zip")
    del tools
    gc.collect()
    assert not list(private.iterdir())


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


names = st.lists(
    st.sampled_from(["..", ".", "", "a", "b.csv", "C:", "~", "\\", "a\\..", "/", "x" * 300, "\u202e", "a\n"]),
    max_size=6,
).map("/".join)


@given(st.one_of(names, st.text(max_size=20)))
def test_no_name_of_a_member_leads_out_of_its_folder(name: str) -> None:
    parts = safe_parts(name)
    if parts is not None:
        top = Path("/private/folder")
        assert Path(os.path.normpath(top.joinpath(*parts))).is_relative_to(top)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(names.filter(bool), max_size=5))
def test_hostile_members_land_nowhere(tmp_path_factory: pytest.TempPathFactory, told: list[str]) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "t").mkdir()
    (folder / "in").mkdir()
    before = tempfile.tempdir
    tempfile.tempdir = str(folder / "t")
    try:
        with tarfile.open(folder / "in" / "x.tar", "w") as archive:
            for number, name in enumerate(told):
                info = tarfile.TarInfo(name)
                info.type = (tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.LNKTYPE)[number % 4]
                info.linkname = "/etc/passwd"
                archive.addfile(info)
        with pytest.raises(InputError) as refused:
            pipeline.open_profile(folder / "in" / "x.tar")
        assert str(folder / "t") not in refused.value.say("en") + refused.value.say("zh")
        assert {path.name for path in folder.iterdir()} == {"t", "in"}
        assert [path.name for path in (folder / "in").iterdir()] == ["x.tar"]
    finally:
        tempfile.tempdir = before
    del refused
    assert not list((folder / "t").iterdir())


def test_links_out_of_an_archive_are_left_out_and_told(tmp_path: Path, rules: Catalog) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("secret")
    with tarfile.open(tmp_path / "job.tar", "w") as archive:
        archive.add(CASE, "job")
        info = tarfile.TarInfo("job/npu_module_mem.csv")
        info.type, info.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(info)
        archive.addfile(tarfile.TarInfo("../../kernel_details.csv"))
    found = pipeline.diagnose(pipeline.open_profile(tmp_path / "job.tar"), rules)
    told = {one.file: one.what for one in found.unread}
    assert told["job.tar/job/npu_module_mem.csv"] == "is a link or a device, and is not followed"
    assert told["job.tar/../../kernel_details.csv"] == "would lie outside of the archive, or too deep in it"


def test_a_bomb_is_refused_in_a_sentence(tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_limits, "FREE_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "job.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kernel_details.csv", bytes(64 << 20))
    with pytest.raises(InputError, match="far more once unpacked") as refused:
        pipeline.open_profile(tmp_path / "job.zip")
    assert "job.zip cannot be unpacked" in str(refused.value)
    del refused
    assert not list(private.iterdir())


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_limits, "MOST_MEMBERS", 3)
    write_zip(tmp_path / "job.zip", {f"{number}.csv": b"" for number in range(4)})
    with pytest.raises(InputError, match="more than 3 members"):
        pipeline.open_profile(tmp_path / "job.zip")


def test_a_zip_that_lists_too_many_members_is_refused_before_one_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_limits, "MOST_MEMBERS", 3)
    path = write_zip(tmp_path / "job.zip", {f"{number}.csv": b"" for number in range(4)})
    with pytest.raises(Odd):
        next(members_of(path, "zip"))


@pytest.mark.parametrize(("pack", "tool"), [(bz2.compress, "bzip2"), (lzma.compress, "xz")])
def test_a_single_file_packed_otherwise_than_with_gzip_is_not_called_damaged(
    pack: Callable[[bytes], bytes], tool: str, tmp_path: Path
) -> None:
    packed = tmp_path / "trace_view.json.packed"
    packed.write_bytes(pack(b"[" + b" " * 1000 + b"]"))
    with pytest.raises(InputError) as caught:
        pipeline.open_profile(packed)
    assert str(caught.value).splitlines()[0] == (
        f"{packed} cannot be unpacked: it is one file packed with {tool}, which is not read: unpack it, or pack it "
        "with gzip"
    )


def test_an_encrypted_archive_says_so(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "job.zip", {"kernel_details.csv": b"x"})
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be unpacked: is encrypted"):
        pipeline.open_profile(path)


@pytest.mark.parametrize("way", ["zip", "tar", "tar.gz", "tar.xz"])
@pytest.mark.parametrize("kept", [0.0001, 0.5, 0.9])
def test_an_archive_that_was_cut_off_ends_in_a_sentence_or_is_told(
    way: str, kept: float, tmp_path: Path, private: Path, rules: Catalog
) -> None:
    name, pack = WAYS[way]
    pack(CASE, tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / name).write_bytes(content[: int(len(content) * kept)])
    try:
        found = pipeline.diagnose(pipeline.open_profile(tmp_path / name), rules)
    except InputError as refused:
        assert name in refused.say("en")
        assert str(private) not in refused.say("en") + refused.say("zh")
    else:
        assert any(name in one.file for one in found.unread)
        assert str(private) not in found.to_json()


def test_a_zip_that_was_cut_off_is_read_up_to_there_and_said_to_end_early(tmp_path: Path, rules: Catalog) -> None:
    pack_zip(CASE, tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    second = content.index(b"node0_3178997")
    (tmp_path / "job.zip").write_bytes(content[: (second + len(content)) // 2])
    found = pipeline.diagnose(pipeline.open_profile(tmp_path / "job.zip"), rules)
    assert 0 in found.run.ranks
    (told,) = [one for one in found.unread if one.file == "job.zip"]
    assert "the archive ends early" in told.what
    assert told.what_message is not None
    assert "压缩包不完整，提前结束" in str(told.what_message.say("zh"))


def noise(seed: int, size: int) -> bytes:
    """Bytes that cannot be packed."""
    return random.Random(seed).randbytes(size)  # noqa: S311 - no secret


def write_tar(path: Path, names: tuple[str, ...] = ("a", "b", "c"), size: int = 2000) -> bytearray:
    """A tar of some files."""
    with tarfile.open(path, "w") as archive:
        for number, name in enumerate(names):
            content = noise(number, size)
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return bytearray(path.read_bytes())


def names_and_failure(path: Path) -> tuple[list[str], str]:
    """The members that are read to their end, and what the archive ends over."""
    names = []
    try:
        for member in members_of(path, "tar"):
            names.append(member.name)
            member.open().read()
    except FAILURES as wrong:
        return names, str(wrong)
    return names, ""


@pytest.mark.parametrize("zeroed", [True, False])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_head_that_is_lost_in_a_tar_is_no_end_of_it(
    pack: Callable[[bytes], bytes], zeroed: bool, tmp_path: Path
) -> None:
    content = write_tar(tmp_path / "job.tar")
    assert names_and_failure(tmp_path / "job.tar") == (["a", "b", "c"], "")
    head = 512 + 2048
    content[head : head + 512] = bytes(512) if zeroed else b"x" + content[head + 1 : head + 512]
    (tmp_path / "job.tar").write_bytes(pack(content))
    names, failure = names_and_failure(tmp_path / "job.tar")
    assert names == ["a"]
    assert failure == ("zeros where a member is due" if zeroed else "bad checksum")


def test_a_flipped_bit_in_a_packed_tar_is_told_wherever_it_is(tmp_path: Path) -> None:
    packed = gzip.compress(write_tar(tmp_path / "job.tar"))
    (tmp_path / "job.tar").write_bytes(packed)
    assert names_and_failure(tmp_path / "job.tar") == (["a", "b", "c"], "")
    for at in range(10, len(packed), 97):
        damaged = bytearray(packed)
        damaged[at] ^= 4
        (tmp_path / "job.tar").write_bytes(damaged)
        assert names_and_failure(tmp_path / "job.tar")[1]


def test_a_tar_that_was_packed_in_parts_is_read_to_its_end(tmp_path: Path) -> None:
    content = write_tar(tmp_path / "job.tar")
    for pack in gzip.compress, bz2.compress, lzma.compress:
        (tmp_path / "job.tar").write_bytes(pack(content[:3000]) + pack(content[3000:]))
        assert names_and_failure(tmp_path / "job.tar") == (["a", "b", "c"], "")


def test_of_an_archive_whose_checksum_alone_is_wrong_nothing_is_said_to_be_lost(tmp_path: Path, rules: Catalog) -> None:
    pack_tar("gz")(CASE, tmp_path / "job.tar.gz")
    content = bytearray((tmp_path / "job.tar.gz").read_bytes())
    content[-6] ^= 1
    (tmp_path / "job.tar.gz").write_bytes(content)
    (told,) = pipeline.diagnose(pipeline.open_profile(tmp_path / "job.tar.gz"), rules).unread
    assert told.file == "job.tar.gz"
    assert told.what.startswith("its checksum does not fit")


def test_a_packed_file_that_is_damaged_is_not_called_cut_short(tmp_path: Path) -> None:
    rows = noise(0, 9000).hex()
    packed = bytearray(gzip.compress(b"Step,Computing\n" + rows.encode()))
    packed[len(packed) // 2 : len(packed) // 2 + 64] = b"\xff" * 64
    (tmp_path / "step_trace_time.csv.gz").write_bytes(packed)
    with pytest.raises(InputError) as refused:
        pipeline.open_profile(tmp_path / "step_trace_time.csv.gz")
    assert "ends early" not in refused.value.say("en")


@pytest.mark.parametrize(("way", "kept"), [("zip", 4), ("tar", 512)])
def test_a_file_that_a_cut_left_nothing_of_is_not_called_empty(way: str, kept: int, tmp_path: Path) -> None:
    name, pack = WAYS[way]
    job = tmp_path / "job"
    job.mkdir()
    (job / "op_summary_20250101000000.csv").write_bytes(b"Op Name,OP Type\n" * 1000)
    pack(job, tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    begin = content.index(b"op_summary_20250101000000.csv")
    head = begin // 512 * 512 if way == "tar" else begin + len("op_summary_20250101000000")
    (tmp_path / name).write_bytes(content[: head + kept])
    with pytest.raises(InputError) as refused:
        pipeline.open_profile(tmp_path / name)
    assert "0 bytes" not in refused.value.say("en")
    assert "damaged" in refused.value.say("en")
    assert "copy the capture again" in str(refused.value.hint)


def test_of_a_member_that_was_cut_off_what_is_there_is_unpacked(tmp_path: Path, rules: Catalog) -> None:
    job = tmp_path / "job"
    job.mkdir()
    rows = [f"0,k{n},Add,AI_VECTOR_CORE,{1_700_000_000_000_000 + 100 * n},50.0,0" for n in range(500)]
    header = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us)"
    (job / "op_summary_20250101000000.csv").write_text("\n".join([header, *rows, ""]))
    with zipfile.ZipFile(tmp_path / "whole", "w", zipfile.ZIP_STORED) as archive:
        archive.write(job / "op_summary_20250101000000.csv", "op_summary_20250101000000.csv")
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "job.zip").write_bytes(content[: content.index(b"k250,")])
    found = pipeline.open_profile(tmp_path / "job.zip")
    assert len(found.table("kernels")) == 250
    assert any("ends early" in one.what for one in pipeline.diagnose(found, rules).unread)


def test_a_zip_that_holds_nothing_whole_is_to_be_copied_again(tmp_path: Path) -> None:
    (tmp_path / "job.zip").write_bytes(b"PK\x03\x04" + b"\x93" * 500)
    with pytest.raises(InputError, match=r"nothing in .* can be unpacked: it is damaged") as refused:
        pipeline.open_profile(tmp_path / "job.zip")
    assert "copy the capture again" in str(refused.value.hint)


def test_a_zip_that_lost_nothing_but_its_directory_is_whole(tmp_path: Path, whole: Diagnosis, rules: Catalog) -> None:
    pack_zip(CASE, tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "job.zip").write_bytes(content[: content.index(b"PK\x01\x02") + 9])
    assert pipeline.diagnose(pipeline.open_profile(tmp_path / "job.zip"), rules).findings == whole.findings


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(["zip", "tar", "gz"]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_damaged_bytes_end_in_no_other_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, changes: list[tuple[float, int]]
) -> None:
    buffer = io.BytesIO()
    rows = b"Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,2,3,4,5,6\n"
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a/step_trace_time.csv", rows)
            archive.writestr("a/kernel_details.csv", rows)
    elif kind == "tar":
        with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
            info = tarfile.TarInfo("a/step_trace_time.csv")
            info.size = len(rows)
            packed.addfile(info, io.BytesIO(rows))
    else:
        buffer.write(gzip.compress(rows))
    content = bytearray(buffer.getvalue())
    for where, value in changes:
        content[int(where * (len(content) - 1))] = value
    path = tmp_path_factory.mktemp("damaged") / {"zip": "j.zip", "tar": "j.tgz", "gz": "step_trace_time.csv.gz"}[kind]
    path.write_bytes(content)
    try:
        pipeline.open_profile(path)
    except InputError as refused:
        assert refused.say("zh")


def test_an_archive_beside_its_own_folder_is_left_alone(tmp_path: Path, private: Path) -> None:
    shutil.copytree(CASE, tmp_path / "jobs" / "prof")
    pack_zip(CASE, tmp_path / "jobs" / "prof.zip")
    assert len(pipeline.open_profile(tmp_path / "jobs").run.ranks) == 2
    assert not list(private.iterdir())


def test_members_that_nobody_reads_are_not_unpacked(tmp_path: Path, private: Path) -> None:
    shutil.copytree(CASE, tmp_path / "job")
    (tmp_path / "job" / "weights.bin").write_bytes(b"x")
    pack_zip(tmp_path / "job", tmp_path / "job.zip")
    shutil.rmtree(tmp_path / "job")
    profile = pipeline.open_profile(tmp_path / "job.zip")
    names = {file.name for file in private.rglob("*")}
    assert "kernel_details.csv" in names
    assert "weights.bin" not in names
    del profile


def test_a_member_without_a_name_is_passed_over(tmp_path: Path, private: Path) -> None:
    pack_zip(CASE, tmp_path / "job.zip")
    with zipfile.ZipFile(tmp_path / "job.zip", "a") as archive:
        nameless = zipfile.ZipInfo("x")
        nameless.filename = ""
        archive.writestr(nameless, b"1")
    assert pipeline.open_profile(tmp_path / "job.zip").run.ranks == (0, 1)


def test_the_private_folder_is_for_its_owner_alone(tmp_path: Path, private: Path) -> None:
    pack_zip(CASE, tmp_path / "job.zip")
    profile = pipeline.open_profile(tmp_path / "job.zip")
    (folder,) = private.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    del profile


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_a_command_leaves_nothing_behind(number: signal.Signals, tmp_path: Path, private: Path) -> None:
    pack_zip(CASE, tmp_path / "job.zip")
    program = (
        "import signal, sys, time\nfrom advisor import pipeline\nfrom advisor.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs tests in the background ignores it\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, too\n"
        "def wait(*_, **__):\n    print('open', flush=True)\n    time.sleep(60)\n"
        "pipeline.judge_profile = wait\nmain(['diagnose', sys.argv[1]])\n"
    )
    environment = {**os.environ, "TMPDIR": str(private)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "job.zip")],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        assert len(list(private.iterdir())) == 1
        process.send_signal(number)
        process.wait(20)
    assert not list(private.iterdir())


def test_a_program_that_uses_advisor_keeps_its_signals(tmp_path: Path, private: Path) -> None:
    pack_zip(CASE, tmp_path / "job.zip")
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    for number in numbers[:2]:
        signal.signal(number, signal.SIG_DFL)
    try:
        profile = pipeline.open_profile(tmp_path / "job.zip")
        assert [signal.getsignal(number) for number in numbers[:2]] == [signal.SIG_DFL] * 2
        del profile
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def test_what_a_killed_process_left_goes_with_the_next(tmp_path: Path, private: Path) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left = private / f"advisor-{int(gone.stdout)}-abc"
    (left / "1").mkdir(parents=True)
    mine = private / f"advisor-{os.getppid()}-abc"
    mine.mkdir()
    pack_zip(CASE, tmp_path / "job.zip")
    time.sleep(0)
    profile = pipeline.open_profile(tmp_path / "job.zip")
    assert not left.exists()
    assert mine.exists()
    del profile
    mine.rmdir()
