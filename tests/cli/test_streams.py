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
SCRIPT = """
import os, sys
from advisor.cli.main import main
for code, words in {commands}:
    for language in ("en", "zh"):
        told = main([*words, "--lang", language])
        assert told == code, (words, told)
sys.stdout.flush()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a saved diagnosis, away from any settings."""
    folder = tmp_path_factory.mktemp("streams")
    assert main(["diagnose", str(CASE), "-q", "-o", str(folder / "saved.json")]) == 0
    return folder


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    around = {**os.environ, "PYTHONPATH": str(TOP), **environment}
    for name in ("LC_ALL", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONCOERCECLOCALE", "NO_COLOR", "FORCE_COLOR"):
        if name not in environment:
            around.pop(name, None)
    return subprocess.run([sys.executable, "-c", script], cwd=folder, env=around, capture_output=True, check=False)


BETWEEN = "--- without colour ---"


def printing(arguments: list[str]) -> str:
    return f"from advisor.cli.main import main; import sys; main({arguments}); sys.stdout.flush()"


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "gbk"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "cp437:strict"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_a_terminal_that_is_not_utf8_gets_the_answer_and_the_exit_code(
    environment: dict[str, str], folder: Path
) -> None:
    done = run(SCRIPT.format(commands=ascii(COMMANDS)), folder, **environment)
    assert done.returncode == 0, done.stderr.decode("ascii", "replace")
    assert b"Traceback" not in done.stderr
    assert b"A step takes 32.3 ms" in done.stdout
    assert b"host/free-time" in done.stdout


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


@pytest.mark.parametrize("command", ["diagnose", "check", "compare", "verify", "explain", "rules"])
def test_without_colour_there_is_no_bold_either(command: str, folder: Path) -> None:
    words = {
        "diagnose": ["render", "saved.json"],
        "check": ["check", "saved.json"],
        "compare": ["compare", "saved.json", "saved.json"],
        "verify": ["verify", "saved.json", "saved.json"],
        "explain": ["explain", "host/free-time", "saved.json"],
        "rules": ["rules", "show", "host/free-time"],
    }[command]
    again = f"main({words!r}); sys.stdout.flush()"
    script = f"import os, sys; from advisor.cli.main import main; {again}; os.environ['NO_COLOR'] = '1'; "
    script += f"print('{BETWEEN}', flush=True); {again}"
    coloured, plain = run(script, folder, FORCE_COLOR="1", TERM="xterm-256color").stdout.split(BETWEEN.encode())
    assert b"\x1b[" in coloured
    assert len(plain) > 80
    assert b"\x1b[" not in plain
