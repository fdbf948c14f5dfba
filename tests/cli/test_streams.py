# SPDX-License-Identifier: Apache-2.0
"""What every command prints on a terminal or pipe that is not UTF-8, and without colours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.cli.main import main

TOP = Path(__file__).parents[2]
CASE = TOP / "corpus" / "host-bound-2-ranks"
COMMANDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (1, ("diagnose", str(CASE), "--fail-on", "high")),
    (1, ("check", "saved.json")),
    (0, ("explain", "host/free-time", "saved.json")),
    (0, ("explain", "host/free-time")),
    (1, ("verify", "saved.json", "saved.json")),
    (1, ("verify", "saved.json", "saved.json", "--finding", "host/free-time")),
    (0, ("compare", "saved.json", "saved.json")),
    (0, ("render", "saved.json")),
    (0, ("bot", "saved.json", "--dry-run")),
    (0, ("rules", "list")),
    (0, ("rules", "show", "host/free-time")),
    (0, ("rules", "test", str(TOP / "rules" / "host" / "free-time.yaml"))),
    (2, ("rules", "show", "host/fre-time")),
    (3, ("diagnose", "nothing-here")),
)
OF_STREAMS = ("LC_ALL", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONCOERCECLOCALE", "NO_COLOR", "FORCE_COLOR")
"""What of the environment would change what a test asks for."""


def say_everything() -> None:
    """Every command in both languages."""
    for code, words in COMMANDS:
        for language in ("en", "zh"):
            told = main([*words, "--lang", language])
            assert told == code, (words, told)
    sys.stdout.flush()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a saved diagnosis, away from any settings."""
    folder = tmp_path_factory.mktemp("streams")
    assert main(["diagnose", str(CASE), "-q", "-o", str(folder / "saved.json")]) == 0
    return folder


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    around = {**os.environ, "PYTHONPATH": str(TOP), **environment}
    for name in OF_STREAMS:
        if name not in environment:
            around.pop(name, None)
    return subprocess.run([sys.executable, "-c", script], cwd=folder, env=around, capture_output=True, check=False)


BETWEEN, AFTER = "--- without colour ---", "--- next ---"


def printing(arguments: list[str]) -> str:
    return f"from advisor.cli.main import main; import sys; main({arguments}); sys.stdout.flush()"


def assert_is_everything(said: bytes) -> None:
    assert b"A step takes 33.1 ms" in said
    assert b"host/free-time" in said


@pytest.mark.parametrize("encoding", ["gbk", "cp1252", "latin-1", "cp437"])
def test_a_terminal_that_is_not_utf8_gets_the_answer_and_the_exit_code(
    encoding: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name in OF_STREAMS:
        monkeypatch.delenv(name, raising=False)
    printed = tmp_path / "printed"
    with printed.open("w", encoding=encoding) as out, open(os.devnull, "w", encoding=encoding) as wrong:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", wrong)
        say_everything()
    assert_is_everything(printed.read_bytes())


def test_in_a_plain_locale_there_is_the_answer_and_the_exit_code(folder: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("from tests.cli.test_streams import say_everything; say_everything()", folder, **plain)
    assert done.returncode == 0, done.stderr.decode("ascii", "replace")
    assert b"Traceback" not in done.stderr
    assert_is_everything(done.stdout)


def test_chinese_is_kept_where_the_encoding_has_it(folder: Path) -> None:
    script = printing(["render", "saved.json", "--lang", "zh"])
    said = run(script, folder, PYTHONIOENCODING="gbk").stdout.decode("gbk")
    assert "单步耗时" in said
    assert "?" not in said


def test_signs_that_an_encoding_lacks_have_a_plainer_spelling(folder: Path) -> None:
    script = printing(["render", "saved.json", "--lang", "en"])
    said = run(script, folder, PYTHONIOENCODING="ascii").stdout.decode("ascii")
    assert "####" in said
    assert "->" in said
    assert "?" not in said


def test_a_file_name_that_no_encoding_knows_ends_nothing(folder: Path) -> None:
    script = "from advisor.cli.main import main; import sys; sys.exit(main(['render', 'odd\\udcff.json']))"
    done = run(script, folder, PYTHONIOENCODING="latin-1:strict")
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr


WORDS = {
    "diagnose": ["render", "saved.json"],
    "check": ["check", "saved.json"],
    "compare": ["compare", "saved.json", "saved.json"],
    "verify": ["verify", "saved.json", "saved.json"],
    "explain": ["explain", "host/free-time", "saved.json"],
    "rules": ["rules", "show", "host/free-time"],
}


@pytest.fixture(scope="module")
def coloured_and_plain(folder: Path) -> dict[str, list[bytes]]:
    """By command: what it prints in colours, and without."""
    script = "import os; from advisor.cli.main import main"
    for colours in ("", f"; os.environ['NO_COLOR'] = '1'; print('{BETWEEN}', flush=True)"):
        script += colours + "".join(f"; main({words!r}); print('{AFTER}', flush=True)" for words in WORDS.values())
    said = run(script, folder, FORCE_COLOR="1", TERM="xterm-256color").stdout
    parts = [half.split(AFTER.encode()) for half in said.split(BETWEEN.encode())]
    return {command: [half[number] for half in parts] for number, command in enumerate(WORDS)}


@pytest.mark.parametrize("command", WORDS)
def test_without_colour_there_is_no_bold_either(command: str, coloured_and_plain: dict[str, list[bytes]]) -> None:
    coloured, plain = coloured_and_plain[command]
    assert b"\x1b[" in coloured
    assert len(plain) > 80
    assert b"\x1b[" not in plain
