# SPDX-License-Identifier: Apache-2.0
"""However a command ends: one sentence, no traceback, and an exit code that can be trusted.

Commands that only differ in their words and streams are asked of the warm process, and others of a new one.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.messages.errors import InputError, UsageError, WorkerLost
from advisor.messages.message import Message

TOP = Path(__file__).parents[2]
CASE = TOP / "corpus" / "host-bound-2-ranks"
COMMANDS = (
    "diagnose {capture}",
    "check {saved}",
    "explain host/free-time {saved}",
    "explain host/free-time",
    "verify {saved} {saved}",
    "compare {saved} {saved}",
    "render {saved}",
    "bot {saved} --dry-run",
    "rules list",
    "rules show host/free-time",
    "rules lint",
    "rules test {rule}",
    "rules schema",
    "completion bash",
    "snapshot-env",
    "--help",
    "--version",
)
SILENT = ("rules lint",)
"""Prints nothing where nothing is wrong."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("endings") / "saved.json"
    assert main(["diagnose", str(CASE), "-q", "-o", str(path)]) == 0
    return path


ANEW = f"{sys.executable} -P -m advisor"


def shell(words: str, saved: Path, folder: Path, program: str | Path = ANEW) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `advisor` is this program."""
    command = words.format(saved=saved, capture=CASE, rule=TOP / "rules" / "host" / "free-time.yaml")
    around = {**os.environ, "PYTHONPATH": str(TOP), "LC_ALL": "C.UTF-8"}
    script = f'advisor() {{ {program} "$@"; }}\nset -o pipefail\n{command}'
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=around, capture_output=True, text=True, check=False, errors="replace"
    )


def is_one_sentence(said: str, hint: bool = False) -> bool:
    return re.fullmatch(r"advisor: [^\n]+\n" + (r"    hint: [^\n]+\n" if hint else ""), said) is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_standard_output_is_said_and_is_no_success(
    command: str, saved: Path, tmp_path: Path, advisor_command: Path
) -> None:
    done = shell(f"advisor {command} >/dev/full", saved, tmp_path, advisor_command)
    if command in SILENT:
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert done.returncode in {1, 2}
    if done.returncode == 2:
        assert is_one_sentence(done.stderr), done.stderr
        assert "standard output cannot be written: no space left" in done.stderr


@pytest.mark.parametrize("command", ["check {saved}", "render {saved}", "rules list", "render {saved} -q -o json:-"])
@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_closed_standard_output_is_no_success(
    command: str, closed: str, saved: Path, tmp_path: Path, advisor_command: Path
) -> None:
    done = shell(f"advisor {command} {closed}", saved, tmp_path, advisor_command)
    assert done.returncode == (1 if "check" in command else 2)
    assert "Traceback" not in done.stderr


def test_what_is_not_printed_needs_no_standard_output(saved: Path, tmp_path: Path) -> None:
    done = shell("advisor render {saved} -q -o r.md <&- >&- 2>&-", saved, tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "r.md").stat().st_size > 1000


@pytest.mark.parametrize(
    ("command", "code"), [("check {saved}", 1), ("rules show host/free-time", 0), ("rules test bad.yaml", 2)]
)
def test_a_reader_who_goes_away_changes_no_exit_code(
    command: str, code: int, saved: Path, tmp_path: Path, advisor_command: Path
) -> None:
    for reader in ("true", "head -c 1"):
        done = shell(f"advisor {command} 2>/dev/null | {reader}", saved, tmp_path, advisor_command)
        assert done.returncode == code
        assert done.stderr == ""


def test_an_error_that_nobody_reads_keeps_its_exit_code(saved: Path, tmp_path: Path) -> None:
    for lost in ("2>&-", "2>/dev/full", "2>&1 | true"):
        assert shell(f"advisor diagnose nothing-here {lost}", saved, tmp_path).returncode == 3


@pytest.mark.parametrize("command", ["diagnose {capture}", "check {saved}", "rules list", "bot {saved} --dry-run"])
def test_a_removed_working_folder_is_said(command: str, saved: Path, tmp_path: Path) -> None:
    done = shell(f"mkdir gone; cd gone; rmdir ../gone; advisor {command}", saved, tmp_path)
    assert done.returncode == 2
    assert "no longer there" in done.stderr
    assert is_one_sentence(done.stderr, hint=True), done.stderr


class Odd(Exception):
    """What nobody expects."""


def break_down(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("advisor.cli.commands.rules._list_rules", fail)


@pytest.mark.parametrize(("language", "hint"), [("en", "please report it"), ("zh", "反馈给维护者")])
def test_what_nobody_expected_ends_with_four_and_one_sentence(
    language: str, hint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in (
        Odd("a\nb"),
        KeyError("x"),
        OSError(5, "Input/output error"),
        RecursionError("too deep"),
        ValueError(),
    ):
        break_down(error, monkeypatch)
        assert main(["rules", "list", "--lang", language]) == 4
        told = capsys.readouterr().err
        assert len(told.splitlines()) == 2
        assert type(error).__name__ in told
        assert hint in told


def test_the_reason_of_a_breakdown_is_in_the_language_of_the_reader(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_down(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), monkeypatch)
    assert main(["rules", "list", "--lang", "zh"]) == 4
    told = capsys.readouterr().err
    assert "UnicodeDecodeError：含有非 UTF-8 字节" in told
    assert "bytes that" not in told


def test_with_debug_the_traceback_is_shown_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_down(Odd("a"), monkeypatch)
    assert main(["rules", "list", "--debug"]) == 4
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libx.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        SystemError("error return without exception set"),
    ],
)
def test_a_lack_of_memory_is_called_so(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_down(error, monkeypatch)
    assert main(["rules", "list", "--lang", "en"]) == 4
    assert "memory ran out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError(Message("memory_ran_out")), 3), (UsageError(Message("memory_ran_out")), 2), (WorkerLost(), 4)],
)
def test_each_kind_of_error_has_its_exit_code(error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    break_down(error, monkeypatch)
    assert main(["rules", "list"]) == code


def test_an_interruption_ends_as_shells_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    break_down(KeyboardInterrupt(), monkeypatch)
    assert main(["rules", "list"]) == 130


HEEDED = "import os, signal, sys; signal.signal(int(sys.argv[1]), signal.SIG_DFL); os.execv(sys.argv[2], sys.argv[2:])"
"""Runs a command that heeds a signal, also where whoever runs the tests ignores it, as under nohup."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_temporary_file(number: int, saved: Path, tmp_path: Path) -> None:
    around = {**os.environ, "PYTHONPATH": str(TOP), "TMPDIR": str(tmp_path)}
    os.mkfifo(tmp_path / "r.md")  # who writes into a pipe waits for a reader
    command = [sys.executable, "-P", "-m", "advisor", "render", "-", "-q", "-o", str(tmp_path / "r.md")]
    process = subprocess.Popen(
        [sys.executable, "-c", HEEDED, str(int(number)), *command],
        env=around,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(saved.read_bytes())
    process.stdin.close()
    waited = time.monotonic() + 60
    while not list(tmp_path.glob("advisor-*/stdin.json")) and time.monotonic() < waited:
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert os.listdir(tmp_path) == ["r.md"]


def test_a_signal_that_is_ignored_stays_ignored(saved: Path, tmp_path: Path) -> None:
    done = shell("trap '' HUP TERM; advisor render {saved} -q -o r.md; kill -HUP $$", saved, tmp_path)
    assert done.returncode == 0


def test_a_full_temporary_folder_is_said(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from advisor.cli import standard_input

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    monkeypatch.setattr(standard_input.sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert main(["render", "-"]) == 2
    assert os.listdir(tmp_path) == []


HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05",'
    '"capabilities":{},"clientInfo":{"name":"a","version":"1"}}}'
)


def test_an_assistant_that_hangs_up_is_the_end_and_a_full_answer_is_said(saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    (tmp_path / "hello").write_text(HELLO + "\n")
    done = shell("advisor mcp <hello | true", saved, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = shell("advisor mcp <hello >/dev/full", saved, tmp_path)
    assert done.returncode == 2
    assert is_one_sentence(done.stderr), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits the address space like this")
def test_in_half_a_gigabyte_of_address_space_there_is_an_answer_or_a_sentence(saved: Path, tmp_path: Path) -> None:
    for kilobytes in (150_000, 500_000):
        done = shell(f"ulimit -v {kilobytes}; advisor diagnose {{capture}} -o r.md", saved, tmp_path)
        assert "Traceback" not in done.stderr
        assert done.returncode in {0, 4}, done.stderr[-500:]
        assert (done.returncode == 4) == ("memory ran out" in done.stderr)
